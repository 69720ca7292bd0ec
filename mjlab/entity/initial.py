"""Initial state of an entity, as one keyframe of its spec."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from mjlab.entity.config import InitialStateCfg
from mjlab.names import resolve_values, suggest
from mjlab.spec import Keyframe, default_keyframe, delete_keys
from mjlab.spec.merge import VECTORS

DEFAULT_KEY = "default"
"""Name of the keyframe that holds an entity's initial state."""

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)
_NONE = dict.fromkeys(VECTORS, np.zeros(0))


class InitialStateError(ValueError):
    """Raised for an initial state that does not fit the model."""


def take_keys(spec: mujoco.MjSpec) -> list[Keyframe]:
    """Remove the keyframes from `spec`, and return them as written in the model file.

    Each vector of a keyframe is complete or empty. `<size nkey>` can exceed the number
    of keyframes in the file; the additional keyframes are the model's default.
    """
    keys = []
    for key in spec.keys:
        vectors = {vector: np.array(getattr(key, vector)) for vector in VECTORS}
        keys.append(Keyframe(name=key.name, time=key.time, **vectors))
    empty = Keyframe(name="", time=0.0, **_NONE)
    keys += [empty] * (spec.nkey - len(keys))
    # Check mocap sizes now, because a fixed base can become a further mocap body later.
    num_mocap = sum(body.mocap for body in spec.bodies)
    for index, key in enumerate(keys):
        _check_size(key, index, "mpos", 3 * num_mocap, spec.modelname)
        _check_size(key, index, "mquat", 4 * num_mocap, spec.modelname)
    delete_keys(spec)
    return keys


def part_of(key: Keyframe, places: Mapping[str, np.ndarray]) -> Keyframe:
    """Return the entries `places` of a keyframe's vectors, without mocap poses."""
    given = {vector: getattr(key, vector) for vector in VECTORS}
    taken = {v: given[v][rows] for v, rows in places.items() if given[v].size}
    return replace(key, **_NONE | taken)


@dataclass(frozen=True, kw_only=True)
class Member:
    """An entity of a model: the whole model, or the subtree of one root body."""

    cfg: InitialStateCfg
    """Initial state; values that are not None override the model's keyframe."""

    joints: list[int]
    """Ids of the entity's joints in the model compiled alone."""


def initial_state(
    members: Mapping[str, Member],
    model: mujoco.MjModel,
    keys: Sequence[Keyframe],
    *,
    num_own_actuators: int,
    base: tuple[np.ndarray, np.ndarray] | None,
) -> Keyframe:
    """Return the initial state of a model.

    Args:
        members: Entities of the model, by name.
        model: The model compiled alone, without keyframes.
        keys: The keyframes that were in the model.
        num_own_actuators: Number of actuators in the model file. Keyframes of the file
            have no values for actuators added later.
        base: Position and orientation of a mocap base. None without a mocap base.
    """
    extended = model.nactuator > num_own_actuators
    owner = " and ".join(members)
    for index, key in enumerate(keys):
        _check_sizes(key, index, model, owner, extended=extended)
    choices = {member.cfg.keyframe for member in members.values()} - {None}
    if len(choices) > 1:
        raise InitialStateError(
            "Entities of one file have to use the same keyframe, but their "
            f"init_state.keyframe differ: {choices}."
        )
    state = _completed(model, _chosen(choices.pop() if choices else None, keys, owner))
    if base is not None and not model.nmocap:
        state = replace(state, mpos=base[0], mquat=base[1])
    for name, member in members.items():
        _write_base(member, model, state, name, can_be_placed=base is not None)
        _write_joints(member, model, state, name)
    return state


def _chosen(
    keyframe: str | int | None, keys: Sequence[Keyframe], name: str
) -> Keyframe | None:
    if keyframe is None:
        return keys[0] if keys else None
    if isinstance(keyframe, int):
        if not 0 <= keyframe < len(keys):
            raise InitialStateError(
                f"init_state.keyframe={keyframe} of the entity {name!r} does "
                f"not exist; its model has {len(keys)} keyframes, counted from 0."
            )
        return keys[keyframe]
    names = [key.name for key in keys]
    if keyframe not in names:
        raise InitialStateError(
            f"The entity {name!r} has no keyframe {keyframe!r}. "
            f"{suggest(keyframe, names)}"
        )
    return keys[names.index(keyframe)]


def _check_sizes(
    key: Keyframe, index: int, model: mujoco.MjModel, name: str, *, extended: bool
) -> None:
    sizes = {"qpos": model.nq, "qvel": model.nv, "act": model.na, "ctrl": model.nu}
    for vector, size in sizes.items():
        given = getattr(key, vector).size
        if not (extended and vector in ("act", "ctrl") and given < size):
            _check_size(key, index, vector, size, name)


def _check_size(key: Keyframe, index: int, vector: str, size: int, name: str) -> None:
    given = getattr(key, vector).size
    if given not in (0, size):
        label = repr(key.name) if key.name else f"number {index}"
        raise InitialStateError(
            f"The keyframe {label} of the entity {name!r} has {given} values in "
            f"{vector}, but its model has {size}."
        )


def _completed(model: mujoco.MjModel, key: Keyframe | None) -> Keyframe:
    """Return MuJoCo's reset state, overwritten with the keyframe's values if given."""
    state = default_keyframe(model, DEFAULT_KEY)
    for vector in VECTORS if key else ():
        # The file's keyframe has no values for an added mocap base and for added
        # actuators; these come last in each vector.
        given, whole = getattr(key, vector), getattr(state, vector)
        whole[: given.size] = given[: whole.size]
    return state


def _write_base(
    member: Member,
    model: mujoco.MjModel,
    state: Keyframe,
    name: str,
    *,
    can_be_placed: bool,
) -> None:
    cfg = member.cfg
    free = [j for j in member.joints if int(model.jnt_type[j]) == _FREE]
    if free:
        adr = int(model.jnt_qposadr[free[0]])
        pos, quat = state.qpos[adr : adr + 3], state.qpos[adr + 3 : adr + 7]
    elif can_be_placed:
        pos, quat = state.mpos, state.mquat
    else:
        pos, quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    before = np.append(pos, quat)
    if cfg.pos is not None:
        pos[:] = _vector(cfg.pos, 3, "pos", name)
    if cfg.rot is not None:
        quat[:] = cfg.rot
    quat[:] = _unit(quat, "rot", name)
    if not free:
        moved = not np.array_equal(before, np.append(pos, quat))
        _refuse_fixed(cfg, name, moved=moved and not can_be_placed)
        return
    dof = int(model.jnt_dofadr[free[0]])
    if cfg.lin_vel is not None:
        state.qvel[dof : dof + 3] = _vector(cfg.lin_vel, 3, "lin_vel", name)
    if cfg.ang_vel is not None:
        # MuJoCo stores the angular velocity of a free joint in the body's axes.
        to_body = np.zeros(4)
        mujoco.mju_negQuat(to_body, quat)
        ang_vel_w = np.array(_vector(cfg.ang_vel, 3, "ang_vel", name))
        mujoco.mju_rotVecQuat(state.qvel[dof + 3 : dof + 6], ang_vel_w, to_body)


def _refuse_fixed(cfg: InitialStateCfg, name: str, *, moved: bool) -> None:
    if any(cfg.lin_vel or ()) or any(cfg.ang_vel or ()):
        raise InitialStateError(
            f"init_state sets a base velocity of the entity {name!r}, but its base is "
            "fixed. Remove lin_vel and ang_vel."
        )
    if moved:
        raise InitialStateError(
            f"init_state places the entity {name!r}, but it cannot be placed: its root "
            "body has joints, and it has a plane or height field in its worldbody, or "
            "flexible parts, or shares its file with other entities. Give the root "
            "body a parent without joints, or a free joint."
        )


def _write_joints(
    member: Member, model: mujoco.MjModel, state: Keyframe, name: str
) -> None:
    cfg = member.cfg
    joints = [j for j in member.joints if int(model.jnt_type[j]) != _FREE]
    names = [model.joint(j).name for j in joints]
    positions = resolve_values(cfg.joint_pos or {}, names, what="joint", owner=name)
    velocities = resolve_values(cfg.joint_vel or {}, names, what="joint", owner=name)
    for joint, pos, vel in zip(joints, positions, velocities, strict=True):
        is_ball = int(model.jnt_type[joint]) == _BALL
        label = f"of the joint {model.joint(joint).name!r}"
        if pos is not None:
            adr = int(model.jnt_qposadr[joint])
            value = _vector(pos, 4 if is_ball else 1, f"joint_pos {label}", name)
            value = _unit(value, f"joint_pos {label}", name) if is_ball else value
            state.qpos[adr : adr + len(value)] = value
        if vel is not None:
            adr = int(model.jnt_dofadr[joint])
            value = _vector(vel, 3 if is_ball else 1, f"joint_vel {label}", name)
            state.qvel[adr : adr + len(value)] = value


def _vector(
    value: float | Sequence[float], size: int, what: str, name: str
) -> Sequence[float]:
    entries = (value,) if isinstance(value, int | float) else tuple(value)
    if len(entries) != size or not np.isfinite(entries).all():
        raise InitialStateError(
            f"init_state.{what} of the entity {name!r} is {value}; it has to be "
            f"{size} finite number{'s' if size > 1 else ''}."
        )
    return entries


def _unit(quat: Sequence[float] | np.ndarray, what: str, name: str) -> np.ndarray:
    norm = float(np.linalg.norm(quat))
    if not (len(quat) == 4 and norm > 1e-6):
        raise InitialStateError(
            f"init_state.{what} of the entity {name!r} is {tuple(quat)}; it has to be "
            "a non-zero quaternion (w, x, y, z)."
        )
    return np.asarray(quat) / norm
