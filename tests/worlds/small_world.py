"""A small robot with every kind of element, in worlds without managers.

Engine, scene and entities are real, so that events and curricula can change them.
"""

from collections.abc import Iterable
from typing import Any

import mujoco
import torch

from mjlab.actuator import IdealPdActuatorCfg, PositionActuatorCfg
from mjlab.entity import ArticulationCfg, EntityCfg
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg, compile_model
from mjlab.terrain import TerrainCfg
from tests.worlds.fake_env import FakeEnv

XML = """
<mujoco>
  <compiler angle="radian"/>
  <asset>
    <texture name="red" type="2d" builtin="flat" width="8" height="8" rgb1="1 0 0"/>
    <texture name="blue" type="2d" builtin="flat" width="8" height="8" rgb1="0 0 1"/>
    <material name="paint" texture="red"/>
    <material name="wood"/>
  </asset>
  <worldbody>
    <body name="torso" pos="0 0 .5">
      <freejoint/>
      <inertial pos=".01 .02 .03" quat="1 .2 .1 0" mass="4" diaginertia=".05 .04 .03"/>
      <geom name="trunk" type="box" size=".2 .1 .05" material="paint"/>
      <site name="imu" pos="0 0 .1"/>
      <camera name="eye" pos=".2 0 0"/>
      <light name="lamp" pos="0 0 2"/>
      <body name="left_leg" pos="0 .15 0">
        <joint name="left_hip" axis="0 1 0" range="-1 1.5" damping=".5" armature=".01"
          frictionloss=".1" stiffness="2"/>
        <geom name="left_shank" type="capsule" size=".03 .1" pos="0 0 -.1"/>
        <geom name="left_foot" type="sphere" size=".04" pos="0 0 -.22"/>
      </body>
      <body name="right_leg" pos="0 -.15 0">
        <joint name="right_hip" axis="0 1 0" range="-1 1.5" damping=".5" armature=".01"
          frictionloss=".1" stiffness="2"/>
        <geom name="right_shank" type="cylinder" size=".03 .1" pos="0 0 -.1"/>
        <geom name="right_foot" type="ellipsoid" size=".04 .03 .02" pos="0 0 -.22"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="belt" range="-1 1" limited="true" stiffness="3" damping=".2"
      frictionloss=".1">
      <joint joint="left_hip" coef="1"/><joint joint="right_hip" coef="-1"/>
    </fixed>
  </tendon>
  <contact><pair name="feet" geom1="left_foot" geom2="right_foot"/></contact>
</mujoco>
"""
BODIES = ("torso", "left_leg", "right_leg")


def robot() -> EntityCfg:
    """The robot, with a native and an explicit actuator at its hips."""
    actuators = (
        PositionActuatorCfg(
            target_names_expr=("left_hip",),
            stiffness=10.0,
            damping=1.0,
            effort_limit=5.0,
        ),
        IdealPdActuatorCfg(
            target_names_expr=("right_hip",),
            stiffness=20.0,
            damping=2.0,
            effort_limit=6.0,
        ),
    )
    return EntityCfg(
        source=lambda: mujoco.MjSpec.from_string(XML),
        articulation=ArticulationCfg(actuators=actuators),
    )


def small_world(
    num_envs: int = 4,
    *,
    seed: int = 7,
    vary: Iterable[str] = (),
    terrain: TerrainCfg | None = None,
    entity: EntityCfg | None = None,
    **extras: Any,
) -> FakeEnv:
    """Worlds with a robot, and the environment interface of managers."""
    entities = {"robot": entity or robot()}
    cfg = SceneCfg(num_envs=num_envs, terrain=terrain, entities=entities)
    built = build_scene(cfg)
    sim_cfg = SimulationCfg(backend="native", num_threads=1)
    model = compile_model(built.spec, sim_cfg, tuple(vary))
    sim = Simulation(model, num_envs, sim_cfg, vary=tuple(vary))
    env = FakeEnv(num_envs, seed=seed)
    env.rng = WorldRng(num_envs, seed, sim.device)
    env.sim = sim
    env.scene = Scene(cfg, built, sim, env.rng)
    for name, value in extras.items():
        setattr(env, name, value)
    return env


def row(env: FakeEnv, kind: mujoco.mjtObj, name: str) -> int:
    """Return the id of one of the robot's elements in the compiled model."""
    return mujoco.mj_name2id(env.sim.mj_model, kind, f"robot/{name}")


def rows_equal(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the worlds with equal bits in two tensors, shape (num_envs,)."""
    return (one == other).view(one.shape[0], -1).all(dim=1)
