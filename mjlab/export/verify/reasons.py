"""Find the likely reason why measured numbers differ from expected numbers.

Tested are order, lever arm, frame, sign, degrees, default offset, delay, scale and
constant offset.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

Values = np.ndarray
DEGREES = 180.0 / math.pi

_LEFT = 0.25
"""Maximum fraction of the error that a correction can leave."""


@dataclass(frozen=True)
class Departure:
    """Measured and expected values of one quantity, and the tolerance between them."""

    found: Values
    """Measured values, shape (steps, n)."""

    expected: Values
    """Expected values, shape (steps, n)."""

    names: Sequence[str]
    """Names of the n elements."""

    default: Values | None = None
    """Default joint positions, shape (n,); None for other quantities."""

    turns: Values | None = None
    """Orientation of the robot's root in the world, shape (steps, 3, 3)."""

    rough: float = 1e-3
    """Tolerance, as a fraction of `size`."""

    most: float = 0.98
    """Minimum fraction of the numbers that must agree."""

    spin: Values | None = None
    """Angular velocity in the root's frame, rad/s, shape (steps, 3), if the quantity is
    a linear velocity measured on the root."""

    def same(self, found: Values, expected: Values) -> bool:
        """Return whether two arrays agree within the tolerance."""
        size = self.size + 1e-6
        away = np.abs(found - expected)
        return (
            bool(np.quantile(away, self.most) <= self.rough * size)
            if away.size
            else True
        )

    def explains(self, found: Values, expected: Values) -> bool:
        """Return whether a correction gives agreement and removes most of the error.

        The second condition matters for errors near the tolerance: there, many wrong
        corrections give agreement.
        """
        if not self.same(found, expected):
            return False
        left, before = np.abs(found - expected), np.abs(self.found - self.expected)
        return bool(
            np.quantile(left, self.most) <= _LEFT * np.quantile(before, self.most)
        )

    @property
    def size(self) -> float:
        """Largest absolute expected value, without outliers."""
        return float(np.quantile(np.abs(self.expected), (1.0 + self.most) / 2.0))

    @property
    def wrong(self) -> list[int]:
        """Columns that differ."""
        pairs = zip(self.found.T, self.expected.T, strict=True)
        return [i for i, (one, other) in enumerate(pairs) if not self.same(one, other)]

    def of(self, columns: Sequence[int]) -> "Departure":
        """Return the departure of these columns, with the tolerance of all columns."""
        chosen = list(columns)
        default = None if self.default is None else self.default[chosen]
        names = [self.names[i] for i in chosen]
        found, expected = self.found[:, chosen], self.expected[:, chosen]
        # Keep the absolute tolerance: columns with small values must not get a
        # smaller one.
        part = Departure(found, expected, names, default, self.turns, 1.0, self.most)
        rough = self.rough * self.size / (part.size + 1e-9)
        return replace(part, rough=rough)


def likeliest(departure: Departure) -> str | None:
    """Return the most likely reason, as text; None if none explains the numbers."""
    wrong = departure.wrong
    if not wrong:
        return None
    ordered = _order(departure)
    if ordered is not None:
        return ordered
    if departure.found.shape[1] == 3:
        shifted = _lever(departure)
        if shifted is not None:
            return shifted
        turned = next(_frames(departure), None)
        # Three negated numbers mean a wrong sign, not a rotated frame.
        if turned is not None and _sign(departure.of(wrong)) is None:
            return turned
    for reason in _REASONS:
        said = reason(departure.of(wrong))
        if said is not None:
            return f"{said} ({_listed(departure.names, wrong)})"
    return None


def _listed(names: Sequence[str], columns: Sequence[int]) -> str:
    said = [names[i] for i in columns]
    more = f" and {len(said) - 3} more" if len(said) > 3 else ""
    return ", ".join(said[:3]) + more


def _order(d: Departure) -> str | None:
    places: dict[int, int] = {}
    for i in d.wrong:
        same = [j for j in range(d.found.shape[1]) if _is_column(d, j, i)]
        free = [j for j in same if j not in places.values()]
        if not free:
            return None
        places[i] = min(free, key=partial(_distance, d, i))
    moved = {i: j for i, j in places.items() if i != j}
    if not moved:
        return None
    last = [name.rpartition("_")[2] for name in d.names]
    quat = last.index("w") if set("wxyz") <= set(last) else None
    if quat is not None and set(moved) == set(range(quat, quat + 4)):
        return "order of a quaternion: wxyz against xyzw"
    i, j = next(iter(moved.items()))
    return (
        f"order: {d.names[i]} is where {d.names[j]} should be; {len(moved)} of "
        f"{len(d.names)} are out of order"
    )


def _distance(d: Departure, expected: int, found: int) -> float:
    """Return the mean difference of two columns, to choose among similar columns."""
    return float(np.abs(d.found[:, found] - d.expected[:, expected]).mean())


def _is_column(d: Departure, found: int, expected: int) -> bool:
    column = d.expected[:, expected]
    return bool(np.any(column)) and d.same(d.found[:, found], column)


def _centres(d: Departure) -> Iterator[Values]:
    """Yield the points about which values can be negated or scaled.

    They are zero and, for joint positions, the default pose.
    """
    yield np.zeros(d.found.shape[1])
    if d.default is not None:
        yield d.default


def _sign(d: Departure) -> str | None:
    for centre in _centres(d):
        if d.explains(d.found - centre, centre - d.expected):
            return "sign: found the negative"
    return None


def _degrees(d: Departure) -> str | None:
    for centre in _centres(d):
        found, expected = d.found - centre, d.expected - centre
        if d.explains(found / DEGREES, expected):
            return "degrees: found degrees instead of radians"
        if d.explains(found, expected / DEGREES):
            return "degrees: radians were interpreted as degrees"
    return None


def _default(d: Departure) -> str | None:
    if d.default is None or not d.default.any():
        return None
    if d.explains(d.found + d.default, d.expected):
        return "default offset: the default position is missing"
    if d.explains(d.found - d.default, d.expected):
        return "default offset: the default position is added once too often"
    return None


def _delay(d: Departure) -> str | None:
    if np.ptp(d.expected, axis=0).max() < 10.0 * d.rough * d.size:
        return None  # For nearly constant values, any delay fits.
    for late in range(1, 6):
        if d.explains(d.found[late:], d.expected[:-late]):
            return f"delay: it is {late} control step{'s' * (late > 1)} late"
        if d.explains(d.found[:-late], d.expected[late:]):
            return f"delay: it is {late} control step{'s' * (late > 1)} early"
    return None


def _scale(d: Departure) -> str | None:
    for centre in _centres(d):
        found, expected = d.found - centre, d.expected - centre
        square = (expected * expected).sum(axis=0)
        factors = (found * expected).sum(axis=0) / np.maximum(square, 1e-12)
        if not d.explains(found, factors * expected):
            continue
        low, high = factors.min(), factors.max()
        about = (
            f"{low:.4g}"
            if high - low < 1e-2 * abs(high)
            else f"{low:.4g} to {high:.4g}"
        )
        return f"scale: found {about} times the expected value"
    return None


def _offset(d: Departure) -> str | None:
    away = np.median(d.found - d.expected, axis=0)
    if not d.explains(d.found - away, d.expected):
        return None
    return f"offset: constant error of {np.abs(away).max():.4g}"


_REASONS: tuple[Callable[[Departure], str | None], ...] = (
    _sign,
    _degrees,
    _default,
    _delay,
    _scale,
    _offset,
)


def _frames(d: Departure) -> Iterator[str]:
    """Yield rotations of the vector's frame that explain the measured values."""
    if d.turns is not None:
        turned = np.einsum("tij,tj->ti", d.turns, d.expected)
        if d.explains(d.found, turned):
            yield "frame: found world axes instead of the robot's axes"
        if d.explains(np.einsum("tji,tj->ti", d.turns, d.expected), d.found):
            yield "frame: found the robot's axes instead of world axes"
    left, sizes, right = np.linalg.svd(d.found.T @ d.expected)
    if sizes[1] < 1e-5 * sizes[0]:
        return  # Parallel vectors do not determine the rotation about their axis.
    flip = np.diag([1.0, 1.0, np.linalg.det(left @ right)])
    turn = left @ flip @ right
    if d.explains(d.found, d.expected @ turn.T):
        angle = math.degrees(
            math.acos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0))
        )
        yield f"frame: found axes rotated by {angle:.0f} degrees"


def _lever(d: Departure) -> str | None:
    """Describe a lever arm on the root that explains a linear velocity, if any."""
    if d.spin is None:
        return None
    # At an offset r, the velocity changes by cross(spin, r), which is linear in r.
    x, y, z, none = *d.spin.T, np.zeros(len(d.spin))
    rows = np.array([[none, -z, y], [z, none, -x], [-y, x, none]])
    system = rows.transpose(2, 0, 1).reshape(-1, 3)
    away = np.linalg.lstsq(system, (d.found - d.expected).ravel(), rcond=1e-6)[0]
    if not d.explains(d.found, d.expected + np.cross(d.spin, away)):
        return None
    place = ", ".join(f"{number:.3f}" for number in away + 0.0)
    return (
        f"lever arm: measured {np.linalg.norm(away):.3g} m away from the expected "
        f"point, by ({place}) m in the axes of the root"
    )
