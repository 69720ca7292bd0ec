"""Principal axes of inertia, as one operation on every device."""

import numpy as np
import torch


def principal_axes(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return principal moments, largest first, and the frame of their axes.

    Worlds outside the mask cost nothing and get moments of zero along the given axes.

    Args:
        inertia: Symmetric, shape (num_envs, n, 3, 3), float64.
        mask: The worlds that matter, shape (num_envs,), bool.

    Returns:
        Moments, shape (num_envs, n, 3), and right-handed rotation matrices whose
        columns are the axes, shape (num_envs, n, 3, 3); both float64.
    """
    return torch.ops.mjlab.principal_axes(inertia, mask)


def _on_cpu(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    moments, axes = _on_meta(inertia, mask)
    moments.zero_()
    axes.copy_(torch.eye(3, dtype=axes.dtype))
    chosen = mask.numpy()
    if chosen.any():
        # LAPACK takes one matrix at a time, so that none depends on the others.
        values, vectors = np.linalg.eigh(inertia.numpy()[chosen])
        values, vectors = values[..., ::-1], vectors[..., ::-1].copy()
        vectors *= np.sign(np.linalg.det(vectors))[..., None, None]
        moments.numpy()[chosen] = values
        axes.numpy()[chosen] = vectors
    return moments, axes


def _on_cuda(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    # Warp is imported by whoever computes on a CUDA device, and by nobody else.
    from mjlab.mdp.randomize.principal_kernel import launch_principal_axes

    moments, axes = _on_meta(inertia, mask)
    launch_principal_axes(inertia.contiguous(), mask, moments, axes)
    return moments, axes


def _on_meta(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    axes = torch.empty_like(inertia, memory_format=torch.contiguous_format)
    return axes.new_empty(axes.shape[:-1]), axes


def _register_operator() -> torch.library.Library:
    library = torch.library.Library("mjlab", "FRAGMENT")
    library.define("principal_axes(Tensor inertia, Tensor mask) -> (Tensor, Tensor)")
    library.impl("principal_axes", _on_cpu, "CPU")
    library.impl("principal_axes", _on_cuda, "CUDA")
    library.impl("principal_axes", _on_meta, "Meta")
    return library


_LIBRARY = _register_operator()
