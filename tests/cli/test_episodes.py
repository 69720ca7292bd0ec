"""Evaluations: their worlds, the shares of their table, and what they leave behind."""

from typing import Any

import pytest
import torch

from mjlab.cli.answers import UsageError, run_program
from mjlab.cli.episodes import summary
from mjlab.cli.line import read_line
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.rollout import EpisodeResult, run_episodes
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.terrain import (
    PyramidStairsCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
)
from scripts import evaluate
from tests.cli.test_record import Counting

TASK = "Cartpole-Balance"


def ended(success: bool | None, *, fell: bool = False) -> EpisodeResult:
    return EpisodeResult(
        seed=0,
        total=1.0,
        steps=10,
        seconds=0.5,
        fell=fell,
        ended_by=(),
        success_once=success,
        success_at_end=success,
        figures={},
    )


@pytest.mark.parametrize(
    ("ends", "share"),
    [
        ([True, None], 1.0),
        ([False, None, None], 0.0),
        ([True, False, None], 0.5),
        ([None, None], None),
    ],
)
def test_episodes_without_an_outcome_are_left_out_of_its_share(ends, share):
    found = summary([ended(end) for end in ends])
    assert found["success_once"] == found["success_at_end"] == share
    assert found["episodes"] == len(ends)


def test_the_share_of_falls_is_of_all_episodes():
    found = summary([ended(None, fell=True), ended(None), ended(None), ended(True)])
    assert found["falls"] == 0.25


def on_stairs(seed: int) -> CartpoleBalanceCfg:
    """A task on generated ground, as a training with this seed saved it."""
    cfg = CartpoleBalanceCfg(seed=seed)
    cfg.scene.terrain = TerrainCfg(
        kind="generator",
        generator=TerrainGeneratorCfg(
            sub_terrains={"stairs": PyramidStairsCfg()},
            num_rows=2,
            num_cols=2,
            size=(8.0, 8.0),
        ),
    )
    return cfg


def ground(cfg: CartpoleBalanceCfg, *words: str) -> torch.Tensor:
    """Sizes and places of the boxes of the ground that an evaluation builds."""
    line = read_line(evaluate.PROGRAM, [TASK, "--device", "cpu", *words])
    env = evaluate.build_env(line, cfg)
    model = env.sim.mj_model
    env.close()
    return torch.cat([torch.tensor(a) for a in (model.geom_size, model.geom_pos)])


def test_ground_depends_on_the_seed_of_the_evaluation_and_not_of_the_training():
    first, second = (ground(on_stairs(seed)) for seed in (1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, ground(on_stairs(1), "--seed", "5"))


def test_a_policy_with_memory_starts_each_round_without_it():
    cfg = CartpoleBalanceCfg(episode_length_s=0.4)
    cfg.scene.num_envs = 2
    actions: list[Any] = []

    class Kept(Counting):
        def __call__(self, observations: Any) -> torch.Tensor:
            actions.append(super().__call__(observations).clone())
            return actions[-1]

    env = ManagerBasedRlEnv(cfg, device="cpu")
    run_episodes(env, Kept(2, remembered=5.0), number=4, seed=0)
    env.close()
    by_hand = 0.1 * torch.arange(1.0, 9.0).repeat(2)
    for world in range(2):
        assert torch.cat(actions)[world::2, 0].tolist() == pytest.approx(
            by_hand.tolist()
        )


@pytest.mark.parametrize("fault", [None, "policy"])
def test_an_evaluation_closes_its_worlds(tmp_path, monkeypatch, capsys, fault):
    open_worlds: list[ManagerBasedRlEnv] = []
    build, close = evaluate.build_env, ManagerBasedRlEnv.close

    def built(line: Any, cfg: Any) -> ManagerBasedRlEnv:
        open_worlds.append(build(line, cfg))
        return open_worlds[-1]

    def closed(env: ManagerBasedRlEnv) -> None:
        open_worlds.remove(env)
        close(env)

    def broken(*args: Any) -> None:
        raise UsageError("no policy")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(evaluate, "build_env", built)
    monkeypatch.setattr(ManagerBasedRlEnv, "close", closed)
    if fault is not None:
        monkeypatch.setattr(evaluate, "find_policy", broken)
    line = [TASK, "--episodes", "2", "--env.episode-length-s", "0.4"]
    code = run_program(evaluate.main, line)
    assert (code == 0) == (fault is None)
    assert open_worlds == []
