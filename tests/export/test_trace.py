"""User-defined terms in exported policies: traced, or refused with their line."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from rsl_rl.models import MLPModel
from tensordict import TensorDict

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.export import ExportError, OnnxPolicy
from mjlab.export.compare import compare_terms
from mjlab.export.control_step import ControlStep
from mjlab.export.trace import Tracer
from mjlab.export.write import nominal
from mjlab.managers import (
    ManagerTermBase,
    ObservationTermCfg,
    Quantity,
    measured,
)
from mjlab.rl import GaussianCfg, MlpModelCfg
from mjlab.sensor import MujocoSensorCfg, ObjRef
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from tests.worlds.export_runs import errors, record, write
from tests.worlds.rl_runs import agent_cfg

# --- User-defined terms ---------------------------------------------------------------


def phase_clock(env):
    phase = 2.0 * math.pi * env.episode_length_buf.float() * env.step_dt / 0.8
    return torch.stack((phase.sin(), phase.cos()), dim=1)


class FilteredJointVel(ManagerTermBase):
    """Exponential mean with its own initial value."""

    def __init__(self, cfg, env):
        super().__init__(cfg, env)
        self._data = env.scene["robot"].data
        self._past = torch.full_like(self._data.joint_vel, 0.25)

    def __call__(self, env):
        self._past.lerp_(self._data.joint_vel, 0.3)
        return self._past

    def reset(self, mask):
        self._past[mask] = 0.25

    def state(self):
        return {"past": self._past}


class ReboundMean(FilteredJointVel):
    """The same, with a new tensor in each call."""

    def __call__(self, env):
        self._past = 0.7 * self._past + 0.3 * self._data.joint_vel
        return self._past


def body_height(env):
    return env.scene.sensor("hip_pos").data[:, 2:]


def sum_of_sensors(env):
    gyro, velocity = (
        env.scene.sensor(f"robot/{name}").data
        for name in ("imu_ang_vel", "imu_lin_vel")
    )
    return gyro + 0.5 * velocity


def heading_and_speed(env):
    data = env.scene["robot"].data
    speed = data.root_lin_vel_w.norm(dim=1, keepdim=True)
    return torch.cat((data.projected_gravity_b, data.heading_w[:, None], speed), dim=1)


def action_change(env):
    return env.action_manager.action - env.action_manager.prev_action


@dataclass(kw_only=True)
class EmaActionCfg(mdp.JointPositionActionCfg):
    """Joint positions that follow a mean of the actions."""

    def bind(self, name, env):
        return EmaAction(name, self, env)


class EmaAction(mdp.JointPositionAction):
    """Filters the action before scaling."""

    def __init__(self, name, cfg, env):
        super().__init__(name, cfg, env)
        self._mean = torch.zeros(env.num_envs, self.action_dim)

    def process_actions(self, actions):
        self._mean.lerp_(actions, 0.4)
        super().process_actions(self._mean)

    def reset(self, mask):
        super().reset(mask)
        self._mean[mask] = 0.0

    def state(self):
        return {**super().state(), "mean": self._mean}


@measured(Quantity("m", "world", ["FR", "FL"]))
def foot_height(env):
    return env.scene["robot"].data.site_pos_w[:, :2, 2]


TERMS = {
    "clock": phase_clock,
    "filtered": FilteredJointVel,
    "height": body_height,
    "sum": sum_of_sensors,
    "heading": heading_and_speed,
    "change": action_change,
    "feet": foot_height,
}


def go1(**terms: Any) -> VelocityGo1FlatCfg:
    """Short episodes without noise, with more observation terms."""
    cfg = VelocityGo1FlatCfg(seed=1, episode_length_s=0.6)
    actor = cfg.observations["actor"]
    assert actor is not None
    actor.enable_corruption = False
    actor.terms |= {name: ObservationTermCfg(func=func) for name, func in terms.items()}
    cfg.scene.sensors += (
        MujocoSensorCfg(
            name="hip_pos",
            sensor_type="framepos",
            obj=ObjRef(type="xbody", name="FR_hip", entity="robot"),
        ),
    )
    return cfg


def small() -> Any:
    actor = MlpModelCfg(hidden_dims=(16, 8), distribution_cfg=GaussianCfg())
    return agent_cfg(1, actor=actor)


def test_terms_of_a_user_are_exported_without_a_second_description(tmp_path):
    cfg = go1(**TERMS)
    own = cfg.actions["joint_pos"]
    cfg.actions["joint_pos"] = EmaActionCfg(scale=own.scale, use_default_offset=True)
    checkpoint, exported = write(tmp_path, cfg, small())
    file = OnnxPolicy(exported.path)
    moments = record(checkpoint, cfg, small(), file.contract, entity="robot", steps=80)
    assert sum(moment.ends.sum() for moment in moments) >= 4
    assert max(errors(file, moments)) < 1e-5
    # A missing reset of memory would be detected.
    running = [replace(m, begins=np.array([n == 0] * 2)) for n, m in enumerate(moments)]
    assert min(errors(file, running)) > 1e-4
    inputs = {e["name"]: e for e in file.contract["inputs"]}
    assert "joint_pos" in inputs and inputs["hip_pos"]["unit"] == "m"
    assert inputs["root_quat_w"]["elements"] == ["w", "x", "y", "z"]
    assert inputs["feet"]["elements"] == ["FR", "FL"]
    assert inputs["feet"]["observation"] == "actor/feet"
    states = {s["name"]: s["initial"] for s in file.contract["states"]}
    assert states["state_filtered_past"] == 0.25
    assert states["state_joint_pos_mean"] == 0.0
    used = {t["term"]: t["depends_on"] for t in file.contract["observations"]}
    assert used["actor/clock"] == ["state_steps"]
    assert used["actor/sum"] == ["imu_ang_vel", "imu_lin_vel"]


# --- Refused terms --------------------------------------------------------------------


def reads_a_body(env):
    return env.scene["robot"].data.body_pos_w[:, 0]


def returns_a_live_tensor(env):
    return env.sim.data.qpos


def branches(env):
    data = env.scene["robot"].data
    if data.joint_pos[0, 0] > 0.0:
        return data.joint_pos
    return data.joint_vel


def converts(env):
    value = float(env.scene["robot"].data.joint_vel[0, 0])
    return torch.full((env.num_envs, 1), value)


def reads_a_force(env):
    return env.sim.data.cfrc_int[:, 1]


def draws(env):
    return env.rng.draw("mine", (2,))


REFUSED = {
    reads_a_body: r"\(return env\.scene.*body_pos_w\[:, 0\]\) reads sim\.data\.xpos,",
    returns_a_live_tensor: r"returns_a_live_tensor.* reads sim\.data\.qpos,",
    branches: r"\(if data\.joint_pos\[0, 0\] > 0\.0:\) branches on data",
    converts: r"\(value = float\(.*\) branches on data, or reads numbers in Python",
    reads_a_force: r"\(return env\.sim.*cfrc_int\[:, 1\]\) reads sim\.data\.cfrc_int,",
    draws: r"\(return env\.rng\.draw\(.*\) reads rng\.world_seed, which a robot can",
}


def traced_step(cfg: ManagerBasedRlEnvCfg) -> ControlStep:
    env = ManagerBasedRlEnv(nominal(cfg), device="cpu")
    observations, _ = env.reset(seed=0)
    seen = TensorDict({"actor": observations["actor"]}, batch_size=[1])
    network = MLPModel(
        seen, {"actor": ["actor"]}, "actor", env.action_manager.total_action_dim, (8,)
    )
    return ControlStep(Tracer(env, ("actor",)), network.eval(), None)


@pytest.mark.parametrize("func", REFUSED, ids=lambda func: func.__name__)
def test_a_term_that_a_robot_cannot_compute_is_refused_by_its_line(func):
    where = r"^Observation term 'actor/mine' cannot be exported: test_trace\.py:\d+ "
    with pytest.raises(ExportError, match=where + r".*" + REFUSED[func]):
        traced_step(go1(mine=func))


class Counter(ManagerTermBase):
    """Counts in Python."""

    def __init__(self, cfg, env):
        super().__init__(cfg, env)
        self._count = 0

    def __call__(self, env):
        self._count += 1
        return torch.full((env.num_envs, 1), 0.01 * self._count)


class ByNumpy(ManagerTermBase):
    """Reads the engine's memory through NumPy."""

    def __init__(self, cfg, env):
        super().__init__(cfg, env)
        self._qpos = env.sim.data.qpos.numpy()

    def __call__(self, env):
        return torch.tensor(self._qpos[:, 7:9].copy())


@pytest.mark.parametrize("kind", [Counter, ByNumpy])
def test_a_term_with_a_frozen_value_is_refused_by_name(kind: Callable):
    step = traced_step(go1(mine=kind))
    said = r"^Observation term 'actor/mine' cannot be exported: over 100 random steps"
    with pytest.raises(ExportError, match=said):
        compare_terms(step)


def test_term_with_undeclared_state_is_refused():
    class Hidden(FilteredJointVel):
        def state(self):
            return {}

    step = traced_step(go1(mine=Hidden))
    with pytest.raises(ExportError, match=r"'actor/mine' .* differs by .* state\(\) r"):
        compare_terms(step)


def test_state_in_a_new_tensor_is_detected_too():
    step = traced_step(go1(mine=ReboundMean))
    compare_terms(step)
    assert "state_mine_past" in step.file.inputs


def test_tracing_leaves_the_environment_as_it_was():
    """The same steps with and without a trace in between."""
    found = []
    for traces in (False, True):
        env = ManagerBasedRlEnv(nominal(go1(**TERMS)), device="cpu")
        env.reset(seed=0)
        if traces:
            tracer = Tracer(env, ("actor",))
            values = tracer.read() | tracer.reset() | {"zero": torch.zeros(())}
            tracer.observe(dict(values))
        env.reset(seed=0)
        for _ in range(5):
            observations, *_ = env.step(torch.full((1, 12), 0.3))
        found.append(observations["actor"].clone())
    assert torch.equal(*found)


class LateAction(mdp.JointPositionAction):
    """Sets targets within each physics step."""

    def apply_late(self):
        self._columns.write_all(self._field, self.processed_action)


class FollowingAction(mdp.JointPositionAction):
    """Reads joints in each physics step."""

    def apply_actions(self):
        position = self._columns.read(self.entity.data.joint_pos)
        self._columns.write_all(self._field, position + self.processed_action)


LATE = {
    LateAction: r"LateAction\.apply_late sets targets within each physics step",
    FollowingAction: r"test_trace\.py:\d+ \(position = .*\) reads sim\.data\.qpos",
}


@pytest.mark.parametrize("kind", LATE)
def test_action_that_reads_measurements_in_each_physics_step_is_refused(kind):
    @dataclass(kw_only=True)
    class OwnCfg(mdp.JointPositionActionCfg):
        def bind(self, name, env):
            return kind(name, self, env)

    cfg = go1()
    cfg.actions["joint_pos"] = OwnCfg()
    said = r"^Action term 'joint_pos' cannot be exported: " + LATE[kind]
    with pytest.raises(ExportError, match=said):
        traced_step(cfg)


def test_a_sensor_and_a_command_of_one_name_are_refused():
    cfg = go1()
    cfg.scene.sensors += (
        MujocoSensorCfg(
            name="twist",
            sensor_type="gyro",
            obj=ObjRef(type="site", name="imu", entity="robot"),
        ),
    )
    env = ManagerBasedRlEnv(nominal(cfg), device="cpu")
    with pytest.raises(ExportError, match=r"input name 'twist' is used twice"):
        Tracer(env, ("actor",))


def test_only_quantities_that_affect_a_target_are_inputs():
    step = traced_step(CartpoleBalanceCfg())
    assert step.file.inputs == ("joint_pos", "joint_vel")
    assert step.file.outputs == ("force_target", "action")
