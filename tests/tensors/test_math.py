"""Rotations and frames, compared with MuJoCo's mju_ functions."""

import math

import mujoco
import numpy as np
import pytest
import torch

import mjlab.tensors.math as m

COUNT = 200


@pytest.fixture(scope="module")
def quats():
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randn(2, COUNT, 4, generator=generator, dtype=torch.float64)
    # Half turns, quarter turns, the identity with both signs, tiny angles.
    special = torch.tensor(
        [
            [1, 0, 0, 0],
            [-1, 0, 0, 0],
            [0, 1, 0, 0],
            [0, 0, -1, 0],
            [0.5, 0.5, -0.5, 0.5],
            [1, 1e-9, 0, 0],
            [-1, 0, 3e-7, 0],
            [0, 0.6, 0, 0.8],
        ],
        dtype=torch.float64,
    )
    drawn[0, : len(special)] = special
    return drawn / drawn.norm(dim=-1, keepdim=True)


@pytest.fixture(scope="module")
def vecs():
    generator = torch.Generator().manual_seed(2)
    return torch.randn(2, COUNT, 3, generator=generator, dtype=torch.float64)


def mju(function, size, *columns):
    """Apply a mju_ function of one row to all rows."""
    rows = []
    for row in zip(*columns, strict=True):
        out = np.zeros(size)
        function(out, *(np.ascontiguousarray(np.asarray(part)) for part in row))
        rows.append(out)
    return torch.from_numpy(np.stack(rows))


def close(actual, expected, tolerance=1e-12):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def same_rotation(actual, expected, tolerance=1e-12):
    close(
        (actual * expected).sum(-1).abs(), torch.ones(len(actual)).double(), tolerance
    )


def test_product_and_conjugate_equal_mujoco(quats):
    close(
        m.quat_mul(quats[0], quats[1]), mju(mujoco.mju_mulQuat, 4, quats[0], quats[1])
    )
    close(m.quat_conjugate(quats[0]), mju(mujoco.mju_negQuat, 4, quats[0]))


def test_rotation_and_its_inverse_equal_mujoco(quats, vecs):
    expected = mju(mujoco.mju_rotVecQuat, 3, vecs[0], quats[0])
    close(m.quat_rotate(quats[0], vecs[0]), expected)
    close(m.quat_rotate_inverse(quats[0], expected), vecs[0])


def test_axis_and_angle_equal_mujoco(vecs):
    axis = m.normalize(vecs[0])
    angle = 4.0 * vecs[1, :, 0]
    expected = mju(
        lambda out, a, t: mujoco.mju_axisAngle2Quat(out, a, t.item()), 4, axis, angle
    )
    close(m.quat_from_axis_angle(axis, angle), expected)


def test_one_axis_serves_many_angles():
    angle = torch.linspace(-3, 3, 7)
    quat = m.quat_from_axis_angle(torch.tensor([0.0, 0.0, 1.0]), angle)
    assert quat.shape == (7, 4)
    close(m.quat_heading(quat), angle, 1e-6)


def test_the_rotation_vector_equals_mujoco(quats):
    expected = mju(lambda out, q: mujoco.mju_quat2Vel(out, q, 1.0), 3, quats[0])
    rotvec = m.quat_to_rotvec(quats[0])
    # A half turn has two rotation vectors; MuJoCo can return the other one.
    agree = torch.minimum(
        (rotvec - expected).norm(dim=-1), (rotvec + expected).norm(dim=-1)
    )
    half_turn = (rotvec.norm(dim=-1) - math.pi).abs() < 1e-9
    close(rotvec[~half_turn], expected[~half_turn], 1e-9)
    assert agree.max() < 1e-9
    same_rotation(m.quat_from_rotvec(rotvec), quats[0])


def test_a_rotation_vector_of_zero_is_the_identity_and_back():
    zero = torch.zeros(2, 3)
    assert m.quat_from_rotvec(zero).tolist() == [[1, 0, 0, 0]] * 2
    assert (
        m.quat_to_rotvec(torch.tensor([[1.0, 0, 0, 0], [-1, 0, 0, 0]])).abs().sum() == 0
    )


def test_small_float32_rotation_vectors_survive_the_round_trip():
    rotvec = 10.0 ** torch.arange(-11.0, 0.0)[:, None] * torch.tensor([0.6, 0.0, -0.8])
    back = m.quat_to_rotvec(m.quat_from_rotvec(rotvec))
    torch.testing.assert_close(back, rotvec, rtol=1e-6, atol=0.0)


def test_difference_of_orientations_equals_mujoco(quats):
    local = mju(mujoco.mju_subQuat, 3, quats[0], quats[1])
    # MuJoCo returns it in the axes of the second orientation.
    expected = mju(mujoco.mju_rotVecQuat, 3, local, quats[1])
    difference = m.quat_box_minus(quats[0], quats[1])
    close(difference, expected, 1e-9)
    same_rotation(m.quat_box_plus(quats[1], difference), quats[0])
    close(m.quat_angle(quats[0], quats[1]), expected.norm(dim=-1), 1e-9)


def test_matrices_equal_mujoco_in_both_directions(quats):
    expected = mju(mujoco.mju_quat2Mat, 9, quats[0])
    matrix = m.quat_to_matrix(quats[0])
    close(matrix.flatten(-2), expected)
    back = m.quat_from_matrix(matrix)
    same_rotation(back, mju(mujoco.mju_mat2Quat, 4, expected))
    assert (back[:, 0] >= 0).all()


def test_euler_angles_equal_mujoco_in_fixed_axes(vecs):
    angles = torch.stack((vecs[0, :, 0], vecs[0, :, 1] % 1.5, vecs[0, :, 2]), dim=-1)
    expected = mju(lambda out, e: mujoco.mju_euler2Quat(out, e, "XYZ"), 4, angles)
    quat = m.quat_from_euler_xyz(*angles.unbind(-1))
    same_rotation(quat, expected)
    back = torch.stack(m.quat_to_euler_xyz(expected), dim=-1)
    close(m.wrap_to_pi(back - angles), torch.zeros_like(angles), 1e-7)


def test_euler_angles_at_gimbal_lock_are_finite_and_the_same_rotation():
    half = torch.tensor(math.pi / 2, dtype=torch.float64)
    zero = torch.zeros_like(half)
    quat = m.quat_from_euler_xyz(zero, half, zero)
    roll, pitch, yaw = m.quat_to_euler_xyz(quat)
    assert pitch.item() == pytest.approx(math.pi / 2, abs=1e-7)
    assert torch.isfinite(torch.stack((roll, yaw))).all()


def test_slerp_keeps_the_ends_and_moves_at_a_constant_rate(quats):
    start, end = quats
    same_rotation(m.quat_slerp(start, end, 0.0), start)
    same_rotation(m.quat_slerp(start, end, 1.0), end, 1e-9)
    whole = m.quat_angle(start, end)
    fraction = torch.linspace(0, 1, COUNT).double()
    part = m.quat_slerp(start, end, fraction)
    close(m.quat_angle(start, part), fraction * whole, 1e-7)
    close(m.quat_angle(part, end), (1 - fraction) * whole, 1e-7)


def test_yaw_is_the_horizontal_direction_of_the_x_axis(quats):
    forward = torch.tensor([1.0, 0.0, 0.0]).double().expand(COUNT, 3)
    x_axis = mju(mujoco.mju_rotVecQuat, 3, forward, quats[1])
    expected = torch.atan2(x_axis[:, 1], x_axis[:, 0])
    close(m.quat_heading(quats[1]), expected)
    level = mju(mujoco.mju_rotVecQuat, 3, forward, m.quat_yaw(quats[1]))
    close(level[:, 2], torch.zeros(COUNT).double())
    close(torch.atan2(level[:, 1], level[:, 0]), expected)


def test_poses_combine_as_in_mujoco_and_subtract_back(quats, vecs):
    pos, quat = [], []
    for row in range(COUNT):
        out_pos, out_quat = np.zeros(3), np.zeros(4)
        parts = (vecs[0, row], quats[0, row], vecs[1, row], quats[1, row])
        mujoco.mju_mulPose(out_pos, out_quat, *(part.numpy() for part in parts))
        pos.append(out_pos)
        quat.append(out_quat)
    got_pos, got_quat = m.combine_frames(vecs[0], quats[0], vecs[1], quats[1])
    close(got_pos, torch.from_numpy(np.stack(pos)))
    same_rotation(got_quat, torch.from_numpy(np.stack(quat)))
    back_pos, back_quat = m.subtract_frames(vecs[0], quats[0], got_pos, got_quat)
    close(back_pos, vecs[1])
    same_rotation(back_quat, quats[1])


def test_points_move_with_their_frame(quats, vecs):
    points = vecs.transpose(0, 1)
    moved = m.transform_points(vecs[0], quats[0], points)
    for index in range(2):
        rotated = mju(mujoco.mju_rotVecQuat, 3, points[:, index], quats[0])
        close(moved[:, index], vecs[0] + rotated)


def test_wrapped_angles_differ_by_whole_turns():
    angle = torch.linspace(-30, 30, 1001, dtype=torch.float64)
    wrapped = m.wrap_to_pi(angle)
    assert ((wrapped >= -math.pi) & (wrapped < math.pi)).all()
    turns = (angle - wrapped) / (2 * math.pi)
    close(turns, turns.round(), 1e-9)
    assert m.wrap_to_pi(torch.tensor(math.pi, dtype=torch.float64)) == -math.pi


def test_normalising_zero_gives_identity_or_zero():
    assert m.quat_normalize(torch.zeros(2, 4)).tolist() == [[1, 0, 0, 0]] * 2
    assert m.normalize(torch.zeros(2, 3)).tolist() == [[0, 0, 0]] * 2
    unit = m.quat_normalize(torch.tensor([[0.0, 3.0, 0.0, 4.0]]))
    close(unit, torch.tensor([[0.0, 0.6, 0.0, 0.8]]), 1e-6)


def test_nan_in_one_row_stays_in_that_row(quats, vecs):
    broken = quats[0].clone()
    broken[3] = torch.nan
    others = torch.arange(COUNT) != 3
    assert torch.isfinite(m.quat_rotate(broken, vecs[0])[others]).all()
    assert torch.isfinite(m.quat_to_rotvec(broken)[others]).all()
    assert torch.isnan(m.quat_yaw(broken)[3, [0, 3]]).all()


ROWWISE = {
    "mul": lambda a, b, v: m.quat_mul(a, b),
    "rotate": lambda a, b, v: m.quat_rotate(a, v),
    "rotate_inverse": lambda a, b, v: m.quat_rotate_inverse(a, v),
    "normalize": lambda a, b, v: m.quat_normalize(3.0 * a),
    "from_rotvec": lambda a, b, v: m.quat_from_rotvec(v),
    "to_rotvec": lambda a, b, v: m.quat_to_rotvec(a),
    "box_minus": lambda a, b, v: m.quat_box_minus(a, b),
    "angle": lambda a, b, v: m.quat_angle(a, b),
    "slerp": lambda a, b, v: m.quat_slerp(a, b, v[..., 0]),
    "from_euler": lambda a, b, v: m.quat_from_euler_xyz(*v.unbind(-1)),
    "to_euler": lambda a, b, v: torch.stack(m.quat_to_euler_xyz(a), -1),
    "heading": lambda a, b, v: m.quat_heading(a),
    "yaw": lambda a, b, v: m.quat_yaw(a),
    "matrix": lambda a, b, v: m.quat_from_matrix(m.quat_to_matrix(a)),
    "axis_angle": lambda a, b, v: m.quat_from_axis_angle(v, v[..., 0]),
    "wrap": lambda a, b, v: m.wrap_to_pi(9.0 * v),
    "subtract": lambda a, b, v: torch.cat(m.subtract_frames(v, a, v + 1.0, b), -1),
}


@pytest.mark.parametrize("name", ROWWISE)
def test_the_bits_of_a_row_do_not_depend_on_the_number_of_rows(name, quats, vecs):
    function = ROWWISE[name]
    a, b, v = quats[0].float(), quats[1].float(), vecs[0].float()
    whole = function(a, b, v)
    for rows in (1, 2, 3, 4, 7, 8, 17, 33):
        part = function(a[:rows], b[:rows], v[:rows])
        assert torch.equal(part.view(torch.int32), whole[:rows].view(torch.int32))
    shifted = function(a[5:42], b[5:42], v[5:42])
    assert torch.equal(shifted.view(torch.int32), whole[5:42].view(torch.int32))
