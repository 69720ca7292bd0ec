"""Randomisation of orientations, limits, encoder bias, geom sizes and materials."""

from collections.abc import Sequence
from typing import Any, ClassVar

import mujoco
import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen
from mjlab.mdp.randomize.distributions import (
    Choice,
    Distribution,
    RandomizeError,
    Ranges,
    Sampler,
)
from mjlab.mdp.randomize.fields import FieldPart, FieldTerm, ModelTerm, stream_of
from mjlab.names import find_name
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.columns import Columns
from mjlab.tensors.math import quat_from_euler_xyz, quat_mul

_GEOM = mujoco.mjtGeom


# Orientations.


class QuatTerm(ModelTerm, axis_names=("roll", "pitch", "yaw")):
    """Rotate elements from their compiled orientation about their own axes, in rad."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        names, rows, kind = self.elements(self.field)
        label = type(self).__name__
        choice = Choice(
            names=names, num_axes=3, what=kind, label=label, axis_names=self.axis_names
        )
        targets = choice.resolve(cfg.params["ranges"])
        self._sampler = Sampler(targets, label, env.device, cfg.params)
        elements = sorted({target.element for target in targets})
        places = [elements.index(t.element) * 3 + t.axis for t in targets]
        self._places = torch.tensor(places, device=env.device)
        self._part = FieldPart.rows(env.sim, self.field, [rows[e] for e in elements])
        self._default = self._part.default.view(1, -1, 4)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        distribution: Distribution = "uniform",
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw angles and write orientations.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: One range, or one per axis or name pattern.
            asset_cfg: The elements.
            distribution: Distribution of the numbers.
            shared_random: Whether all elements have the same draw.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        drawn = self._sampler.draw(env.rng, stream_of(group, stream))
        angles = drawn.new_zeros(self.num_envs, self._default.shape[1] * 3)
        angles.index_copy_(1, self._places, drawn)
        roll, pitch, yaw = angles.view(self.num_envs, -1, 3).unbind(dim=-1)
        turned = quat_mul(self._default, quat_from_euler_xyz(roll, pitch, yaw))
        self._part.write(mask, turned.flatten(1))


# Lower and upper limits.


class LimitTerm(FieldTerm, axis_names=("lower", "upper")):
    """Randomise the lower and upper limit of each element, such as a joint's range."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        has_limits = getattr(env.sim.mj_model, self.field.replace("range", "limited"))
        for element in sorted({t.element for t in self.targets}):
            if not has_limits[self.rows[element]]:
                raise RandomizeError(
                    f"{self.choice.label}: the {self.choice.what} "
                    f"{self.choice.names[element]!r} has no limits to randomise."
                )
        self._check_order()

    def _check_order(self) -> None:
        """Raise if a lower limit can exceed its upper limit."""
        compiled = self._env.sim.default(self.field).tolist()
        limits = {
            (t.element, t.axis): extremes
            for t, extremes in zip(self.targets, self.extremes, strict=False)
        }
        for element in sorted({element for element, _ in limits}):
            row = compiled[self.rows[element]]
            lower = limits.get((element, 0), (row[0], row[0]))[1]
            upper = limits.get((element, 1), (row[1], row[1]))[0]
            if lower > upper:
                raise RandomizeError(
                    f"{self.choice.label}: the lower limit of "
                    f"{self.choice.names[element]!r} can become {lower:g}, above its "
                    f"upper limit of {upper:g}."
                )


# Encoders.


class encoder_bias(ManagerTermBase):
    """Set the bias that joint encoders add to observed positions."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        selection, label = chosen(cfg.params, env), "encoder_bias"
        names = selection.joint_names
        choice = Choice(names=names, num_axes=1, what="joint", label=label)
        targets = choice.resolve(cfg.params["bias_range"])
        self._sampler = Sampler(targets, label, env.device, cfg.params)
        indices = selection.indices("joint")
        self._columns = Columns.of([indices[t.element] for t in targets], env.device)
        self._entity = selection.entity

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        bias_range: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        distribution: Distribution = "uniform",
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw biases and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            bias_range: One range for all joints, or one per name pattern, in radians or
                metres.
            asset_cfg: The joints.
            distribution: Distribution of the numbers.
            shared_random: Whether all joints have the same draw.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        drawn = self._sampler.draw(env.rng, stream_of(group, stream))
        self._columns.write(self._entity.data.encoder_bias, mask, drawn)
        self._entity.data.invalidate()


# Sizes and bounding volumes for collision detection.


class geom_size(FieldTerm, field="geom_size", axis_names=("x", "y", "z"), minimum=0.0):
    """Scale sizes of primitive geoms and their bounding volumes for collision."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Return the size field and the bounding volume fields."""
        return ("geom_size", "geom_rbound", "geom_aabb")

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        model, device = env.sim.mj_model, env.device
        elements = sorted({target.element for target in self.targets})
        rows = [self.rows[element] for element in elements]
        types = [_GEOM(int(model.geom_type[row])) for row in rows]
        for element, kind in zip(elements, types, strict=True):
            if kind not in _BOUNDS:
                raise RandomizeError(
                    f"geom_size: {self.choice.names[element]!r} is a "
                    f"{kind.name.removeprefix('mjGEOM_').lower()}; only the size of "
                    "boxes, spheres, capsules, cylinders and ellipsoids can be "
                    "randomised."
                )
        self._radius = FieldPart.rows(env.sim, "geom_rbound", rows)
        self._box = FieldPart.rows(env.sim, "geom_aabb", rows)
        # Index of each drawn number in the sizes of these geoms.
        places = [elements.index(t.element) * 3 + t.axis for t in self.targets]
        self._places = torch.tensor(places, device=device)
        sizes = env.sim.default("geom_size")[rows]
        self._sizes = sizes.reshape(1, -1).expand(env.num_envs, -1)
        half, radius = zip(*(_BOUNDS[kind] for kind in types), strict=True)
        self._half = torch.tensor(half, device=device)
        choices = [[float(rule == r) for r in _RADIUS_RULES] for rule in radius]
        self._rules = torch.tensor(choices, device=device)
        self._centers = torch.zeros(env.num_envs, len(rows), 3, device=device)

    def _write(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        super()._write(mask, values)
        sizes = self._sizes.index_copy(1, self._places, values)
        sizes = sizes.view(values.shape[0], -1, 3)
        # Half extents of the bounding box: a weighted sum of sizes for each axis.
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
"""Factors from a geom's sizes to its bounding box half extents and radius."""


# Choices by name.


class ChoiceTerm(ModelTerm):
    """Base class of terms that assign one of several materials or textures."""

    role: ClassVar[int] = 0
    """Column of the field to write, if the parameters do not set `role`."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        label, params = type(self).__name__, cfg.params
        names, rows, kind = self.elements(self.field)
        if not names:
            raise RandomizeError(f"{label}: asset_cfg selects no {kind}.")
        choices: Sequence[str] = params["choices"]
        if not choices:
            raise RandomizeError(f"{label}: `choices` is empty; name at least one.")
        owner = chosen(params, env).name
        ids = [_id_of(name, self.field, owner, env.sim.mj_model) for name in choices]
        self._ids = torch.tensor(ids, dtype=torch.int32, device=env.device)
        role = params.get("role", self.role)
        width = env.sim.default(self.field)[0].numel()
        if not 0 <= role < width:
            raise RandomizeError(
                f"{label}: role={role} is out of range 0..{width - 1}."
            )
        self._part = FieldPart(env.sim, self.field, rows, [role] * len(rows))
        self._size = 1 if params.get("shared_random", False) else len(rows)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        choices: Sequence[str],
        asset_cfg: SceneEntityCfg = ROBOT,
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw one of the choices for each element, and write it.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            choices: Candidate names, from the entity's file or from the scene.
            asset_cfg: The elements.
            shared_random: Whether all elements get the same choice.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        name = stream_of(group, stream)
        drawn = env.rng.integers(0, self._ids.shape[0], (self._size,), name)
        ids = self._ids[drawn].expand(-1, self._part.default.shape[0])
        self._part.write(mask, ids)


class mat_texid(ChoiceTerm, field="mat_texid"):
    """Assign one of several textures to materials, by default in the RGB role."""

    role = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        choices: Sequence[str],
        asset_cfg: SceneEntityCfg = ROBOT,
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
        role: int = role,
    ) -> None:
        """Draw one of the choices for each material, and write it.

        `role` selects one of the material's textures, as in `mujoco.mjtTextureRole`.
        See `ChoiceTerm` for the other parameters.
        """
        super().__call__(env, mask, choices, group=group, stream=stream)


def _id_of(name: str, field: str, owner: str, model: mujoco.MjModel) -> int:
    """Return the id of a material or texture from the entity's file or the scene."""
    if field == "geom_matid":
        what, known = "material", [model.mat(i).name for i in range(model.nmat)]
    else:
        what, known = "texture", [model.tex(i).name for i in range(model.ntex)]
    own = f"{owner}/{name}"
    return find_name(own if own in known else name, known, what=what)
