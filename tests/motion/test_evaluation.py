"""Tracking metrics, measured with policies whose errors are known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.cli import evaluate
from mjlab.cli.line import read_line
from mjlab.envs import ManagerBasedRlEnv, Policy
from mjlab.envs.rollout import run_episodes
from mjlab.motion import MotionAction, motion_command
from mjlab.motion.evaluation import TrackingMeter, table
from mjlab.registry import load_task
from mjlab.rl import load_policy
from mjlab.runs import Run, find
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.watched import watched
from tests.worlds.motions import g1_robot, saved, standing, tracking_env


class Copying:
    """Policy that writes the reference frame, with an offset, into each world."""

    def __init__(self, env: ManagerBasedRlEnv, shift: float) -> None:
        self._env = env
        self._shift = shift
        env.program.physics.run = self._put

    def _put(self) -> None:
        command = motion_command(self._env, "motion")
        rows = command.table.rows[command.row]
        pos, vel, *bodies = rows.split(command.table.widths, dim=1)
        robot = command.entity
        root = command.table.body_names.index(command.table.motions[0].root_body)
        state = [
            part.unflatten(1, (-1, size))[:, root]
            for part, size in zip(bodies, (3, 4, 3, 3), strict=True)
        ]
        state[0] = state[0] + torch.tensor([self._shift, 0.0, 0.0])
        everyone = torch.ones(self._env.num_envs, dtype=torch.bool)
        robot.write_root_state(everyone, torch.cat(state, dim=1))
        robot.write_joint_state(everyone, pos, vel)
        self._env.sim.forward()

    def __call__(self, observations: Any) -> torch.Tensor:
        return torch.zeros(self._env.num_envs, 29)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Nothing is remembered."""


def measured(
    folder: Path, shift: float, ends: Sequence[bool | None] = ()
) -> dict[str, Any]:
    """Figures of eight episodes; `ends` replaces their success at the end."""
    robot = g1_robot()
    clips = saved(
        folder, standing(robot, "a", 0.3, 2.0), standing(robot, "b", 0.5, 5.0)
    )
    env = tracking_env(4, clips, sampling="start", pose_range={}, velocity_range={})
    meter = TrackingMeter(env, Copying(env, shift))
    found = run_episodes(env, meter, number=8, seed=0)
    for i, end in enumerate(ends):
        found[i] = replace(found[i], success_at_end=end)
    return meter.figures(found)


def test_episodes_without_the_outcome_are_left_out_of_the_success_of_a_clip(
    tmp_path: Path,
) -> None:
    silent = measured(tmp_path, 0.0, [None] * 8)
    assert {clip["success"] for clip in silent.values()} == {None}
    rows = table(silent).splitlines()[1:3]
    assert [row.split()[1] for row in rows] == ["-", "-"]
    half = measured(tmp_path, 0.0, [None] * 4 + [True] * 4)
    assert {clip["success"] for clip in half.values()} <= {None, 1.0}


def test_exact_playback_has_no_error_and_succeeds(tmp_path: Path) -> None:
    figures = measured(tmp_path, 0.0)
    assert sum(clip["episodes"] for clip in figures.values()) == 8
    for clip in figures.values():
        assert clip["episodes"] and clip["success"] == 1.0
        assert clip["global_pos"] < 1e-5 and clip["pos"] < 1e-5
        assert clip["joint_vel_rms"] < 1e-5


def test_only_re_anchored_errors_ignore_drift(tmp_path: Path) -> None:
    figures = measured(tmp_path, 0.1)
    for clip in figures.values():
        assert clip["global_pos"] == pytest.approx(0.1, abs=1e-5)
        assert clip["pos"] < 1e-5
        assert clip["bodies"]["left_knee_link"]["global_pos"] == pytest.approx(
            0.1, abs=1e-5
        )
    shown = table(figures).splitlines()
    assert shown[1].split()[:4] == ["a", "100.0%", "0.0000", "0.1000"]
    assert any(line.startswith("  torso_link") for line in shown)


def test_a_figure_is_of_the_steps_of_the_counted_episodes_alone(tmp_path: Path) -> None:
    """A world whose clip has ended continues and is no longer counted.

    In turn, all joints are 0.25 rad/s or 0.5 rad/s too fast.
    """
    robot = g1_robot()
    clips = saved(
        tmp_path, standing(robot, "a", 0.3, 2.0), standing(robot, "b", 0.5, 5.0)
    )
    env = tracking_env(4, clips, sampling="start", pose_range={}, velocity_range={})

    class Hurried(Copying):
        steps = 0

        def _put(self) -> None:
            super()._put()
            self.steps += 1
            robot = motion_command(env, "motion").entity
            extra = 0.25 if self.steps // 4 % 2 else 0.5
            everyone = torch.ones(4, dtype=torch.bool)
            robot.write_joint_state(
                everyone, robot.data.joint_pos, robot.data.joint_vel + extra
            )
            env.sim.forward()

    meter = TrackingMeter(env, Hurried(env, 0.0))
    found = run_episodes(env, meter, number=4, seed=0)
    wanted = torch.zeros(2, dtype=torch.float64)
    for clip, episode in zip(meter.clips, found, strict=True):
        wanted[clip] += episode.steps - 1  # In the last one, the next clip begins.
    assert len({episode.steps for episode in found}) == 2
    assert meter._frames.tolist() == wanted.tolist()
    for clip in meter.figures(found).values():
        # The root of the mean square lies between both, above their mean.
        assert 0.375 < clip["joint_vel_rms"] < 0.5


class HoldsDefaultPose:
    """Policy that holds the default pose."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        self._command = motion_command(env, "motion")
        term = env.action_manager.get_term("joint_pos")
        assert isinstance(term, MotionAction)
        self._scale = term.scale

    def __call__(self, observations: Any) -> torch.Tensor:
        default = self._command.entity.data.default_joint_pos
        return (default - self._command.joint_pos) / self._scale

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Nothing is remembered."""


def wave(cfg: Any, make: Any) -> dict[str, Any]:
    """Figures of 64 whole episodes of the clip that a shipped policy follows."""
    cfg.scene.num_envs = 64
    cfg.seed = 0
    env = ManagerBasedRlEnv(cfg, device="cpu")
    meter = TrackingMeter(env, make(env))
    found = run_episodes(env, meter, number=64, seed=0)
    return meter.figures(found)["wave"]


def test_a_run_is_evaluated_from_the_first_frame_undisturbed(tmp_path: Path) -> None:
    words = ["Tracking-G1", "--logs", str(tmp_path)]
    line = read_line(evaluate.EvaluateOptions, words)
    run = find("Tracking-G1", tmp_path).run
    trained, asked = run.configs()["env"], evaluate.read_configs(line, run)["env"]
    assert trained.commands["motion"].sampling == "adaptive"
    assert asked.commands["motion"].sampling == "start"
    assert asked.commands["motion"].velocity_range == {}
    assert not asked.observations["actor"].enable_corruption


@pytest.mark.slow
def test_shipped_policy_tracks_the_wave_better_than_standing() -> None:
    task = load_task("Tracking-G1")
    assert task.trained is not None
    run = Run(task.trained)
    cfgs = run.configs()

    def trained(env: ManagerBasedRlEnv) -> Policy:
        return load_policy(find_checkpoint(run.path), env, cfgs["agent"])

    waves = wave(watched(cfgs["env"]), trained)
    stands = wave(watched(cfgs["env"]), HoldsDefaultPose)
    assert waves["success"] >= 0.9
    assert waves["pos"] < 0.08
    assert waves["pos"] < 0.5 * stands["pos"]
    assert stands["success"] == 0.0
