# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false, reportReturnType=false
"""Warp functions of cameras: image plane, pixel bounds of a box, and pixel rays.

A camera looks along its -z axis with y up. The z component of a ray is -1, so that the
ray parameter of a hit is its depth in m.
"""

import warp as wp

from mjlab.render.surface_kernels import FARTHEST

_floats = wp.array2d(dtype=wp.float32)
_vectors = wp.array2d(dtype=wp.vec3)


@wp.struct
class Eye:
    """Camera: pose in each world, lens, and image size."""

    index: wp.int32
    pos: _vectors  # type: ignore
    mat: wp.array2d(dtype=wp.mat33)  # type: ignore
    fovy: _floats  # type: ignore
    sensor: wp.array2d(dtype=wp.vec2)  # type: ignore
    intrinsic: wp.array2d(dtype=wp.vec4)  # type: ignore
    width: wp.int32
    height: wp.int32
    near: wp.float32
    far: wp.float32
    limit: wp.float32


@wp.struct
class PixelRays:
    """Rays of a range of pixels, in the frame of a geom."""

    start: wp.vec3
    corner: wp.vec3
    across: wp.vec3
    down: wp.vec3
    left: wp.int32
    right: wp.int32
    top: wp.int32
    bottom: wp.int32


@wp.func
def row_of(rows: int, world: int) -> int:
    """Return the row of a world in an array; 0 if all worlds share one row."""
    return wp.where(rows == 1, 0, world)


@wp.func
def window_of(eye: Eye, world: int) -> wp.vec4:
    """Return left, right, bottom and top of the image plane at a depth of 1 m."""
    sensor = eye.sensor[row_of(eye.sensor.shape[0], world), eye.index]
    if sensor[0] == 0.0 or sensor[1] == 0.0:
        fovy = eye.fovy[row_of(eye.fovy.shape[0], world), eye.index]
        up = wp.tan(0.5 * wp.radians(fovy))
        across = up * float(eye.width) / float(eye.height)
        return wp.vec4(-across, across, -up, up)
    lens = eye.intrinsic[row_of(eye.intrinsic.shape[0], world), eye.index]
    half = 0.5 * sensor
    # A positive principal point moves the image centre right in x and, as in MuJoCo,
    # down in y.
    return wp.vec4(
        -(half[0] - lens[2]) / lens[0],
        (half[0] + lens[2]) / lens[0],
        -(half[1] + lens[3]) / lens[1],
        (half[1] - lens[3]) / lens[1],
    )


@wp.func
def may_show(center: wp.vec3, radius: float, window: wp.vec4, near: float) -> bool:
    """Return True if a sphere can be visible in the image; False for NaN."""
    depth = -center[2]
    x0 = window[0]
    x1 = window[1]
    y0 = window[2]
    y1 = window[3]
    return (
        depth + radius > near
        and center[0] - x0 * depth > -radius * wp.sqrt(1.0 + x0 * x0)
        and x1 * depth - center[0] > -radius * wp.sqrt(1.0 + x1 * x1)
        and center[1] - y0 * depth > -radius * wp.sqrt(1.0 + y0 * y0)
        and y1 * depth - center[1] > -radius * wp.sqrt(1.0 + y1 * y1)
    )


@wp.func
def bounds_of(
    center: wp.vec3, axes: wp.mat33, half: wp.vec3, eye: Eye, window: wp.vec4
) -> wp.vec4:
    """Return the first and last columns and rows that a box covers, as floats."""
    low = wp.vec2(FARTHEST, FARTHEST)
    high = wp.vec2(-FARTHEST, -FARTHEST)
    for i in range(8):
        x = wp.where(i % 2 == 0, half[0], -half[0])
        y = wp.where((i // 2) % 2 == 0, half[1], -half[1])
        z = wp.where(i // 4 == 0, half[2], -half[2])
        corner = center + axes * wp.vec3(x, y, z)
        depth = -corner[2]
        if depth >= eye.near:
            at = wp.vec2(corner[0], corner[1]) / depth
            low = wp.min(low, at)
            high = wp.max(high, at)
        else:
            # The visible part of a box ends where an edge crosses the near plane.
            for axis in range(3):
                along = -2.0 * wp.where(axis == 0, x, wp.where(axis == 1, y, z))
                edge = along * wp.vec3(axes[0, axis], axes[1, axis], axes[2, axis])
                share = (depth - eye.near) / edge[2]
                if share >= 0.0 and share <= 1.0:
                    out = corner + share * edge
                    at = wp.vec2(out[0], out[1]) / eye.near
                    low = wp.min(low, at)
                    high = wp.max(high, at)
    columns = float(eye.width)
    rows = float(eye.height)
    across = columns / (window[1] - window[0])
    up = rows / (window[3] - window[2])
    # One more pixel on each side, for rounding errors.
    return wp.vec4(
        wp.clamp((low[0] - window[0]) * across - 1.5, 0.0, columns),
        wp.clamp((high[0] - window[0]) * across + 0.5, -1.0, columns - 1.0),
        wp.clamp((window[3] - high[1]) * up - 1.5, 0.0, rows),
        wp.clamp((window[3] - low[1]) * up + 0.5, -1.0, rows - 1.0),
    )


@wp.func
def rays_of(axes: wp.mat33, pos: wp.vec3, eye: Eye, window: wp.vec4) -> PixelRays:
    """Return the rays of the complete image."""
    turn = wp.transpose(axes)
    dx = (window[1] - window[0]) / float(eye.width)
    dy = (window[3] - window[2]) / float(eye.height)
    rays = PixelRays()
    rays.start = -(turn * pos)
    rays.corner = turn * wp.vec3(window[0] + 0.5 * dx, window[3] - 0.5 * dy, -1.0)
    rays.across = turn * wp.vec3(dx, 0.0, 0.0)
    rays.down = turn * wp.vec3(0.0, -dy, 0.0)
    rays.right = eye.width - 1
    rays.bottom = eye.height - 1
    return rays
