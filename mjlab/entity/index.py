"""Ids and addresses of an entity's elements in the tensors of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import torch

from mjlab.entity.base import MOCAP_BASE
from mjlab.names import match_names
from mjlab.spec.elements import KINDS, names_of, rows_of_runs
from mjlab.tensors.columns import Columns

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)

_ON_BODIES = ("jnt", "geom", "site", "cam", "light")
_TYPES = {int(value): kind for kind, value in KINDS.items()}
_TYPES[int(mujoco.mjtObj.mjOBJ_XBODY)] = "body"
_TRN = mujoco.mjtTrn
_TRANSMISSIONS = {
    **dict.fromkeys((int(_TRN.mjTRN_JOINT), int(_TRN.mjTRN_JOINTINPARENT)), "jnt"),
    **dict.fromkeys((int(_TRN.mjTRN_SITE), int(_TRN.mjTRN_SLIDERCRANK)), "site"),
    **{int(_TRN.mjTRN_TENDON): "tendon", int(_TRN.mjTRN_BODY): "body"},
}
_WRAP = mujoco.mjtWrap
_WRAPS = {
    **{int(_WRAP.mjWRAP_JOINT): "jnt", int(_WRAP.mjWRAP_SITE): "site"},
    **dict.fromkeys((int(_WRAP.mjWRAP_SPHERE), int(_WRAP.mjWRAP_CYLINDER)), "geom"),
}


@dataclass(frozen=True, eq=False)
class Elements:
    """All of an entity's elements of one kind, in the order of the model."""

    kind: str
    """Kind of element, in the singular: "joint"."""

    owner: str
    """The entity's name."""

    names: tuple[str, ...]
    """Names of the elements, without the entity's prefix."""

    columns: Columns
    """Ids of the elements in the model, which index the columns of model fields."""

    @property
    def ids(self) -> torch.Tensor:
        """Ids of the elements in the model, shape (len,), int64, on the device."""
        return self.columns.ids

    def __len__(self) -> int:
        return len(self.names)

    def find(
        self, patterns: str | Sequence[str], *, preserve_order: bool = False
    ) -> tuple[list[int], list[str]]:
        """Return local indices and names of the elements that match any pattern.

        Args:
            patterns: Regular expressions that match full names. Each must match at
                least one name.
            preserve_order: Follow the order of the patterns instead of the model.
        """
        found = match_names(
            patterns,
            self.names,
            what=self.kind,
            owner=self.owner,
            preserve_order=preserve_order,
        )
        return found, [self.names[index] for index in found]


class EntityIndex:
    """Names, ids and addresses of one entity in the compiled model.

    `joints` are the hinge and slide joints, with one value each. Ball joints have four
    values and are listed in `balls`. The free joint of a floating base is in neither.
    Indices are local to the entity, in the order of the model. Ids and addresses refer
    to the whole model.
    """

    def __init__(
        self,
        name: str,
        model: mujoco.MjModel,
        device: torch.device,
        root: str | None = None,
    ) -> None:
        """Find an entity by the prefix of its names, or by its root body `root`."""
        self.name = name
        self.prefix = f"{name}/" if root is None else ""
        """Prefix of its elements' names in the model."""
        self._tree = None if root is None else int(model.body(root).id)
        self._model = model
        self._device = device
        joints, bodies = self._owned("jnt"), self._owned("body")
        types = model.jnt_type
        scalar = [j for j in joints if int(types[j]) not in (_FREE, _BALL)]
        balls = [j for j in joints if int(types[j]) == _BALL]
        free = [j for j in joints if int(types[j]) == _FREE]
        placed = [b for b in bodies if int(model.body_mocapid[b]) >= 0]
        base = f"{self.prefix}{MOCAP_BASE}"
        links = [b for b in bodies if model.body(b).name != base]
        self.free_joint_id = free[0] if free else None
        """Id of the free joint, or None for a fixed base."""
        self.mocap_body_id = placed[0] if placed else None
        """Id of the mocap body that places a fixed base, or None."""
        self.root_body_id = self._root()
        """Id of the body whose frame is the root frame; 0 for the world frame."""
        elements = self._elements
        self.bodies = elements("body", "body", links)
        self.joints = elements("joint", "jnt", scalar)
        self.balls = elements("ball joint", "jnt", balls)
        self.geoms = self._all("geom", "geom")
        self.sites = self._all("site", "site")
        self.tendons = self._all("tendon", "tendon")
        self.actuators = self._all("actuator", "actuator")
        self.sensors = self._all("sensor", "sensor")
        self.cameras = self._all("camera", "cam")
        self.lights = self._all("light", "light")
        self.geom_bodies = self._bodies_of(model.geom_bodyid, self.geoms)
        """Id of the body of each geom, shape (number of geoms,), int64."""
        self.site_bodies = self._bodies_of(model.site_bodyid, self.sites)
        """Id of the body of each site, shape (number of sites,), int64."""
        self.tree_id = int(model.body_rootid[links[0]]) if links else 0
        """Id of the root body of the kinematic tree. MuJoCo's `cvel` is about the
        centre of mass of this tree."""
        self._bind_addresses(scalar, balls)

    def _bind_addresses(self, scalar: list[int], balls: list[int]) -> None:
        model = self._model
        qpos, dof = model.jnt_qposadr, model.jnt_dofadr

        def columns(starts: np.ndarray, lengths: np.ndarray | int = 1) -> Columns:
            return Columns.of(rows_of_runs(starts, lengths).tolist(), self._device)

        self.joint_qpos = columns(qpos[scalar])
        """Columns of the joints in qpos."""
        self.joint_dofs = columns(dof[scalar])
        """Columns of the joints in qvel."""
        self.ball_qpos = columns(qpos[balls], 4)
        """Columns of the ball joints in qpos, four per joint."""
        self.ball_dofs = columns(dof[balls], 3)
        """Columns of the ball joints in qvel, three per joint."""
        ids = self.actuators.ids.tolist()
        self.controls = columns(
            model.actuator_ctrladr[ids], model.actuator_ctrlnum[ids]
        )
        """Columns of the actuators in ctrl."""
        self.forces = columns(model.actuator_outadr[ids], model.actuator_outnum[ids])
        """Columns of the actuators in actuator_force."""
        lengths = np.maximum(model.actuator_actnum[ids], 0)
        self.activations = columns(model.actuator_actadr[ids], lengths)
        """Columns of the actuators in act."""

    def _bodies_of(self, body_ids: np.ndarray, elements: Elements) -> torch.Tensor:
        bodies = torch.from_numpy(body_ids.copy())
        return bodies.to(self._device, torch.int64)[elements.ids]

    def _root(self) -> int:
        if self.free_joint_id is not None:
            return int(self._model.jnt_bodyid[self.free_joint_id])
        return 0 if self.mocap_body_id is None else self.mocap_body_id

    def _owned(self, kind: str) -> list[int]:
        names = names_of(self._model, kind)
        if self._tree is None:
            return [i for i, name in enumerate(names) if name.startswith(self.prefix)]
        return [i for i in range(len(names)) if self._trees(kind, i) == {self._tree}]

    def _trees(self, kind: str, element: int) -> set[int]:
        """Return the root bodies that an element belongs to."""
        model = self._model
        if kind == "body":
            return {int(model.body_rootid[element])}
        if kind in _ON_BODIES:
            return self._trees("body", getattr(model, f"{kind}_bodyid")[element])
        if kind == "actuator":
            of = _TRANSMISSIONS.get(int(model.actuator_trntype[element]))
            to = int(model.actuator_trnid[element, 0])
            return set() if of is None else self._trees(of, to)
        if kind == "sensor":
            of, to = model.sensor_objtype[element], model.sensor_objid[element]
            return self._trees(_TYPES.get(int(of), ""), int(to))
        if kind == "tendon":
            start, size = model.tendon_adr[element], model.tendon_num[element]
            wraps = slice(start, start + size)
            parts = zip(model.wrap_type[wraps], model.wrap_objid[wraps], strict=True)
            known = [(_WRAPS[int(of)], int(to)) for of, to in parts if of in _WRAPS]
            return set().union(*(self._trees(of, to) for of, to in known))
        return set()

    def _all(self, what: str, kind: str) -> Elements:
        return self._elements(what, kind, self._owned(kind))

    def _elements(self, what: str, kind: str, ids: list[int]) -> Elements:
        full = names_of(self._model, kind)
        names = tuple(full[element].removeprefix(self.prefix) for element in ids)
        return Elements(what, self.name, names, Columns.of(ids, self._device))
