"""Frames of chosen worlds of a simulation, for videos and reports."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, Self

import mujoco
import numpy as np

from mjlab.names import UnknownNameError, suggest
from mjlab.render.canvas import Canvas, color_muscles
from mjlab.render.framing import FollowingCamera, Subject, fitting_distance
from mjlab.render.overlays import Marks, add_contacts
from mjlab.scene import Scene
from mjlab.sim import Simulation

_GAP = 2
"""Pixels between the pictures of a grid."""


class OrbitView(Protocol):
    """A camera and the size of its pictures. An environment's `cfg.viewer` is one."""

    width: int
    height: int
    distance: float | None
    azimuth: float
    elevation: float
    lookat: tuple[float, float, float]
    entity: str | None
    body: str | None
    world: int


class Offscreen:
    """Draws frames without a window.

    Every world is drawn with its own values of the model. All that is drawn are copies:
    drawing changes nothing in the simulation.
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
            scene: What is in it, to find what the camera follows.
            view: Where frames look from, and how large the picture of one world is.
            worlds: Worlds to draw, each a picture of the grid. None draws the view's.
            contacts: Whether contacts are drawn with their forces, which takes a
                forward pass of a copy of each world.

        Raises:
            GlError: Where nothing can be drawn.
        """
        self.worlds = tuple(worlds) if worlds is not None else (view.world,)
        """The worlds that are drawn."""
        _check_worlds(self.worlds, sim.num_envs)
        self._sim = sim
        self._contacts = contacts
        model = sim.mj_model
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
        self._canvas = Canvas(model, view.width, view.height, haze=True)

    def frame(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> np.ndarray:
        """Draw the present, and return a picture, shape (height, width, 3), uint8.

        Args:
            marks: What is drawn besides, as `env.debug_vis` collects it.
            lines: Gives the text of a world, by its number.
        """
        return join(self.pictures(marks=marks, lines=lines))

    def pictures(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> list[np.ndarray]:
        """Draw the present, and return a picture of each world; see `frame`."""
        return self.draw(self.take(marks=marks, lines=lines))

    def take(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> list["Shot"]:
        """Return copies of what the present looks like, to be drawn later.

        They may be drawn while the worlds go on, by the thread that made this object.
        """
        marks = Marks(self.worlds) if marks is None else marks
        return [
            self._take(world, marks, () if lines is None else lines(world))
            for world in self.worlds
        ]

    def draw(self, shots: Sequence["Shot"]) -> list[np.ndarray]:
        """Return a picture of each world."""
        return [
            self._canvas.draw(
                shot.model,
                shot.data,
                shot.camera,
                marks=shot.marks,
                world=shot.world,
                lines=shot.lines,
            )
            for shot in shots
        ]

    def close(self) -> None:
        """Let OpenGL go."""
        self._canvas.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, world: int, marks: Marks, lines: Sequence[str]) -> "Shot":
        # Taken anew for each frame, since randomisation may have changed it: 0.4 ms
        # for a quadruped, against 40 ms that software needs to draw.
        model = self._sim.engine.mj_model_of(world)
        data = self._sim.engine.mj_data_of(world)
        if self._contacts:
            mujoco.mj_forward(model, data)
            add_contacts(marks, world, model, data)
        color_muscles(model, data)
        brighten(model)
        camera = self._cameras[world].look(model, data)
        return Shot(world, model, data, camera, marks, lines)


class Shot(NamedTuple):
    """Copies of what one world looks like."""

    world: int
    model: mujoco.MjModel
    data: mujoco.MjData
    camera: mujoco.MjvCamera
    marks: Marks
    lines: Sequence[str]


def join(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Return the picture of one world, or a grid of those of many."""
    return pictures[0] if len(pictures) == 1 else tile(pictures)


def grid(number: int) -> tuple[int, int, int]:
    """Return rows, columns and pixels between the pictures of a grid."""
    columns = math.ceil(math.sqrt(number))
    return math.ceil(number / columns), columns, _GAP


def tile(frames: Sequence[np.ndarray], *, gap: int = _GAP) -> np.ndarray:
    """Put pictures of one size into a grid as square as it can be; the rest is black.

    Args:
        frames: Pictures, each of shape (height, width, 3), uint8.
        gap: Pixels between pictures.
    """
    if not frames:
        raise ValueError("A grid of 0 pictures shows nothing.")
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
    """Return MuJoCo's camera of a view, before it follows anything."""
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE.value
    aim(camera, view)
    return camera


def aim(camera: mujoco.MjvCamera, view: OrbitView) -> None:
    """Have a camera look from where a view says."""
    camera.lookat[:] = view.lookat
    camera.distance = view.distance or camera.distance
    camera.azimuth = view.azimuth
    camera.elevation = view.elevation


def followed_body(model: mujoco.MjModel, scene: Scene, view: OrbitView) -> int | None:
    """Return the body of the compiled model that a view follows, None for none."""
    if view.entity is None:
        return None
    entity = scene.entity(view.entity)
    names = entity.body_names
    body = names[0] if view.body is None else view.body
    if body not in names:
        raise UnknownNameError(
            f"viewer.body: {view.entity!r} has no body {body!r}. {suggest(body, names)}"
        )
    return model.body(entity.index.prefix + body).id


def find_subject(model: mujoco.MjModel, scene: Scene, view: OrbitView) -> Subject:
    """Return what a view shows: the entity that it follows, or all that can move."""
    if view.entity is None:
        return Subject(model)
    return Subject(model, scene.entity(view.entity).index.prefix)


def view_distance(
    model: mujoco.MjModel, data: mujoco.MjData, scene: Scene, view: OrbitView
) -> float:
    """Return the distance of a view, m; one of None fits the picture."""
    low, high = find_subject(model, scene, view).box(model, data)
    return view.distance or fitting_distance(model, low, high, view.width / view.height)


def brighten(model: mujoco.MjModel) -> None:
    """Give a model's copy more light, unless the model sets a headlight of its own.

    Light from the camera reaches upright surfaces more than the ground, which it meets
    at a small angle, so a robot stands out.
    """
    light = model.vis.headlight
    is_default = np.allclose((light.ambient, light.diffuse), ((0.1,) * 3, (0.4,) * 3))
    if is_default and model.nlight:
        light.ambient[:], light.diffuse[:], light.specular[:] = 0.3, 0.65, 0.2


def _check_worlds(worlds: Sequence[int], num_envs: int) -> None:
    if not worlds:
        raise ValueError("There are no worlds to draw.")
    outside = [world for world in worlds if not 0 <= world < num_envs]
    if outside:
        raise ValueError(
            f"Worlds {outside} cannot be drawn: they are numbered 0 to {num_envs - 1}."
        )
