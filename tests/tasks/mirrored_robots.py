"""Symmetric copies of robots; the published ones are slightly asymmetric.

The right side of each is the reflection of its left side, and central parts lie in the
mirror plane.
"""

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

REFLECTION = np.diag((1.0, -1.0, 1.0))


def turned(quat: np.ndarray) -> np.ndarray:
    """Return the mirror image of an orientation."""
    return quat * np.array((1.0, -1.0, 1.0, -1.0))


def tensor_of(quat: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Return an inertia in the axes of its body."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quat)
    axes = matrix.reshape(3, 3)
    return axes @ np.diag(moments) @ axes.T


def principal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the axes of an inertia, as a quaternion, and its principal moments."""
    moments, axes = np.linalg.eigh(tensor)
    axes[:, 2] *= np.linalg.det(axes)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, axes.flatten())
    return quat, moments


def symmetric(xml: Path, other: Callable[[str], str]) -> mujoco.MjSpec:
    """Return a robot whose right side is the mirror image of its left."""
    spec = mujoco.MjSpec.from_file(str(xml))
    model = spec.compile()
    for body in spec.bodies:
        if body.name == "world":
            continue
        image = other(body.name)
        source = model.body(min(body.name, image))
        place, frame = source.pos, source.quat
        centre, axes, moments = source.ipos, source.iquat, source.inertia
        if image == body.name:
            place, centre = place * (1.0, 0.0, 1.0), centre * (1.0, 0.0, 1.0)
            frame = frame * (1.0, 0.0, 1.0, 0.0)
            frame = frame / np.linalg.norm(frame)
            tensor = tensor_of(axes, moments)
            axes, moments = principal(0.5 * (tensor + REFLECTION @ tensor @ REFLECTION))
        elif image < body.name:
            place, centre = REFLECTION @ place, REFLECTION @ centre
            frame, axes = turned(frame), turned(axes)
        body.pos, body.quat, body.mass = place, frame, float(source.mass[0])
        body.ipos, body.iquat, body.inertia = centre, axes, moments
        body.explicitinertial = True
        for site in body.sites:
            if other(site.name) == site.name:
                site.pos = site.pos * np.array((1.0, 0.0, 1.0))
    return spec
