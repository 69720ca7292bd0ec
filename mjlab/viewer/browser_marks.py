"""Overlays (arrows, shapes and ghosts) of the selected world in the browser."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import mujoco
import numpy as np
import torch
import trimesh
import viser

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render import Arrow, Marks, Shape, add_contacts
from mjlab.render.overlays import ShapeKind
from mjlab.tensors.math import quat_from_matrix
from mjlab.viewer.marks import collect_marks

_HEAD_LENGTH, _HEAD_RADIUS = 3.5, 2.5
"""Size of an arrow's head, in units of its width. Arrows shorter than their heads are
not shown."""


class BrowserMarks:
    """Shows overlays of terms, and contacts."""

    def __init__(
        self, server: viser.ViserServer, on_change: Callable[[], None]
    ) -> None:
        """Add the checkboxes to the page.

        Args:
            server: The server of the page.
            on_change: Function called when a checkbox changes.
        """
        self._server = server
        self.shows_terms = server.gui.add_checkbox("Commands and terms", True)
        """Checkbox that shows commands and other overlays of terms."""
        self.shows_contacts = server.gui.add_checkbox("Contact forces", True)
        """Checkbox that shows contact forces."""
        for switch in (self.shows_terms, self.shows_contacts):
            switch.on_update(lambda _: on_change())
        self._arrows: dict[float, viser.ArrowsHandle] = {}
        self._shapes: dict[_Form, viser.BatchedMeshHandle] = {}
        self._labels: list[viser.LabelHandle] = []

    def update(self, env: ManagerBasedRlEnv, world: int, offset: np.ndarray) -> Marks:
        """Show the current overlays of a world, and return them.

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
            self._show_shapes(marks.shapes[world], offset, env.sim.mj_model)
            self._show_labels(marks, world, offset)
        return marks

    def _show_arrows(self, arrows: Sequence[Arrow], offset: np.ndarray) -> None:
        """Show the arrows. Each width needs a separate viser object."""
        widths: dict[float, list[Arrow]] = {}
        for arrow in arrows:
            if arrow.length > _HEAD_LENGTH * arrow.width:
                widths.setdefault(arrow.width, []).append(arrow)
        for width, handle in self._arrows.items():
            handle.visible = width in widths
        for width, own in widths.items():
            pairs = np.array([(arrow.start, arrow.end) for arrow in own])
            points = (pairs + offset).astype(np.float32)
            if width in self._arrows:
                self._arrows[width].points = points
                self._arrows[width].colors = _colors(own)
                continue
            self._arrows[width] = self._server.scene.add_arrows(
                f"/marks/arrows_{len(self._arrows)}",
                points,
                _colors(own),
                shaft_radius=width,
                head_radius=_HEAD_RADIUS * width,
                head_length=_HEAD_LENGTH * width,
            )

    def _show_shapes(
        self, shapes: Sequence[Shape], offset: np.ndarray, model: mujoco.MjModel
    ) -> None:
        forms: dict[_Form, list[Shape]] = {}
        for shape in shapes:
            forms.setdefault(_form(shape), []).append(shape)
        for form, handle in self._shapes.items():
            handle.visible = form in forms
        for form, own in forms.items():
            places = np.array([shape.center for shape in own])
            matrices = torch.from_numpy(np.stack([shape.rotation for shape in own]))
            values = {
                "batched_positions": (places + offset).astype(np.float32),
                "batched_wxyzs": quat_from_matrix(matrices).numpy().astype(np.float32),
                "batched_scales": np.array(
                    [_scale(shape) for shape in own], np.float32
                ),
                "batched_colors": _colors(own),
                "batched_opacities": np.array([s.color[3] for s in own], np.float32),
            }
            if form in self._shapes:
                for name, value in values.items():
                    setattr(self._shapes[form], name, value)
                continue
            self._shapes[form] = self._server.scene.add_batched_meshes_simple(
                f"/marks/{form.kind}_{len(self._shapes)}",
                *_mesh(form, model),
                **values,
                lod="off",
                cast_shadow=False,
            )

    def _show_labels(self, marks: Marks, world: int, offset: np.ndarray) -> None:
        labels = [(arrow.text, arrow.start) for arrow in marks.arrows[world]]
        labels += [(shape.text, shape.center) for shape in marks.shapes[world]]
        labels = [(text, place + offset) for text, place in labels if text]
        while len(self._labels) < len(labels):
            name = f"/marks/label_{len(self._labels)}"
            self._labels.append(self._server.scene.add_label(name, ""))
        for index, handle in enumerate(self._labels):
            handle.visible = index < len(labels)
            if handle.visible:
                handle.text, place = labels[index]
                handle.position = tuple(place.tolist())


class _Form(NamedTuple):
    """Mesh shared by several shapes, each with a separate scale."""

    kind: ShapeKind
    radius: float = 1.0
    half: float = 1.0
    mesh: int = -1


def _form(shape: Shape) -> _Form:
    if shape.kind == "capsule":  # Scaling would distort its round ends.
        return _Form("capsule", float(shape.size[0]), float(shape.size[1]))
    if shape.kind == "mesh":
        return _Form("mesh", mesh=shape.mesh)
    return _Form("ellipsoid" if shape.kind == "sphere" else shape.kind)


def _scale(shape: Shape) -> tuple[float, float, float]:
    """Return the factors along x, y and z that scale a form's mesh to the shape."""
    first, second, third = shape.size.tolist()
    if shape.kind in ("capsule", "mesh"):
        return 1.0, 1.0, 1.0
    if shape.kind == "sphere":
        return first, first, first
    if shape.kind == "cylinder":
        return first, first, second
    return first, second, third


def _mesh(form: _Form, model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and faces of a form, with half sizes of 1."""
    if form.kind == "mesh":
        first, first_face = model.mesh_vertadr[form.mesh], model.mesh_faceadr[form.mesh]
        end = first + model.mesh_vertnum[form.mesh]
        end_face = first_face + model.mesh_facenum[form.mesh]
        return model.mesh_vert[first:end], model.mesh_face[first_face:end_face]
    if form.kind == "capsule":
        made = trimesh.creation.capsule(radius=form.radius, height=2.0 * form.half)
    elif form.kind == "cylinder":
        made = trimesh.creation.cylinder(radius=1.0, height=2.0)
    elif form.kind == "box":
        made = trimesh.creation.box(extents=(2.0, 2.0, 2.0))
    else:
        made = trimesh.creation.icosphere(subdivisions=3)
    return np.asarray(made.vertices), np.asarray(made.faces)


def _colors(marks: Sequence[Arrow] | Sequence[Shape]) -> np.ndarray:
    """Return colours in viser's format, shape (marks, 3), uint8."""
    shares = np.array([mark.color[:3] for mark in marks])
    return (255.0 * shares).round().astype(np.uint8)
