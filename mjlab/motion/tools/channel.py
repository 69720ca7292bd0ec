"""Keyframe interpolation, and the centre of mass above a moving support."""

import numpy as np

_GRAVITY = 9.81


class Channel:
    """Scalar quantity over time, interpolated between keys (keyframe values)."""

    def __init__(self, value: float) -> None:
        """Start with a constant value."""
        self.times = [0.0]
        self.values = [value]

    @property
    def last(self) -> float:
        """Value at the last key."""
        return self.values[-1]

    def move(self, start: float, end: float, value: float) -> None:
        """Keep the last value until `start`, then reach `value` at `end`."""
        if start < self.times[-1] - 1e-9:
            raise ValueError(
                f"A move starts at {start:g} s, but the previous move ends at "
                f"{self.times[-1]:g} s. Moves of one quantity cannot overlap."
            )
        if end < start + 1e-9:
            raise ValueError(f"A move from {start:g} s to {end:g} s has no duration.")
        if start > self.times[-1] + 1e-9:
            self.times.append(start)
            self.values.append(self.values[-1])
        self.times.append(end)
        self.values.append(value)

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Interpolate at times, by quintics with monotone slopes at the keys."""
        t, v = np.array(self.times), np.array(self.values)
        if len(t) == 1:
            return np.full(len(times), v[0])
        slopes = monotone_slopes(t, v)
        k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        length = t[k + 1] - t[k]
        x = np.clip((times - t[k]) / length, 0.0, 1.0)
        rise = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        begin = x - x**3 * (6.0 - 8.0 * x + 3.0 * x**2)
        end = x**3 * (-4.0 + 7.0 * x - 3.0 * x**2)
        value = v[k] + rise * (v[k + 1] - v[k])
        return value + length * (begin * slopes[k] + end * slopes[k + 1])

    def rests(self, times: np.ndarray) -> np.ndarray:
        """Return True at times where the quantity stays constant."""
        t, v = np.array(self.times), np.array(self.values)
        still = np.concatenate(([True], v[1:] == v[:-1], [True]))
        before = np.searchsorted(t, times - 1e-9)
        after = np.searchsorted(t, times + 1e-9, side="right")
        return still[before] & still[after]


def monotone_slopes(t: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return slopes at the keys for monotone interpolation, without overshoot.

    The method of Fritsch and Butland: the weighted harmonic mean of the two secants,
    and zero at the ends and where the secants differ in sign.
    """
    length, secant = np.diff(t), np.diff(v) / np.diff(t)
    slopes = np.zeros(len(t))
    one, two = secant[:-1], secant[1:]
    goes_on = one * two > 0.0
    first = 2.0 * length[1:] + length[:-1]
    second = length[1:] + 2.0 * length[:-1]
    safe_one, safe_two = np.where(goes_on, one, 1.0), np.where(goes_on, two, 1.0)
    mean = (first + second) / (first / safe_one + second / safe_two)
    slopes[1:-1] = np.where(goes_on, mean, 0.0)
    return slopes


def pendulum_path(support: np.ndarray, dt: float, height: float) -> np.ndarray:
    """Return the centre-of-mass path for a given centre of pressure.

    Solves c - (height / g) c'' = support for a linear inverted pendulum; at both ends
    the mass is above the support.

    Args:
        support: Centre of pressure in each frame, shape (frames, 2), metres.
        dt: Time between frames, in seconds.
        height: Height of the mass, in metres.

    Returns:
        Shape (frames, 2).
    """
    stiffness = height / (_GRAVITY * dt * dt)
    number = len(support)
    # Tridiagonal elimination; the matrix is diagonally dominant.
    diagonal = np.full(number, 1.0 + 2.0 * stiffness)
    diagonal[[0, -1]] = 1.0
    path = support.astype(float).copy()
    above = np.full(number, -stiffness)
    below = np.full(number, -stiffness)
    above[0] = below[-1] = 0.0
    for k in range(1, number):
        factor = below[k] / diagonal[k - 1]
        diagonal[k] -= factor * above[k - 1]
        path[k] -= factor * path[k - 1]
    path[-1] /= diagonal[-1]
    for k in range(number - 2, -1, -1):
        path[k] = (path[k] - above[k] * path[k + 1]) / diagonal[k]
    return path
