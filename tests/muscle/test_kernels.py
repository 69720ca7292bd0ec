"""Kernels of muscle control on Warp's CPU device, against plain torch."""

from functools import partial

import torch

from mjlab.muscle.force import CONSTANTS, MuscleCurves, muscle_forces
from mjlab.muscle.law import eliminate_
from mjlab.muscle.state import entry_torques, gathered_sum

WORLDS, MUSCLES = 37, 11


def test_the_kernel_of_the_elimination_gives_the_bits_of_torch() -> None:
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


def test_the_kernel_of_the_curves_gives_the_forces_of_torch() -> None:
    from mjlab.muscle import kernels
    from mjlab.warp_stream import launch

    random = torch.Generator().manual_seed(0)
    for rows in (1, WORLDS):

        def draw(low: float, high: float, rows: int = rows) -> torch.Tensor:
            unit = torch.rand(rows, MUSCLES, generator=random)
            return low + (high - low) * unit

        shortest = draw(0.2, 0.3)
        span = torch.stack((shortest, shortest + draw(0.1, 0.2)), dim=-1)
        bounds = [(0.6, 0.8), (1.0, 1.2), (-1.0, 500.0), (200.0, 300.0), (0.3, 0.6)]
        bounds += [(1.5, 1.9), (1.0, 8.0), (0.6, 1.4), (1.1, 1.5)]
        prm = torch.stack([draw(low, high) for low, high in bounds], dim=-1)
        curves = MuscleCurves(span, draw(1.0, 4.0), prm, prm)
        packed = torch.stack([vars(curves)[name] for name in CONSTANTS])
        length = 0.1 + 0.5 * torch.rand(WORLDS, MUSCLES, generator=random)
        velocity = torch.randn(WORLDS, MUSCLES, generator=random)
        # What is not finite stays so, that the world is found and reset.
        length[0, 0] = velocity[1, 1] = torch.nan
        found, plain = torch.zeros(2, 2, WORLDS, MUSCLES)
        launch(kernels.muscle_forces, length.shape, *found, length, velocity, packed)
        muscle_forces(*plain, length, velocity, packed)
        same = partial(torch.allclose, rtol=0.0, atol=0.0, equal_nan=True)
        assert same(plain[0], curves.gain(length, velocity))
        assert same(plain[1], curves.bias(length))
        assert plain[0].lt(-1.0).any() and plain[1].lt(-1.0).any()
        assert plain[:, 0, 0].isnan().all() and plain[0, 1, 1].isnan()
        torch.testing.assert_close(found, plain, rtol=1e-5, atol=1e-3, equal_nan=True)


def test_the_kernels_of_the_torque_map_give_the_torques_of_torch() -> None:
    from mjlab.muscle import kernels
    from mjlab.warp_stream import launch

    random = torch.Generator().manual_seed(0)
    entries, tendons, dofs, width = 23, 40, 5, 7
    jacobian = torch.randn(WORLDS, tendons, generator=random)
    address = torch.randint(0, tendons, (entries,), generator=random)
    gear = torch.randn(entries, generator=random)
    muscle = torch.randint(0, MUSCLES, (entries,), generator=random)
    forces = torch.randn(2, WORLDS, MUSCLES, generator=random)
    found, plain = torch.zeros(2, 2, WORLDS, entries)
    arguments = jacobian, address, gear, muscle, *forces
    launch(kernels.entry_torques, found[0].shape, *found, *arguments)
    entry_torques(*plain, *arguments)
    assert torch.equal(found, plain) and plain.abs().min() > 0.0
    index = torch.randint(0, entries, (dofs * width,), generator=random)
    shares = torch.rand(dofs, width, generator=random)
    sums = found[0, :, :dofs]
    launch(kernels.gathered_sum, sums.shape, sums, plain[0], index, shares)
    by_hand = torch.zeros(WORLDS, dofs)
    for dof in range(dofs):
        for k in range(width):
            by_hand[:, dof] += plain[0, :, index[dof * width + k]] * shares[dof, k]
    assert torch.equal(sums, by_hand)
    summed = torch.zeros(WORLDS, dofs)
    gathered_sum(summed, plain[0], index, shares)
    torch.testing.assert_close(sums, summed, rtol=1e-5, atol=1e-4)
