"""Edit the root body of an entity's spec: add a free joint or a mocap base."""

import itertools
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

MOCAP_BASE = "mocap_base"
"""Name of the mocap body that is added as the base of an entity whose root body cannot
be a mocap body itself.
"""

_FREE = mujoco.mjtJoint.mjJNT_FREE
_TINY = 1e-15  # MuJoCo treats smaller weights as zero (mjMINVAL).
_STATIC_ONLY = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)


class RootError(ValueError):
    """Raised for a model that is not a single kinematic tree with a valid root."""


def check_root(spec: mujoco.MjSpec, name: str) -> None:
    """Raise if the spec is not one tree, or has a free joint below its root."""
    roots = spec.worldbody.bodies
    if len(roots) > 1:
        listed = ", ".join(repr(body.name) for body in roots[:8])
        listed += ", ..." if len(roots) > 8 else ""
        raise RootError(
            f"The entity {name!r} has {len(roots)} root bodies: {listed}. "
            "It needs exactly one. entities_from(file) makes one entity per root "
            "body, and SceneCfg(source=file) uses the whole file."
        )
    if not roots and not spec.worldbody.geoms:
        raise RootError(
            f"The entity {name!r} has neither a body nor a geom. Add one to its model."
        )
    for joint in spec.joints:
        body = joint.parent
        if joint.type != _FREE or body.parent.id == spec.worldbody.id:
            continue
        raise RootError(
            f"The free joint {joint.name!r} of the entity {name!r} is on the body "
            f"{body.name!r}, a child of {body.parent.name!r}. Only the root body "
            f"{roots[0].name!r} can have a free joint."
        )
    if is_floating(spec) and len(roots[0].joints) > 1:
        raise RootError(
            f"The root body {roots[0].name!r} of the entity {name!r} has other joints "
            "besides its free joint; move them to a child body."
        )


def is_floating(spec: mujoco.MjSpec) -> bool:
    """Return True if the root body has a free joint."""
    roots = spec.worldbody.bodies
    return bool(roots) and any(joint.type == _FREE for joint in roots[0].joints)


def make_floating(roots: Sequence[Any], name: str) -> None:
    """Give the root body a free joint, in place."""
    joints = roots[0].joints if roots else []
    if not roots or joints:
        held = f"has the joint {joints[0].name!r}" if joints else "does not exist"
        raise RootError(
            f"floating_base is set for the entity {name!r}, but its root body {held}. "
            "It needs a root body without joints."
        )
    roots[0].add_freejoint()


def make_placeable(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Turn the fixed base of a spec into a mocap body, and return the spec.

    A mocap body is fixed for the physics, and its pose is part of the state, so it can
    differ between worlds. A root body without joints becomes a mocap body itself. If
    the root body has joints, or the worldbody has geoms or sites, everything is
    attached to a new mocap body. Planes and height fields cannot be placed: if the
    worldbody has one, only a root body without joints becomes a mocap body. A spec with
    flexes is returned unchanged, because MuJoCo does not accept flexes in a mocap body.

    Elements must have names.
    """
    world = spec.worldbody
    roots = world.bodies
    if (roots and roots[0].mocap) or spec.flexes:
        return spec
    root_is_fixed = bool(roots) and not roots[0].joints
    scenery = bool(world.geoms or world.sites)
    movable = all(geom.type not in _STATIC_ONLY for geom in world.geoms)
    if root_is_fixed and not (scenery and movable):
        restore_contacts(spec, welded(roots[0]))
        roots[0].mocap = True
        return spec
    if not movable:
        return spec
    restore_contacts(spec, welded(world))
    for geom in world.geoms:
        geom.mass = 0.0  # As in MuJoCo, where geoms of the worldbody have no mass.
    return _wrapped(spec)


def base_pose(
    spec: mujoco.MjSpec, file: mujoco.MjModel
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the position and orientation of the mocap base in the file, or None.

    Args:
        spec: Result of `make_placeable`.
        file: The model before `make_placeable`, compiled.
    """
    placed = [body.name for body in spec.worldbody.bodies if body.mocap]
    if not placed:
        return None
    # A new base has the pose of the file's worldbody.
    body = 0 if placed[0] == MOCAP_BASE else file.body(placed[0]).id
    return file.body_pos[body].copy(), file.body_quat[body].copy()


def _wrapped(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    if MOCAP_BASE in [body.name for body in spec.bodies]:
        raise RootError(
            f"{spec.modelname!r} has a body {MOCAP_BASE!r}. This name is reserved for "
            "the mocap body that places the entity; rename the body."
        )
    wrapper = mujoco.MjSpec()
    wrapper.modelname = spec.modelname
    frame = wrapper.worldbody.add_body(name=MOCAP_BASE, mocap=True).add_frame()
    for one, two in [(e.bodyname1, e.bodyname2) for e in spec.excludes]:
        if "world" in (one, two):
            # The geoms of the file's worldbody are now geoms of the mocap base.
            other = two if one == "world" else one
            wrapper.add_exclude(bodyname1=MOCAP_BASE, bodyname2=other)
    # MuJoCo would warn of name clashes; the wrapper has only one name, checked above.
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        wrapper.attach(spec, prefix="", frame=frame)
    finally:
        mujoco.set_mju_user_warning(handler)
    # Return a copy, to drop the pending warning about name clashes.
    return wrapper.copy()


# Contacts that a fixed base would lose by becoming a mocap body.


def restore_contacts(spec: mujoco.MjSpec, base: list[Any]) -> None:
    """Add the contact pairs that a base loses when it becomes a mocap body.

    MuJoCo does not check collisions between a body and its parent, unless the parent is
    fixed to the world. A mocap body does not count as fixed, so contacts between the
    base and links that are attached to it by a joint need explicit pairs.

    Args:
        spec: Edited in place. Its geoms must have names.
        base: The bodies of the base.
    """
    links = [child for body in base for child in body.bodies if child.joints]
    moving = [body for link in links for body in welded(link)]
    excluded = {frozenset((e.bodyname1, e.bodyname2)) for e in spec.excludes}
    paired = {frozenset((p.geomname1, p.geomname2)) for p in spec.pairs}
    for one, two in itertools.product(_geoms_of(base), _geoms_of(moving)):
        bodies = frozenset((one.parent.name, two.parent.name))
        if bodies in excluded or frozenset((one.name, two.name)) in paired:
            continue
        if one.contype & two.conaffinity or two.contype & one.conaffinity:
            _add_pair(spec, one, two)


def welded(body: Any) -> list[Any]:
    """Return a body and the descendants welded to it, the body first."""
    children = [child for child in body.bodies if not child.joints]
    return [body, *(inner for child in children for inner in welded(child))]


def _geoms_of(bodies: list[Any]) -> list[Any]:
    return [geom for body in bodies for geom in body.geoms]


def _add_pair(spec: mujoco.MjSpec, one: Any, two: Any) -> None:
    """Add a contact pair with the parameters that MuJoCo would compute for its geoms.

    The rules are in MuJoCo's documentation under "Contact parameters". The parameters
    of the geom with the higher priority are used. At equal priority, friction and
    dimension are the larger value, and the solver parameters are averaged by weight.
    """
    top = max(one.priority, two.priority)
    decides = [geom for geom in (one, two) if geom.priority == top]
    slide, spin, roll = np.max([geom.friction for geom in decides], axis=0)
    share = _share(one, two)
    solref = np.array([one.solref, two.solref])
    timed = bool(np.all(solref[:, 0] > 0.0))
    spec.add_pair(
        name=f"{one.name}+{two.name}",
        geomname1=one.name,
        geomname2=two.name,
        condim=max(geom.condim for geom in decides),
        friction=[slide, slide, spin, roll, roll],
        solref=share @ solref if timed else solref.min(axis=0),
        solreffriction=[0.0, 0.0],
        solimp=share @ np.array([one.solimp, two.solimp]),
        margin=one.margin + two.margin,
        gap=one.gap + two.gap,
        adhesion=sum(geom.adhesion for geom in decides),
    )


def _share(one: Any, two: Any) -> np.ndarray:
    """Return the weights of the geoms in averaged parameters, shape (2,), sum 1."""
    if one.priority != two.priority:
        decides = one.priority > two.priority
        return np.array([float(decides), float(not decides)])
    weights = np.array([one.solmix, two.solmix])
    weights[weights < _TINY] = 0.0
    return weights / weights.sum() if weights.any() else np.array([0.5, 0.5])
