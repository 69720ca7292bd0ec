"""Resolve sampling ranges to elements and axes, and sample numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import torch

from mjlab.names import resolve_values, suggest
from mjlab.random import WorldRng

Distribution = Literal["uniform", "log_uniform", "gaussian"]
"""Distribution of numbers. A range is (lower, upper) for "uniform" and "log_uniform",
and (mean, standard deviation) for "gaussian"."""

Operation = Literal["abs", "scale", "add"]
"""Operation on the compiled value: replace, multiply or shift by a number."""

Number = TypeVar("Number", float, torch.Tensor)

Range: TypeAlias = tuple[float, float]
Axis: TypeAlias = int | str
Ranges: TypeAlias = Range | Mapping[Axis, Range | Mapping[Axis, Range]]
"""One range for all elements and axes; a range per axis (by index or name); or, per
name pattern, a range or ranges per axis. Elements and axes without a range keep their
value."""


def with_all_axes(ranges: Any, axes: Iterable[str]) -> Any:
    """Return the ranges, with (0, 0) for axes that have none."""
    if not isinstance(ranges, Mapping):
        return ranges
    return dict.fromkeys(axes, (0.0, 0.0)) | dict(ranges)


class RandomizeError(ValueError):
    """Raised for an invalid configuration of a randomisation term."""


@dataclass(frozen=True)
class Target:
    """One number of a model field to randomise, with its range."""

    element: int
    """Index among the chosen elements."""

    axis: int
    """Index among the element's numbers."""

    low: float
    """First number of the range: lower bound, or mean for "gaussian"."""

    high: float
    """Second number of the range: upper bound, or standard deviation."""


@dataclass(frozen=True)
class Choice:
    """Elements and axes that ranges can select."""

    names: Sequence[str]
    """Names of the elements."""

    num_axes: int
    """Number of axes (numbers) of an element."""

    what: str
    """Kind of the elements, such as "body"."""

    label: str
    """Name of the randomised quantity in messages, such as "geom_friction"."""

    axis_names: Sequence[str] = ()
    """Names of the axes, if any."""

    default_axes: Sequence[Axis] | None = None
    """Axes that a single range applies to. None means all."""

    def resolve(self, ranges: Any, axes: Sequence[Axis] | None = None) -> list[Target]:
        """Return the numbers to randomise, ordered by element, then by axis.

        Args:
            ranges: Ranges as given by the user.
            axes: Axes that a single range applies to, instead of the default axes.
        """
        if not self.names:
            raise RandomizeError(
                f"{self.label}: asset_cfg selects no {self.what}. Name at least one."
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
                f"{self.label}: `ranges` mixes axes and name patterns: {list(ranges)}. "
                "Nest them: {pattern: {axis: (low, high)}}."
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
                f"{self.label} has no axis {axis}; valid axes are 0 to "
                f"{self.num_axes - 1}."
            )
        return axis

    def _range(self, bounds: Any) -> Range:
        try:
            low, high = bounds
            return float(low), float(high)
        except (TypeError, ValueError):
            raise RandomizeError(
                f"{self.label}: {bounds!r} is not a range; write (low, high)."
            ) from None


def check_word(label: str, kind: str, word: str, valid: Any) -> None:
    """Raise unless `word`, such as the name of a distribution, is valid."""
    words = get_args(valid)
    if word not in words:
        raise RandomizeError(
            f"{label}: {kind}={word!r} is unknown. {suggest(str(word), words)}"
        )


def combined(operation: Operation, value: Number, default: Number) -> Number:
    """Apply an operation to a compiled value; in place if `value` is a tensor."""
    if operation == "scale":
        value *= default
    elif operation == "add":
        value += default
    return value


def check_bounds(
    label: str, targets: Sequence[Target], distribution: Distribution
) -> None:
    """Raise for ranges that are invalid for a distribution."""
    check_word(label, "distribution", distribution, Distribution)
    for low, high in sorted({(t.low, t.high) for t in targets}):
        if distribution == "gaussian":
            if not high >= 0.0:
                raise RandomizeError(
                    f"{label}: the range {(low, high)} of a gaussian is (mean, std); "
                    "std has to be 0 or more."
                )
            continue
        if not low <= high:
            raise RandomizeError(
                f"{label}: the range is {(low, high)}; it has to be (low, high) with "
                "low <= high."
            )
        if distribution == "log_uniform" and not low > 0.0:
            raise RandomizeError(
                f"{label}: the range {(low, high)} of a log_uniform distribution has "
                "to be positive."
            )


class Sampler:
    """Draws one random number per world and target."""

    def __init__(
        self,
        targets: Sequence[Target],
        label: str,
        device: torch.device,
        params: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Check the ranges and copy them to the device.

        Args:
            targets: Numbers to draw, with their ranges.
            label: Name of the numbers, for messages.
            device: Device of the numbers.
            params: Parameters of a term: `distribution` (default "uniform"),
                `shared_random` (default False), which uses one draw per axis for all
                elements, and `num_buckets` (default None), the number of different
                values.
        """
        self._distribution: Distribution = params.get("distribution", "uniform")
        check_bounds(label, targets, self._distribution)
        self._num_buckets: int | None = params.get("num_buckets")
        _check_buckets(label, self._num_buckets, self._distribution)
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
        """True if a draw can lie outside its range."""
        return self._distribution == "gaussian"

    def draw(
        self, rng: WorldRng, stream: str, live: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return numbers of shape (num_envs, targets), float32.

        Args:
            rng: Random number generator of the worlds.
            stream: Name of the random stream.
            live: Range that a curriculum changes, shape (2,), for all targets; None
                    uses the configured ranges.
        """
        first, second = self._first, self._second
        if live is not None:
            first, second = _origin_and_extent(live, self._distribution)
        if self._distribution == "gaussian":
            unit = rng.normal(0.0, 1.0, (self._size,), stream)
        else:
            unit = rng.draw(stream, (self._size,))
        if self._num_buckets is not None:
            # Map each draw to the middle of its bucket.
            unit = unit.mul_(self._num_buckets).floor_().add_(0.5)
            unit = unit.div_(self._num_buckets)
        if self._spreads:
            unit = unit.index_select(1, self._slots)
        if self._distribution != "log_uniform":
            return torch.addcmul(first, unit, second)
        # In float64, because the last bits of torch's vectorised float32 functions
        # depend on the number of rows.
        return (unit.double() * second + first).exp_().float()


def _check_buckets(
    label: str, num_buckets: int | None, distribution: Distribution
) -> None:
    if num_buckets is None:
        return
    if num_buckets < 1:
        raise RandomizeError(
            f"{label}: num_buckets is {num_buckets}; it has to be 1 or more."
        )
    if distribution == "gaussian":
        raise RandomizeError(
            f"{label}: a gaussian has no buckets; use distribution='uniform' or "
            "'log_uniform', or leave num_buckets out."
        )


def _origin_and_extent(
    bounds: torch.Tensor, distribution: Distribution
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return offset and factor that map a unit draw to the distribution.

    Args:
        bounds: Ranges, shape (..., 2).
        distribution: Distribution of the ranges.
    """
    low, high = bounds.unbind(dim=-1)
    if distribution == "gaussian":
        return low.float(), high.float()
    if distribution == "uniform":
        return low.float(), (high - low).float()
    low, high = low.double().log(), high.double().log()
    return low, high - low
