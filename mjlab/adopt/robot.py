"""Derive everything that a walking task needs from the model file of a legged robot."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from mjlab.adopt.file import read_spec
from mjlab.adopt.legs import Leg, collides, find_legs
from mjlab.adopt.mirror import find_mirror
from mjlab.adopt.motors import find_motors
from mjlab.adopt.notes import AdoptError, Notes, listed
from mjlab.adopt.shape import Posed
from mjlab.adopt.stance import base_height, sole_centre, stand, uneven
from mjlab.adopt.standing import (
    LONGEST,
    listed_pairs,
    never_open,
    standing_time,
    touching,
)
from mjlab.names import suggest
from mjlab.tasks.robots.robot import Mirror, Motor

_EVEN = 0.01
"""Largest accepted difference in height between feet, m."""

_STRAIGHTER = (0.8, 0.9)
"""Values of `Overrides.bent` that are tried if a robot with four or more legs sinks in
the default stance."""

_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's default impedance of contacts."""

_SHORT_LINK = 0.02
"""Length below which a link without geoms is not drawn, m."""

_LINK_COLOR = (0.55, 0.58, 0.62, 1.0)

_SENSORS = ("imu_ang_vel", "imu_lin_vel", "imu_upvector", "root_angmom")


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Findings that the user replaces. Empty values replace nothing."""

    feet: tuple[str, ...] = ()
    """Bodies of the feet."""

    torso: str = ""
    """Body that should be upright."""

    stance: Mapping[str, float] = field(default_factory=dict)
    """Joint positions of the stance, rad or m."""

    bent: float | None = None
    """Height of the hip above the foot in the stance, as a fraction of its maximum."""

    effort: Mapping[str, float] = field(default_factory=dict)
    """Torque limits, N m, by joint."""

    mirror: bool = True
    """Whether to use the left-right symmetry, if the robot has one."""


@dataclass(frozen=True, kw_only=True)
class Adopted:
    """Findings about a legged robot."""

    name: str
    """Name of the robot, such as "Aliengo"."""

    spec: mujoco.MjSpec
    """Corrected model with the task's sensors and sites, without actuators."""

    posed: Posed
    """The robot in its stance."""

    legs: tuple[Leg, ...]
    """Legs from front to hind, left before right."""

    base: str
    """Body with the free joint."""

    torso: str
    """Body that should be upright."""

    acted: tuple[str, ...]
    """Joints that the policy moves: leg joints, and joints between base and torso."""

    stance: Mapping[str, float]
    """Joint positions of the stance, rad or m."""

    height: float
    """Height of the base above the ground in the stance, m."""

    motors: Mapping[str, Motor]
    """Motor of each joint."""

    mirror: Mirror | None
    """Left-right symmetry, None if the robot has none or the user disabled it."""

    stands: float
    """Time for which the motors alone hold the stance, s, at most 3."""

    notes: Notes
    """Faults, changes and findings."""

    @property
    def mass(self) -> float:
        """Total mass, kg."""
        return float(self.posed.model.body_subtreemass[1])

    @property
    def leg_length(self) -> float:
        """Height of the first bending joint above the sole, m."""
        leg = self.legs[0]
        hip = self.posed.anchor(leg.flexion[0] if leg.flexion else leg.joints[0])
        return float(hip[2] - sole_centre(self.posed, leg)[2])


def adopt(path: Path, name: str = "", overrides: Overrides | None = None) -> Adopted:
    """Analyse the robot of a model file.

    Args:
        path: MJCF or URDF file.
        name: Name of the robot. If empty, it is derived from the file name.
        overrides: Findings that the user replaces.

    Raises:
        AdoptError: If no walking task can be made from the file.
    """
    chosen, notes = overrides or Overrides(), Notes()
    spec = read_spec(path, notes)
    _note_frame(spec, notes)
    posed = Posed(spec.compile())
    legs = _legs_in_some_pose(posed, notes, chosen.feet)
    _check_stance_names(posed, chosen.stance, "--stance")
    _check_stance_names(posed, chosen.effort, "--effort")
    reference = {joint: posed.position(joint) for joint in posed.joints}
    torso, acted = _torso(posed, legs, chosen.torso)
    mirror = find_mirror(posed, acted, legs, notes) if chosen.mirror else None
    stance = stand(posed, legs, bent=chosen.bent) | dict(chosen.stance)
    posed.place(stance)
    motors = find_motors(posed, legs, notes, chosen.effort)
    closed = _closed_pairs(posed, notes)
    _edit(spec, posed, legs, closed, notes)
    spec.compile()
    stands = _standing(spec, posed, legs, motors, stance)
    for bent in _STRAIGHTER if chosen.bent is None and not chosen.stance else ():
        if len(legs) < 4 or stands >= LONGEST:
            break
        posed.place(reference)
        tried = stand(posed, legs, bent=bent)
        stronger = find_motors(posed, legs, Notes(), chosen.effort)
        lasts = _standing(spec, posed, legs, stronger, tried)
        if lasts > stands:
            stance, motors, stands = tried, stronger, lasts
    posed.place(stance)
    height = base_height(posed, legs)
    _note_stance(posed, legs, height, stands, notes)
    return Adopted(
        name=name or _name(path),
        spec=spec,
        posed=posed,
        legs=tuple(legs),
        base=posed.model.body(1).name,
        torso=torso,
        acted=acted,
        stance=stance,
        height=height,
        motors=motors,
        mirror=mirror,
        stands=stands,
        notes=notes,
    )


def _standing(
    spec: mujoco.MjSpec,
    posed: Posed,
    legs: Sequence[Leg],
    motors: Mapping[str, Motor],
    stance: Mapping[str, float],
) -> float:
    """Return the time for which motors hold the robot in a stance, s."""
    posed.place(stance)
    return standing_time(spec, motors, stance, base_height(posed, legs))


def _name(path: Path) -> str:
    words = "".join(c if c.isalnum() else " " for c in path.stem).split()
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"Robot{name}"


def _note_frame(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Set the base to the origin, upright; report a fault if it is tilted."""
    root = spec.worldbody.first_body()
    _, x, y, _ = spec.compile().body_quat[1]
    upright = 1.0 - 2.0 * (x**2 + y**2)
    if upright < 0.97:
        notes.faults.append(
            f"The base {root.name!r} is tilted in the file. The task needs a base "
            "whose x axis points forward and whose z axis points up."
        )
    root.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    root.pos, root.quat = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def _legs_in_some_pose(posed: Posed, notes: Notes, feet: Sequence[str]) -> list[Leg]:
    """Find the legs in the reference pose, else in the first keyframe with legs."""
    fault: AdoptError | None = None
    for pose in _poses(posed):
        posed.place(pose)
        try:
            return find_legs(posed, notes, feet)
        except AdoptError as error:
            fault = fault or error
    assert fault is not None
    raise fault


def _poses(posed: Posed) -> Iterator[dict[str, float]]:
    """Yield the reference pose and all keyframes, as joint positions within limits."""
    model = posed.model
    for qpos in (model.qpos0, *model.key_qpos):
        pose = {j: float(qpos[model.jnt_qposadr[i]]) for j, i in posed.joints.items()}
        yield {j: float(np.clip(q, *posed.limits(j))) for j, q in pose.items()}


def _check_stance_names(posed: Posed, given: Mapping[str, float], flag: str) -> None:
    for joint in given:
        if joint not in posed.joints:
            hint = suggest(joint, list(posed.joints))
            raise AdoptError(f"{flag}: the robot has no joint {joint!r}. {hint}")


def _torso(
    posed: Posed, legs: Sequence[Leg], wanted: str
) -> tuple[str, tuple[str, ...]]:
    """Return the torso and the joints that the policy moves.

    The torso is the body `wanted`; if empty, the heaviest body outside the legs.
    """
    model = posed.model
    of_legs = {model.jnt_bodyid[posed.joints[j]] for leg in legs for j in leg.joints}
    others = [body for body in range(1, model.nbody) if body not in of_legs]
    names = [model.body(body).name for body in others]
    if wanted and wanted not in names:
        raise AdoptError(
            f"--torso: {wanted!r} is not a body outside the legs. "
            f"{suggest(wanted, names)}"
        )
    heaviest = max(others, key=lambda body: model.body_mass[body])
    torso = model.body(wanted).id if wanted else heaviest
    path = []
    body = torso
    while body > 1:
        first, number = model.body_jntadr[body], model.body_jntnum[body]
        path += [model.joint(first + i).name for i in range(number)]
        body = model.body_parentid[body]
    acted = [joint for leg in legs for joint in leg.joints]
    waist = [joint for joint in reversed(path) if joint in posed.joints]
    return model.body(torso).name, tuple(dict.fromkeys([*acted, *waist]))


def _closed_pairs(posed: Posed, notes: Notes) -> list[tuple[str, str]]:
    """Return pairs of bodies that touch in every pose or in the stance.

    The task excludes their contacts.
    """
    always, now = never_open(posed), sorted(touching(posed))
    stance_only = [pair for pair in now if pair not in always]
    if always:
        notes.repaired(
            f"Bodies touch in every pose: {listed(listed_pairs(always))}.",
            "Excluded the contacts of these bodies.",
        )
    if stance_only:
        notes.repaired(
            f"Bodies touch in the stance: {listed(listed_pairs(stance_only))}.",
            "Excluded the contacts of these bodies too.",
        )
    return [*always, *stance_only]


def _edit(
    spec: mujoco.MjSpec,
    posed: Posed,
    legs: Sequence[Leg],
    closed: Sequence[tuple[str, str]],
    notes: Notes,
) -> None:
    """Prepare the spec for a task.

    Remove sensors, actuators and keyframes; add the task's sensors and sites, armatures
    and excluded contacts.
    """
    removed = [*spec.sensors, *spec.actuators, *spec.keys]
    for element in removed:
        spec.delete(element)
    base = spec.worldbody.first_body()
    names = {site.name for site in spec.sites}
    imu = "imu" if "imu" not in names else "adopted_imu"
    base.add_site(name=imu, group=4)
    for leg in legs:
        spec.body(leg.foot).add_site(name=f"{leg.foot}_sole", pos=leg.sole, group=4)
    _add_sensors(spec, imu)
    for joint in spec.joints:
        if joint.name in posed.joints:
            dof = posed.model.joint(joint.name).dofadr[0]
            joint.armature = posed.model.dof_armature[dof]
    _collide(spec, posed, legs, notes)
    _draw_bare_links(spec, posed.model, legs, notes)
    taken = {frozenset((one.bodyname1, one.bodyname2)) for one in spec.excludes}
    for first, second in closed:
        if frozenset((first, second)) not in taken:
            spec.add_exclude(bodyname1=first, bodyname2=second)
    notes.changes.append(
        f"Replaced actuators and sensors of the file by position motors, an IMU on "
        f"{base.name!r} and a site below each foot."
    )


def _add_sensors(spec: mujoco.MjSpec, imu: str) -> None:
    site, base = mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_BODY
    kinds = mujoco.mjtSensor
    types = (
        (kinds.mjSENS_GYRO, site, imu),
        (kinds.mjSENS_VELOCIMETER, site, imu),
        (kinds.mjSENS_FRAMEZAXIS, site, imu),
        (kinds.mjSENS_SUBTREEANGMOM, base, spec.worldbody.first_body().name),
    )
    for name, (kind, obj, owner) in zip(_SENSORS, types, strict=True):
        spec.add_sensor(name=name, type=kind, objtype=obj, objname=owner)


def _collide(
    spec: mujoco.MjSpec, posed: Posed, legs: Sequence[Leg], notes: Notes
) -> None:
    """Enable contacts of the soles with the ground; harden very soft soles.

    The feet of Spot have an impedance (solimp) of 0.015, with which the standing robot
    sinks into the ground by 2 cm.
    """
    soles = [name for leg in legs for name in leg.geoms]
    silent = [n for n in soles if not collides(posed.model, posed.model.geom(n).id)]
    soft = []
    for geom in spec.geoms:
        if geom.name in soles:
            geom.contype, geom.conaffinity = geom.contype | 1, geom.conaffinity | 1
            geom.condim, geom.priority = max(int(geom.condim), 3), 1
            if geom.solimp[0] < 0.5 * _SOLIMP[0]:
                geom.solimp = _SOLIMP
                soft.append(geom.name)
    if silent:
        notes.repaired(
            f"The feet have no geom that collides: {listed(silent)}.",
            "Switched on the contacts of these geoms.",
        )
    if soft:
        notes.changes.append(
            f"Set solimp of {listed(soft)} to MuJoCo's default, because these soft "
            "feet sink into the ground."
        )


def _draw_bare_links(
    spec: mujoco.MjSpec, model: mujoco.MjModel, legs: Sequence[Leg], notes: Notes
) -> None:
    """Add visual capsules to bodies without a visible geom, so that videos show them.

    One capsule runs from the origin of the body to each child body, and one to the sole
    of a foot. They have no mass and no contacts.
    """
    seen = {int(b) for b in model.geom_bodyid[model.geom_group <= 2]}
    ends: dict[str, list[np.ndarray]] = {}
    for body in range(2, model.nbody):
        parent = int(model.body_parentid[body])
        ends.setdefault(model.body(parent).name, []).append(model.body_pos[body])
    for leg in legs:
        ends.setdefault(leg.foot, []).append(np.asarray(leg.sole))
    drawn = []
    for name, points in ends.items():
        long = [end for end in points if np.linalg.norm(end) > _SHORT_LINK]
        if model.body(name).id in seen or not long:
            continue
        for end in long:
            spec.body(name).add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=(0.0, 0.0, 0.0, *end),
                size=(max(0.01, 0.1 * float(np.linalg.norm(end))), 0.0, 0.0),
                mass=0.0,
                contype=0,
                conaffinity=0,
                group=2,
                rgba=_LINK_COLOR,
            )
        drawn.append(name)
    if drawn:
        notes.changes.append(
            "Added capsules without mass and contacts, which show in videos, to "
            f"{listed(drawn)}: these bodies had no visible geom."
        )


def _note_stance(
    posed: Posed, legs: Sequence[Leg], height: float, stands: float, notes: Notes
) -> None:
    difference = uneven(posed, legs)
    if difference > _EVEN:
        notes.faults.append(
            f"The feet differ by {100.0 * difference:.1f} cm in height in the stance."
        )
    lasts = "for 3 s" if stands >= LONGEST else f"for {stands:.1f} s, then falls"
    notes.findings.append(
        f"Stance with the base {height:.3g} m above the ground (--bent, --stance); it "
        f"stands {lasts} without a policy."
    )
