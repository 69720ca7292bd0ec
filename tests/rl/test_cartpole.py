"""The product's smallest promise: the cartpole is solved while one watches."""

import os

import pytest

from bench.cartpole import SHARE, solve

LIMIT_S = 60.0
CORES = 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_balance_is_solved_within_a_minute_on_two_cores(seed, record_property):
    import torch

    torch.set_num_threads(min(CORES, os.cpu_count() or 1))
    run = solve(seed, num_envs=256, limit=LIMIT_S)
    record_property(
        "summary",
        f"Cartpole-Balance, seed {seed}: mean return {run['mean_return']:.1f} of "
        f"{run['most']:.0f} after {run['seconds']:.1f} s, {run['evaluation']:.1f} "
        "without noise",
    )
    assert run["solved"]
    assert run["seconds"] < LIMIT_S
    assert run["evaluation"] > SHARE * run["most"]
