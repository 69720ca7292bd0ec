"""Ranges, what they cover, and the random numbers that are drawn from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import torch

from mjlab.names import resolve_values, suggest
from mjlab.random import WorldRng

Distribution = Literal["uniform", "log_uniform", "gaussian"]
"""Distributions of numbers. A range is the bounds of a uniform one (of the number, or
of its logarithm), and mean and standard deviation of a gaussian one."""

Operation = Literal["abs", "scale", "add"]
"""Changes of the compiled value by a number: replace, multiply or shift it."""

Number = TypeVar("Number", float, torch.Tensor)

Range: TypeAlias = tuple[float, float]
Axis: TypeAlias = int | str
Ranges: TypeAlias = Range | Mapping[Axis, Range | Mapping[Axis, Range]]
"""One range for everything, or one for each axis (by number or name), or one (or one
for each axis) for the elements that a pattern matches. What no key covers is left."""


def with_all_axes(ranges: Any, axes: Iterable[str]) -> Any:
    """Return ranges in which axes without one have the range (0, 0)."""
    if not isinstance(ranges, Mapping):
        return ranges
    return dict.fromkeys(axes, (0.0, 0.0)) | dict(ranges)


class RandomizeError(ValueError):
    """A randomisation that has no meaning."""


@dataclass(frozen=True)
class Target:
    """One number to randomise."""

    element: int
    """Place among the chosen elements."""

    axis: int
    """Which of the element's numbers."""

    low: float
    """First number of the range."""

    high: float
    """Second number of the range."""


@dataclass(frozen=True)
class Choice:
    """Elements by name, and their numbers by axis, that ranges choose from."""

    names: Sequence[str]
    """Names of the elements."""

    num_axes: int
    """Count of an element's numbers."""

    what: str
    """Kind of the elements, in the singular: "body"."""

    label: str
    """Name of the numbers, for messages: "geom_friction"."""

    axis_names: Sequence[str] = ()
    """Names of the axes, if they have any."""

    default_axes: Sequence[Axis] | None = None
    """Axes that a single range is about. None means all."""

    def resolve(self, ranges: Any, axes: Sequence[Axis] | None = None) -> list[Target]:
        """Return what `ranges` covers, in the order of elements, then axes.

        Args:
            ranges: What the user wrote.
            axes: Axes that a single range is about, instead of the default ones.
        """
        if not self.names:
            raise RandomizeError(
                f"{self.label}: no {self.what} was chosen, so nothing would be "
                "randomised. Name some in `asset_cfg`."
            )
        per_element: Sequence[Any] = [ranges] * len(self.names)
        if isinstance(ranges, Mapping) and not self._is_by_axis(ranges):
            per_element = resolve_values(ranges, self.names, what=self.what)
        return [
            Target(element, axis, *bounds)
            for element, own in enumerate(per_element)
            if own is not None
            for axis, bounds in sorted(self._by_axis(own, axes).items())
        ]

    def _is_by_axis(self, ranges: Mapping[Any, Any]) -> bool:
        by_axis = [isinstance(k, int) or k in self.axis_names for k in ranges]
        if any(by_axis) and not all(by_axis):
            raise RandomizeError(
                f"{self.label}: `ranges` mixes axes and patterns: {list(ranges)}. Put "
                "axes inside the patterns."
            )
        return bool(by_axis) and all(by_axis)

    def _by_axis(self, ranges: Any, axes: Sequence[Axis] | None) -> dict[int, Range]:
        if isinstance(ranges, Mapping):
            return {self._axis(a): self._range(r) for a, r in ranges.items()}
        chosen = self.default_axes if axes is None else axes
        if chosen is None:
            chosen = range(self.num_axes)
        bounds = self._range(ranges)
        return {self._axis(axis): bounds for axis in chosen}

    def _axis(self, axis: Axis) -> int:
        if isinstance(axis, str):
            if axis not in self.axis_names:
                hint = suggest(axis, self.axis_names)
                raise RandomizeError(f"{self.label} has no axis {axis!r}. {hint}")
            return list(self.axis_names).index(axis)
        if not 0 <= axis < self.num_axes:
            raise RandomizeError(
                f"{self.label} has no axis {axis}: its axes are 0 to "
                f"{self.num_axes - 1}."
            )
        return axis

    def _range(self, bounds: Any) -> Range:
        try:
            low, high = bounds
            return float(low), float(high)
        except (TypeError, ValueError):
            raise RandomizeError(
                f"{self.label}: {bounds!r} is no range; write two numbers, (low, high)."
            ) from None


def check_word(label: str, kind: str, word: str, valid: Any) -> None:
    """Raise unless a word, such as a distribution's name, is one of the valid ones."""
    words = get_args(valid)
    if word not in words:
        raise RandomizeError(
            f"{label}: {kind}={word!r} is unknown. {suggest(str(word), words)}"
        )


def combined(operation: Operation, value: Number, default: Number) -> Number:
    """Return what a number, or a tensor, in place, makes of the compiled value."""
    if operation == "scale":
        value *= default
    elif operation == "add":
        value += default
    return value


def check_bounds(
    label: str, targets: Sequence[Target], distribution: Distribution
) -> None:
    """Raise for ranges that a distribution cannot be drawn from."""
    check_word(label, "distribution", distribution, Distribution)
    for low, high in sorted({(t.low, t.high) for t in targets}):
        if distribution == "gaussian":
            if not high >= 0.0:
                raise RandomizeError(
                    f"{label}: the range {(low, high)} of a gaussian is mean and "
                    "standard deviation, and the latter is negative."
                )
            continue
        if not low <= high:
            raise RandomizeError(
                f"{label}: the range {(low, high)} is upside down: its lower bound is "
                "above its upper bound."
            )
        if distribution == "log_uniform" and not low > 0.0:
            raise RandomizeError(
                f"{label}: the range {(low, high)} of a log_uniform distribution has "
                "to be positive."
            )


class Sampler:
    """Draws one number a world for each target."""

    def __init__(
        self,
        targets: Sequence[Target],
        label: str,
        device: torch.device,
        params: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Check the ranges and put them on the device.

        Args:
            targets: What to draw for.
            label: What is drawn, for messages.
            device: Where the numbers lie.
            params: A term's parameters, of which `distribution` says how the numbers
                are distributed ("uniform"), and `shared_random` whether all elements
                have the same draw on an axis (False).
        """
        self._distribution: Distribution = params.get("distribution", "uniform")
        check_bounds(label, targets, self._distribution)
        axes = sorted({target.axis for target in targets})
        shared = params.get("shared_random", False)
        self._size = len(axes) if shared else len(targets)
        slots = [axes.index(target.axis) for target in targets]
        self._slots = torch.tensor(slots, device=device)
        self._spreads = shared and slots != list(range(len(slots)))
        bounds = [(target.low, target.high) for target in targets]
        exact = torch.tensor(bounds, dtype=torch.float64, device=device)
        self._first, self._second = _origin_and_extent(exact, self._distribution)

    @property
    def is_unbounded(self) -> bool:
        """True if a draw may lie outside of its range."""
        return self._distribution == "gaussian"

    def draw(
        self, rng: WorldRng, stream: str, live: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return numbers of shape (num_envs, targets), float32.

        Args:
            rng: The worlds' random numbers.
            stream: Name of the draw.
            live: A range that may change while training, shape (2,), instead of those
                given.
        """
        first, second = self._first, self._second
        if live is not None:
            first, second = _origin_and_extent(live, self._distribution)
        if self._distribution == "gaussian":
            unit = rng.normal(0.0, 1.0, (self._size,), stream)
        else:
            unit = rng.draw(stream, (self._size,))
        if self._spreads:
            unit = unit.index_select(1, self._slots)
        if self._distribution != "log_uniform":
            return torch.addcmul(first, unit, second)
        # In float64, since torch's vectorised float32 functions depend in their last
        # bits on how many rows there are.
        return (unit.double() * second + first).exp_().float()


def _origin_and_extent(
    bounds: torch.Tensor, distribution: Distribution
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what is added to a unit number, after what it is multiplied with.

    Args:
        bounds: Ranges, shape (..., 2).
        distribution: What the ranges are of.
    """
    low, high = bounds.unbind(dim=-1)
    if distribution == "gaussian":
        return low.float(), high.float()
    if distribution == "uniform":
        return low.float(), (high - low).float()
    low, high = low.double().log(), high.double().log()
    return low, high - low
