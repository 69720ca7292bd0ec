"""Colours of muscles by activation."""

import mujoco
import numpy as np

_IDLE, _HALF, _FULL = (0.12, 0.38, 0.88), (0.98, 0.74, 0.55), (0.93, 0.05, 0.07)


def has_muscles(model: mujoco.MjModel) -> bool:
    """True if the model has muscles that `color_muscles` can colour."""
    return bool(len(_muscles(model)))


def color_muscles(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Colour the tendon of every muscle by its activation.

    Blue is 0, red is 1. Muscles without dynamics use their control as activation.

    Args:
        model: A copy for rendering; its tendon colours are modified.
        data: State of the model.
    """
    for actuator in _muscles(model):
        place = model.actuator_actadr[actuator]
        activation = data.ctrl[actuator] if place < 0 else data.act[place]
        tendon = model.actuator_trnid[actuator, 0]
        model.tendon_rgba[tendon] = (*activation_color(float(activation)), 1.0)


def activation_color(activation: float) -> tuple[float, float, float]:
    """Return the colour of an activation: blue for 0, sand for 0.25, red for 1."""
    # The square root spreads low values, since most muscles work far below 1.
    share = 2.0 * float(np.sqrt(np.clip(activation, 0.0, 1.0)))
    first, second = (_IDLE, _HALF) if share < 1.0 else (_HALF, _FULL)
    share -= share >= 1.0
    r, g, b = (
        (1.0 - share) * a + share * z for a, z in zip(first, second, strict=True)
    )
    return r, g, b


def _muscles(model: mujoco.MjModel) -> np.ndarray:
    """Return the muscle actuators on tendons."""
    is_muscle = model.actuator_gaintype == mujoco.mjtGain.mjGAIN_MUSCLE.value
    along = model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON.value
    return np.flatnonzero(is_muscle & along)
