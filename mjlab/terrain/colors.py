"""Colours of the ground."""

import colorsys

import numpy as np

# From the lowest ground to the highest: water, meadow, sand, rock, snow.
_STOPS = np.array(
    [
        [0.20, 0.31, 0.42],
        [0.36, 0.52, 0.46],
        [0.72, 0.69, 0.52],
        [0.66, 0.47, 0.36],
        [0.90, 0.88, 0.86],
    ]
)


def height_colors(heights: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return the colours of heights, shape (..., 3), 0 to 1.

    Height 0 has the middle colour; what lies farthest from it has a colour of an end.

    Args:
        heights: Any shape, m.
        bounds: The lowest and the highest height of the whole terrain, m.
    """
    farthest = max(abs(bounds[0]), abs(bounds[1]))
    if farthest == 0.0:
        farthest = 1.0
    # Small heights are spread, so that a low step beside a tall hill still shows.
    share = np.asarray(heights) / farthest
    place = 0.5 + 0.5 * np.sign(share) * np.sqrt(np.clip(np.abs(share), 0.0, 1.0))
    stops = np.linspace(0.0, 1.0, len(_STOPS))
    channels = [np.interp(place, stops, _STOPS[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1)


def random_color(rng: np.random.Generator) -> np.ndarray:
    """Return a muted colour of any hue, shape (3,), 0 to 1."""
    return np.array(colorsys.hsv_to_rgb(rng.uniform(), 0.35, 0.75))
