"""A robot with every joint type and a crate, for tests of terms.

The scene is small enough for hand arithmetic, and MuJoCo C computes the rest: `oracle`
sets the same state in a separate `MjData`.
"""

import math
from types import SimpleNamespace
from typing import Any

import mujoco
import torch

from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.managers.action import ActionManager, ActionTarget, ActionTerm, ActionTermCfg
from mjlab.managers.term import BoundTerm, TermCfg
from mjlab.sensor import (
    ContactMatch,
    ContactSensorCfg,
    GridPatternCfg,
    ObjRef,
    RayCastSensorCfg,
    SensorCfg,
)
from mjlab.terrain import FlatCfg, TerrainCfg, TerrainGeneratorCfg
from tests.worlds.fake_env import FakeEnv
from tests.worlds.physics_env import PhysicsEnv, from_xml

ROBOT_XML = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="torso">
      <freejoint/>
      <inertial pos=".05 .02 -.03" quat="1 .1 .2 0" mass="3" diaginertia=".05 .04 .03"/>
      <geom type="box" size=".1 .1 .05" contype="0" conaffinity="0" group="3"/>
      <site name="imu" pos=".1 0 .05" quat=".8 0 .6 0"/>
      <site name="nose" pos=".3 0 .2"/>
      <body name="arm" pos=".2 0 0">
        <joint name="shoulder" axis="0 1 0" range="-1 1.5"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" group="3"/>
        <body name="fore" pos=".2 0 0">
          <joint name="elbow" axis="0 1 0"/>
          <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" group="3"/>
          <body name="hand" pos=".2 0 0">
            <joint name="grip" type="slide" axis="1 0 0" range="0 .2"/>
            <geom type="sphere" size=".03" group="3"/>
          </body>
        </body>
      </body>
      <body name="tail" pos="-.2 0 0">
        <joint name="wag" axis="0 0 1" range="-.5 .5"/>
        <geom type="capsule" size=".02" fromto="0 0 0 -.2 0 0" group="3"/>
      </body>
    </body>
  </worldbody>
  <contact>
    <exclude body1="arm" body2="fore"/>
    <exclude body1="arm" body2="hand"/>
    <exclude body1="fore" body2="hand"/>
  </contact>
  <tendon>
    <fixed name="cord">
      <joint joint="shoulder" coef="1"/><joint joint="wag" coef="-2"/>
    </fixed>
    <fixed name="line"><joint joint="elbow" coef="3"/></fixed>
    <fixed name="rope"><joint joint="grip" coef=".5"/></fixed>
  </tendon>
  <actuator>
    <motor name="lift" joint="shoulder" gear="2"/>
    <motor name="close" joint="grip" gear="4"/>
    <motor name="turn" joint="wag" gear="-3"/>
  </actuator>
  <sensor><gyro name="gyro" site="imu"/></sensor>
</mujoco>
"""
JOINTS = ("shoulder", "elbow", "grip", "wag")
DEFAULT_POS = (0.25, 0.5, 0.125, 0.0)
DEFAULT_VEL = (0.0, 0.0, 0.0, 0.5)
SOFT_LIMITS = ((-0.75, 1.25), (-math.inf, math.inf), (0.02, 0.18), (-0.4, 0.4))
"""Eight tenths of each range about its centre."""

CRATE_MASS = 2.0
CRATE_XML = f"""
<mujoco>
  <worldbody>
    <body name="crate">
      <freejoint/>
      <geom name="crate" type="box" size=".1 .1 .1" mass="{CRATE_MASS}"/>
      <body name="lid" pos="0 0 .15">
        <geom name="lid" type="box" size=".1 .1 .02" mass="1e-6"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
GRAVITY = 9.81


def robot() -> EntityCfg:
    """The robot in the air, with tighter soft limits than the model's."""
    return from_xml(
        ROBOT_XML,
        init_state=InitialStateCfg(
            pos=(0.0, 0.0, 1.0),
            joint_pos=dict(zip(JOINTS, DEFAULT_POS, strict=True)),
            joint_vel=dict(zip(JOINTS, DEFAULT_VEL, strict=True)),
        ),
        articulation=ArticulationCfg(soft_joint_pos_limit_factor=0.8),
    )


def contacts() -> tuple[SensorCfg, ...]:
    """Contacts of the crate and its lid, one by one, and of the crate as one sum."""
    both = ContactMatch(mode="geom", pattern=("crate", "lid"), entity="crate")
    crate = ContactMatch(mode="geom", pattern="crate", entity="crate")
    return (
        ContactSensorCfg(name="corners", primary=both, reduce="none", num_slots=5),
        ContactSensorCfg(
            name="load", primary=crate, fields=("force",), reduce="netforce"
        ),
    )


def rays() -> RayCastSensorCfg:
    """Three rays below the torso and three below its nose, along their headings."""
    frames = (
        ObjRef(type="body", name="torso", entity="robot"),
        ObjRef(type="site", name="nose", entity="robot"),
    )
    return RayCastSensorCfg(
        name="scan",
        frame=frames,
        pattern=GridPatternCfg(size=(0.8, 0.0), resolution=0.4),
        ray_alignment="yaw",
        max_distance=3.0,
        include_geom_groups=(0,),
    )


def tiles() -> TerrainCfg:
    """Two flat tiles of 4 m next to each other along y, with a border."""
    return TerrainCfg(
        kind="generator",
        generator=TerrainGeneratorCfg(
            size=(4.0, 4.0),
            num_rows=1,
            num_cols=2,
            border_width=2.0,
            sub_terrains={"flat": FlatCfg()},
        ),
    )


class TermWorld(PhysicsEnv):
    """The robot, and the crate where there are sensors."""

    def __init__(
        self,
        num_envs: int = 4,
        *,
        terrain: TerrainCfg | None = None,
        sensors: tuple[SensorCfg, ...] = (),
        **extras: Any,
    ) -> None:
        entities = {"robot": robot()}
        if sensors:
            state = InitialStateCfg(pos=(3.0, 0.0, 0.1))
            entities["crate"] = from_xml(CRATE_XML, init_state=state)
        ground = TerrainCfg(light=False) if terrain is None else terrain
        super().__init__(entities, num_envs, terrain=ground, sensors=sensors, **extras)
        self.robot = self.scene.entity("robot")

    def substeps(self, count: int) -> None:
        """Advance physics."""
        for _ in range(count):
            self.substep()

    def scatter(self) -> None:
        """Set a distinct state in each world, with all numbers different."""
        random = torch.Generator().manual_seed(3)
        data = self.sim.data
        for world in range(self.num_envs):
            pos = torch.randn(11, generator=random)
            pos[3:7] /= pos[3:7].norm()
            pos[7:] = 0.3 * pos[7:] + torch.tensor(DEFAULT_POS)
            data.qpos[world, :11] = pos
            data.qvel[world, :10] = torch.randn(10, generator=random)
            data.ctrl[world, :3] = torch.randn(3, generator=random)
        self.forward()

    def set_joints(self, pos: list[float] | None = None, vel: Any = None) -> None:
        """Set the same joint positions and velocities in all worlds."""
        if pos is not None:
            self.robot.write_joint_pos(self.everyone, torch.tensor([pos]))
        if vel is not None:
            self.robot.write_joint_vel(self.everyone, torch.tensor([vel]))
        self.forward()

    def set_root(self, pose: list[list[float]]) -> None:
        """Set each world's root to position and orientation wxyz."""
        self.robot.write_root_pose_w(self.everyone, torch.tensor(pose))
        self.forward()

    def oracle(self, world: int) -> mujoco.MjData:
        """Return MuJoCo C in the state of a world, with all derived quantities."""
        model = self.sim.mj_model
        data = mujoco.MjData(model)
        for name in ("qpos", "qvel", "ctrl"):
            getattr(data, name)[:] = getattr(self.sim.data, name)[world].double()
        mujoco.mj_forward(model, data)
        return data

    def body(self, name: str) -> int:
        """Id of one of the robot's bodies in the compiled model."""
        return self.sim.mj_model.body(f"robot/{name}").id


def value(env: Any, func: Any, **params: Any) -> torch.Tensor:
    """Return the result of a term with these parameters in an environment."""
    return bound(env, func, **params)()


def bound(env: Any, func: Any, **params: Any) -> BoundTerm:
    """Return a term bound to an environment as by managers."""
    return BoundTerm("it", TermCfg(func=func, params=params), env, kind="term")


def planted(**data: torch.Tensor) -> Any:
    """Return a selection of all elements of an entity with just these quantities."""
    every = slice(None)
    entity = SimpleNamespace(data=SimpleNamespace(**data))
    return SimpleNamespace(entity=entity, joint_ids=every, body_ids=every)


class Idle(ActionTerm):
    """Action term without effect."""

    @property
    def action_dim(self) -> int:
        return 2

    @property
    def targets(self) -> tuple[ActionTarget, ...]:
        return ()

    def process_actions(self, actions: torch.Tensor) -> None:
        return


class IdleCfg(ActionTermCfg):
    def bind(self, name: str, env: Any) -> ActionTerm:
        return Idle(name, self, env)


def acted(*actions: list[list[float]]) -> FakeEnv:
    """Environment after these actions, with 4 numbers per world."""
    env: Any = FakeEnv(len(actions[0]))
    env.action_manager = ActionManager({"left": IdleCfg(), "right": IdleCfg()}, env)
    for action in actions:
        env.action_manager.process_action(torch.tensor(action))
    return env


def goals(**commands: list[list[float]]) -> Any:
    """Command manager with these goals."""
    tensors = {name: torch.tensor(rows) for name, rows in commands.items()}
    return SimpleNamespace(get_command=tensors.__getitem__)


def roll(angle: float) -> list[float]:
    """Return the quaternion of a rotation about x."""
    return [math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0]


def yaw(angle: float) -> list[float]:
    """Return the quaternion of a rotation about z."""
    return [math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)]
