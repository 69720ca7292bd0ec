"""Touchdown speeds and contact forces of feet."""

import numpy as np


class FootMeter:
    """Measures touchdown speed and peak contact force of each stance phase."""

    def __init__(self, shape: tuple[int, int], loads: tuple[float, float]) -> None:
        """Start with all feet in the air.

        Args:
            shape: Number of runs and number of feet.
            loads: Contact forces above which a foot touches down, and below which it
                lifts off, N.
        """
        self._rise, self._end = loads
        self.down = np.zeros(shape, bool)
        """Whether each foot is on the ground, shape (runs, feet)."""
        self._speed = np.zeros(shape)
        self._peak = np.zeros(shape)
        self._touchdowns = np.zeros(shape)
        self._speeds = np.zeros(shape)
        self._stances = np.zeros(shape)
        self._peaks = np.zeros(shape)

    def update(self, force: np.ndarray, speed: np.ndarray, active: np.ndarray) -> None:
        """Update the measurements after a physics step.

        Args:
            force: Vertical force of each foot, N, shape (runs, feet).
            speed: Downward speed of each foot, m/s, shape (runs, feet).
            active: Runs that have not ended, shape (runs,), bool.
        """
        on = active[:, None]
        lands = on & ~self.down & (force > self._rise)
        lifts = on & self.down & (force < self._end)
        self._touchdowns += lands
        self._speeds += np.where(lands, self._speed, 0.0)
        self._stances += lifts
        self._peaks += np.where(lifts, self._peak, 0.0)
        self.down = (self.down | lands) & ~lifts
        self._peak = np.where(self.down, np.maximum(self._peak, force), 0.0)
        self._speed = speed

    def touchdown_speed(self) -> np.ndarray:
        """Return the mean downward foot speed at touchdown, m/s, shape (runs,).

        NaN for runs without touchdowns.
        """
        return _mean(self._speeds, self._touchdowns)

    def peak_force(self) -> np.ndarray:
        """Return the mean of the stance phases' peak forces, N, shape (runs,).

        NaN for runs without a finished stance phase.
        """
        return _mean(self._peaks, self._stances)


def _mean(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=1)
    mean = sums.sum(axis=1) / np.maximum(total, 1)
    return np.where(total > 0, mean, np.nan)
