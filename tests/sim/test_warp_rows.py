"""Row operations that are launched together, compared with torch, on the CPU."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from mjlab.sim.warp_rows import RowPrograms
from mjlab.warp_stream import announce_launches

WORLDS = 5
CPU = torch.device("cpu")


def numbers(*shape: int) -> torch.Tensor:
    """Numbers between -2 and 2, with the first world not finite."""
    values = torch.rand(WORLDS, *shape, generator=torch.Generator().manual_seed(3))
    values = 4.0 * values - 2.0
    values.view(WORLDS, -1)[0, 0] = float("nan")
    values.view(WORLDS, -1)[1, 0] = float("inf")
    return values


def each_operation() -> dict[str, Any]:
    """Run every supported operation, on numbers of several shapes."""
    x, y, z = numbers(4, 3), numbers(4, 3).flip(0), numbers(1)
    mask, table = torch.arange(WORLDS) % 2 == 0, torch.tensor([[0.5, 2.0], [1.0, 3.0]])
    ints, ids = torch.arange(WORLDS * 3).view(WORLDS, 3), torch.tensor([2, 0, 3])
    limit, wide = torch.tensor(0.3), mask.view(-1, 1, 1)
    limits = torch.tensor([0.5, 1.5, 2.5])
    flags = torch.zeros(3, WORLDS, dtype=torch.bool)
    flags[1:].logical_or_(mask)
    torch.any(ints > 7, dim=1, out=flags[0])
    put, target = torch.zeros(WORLDS, 6), numbers(4)
    put[:, 1:5].copy_(target)
    put.index_copy_(1, ids, ints.float() * 2.0)
    history = torch.cat((z.unsqueeze(1), x[:, :-1, :1]), dim=1)
    finite = x.nan_to_num(0.0, 1.0, -1.0)
    return {
        "sums": (x + y, x - y, x * y, x / y, 2.0 - x, x.add(y, alpha=0.5), -x),
        "scaled": (torch.rsub(x, y, alpha=3.0), torch.sub(x, y, alpha=2.0)),
        "products": torch.addcmul(x, y, z.unsqueeze(1), value=-1.0),
        "functions": (x.exp(), x.sin(), x.cos(), x.tanh(), x.abs().sqrt()),
        "more": (x.abs().log1p(), torch.atan2(x, y), torch.copysign(x, y), x.sign()),
        "powers": (x.square(), x.reciprocal(), x**3, x.abs() ** 0.4),
        "ramps": (x.relu(), torch.nn.functional.leaky_relu(x, 0.2), finite.floor()),
        "rounds": ((ints - 7) % 4, (ints - 7) % -4),
        "bounds": (x.clamp(-1.0, 1.0), x.clamp(max=0.2), x.clamp(min=limit)),
        "extremes": (torch.maximum(x, y), torch.minimum(x, y), x.amax(dim=-1)),
        "turns": (torch.remainder(finite, 0.7), finite.lerp(y, z.abs().unsqueeze(1))),
        "comparisons": (x < y, x <= 0.5, x > y, x >= y, x == x, x != x, x.isnan()),
        "flags": (
            flags,
            ~mask,
            mask & (z[:, 0] > 0),
            mask ^ (z[:, 0] > 0),
            mask.long(),
        ),
        "ints": (ints * 2 - 1, ints >> 1, (ints.float() * 1.7).long(), ints > 2.5),
        "choices": (torch.where(wide, x, y), x.masked_fill(wide, torch.inf)),
        "gathered": (x.sum(dim=1), x.sum(dim=(1, 2)), finite.mean(dim=2), mask.sum()),
        "counts": ((ints > 3).sum(dim=1, dtype=torch.float32), (x > 0).any(dim=1)),
        "of nothing": (x[:, :0].sum(dim=1), torch.any(x[:, :0] > 0, dim=1)),
        "norms": (finite.norm(dim=-1), torch.linalg.vector_norm(x, torch.inf, dim=1)),
        "crossed": torch.linalg.cross(x, y),
        "picked": (
            x[:, ids],
            x.index_select(1, ids),
            table.index_select(0, mask.long()),
            table[ints % 2],
            table[:, ints % 2 - 1],
            limits[ints % 3 - 3],
        ),
        "joined": (torch.stack((x, y), dim=1), torch.cat((x, y), dim=-1), history),
        "worlds": (x.sum(dim=0), ints.float().mean(dim=0), ints.flip(0) + ints),
        "put": (put, target.index_copy(1, ids, ints.float())),
    }


def flat(found: dict[str, Any]) -> dict[str, torch.Tensor]:
    pairs = {k: v if isinstance(v, tuple) else (v,) for k, v in found.items()}
    return {f"{k} {i}": t for k, v in pairs.items() for i, t in enumerate(v)}


def joined(rows: RowPrograms, run: Callable[[], Any]) -> Any:
    with rows.in_use():
        return run()


def test_row_kernels_match_torch() -> None:
    rows, expected = RowPrograms(WORLDS, CPU), flat(each_operation())
    for run in ("by torch", "by kernels"):
        found = flat(joined(rows, each_operation))
        for name, value in expected.items():
            assert found[name].dtype == value.dtype and found[name].shape == value.shape
            close = torch.allclose(
                found[name].double(),
                value.double(),
                rtol=1e-5,
                atol=1e-6,
                equal_nan=True,
            )
            assert close, f"{run}: {name}: {found[name]} is not {value}"
        rows.compile()


class Counted(RowPrograms):
    """Counts launches."""

    launches = 0

    def _launch(self, kernel: Any) -> None:
        self.launches += 1
        super()._launch(kernel)


def test_consecutive_operations_form_one_launch_and_mixed_worlds_split_it() -> None:
    state, total = torch.zeros(WORLDS, 3), torch.zeros(3)

    def step(mixes: bool) -> None:
        state.add_(1.0)
        if mixes:
            total.copy_(state.sum(dim=0))
        moved = state * 2.0
        state.copy_(moved - total if mixes else moved)

    for mixes, launches in ((False, 1), (True, 2)):
        rows = Counted(WORLDS, CPU)
        state.zero_()
        joined(rows, lambda mixes=mixes: step(mixes))
        rows.compile()
        joined(rows, lambda mixes=mixes: step(mixes))
        assert rows.launches == launches
        # By hand: 1, 2 and 3, 6; or 1, 2 minus a sum of 5, and -2, -4 minus one of -10.
        assert state.unique().tolist() == [6.0]


def test_dependent_operations_stay_in_order() -> None:
    state = torch.arange(float(WORLDS)).view(-1, 1)
    order = torch.tensor([4, 3, 2, 1, 0])

    def step() -> torch.Tensor:
        doubled = state * 2.0
        return doubled.index_select(0, order) + doubled

    rows = RowPrograms(WORLDS, CPU)
    for _ in range(2):
        assert joined(rows, step).flatten().tolist() == [8.0] * 5
        rows.compile()


def test_overlapping_rows_of_one_storage_wait_for_each_other() -> None:
    table = torch.arange(WORLDS + 1.0)

    by_hand = [0.0, 2.0, 4.0, 6.0, 8.0, 0.0, 11.0, 12.0, 13.0, 14.0]
    rows = RowPrograms(WORLDS, CPU)
    for _ in range(2):
        found = joined(rows, lambda: (table[:-1] * 2.0, table[1:].add_(10.0), table))
        rows.compile()
        assert found[0].tolist() == by_hand[:WORLDS]
        assert (found[2][:-1]).tolist() == by_hand[WORLDS:]
        table.copy_(torch.arange(WORLDS + 1.0))


def test_launches_of_warp_come_after_waiting_operations() -> None:
    state, seen = torch.zeros(WORLDS), []
    memory = state.numpy()
    rows = RowPrograms(WORLDS, CPU)

    def step() -> None:
        state.add_(1.0)
        seen.append(memory[0])
        announce_launches()
        seen.append(memory[0])

    joined(rows, step)
    assert seen == [0.0, 1.0]


@pytest.mark.parametrize("num_worlds", [1, 3, 4])
def test_equal_sizes_of_worlds_and_columns_are_not_confused(num_worlds: int) -> None:
    scale = torch.arange(1.0, 4.0)
    state = torch.arange(num_worlds * 3.0).view(num_worlds, 3)

    def step() -> torch.Tensor:
        doubled = scale * 2.0
        return (state * doubled + doubled).cumsum(dim=1)

    expected = step()
    rows = RowPrograms(num_worlds, CPU)
    for _ in range(2):
        assert torch.equal(joined(rows, step), expected)
        rows.compile()


def test_long_rows_are_left_to_torch() -> None:
    rows, pictures = Counted(WORLDS, CPU), torch.ones(WORLDS, 64, 65)
    for _ in range(2):
        assert (joined(rows, lambda: pictures * 2.0) == 2.0).all()
        rows.compile()
    assert rows.launches == 0
