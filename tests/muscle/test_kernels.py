"""Muscle kernels on Warp's CPU device, compared with torch."""

import torch

from mjlab.muscle.law import eliminate_

WORLDS, MUSCLES = 37, 11


def test_the_kernel_of_the_elimination_is_bit_identical_to_torch() -> None:
    from mjlab.muscle import kernels
    from mjlab.warp_stream import launch

    random = torch.Generator().manual_seed(0)
    root = torch.randn(WORLDS, 9, 9, generator=random)
    matrix = root @ root.transpose(1, 2) + 0.1 * torch.eye(9)
    right = torch.randn(WORLDS, 9, 1, generator=random)
    rest = torch.cat((matrix, right), dim=2).permute(1, 2, 0).contiguous()
    expected = rest.clone()
    launch(kernels.eliminate_, WORLDS, rest)
    eliminate_(expected)
    assert torch.equal(rest, expected)
    solved = torch.linalg.solve(matrix.double(), right.double())[..., 0]
    torch.testing.assert_close(rest[:, -1].t().double(), solved, rtol=1e-3, atol=1e-3)
