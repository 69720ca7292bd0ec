"""Which part of a model a number of the state belongs to."""

from collections.abc import Callable

import mujoco


def element_name(model: mujoco.MjModel, field: str, index: int) -> str:
    """What a number of qpos, qvel, act or ctrl is of, such as "body 'a', joint 'b'"."""
    return _NAMES[field](model, index)


def _of_qpos(model: mujoco.MjModel, index: int) -> str:
    starts = model.jnt_qposadr
    return _joint(model, int((starts <= index).nonzero()[0][-1]))


def _of_qvel(model: mujoco.MjModel, index: int) -> str:
    return _joint(model, int(model.dof_jntid[index]))


def _of_ctrl(model: mujoco.MjModel, index: int) -> str:
    starts = model.actuator_ctrladr
    return _actuator(model, int((starts <= index).nonzero()[0][-1]))


def _of_act(model: mujoco.MjModel, index: int) -> str:
    for actuator in range(model.nactuator):
        start, count = model.actuator_actadr[actuator], model.actuator_actnum[actuator]
        if start <= index < start + count:
            return _actuator(model, actuator)
    return f"number {index}"


def _joint(model: mujoco.MjModel, joint: int) -> str:
    body = model.body(int(model.jnt_bodyid[joint])).name
    name = model.joint(joint).name
    return f"body {body!r}, joint {name!r}" if name else f"body {body!r}"


def _actuator(model: mujoco.MjModel, actuator: int) -> str:
    return f"actuator {model.actuator(actuator).name!r}"


_NAMES: dict[str, Callable[[mujoco.MjModel, int], str]] = {
    "qpos": _of_qpos,
    "qvel": _of_qvel,
    "act": _of_act,
    "ctrl": _of_ctrl,
}
