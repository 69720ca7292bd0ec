# Kernel bodies are Warp code with Python syntax, which a type checker cannot follow.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false, reportIndexIssue=false
# pyright: reportGeneralTypeIssues=false
"""Principal axes of inertia as a Warp kernel.

Imports Warp, so import this module only for computation on a CUDA device.
"""

import torch
import warp as wp

from mjlab.warp_start import start_warp
from mjlab.warp_stream import current_warp_stream

start_warp()
wp.set_module_options({"enable_backward": False})


@wp.func
def _column(m: wp.mat33d, j: int) -> wp.vec3d:
    return wp.vec3d(m[0, j], m[1, j], m[2, j])


@wp.kernel
def _principal_axes(
    inertia: wp.array2d(dtype=wp.mat33d),
    mask: wp.array(dtype=wp.bool),
    moments: wp.array2d(dtype=wp.vec3d),
    axes: wp.array2d(dtype=wp.mat33d),
) -> None:
    world, element = wp.tid()
    if not mask[world]:
        moments[world, element] = wp.vec3d()
        axes[world, element] = wp.identity(n=3, dtype=wp.float64)
        return
    vectors, values = wp.eig3(inertia[world, element])
    # Largest moment first; the third axis completes a right-handed frame.
    first = int(wp.argmax(values))
    last = int(wp.argmin(values))
    if first == last:
        first = 0
        last = 2
    middle = 3 - first - last
    x = wp.normalize(_column(vectors, first))
    y = wp.normalize(_column(vectors, middle))
    z = wp.cross(x, y)
    moments[world, element] = wp.vec3d(values[first], values[middle], values[last])
    axes[world, element] = wp.matrix_from_cols(x, y, z)


def launch_principal_axes(
    inertia: torch.Tensor,
    mask: torch.Tensor,
    moments: torch.Tensor,
    axes: torch.Tensor,
) -> None:
    """Compute moments and axes in place, on the current stream of their device.

    Args:
        inertia: Symmetric, shape (num_envs, n, 3, 3), float64, contiguous.
        mask: Worlds to compute, shape (num_envs,), bool.
        moments: Shape (num_envs, n, 3), float64, contiguous.
        axes: Shape (num_envs, n, 3, 3), float64, contiguous.
    """
    if moments.numel() == 0:
        return
    matrices = wp.from_torch(inertia, dtype=wp.mat33d)
    stream = current_warp_stream(moments.device) if moments.is_cuda else None
    wp.launch(
        _principal_axes,
        dim=matrices.shape,
        inputs=[matrices, wp.from_torch(mask, dtype=wp.bool)],
        outputs=[
            wp.from_torch(moments, dtype=wp.vec3d),
            wp.from_torch(axes, dtype=wp.mat33d),
        ],
        device=matrices.device,
        stream=stream,
    )
