"""`bench/tracking_errors.py`: errors of motions with known differences."""

import pytest
import torch

from bench.tracking_errors import TrackingErrors


def test_errors_of_a_body_that_accelerates_away_from_its_reference() -> None:
    sums = TrackingErrors()
    zero = torch.zeros(2, 3, 3)  # Two worlds, three bodies.
    aligned = torch.tensor([0.0, 0.004, 0.0]).expand(2, 3, 3)
    for frame in range(4):
        away = torch.tensor([0.001 * frame**2, 0.0, 0.0]).expand(2, 3, 3)
        # World 1 fails after the second frame.
        alive = torch.tensor([True, frame < 2])
        sums.add(away, zero, away + aligned, alive)
    means = sums.means(frames=4 * 6)
    assert means["completed"] == pytest.approx(6 / 8)
    assert means["global"] == pytest.approx((0 + 1 + 4 + 9 + 0 + 1) / 6)
    assert means["local"] == pytest.approx(4.0)
    assert means["velocity"] == pytest.approx((1 + 3 + 5 + 1) / 4)
    assert means["acceleration"] == pytest.approx(2.0)


def test_without_a_frame_errors_are_zero() -> None:
    assert set(TrackingErrors().means(frames=6).values()) == {0.0}
