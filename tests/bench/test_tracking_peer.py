"""`bench/tracking_peer.py`: the motion file for mjlab, and figures of several calls."""

import json
from pathlib import Path

import numpy as np
import pytest

import bench.record
from bench.tracking_peer import measured, write_clip
from mjlab.motion.files import load_motion
from mjlab.tasks.tracking.clips import G1_CLIPS


def test_the_motion_file_for_mjlab_has_all_bodies_and_velocities(
    tmp_path: Path,
) -> None:
    clip, path = G1_CLIPS / "walk.npz", tmp_path / "walk.npz"
    names = write_clip(clip, path)
    motion, arrays = load_motion(clip), np.load(path)
    assert names[:29] == motion.joint_names and len(names) == 29 + 30
    bodies = names[29:]
    assert bodies[0] == "pelvis" and arrays["fps"] == [50.0]
    assert arrays["joint_pos"] == pytest.approx(motion.joint_pos)
    places = arrays["body_pos_w"]
    assert places[:, 0] == pytest.approx(motion.body_pos_w[:, 0], abs=1e-6)
    # Velocities are the derivatives of the positions, also of a swinging foot.
    foot = bodies.index("left_ankle_roll_link")
    speed = np.gradient(places[:, foot], 1.0 / 50.0, axis=0)
    assert np.abs(speed).max() > 0.5
    assert arrays["body_lin_vel_w"][:, foot] == pytest.approx(speed, abs=0.1)


def test_figures_of_other_clips_are_kept_for_the_same_number_of_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.record, "RESULTS", tmp_path)
    assert measured(600) == {}
    saved = {"steps": 600, "clips": {"wave": {"this": {}}}}
    (tmp_path / "tracking_peer.json").write_text(json.dumps(saved))
    assert measured(600) == {"wave": {"this": {}}}
    assert measured(1200) == {}
