"""Cached values after changes that run no Python.

A replay of a CUDA graph writes tensors without Python. Here a twin takes the steps, and
its tensors are copied in place, with the same effect.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
import pytest
import torch

from mjlab import views
from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.envs.runner import GraphRunner
from mjlab.managers import ActionTermCfg, TerminationTermCfg
from mjlab.muscle import MuscleActionCfg, muscle_action
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch, ContactSensor, ContactSensorCfg
from mjlab.sim import MujocoCfg, SimulationCfg, Stage
from mjlab.tasks.muscle.models import w18_cfg
from mjlab.terrain import TerrainCfg

DT = 0.002
STEPS = 80

BALL = """
<mujoco><worldbody>
  <body name="ball" pos="0 0 .12"><freejoint/><geom name="ball" size=".1"/></body>
</worldbody></mujoco>
"""
TOUCH = ContactSensorCfg(
    name="touch",
    primary=ContactMatch(mode="geom", pattern="ball", entity="ball"),
    fields=("found", "force"),
    track_air_time=True,
)


def make(scene: SceneCfg, **actions: ActionTermCfg) -> ManagerBasedRlEnv:
    cfg = ManagerBasedRlEnvCfg(
        scene=scene,
        sim=SimulationCfg(backend="native", mujoco=MujocoCfg(timestep=DT)),
        decimation=1,
        episode_length_s=100.0,
        actions=dict(actions),
        terminations={"time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)},
        seed=0,
    )
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def ball() -> ManagerBasedRlEnv:
    """Ball that hits the ground after about 30 steps."""
    entity = EntityCfg(source=lambda: mujoco.MjSpec.from_string(BALL))
    return make(
        SceneCfg(terrain=TerrainCfg(), entities={"ball": entity}, sensors=(TOUCH,))
    )


def muscles() -> ManagerBasedRlEnv:
    return make(SceneCfg(entities={"robot": w18_cfg()}), muscles=MuscleActionCfg())


@dataclass
class Replay:
    """Fake graph: a twin steps, and its tensors are copied."""

    env: ManagerBasedRlEnv
    twin: ManagerBasedRlEnv

    def replay(self) -> None:
        self.twin.action_manager.take(self.env.action_manager.incoming)
        self.twin.program.advance()
        engine, live = self.env.sim.engine, self.env.state.live()
        everyone = torch.ones(self.env.num_envs, dtype=torch.bool)
        engine.restore(self.twin.sim.snapshot(), everyone)
        engine.forward(Stage.VELOCITY)
        for name, tensor in self.twin.state.live().items():
            live[name].copy_(tensor)


def replayed(
    env: ManagerBasedRlEnv, twin: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch
) -> ManagerBasedRlEnv:
    """Replace the steps of `env` by fake replays."""

    def record(run: object, device: torch.device, rows: None) -> tuple[Replay, None]:
        env.program.advance()
        return Replay(env, twin), None

    monkeypatch.setattr("mjlab.sim.graphs.record_with_torch", record)
    monkeypatch.setattr(env.sim.engine, "wp_model", None, raising=False)
    env.runner = GraphRunner(
        env.program, env, env.state, env.observers, reason="a test"
    )
    env.sim.forward()
    return env


def touch_of(env: ManagerBasedRlEnv) -> ContactSensor:
    sensor = env.scene.sensor("touch")
    assert isinstance(sensor, ContactSensor)
    return sensor


def in_c(env: ManagerBasedRlEnv) -> mujoco.MjData:
    """Return MuJoCo C in the state of the first world."""
    data = mujoco.MjData(env.sim.mj_model)
    data.qpos[:] = env.sim.data.qpos[0].numpy()
    data.qvel[:] = env.sim.data.qvel[0].numpy()
    mujoco.mj_forward(env.sim.mj_model, data)
    return data


def idle(env: ManagerBasedRlEnv) -> None:
    env.step(torch.zeros(1, env.action_manager.total_action_dim))


# --- After a replay -----------------------------------------------------------------


def test_contact_results_after_a_replay_belong_to_its_last_physics_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = replayed(ball(), ball(), monkeypatch)
    sensor, model = touch_of(env), env.sim.mj_model
    data, touched, landings = in_c(env), False, 0
    for _ in range(STEPS):
        idle(env)
        # Contacts of a step belong to its initial state.
        mujoco.mj_step(model, data)
        assert bool(sensor.is_in_contact()) == (data.ncon > 0)
        assert bool(sensor.compute_first_contact(DT)) == (data.ncon > 0 and not touched)
        assert bool(sensor.compute_first_air(DT)) == (data.ncon == 0 and touched)
        landings += data.ncon > 0 and not touched
        touched = data.ncon > 0
    assert landings == 1


def test_a_force_read_late_is_recomputed_after_the_next_replay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = replayed(ball(), ball(), monkeypatch)
    sensor, found, expected = touch_of(env), np.zeros(6), 0.0
    for _ in range(STEPS):
        idle(env)
        with env.sim.reads.allow_late():
            force = float(sensor.data.force[0, 0, 0])
        data = in_c(env)
        expected = 0.0
        if data.ncon:
            mujoco.mj_contactForce(env.sim.mj_model, data, 0, found)
            expected = found[0]
        assert force == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert expected > 1.0, "the ball lies on the ground"


def test_muscle_capacities_after_a_replay_belong_to_the_current_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = replayed(muscles(), muscles(), monkeypatch)
    term, seen = muscle_action(env), []
    for _ in range(3):
        idle(env)
        length = term.present().length[0].numpy().copy()
        np.testing.assert_allclose(length, in_c(env).actuator_length, atol=1e-6)
        seen.append(length)
    assert np.abs(seen[2] - seen[1]).max() > 1e-5, "muscles move"


def test_views_and_entity_data_after_a_replay_are_current(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = replayed(ball(), ball(), monkeypatch)
    seen, data = views.of(env.scene), env.scene.entity("ball").data
    speeds = []
    for _ in range(3):
        idle(env)
        c = in_c(env)
        np.testing.assert_allclose(seen.rigid_body_data[0, 1, :3], c.xpos[1], atol=1e-6)
        np.testing.assert_allclose(data.root_lin_vel_b[0], c.qvel[:3], atol=1e-6)
        speeds.append(float(data.root_lin_vel_b[0, 2]))
    assert speeds[2] < speeds[1] < speeds[0], "the ball falls"


# --- After a state was put back -----------------------------------------------------


def test_contact_results_belong_to_the_restored_state() -> None:
    env = ball()
    sensor, start = touch_of(env), env.get_state()
    for _ in range(STEPS):
        idle(env)
    assert bool(sensor.is_in_contact()) and in_c(env).ncon > 0
    env.set_state(start)
    assert not bool(sensor.is_in_contact()) and in_c(env).ncon == 0


def test_muscle_capacities_belong_to_the_restored_state() -> None:
    env = muscles()
    term, start = muscle_action(env), env.get_state()
    for _ in range(3):
        idle(env)
    moved = term.present().length[0].numpy().copy()
    env.set_state(start)
    expected = in_c(env).actuator_length
    assert np.abs(moved - expected).max() > 1e-5, "muscles have moved"
    np.testing.assert_allclose(term.present().length[0].numpy(), expected, atol=1e-6)
