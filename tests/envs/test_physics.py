"""Physics steps in one engine call, and plans that use it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import pytest
import torch

from mjlab.actuator import IdealPdActuatorCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.envs.physics import OneByOne, Together
from mjlab.managers import Env, MetricsTermCfg
from mjlab.registry import load_task
from mjlab.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from tests.sim.test_errors import BALL

STEPS = 4


def pile(memory: str, boxes: int = 40) -> Simulation:
    """Overlapping boxes, one of them driven and measured."""
    spec = mujoco.MjSpec.from_string(BALL)
    for i in range(boxes):
        body = spec.worldbody.add_body(name=f"box{i}", pos=[0.05 * i, 0, 0.05])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.05, 0.05, 0.05])
    site = spec.body("box0").add_site(name="s")
    motor = spec.add_actuator(trntype=mujoco.mjtTrn.mjTRN_SITE, target=site.name)
    motor.gear = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    for kind in (mujoco.mjtSensor.mjSENS_ACCELEROMETER, mujoco.mjtSensor.mjSENS_GYRO):
        spec.add_sensor(
            name=kind.name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="s"
        )
    cfg = SimulationCfg(backend="native", mujoco=MujocoCfg(memory=memory))
    sim = Simulation(compile_model(spec, cfg), 3, cfg)
    sim.data.qpos[1, 2] += 0.3
    sim.data.ctrl[:] = torch.tensor([[1.0], [2.0], [3.0]])
    sim.forward()
    assert sim.data.sensordata.shape == (3, 6)
    return sim


def run(sim: Simulation, *, at_once: bool) -> list[torch.Tensor]:
    """Take steps, and return the sensor readings of each."""
    readings: list[torch.Tensor] = []

    def read() -> None:
        readings.append(sim.data.sensordata.clone())

    if at_once:
        sim.step_many(STEPS, read)
        return readings
    for _ in range(STEPS):
        sim.step()
        read()
    return readings


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(ours, list):
        ours, theirs = dict(enumerate(ours)), dict(enumerate(theirs))
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert torch.equal(value.nan_to_num(7.0), theirs[name].nan_to_num(7.0)), name


@pytest.mark.parametrize("memory", ["4M", "250K"])
def test_several_steps_at_once_equal_single_steps_with_their_sensor_readings(
    memory: str,
) -> None:
    """Also without memory for contacts, where MuJoCo ends a rollout."""
    together, apart = pile(memory), pile(memory)
    for _ in range(3):
        ours, theirs = run(together, at_once=True), run(apart, at_once=False)
        assert_same(ours, theirs)
        assert not torch.equal(ours[0], ours[-1])
        for sim in (together, apart):
            sim.forward()
    assert_same(together.snapshot(), apart.snapshot())
    assert (together.health.read().overflow["contacts"] > 0) == (memory == "250K")


def test_non_finite_control_affects_only_its_world_as_in_single_steps() -> None:
    together, apart = pile("1M", boxes=2), pile("1M", boxes=2)
    for sim in (together, apart):
        sim.data.ctrl[1] = torch.nan
    assert_same(run(together, at_once=True), run(apart, at_once=False))
    assert_same(together.snapshot(), apart.snapshot())
    assert together.data.qpos[1].isnan().all()
    assert together.data.qpos[2].isfinite().all()


@pytest.mark.parametrize("engine", ["native", "warp"])
def test_step_many_takes_that_number_of_steps(engine: str) -> None:
    model = mujoco.MjModel.from_xml_string(BALL)
    sim = Simulation(model, 2, SimulationCfg(backend=engine), device="cpu")  # type: ignore[arg-type]
    calls: list[float] = []
    sim.step_many(3, lambda: calls.append(0.0))
    sim.step_many(2)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=5)
    assert len(calls) == 3
    expected = torch.tensor(data.qpos).float().expand(2, -1)
    # Warp computes in float32.
    torch.testing.assert_close(sim.data.qpos, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(sim.data.time, torch.full((2,), data.time).float())


# In an environment.


def built(cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = 4, 3, "native"
    cfg.episode_length_s = 12 * cfg.decimation * cfg.sim.mujoco.timestep
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    env.episode_length_buf.copy_(torch.arange(4) * 3)
    return env


@pytest.mark.parametrize(
    "task", ["Velocity-G1-Flat", "Velocity-Go1", "Cartpole-Balance"]
)
def test_environment_steps_are_bit_identical(task: str) -> None:
    together, apart = (built(load_task(task).env()) for _ in range(2))
    assert isinstance(together.program.physics, Together)
    apart.program.physics = apart.program.plain_physics
    generator = torch.Generator().manual_seed(0)
    width = together.action_manager.total_action_dim
    for step in range(16):
        action = torch.randn(4, width, generator=generator)
        if step == 9:
            action[2, 0] = torch.nan
        for env in (together, apart):
            env.step(action)
        assert_same(together.get_state(), apart.get_state())


@dataclass(kw_only=True)
class HeightCfg(SensorCfg):
    """User's sensor of a body's maximum height over physics steps."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add nothing."""

    def bind(self, context: SensorContext) -> "Height":
        return Height(self.name, context)


class Height(Sensor):
    def __init__(self, name: str, context: SensorContext) -> None:
        self.name, self._sim = name, context.sim
        self._data = torch.zeros(context.sim.num_envs)

    @property
    def data(self) -> torch.Tensor:
        return self._data

    def update(self, dt: float) -> None:
        torch.maximum(self._data, self._sim.data.qpos[:, 2], out=self._data)

    def state(self) -> dict[str, torch.Tensor]:
        return {"data": self._data}


def with_own_sensor(cfg: ManagerBasedRlEnvCfg) -> None:
    cfg.scene.sensors = (*cfg.scene.sensors, HeightCfg(name="height"))


def with_metric_of_substeps(cfg: ManagerBasedRlEnvCfg) -> None:
    term = MetricsTermCfg(func=lambda env: env.sim.data.qpos[:, 2], per_substep=True)
    cfg.metrics["height"] = term


def with_explicit_actuators(cfg: ManagerBasedRlEnvCfg) -> None:
    robot: Any = cfg.scene.entities["robot"]
    pd = IdealPdActuatorCfg(target_names_expr=(".*",), stiffness=20.0, damping=0.5)
    robot.articulation.actuators = (pd,)


class ActsOften(mdp.JointPositionAction):
    def apply_actions(self) -> None:
        """Set the targets again."""


class ActsOftenCfg(mdp.JointPositionActionCfg):
    def bind(self, name: str, env: Env) -> ActsOften:
        return ActsOften(name, self, env)


def with_action_each_substep(cfg: ManagerBasedRlEnvCfg) -> None:
    cfg.actions["joint_pos"] = ActsOftenCfg()


@pytest.mark.parametrize(
    "change",
    [
        with_own_sensor,
        with_metric_of_substeps,
        with_explicit_actuators,
        with_action_each_substep,
    ],
)
def test_terms_between_physics_steps_disable_batched_physics(
    change: Callable[[ManagerBasedRlEnvCfg], None],
) -> None:
    cfg = load_task("Velocity-Go1-Flat").env()
    change(cfg)
    env = built(cfg)
    assert isinstance(env.program.physics, OneByOne)
    env.step(torch.zeros(4, env.action_manager.total_action_dim))
