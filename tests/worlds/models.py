"""Models shared by several test files, so that Warp compiles few of them."""

import functools
import math
from pathlib import Path

import mujoco
import numpy as np

from mjlab.sim import MujocoCfg, SimulationCfg, compile_model

ROBOTS = Path(__file__).parents[2] / "tasks" / "robots"

OPTIONS = MujocoCfg(timestep=0.005, iterations=10, ls_iterations=20)
"""Physics of the G1 tasks."""

G1_VARIED = ("body_mass", "geom_friction", "opt.gravity")
"""Fields that the shared G1 can vary; one set, because each set compiles kernels."""

BALL = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="ball" pos="0 0 1">
      <freejoint/>
      <geom name="ball" size=".1"/>
      <body name="arm" pos="0 0 .2">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" size=".03 .1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
</mujoco>
"""
"""A body in free fall with a driven arm, above a floor."""


@functools.cache
def g1_model() -> mujoco.MjModel:
    """The G1 on a plane with position actuators, and bent knees as a keyframe."""
    spec = mujoco.MjSpec.from_file(str(ROBOTS / "g1.xml"))
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1]
    )
    for joint in [j for j in spec.joints if j.type != mujoco.mjtJoint.mjJNT_FREE]:
        actuator = spec.add_actuator(
            name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
        actuator.set_to_position(kp=40.0, kv=2.5)
        actuator.forcerange = [-88, 88]
        joint.armature = 0.01
    model = compile_model(spec, SimulationCfg(mujoco=OPTIONS))
    bent = model.qpos0.copy()
    bent[2] = 0.76
    for name, value in (
        ("hip_pitch", -0.312),
        ("knee", 0.669),
        ("ankle_pitch", -0.363),
    ):
        for side in ("left", "right"):
            joint = model.joint(f"{side}_{name}_joint")
            bent[int(joint.qposadr[0])] = value
    spec.add_key(name="bent", qpos=bent.tolist())
    return compile_model(spec, SimulationCfg(mujoco=OPTIONS))


def g1_targets(model: mujoco.MjModel, num_envs: int, steps: int) -> np.ndarray:
    """Random joint targets around bent knees, shape (steps, num_envs, nu), float32."""
    random = np.random.default_rng(3)
    bent = model.key_qpos[0, 7:]
    noise = random.standard_normal((math.ceil(steps / 4), num_envs, model.nu))
    targets = (bent + 0.4 * noise).repeat(4, axis=0)[:steps]
    return targets.astype(np.float32)
