"""A model with two joints, a tendon and a site, and manually bound actuators."""

import mujoco
import numpy as np
import torch

from mjlab.actuator import (
    ActuatorBinding,
    ActuatorCfg,
    ActuatorSet,
    ActuatorTargets,
    resolve_targets,
)
from mjlab.random import WorldRng
from mjlab.sim import Simulation, SimulationCfg

PREFIX = "robot/"

BODY = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" gravity="0 0 -9.81"/>
  {extra}
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-2 2" limited="true"/>
      <geom name="upper" type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body name="lower" pos=".3 0 0">
        <joint name="elbow" axis="0 1 0" range="-2 2" limited="true"/>
        <geom name="lower" type="capsule" fromto="0 0 0 .25 0 0" size=".02"/>
        <site name="hand" pos=".25 0 0"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="upper" body2="lower"/></contact>
  <tendon>
    <fixed name="cord">
      <joint joint="shoulder" coef=".5"/><joint joint="elbow" coef="-.25"/>
    </fixed>
  </tendon>
  <actuator>{actuators}</actuator>
</mujoco>
"""

JOINTS = ["shoulder", "elbow"]
COLUMNS = {"joint": JOINTS, "tendon": ["cord"], "site": ["hand"]}


def make_spec(actuators: str = "", extra: str = "") -> mujoco.MjSpec:
    text = BODY.format(actuators=actuators, extra=extra)
    return mujoco.MjSpec.from_string(text)


def compile_actuators(
    *cfgs: ActuatorCfg, actuators: str = "", extra: str = ""
) -> tuple[mujoco.MjModel, list[list[str]], list[list[str]]]:
    """Return the compiled scene, and the targets and actuators of each config."""
    spec = make_spec(actuators, extra)
    targets = resolve_targets(cfgs, spec, "robot")
    made = [cfg.add_to_spec(spec, t) for cfg, t in zip(cfgs, targets, strict=True)]
    scene = mujoco.MjSpec()
    scene.option.timestep = spec.option.timestep
    scene.option.integrator = spec.option.integrator
    # Another element precedes the robot, so that no address is correct by being zero.
    lamp = scene.worldbody.add_body(name="lamp", pos=[3, 0, 0])
    lamp.add_joint(name="lamp", type=mujoco.mjtJoint.mjJNT_BALL)
    lamp.add_geom(size=[0.1, 0, 0])
    scene.worldbody.add_site(name="mark")
    knob = scene.worldbody.add_body(name="knob", pos=[-3, 0, 0])
    knob.add_joint(name="knob", axis=[0, 1, 0])
    knob.add_geom(size=[0.1, 0, 0])
    knob_motor = scene.add_actuator(name="knob", target="knob")
    knob_motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
    scene.attach(spec, prefix=PREFIX, frame=scene.worldbody.add_frame())
    return scene.compile(), targets, made


def bind(
    model: mujoco.MjModel, cfg: ActuatorCfg, targets: list[str], made: list[str]
) -> ActuatorBinding:
    ids = torch.tensor([model.actuator(PREFIX + name).id for name in made])
    joints = [model.joint(PREFIX + t) for t in targets if cfg.transmission == "joint"]
    columns = COLUMNS[cfg.transmission]
    return ActuatorBinding(
        cfg=cfg,
        target_names=tuple(targets),
        target_ids=torch.tensor([columns.index(name) for name in targets]),
        actuator_ids=ids,
        ctrl_adr=torch.from_numpy(model.actuator_ctrladr.copy()).long()[ids],
        qpos_adr=torch.tensor([int(j.qposadr[0]) for j in joints], dtype=torch.int64),
        qvel_adr=torch.tensor([int(j.dofadr[0]) for j in joints], dtype=torch.int64),
    )


class World:
    """Simulation, actuators and targets of the model."""

    def __init__(
        self,
        *cfgs: ActuatorCfg,
        num_envs: int = 2,
        vary: tuple[str, ...] = (),
        actuators: str = "",
        extra: str = "",
    ) -> None:
        self.model, targets, made = compile_actuators(
            *cfgs, actuators=actuators, extra=extra
        )
        cfg = SimulationCfg(backend="native", num_threads=1)
        self.sim = Simulation(self.model, num_envs, cfg, device="cpu", vary=vary)
        self.rng = WorldRng(num_envs, 7, "cpu")
        self.bindings = [
            bind(self.model, *each) for each in zip(cfgs, targets, made, strict=True)
        ]
        self.set = ActuatorSet(self.bindings, self.sim, self.rng)
        self.targets, _ = ActuatorTargets.zeros(
            num_envs, joints=2, tendons=1, sites=1, device=torch.device("cpu")
        )

    def ctrl(self, name: str) -> torch.Tensor:
        """The first control of an actuator, shape (num_envs,)."""
        actuator = self.model.actuator(PREFIX + name).id
        return self.sim.data.ctrl[:, self.model.actuator_ctrladr[actuator]]

    def joint_state(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Live positions and velocities, each of shape (num_envs, 2)."""
        joints = [self.model.joint(PREFIX + name) for name in JOINTS]
        first, dof = int(joints[0].qposadr[0]), int(joints[0].dofadr[0])
        data = self.sim.data
        return data.qpos[:, first : first + 2], data.qvel[:, dof : dof + 2]

    def place(self, random: np.random.Generator) -> None:
        """Set a random state and random targets in every world."""
        position, velocity = self.joint_state()
        for tensor in (position, velocity, *vars(self.targets).values()):
            tensor.copy_(torch.from_numpy(random.uniform(-1, 1, tensor.shape)))

    def step(self) -> None:
        self.set.apply(self.targets)
        self.sim.step()
