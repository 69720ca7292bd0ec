"""The test of a recorded step: replays against eager steps from the same state."""

from collections.abc import Callable

import torch

from mjlab.envs.state import EnvState, is_per_world
from mjlab.managers import ManagedEnv

SELF_TEST_STEPS = 4
"""Replays that are compared with eager steps. One is not enough: a Python counter
frozen in a recording looks right once."""

SELF_TEST_TOLERANCE = 1e-3
"""Largest difference, relative to a tensor's scale, that the order of atomic additions
on a GPU may cause in these steps."""


def self_test(
    env: ManagedEnv,
    state: EnvState,
    replay: Callable[[], None],
    eager: Callable[[], None],
    *,
    tolerance: float = SELF_TEST_TOLERANCE,
) -> list[str]:
    """Compare several replays with as many eager steps from the same state.

    Contacts on a GPU come in no order, so that a few of thousands of worlds part ways
    even between two eager runs. What counts is the share of worlds that differ, beyond
    three times that of two eager runs. What worlds share (sums, counters) follows from
    all of them, so it is judged where none parted ways. Half of the worlds end in these
    steps, so that resets are compared too.

    Returns:
        The tensors that differ, the worst first: term and tensor, and by how much.
    """
    start = state.take()
    ends = []
    for run in (eager, eager, replay):
        state.restore(start)
        env.episode_length_buf[::2] = max(0, env.max_episode_length - 2)
        env.sim.forward()
        for _ in range(SELF_TEST_STEPS):
            run()
        ends.append(state.take())
    state.restore(start)
    env.sim.forward()
    expected, again, replayed = ends
    return _culprits(expected, again, replayed, env.num_envs, tolerance)


def _culprits(
    expected: dict[str, torch.Tensor],
    again: dict[str, torch.Tensor],
    replayed: dict[str, torch.Tensor],
    num_envs: int,
    tolerance: float,
) -> list[str]:
    """Tensors in which replays differ from eager steps, by more than these do."""
    found, shared = [], []
    parted = 0.0
    for name, value in expected.items():
        noise = _share_of_worlds(again[name], value, tolerance)
        share = _share_of_worlds(replayed[name], value, tolerance)
        if not is_per_world(name, value, num_envs):
            shared += [(share, name)] * (noise == 0.0)
            continue
        parted = max(parted, share)
        # Two eager runs that differ in most worlds have a memory outside of tensors.
        if share > 0.05 + 3.0 * noise or noise > 0.5:
            found.append((share, name))
    found += [each for each in shared if each[0] > 0.0 and parted == 0.0]
    found.sort(reverse=True)
    return [f"{name} (in {share:.0%} of its rows)" for share, name in found]


def _share_of_worlds(
    value: torch.Tensor, expected: torch.Tensor, tolerance: float
) -> float:
    """Share of the rows that differ by more than `tolerance` of the tensor's scale."""
    if expected.numel() == 0:
        return 0.0
    if expected.is_floating_point():
        ours, theirs = (
            t.double().nan_to_num(nan=0.0, posinf=1e30, neginf=-1e30)
            for t in (value, expected)
        )
        scale = theirs.abs().max().clamp(min=1e-6)
        differs = (ours - theirs).abs() > tolerance * scale
    else:
        differs = value != expected
    rows = differs.reshape(differs.shape[0], -1) if differs.ndim else differs.view(1, 1)
    return float(rows.any(dim=1).double().mean())
