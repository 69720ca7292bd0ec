"""Model of a robot on a stand: fixed base, no contacts, only joints and motors."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from mjlab.actuator import ActuatorCfg, IdealPdActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.envs.build import load
from mjlab.identify.logs import IdentifyError
from mjlab.names import match_names, suggest
from mjlab.scene.build import KEYFRAME
from mjlab.sim.compile import apply_options
from mjlab.spec.merge import delete_keys

_DELETED = ("sensors", "pairs", "geoms", "cameras", "lights")


@dataclass(frozen=True)
class Motor:
    """Position servo or torque motor that drives one joint."""

    joint: str
    """Name of the joint, without the entity's prefix."""

    actuator: str
    """Name of the MuJoCo actuator."""

    command: str
    """Quantity of the target: "position" or "effort"."""

    delay: float
    """Delay of the command in the task, s, the middle of the task's range."""


@dataclass(frozen=True)
class Robot:
    """Entity of a task, reduced to the moving joints and their motors.

    Free joints and joints that are not identified are fixed in the initial pose, so a
    legged robot hangs on a stand. Geoms and contacts are removed. Inertias are the
    compiled inertias of the task's model.
    """

    spec: mujoco.MjSpec
    """Reduced scene. Change only copies of it."""

    entity: str
    """Name of the entity in the scene."""

    prefix: str
    """Prefix of the entity's names in the scene."""

    joints: tuple[str, ...]
    """Moving joints of the entity, without the prefix, in model order."""

    motors: tuple[Motor, ...]
    """Motors of these joints, in the order of `joints`."""

    qpos: np.ndarray
    """Initial joint positions, shape (nq,)."""

    ctrl: np.ndarray
    """Controls that hold the initial position, shape (nu,)."""

    timestep: float
    """Physics timestep of the task, s."""

    model: mujoco.MjModel = field(repr=False)
    """Compiled `spec`."""

    @classmethod
    def of(
        cls,
        cfg: ManagerBasedRlEnvCfg,
        entity: str | None = None,
        joints: tuple[str, ...] = (".*",),
    ) -> "Robot":
        """Reduce the scene of a task to its robot.

        Args:
            cfg: Configuration of the task.
            entity: Name of the entity. None selects the only entity with actuators.
            joints: Patterns of joint names that move. Other joints are fixed in their
                initial position.

        Raises:
            IdentifyError: If the entity is ambiguous, or an actuator has a control law
                that cannot be identified.
        """
        loaded = load(cfg)
        name = _entity_name(loaded.built.entities, entity)
        prefix = f"{name}/"
        before, spec = loaded.model, loaded.built.spec
        apply_options(spec, cfg.sim.mujoco)
        all_joints = _joints(before, prefix)
        found = match_names(joints, all_joints, what="joint", owner=name)
        moving = tuple(all_joints[index] for index in sorted(found))
        _reduce(spec, before, {prefix + joint for joint in moving})
        actuators = loaded.built.entities[name].articulation.actuators
        owners = _owners(actuators, all_joints)
        step = float(before.opt.timestep)
        motors = _motors(spec, prefix, moving, owners, step)
        model, key = spec.compile(), before.key(KEYFRAME)
        qpos, ctrl = model.qpos0.copy(), np.zeros(model.nu)
        for joint in moving:
            there, here = before.joint(prefix + joint), model.joint(prefix + joint)
            qpos[here.qposadr[0]] = key.qpos[there.qposadr[0]]
        for motor in motors:
            joint = model.joint(prefix + motor.joint)
            is_servo = motor.command == "position"
            held = qpos[joint.qposadr[0]] if is_servo else 0.0
            ctrl[model.actuator(motor.actuator).id] = held
        return cls(spec, name, prefix, moving, motors, qpos, ctrl, step, model)

    def motor(self, joint: str) -> Motor | None:
        """Return the motor of a joint, None for a passive joint."""
        return next((each for each in self.motors if each.joint == joint), None)

    def bodies(self, patterns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the entity's bodies that match any of the patterns."""
        names = [b.name.removeprefix(self.prefix) for b in self._bodies()]
        found = match_names(patterns, names, what="body", owner=self.entity)
        return tuple(names[index] for index in sorted(found))

    def _bodies(self) -> list[mujoco.MjsBody]:
        return [b for b in self.spec.bodies if b.name.startswith(self.prefix)]

    def controls(self, targets: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
        """Return controls over time, shape (rows, nu).

        Motors without a target hold their initial control.

        Args:
            targets: Targets over time by joint, each of shape (rows,).
            rows: Number of times.
        """
        controls = np.tile(self.ctrl, (rows, 1))
        for joint, values in targets.items():
            motor = self.motor(joint)
            if motor is None:
                driven = [each.joint for each in self.motors]
                raise IdentifyError(
                    f"Joint {joint!r} has a target, but no motor. "
                    f"{suggest(joint, driven)}"
                )
            controls[:, self.model.actuator(motor.actuator).id] = values
        return controls


def _entity_name(entities: Mapping[str, object], name: str | None) -> str:
    driven = [
        each
        for each, cfg in entities.items()
        if isinstance(cfg, EntityCfg) and cfg.articulation.actuators
    ]
    if name is not None and name in driven:
        return name
    if name is None and len(driven) == 1:
        return driven[0]
    chosen = "" if name is None else f"{name!r} is none of them. "
    raise IdentifyError(
        f"The task has these entities with actuators: {', '.join(driven) or 'none'}. "
        f"{chosen}Choose one with --entity."
    )


def _reduce(spec: mujoco.MjSpec, model: mujoco.MjModel, moving: set[str]) -> None:
    """Reduce the spec in place to the moving joints; fix others at the keyframe."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(KEYFRAME).id)
    mujoco.mj_kinematics(model, data)
    delete_keys(spec)
    for body in spec.bodies[1:]:
        _keep_inertia(body, model)
        if {joint.name for joint in body.joints}.isdisjoint(moving):
            _fix(spec, body, data)
    for actuator in list(spec.actuators):
        if actuator.target not in moving:
            spec.delete(actuator)
    for body in spec.bodies[:0:-1]:  # Leaves first.
        if not body.bodies and not _can_move(body):
            spec.delete(body)
    for equality in list(spec.equalities):
        if not _can_hold(equality, spec, moving):
            spec.delete(equality)
    for kind in _DELETED:
        for element in list(getattr(spec, kind)):
            spec.delete(element)


def _can_hold(
    equality: mujoco.MjsEquality, spec: mujoco.MjSpec, moving: set[str]
) -> bool:
    """Return whether the reduced spec still has the constraint's joints or bodies."""
    names = {name for name in (equality.name1, equality.name2) if name}
    if equality.type == mujoco.mjtEq.mjEQ_JOINT:
        return names <= moving
    if equality.objtype == mujoco.mjtObj.mjOBJ_BODY:
        return all(spec.body(name) is not None for name in names)
    return True


def _can_move(body: mujoco.MjsBody) -> bool:
    """Return whether the body or one of its ancestors has a joint."""
    while body.name != "world":
        if body.joints:
            return True
        body = body.parent
    return False


def _keep_inertia(body: mujoco.MjsBody, model: mujoco.MjModel) -> None:
    """Set mass, centre of mass and inertia explicitly, so that geoms can be deleted."""
    compiled = model.body(body.name)
    body.explicitinertial = True
    body.mass, body.ipos = float(compiled.mass[0]), compiled.ipos
    body.inertia, body.iquat = compiled.inertia, compiled.iquat
    body.fullinertia = np.full(6, np.nan)


def _fix(spec: mujoco.MjSpec, body: mujoco.MjsBody, data: mujoco.MjData) -> None:
    """Delete the joints of a body, and fix its pose relative to its parent."""
    if not body.joints:
        return
    here, parent = data.body(body.name), data.body(body.parent.name)
    back, turn, offset = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(back, parent.xquat)
    mujoco.mju_mulQuat(turn, back, here.xquat)
    mujoco.mju_rotVecQuat(offset, here.xpos - parent.xpos, back)
    body.pos, body.quat = offset, turn
    for joint in list(body.joints):
        spec.delete(joint)


def _joints(model: mujoco.MjModel, prefix: str) -> tuple[str, ...]:
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    names = [
        model.joint(index).name
        for index in range(model.njnt)
        if int(model.jnt_type[index]) in kinds
    ]
    return tuple(n.removeprefix(prefix) for n in names if n.startswith(prefix))


def _motors(
    spec: mujoco.MjSpec,
    prefix: str,
    joints: tuple[str, ...],
    owners: Mapping[str, ActuatorCfg],
    step: float,
) -> tuple[Motor, ...]:
    """Return the motors of the joints. Convert PD laws to MuJoCo position servos."""
    found: dict[str, Motor] = {}
    for actuator in spec.actuators:
        joint = actuator.target.removeprefix(prefix)
        owner = owners.get(joint)
        if isinstance(owner, IdealPdActuatorCfg):
            _as_servo(actuator, owner, joint)
        command = _command(actuator)
        if command is None or joint in found:
            raise IdentifyError(
                f"The actuator of joint {joint!r} is not a position servo or a motor "
                f"({'unknown' if owner is None else owner.kind}), so it cannot be "
                "identified. Select other joints with --joints, or describe it by "
                "PositionActuatorCfg or IdealPdActuatorCfg."
            )
        delay = None if owner is None else owner.delay
        lag = 0.0 if delay is None else 0.5 * (delay.min_lag + delay.max_lag)
        found[joint] = Motor(joint, actuator.name, command, lag * step)
    return tuple(found[joint] for joint in joints if joint in found)


def _owners(
    actuators: tuple[ActuatorCfg, ...], joints: tuple[str, ...]
) -> dict[str, ActuatorCfg]:
    return {
        joints[index]: cfg
        for cfg in actuators
        if cfg.transmission == "joint"
        for index in match_names(cfg.target_names_expr, joints, what="joint")
    }


def _as_servo(
    actuator: mujoco.MjsActuator, cfg: IdealPdActuatorCfg, joint: str
) -> None:
    """Convert a PD law to a MuJoCo position servo, which integrates it differently."""
    (kp,), (kd,) = cfg.numbers("stiffness", [joint]), cfg.numbers("damping", [joint])
    (limit,) = cfg.numbers("effort_limit", [joint])
    actuator.set_to_position(kp=kp, kv=kd)
    actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    actuator.forcelimited = limit is not None
    actuator.forcerange = [0.0, 0.0] if limit is None else [-limit, limit]


def _command(actuator: mujoco.MjsActuator) -> str | None:
    if (
        actuator.dyntype != mujoco.mjtDyn.mjDYN_NONE
        or actuator.gaintype != mujoco.mjtGain.mjGAIN_FIXED
    ):
        return None
    if actuator.biastype == mujoco.mjtBias.mjBIAS_NONE:
        return "effort"
    is_servo = actuator.gainprm[0] > 0.0 and actuator.gainprm[0] == -actuator.biasprm[1]
    return "position" if is_servo else None
