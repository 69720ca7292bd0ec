"""Randomisation of model fields per world: base classes of the terms in `dr`.

A term is applied to the compiled value, not to the current value, so repeated use does
not drift. It writes only the numbers that its ranges cover, so terms on different
elements or axes of a field are independent. If two terms cover the same number, the
term that runs last overwrites the other.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen
from mjlab.mdp.randomize.distributions import (
    Axis,
    Choice,
    Distribution,
    Operation,
    RandomizeError,
    Ranges,
    Sampler,
    Target,
    check_word,
    combined,
)
from mjlab.names import suggest
from mjlab.scene import SceneEntityCfg, Selection
from mjlab.sim import Simulation
from mjlab.tensors.columns import Columns

KINDS = {
    "body": "body",
    "jnt": "joint",
    "dof": "dof",
    "qpos0": "qpos",
    "qpos": "qpos",
    "geom": "geom",
    "site": "site",
    "cam": "camera",
    "light": "light",
    "tendon": "tendon",
    "actuator": "actuator",
    "pair": "pair",
    "mat": "material",
    "eq": "equality",
}
"""Kind of element of a model field's rows, by the first word of the field's name."""


def kind_of(field: str) -> str:
    """Return the kind of element of a field's rows, such as "body" for "body_mass"."""
    word = field.split("_")[0]
    if word not in KINDS:
        raise RandomizeError(
            f"Model field {field!r} has no element kind. {suggest(word, KINDS)}"
        )
    return KINDS[word]


def rows_of(selection: Selection, kind: str) -> tuple[list[str], list[int]]:
    """Return the names of the chosen elements of a kind, and their rows in fields."""
    if kind == "qpos":
        columns = selection.entity.index.joint_qpos.take(selection.joint_ids)
        return selection.joint_names, columns.ids.tolist()
    names = selection.joint_names if kind == "dof" else selection.names(kind)
    return names, selection.global_ids(kind).tolist()


def row_size(sim: Simulation, field: str) -> int:
    """Return the number of columns of a model field."""
    shape = sim.default(field).shape
    return math.prod(shape if field.startswith("opt.") else shape[1:])


def stream_of(group: str | None, stream: str) -> str:
    """Return the random stream of a term's group, or of the term without a group."""
    return stream if group is None else f"randomize/group/{group}"


class FieldPart:
    """Selected numbers of a model field, in every world."""

    def __init__(
        self, sim: Simulation, field: str, rows: Sequence[int], axes: Sequence[int]
    ) -> None:
        """Locate the numbers, and expand the field to one value per world.

        Args:
            sim: The simulation.
            field: The model field; `opt.<name>` for options.
            rows: Row of each number; 0 for options.
            axes: Column of each number.
        """
        for row in rows:
            owner = sim.chosen_by(field, row)
            if owner is not None:
                raise RandomizeError(
                    f"{field} differs between the options of entity {owner!r}, so it "
                    "cannot be randomised too. Give all options the same value, or "
                    "add options with other values."
                )
        sim.expand(field)
        self._sim = sim
        self._field = field
        width = row_size(sim, field)
        places = [row * width + axis for row, axis in zip(rows, axes, strict=True)]
        self._columns = Columns.of(places, sim.device)
        self.default = sim.default(field).reshape(-1)[self._columns.ids]
        """The compiled numbers, shape (len,)."""

    @classmethod
    def rows(cls, sim: Simulation, field: str, rows: Sequence[int]) -> "FieldPart":
        """Select all columns of the given rows of a model field."""
        width = row_size(sim, field)
        repeated = [row for row in rows for _ in range(width)]
        return cls(sim, field, repeated, list(range(width)) * len(rows))

    def write(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values`, shape (num_envs, len), in the worlds of `mask`."""
        live = self._sim.model[self._field]
        self._columns.write(live.view(live.shape[0], -1), mask, values)


class ModelTerm(ManagerTermBase):
    """Base class of terms that randomise one model field.

    Subclasses set the class variables below as class arguments: `field="body_mass"`.
    """

    field: ClassVar[str]
    """Name of the model field, such as "body_mass"."""

    operation: ClassVar[Operation] = "scale"
    """Default operation on the compiled value."""

    axis_names: ClassVar[tuple[str, ...]] = ()
    """Names of the field's columns, valid as keys of `ranges`."""

    default_axes: ClassVar[tuple[int, ...] | None] = None
    """Columns that a single range applies to. None means all."""

    minimum: ClassVar[float | None] = None
    """Smallest valid number. Bounded ranges below it raise when the term is built;
    gaussian draws are clamped to it."""

    mirrors: ClassVar[tuple[tuple[int, ...], ...] | None] = None
    """For each axis, the columns that get the number drawn for it."""

    def __init_subclass__(cls, **constants: Any) -> None:
        super().__init_subclass__()
        for name, value in constants.items():
            if name not in ModelTerm.__annotations__:
                raise TypeError(
                    f"{cls.__name__}: class argument {name}={value!r} is unknown."
                )
            setattr(cls, name, value)

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Return the model fields that the term varies, before compilation."""
        return (cls.field,)

    def elements(self, field: str) -> tuple[list[str], list[int], str]:
        """Return names, rows and kind of the chosen elements of a field."""
        kind = kind_of(field)
        return *rows_of(chosen(self.cfg.params, self._env), kind), kind


class FieldTerm(ModelTerm):
    """Randomise a model field of an entity's elements; base class of most terms."""

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        self._resolve(self._field_of(cfg.params))

    def _field_of(self, params: dict[str, Any]) -> str:
        return self.field

    def _resolve(self, field: str) -> None:
        """Resolve the ranges, and check the values that they can produce."""
        sim, params = self._env.sim, self.cfg.params
        # `expand` raises for a field that cannot vary, and lists the fields that can.
        sim.expand(field)
        names, self.rows, kind = self.elements(field)
        self.choice = Choice(
            names=names,
            num_axes=len(self.mirrors) if self.mirrors else row_size(sim, field),
            what=kind,
            label=type(self).__name__,
            axis_names=self.axis_names,
            default_axes=self.default_axes,
        )
        """Elements and axes that `ranges` can select."""
        self._operation: Operation = params.get("operation") or self.operation
        check_word(self.choice.label, "operation", self._operation, Operation)
        self.targets = self.choice.resolve(params["ranges"], params.get("axes"))
        """Numbers that are drawn."""
        self._sampler = Sampler(self.targets, self.choice.label, sim.device, params)
        places = [
            (slot, self.rows[target.element], axis)
            for slot, target in enumerate(self.targets)
            for axis in (self.mirrors[target.axis] if self.mirrors else (target.axis,))
        ]
        slots, rows, axes = zip(*places, strict=True)
        self.part = FieldPart(sim, field, rows, axes)
        """Location of the numbers in the model."""
        self._slots = torch.tensor(slots, device=sim.device)
        self._spreads = len(slots) > len(self.targets)
        self._clamps = self.minimum is not None and self._sampler.is_unbounded
        self.extremes = self._extremes([self.targets[slot] for slot in slots])
        """Smallest and largest value of each number, if bounded."""

    def _extremes(self, targets: Sequence[Target]) -> list[tuple[float, float]]:
        if self._sampler.is_unbounded:
            return []
        extremes = []
        for target, default in zip(targets, self.part.default.tolist(), strict=True):
            bounds = (target.low, target.high)
            ends = sorted(combined(self._operation, bound, default) for bound in bounds)
            if self.minimum is not None and ends[0] < self.minimum:
                raise RandomizeError(
                    f"{self.choice.label}: the range {bounds} with "
                    f"operation={self._operation!r} can set the value of "
                    f"{self.choice.names[target.element]!r} to {ends[0]:g}; it has "
                    f"to be {self.minimum:g} or more."
                )
            extremes.append((ends[0], ends[1]))
        return extremes

    def __call__(
        self,
        env: Env,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation | None = None,
        distribution: Distribution = "uniform",
        axes: Sequence[Axis] | None = None,
        shared_random: bool = False,
        num_buckets: int | None = None,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw numbers and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: One range, or one per axis or name pattern.
            asset_cfg: The elements.
            operation: Replace ("abs"), multiply ("scale") or shift ("add") the compiled
                value. None uses the default of the term.
            distribution: "uniform", "log_uniform", or "gaussian" with mean and standard
                deviation as the range.
            axes: Columns that a single range applies to.
            shared_random: Whether all elements have the same draw.
            num_buckets: Number of equal parts of the range (of its logarithm for
                "log_uniform"); values are drawn from their middles. None draws any
                value.
            group: Name of a group of correlated terms. Terms of a group that run
                together use the same random numbers for their i-th target.
            stream: Name of the random stream, set by the event manager.
        """
        self._write(mask, self.draw(stream_of(group, stream), ranges))

    def draw(self, stream: str, ranges: Any) -> torch.Tensor:
        """Return new values, shape (num_envs, numbers)."""
        live = ranges if isinstance(ranges, torch.Tensor) else None
        drawn = self._sampler.draw(self._env.rng, stream, live)
        if self._spreads:
            drawn = drawn.index_select(1, self._slots)
        drawn = combined(self._operation, drawn, self.part.default)
        if self._clamps or (live is not None and self.minimum is not None):
            drawn = drawn.clamp_(min=self.minimum)
        return drawn

    def _write(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        self.part.write(mask, values)


class ShiftTerm(FieldTerm, operation="add", axis_names=("x", "y", "z")):
    """Base class of terms that shift elements along three axes."""


class ColorTerm(FieldTerm, operation="abs", axis_names=("r", "g", "b"), minimum=0.0):
    """Base class of terms that set colours of elements."""


class OptionTerm(FieldTerm, operation="abs"):
    """Base class of terms that randomise a physics option, `opt.<name>`."""

    def elements(self, field: str) -> tuple[list[str], list[int], str]:
        """Return the option, which has one row."""
        return [field], [0], "option"

    def __call__(  # type: ignore[override]
        self,
        env: Env,
        mask: torch.Tensor,
        ranges: Ranges,
        operation: Operation | None = None,
        distribution: Distribution = "uniform",
        axes: Sequence[Axis] | None = None,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw numbers and write them. See `FieldTerm` for the parameters."""
        super().__call__(env, mask, ranges, group=group, stream=stream)


class randomize_field(FieldTerm, operation="abs"):
    """Randomise any model field of an entity's elements, named by `field`."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Return the field that the parameters name."""
        return (params["field"],) if "field" in params else ()

    def _field_of(self, params: dict[str, Any]) -> str:
        return params["field"]

    def __call__(  # type: ignore[override]
        self,
        env: Env,
        mask: torch.Tensor,
        field: str,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation | None = None,
        distribution: Distribution = "uniform",
        axes: Sequence[Axis] | None = None,
        shared_random: bool = False,
        num_buckets: int | None = None,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw numbers of the model field `field`, such as "dof_damping"; write them.

        See `FieldTerm` for the other parameters.
        """
        super().__call__(env, mask, ranges, group=group, stream=stream)
