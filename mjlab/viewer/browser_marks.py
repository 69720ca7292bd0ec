"""Overlays (arrows, shapes and ghosts) of the selected world in the browser."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import mujoco
import numpy as np
import torch
import trimesh
import viser

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render import Arrow, Marks, Shape, add_contacts
from mjlab.render.overlays import Color, ShapeKind
from mjlab.tensors.math import quat_from_matrix
from mjlab.viewer.marks import collect_marks

_HEAD_LENGTH, _HEAD_RADIUS = 3.5, 2.5
"""Size of an arrow's head, in units of its width. Short arrows have smaller heads."""

_EDGED = ("box", "cylinder", "cone")
"""Forms with sharp edges. Smooth shading would hide the edges."""


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
        self._forms: dict[_Form, viser.BatchedMeshHandle] = {}
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
        self.show(marks, world, offset, env.sim.mj_model)
        return marks

    def show(
        self, marks: Marks, world: int, offset: np.ndarray, model: mujoco.MjModel
    ) -> None:
        """Show overlays of a world instead of the previous ones.

        Args:
            marks: The overlays.
            world: The world.
            offset: Position of the world's origin in the browser, m, shape (3,).
            model: The model, for meshes of ghosts.
        """
        parts = [part for arrow in marks.arrows[world] for part in _arrow_parts(arrow)]
        parts += [_part(shape) for shape in marks.shapes[world]]
        with self._server.atomic():
            self._show_parts(parts, offset, model)
            self._show_labels(marks, world, offset)

    def _show_parts(
        self, parts: Sequence["_Part"], offset: np.ndarray, model: mujoco.MjModel
    ) -> None:
        """Show the parts. Each form needs a separate viser object."""
        forms: dict[_Form, list[_Part]] = {}
        for part in parts:
            forms.setdefault(part.form, []).append(part)
        for form, handle in self._forms.items():
            handle.visible = form in forms
        for form, own in forms.items():
            places = np.array([part.center for part in own])
            matrices = torch.from_numpy(np.stack([part.rotation for part in own]))
            values = {
                "batched_positions": (places + offset).astype(np.float32),
                "batched_wxyzs": quat_from_matrix(matrices).numpy().astype(np.float32),
                "batched_scales": np.array([part.scale for part in own], np.float32),
                "batched_colors": _colors(own),
            }
            if form.is_clear:
                opacities = [part.color[3] for part in own]
                values["batched_opacities"] = np.array(opacities, np.float32)
            if form in self._forms:
                for name, value in values.items():
                    setattr(self._forms[form], name, value)
                continue
            self._forms[form] = self._server.scene.add_batched_meshes_simple(
                f"/marks/{form.kind}_{len(self._forms)}",
                *_mesh(form, model),
                **values,
                flat_shading=form.kind in _EDGED,
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
    """Mesh shared by several parts, each with a separate scale."""

    kind: ShapeKind | Literal["cone"]
    is_clear: bool
    """Some parts are not opaque. The browser draws them after all opaque parts."""

    radius: float = 1.0
    half: float = 1.0
    mesh: int = -1


class _Part(NamedTuple):
    """Scaled mesh: a shape, or the shaft or head of an arrow."""

    form: _Form
    center: np.ndarray
    rotation: np.ndarray
    scale: tuple[float, float, float]
    color: Color


def _arrow_parts(arrow: Arrow) -> list[_Part]:
    """Return the head of an arrow, and its shaft unless it is shorter than the head."""
    length, rotation, color = arrow.length, arrow.rotation, arrow.color
    head = min(_HEAD_LENGTH * arrow.width, length)
    radius = _HEAD_RADIUS / _HEAD_LENGTH * head
    neck, is_clear = arrow.end - head * rotation[:, 2], color[3] < 1.0
    scale = (radius, radius, head)
    parts = [_Part(_Form("cone", is_clear), neck, rotation, scale, color)]
    if length > head:
        form, center = _Form("cylinder", is_clear), 0.5 * (arrow.start + neck)
        scale = (arrow.width, arrow.width, 0.5 * (length - head))
        parts.append(_Part(form, center, rotation, scale, color))
    return parts


def _part(shape: Shape) -> _Part:
    """Return the mesh of a shape, with its scale."""
    return _Part(_form(shape), shape.center, shape.rotation, _scale(shape), shape.color)


def _form(shape: Shape) -> _Form:
    is_clear = shape.color[3] < 1.0
    if shape.kind == "capsule":  # Scaling would distort its round ends.
        return _Form("capsule", is_clear, float(shape.size[0]), float(shape.size[1]))
    if shape.kind == "mesh":
        return _Form("mesh", is_clear, mesh=shape.mesh)
    return _Form("ellipsoid" if shape.kind == "sphere" else shape.kind, is_clear)


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
    """Return vertices and faces of a form, with half sizes of 1.

    A cone has radius and height 1, and the centre of its base at the origin.
    """
    if form.kind == "mesh":
        first, first_face = model.mesh_vertadr[form.mesh], model.mesh_faceadr[form.mesh]
        end = first + model.mesh_vertnum[form.mesh]
        end_face = first_face + model.mesh_facenum[form.mesh]
        return model.mesh_vert[first:end], model.mesh_face[first_face:end_face]
    if form.kind == "capsule":
        made = trimesh.creation.capsule(radius=form.radius, height=2.0 * form.half)
    elif form.kind == "cylinder":
        made = trimesh.creation.cylinder(radius=1.0, height=2.0)
    elif form.kind == "cone":
        made = trimesh.creation.cone(radius=1.0, height=1.0)
    elif form.kind == "box":
        made = trimesh.creation.box(extents=(2.0, 2.0, 2.0))
    else:
        made = trimesh.creation.icosphere(subdivisions=3)
    return np.asarray(made.vertices), np.asarray(made.faces)


def _colors(parts: Sequence[_Part]) -> np.ndarray:
    """Return colours in viser's format, shape (parts, 3), uint8.

    viser passes the colours of a batch to three.js as linear values, not as sRGB.
    """
    shares = np.array([part.color[:3] for part in parts])
    curved = ((shares + 0.055) / 1.055) ** 2.4
    linear = np.where(shares <= 0.04045, shares / 12.92, curved)
    return (255.0 * linear).round().astype(np.uint8)
