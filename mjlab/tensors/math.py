"""Rotations, frames and angles on tensors of any leading shape.

Quaternions are unit, wxyz, shape (..., 4); vectors are (..., 3); angles are in radians.
A quaternion q maps coordinates in the rotated frame to coordinates in the parent frame:
`quat_rotate(q, v_b)` is `v_w`.

No function branches on data, and the bits of a result do not depend on the batch size.
Inverse trigonometric functions therefore run in float64 and are rounded: torch's
vectorised float32 versions differ from the scalar ones used for the end of an array.
"""

import math

import torch

_EPS = 1e-12


def wrap_to_pi(angle: torch.Tensor) -> torch.Tensor:
    """Return the angle wrapped to [-pi, pi)."""
    return torch.remainder(angle + math.pi, 2.0 * math.pi) - math.pi


def normalize(vec: torch.Tensor) -> torch.Tensor:
    """Return the vector scaled to length 1; a zero vector stays zero."""
    return vec / _norm(vec).clamp(min=_EPS)


def quat_normalize(quat: torch.Tensor) -> torch.Tensor:
    """Return the quaternion scaled to length 1; zero becomes the identity."""
    norm = _norm(quat)
    unit = quat / norm.clamp(min=_EPS)
    unit[..., :1].add_(norm < _EPS)
    return unit


def quat_positive(quat: torch.Tensor) -> torch.Tensor:
    """Return the equivalent quaternion with w >= 0."""
    return quat * _sign(quat[..., :1])


def quat_conjugate(quat: torch.Tensor) -> torch.Tensor:
    """Return the quaternion of the inverse rotation."""
    return torch.cat((quat[..., :1], -quat[..., 1:]), dim=-1)


def quat_mul(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the rotation `right` followed by `left`, both about fixed axes."""
    left_w, left_v = left[..., :1], left[..., 1:]
    right_w, right_v = right[..., :1], right[..., 1:]
    products = left * right
    w = products[..., :1] - products[..., 1:].sum(dim=-1, keepdim=True)
    v = torch.addcmul(torch.linalg.cross(left_v, right_v), left_w, right_v)
    return torch.cat((w, v.addcmul_(right_w, left_v)), dim=-1)


def quat_rotate(quat: torch.Tensor, vec: torch.Tensor) -> torch.Tensor:
    """Return the vector rotated by the quaternion: body to world coordinates."""
    axis = quat[..., 1:]
    cross = torch.linalg.cross(axis, vec)
    turned = torch.addcmul(vec, quat[..., :1], cross, value=2.0)
    return turned.add_(torch.linalg.cross(axis, cross), alpha=2.0)


def quat_rotate_inverse(quat: torch.Tensor, vec: torch.Tensor) -> torch.Tensor:
    """Return the vector rotated by the inverse: world to body coordinates."""
    axis = quat[..., 1:]
    cross = torch.linalg.cross(axis, vec)
    turned = torch.addcmul(vec, quat[..., :1], cross, value=-2.0)
    return turned.add_(torch.linalg.cross(axis, cross), alpha=2.0)


def quat_from_axis_angle(axis: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """Return the rotation about a unit axis, (..., 3), by an angle, (...)."""
    half = 0.5 * angle.unsqueeze(-1)
    v = half.sin() * axis
    return torch.cat((half.cos().expand_as(v[..., :1]), v), dim=-1)


def quat_from_rotvec(rotvec: torch.Tensor) -> torch.Tensor:
    """Return the rotation about a vector by an angle equal to its length."""
    half = 0.5 * _norm(rotvec)
    # sinc(x) is sin(pi x) / (pi x), and 1 at 0.
    scale = 0.5 * torch.sinc(half / math.pi)
    return torch.cat((half.cos(), scale * rotvec), dim=-1)


def quat_to_rotvec(quat: torch.Tensor) -> torch.Tensor:
    """Return the rotation vector: the axis times an angle in [0, pi]."""
    near = quat_positive(quat)
    sine = _norm(near[..., 1:])
    angle = 2.0 * _atan2(sine, near[..., :1])
    # For small angles the ratio of angle to sine is 2, also at zero.
    small = sine < _EPS
    ratio = (angle / sine.clamp(min=_EPS)).masked_fill(small, 2.0)
    return ratio * near[..., 1:]


def quat_angle(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the angle between two orientations, in [0, pi], shape (...)."""
    between = quat_mul(quat_conjugate(left), right)
    angle = 2.0 * _atan2(_norm(between[..., 1:]), between[..., :1].abs())
    return angle.squeeze(-1)


def quat_box_minus(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the rotation vector (world axes) from `right` to `left`, (..., 3)."""
    return quat_to_rotvec(quat_mul(left, quat_conjugate(right)))


def quat_box_plus(quat: torch.Tensor, rotvec_w: torch.Tensor) -> torch.Tensor:
    """Return `quat` rotated by a rotation vector in world axes, (..., 4)."""
    return quat_mul(quat_from_rotvec(rotvec_w), quat)


def quat_slerp(
    start: torch.Tensor, end: torch.Tensor, fraction: torch.Tensor | float
) -> torch.Tensor:
    """Interpolate along the shorter rotation; `fraction` is a number or shape (...)."""
    rotvec = quat_to_rotvec(quat_mul(quat_conjugate(start), end))
    share = fraction.unsqueeze(-1) if isinstance(fraction, torch.Tensor) else fraction
    return quat_mul(start, quat_from_rotvec(share * rotvec))


def quat_from_euler_xyz(
    roll: torch.Tensor, pitch: torch.Tensor, yaw: torch.Tensor
) -> torch.Tensor:
    """Return the rotation by roll about x, then pitch about y, then yaw about z.

    The axes are fixed. The angles are of shape (...).
    """
    half = torch.stack((roll, pitch, yaw), dim=-1).mul_(0.5)
    # Cosine and sine of each half angle, and their products: (roll, pitch, yaw).
    both = torch.stack((half.cos(), half.sin()), dim=-1)
    roll_pitch = both[..., 0, :, None] * both[..., 1, None, :]
    product = roll_pitch.unsqueeze(-1) * both[..., 2, None, None, :]
    (ccc, ccs), (csc, css) = (p.unbind(-1) for p in product[..., 0, :, :].unbind(-2))
    (scc, scs), (ssc, sss) = (p.unbind(-1) for p in product[..., 1, :, :].unbind(-2))
    return torch.stack((ccc + sss, scc - css, csc + scs, ccs - ssc), dim=-1)


def quat_to_euler_xyz(
    quat: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return roll and yaw in [-pi, pi] and pitch in [-pi/2, pi/2], each (...)."""
    w, x, y, z = quat.double().unbind(-1)
    roll = torch.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = torch.asin((2.0 * (w * y - z * x)).clamp(-1.0, 1.0))
    yaw = torch.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll.to(quat.dtype), pitch.to(quat.dtype), yaw.to(quat.dtype)


def quat_heading(quat: torch.Tensor) -> torch.Tensor:
    """Return the yaw of the frame's x axis in the world, in [-pi, pi], shape (...)."""
    # In float64, as for all inverse trigonometric functions. Half of the sine and of
    # the cosine suffices for atan2.
    exact = quat.double()
    products = exact.unsqueeze(-1) * exact[..., 2:].unsqueeze(-2)
    sine = products[..., 0, 1] + products[..., 1, 0]
    cosine = 0.5 - (products[..., 2, 0] + products[..., 3, 1])
    return torch.atan2(sine, cosine, out=torch.empty_like(quat[..., 0]))


def quat_yaw(quat: torch.Tensor) -> torch.Tensor:
    """Return the rotation about the world's z that has the same heading."""
    half = 0.5 * quat_heading(quat)
    yaw = torch.zeros_like(quat)
    yaw[..., 0] = half.cos()
    yaw[..., 3] = half.sin()
    return yaw


def quat_to_matrix(quat: torch.Tensor) -> torch.Tensor:
    """Return the rotation matrix, shape (..., 3, 3)."""
    w, x, y, z = quat.unbind(-1)
    entries = (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )
    return torch.stack(entries, dim=-1).unflatten(-1, (3, 3))


def quat_from_matrix(matrix: torch.Tensor) -> torch.Tensor:
    """Return the quaternion with w >= 0 of a rotation matrix, (..., 3, 3)."""
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = matrix.flatten(-2).unbind(-1)
    # 4 q q^T: any row is the quaternion up to scale; the longest one is accurate.
    ww, xx = 1.0 + m00 + m11 + m22, 1.0 + m00 - m11 - m22
    yy, zz = 1.0 - m00 + m11 - m22, 1.0 - m00 - m11 + m22
    wx, wy, wz = m21 - m12, m02 - m20, m10 - m01
    xy, xz, yz = m10 + m01, m20 + m02, m21 + m12
    entries = (ww, wx, wy, wz, wx, xx, xy, xz, wy, xy, yy, yz, wz, xz, yz, zz)
    outer = torch.stack(entries, dim=-1).unflatten(-1, (4, 4))
    squares = torch.stack((ww, xx, yy, zz), dim=-1)
    longest = squares.argmax(dim=-1)[..., None, None].expand(*squares.shape[:-1], 1, 4)
    row = outer.gather(-2, longest).squeeze(-2)
    return quat_positive(quat_normalize(row))


def combine_frames(
    pos_ab: torch.Tensor,
    quat_ab: torch.Tensor,
    pos_bc: torch.Tensor,
    quat_bc: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return position and orientation of C in A, from B in A and C in B."""
    return pos_ab + quat_rotate(quat_ab, pos_bc), quat_mul(quat_ab, quat_bc)


def subtract_frames(
    pos_wa: torch.Tensor,
    quat_wa: torch.Tensor,
    pos_wb: torch.Tensor,
    quat_wb: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return position and orientation of B in A, from A in W and B in W."""
    pos_ab = quat_rotate_inverse(quat_wa, pos_wb - pos_wa)
    return pos_ab, quat_mul(quat_conjugate(quat_wa), quat_wb)


def transform_points(
    pos: torch.Tensor, quat: torch.Tensor, points: torch.Tensor
) -> torch.Tensor:
    """Return points of the frames, (..., P, 3), in parent coordinates.

    The frames are given by `pos`, (..., 3), and `quat`, (..., 4).
    """
    return pos.unsqueeze(-2) + quat_rotate(quat.unsqueeze(-2), points)


def _norm(vec: torch.Tensor) -> torch.Tensor:
    return (vec * vec).sum(dim=-1, keepdim=True).sqrt()


def _sign(value: torch.Tensor) -> torch.Tensor:
    """Return -1 where the value is negative, 1 elsewhere, also at zero."""
    return (value < 0.0).to(value.dtype).mul_(-2.0).add_(1.0)


def _atan2(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.atan2(y.double(), x.double()).to(y.dtype)


def spread(bounds: torch.Tensor, unit: torch.Tensor) -> torch.Tensor:
    """Map numbers in [0, 1), shape (..., n), to ranges low to high, shape (n, 2)."""
    low, high = bounds.unbind(dim=1)
    return torch.addcmul(low, unit, high - low)
