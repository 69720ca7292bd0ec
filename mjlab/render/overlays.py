"""Overlays: arrows, spheres and labels in the scene.

A term's `debug_vis` adds overlays to a `Marks` object, which is independent of the
renderer: frames add them to MuJoCo's scene, the web viewer to the browser's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import torch

Vector = Sequence[float] | np.ndarray | torch.Tensor
"""Position or direction in the world frame, m, 3 numbers."""

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""

WHITE: Color = (1.0, 1.0, 1.0, 1.0)

CONTACT_COLOR: Color = (0.95, 0.6, 0.1, 1.0)
"""Colour of contacts."""

_WEIGHT_LENGTH = 0.3
"""Length of a force arrow that equals the weight of all movable bodies, m."""

_SHORTEST = 1e-4
_IDENTITY = np.eye(3).flatten()


@dataclass(frozen=True, eq=False)
class Arrow:
    """Arrow between two points."""

    start: np.ndarray
    """Start, world frame, m, shape (3,)."""

    end: np.ndarray
    """Tip of its head, world frame, m, shape (3,)."""

    color: Color
    """Colour of the arrow."""

    width: float
    """Radius of its shaft, m."""

    @property
    def length(self) -> float:
        """Its length, m."""
        return float(np.linalg.norm(self.end - self.start))


@dataclass(frozen=True, eq=False)
class Sphere:
    """Sphere, optionally with a label."""

    center: np.ndarray
    """Its position, world frame, m, shape (3,)."""

    radius: float
    """Its radius, m."""

    color: Color
    """Colour of the sphere."""

    text: str
    """Label, or empty."""


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
        self.spheres: dict[int, list[Sphere]] = {world: [] for world in self.worlds}
        """Spheres by world."""

    def add_arrow(
        self,
        world: int,
        start: Vector,
        end: Vector,
        *,
        color: Color = WHITE,
        width: float = 0.015,
    ) -> None:
        """Add an arrow; an arrow of zero length is ignored.

        Args:
            world: Its world.
            start: Its start, world frame, m.
            end: Its tip, world frame, m.
            color: Its colour.
            width: Radius of its shaft, m.
        """
        if world not in self.arrows:
            return
        arrow = Arrow(_vector(start), _vector(end), color, width)
        if arrow.length > _SHORTEST:
            self.arrows[world].append(arrow)

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
            world: Its world.
            center: Its position, world frame, m.
            radius: Its radius, m.
            color: Its colour.
            text: Its label.
        """
        if world in self.spheres:
            sphere = Sphere(_vector(center), radius, color, text)
            self.spheres[world].append(sphere)

    def put_into(self, scene: mujoco.MjvScene, world: int) -> int:
        """Add a world's overlays to MuJoCo's scene, and return how many fitted."""
        before = scene.ngeom
        for arrow in self.arrows.get(world, ()):
            _put_arrow(scene, arrow)
        for sphere in self.spheres.get(world, ()):
            _put_sphere(scene, sphere)
        return scene.ngeom - before


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
        model: Its model.
        data: Its state after `mj_forward`, which computes contact forces.
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
    geom = _next_geom(scene, kind, np.zeros(3), np.zeros(3), arrow.color)
    if geom is not None:
        mujoco.mjv_connector(geom, kind, arrow.width, arrow.start, arrow.end)


def _put_sphere(scene: mujoco.MjvScene, sphere: Sphere) -> None:
    kind = mujoco.mjtGeom.mjGEOM_SPHERE
    size = np.full(3, sphere.radius)
    geom = _next_geom(scene, kind, size, sphere.center, sphere.color)
    if geom is not None and sphere.text:
        geom.label = sphere.text[:99]  # MuJoCo limits labels to 100 characters.


def _next_geom(
    scene: mujoco.MjvScene,
    kind: mujoco.mjtGeom,
    size: np.ndarray,
    center: np.ndarray,
    color: Color,
) -> mujoco.MjvGeom | None:
    """Return the next free geom of the scene, None if it is full."""
    if scene.ngeom >= scene.maxgeom:
        return None
    geom = scene.geoms[scene.ngeom]
    rgba = np.array(color, dtype=np.float32)
    mujoco.mjv_initGeom(geom, kind, size, center, _IDENTITY, rgba)
    geom.category = mujoco.mjtCatBit.mjCAT_DECOR
    scene.ngeom += 1
    return geom


def _vector(value: Vector) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    return np.array(value, dtype=np.float64).reshape(3)
