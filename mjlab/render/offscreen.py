"""Frames of chosen worlds of a simulation, for videos and reports."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, Self

import mujoco
import numpy as np

from mjlab.names import UnknownNameError, suggest
from mjlab.render.canvas import Canvas
from mjlab.render.framing import FollowingCamera, Subject, fitting_distance
from mjlab.render.muscles import color_muscles
from mjlab.render.neighbours import Neighbour, Neighbourhood
from mjlab.render.overlays import Marks, add_contacts
from mjlab.scene import OriginType, Scene
from mjlab.sim import Simulation

_GAP = 2
"""Pixels between the images of a grid."""


class OrbitView(Protocol):
    """Camera and image size. An environment's `cfg.viewer` has this interface."""

    width: int
    height: int
    distance: float | None
    azimuth: float
    elevation: float
    lookat: tuple[float, float, float]
    fovy: float | None
    origin_type: OriginType
    entity: str | None
    body: str | None
    world: int
    max_extra_envs: int
    enable_shadows: bool
    enable_reflections: bool
    geom_group: tuple[int, int, int, int, int, int]
    site_group: tuple[int, int, int, int, int, int]


class Offscreen:
    """Renders frames without a window.

    Every world is rendered with its own values of the model. Rendering uses copies and
    does not modify the simulation.
    """

    def __init__(
        self,
        sim: Simulation,
        scene: Scene,
        view: OrbitView,
        *,
        worlds: Sequence[int] | None = None,
        contacts: bool = False,
    ) -> None:
        """Open a canvas.

        Args:
            sim: The simulation.
            scene: Its scene, to look up the body that the camera follows.
            view: Camera, and image size of one world.
            worlds: Worlds to render, each an image of the grid. None renders the view's
                world.
            contacts: Draw contacts with their forces, which takes a forward pass on a
                copy of each world.

        Raises:
            GlError: If rendering is impossible.
        """
        self.worlds = tuple(worlds) if worlds is not None else (view.world,)
        """The rendered worlds."""
        _check_worlds(self.worlds, sim.num_envs)
        self._sim, self._view = sim, view
        self._contacts = contacts
        model = sim.mj_model
        # Neighbours are drawn only beside a single world; several worlds have tiles.
        extra = view.max_extra_envs if len(self.worlds) == 1 else 0
        self._neighbours = Neighbourhood(sim, scene, self.worlds[0], extra)
        self._cameras = {
            world: FollowingCamera(
                find_subject(model, scene, view),
                followed_body(model, scene, view),
                make_camera(view),
                distance=view.distance,
                aspect=view.width / view.height,
            )
            for world in self.worlds
        }
        self._canvas = Canvas(
            model,
            view.width,
            view.height,
            haze=True,
            option=scene_option(view),
            shadows=view.enable_shadows,
            reflections=view.enable_reflections,
        )

    def frame(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> np.ndarray:
        """Render the current state; return an image, uint8, (height, width, 3).

        Args:
            marks: Overlays, as collected by `env.debug_vis`.
            lines: Function that returns the lines of text of a world, by its index.
        """
        return join(self.pictures(marks=marks, lines=lines))

    def pictures(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> list[np.ndarray]:
        """Render the current state, and return one image per world; see `frame`."""
        return self.draw(self.take(marks=marks, lines=lines))

    def take(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> list["Shot"]:
        """Return copies of the current state, for `draw`.

        `draw` must run in the thread that created this object. Another thread can step
        the worlds in the meantime.
        """
        marks = Marks(self.worlds) if marks is None else marks
        return [
            self._take(world, marks, () if lines is None else lines(world))
            for world in self.worlds
        ]

    def draw(self, shots: Sequence["Shot"]) -> list[np.ndarray]:
        """Return one image per world."""
        return [
            self._canvas.draw(
                shot.model,
                shot.data,
                shot.camera,
                marks=shot.marks,
                world=shot.world,
                lines=shot.lines,
                neighbours=shot.neighbours,
            )
            for shot in shots
        ]

    def close(self) -> None:
        """Release OpenGL."""
        self._canvas.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, world: int, marks: Marks, lines: Sequence[str]) -> "Shot":
        # Copied for each frame, since randomisation can change it: 0.4 ms for a
        # quadruped, compared with 40 ms of software rendering.
        model = self._sim.engine.mj_model_of(world)
        data = self._sim.engine.mj_data_of(world)
        if self._contacts:
            mujoco.mj_forward(model, data)
            add_contacts(marks, world, model, data)
        color_muscles(model, data)
        brighten(model)
        set_field_of_view(model, self._view)
        camera = self._cameras[world].look(model, data)
        return Shot(world, model, data, camera, marks, lines, self._neighbours.take())


class Shot(NamedTuple):
    """Copies of model and state of one world, for rendering."""

    world: int
    model: mujoco.MjModel
    data: mujoco.MjData
    camera: mujoco.MjvCamera
    marks: Marks
    lines: Sequence[str]
    neighbours: Sequence[Neighbour]


def join(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Return the image of one world, or a grid of several."""
    return pictures[0] if len(pictures) == 1 else tile(pictures)


def grid(number: int) -> tuple[int, int, int]:
    """Return rows, columns and gap in pixels of a grid of `number` images."""
    columns = math.ceil(math.sqrt(number))
    return math.ceil(number / columns), columns, _GAP


def tile(frames: Sequence[np.ndarray], *, gap: int = _GAP) -> np.ndarray:
    """Arrange images of equal size in a nearly square grid; unused cells are black.

    Args:
        frames: Images, each of shape (height, width, 3), uint8.
        gap: Pixels between images.
    """
    if not frames:
        raise ValueError("The grid has 0 images; it needs at least one.")
    rows, columns, _ = grid(len(frames))
    height, width = frames[0].shape[:2]
    size = (rows * (height + gap) - gap, columns * (width + gap) - gap, 3)
    picture = np.zeros(size, np.uint8)
    for index, frame in enumerate(frames):
        row, column = divmod(index, columns)
        top, left = row * (height + gap), column * (width + gap)
        picture[top : top + height, left : left + width] = frame
    return picture


def make_camera(view: OrbitView) -> mujoco.MjvCamera:
    """Return MuJoCo's camera of a view, before it follows a body."""
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE.value
    aim(camera, view)
    return camera


def aim(camera: mujoco.MjvCamera, view: OrbitView) -> None:
    """Set direction, distance and look-at point of a camera from a view."""
    camera.lookat[:] = view.lookat
    camera.distance = view.distance or camera.distance
    camera.azimuth = view.azimuth
    camera.elevation = view.elevation


def scene_option(view: OrbitView) -> mujoco.MjvOption:
    """Return MuJoCo's option with the visible groups of a view."""
    option = mujoco.MjvOption()
    option.geomgroup[:] = view.geom_group
    option.sitegroup[:] = view.site_group
    return option


def set_field_of_view(model: mujoco.MjModel, view: OrbitView) -> None:
    """Set the field of view of a renderer's model, if the camera view has one."""
    if view.fovy is not None:
        model.vis.global_.fovy = view.fovy


def followed_body(model: mujoco.MjModel, scene: Scene, view: OrbitView) -> int | None:
    """Return the id of the body that a view follows, None for a fixed camera."""
    followed = _followed_entity(model, scene, view)
    if followed is None:
        return None
    entity = scene.entity(followed)
    names = entity.body_names
    body = None if view.origin_type is OriginType.ASSET_ROOT else view.body
    if body is None and view.origin_type is OriginType.ASSET_BODY:
        raise ValueError(
            "viewer.origin_type is ASSET_BODY and viewer.body is None. Set viewer.body "
            f"to one of {', '.join(names)}."
        )
    body = names[0] if body is None else body
    if body not in names:
        raise UnknownNameError(
            f"viewer.body: {followed!r} has no body {body!r}. {suggest(body, names)}"
        )
    return model.body(entity.index.prefix + body).id


def find_subject(model: mujoco.MjModel, scene: Scene, view: OrbitView) -> Subject:
    """Return the geoms that a view shows: its entity's, or all movable geoms."""
    followed = _followed_entity(model, scene, view)
    if followed is None:
        return Subject(model)
    return Subject(model, scene.entity(followed).index.prefix)


def _followed_entity(
    model: mujoco.MjModel, scene: Scene, view: OrbitView
) -> str | None:
    """Return the name of the entity that a view follows, None for a fixed camera."""
    origin = view.origin_type
    if origin is OriginType.WORLD:
        return None
    if view.entity is not None:
        return view.entity
    if origin is OriginType.AUTO:
        return None if any(view.lookat) else _first_movable(model, scene)
    if len(scene.entities) != 1:
        raise ValueError(
            f"viewer.origin_type is {origin.name}, and the scene has "
            f"{len(scene.entities)} entities. Set viewer.entity to one of "
            f"{', '.join(scene.entities)}."
        )
    return next(iter(scene.entities))


def _first_movable(model: mujoco.MjModel, scene: Scene) -> str | None:
    """Return the entity of the first body with a joint, None if there is none."""
    movable = set(np.flatnonzero(model.body_dofnum).tolist())
    firsts = {
        min(own): name
        for name, entity in scene.entities.items()
        if (own := movable.intersection(entity.index.bodies.ids.tolist()))
    }
    return firsts[min(firsts)] if firsts else None


def view_distance(
    model: mujoco.MjModel, data: mujoco.MjData, scene: Scene, view: OrbitView
) -> float:
    """Return the distance of a view, m; if None, the distance that fits the subject.

    Args:
        model: A copy with the field of view of the view.
        data: Its state.
        scene: The scene.
        view: The view.
    """
    low, high = find_subject(model, scene, view).box(model, data)
    return view.distance or fitting_distance(model, low, high, view.width / view.height)


def brighten(model: mujoco.MjModel) -> None:
    """Brighten the headlight of a model's copy, unless the model defines a headlight.

    A headlight brightens upright surfaces more than the ground, which it meets at a
    grazing angle, so robots stand out.
    """
    light = model.vis.headlight
    is_default = np.allclose((light.ambient, light.diffuse), ((0.1,) * 3, (0.4,) * 3))
    if is_default and model.nlight:
        light.ambient[:], light.diffuse[:], light.specular[:] = 0.3, 0.65, 0.2


def _check_worlds(worlds: Sequence[int], num_envs: int) -> None:
    if not worlds:
        raise ValueError("The list of worlds to render is empty; name at least one.")
    outside = [world for world in worlds if not 0 <= world < num_envs]
    if outside:
        raise ValueError(
            f"Worlds {outside} do not exist: indices are 0 to {num_envs - 1}."
        )
