"""Return other valid values of all model fields, for tests that vary fields."""

import re
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np

Values = np.ndarray
_Rule = Callable[[mujoco.MjModel, Values, np.random.Generator], Values]


def other_value(model: mujoco.MjModel, field: str) -> Values:
    """Return a valid value of `field` that differs from the compiled one.

    Lengths and weights are scaled, positions moved, rotations rotated; quaternions stay
    normalised, ranges ordered, fractions below one. Floats are exact in float32.
    """
    old = field_of(model, field)
    random = np.random.default_rng(len(field) + 100 * ord(field[-1]))
    new = _rule(field)(model, old.astype(float), random)
    if old.dtype.kind == "f":
        return new.astype(np.float32).astype(float).reshape(old.shape)
    return new.astype(old.dtype).reshape(old.shape)


def field_of(model: mujoco.MjModel, field: str) -> Values:
    """A copy of a model field, options as `opt.<name>`."""
    holder = model.opt if field.startswith("opt.") else model
    return np.array(getattr(holder, field.removeprefix("opt.")))


def set_field(model: mujoco.MjModel, field: str, value: Values) -> None:
    """Write a model field."""
    holder = model.opt if field.startswith("opt.") else model
    name = field.removeprefix("opt.")
    if value.shape:
        getattr(holder, name)[...] = value
    else:
        setattr(holder, name, value.item())


def _rule(field: str) -> _Rule:
    for pattern, rule in _RULES:
        if re.fullmatch(pattern, field):
            return rule
    return _scaled


# Rules. Arguments: the model, the compiled value as floats, and random numbers.


def _scaled(
    _: mujoco.MjModel,
    old: Values,
    random: np.random.Generator,
    low: float = 0.75,
    high: float = 1.25,
) -> Values:
    return old * random.uniform(low, high, old.shape)


def _scaled_alike(_: mujoco.MjModel, old: Values, __: np.random.Generator) -> Values:
    """Masses of subtrees, which stay the sum of their bodies."""
    return old * 1.1


def _added(
    _: mujoco.MjModel, old: Values, random: np.random.Generator, most: float = 0.05
) -> Values:
    return old + random.uniform(0.2, 1.0, old.shape) * most


def _moved(
    _: mujoco.MjModel, old: Values, random: np.random.Generator, most: float = 0.01
) -> Values:
    return old + random.uniform(-1.0, 1.0, old.shape) * most


def _ordered(_: mujoco.MjModel, old: Values, random: np.random.Generator) -> Values:
    """Ranges (low, high); ranges that start at zero keep it, as a cone must."""
    width = old[..., 1:] - old[..., :1]
    shift = random.uniform(-0.2, 0.2, old.shape) * width
    shift[old == 0.0] = 0.0
    return old + shift


def _longer(_: mujoco.MjModel, old: Values, random: np.random.Generator) -> Values:
    """Ranges shifted as a whole, so that ranges of width zero keep it."""
    return old + random.uniform(0.01, 0.03, (*old.shape[:-1], 1))


def _impedance(_: mujoco.MjModel, old: Values, random: np.random.Generator) -> Values:
    """Of (d0, dwidth, width, midpoint, power), all but width and power are below 1."""
    low = np.array([0.75, 0.9, 0.7, 0.7, 0.6])
    high = np.array([0.9, 0.98, 0.9, 0.9, 0.8])
    return old * random.uniform(low, high, old.shape)


def _turned(
    _: mujoco.MjModel, old: Values, random: np.random.Generator, most: float = 0.05
) -> Values:
    """Slightly rotated quaternions."""
    new = np.empty_like(old).reshape(-1, 4)
    for row, quat in enumerate(old.reshape(-1, 4)):
        turn = np.append(1.0, random.uniform(-0.5, 0.5, 3) * most)
        mujoco.mju_mulQuat(new[row], quat, turn)
    return (new / np.linalg.norm(new, axis=1, keepdims=True)).reshape(old.shape)


def _redirected(_: mujoco.MjModel, old: Values, random: np.random.Generator) -> Values:
    """Slightly rotated unit vectors."""
    new = old + random.uniform(-0.05, 0.05, old.shape)
    length = np.linalg.norm(new, axis=-1, keepdims=True)
    return np.where(np.any(old != 0.0, axis=-1, keepdims=True), new / length, old)


def _turned_matrices(
    model: mujoco.MjModel, old: Values, random: np.random.Generator
) -> Values:
    quats = np.empty((old.size // 9, 4))
    for row, matrix in enumerate(old.reshape(-1, 9)):
        mujoco.mju_mat2Quat(quats[row], matrix)
    new = np.empty((len(quats), 9))
    for row, quat in enumerate(_turned(model, quats, random)):
        mujoco.mju_quat2Mat(new[row], quat)
    return new.reshape(old.shape)


def _below_world(rule: _Rule) -> _Rule:
    """The same for bodies, except for the world body."""

    def keep_world(
        model: mujoco.MjModel, old: Values, random: np.random.Generator
    ) -> Values:
        new = rule(model, old, random)
        new[0] = old[0]
        return new

    return keep_world


def _configuration(
    model: mujoco.MjModel, old: Values, random: np.random.Generator
) -> Values:
    """A reference configuration, with unit quaternions."""
    new = old.copy()
    for joint in range(model.njnt):
        start, kind = model.jnt_qposadr[joint], model.jnt_type[joint]
        free = kind == mujoco.mjtJoint.mjJNT_FREE
        if free or kind == mujoco.mjtJoint.mjJNT_BALL:
            quat = slice(start + 3 * free, start + 3 * free + 4)
            new[quat] = _turned(model, old[quat], random)
        if free:
            new[start : start + 3] = _moved(model, old[start : start + 3], random)
        elif kind != mujoco.mjtJoint.mjJNT_BALL:
            new[start] += random.uniform(0.01, 0.03)
    return new


def _equality(
    model: mujoco.MjModel, old: Values, random: np.random.Generator
) -> Values:
    """Anchors and polynomials are moved; the relative pose of a weld is rotated."""
    new = old.copy()
    for row in range(model.neq):
        kind = mujoco.mjtEq(model.eq_type[row])
        between_bodies = model.eq_objtype[row] == mujoco.mjtObj.mjOBJ_BODY
        if kind == mujoco.mjtEq.mjEQ_WELD:
            new[row, 10] *= 1.2
        if kind in (mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtEq.mjEQ_TENDON):
            new[row, :5] += random.uniform(-0.03, 0.03, 5)
        elif between_bodies:
            new[row, :3] += random.uniform(-0.01, 0.01, 3)
            if kind == mujoco.mjtEq.mjEQ_WELD:
                new[row, 3:6] += random.uniform(-0.01, 0.01, 3)
                new[row, 6:10] = _turned(model, old[row, 6:10], random)
    return new


def _sizes(
    model: mujoco.MjModel,
    old: Values,
    random: np.random.Generator,
    low: float = 0.985,
    high: float = 1.01,
) -> Values:
    """Sizes of primitive shapes; sizes of meshes and height fields follow the asset."""
    assets = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD)
    new = old * random.uniform(low, high, old.shape)
    new[np.isin(model.geom_type, assets)] = old[np.isin(model.geom_type, assets)]
    return new


def _other_meshes(
    model: mujoco.MjModel, old: Values, random: np.random.Generator
) -> Values:
    del random
    is_mesh = model.geom_type == mujoco.mjtGeom.mjGEOM_MESH
    return np.where(is_mesh, (old + 1) % model.nmesh, old)


def _next_id(
    _: mujoco.MjModel, old: Values, random: np.random.Generator, count: int = 2
) -> Values:
    """Ids from 0 to `count` - 1, where valid."""
    del random
    return np.where(old >= 0, (old + 1) % count, old)


def _other_interpolation(
    _: mujoco.MjModel, old: Values, random: np.random.Generator
) -> Values:
    """(samples, interpolation) of a history; the number of samples is structural."""
    del random
    new = old.copy()
    new[:, 1] = np.where(old[:, 0] > 0, (old[:, 1] + 1) % 3, old[:, 1])
    return new


_RULES: tuple[tuple[str, _Rule], ...] = (
    ("qpos0|qpos_spring", _configuration),
    ("body_(pos|ipos)", _below_world(_moved)),
    ("body_(quat|iquat)", _below_world(_turned)),
    ("body_subtreemass", _scaled_alike),
    ("body_gravcomp|geom_adhesion|pair_adhesion", partial(_added, most=0.3)),
    (".*_quat", _turned),
    (".*_mat0", _turned_matrices),
    (".*_(pos|pos0|poscom0)|tendon_length0", _moved),
    ("jnt_axis|light_dir|light_dir0", _redirected),
    ("(jnt|tendon|geom|pair)_margin|(geom|pair)_gap", partial(_added, most=0.003)),
    ("pair_friction", partial(_scaled, low=0.2, high=0.3)),
    ("geom_surfacevel", partial(_moved, most=0.2)),
    ("dof_armature", partial(_added, most=0.05)),
    ("tendon_armature", partial(_scaled, low=2.0, high=3.0)),
    ("(jnt|tendon)_springyield", partial(_scaled, low=0.3, high=0.6)),
    ("tendon_damping", partial(_added, most=0.3)),
    ("tendon_lengthspring", _longer),
    ("(dof|tendon)_(damping|frictionloss)", partial(_added, most=0.05)),
    ("jnt_stiffness|tendon_stiffness", partial(_added, most=0.5)),
    ("actuator_damping", partial(_added, most=0.02)),
    (".*range", _ordered),
    (".*solimp.*", _impedance),
    ("eq_data", _equality),
    ("geom_size", _sizes),
    ("geom_(aabb|rbound)", partial(_sizes, low=1.02, high=1.2)),
    ("geom_dataid", _other_meshes),
    ("geom_matid|mat_texid|mat_texuniform|light_(active|castshadow)", _next_id),
    ("light_type", partial(_next_id, count=3)),
    (".*_history", _other_interpolation),
    ("sensor_delay", partial(_scaled, low=0.4, high=0.6)),
    ("sensor_interval", partial(_scaled, low=1.4, high=1.6)),
    ("actuator_(dyn|gain|bias)prm", partial(_scaled, low=0.9, high=1.1)),
    ("opt.(gravity|wind|magnetic)", partial(_moved, most=0.3)),
    ("opt.timestep", partial(_scaled, low=0.8, high=0.9)),
    ("opt.(density|viscosity)", partial(_scaled, low=1.4, high=1.6)),
    ("opt..*tolerance", partial(_scaled, low=0.2, high=0.3)),
)
