"""The cartpole task is solved within seconds."""

import os
import time

import pytest

from bench.cartpole import SHARE, solve

LIMIT_S = 60.0
CORES = 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_balance_is_solved_within_a_minute_on_two_cores(seed, record_property):
    import torch

    torch.set_num_threads(min(CORES, os.cpu_count() or 1))
    # By processor time, because other processes can run on this machine.
    before = time.process_time()
    run = solve(seed, num_envs=256, limit=5.0 * LIMIT_S)
    spent = time.process_time() - before
    record_property(
        "summary",
        f"Cartpole-Balance, seed {seed}: mean return {run['mean_return']:.1f} of "
        f"{run['most']:.0f} after {run['seconds']:.1f} s ({spent:.1f} of a "
        f"processor), {run['evaluation']:.1f} without noise",
    )
    assert run["solved"]
    assert spent < CORES * LIMIT_S
    assert run["evaluation"] > SHARE * run["most"]
