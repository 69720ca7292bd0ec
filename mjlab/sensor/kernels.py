# The bodies of kernels are in Warp's language, which only looks like Python's.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Operators of sensors as Warp kernels, one launch each.

Imports Warp, so it is imported only where a CUDA device computes.
"""

import warp as wp

wp.init()
wp.set_module_options({"enable_backward": False})


@wp.kernel
def count_phases(
    found: wp.array2d(dtype=wp.float32),
    dt: wp.float32,
    steps: wp.array3d(dtype=wp.int32),
    times: wp.array3d(dtype=wp.float32),
) -> None:
    """Do what the operator of `contact_data` does."""
    world, i = wp.tid()
    runs = wp.where(found[world, i] == 0.0, 0, 1)
    over = 1 - runs
    if steps[world, i, over] > 0:
        steps[world, i, 2 + over] = steps[world, i, over]
    steps[world, i, over] = 0
    steps[world, i, runs] = steps[world, i, runs] + 1
    for k in range(4):
        times[world, i, k] = wp.float32(steps[world, i, k]) * dt
