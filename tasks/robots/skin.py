"""Official meshes of MuJoCo Menagerie as visual geoms of our models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np

from mjlab.extras import missing
from mjlab.names import UnknownNameError, suggest

_MENAGERIE_FILES = {
    # In order of preference: Menagerie has several revisions of some robots.
    "g1": ("unitree_g1", ("g1_mjlab.xml", "g1.xml")),
    "go1": ("unitree_go1", ("go1.xml",)),
    "yam": ("i2rt_yam", ("yam.xml",)),
}

_VISUAL_GROUP = 2  # Ray casters use group 0 by default, so they never hit a skin.
_FRAME_TOLERANCE = 1e-3  # Metres, and dimensionless for quaternion components.


def with_skin(spec: mujoco.MjSpec, robot: str) -> mujoco.MjSpec:
    """Return a copy of a robot's spec with the official meshes.

    Meshes come from the folder in `MENAGERIE_ROOT` (a Menagerie checkout), otherwise
    from the package `mujoco-menagerie`, which downloads them at first use. They replace
    our primitive visual geoms, without contacts or mass, so that the dynamics are
    unchanged bit for bit.

    Args:
        spec: The robot's spec from our MJCF file, not modified.
        robot: `g1`, `go1` or `yam`.
    """
    donor, donor_model = _matching_donor(spec, robot)
    skinned = spec.copy()
    for geom in list(skinned.geoms):
        if geom.group == _VISUAL_GROUP and not (geom.contype or geom.conaffinity):
            skinned.delete(geom)
    for geom_id in _visual_mesh_geoms(donor_model):
        _dress(skinned, donor, donor_model, geom_id)
    return skinned


def load_with_skin(path: Path, robot: str) -> mujoco.MjSpec:
    """Load a robot's MJCF file and add the official meshes."""
    return with_skin(mujoco.MjSpec.from_file(str(path)), robot)


def _robot_folder(robot: str) -> Path:
    """Return the Menagerie folder of a robot, from a checkout or from the package."""
    folder = _MENAGERIE_FILES[robot][0]
    root = os.environ.get("MENAGERIE_ROOT")
    if root:
        path = Path(root).expanduser() / folder
        if not path.is_dir():
            raise FileNotFoundError(
                f"MENAGERIE_ROOT is {root!r}, which has no folder {folder!r}. It has "
                "to be a checkout of mujoco_menagerie."
            )
        return path
    try:
        import mujoco_menagerie  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ModuleNotFoundError(
            missing(f"The skin of robot {robot!r}", "mujoco-menagerie", "menagerie")
            + " Or set MENAGERIE_ROOT to a checkout of mujoco_menagerie."
        ) from None
    return mujoco_menagerie.get(folder).path()


def _matching_donor(
    spec: mujoco.MjSpec, robot: str
) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """Return the first model in the folder whose body frames equal ours.

    Meshes of another hardware revision would not align with our joints, which would
    look like a simulation bug. Such models are rejected.
    """
    if robot not in _MENAGERIE_FILES:
        raise UnknownNameError(
            f"There is no skin for robot {robot!r}. {suggest(robot, _MENAGERIE_FILES)}"
        )
    folder = _robot_folder(robot)
    ours = spec.copy().compile()
    refused = []
    for name in _MENAGERIE_FILES[robot][1]:
        path = folder / name
        if not path.is_file():
            refused.append(f"{name}: no such file")
            continue
        donor = mujoco.MjSpec.from_file(str(path))
        donor_model = donor.compile()
        difference = _first_frame_difference(ours, donor_model)
        if difference is None:
            return donor, donor_model
        refused.append(f"{name}: {difference}")
    raise ValueError(
        f"No model in {str(folder)!r} has the same bodies as our {robot!r} "
        f"({'; '.join(refused)})."
    )


def _first_frame_difference(ours: mujoco.MjModel, donor: mujoco.MjModel) -> str | None:
    """Return a description of the first body frame that differs, or None."""
    names = {ours.body(i).name for i in range(1, ours.nbody)}
    donor_names = {donor.body(i).name for i in range(1, donor.nbody)}
    if names != donor_names:
        return f"bodies {_some(names ^ donor_names)} are in one model only"
    for name in sorted(names):
        a, b = ours.body(name), donor.body(name)
        if a.parentid[0] == 0:
            continue  # The robot's user sets the pose of the base.
        if np.abs(a.pos - b.pos).max() > _FRAME_TOLERANCE:
            return f"body {name!r} is at {b.pos.tolist()}, ours at {a.pos.tolist()}"
        # A quaternion and its negative are the same rotation.
        if 1.0 - abs(float(a.quat @ b.quat)) > _FRAME_TOLERANCE**2:
            return (
                f"body {name!r} has the orientation {b.quat.tolist()}, ours "
                f"{a.quat.tolist()}"
            )
    return None


def _some(names: set[str]) -> str:
    """List some names, sufficient to identify a hardware revision."""
    shown = sorted(names)[:4]
    return ", ".join(repr(name) for name in shown) + (" ..." if len(names) > 4 else "")


def _visual_mesh_geoms(model: mujoco.MjModel) -> Iterator[int]:
    """Yield the visual mesh geoms."""
    for geom_id in range(model.ngeom):
        is_mesh = model.geom_type[geom_id] == mujoco.mjtGeom.mjGEOM_MESH
        collides = model.geom_contype[geom_id] or model.geom_conaffinity[geom_id]
        if is_mesh and not collides:
            yield geom_id


def _dress(
    spec: mujoco.MjSpec,
    donor: mujoco.MjSpec,
    donor_model: mujoco.MjModel,
    geom_id: int,
) -> None:
    """Copy one visual mesh geom of the compiled donor to our body of the same name."""
    mesh_id = int(donor_model.geom_dataid[geom_id])
    source = donor.mesh(donor_model.mesh(mesh_id).name)
    name = f"skin_{source.name or Path(source.file).stem}"
    if spec.mesh(name) is None:
        # An absolute path stays valid when the robot is attached to a scene with its
        # own mesh folder.
        file = Path(donor.modelfiledir, donor.meshdir, source.file).resolve()
        spec.add_mesh(
            name=name,
            file=str(file),
            scale=source.scale,
            refpos=source.refpos,
            refquat=source.refquat,
            # The donor can have open surfaces; their volume is not needed.
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
    pos, quat = _authored_pose(donor_model, geom_id, mesh_id)
    body = spec.body(donor_model.body(int(donor_model.geom_bodyid[geom_id])).name)
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        pos=pos,
        quat=quat,
        rgba=_colour(donor_model, geom_id),
        group=_VISUAL_GROUP,
        contype=0,
        conaffinity=0,
        mass=0.0,
    )


def _authored_pose(
    model: mujoco.MjModel, geom_id: int, mesh_id: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of a mesh geom before the compiler recentred its mesh.

    The compiler moves vertices to the mesh's inertia frame and multiplies the geom's
    pose by it; this inverts the multiplication.
    """
    inverse, quat, offset = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, model.mesh_quat[mesh_id])
    mujoco.mju_mulQuat(quat, model.geom_quat[geom_id], inverse)
    mujoco.mju_rotVecQuat(offset, model.mesh_pos[mesh_id], quat)
    return model.geom_pos[geom_id] - offset, quat


def _colour(model: mujoco.MjModel, geom_id: int) -> np.ndarray:
    """Return the rendered colour of a geom: its material's, if it has one."""
    material = int(model.geom_matid[geom_id])
    return model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom_id]
