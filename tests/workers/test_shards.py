"""Merged figures of several workers, by hand arithmetic."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.workers.shards import StateShape, shard_cfg


@pytest.mark.parametrize("name", ["curriculum.values", "log.latest"])
def test_a_figure_of_a_curriculum_is_the_mean_over_workers(name: str) -> None:
    sample = {name: torch.zeros(2), "pos": torch.zeros(1, 3)}
    parts: list[dict[str, Any]] = [
        {name: torch.tensor([1.0, 2.0]), "pos": torch.zeros(2, 3)},
        {name: torch.tensor([3.0, 6.0]), "pos": torch.ones(2, 3)},
    ]
    merged = StateShape(sample, 1).merged(parts)
    assert merged[name].tolist() == [2.0, 4.0]
    assert merged["pos"].tolist() == [[0.0] * 3] * 2 + [[1.0] * 3] * 2


def test_only_the_parent_process_stops_for_diverged_worlds() -> None:
    """One of its four worlds is a quarter of its own, and a small part of all."""
    cfg: ManagerBasedRlEnvCfg = CartpoleBalanceCfg(max_nonfinite_share=0.01)
    own = shard_cfg(cfg, 4, seed=3)
    assert own.max_nonfinite_share == 1.0
    assert (own.scene.num_envs, own.seed, own.sim.num_threads) == (4, 3, 1)
    assert (cfg.max_nonfinite_share, cfg.sim.num_threads) == (0.01, cfg.sim.num_threads)
