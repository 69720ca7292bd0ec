"""Random surfaces on the vertices of a height field."""

import numpy as np


def blocky_noise(
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    spacing: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return random values on a lattice, interpolated linearly, shape (ny, nx).

    Args:
        x: Ascending vertices along x, shape (nx,), m.
        y: Ascending vertices along y, shape (ny,), m.
        values: Values to draw from.
        spacing: Minimum distance between lattice points, m.
        rng: Random generator.
    """
    lattice_x, lattice_y = (
        np.linspace(axis[0], axis[-1], _num_cells(axis, spacing) + 1) for axis in (x, y)
    )
    drawn = rng.choice(values, size=(lattice_y.size, lattice_x.size))
    along_x = np.array([np.interp(x, lattice_x, line) for line in drawn])
    return np.array([np.interp(y, lattice_y, line) for line in along_x.T]).T


def perlin_noise(
    x: np.ndarray, y: np.ndarray, spacing: float, rng: np.random.Generator
) -> np.ndarray:
    """Return one octave of Perlin's gradient noise, shape (ny, nx), within -1 to 1.

    The noise follows Perlin, "Improving noise" (2002), with gradients of length 1
    whose directions are drawn uniformly.

    Args:
        x: Ascending vertices along x, shape (nx,), m.
        y: Ascending vertices along y, shape (ny,), m.
        spacing: Distance between lattice points, where the noise is 0, m.
        rng: Random generator.
    """
    # Offset the lattice randomly; otherwise its lines of zeros align on all tiles.
    place_x, place_y = (
        (axis - axis[0]) / spacing + offset
        for axis, offset in zip((x, y), rng.uniform(size=2), strict=True)
    )
    column, row = place_x.astype(int), place_y.astype(int)
    u, v = np.meshgrid(place_x - column, place_y - row)
    angles = rng.uniform(0.0, 2 * np.pi, size=(row[-1] + 2, column[-1] + 2))

    def corner(right: int, up: int) -> np.ndarray:
        """Return the height of the plane through one corner of each vertex's cell."""
        angle = angles[np.ix_(row + up, column + right)]
        return np.cos(angle) * (u - right) + np.sin(angle) * (v - up)

    fade_u, fade_v = _fade(u), _fade(v)
    low = (1 - fade_u) * corner(0, 0) + fade_u * corner(1, 0)
    high = (1 - fade_u) * corner(0, 1) + fade_u * corner(1, 1)
    return (1 - fade_v) * low + fade_v * high


def _fade(t: np.ndarray) -> np.ndarray:
    return t * t * t * (t * (t * 6 - 15) + 10)


def _num_cells(axis: np.ndarray, spacing: float) -> int:
    return max(1, int((axis[-1] - axis[0] + 1e-9) // spacing))
