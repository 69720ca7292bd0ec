"""Select elements of a scene by name: the configuration, and the resolved ids."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from mjlab.entity import Entity
from mjlab.names import UnknownNameError, match_names, suggest
from mjlab.settings import Config
from mjlab.spec.elements import places_of
from mjlab.tensors.columns import Columns, LocalIds

if TYPE_CHECKING:
    from mjlab.scene.scene import Scene

Patterns = str | Sequence[str] | None

_ENTITY_KINDS = {
    "joint": "joints",
    "ball": "balls",
    "body": "bodies",
    "geom": "geoms",
    "site": "sites",
    "tendon": "tendons",
    "actuator": "actuators",
    "sensor": "sensors",
    "camera": "cameras",
    "light": "lights",
}
# Kinds that are not in an entity's index, because only randomisation uses them.
_MODEL_KINDS = {"pair": "pair", "material": "mat", "texture": "tex", "equality": "eq"}


@dataclass
class SceneEntityCfg(Config):
    """Selects an entity and some of its elements, by patterns that match whole names.

    None selects all elements of a kind.
    """

    name: str = "robot"
    """Name of the entity. The only field that can be a positional argument."""

    _: KW_ONLY

    joint_names: Patterns = None
    """Patterns of hinge and slide joints."""

    ball_names: Patterns = None
    """Patterns of ball joints."""

    body_names: Patterns = None
    """Patterns of bodies."""

    geom_names: Patterns = None
    """Patterns of geoms."""

    site_names: Patterns = None
    """Patterns of sites."""

    tendon_names: Patterns = None
    """Patterns of tendons."""

    actuator_names: Patterns = None
    """Patterns of actuators."""

    sensor_names: Patterns = None
    """Patterns of sensors of the entity's own model."""

    camera_names: Patterns = None
    """Patterns of cameras."""

    light_names: Patterns = None
    """Patterns of lights."""

    pair_names: Patterns = None
    """Patterns of explicit contact pairs of geoms."""

    material_names: Patterns = None
    """Patterns of materials."""

    texture_names: Patterns = None
    """Patterns of textures."""

    equality_names: Patterns = None
    """Patterns of equality constraints."""

    preserve_order: bool = False
    """Follow the order of the patterns instead of the order of the model."""

    def resolve(self, scene: "Scene") -> "Selection":
        """Find the named elements, or raise with the nearest names."""
        return Selection(self, scene)


def _ids(kind: str) -> "cached_property[LocalIds]":
    return cached_property(lambda selection: selection.ids(kind))


def _names(kind: str) -> "cached_property[list[str]]":
    return cached_property(lambda selection: selection.names(kind))


class Selection:
    """Selected elements of an entity, as indices for tensors.

    `joint_ids`, `body_ids` and so on are local to the entity, like the columns of its
    data: a slice if they are contiguous, else int64 indices on the device.
    `joint_names`, `body_names` and so on are the names of the same elements, and
    `global_ids` returns their ids in the compiled model.
    """

    def __init__(self, cfg: SceneEntityCfg, scene: "Scene") -> None:
        self.name = cfg.name
        """The entity's name."""
        self.entity: Entity = scene.entity(cfg.name)
        """The entity."""
        self._model = scene.sim.mj_model
        self._device = scene.sim.device
        self._patterns = {kind: getattr(cfg, f"{kind}_names") for kind in _all_kinds()}
        self._ordered = cfg.preserve_order
        for kind, patterns in self._patterns.items():
            if patterns is not None:
                self.indices(kind)  # Raises for unknown names.

    def indices(self, kind: str) -> list[int]:
        """Return local indices of the chosen elements of `kind`, such as "joint"."""
        names = self._names_of(kind)
        patterns = self._patterns[kind]
        if patterns is None:
            return list(range(len(names)))
        return match_names(
            patterns,
            names,
            what=kind,
            owner=self.name,
            preserve_order=self._ordered,
        )

    def names(self, kind: str) -> list[str]:
        """Return names of the chosen elements of `kind`, without the prefix."""
        names = self._names_of(kind)
        return [names[index] for index in self.indices(kind)]

    def ids(self, kind: str) -> LocalIds:
        """Return local indices of `kind`, as a slice if they are contiguous."""
        columns = Columns.of(self.indices(kind), self._device)
        return columns.ids if columns.run is None else columns.run

    def global_ids(self, kind: str) -> torch.Tensor:
        """Return ids of the chosen elements in the compiled model, int64.

        In addition to the named kinds, "dof" means the degrees of freedom of the chosen
        hinge and slide joints.
        """
        if kind == "dof":
            return self.entity.index.joint_dofs.ids[self._tensor("joint")]
        if kind in _ENTITY_KINDS:
            elements = getattr(self.entity.index, _ENTITY_KINDS[kind])
            return elements.ids[self._tensor(kind)]
        ids = torch.tensor(
            list(self._model_elements(kind).values()), device=self._device
        )
        return ids[self._tensor(kind)]

    joint_ids = _ids("joint")
    """Local ids of the chosen hinge and slide joints."""
    joint_names = _names("joint")
    """Names of the chosen hinge and slide joints."""
    body_ids = _ids("body")
    """Local ids of the chosen bodies."""
    body_names = _names("body")
    """Names of the chosen bodies."""
    geom_ids = _ids("geom")
    """Local ids of the chosen geoms."""
    geom_names = _names("geom")
    """Names of the chosen geoms."""
    site_ids = _ids("site")
    """Local ids of the chosen sites."""
    site_names = _names("site")
    """Names of the chosen sites."""
    tendon_ids = _ids("tendon")
    """Local ids of the chosen tendons."""
    tendon_names = _names("tendon")
    """Names of the chosen tendons."""
    actuator_ids = _ids("actuator")
    """Local ids of the chosen actuators."""
    actuator_names = _names("actuator")
    """Names of the chosen actuators."""

    def __eq__(self, other: object) -> bool:
        """True if `other` selects the same elements of the same entity."""
        if not isinstance(other, Selection) or other.entity is not self.entity:
            return False
        return self._patterns == other._patterns and self._ordered == other._ordered

    def __hash__(self) -> int:
        return hash(self.name)

    def _tensor(self, kind: str) -> torch.Tensor:
        return torch.tensor(self.indices(kind), dtype=torch.int64, device=self._device)

    def _names_of(self, kind: str) -> list[str]:
        if kind in _ENTITY_KINDS:
            return list(getattr(self.entity.index, _ENTITY_KINDS[kind]).names)
        if kind in _MODEL_KINDS:
            return list(self._model_elements(kind))
        raise UnknownNameError(
            f"There are no elements of kind {kind!r}. {suggest(kind, _all_kinds())}"
        )

    def _model_elements(self, kind: str) -> dict[str, int]:
        """Return the entity's elements of a kind: ids in the model, by local name."""
        return places_of(self._model, _MODEL_KINDS[kind], self.entity.index.prefix)


def _all_kinds() -> list[str]:
    return [*_ENTITY_KINDS, *_MODEL_KINDS]
