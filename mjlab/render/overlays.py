"""Overlays in the scene: arrows, frames, shapes and ghosts of robots.

A term's `debug_vis` adds overlays to a `Marks` object, which is independent of the
renderer. Offscreen frames and MuJoCo's window convert overlays to geoms of MuJoCo's
scene, and the web viewer converts them to objects of the browser's scene.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np
import torch

Vector = Sequence[float] | np.ndarray | torch.Tensor
"""Position, direction or size, m, 3 numbers."""

Matrix = Sequence[Sequence[float]] | np.ndarray | torch.Tensor
"""Rotation matrix, shape (3, 3) or (9,)."""

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""

Rgb = tuple[float, float, float]
"""Red, green and blue, each from 0 to 1."""

WHITE: Color = (1.0, 1.0, 1.0, 1.0)

CONTACT_COLOR: Color = (0.95, 0.6, 0.1, 1.0)
"""Colour of contacts."""

AXIS_COLORS: tuple[Rgb, Rgb, Rgb] = ((0.9, 0.1, 0.1), (0.1, 0.7, 0.1), (0.1, 0.2, 0.9))
"""Colours of the x, y and z axis of a frame."""

ShapeKind = Literal["sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh"]

_KINDS: dict[ShapeKind, mujoco.mjtGeom] = {
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}
_KIND_OF: dict[int, ShapeKind] = {int(geom): kind for kind, geom in _KINDS.items()}

_GHOST_GROUPS = 3
"""First geom group that ghosts omit. Viewers show the lower groups by default."""

_WEIGHT_LENGTH = 0.3
"""Length of a force arrow that equals the weight of all movable bodies, m."""

_SHORTEST = 1e-4
_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
_IDENTITY = np.eye(3)


@dataclass(frozen=True, eq=False)
class Arrow:
    """Arrow between two points."""

    start: np.ndarray
    """Start point, world frame, m, shape (3,)."""

    end: np.ndarray
    """Tip of the arrowhead, world frame, m, shape (3,)."""

    color: Color
    """Colour of the arrow."""

    width: float
    """Radius of the shaft, m."""

    text: str = ""
    """Label, or empty."""

    @property
    def length(self) -> float:
        """Length of the arrow, m."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def rotation(self) -> np.ndarray:
        """Rotation matrix whose z axis points from start to end, shape (3, 3)."""
        return _turned_to((self.end - self.start) / self.length)


@dataclass(frozen=True, eq=False)
class Shape:
    """Geometric shape to draw, optionally with a label."""

    kind: ShapeKind
    """Type of geom."""

    center: np.ndarray
    """Position of the centre, world frame, m, shape (3,)."""

    size: np.ndarray
    """Size as in MuJoCo, m, shape (3,): radius of a sphere, radius and half length of a
    capsule or cylinder, half sizes of an ellipsoid or box. A mesh has no size."""

    rotation: np.ndarray
    """Orientation of the shape in the world, rotation matrix, shape (3, 3)."""

    color: Color
    """Colour of the shape."""

    text: str = ""
    """Label, or empty."""

    mesh: int = -1
    """Id of the mesh in the environment's model, for a mesh."""


class Marks:
    """Overlays of the displayed worlds.

    Overlays of other worlds are ignored, so terms need not check; an expensive term
    should test `worlds` first.
    """

    def __init__(self, worlds: Iterable[int]) -> None:
        """Create an empty collection.

        Args:
            worlds: The displayed worlds.
        """
        self.worlds = tuple(worlds)
        """The displayed worlds."""
        self.arrows: dict[int, list[Arrow]] = {world: [] for world in self.worlds}
        """Arrows by world."""
        self.shapes: dict[int, list[Shape]] = {world: [] for world in self.worlds}
        """Shapes by world."""

    def add_arrow(
        self,
        world: int,
        start: Vector,
        end: Vector,
        *,
        color: Color = WHITE,
        width: float = 0.015,
        text: str = "",
    ) -> None:
        """Add an arrow; an arrow of zero length is ignored.

        Args:
            world: World to draw in.
            start: Start, world frame, m.
            end: Tip, world frame, m.
            color: Colour, RGBA.
            width: Radius of the shaft, m.
            text: Label.
        """
        if world not in self.arrows:
            return
        arrow = Arrow(_vector(start), _vector(end), color, width, text)
        if arrow.length > _SHORTEST:
            self.arrows[world].append(arrow)

    def add_frame(
        self,
        world: int,
        position: Vector,
        rotation_matrix: Matrix,
        *,
        scale: float = 0.3,
        axis_radius: float = 0.01,
        alpha: float = 1.0,
        axis_colors: tuple[Rgb, Rgb, Rgb] = AXIS_COLORS,
        text: str = "",
    ) -> None:
        """Add a coordinate frame, as three arrows.

        Args:
            world: World to draw in.
            position: Origin, world frame, m.
            rotation_matrix: Orientation; the columns are the axes.
            scale: Length of the axes, m.
            axis_radius: Radius of the axes, m.
            alpha: Opacity.
            axis_colors: Colours of the x, y and z axis.
            text: Label.
        """
        if world not in self.arrows:
            return
        origin, axes = _vector(position), _matrix(rotation_matrix).T
        texts = (text, "", "")
        for axis, rgb, label in zip(axes, axis_colors, texts, strict=True):
            self.add_arrow(
                world,
                origin,
                origin + scale * axis,
                color=(*rgb, alpha),
                width=axis_radius,
                text=label,
            )

    def add_sphere(
        self,
        world: int,
        center: Vector,
        radius: float,
        *,
        color: Color = WHITE,
        text: str = "",
    ) -> None:
        """Add a sphere, such as a goal.

        Args:
            world: World to draw in.
            center: Centre, world frame, m.
            radius: Radius, m.
            color: Colour, RGBA.
            text: Label.
        """
        self._add(world, "sphere", center, (radius, 0.0, 0.0), color, text)

    def add_cylinder(
        self,
        world: int,
        start: Vector,
        end: Vector,
        radius: float,
        *,
        color: Color = WHITE,
        text: str = "",
    ) -> None:
        """Add a cylinder; a cylinder of zero length is ignored.

        Args:
            world: World to draw in.
            start: Centre of one end, world frame, m.
            end: Centre of the other end, m.
            radius: Radius, m.
            color: Colour, RGBA.
            text: Label.
        """
        first, last = _vector(start), _vector(end)
        axis, length = last - first, float(np.linalg.norm(last - first))
        if length <= _SHORTEST:
            return
        rotation = _turned_to(axis / length)
        size, center = (radius, 0.5 * length, 0.0), 0.5 * (first + last)
        self._add(world, "cylinder", center, size, color, text, rotation)

    def add_ellipsoid(
        self,
        world: int,
        center: Vector,
        size: Vector,
        mat: Matrix = _IDENTITY,
        *,
        color: Color = WHITE,
        text: str = "",
    ) -> None:
        """Add an ellipsoid.

        Args:
            world: World to draw in.
            center: Centre, world frame, m.
            size: Semi-axes, m.
            mat: Rotation matrix from the local frame to the world frame.
            color: Colour, RGBA.
            text: Label.
        """
        self._add(world, "ellipsoid", center, size, color, text, mat)

    def add_box(
        self,
        world: int,
        center: Vector,
        size: Vector,
        mat: Matrix = _IDENTITY,
        *,
        color: Color = WHITE,
        text: str = "",
    ) -> None:
        """Add a box.

        Args:
            world: World to draw in.
            center: Centre, world frame, m.
            size: Half sizes, m.
            mat: Rotation matrix from the local frame to the world frame.
            color: Colour, RGBA.
            text: Label.
        """
        self._add(world, "box", center, size, color, text, mat)

    def add_ghost_mesh(
        self,
        world: int,
        qpos: Vector,
        model: mujoco.MjModel,
        *,
        mocap_pos: np.ndarray | None = None,
        mocap_quat: np.ndarray | None = None,
        geoms: Sequence[int] | None = None,
        color: Color | None = None,
        alpha: float = 0.5,
    ) -> None:
        """Add the visible geoms of a model in another pose, such as a reference.

        Args:
            world: World to draw in.
            qpos: The pose, shape (nq,).
            model: The environment's model, or a copy with other colours.
            mocap_pos: Positions of mocap bodies, shape (nmocap, 3).
            mocap_quat: Orientations of mocap bodies, wxyz, shape (nmocap, 4).
            geoms: Ids of the geoms. None selects the geoms of movable bodies.
            color: Colour of all geoms. None uses the model's colours.
            alpha: Opacity, if `color` is None.
        """
        if world not in self.shapes:
            return
        data = mujoco.MjData(model)
        data.qpos[:] = _array(qpos)
        if mocap_pos is not None:
            data.mocap_pos[:] = mocap_pos
        if mocap_quat is not None:
            data.mocap_quat[:] = mocap_quat
        mujoco.mj_kinematics(model, data)
        if geoms is None:
            geoms = np.flatnonzero(model.body_weldid[model.geom_bodyid] != 0).tolist()
        for geom in geoms:
            kind = _KIND_OF.get(int(model.geom_type[geom]))
            rgba = _color_of(model, geom)
            is_visible = model.geom_group[geom] < _GHOST_GROUPS and rgba[3] > 0.0
            if kind is None or not is_visible:
                continue
            shape = Shape(
                kind,
                data.geom_xpos[geom].copy(),
                model.geom_size[geom].copy(),
                data.geom_xmat[geom].reshape(3, 3).copy(),
                (*rgba[:3], rgba[3] * alpha) if color is None else color,
                mesh=int(model.geom_dataid[geom]),
            )
            self.shapes[world].append(shape)

    def put_into(self, scene: mujoco.MjvScene, world: int) -> int:
        """Add a world's overlays to MuJoCo's scene; return the number added."""
        before = scene.ngeom
        for arrow in self.arrows.get(world, ()):
            _put_arrow(scene, arrow)
        for shape in self.shapes.get(world, ()):
            _put_shape(scene, shape)
        return scene.ngeom - before

    def _add(
        self,
        world: int,
        kind: ShapeKind,
        center: Vector,
        size: Vector,
        color: Color,
        text: str,
        mat: Matrix = _IDENTITY,
    ) -> None:
        if world in self.shapes:
            place = (_vector(center), _vector(size), _matrix(mat))
            self.shapes[world].append(Shape(kind, *place, color, text))


def add_contacts(
    marks: Marks,
    world: int,
    model: mujoco.MjModel,
    data: mujoco.MjData,
) -> None:
    """Add positions and forces of a world's contacts.

    Args:
        marks: The collection.
        world: The world of `data`.
        model: Model of the world.
        data: State of the world after `mj_forward`, which computes contact forces.
    """
    weight = float(model.body_mass.sum() * np.linalg.norm(model.opt.gravity))
    scale = _WEIGHT_LENGTH / weight if weight > 0.0 else 0.0
    wrench = np.zeros(6)
    for index in range(data.ncon):
        contact = data.contact[index]
        if contact.efc_address < 0:
            continue  # Inside the margin, but without force.
        mujoco.mj_contactForce(model, data, index, wrench)
        # The rows of the contact frame are its axes; the force acts on the second geom.
        force = contact.frame.reshape(3, 3).T @ wrench[:3]
        tip = contact.pos + scale * force
        marks.add_sphere(world, contact.pos, 0.012, color=CONTACT_COLOR)
        marks.add_arrow(world, contact.pos, tip, color=CONTACT_COLOR, width=0.008)


def _put_arrow(scene: mujoco.MjvScene, arrow: Arrow) -> None:
    kind = mujoco.mjtGeom.mjGEOM_ARROW
    place = (np.zeros(3), np.zeros(3), _IDENTITY)
    geom = _next_geom(scene, kind, *place, arrow.color, arrow.text)
    if geom is not None:
        mujoco.mjv_connector(geom, kind, arrow.width, arrow.start, arrow.end)
        geom.size[2] *= 2.0  # MuJoCo draws an arrow of half this length.


def _put_shape(scene: mujoco.MjvScene, shape: Shape) -> None:
    place = (shape.size, shape.center, shape.rotation)
    geom = _next_geom(scene, _KINDS[shape.kind], *place, shape.color, shape.text)
    if geom is not None and shape.kind == "mesh":
        geom.dataid = 2 * shape.mesh  # The next number is the mesh's convex hull.


def _next_geom(
    scene: mujoco.MjvScene,
    kind: mujoco.mjtGeom,
    size: np.ndarray,
    center: np.ndarray,
    rotation: np.ndarray,
    color: Color,
    text: str,
) -> mujoco.MjvGeom | None:
    """Return the next free geom of the scene, None if the scene is full."""
    if scene.ngeom >= scene.maxgeom:
        return None
    geom = scene.geoms[scene.ngeom]
    rgba = np.array(color, dtype=np.float32)
    mujoco.mjv_initGeom(geom, kind, size, center, rotation.flatten(), rgba)
    geom.category = mujoco.mjtCatBit.mjCAT_DECOR
    if text:
        geom.label = text[:99]  # MuJoCo limits labels to 100 characters.
    scene.ngeom += 1
    return geom


def _color_of(model: mujoco.MjModel, geom: int) -> Color:
    """Return a geom's colour; if it is MuJoCo's default, the colour of its material."""
    material, rgba = int(model.geom_matid[geom]), model.geom_rgba[geom]
    if material >= 0 and np.allclose(rgba, _DEFAULT_RGBA):
        rgba = model.mat_rgba[material]
    red, green, blue, alpha = rgba.tolist()
    return red, green, blue, alpha


def _turned_to(axis: np.ndarray) -> np.ndarray:
    """Return a rotation matrix whose z axis is a unit vector, shape (3, 3)."""
    quat, rotation = np.zeros(4), np.zeros(9)
    mujoco.mju_quatZ2Vec(quat, axis)
    mujoco.mju_quat2Mat(rotation, quat)
    return rotation.reshape(3, 3)


def _array(value: Vector | Matrix) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    return np.array(value, dtype=np.float64)


def _vector(value: Vector) -> np.ndarray:
    return _array(value).reshape(3)


def _matrix(value: Matrix) -> np.ndarray:
    return _array(value).reshape(3, 3)
