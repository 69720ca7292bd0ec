"""Randomising sizes of geoms, and the materials and textures that things have."""

from collections.abc import Sequence
from typing import Any, ClassVar

import mujoco
import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT
from mjlab.mdp.randomize.distributions import RandomizeError
from mjlab.mdp.randomize.engine import (
    FieldTerm,
    chosen,
    kind_of,
    rows_of,
    stream_of,
)
from mjlab.mdp.randomize.numbers import FieldPart
from mjlab.names import find_name
from mjlab.scene import SceneEntityCfg

_GEOM = mujoco.mjtGeom


# Sizes, with the bounding volumes of collision detection.


class geom_size(FieldTerm):
    """Scales sizes of primitive geoms, and what bounds them in collision detection."""

    field = "geom_size"
    axis_names = ("x", "y", "z")
    minimum = 0.0

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term varies, known before the model is compiled."""
        return ("geom_size", "geom_rbound", "geom_aabb")

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        model, device = env.sim.mj_model, env.device
        elements = sorted({target.element for target in self.numbers.targets})
        rows = [self.rows[element] for element in elements]
        types = [_GEOM(int(model.geom_type[row])) for row in rows]
        for element, kind in zip(elements, types, strict=True):
            if kind not in _BOUNDS:
                raise RandomizeError(
                    f"geom_size: {self.choice.names[element]!r} is a "
                    f"{kind.name.removeprefix('mjGEOM_').lower()}, whose size is not "
                    "its own. Boxes, spheres, capsules, cylinders and ellipsoids can "
                    "vary."
                )
        self._radius = FieldPart.rows(env.sim, "geom_rbound", rows)
        self._box = FieldPart.rows(env.sim, "geom_aabb", rows)
        # Where in the sizes of these geoms each drawn number goes.
        places = [elements.index(t.element) * 3 + t.axis for t in self.numbers.targets]
        self._places = torch.tensor(places, device=device)
        sizes = env.sim.default("geom_size")[rows]
        self._sizes = sizes.reshape(1, -1).expand(env.num_envs, -1)
        half, radius = zip(*(_BOUNDS[kind] for kind in types), strict=True)
        self._half = torch.tensor(half, device=device)
        choices = [[float(rule == r) for r in _RADIUS_RULES] for rule in radius]
        self._rules = torch.tensor(choices, device=device)
        self._centers = torch.zeros(env.num_envs, len(rows), 3, device=device)

    def _apply(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        super()._apply(mask, values)
        sizes = self._sizes.index_copy(1, self._places, values)
        sizes = sizes.view(values.shape[0], -1, 3)
        # Half extents of the bounding box: a sum of sizes for each axis.
        half = (sizes.unsqueeze(-2) * self._half).sum(dim=-1)
        x, y, z = sizes.unbind(dim=-1)
        radii = torch.stack(
            (
                x,
                x + y,
                (x * x + y * y).sqrt(),
                torch.maximum(torch.maximum(x, y), z),
                (x * x + y * y + z * z).sqrt(),
            ),
            dim=-1,
        )
        self._radius.write(mask, (radii * self._rules).sum(dim=-1))
        self._box.write(mask, torch.cat((self._centers, half), dim=-1).flatten(1))


_RADIUS_RULES = ("radius", "sum", "hypotenuse", "largest", "diagonal")
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_BOUNDS = {
    _GEOM.mjGEOM_SPHERE: ((_X, _X, _X), "radius"),
    _GEOM.mjGEOM_CAPSULE: ((_X, _X, (1.0, 1.0, 0.0)), "sum"),
    _GEOM.mjGEOM_CYLINDER: ((_X, _X, _Y), "hypotenuse"),
    _GEOM.mjGEOM_ELLIPSOID: ((_X, _Y, _Z), "largest"),
    _GEOM.mjGEOM_BOX: ((_X, _Y, _Z), "diagonal"),
}
"""Half extents of a geom's bounding box as factors of its sizes, and its radius."""


# Choices among things that have names.


class ChoiceTerm(ManagerTermBase):
    """Gives elements one of several things, such as materials."""

    field: ClassVar[str]
    """The model field, of ids."""

    role: ClassVar[int] = 0
    """Which of a row's ids is written, unless the parameters say so."""

    thing: ClassVar[str]
    """What is chosen, in the singular: "material"."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term varies, known before the model is compiled."""
        return (cls.field,)

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        label, params = type(self).__name__, cfg.params
        selection = chosen(params, env)
        names, rows = rows_of(selection, kind_of(self.field))
        if not names:
            raise RandomizeError(f"{label}: no {kind_of(self.field)} was chosen.")
        choices: Sequence[str] = params["choices"]
        if not choices:
            raise RandomizeError(f"{label}: `choices` is empty.")
        model = env.sim.mj_model
        count = model.nmat if self.thing == "material" else model.ntex
        accessor = model.mat if self.thing == "material" else model.tex
        known = [accessor(index).name for index in range(count)]
        ids = [_named(c, known, self.thing, selection.name) for c in choices]
        self._ids = torch.tensor(ids, dtype=torch.int32, device=env.device)
        role = params.get("role", self.role)
        width = env.sim.default(self.field)[0].numel()
        if not 0 <= role < width:
            raise RandomizeError(f"{label}: role={role} has to be 0 to {width - 1}.")
        self._part = FieldPart(env.sim, self.field, rows, [role] * len(rows))
        self._size = 1 if params.get("shared", False) else len(rows)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        choices: Sequence[str],
        asset_cfg: SceneEntityCfg = ROBOT,
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw one of the choices for each element, and write it.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            choices: Names to choose from, as in the entity's file or in the scene.
            asset_cfg: The elements.
            shared: Whether all elements get the same.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
        """
        self._write(env, mask, stream_of(group, stream))

    def _write(self, env: ManagedEnv, mask: torch.Tensor, stream: str) -> None:
        drawn = env.rng.integers(0, self._ids.shape[0], (self._size,), stream)
        ids = self._ids[drawn].expand(-1, self._part.default.shape[0])
        self._part.write(mask, ids)


class geom_matid(ChoiceTerm):
    """Gives geoms one of several materials."""

    field = "geom_matid"
    thing = "material"


class mat_texid(ChoiceTerm):
    """Gives materials one of several textures, in the role of the plain colour."""

    field = "mat_texid"
    thing = "texture"
    role = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        choices: Sequence[str],
        asset_cfg: SceneEntityCfg = ROBOT,
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
        role: int = role,
    ) -> None:
        """Draw one of the choices for each material, and write it.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            choices: Names of textures, as in the entity's file or in the scene.
            asset_cfg: The materials.
            shared: Whether all materials get the same.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
            role: Which of a material's textures, as in `mujoco.mjtTextureRole`.
        """
        self._write(env, mask, stream_of(group, stream))


def _named(name: str, known: Sequence[str], what: str, owner: str) -> int:
    own = f"{owner}/{name}"
    return find_name(own if own in known else name, known, what=what)
