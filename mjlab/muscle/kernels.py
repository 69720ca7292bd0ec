# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Operators of muscle control as Warp kernels, one launch each.

This module imports Warp, so it is imported only if a CUDA device is used.
"""

import warp as wp

from mjlab.warp_start import start_warp

start_warp()
# Fused multiply-add rounds once where torch rounds twice, so results would differ.
wp.set_module_options({"enable_backward": False, "fuse_fp": False, "fast_math": False})


@wp.kernel
def eliminate_(rest: wp.array3d(dtype=wp.float32)) -> None:
    """Kernel of `law.eliminate_`, one thread per world."""
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
