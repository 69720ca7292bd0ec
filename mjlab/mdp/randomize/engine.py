"""Randomising numbers of the model, world by world.

A term computes from the compiled value, never from the present one, so that applying it
again draws anew and does not drift. It writes only the numbers that its ranges cover:
two terms on different elements or axes of one field do not touch each other's. Where
two terms cover the same number, the one that ran last has its way.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT
from mjlab.mdp.randomize.distributions import (
    Axis,
    Choice,
    Distribution,
    Operation,
    RandomizeError,
    Ranges,
)
from mjlab.mdp.randomize.numbers import FieldNumbers, row_size
from mjlab.names import suggest
from mjlab.scene import SceneEntityCfg, Selection

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
"""What a model field has one row of, by the first word of its name."""


def chosen(params: dict[str, Any], env: Env) -> Selection:
    """The elements that a term's parameter `asset_cfg` names."""
    cfg: SceneEntityCfg = params.get("asset_cfg", ROBOT)
    return cfg.resolve(env.scene)


def kind_of(field: str) -> str:
    """What the model field `field` has one row of: "body" for "body_mass"."""
    word = field.split("_")[0]
    if word not in KINDS:
        raise RandomizeError(
            f"Model field {field!r} has no rows of an entity. {suggest(word, KINDS)}"
        )
    return KINDS[word]


def rows_of(selection: Selection, kind: str) -> tuple[list[str], list[int]]:
    """Names of the chosen elements of `kind`, and their rows in model fields."""
    if kind == "qpos":
        columns = selection.entity.index.joint_qpos.take(selection.joint_ids)
        return selection.joint_names, columns.ids.tolist()
    names = selection.joint_names if kind == "dof" else selection.names(kind)
    return names, selection.global_ids(kind).tolist()


class FieldTerm(ManagerTermBase):
    """Randomises a model field of an entity's elements; the base of named terms."""

    field: ClassVar[str]
    """The model field."""

    operation: ClassVar[Operation] = "scale"
    """What a number does to the compiled value, unless the user says otherwise."""

    axis_names: ClassVar[tuple[str, ...]] = ()
    """Names of a row's numbers, which `ranges` may use as keys."""

    default_axes: ClassVar[tuple[int, ...] | None] = None
    """Numbers of a row that a single range is about. None means all."""

    minimum: ClassVar[float | None] = None
    """Smallest number that makes sense. Bounded draws below it are an error when the
    term is built; gaussian draws are clamped to it."""

    mirrors: ClassVar[tuple[tuple[int, ...], ...] | None] = None
    """Numbers of a row that are one axis, for each axis."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term varies, known before the model is compiled."""
        return (cls.field,)

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        self._build(self.field, self.operation)

    def _build(self, field: str, operation: Operation) -> None:
        sim, params = self._env.sim, self.cfg.params
        # The error of a field that cannot vary lists those that can.
        sim.expand(field)
        self.selection = chosen(params, self._env)
        """The elements to choose from."""
        names, rows = rows_of(self.selection, kind_of(field))
        width = len(self.mirrors) if self.mirrors else row_size(sim, field)
        self.rows = rows
        """Their rows in the model's fields."""
        self.choice = Choice(
            names=names,
            num_axes=width,
            what=kind_of(field),
            label=type(self).__name__,
            axis_names=self.axis_names,
            default_axes=self.default_axes,
        )
        """What `ranges` chooses from."""
        self.numbers = FieldNumbers(
            sim,
            field,
            self.choice,
            rows,
            params,
            operation=operation,
            minimum=self.minimum,
            mirrors=self.mirrors,
        )
        """What is randomised."""

    def __call__(
        self,
        env: Env,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation | None = None,
        distribution: Distribution = "uniform",
        axes: Sequence[Axis] | None = None,
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw numbers and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            ranges: One range, or one for each axis or pattern of names.
            asset_cfg: The elements.
            operation: Replace ("abs"), multiply ("scale") or shift ("add") the compiled
                value. None takes what the term's description says.
            distribution: "uniform", "log_uniform", or "gaussian" with mean and standard
                deviation as the range.
            axes: Numbers of a row that a single range is about.
            shared: Whether all elements have the same draw.
            group: Terms of one group that happen together draw the same numbers before
                their ranges are applied, the i-th chosen element of each alike.
            stream: Name of the random numbers; the event manager gives one.
        """
        self._apply(mask, self.numbers.draw(env, stream_of(group, stream), ranges))

    def _apply(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        self.numbers.part.write(mask, values)


class ShiftTerm(FieldTerm):
    """Shifts elements along three axes; the base of named terms."""

    operation = "add"
    axis_names = ("x", "y", "z")


class ColorTerm(FieldTerm):
    """Sets colours of elements; the base of named terms."""

    operation = "abs"
    axis_names = ("r", "g", "b")
    minimum = 0.0


def stream_of(group: str | None, stream: str) -> str:
    """The stream that a term draws from: its own, or that of its group."""
    return stream if group is None else f"randomize/group/{group}"


class OptionTerm(ManagerTermBase):
    """Randomises an option of physics; the base of named terms."""

    option: ClassVar[str]
    """The option, as in `sim.model.opt.<option>`."""

    operation: ClassVar[Operation] = "abs"
    """What a number does to the compiled value, unless the user says otherwise."""

    axis_names: ClassVar[tuple[str, ...]] = ()
    """Names of its numbers, which `ranges` may use as keys."""

    minimum: ClassVar[float | None] = None
    """Smallest number that makes sense."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term varies, known before the model is compiled."""
        return (f"opt.{cls.option}",)

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        field = f"opt.{self.option}"
        choice = Choice(
            names=(field,),
            num_axes=row_size(env.sim, field),
            what="option",
            label=type(self).__name__,
            axis_names=self.axis_names,
        )
        self.numbers = FieldNumbers(
            env.sim,
            field,
            choice,
            [0],
            cfg.params,
            operation=self.operation,
            minimum=self.minimum,
        )
        """What is randomised."""

    def __call__(
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
        """Draw numbers and write them; the parameters are those of `FieldTerm`."""
        drawn = self.numbers.draw(env, stream_of(group, stream), ranges)
        self.numbers.part.write(mask, drawn)


class randomize_field(FieldTerm):
    """Randomises any model field of an entity's elements, named by `field`."""

    operation = "abs"

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Model fields that the term varies, known before the model is compiled."""
        return (params["field"],) if "field" in params else ()

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        ManagerTermBase.__init__(self, cfg, env)
        self._build(cfg.params["field"], self.operation)

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
        shared: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw numbers and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            field: The model field, such as "dof_damping".
            ranges: What `FieldTerm` takes; so are the other parameters.
            asset_cfg: The elements.
            operation: What is done to the compiled value; None replaces it.
            distribution: How the numbers are distributed.
            axes: Numbers of a row that a single range is about.
            shared: Whether all elements have the same draw.
            group: Name of a group of correlated terms.
            stream: Name of the random numbers; the event manager gives one.
        """
        self._apply(mask, self.numbers.draw(env, stream_of(group, stream), ranges))
