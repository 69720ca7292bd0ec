"""Angles at singularities, compared with MuJoCo."""

import math

import mujoco
import numpy as np
import pytest
import torch

from mjlab.tensors.math import quat_to_euler_xyz


@pytest.mark.parametrize("pitch", [90.0, -90.0, 89.999, -89.999])
def test_pitch_of_90_degrees_is_finite_after_rounding(
    pitch: float,
) -> None:
    """A thousand rotations, some slightly longer than one by rounding."""
    random = np.random.default_rng(0)
    rolls, yaws = random.uniform(-3.0, 3.0, (2, 1000))
    quats = np.zeros((1000, 4))
    for quat, roll, yaw in zip(quats, rolls, yaws, strict=True):
        euler = np.array([roll, math.radians(pitch), yaw])
        mujoco.mju_euler2Quat(quat, euler, "XYZ")
    given = torch.from_numpy(quats).float() * 1.0000002
    found = quat_to_euler_xyz(given)
    assert all(bool(angle.isfinite().all()) for angle in found)
    # In single precision, angles near the singularity differ by about 5e-4 rad.
    assert found[1].tolist() == pytest.approx([math.radians(pitch)] * 1000, abs=2e-3)
