"""Style distance, against the definition with loops and cases with known results."""

import numpy as np
import pytest

from mjlab.gait.style import style_distance

FPS = 50.0


def by_definition(one: np.ndarray, other: np.ndarray) -> float:
    a = [one[t : t + 10] for t in range(len(one) - 9)]
    b = [other[k : k + 10] for k in range(len(other) - 9)]
    d = np.array([[np.sqrt(np.mean((x - y) ** 2)) for y in b] for x in a])
    return 0.5 * (d.min(1).mean() + d.min(0).mean())


def wave(frequency: float, frames: int = 150, phase: float = 0.0) -> np.ndarray:
    angle = 2.0 * np.pi * frequency * np.arange(frames) / FPS + phase
    return 0.4 * np.stack((np.sin(angle), np.cos(angle)), axis=1)


def test_distance_equals_its_definition():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(23, 4)), rng.normal(size=(31, 4))
    wanted = by_definition(one, other)
    assert style_distance(one, other, FPS) == pytest.approx(wanted, abs=1e-12)
    assert style_distance(other, one, FPS) == pytest.approx(wanted, abs=1e-12)


def test_phase_and_duration_have_no_effect():
    assert style_distance(wave(1.0), wave(1.0), FPS) < 1e-7
    # 1 Hz has 50 frames per period, so a fifth of a period is 10 frames.
    shifted = wave(1.0, 90, 0.4 * np.pi)
    assert style_distance(wave(1.0), shifted, FPS) < 1e-7


def test_other_speed_and_offset_count():
    assert style_distance(wave(1.0), wave(2.0), FPS) > 0.1
    offset = style_distance(np.zeros((20, 2)), np.full((30, 2), 0.3), FPS)
    assert offset == pytest.approx(0.3)


def test_repeating_a_part_of_the_other_motion_is_not_near():
    still = np.tile(wave(1.0)[:1], (100, 1))
    parts = style_distance(wave(1.0), still, FPS)
    assert parts > 0.2


def test_motions_shorter_than_a_window_are_refused():
    with pytest.raises(ValueError, match="`other` has 9 frames; a window has 10"):
        style_distance(wave(1.0), wave(1.0, 9), FPS)
