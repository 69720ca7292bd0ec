"""Recorded motion of policies: configuration of the worlds, and measures."""

import dataclasses
from typing import Any, Self

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ZeroPolicy, mdp
from mjlab.gait.commands import COMMANDS
from mjlab.gait.limits import AS_TRAINED, QUIET
from mjlab.gait.motion import LeggedMotion, measure
from mjlab.gait.walk import (
    GaitError,
    as_trained,
    gait_of,
    held,
    legs_of,
    quiet,
    walk,
)
from mjlab.managers import EventTermCfg, TerminationTermCfg
from mjlab.managers.managed_env import ManagedEnv
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tasks.velocity import VelocityG1Cfg, VelocityG1FlatCfg, VelocityGo1FlatCfg
from tests.gait.hand_made_gait import Foot, Walk, biped, quadruped
from tests.gait.kinematic_walker import DEPTH, KinematicCfg, feet_sensor

SECONDS = 7.0
"""Three seconds of start, and five strides of 0.8 s."""

AHEAD = {"ahead": (0.9, 0.0, 0.0)}


def recorded(cfg: KinematicCfg, commands: Any = AHEAD, worlds: int = 1) -> Any:
    """Return motions of a robot that moves by formula, for any command."""
    whole = held(quiet(cfg), worlds * len(commands), SECONDS)
    env = ManagerBasedRlEnv(whole, device="cpu")
    try:
        return walk(env, ZeroPolicy(env), commands, seconds=SECONDS, seed=0)
    finally:
        env.close()


def in_turn(**left: float) -> tuple[Foot, Foot]:
    """Return feet that land well after the excluded start."""
    one, other = biped(**left)
    return dataclasses.replace(one, phase=0.3), dataclasses.replace(other, phase=0.8)


def test_steps_of_a_kinematic_biped_are_those_of_its_formula() -> None:
    """Physics takes 5 ms: a stance of 0.48 s is 96 of 160 samples."""
    feet = in_turn(lift=0.05, slip=0.02)
    motion: LeggedMotion = recorded(KinematicCfg(walk=Walk(feet=feet)))["ahead"]
    assert motion.feet == ("left_sole", "right_sole")
    assert motion.weight == pytest.approx(15.0 * 9.81)
    found = measure(motion, AHEAD["ahead"])
    assert found["steps_per_s"] == pytest.approx(2 / 0.8)
    assert found["swing"] == pytest.approx(0.32)
    assert found["double_support"] == pytest.approx(0.2)
    assert found["flight"] == 0.0
    # The left foot lifts 5 cm, the right one 8, from 4 mm below the ground.
    lifts = 0.05 + DEPTH, 0.08 + DEPTH
    assert found["clearance"] == pytest.approx(np.mean(lifts), abs=2e-3)
    different = 2 * (lifts[1] - lifts[0]) / (lifts[1] + lifts[0])
    assert found["asymmetry_clearance"] == pytest.approx(different, abs=2e-3)
    # The left foot, in four stances of five, slides 2 cm, 5/6 of it before the other
    # one lands.
    assert found["slip"] == pytest.approx(0.02 * 4 / 9, abs=1e-3)
    assert found["step_length"] == pytest.approx(0.36 - 0.02 * 5 / 12, abs=2e-3)
    assert found["speed"] == pytest.approx(0.9, abs=1e-3)


def test_a_kinematic_quadruped_trots_as_its_formula() -> None:
    gait = Walk(feet=quadruped(0.3, 0.8, 0.8, 0.3), stance=0.55)
    found = measure(recorded(KinematicCfg(walk=gait))["ahead"], AHEAD["ahead"])
    assert found["phases"] == pytest.approx([0.0, 0.5, 0.5, 0.0], abs=1e-6)
    assert found["duty_factor"] == pytest.approx(0.55)
    assert found["steps_per_s_per_leg"] == pytest.approx(1 / 0.8)
    assert found["clearance"] == pytest.approx(0.08 + DEPTH, abs=1e-3)


def test_each_world_has_its_command_from_the_start_to_the_end() -> None:
    """The robot ignores the command, so its error equals the command."""
    told = {"stand": (0.0, 0.0, 0.0), "aside": (0.9, 0.4, 0.0), "turn": (0.9, 0.0, 0.3)}
    cfg = held(quiet(KinematicCfg()), 6, SECONDS)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    seen: list[torch.Tensor] = []

    class Noting(ZeroPolicy):
        def __call__(self, observations: Any, /) -> torch.Tensor:
            seen.append(observations["actor"].clone())
            return super().__call__(observations)

    motions = walk(env, Noting(env), told, seconds=SECONDS, seed=0)
    env.close()
    wanted = torch.tensor([*told.values()] * 2)
    assert all(torch.equal(each, wanted) for each in seen[1:])
    errors = {name: measure(motions[name], told[name]) for name in told}
    assert errors["stand"]["linear_error"] == pytest.approx(0.9, abs=1e-3)
    assert errors["aside"]["linear_error"] == pytest.approx(0.4, abs=1e-2)
    assert errors["turn"]["turning_error"] == pytest.approx(0.3, abs=1e-3)
    assert [errors[name]["robots"] for name in told] == [2, 2, 2]


def test_a_robot_that_ends_its_episode_counts_as_a_fall() -> None:
    def falls(env: ManagedEnv) -> torch.Tensor:
        late = env.episode_length_buf > 200
        late[0] = False
        return late

    cfg = KinematicCfg()
    cfg.terminations = {**cfg.terminations, "fall": TerminationTermCfg(func=falls)}
    found = measure(recorded(cfg, worlds=2)["ahead"], AHEAD["ahead"])
    assert (found["robots"], found["falls"]) == (2, 1)


def test_nominal_world_has_no_noise_pushes_or_randomisation() -> None:
    cfg = quiet(VelocityG1FlatCfg())
    assert set(cfg.events) == {"reset_base", "reset_robot_joints"}
    groups = [group for group in cfg.observations.values() if group]
    assert groups and not any(group.enable_corruption for group in groups)


@dataclasses.dataclass(kw_only=True)
class HeldUpCfg(VelocityGo1FlatCfg):
    """Task with a training aid that play lacks."""

    def __post_init__(self) -> None:
        hand = EventTermCfg(func=mdp.reset_joints_by_offset, mode="step")
        self.events = {**self.events, "hand": hand}

    def play(self) -> Self:
        watched = super().play()
        watched.events = {**watched.events, "hand": None}
        return watched


def test_as_trained_world_has_noise_and_pushes_but_no_training_aids() -> None:
    trained = HeldUpCfg()
    cfg = as_trained(trained)
    assert set(trained.events) - set(cfg.events) == {"hand"}
    assert {"push_robot", "foot_friction", "encoder_bias"} <= set(cfg.events)
    assert cfg.observations == trained.observations


def test_tasks_on_rough_ground_are_measured_on_a_plane() -> None:
    for world in (quiet, as_trained):
        terrain = world(VelocityG1Cfg()).scene.terrain
        assert terrain is not None and terrain.generator is None


def test_held_command_does_not_change_or_end_while_time_continues() -> None:
    cfg = held(VelocityGo1FlatCfg(), 3, 12.0)
    twist = cfg.commands["twist"]
    assert twist is not None and twist.resampling_time_range == (np.inf, np.inf)
    assert cfg.episode_length_s > 12.0
    assert not any(term.time_out for term in cfg.terminations.values() if term)
    assert cfg.curriculum == {} and cfg.scene.num_envs == 3


def test_a_task_without_feet_has_no_gait() -> None:
    assert legs_of(CartpoleBalanceCfg()) is None
    with pytest.raises(GaitError, match="one contact sensor of the feet"):
        held(CartpoleBalanceCfg(), 1, 4.0)


def test_a_sensor_that_does_not_sum_forces_is_refused_with_the_required_setting() -> (
    None
):
    cfg = KinematicCfg()
    sensors = (feet_sensor(cfg.walk, reduce="maxforce"),)
    cfg.scene = dataclasses.replace(cfg.scene, sensors=sensors)
    with pytest.raises(GaitError, match="reduce='netforce' and 'force'"):
        held(cfg, 1, 4.0)


def test_a_policy_is_measured_in_both_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    short = {QUIET: 5.0, AS_TRAINED: 4.0}
    monkeypatch.setattr("mjlab.gait.walk.EPISODE_S", short)
    two = {name: COMMANDS[name] for name in ("forward 1.0", "stand")}
    found = gait_of(
        KinematicCfg(), ZeroPolicy, commands=two, robots=2, episodes=3, device="cpu"
    )
    assert list(found) == [QUIET, AS_TRAINED]
    for world in found.values():
        assert list(world) == list(two)
        assert all(figures["robots"] == 2 for figures in world.values())
    alone = gait_of(KinematicCfg(), ZeroPolicy, commands=two, robots=1, episodes=0)
    assert list(alone) == [QUIET]
