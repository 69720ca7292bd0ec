"""Robot of an exam, compiled with torque motors and foot contact sensors."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from mjlab.exam.rules import Exam, HandBox
from mjlab.names import UnknownNameError, suggest
from mjlab.spec import apply_edits

PAYLOAD = "exam_payload"
"""Name of the payload's body."""


@dataclass(frozen=True)
class ExamRobot:
    """Compiled model, and indices of its elements in the exam's joint order."""

    exam: Exam
    model: mujoco.MjModel
    joints: np.ndarray = field(init=False)
    """MuJoCo joint ids."""
    qpos: np.ndarray = field(init=False)
    """Addresses of the joints in qpos."""
    qvel: np.ndarray = field(init=False)
    """Addresses of the joints in qvel."""
    base: int = field(init=False)
    """Id of the base body."""
    feet: np.ndarray = field(init=False)
    """Body ids of the feet."""
    foot_forces: np.ndarray = field(init=False)
    """Addresses of vertical foot forces in sensordata."""

    def __post_init__(self) -> None:
        model, exam = self.model, self.exam
        joints = np.array([model.joint(name).id for name in exam.joints])
        found = {
            "joints": joints,
            "qpos": model.jnt_qposadr[joints],
            "qvel": model.jnt_dofadr[joints],
            "base": int(model.body(exam.base).id),
            "feet": np.array([model.body(name).id for name in exam.feet]),
            "foot_forces": np.array(
                [model.sensor(_foot_sensor(name)).adr[0] + 2 for name in exam.feet]
            ),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def stance(self) -> np.ndarray:
        """Joint positions on the crane, rad, shape (joints,)."""
        return np.array(self.exam.stance)

    @property
    def ranges(self) -> np.ndarray:
        """Joint ranges, rad, shape (joints, 2)."""
        return self.model.jnt_range[self.joints]

    @property
    def weight(self) -> float:
        """Weight of the robot, N."""
        gravity = float(np.linalg.norm(self.model.opt.gravity))
        return float(self.model.body_subtreemass[self.base]) * gravity

    @property
    def hold_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Position gains (N m/rad) and velocity gains (N m s/rad) of held joints.

        Joints that the policy does not control are held.
        """
        omega = 2.0 * np.pi * self.exam.hold_hz
        armature = self.model.dof_armature[self.qvel]
        return armature * omega**2, 2.0 * self.exam.hold_damping * armature * omega

    @property
    def imu(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (m) and rotation matrix of the IMU site in the base's frame."""
        site = self.model.site(self.exam.imu)
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, site.quat)
        return np.array(site.pos), matrix.reshape(3, 3)

    def indices(self, names: tuple[str, ...]) -> np.ndarray:
        """Return the indices of named joints in the exam's order."""
        return np.array([self.exam.joints.index(name) for name in names])


def build_robot(exam: Exam, model: Path | None = None) -> ExamRobot:
    """Compile the robot of an exam.

    Args:
        exam: The exam.
        model: MJCF file of the robot. A ground plane is added if the file has none.
            None uses the exam's default robot.
    """
    spec = _default_spec(exam) if model is None else mujoco.MjSpec.from_file(str(model))
    _check_names(spec, exam, str(model or exam.robot.name))
    planes = [g for g in spec.geoms if g.type == mujoco.mjtGeom.mjGEOM_PLANE]
    if not planes:
        _add_ground(spec)
    _set_options(spec, exam)
    _set_motors(spec, exam)
    for body in exam.feet:
        spec.add_sensor(
            name=_foot_sensor(body),
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            objname=body,
            # The net force of all contacts, in the world frame.
            intprm=[1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE), 3, 1],
        )
    if exam.payload is not None:
        # Each target sets the payload's mass.
        base = spec.body(exam.base)
        inertial = {"mass": 0.0, "inertia": (0.0, 0.0, 0.0), "explicitinertial": True}
        base.add_body(name=PAYLOAD, pos=exam.payload.centre, **inertial)
    return ExamRobot(exam, spec.compile())


def _default_spec(exam: Exam) -> mujoco.MjSpec:
    cfg = exam.robot.entity_cfg()
    assert isinstance(cfg.source, Path), "The robot of an exam must be an MJCF file."
    spec = mujoco.MjSpec.from_file(str(cfg.source))
    apply_edits(spec, cfg.collisions)
    motors = {name: m for names, m in exam.robot.motors.items() for name in names}
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            continue
        motor = next(m for name, m in motors.items() if re.fullmatch(name, joint.name))
        joint.armature = motor.armature
        joint.actfrclimited = True
        joint.actfrcrange = (-motor.effort_limit, motor.effort_limit)
        joint.damping[0] = exam.joint_damping
        joint.frictionloss = exam.joint_friction
    return spec


def _add_ground(spec: mujoco.MjSpec) -> None:
    spec.add_texture(
        name="ground",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=(0.31, 0.35, 0.4),
        rgb2=(0.25, 0.29, 0.34),
        width=300,
        height=300,
    )
    textures = [""] * mujoco.mjtTextureRole.mjNTEXROLE
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "ground"
    spec.add_material(
        name="ground", textures=textures, texrepeat=(2, 2), texuniform=True
    )
    spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=(0, 0, 0.05),
        material="ground",
        contype=1,
        conaffinity=0,
    )
    spec.worldbody.add_light(
        pos=(0.0, 0.0, 10.0),
        dir=(0.3, 0.4, -1.0),
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
    )


def _set_options(spec: mujoco.MjSpec, exam: Exam) -> None:
    option = spec.option
    option.timestep = exam.physics_s
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    option.iterations = 100
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    # A diverged robot counts as fallen, so MuJoCo must not reset it.
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET


def _set_motors(spec: mujoco.MjSpec, exam: Exam) -> None:
    """Replace all actuators by torque motors, limited by the joints' actfrcrange."""
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for name in exam.joints:
        motor = spec.add_actuator(
            name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
        motor.set_to_motor()


def _check_names(spec: mujoco.MjSpec, exam: Exam, where: str) -> None:
    """Raise unless the model has the joints, bodies and sites of the exam."""
    hands: tuple[HandBox, ...] = () if exam.arms is None else exam.arms.hands
    torso = () if exam.arms is None else (exam.arms.torso,)
    needed = {
        "joint": (exam.joints, [joint.name for joint in spec.joints]),
        "body": (
            (exam.base, *exam.feet, *torso, *(hand.body for hand in hands)),
            [body.name for body in spec.bodies],
        ),
        "site": ((exam.imu,), [site.name for site in spec.sites]),
    }
    for kind, (names, there) in needed.items():
        for name in names:
            if name not in there:
                raise UnknownNameError(
                    f"The {exam.name} exam needs the {kind} {name!r}, which {where} "
                    f"does not have. {suggest(name, there)}"
                )


def _foot_sensor(body: str) -> str:
    return f"exam_{body}"
