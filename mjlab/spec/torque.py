"""Torque limits of joints in a model file."""

from collections.abc import Sequence

import mujoco
import numpy as np

_FIXED = int(mujoco.mjtGain.mjGAIN_FIXED)
_NO_BIAS = int(mujoco.mjtBias.mjBIAS_NONE)
_ON_JOINT = int(mujoco.mjtTrn.mjTRN_JOINT)


def torque_limits(
    model: mujoco.MjModel, joints: Sequence[str]
) -> dict[str, float | None]:
    """Return the torque limit of each joint, N m or N; None if the file has none.

    Limits come from the joint (`actuatorfrcrange`, or `effort` in URDF), and from force
    and control ranges of its actuators. Control ranges of position servos are angles.
    """
    return {joint: _torque_limit(model, model.joint(joint).id) for joint in joints}


def _torque_limit(model: mujoco.MjModel, joint: int) -> float | None:
    found = []
    if model.jnt_actfrclimited[joint]:
        found.append(np.abs(model.jnt_actfrcrange[joint]).max())
    for i in range(model.nu):
        if (
            model.actuator_trntype[i] != _ON_JOINT
            or model.actuator_trnid[i, 0] != joint
        ):
            continue
        gear = abs(float(model.actuator_gear[i, 0]))
        if model.actuator_forcelimited[i]:
            found.append(gear * np.abs(model.actuator_forcerange[i]).max())
        is_motor = (
            model.actuator_gaintype[i] == _FIXED
            and model.actuator_biastype[i] == _NO_BIAS
        )
        if is_motor and model.actuator_ctrllimited[i]:
            gain = gear * abs(float(model.actuator_gainprm[i, 0]))
            found.append(gain * np.abs(model.actuator_ctrlrange[i]).max())
    limits = [float(limit) for limit in found if limit > 0.0]
    return min(limits) if limits else None
