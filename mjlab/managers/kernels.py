# The bodies of kernels are in Warp's language, which only looks like Python's.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Operators of managers as Warp kernels, one launch each.

Imports Warp, so it is imported only where a CUDA device computes.
"""

import warp as wp

wp.init()
# A fused multiply-add rounds once where torch rounds twice.
wp.set_module_options({"enable_backward": False, "fuse_fp": False, "fast_math": False})


@wp.kernel
def weigh(
    reward: wp.array(dtype=wp.float32),
    values: wp.array2d(dtype=wp.float32),
    weights: wp.array(dtype=wp.float32),
    dt: wp.float32,
    parts: wp.array2d(dtype=wp.float32),
    sums: wp.array2d(dtype=wp.float32),
    counts: wp.array2d(dtype=wp.int64),
    nonfinite: wp.array(dtype=wp.bool),
    lost: wp.array(dtype=wp.bool),
) -> None:
    """Do what the operator of `reward` does."""
    world = wp.tid()
    nonfinite[world] = False
    for k in range(weights.shape[0]):
        parts[world, k] = values[world, k] * weights[k] * dt
        if not wp.isfinite(parts[world, k]):
            counts[world, k] = counts[world, k] + wp.int64(1)
            nonfinite[world] = True
            lost[world] = True
    total = wp.float32(0.0)
    for k in range(weights.shape[0]):
        if lost[world]:
            parts[world, k] = 0.0
        sums[world, k] = sums[world, k] + parts[world, k]
        total += parts[world, k]
    reward[world] = total
