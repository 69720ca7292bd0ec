"""Muscles in the colour of their activation."""

import mujoco
import numpy as np

_IDLE, _HALF, _FULL = (0.12, 0.38, 0.88), (0.98, 0.74, 0.55), (0.93, 0.05, 0.07)


def has_muscles(model: mujoco.MjModel) -> bool:
    """Whether there is anything that `color_muscles` would change."""
    return bool(len(_muscles(model)))


def color_muscles(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Give the tendon of every muscle the colour of its activation.

    Blue is idle, red is all it can. Muscles without dynamics have their control as
    activation.

    Args:
        model: A copy, for drawing: its tendons change their colours.
        data: Its state.
    """
    for actuator in _muscles(model):
        place = model.actuator_actadr[actuator]
        activation = data.ctrl[actuator] if place < 0 else data.act[place]
        tendon = model.actuator_trnid[actuator, 0]
        model.tendon_rgba[tendon] = (*activation_color(float(activation)), 1.0)


def activation_color(activation: float) -> tuple[float, float, float]:
    """Return blue for 0, sand for a quarter, red for 1."""
    # By the root, since most muscles work far below what they can.
    share = 2.0 * float(np.sqrt(np.clip(activation, 0.0, 1.0)))
    first, second = (_IDLE, _HALF) if share < 1.0 else (_HALF, _FULL)
    share -= share >= 1.0
    r, g, b = (
        (1.0 - share) * a + share * z for a, z in zip(first, second, strict=True)
    )
    return r, g, b


def _muscles(model: mujoco.MjModel) -> np.ndarray:
    """Actuators that are muscles along a tendon."""
    is_muscle = model.actuator_gaintype == mujoco.mjtGain.mjGAIN_MUSCLE.value
    along = model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON.value
    return np.flatnonzero(is_muscle & along)
