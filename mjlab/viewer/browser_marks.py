"""Overlays (arrows and spheres) of the selected world in the browser's scene."""

from collections.abc import Callable, Sequence

import mujoco
import numpy as np
import trimesh
import viser

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render import Arrow, Marks, Sphere, add_contacts
from mjlab.viewer.marks import collect_marks

_HEAD = 0.04
"""Length of an arrow's head, m. Shorter arrows are not shown."""


class BrowserMarks:
    """Shows overlays of terms, and contacts."""

    def __init__(
        self, server: viser.ViserServer, on_change: Callable[[], None]
    ) -> None:
        """Add the checkboxes to the page.

        Args:
            server: The server of the page.
            on_change: Called when a checkbox was used.
        """
        self._server = server
        self.shows_terms = server.gui.add_checkbox("Commands and terms", True)
        """Checkbox of commands and other overlays of terms."""
        self.shows_contacts = server.gui.add_checkbox("Contact forces", True)
        """Checkbox of contacts."""
        for switch in (self.shows_terms, self.shows_contacts):
            switch.on_update(lambda _: on_change())
        self._arrows: viser.ArrowsHandle | None = None
        self._spheres: viser.BatchedMeshHandle | None = None
        ball = trimesh.creation.icosphere(subdivisions=2)
        self._ball = (np.asarray(ball.vertices), np.asarray(ball.faces))

    def update(self, env: ManagerBasedRlEnv, world: int, offset: np.ndarray) -> Marks:
        """Show the present overlays of a world, and return them.

        Args:
            env: The environment.
            world: The world.
            offset: Position of the world's origin in the browser, m, shape (3,).
        """
        shows_terms = self.shows_terms.value
        marks = collect_marks(env, (world,)) if shows_terms else Marks((world,))
        if self.shows_contacts.value:
            model = env.sim.engine.mj_model_of(world)
            data = env.sim.engine.mj_data_of(world)
            mujoco.mj_forward(model, data)
            add_contacts(marks, world, model, data)
        with self._server.atomic():
            self._show_arrows(marks.arrows[world], offset)
            self._show_spheres(marks.spheres[world], offset)
        return marks

    def _show_arrows(self, arrows: Sequence[Arrow], offset: np.ndarray) -> None:
        arrows = [arrow for arrow in arrows if arrow.length > _HEAD]
        if self._arrows is not None:
            self._arrows.visible = bool(arrows)
        if not arrows:
            return
        pairs = np.array([(arrow.start, arrow.end) for arrow in arrows])
        points = (pairs + offset).astype(np.float32)
        if self._arrows is None:
            self._arrows = self._server.scene.add_arrows(
                "/marks/arrows",
                points,
                _colors(arrows),
                shaft_radius=0.012,
                head_radius=0.03,
                head_length=_HEAD,
            )
            return
        self._arrows.points = points
        self._arrows.colors = _colors(arrows)

    def _show_spheres(self, spheres: Sequence[Sphere], offset: np.ndarray) -> None:
        if self._spheres is not None:
            self._spheres.visible = bool(spheres)
        if not spheres:
            return
        upright = np.zeros((len(spheres), 4), np.float32)
        upright[:, 0] = 1.0
        places = np.array([sphere.center for sphere in spheres])
        centers = (places + offset).astype(np.float32)
        scales = np.array([sphere.radius for sphere in spheres], np.float32)
        if self._spheres is None:
            self._spheres = self._server.scene.add_batched_meshes_simple(
                "/marks/spheres",
                *self._ball,
                upright,
                centers,
                batched_scales=scales,
                batched_colors=_colors(spheres),
                lod="off",
                cast_shadow=False,
            )
            return
        self._spheres.batched_wxyzs = upright
        self._spheres.batched_positions = centers
        self._spheres.batched_scales = scales
        self._spheres.batched_colors = _colors(spheres)


def _colors(marks: Sequence[Arrow] | Sequence[Sphere]) -> np.ndarray:
    """Return colours in viser's format, shape (marks, 3), uint8."""
    shares = np.array([mark.color[:3] for mark in marks])
    return (255.0 * shares).round().astype(np.uint8)
