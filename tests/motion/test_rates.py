"""Resampled motions: number of frames, and contents at given times."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mjlab.motion import Motion, MotionInfo
from mjlab.motion.rates import resample_times
from mjlab.motion.tools.checks import estimate_contacts
from mjlab.motion.tools.edit import blended


@pytest.mark.parametrize("new", [29, 50, 53, 60, 100, 120, 141, 200])
@pytest.mark.parametrize("old", [10, 24, 30, 50, 120])
def test_a_resampled_motion_keeps_its_last_frame_where_a_new_one_falls_on_it(
    old: int, new: int
) -> None:
    """Against whole numbers, for any length up to 400 frames."""
    for frames in range(2, 400):
        times = resample_times(frames, float(old), float(new))
        assert len(times) == (frames - 1) * new // old + 1, frames
        assert times[-1] <= frames - 1
        assert np.allclose(times, np.arange(len(times)) * old / new, rtol=1e-6)


def slide(name: str, fps: float, frames: int, **more: Any) -> Motion:
    """Root that moves forward at 1 m/s, with one joint that turns at 1 rad/s."""
    seconds = np.arange(frames) / fps
    return Motion.from_root(
        name,
        fps,
        np.stack((seconds, 0 * seconds, 0 * seconds + 1.0), axis=1),
        np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1)),
        seconds[:, None],
        root_body="base",
        joint_names=("a",),
        **more,
    )


def test_splits_of_a_resampled_motion_are_at_the_same_seconds() -> None:
    splits = {"begin": (0, 3), "end": (3, 9), "whole": (0, 9)}
    motion = slide("slide", 10.0, 9, info=MotionInfo(splits=splits)).resampled(30.0)
    assert motion.num_frames == 25
    assert motion.info.splits == {"begin": (0, 9), "end": (9, 25), "whole": (0, 25)}


def test_a_blend_of_two_rates_has_the_first_rate_and_no_change_of_speed() -> None:
    both = blended(slide("fast", 50.0, 51), slide("slow", 10.0, 11), 0.2)
    # One second each, of which 0.2 s are shared: 1.8 s and the first frame.
    assert both.fps == 50.0 and both.num_frames == 91
    assert both.root_pos[:, 0] == pytest.approx(np.arange(91) / 50.0)


def test_a_foot_stands_near_its_own_lowest_height() -> None:
    """The second foot's frame lies 0.1 m above its sole, the first one's 0.02 m."""
    heights = np.array([[0.02, 0.3], [0.04, 0.12], [0.2, 0.1], [0.02, 0.14]])
    speed = np.zeros((4, 2, 3))
    speed[3, 0, 0] = 1.0
    places = np.zeros((4, 2, 3))
    places[:, :, 2] = heights
    motion: Any = SimpleNamespace(
        body_columns=lambda names: [0, 1], body_pos_w=places, body_lin_vel_w=speed
    )
    found = estimate_contacts(motion, ("left", "right"), height=0.03, speed=0.25)
    expected = [[True, False], [True, True], [False, True], [False, False]]
    assert found.tolist() == expected
