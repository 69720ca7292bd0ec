# The bodies of kernels are in Warp's language, which only looks like Python's.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Operators of muscle control as Warp kernels, one launch each.

Imports Warp, so it is imported only where a CUDA device computes.
"""

import warp as wp

wp.init()
# A fused multiply-add rounds once where torch rounds twice.
wp.set_module_options({"enable_backward": False, "fuse_fp": False, "fast_math": False})


@wp.kernel
def eliminate_(rest: wp.array3d(dtype=wp.float32)) -> None:
    """Do what the operator of `law` does, a world a thread."""
    world = wp.tid()
    n = rest.shape[0]
    for k in range(n):
        pivot = rest[k, k, world]
        for j in range(k + 1, n + 1):
            rest[k, j, world] = rest[k, j, world] / pivot
        for i in range(k + 1, n):
            factor = rest[i, k, world]
            for j in range(k + 1, n + 1):
                rest[i, j, world] = rest[i, j, world] - factor * rest[k, j, world]
    for back in range(n - 1):
        k = n - 1 - back
        solution = rest[k, n, world]
        for i in range(k):
            rest[i, n, world] = rest[i, n, world] - rest[i, k, world] * solution


@wp.kernel
def muscle_forces(
    gain: wp.array2d(dtype=wp.float32),
    bias: wp.array2d(dtype=wp.float32),
    length: wp.array2d(dtype=wp.float32),
    velocity: wp.array2d(dtype=wp.float32),
    constants: wp.array3d(dtype=wp.float32),
) -> None:
    """Do what the operator of `force` does."""
    world, m = wp.tid()
    row = wp.where(constants.shape[1] == 1, 0, world)
    away = constants[1, row, m] + length[world, m] * constants[0, row, m]
    x = wp.max(away * constants[2, row, m], away * constants[3, row, m])
    x = wp.min(x, 2.0)
    beyond = wp.max(x - 1.0, 0.0)
    shape = beyond * beyond - 0.5 * x * x + 1.0
    speed = velocity[world, m] * constants[4, row, m]
    falling = wp.clamp(speed, -1.0, 0.0) + 1.0
    rising = wp.min(wp.max(speed, 0.0), constants[5, row, m])
    factor = (rising * constants[6, row, m] + 2.0) * rising + falling * falling
    gain[world, m] = shape * factor * constants[7, row, m]
    y = constants[9, row, m] + length[world, m] * constants[8, row, m]
    y = wp.max(y, 0.0)
    over = wp.max(y - 1.0, 0.0)
    bias[world, m] = (y * y - over * over) * constants[10, row, m]
    # Of a number and a NaN, `wp.min` and `wp.max` take the number, and torch the NaN.
    if wp.isnan(length[world, m]):
        bias[world, m] = length[world, m]
        gain[world, m] = length[world, m]
    if wp.isnan(velocity[world, m]):
        gain[world, m] = velocity[world, m]


@wp.kernel
def entry_torques(
    active: wp.array2d(dtype=wp.float32),
    passive: wp.array2d(dtype=wp.float32),
    jacobian: wp.array2d(dtype=wp.float32),
    address: wp.array(dtype=wp.int64),
    gear: wp.array(dtype=wp.float32),
    muscle: wp.array(dtype=wp.int64),
    gain: wp.array2d(dtype=wp.float32),
    bias: wp.array2d(dtype=wp.float32),
) -> None:
    """Do what the operator of `state` does."""
    world, entry = wp.tid()
    arm = jacobian[world, wp.int32(address[entry])] * gear[entry]
    m = wp.int32(muscle[entry])
    active[world, entry] = arm * gain[world, m]
    passive[world, entry] = arm * bias[world, m]


@wp.kernel
def gathered_sum(
    out: wp.array2d(dtype=wp.float32),
    entries: wp.array2d(dtype=wp.float32),
    index: wp.array(dtype=wp.int64),
    shares: wp.array2d(dtype=wp.float32),
) -> None:
    """Do what the operator of `state` does."""
    world, target = wp.tid()
    width = shares.shape[1]
    total = wp.float32(0.0)
    for k in range(width):
        entry = wp.int32(index[target * width + k])
        total += entries[world, entry] * shares[target, k]
    out[world, target] = total
