"""Quantities over time, and the centre of mass above a moving support."""

import numpy as np
import pytest

from mjlab.motion.tools.channel import pendulum_path


@pytest.mark.parametrize(("height", "hertz"), [(0.7, 0.5), (0.7, 1.5), (1.4, 0.5)])
def test_centre_of_mass_sways_less_than_its_support(
    height: float, hertz: float
) -> None:
    """For a swinging support, the amplitude is 1 / (1 + h w² / g) of the support's."""
    dt, rate = 0.002, 2.0 * np.pi * hertz
    times = np.arange(0.0, 12.0, dt)
    swing = np.stack((np.sin(rate * times), 2.0 * np.cos(rate * times)), axis=1)
    path = pendulum_path(0.1 * swing, dt, height)
    middle = slice(2000, 4000)  # Far from both ends, whose share has decayed.
    share = 1.0 / (1.0 + height * rate**2 / 9.81)
    np.testing.assert_allclose(path[middle], 0.1 * share * swing[middle], atol=2e-5)
    np.testing.assert_allclose(path[[0, -1]], 0.1 * swing[[0, -1]], atol=1e-12)
