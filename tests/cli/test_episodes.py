"""Evaluations: number of worlds, fractions in the table, and files."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.cli import evaluate
from mjlab.cli.answers import UsageError, run_program
from mjlab.cli.episodes import summary
from mjlab.cli.line import read_line
from mjlab.envs import ManagerBasedRlEnv, ZeroPolicy
from mjlab.envs.rollout import EpisodeResult, run_episodes
from mjlab.gait import walk as gait_walk
from mjlab.gait.commands import COMMANDS
from mjlab.gait.limits import AS_TRAINED, QUIET
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.terrain import (
    PyramidStairsCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
)
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
def test_episodes_without_an_outcome_are_excluded_from_its_fraction(ends, share):
    found = summary([ended(end) for end in ends])
    assert found["success_once"] == found["success_at_end"] == share
    assert found["episodes"] == len(ends)


def test_fall_rate_counts_all_episodes():
    found = summary([ended(None, fell=True), ended(None), ended(None), ended(True)])
    assert found["falls"] == 0.25


def on_stairs(seed: int) -> CartpoleBalanceCfg:
    """Task on generated terrain, as saved by a training with this seed."""
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
    """Return sizes and positions of the terrain boxes of an evaluation."""
    line = read_line(evaluate.EvaluateOptions, [TASK, "--device", "cpu", *words])
    env = evaluate.build_env(line, cfg)
    model = env.sim.mj_model
    env.close()
    return torch.cat([torch.tensor(a) for a in (model.geom_size, model.geom_pos)])


def test_terrain_depends_on_the_evaluation_seed_only():
    first, second = (ground(on_stairs(seed)) for seed in (1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, ground(on_stairs(1), "--seed", "5"))


def test_recurrent_policy_is_reset_before_each_round():
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


WALKER = "Velocity-Go1-Flat"


def evaluated(folder: Path, *words: str) -> dict[str, Any]:
    """Figures of an evaluation of a shipped policy, over a quarter of a second."""
    path = folder / "figures.json"
    line = [WALKER, "--episodes", "1", "--env.episode-length-s", "0.24"]
    line += ["--device", "cpu", "--logs", str(folder), "--json", str(path), *words]
    assert run_program(evaluate.main, line) == 0
    return json.loads(path.read_text("utf-8"))


def test_evaluation_of_a_walking_task_includes_gait_measures(
    tmp_path, monkeypatch, capsys
):
    """The shipped Go1 trots: diagonal feet land together."""
    monkeypatch.setitem(gait_walk.EPISODE_S, QUIET, 4.5)
    monkeypatch.setitem(gait_walk.EPISODE_S, AS_TRAINED, 4.0)
    monkeypatch.setattr(evaluate, "GAIT_ROBOTS", 1)
    gait = evaluated(tmp_path)["gait"]
    assert list(gait) == [QUIET, AS_TRAINED]
    assert all(list(world) == list(COMMANDS) for world in gait.values())
    trot = gait[QUIET]["forward 1.0"]
    front_right, front_left, rear_right, rear_left = trot["phases"]
    assert front_right == 0.0 and trot["diagonal_lag"] < 0.1
    assert front_left == pytest.approx(0.5, abs=0.1)
    assert rear_right == pytest.approx(0.5, abs=0.1)
    assert min(rear_left, 1.0 - rear_left) < 0.1
    said = capsys.readouterr().out
    assert "per leg 1/s" in said and "forward 1.0 m/s, as trained" in said
    assert "turn left 0.3" in said and "natural gait" in said


def test_the_gait_is_omitted_on_request_and_for_zero_actions(tmp_path, capsys):
    assert "gait" not in evaluated(tmp_path, "--no-gait")
    assert "gait" not in evaluated(tmp_path, "--policy", "zero")
    assert "duty" not in capsys.readouterr().out


def test_evaluation_without_measurable_feet_omits_the_gait(capsys):
    cfg = VelocityGo1FlatCfg()
    sensors = (dataclasses.replace(s, reduce="none") for s in cfg.scene.sensors)
    cfg.scene.sensors = tuple(sensors)
    line = read_line(evaluate.EvaluateOptions, [WALKER])
    assert evaluate.measure_gait(line, cfg, ZeroPolicy) == {}
    said = capsys.readouterr().out
    assert "Gait not measured: Contact sensor 'feet_contact' has" in said
    assert "reduce='netforce'" in said
