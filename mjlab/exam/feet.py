"""Touchdowns and contact forces of feet."""

import numpy as np


class FootMeter:
    """Counts touchdowns, and measures their speed and the force of stances."""

    def __init__(self, shape: tuple[int, int], loads: tuple[float, float]) -> None:
        """Start in the air.

        Args:
            shape: Runs and feet.
            loads: Force above which a foot touches down, and below which it lifts off.
        """
        self._rise, self._end = loads
        self.down = np.zeros(shape, bool)
        """Feet on the ground."""
        self._speed = np.zeros(shape)
        self._peak = np.zeros(shape)
        self._touchdowns = np.zeros(shape)
        self._speeds = np.zeros(shape)
        self._stances = np.zeros(shape)
        self._peaks = np.zeros(shape)

    def update(self, force: np.ndarray, speed: np.ndarray, active: np.ndarray) -> None:
        """Process a physics step.

        Args:
            force: Vertical force of each foot, N.
            speed: Downward speed of each foot, m/s.
            active: Runs that have not ended.
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
        """Mean speed of touchdowns, m/s, shape (runs,); NaN without touchdowns."""
        return _mean(self._speeds, self._touchdowns)

    def peak_force(self) -> np.ndarray:
        """Mean peak force of stances, N, shape (runs,); NaN without stances."""
        return _mean(self._peaks, self._stances)


def _mean(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=1)
    mean = sums.sum(axis=1) / np.maximum(total, 1)
    return np.where(total > 0, mean, np.nan)
