"""Contract of our own policy as an `Interface`, to write files for other projects.

The written file contains only the network; the other program computes observations and
targets. So the task can use only observation terms that such programs support, and
joint position targets.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.foreign.interface import JOINT_SOURCES, Interface, Source, Term
from mjlab.export.foreign.network import Network
from mjlab.export.reader import ExportError
from mjlab.mdp.velocity_command import UniformVelocityCommand

_SOURCES: dict[Any, Source] = {
    mdp.base_lin_vel: "lin_vel",
    mdp.base_ang_vel: "gyro",
    mdp.projected_gravity: "gravity",
    mdp.generated_commands: "command",
    mdp.joint_pos_rel: "joint_pos_rel",
    mdp.joint_vel: "joint_vel",
    mdp.joint_vel_rel: "joint_vel",
    mdp.last_action: "last_action",
}
"""Quantities by observation function."""

_SENSORS: dict[str, Source] = {
    "mjSENS_GYRO": "gyro",
    "mjSENS_VELOCIMETER": "lin_vel",
    "mjSENS_FRAMEZAXIS": "gravity",
}
"""Quantities by MuJoCo sensor type. `gravity_from_sensor` negates the up vector."""


def own_interface(env: ManagerBasedRlEnv, network: Network, group: str) -> Interface:
    """Return the contract of a policy.

    Args:
        env: Environment with one world, without randomisation.
        network: Network of the written file.
        group: Observation group of the network.
    """
    (action,) = _only_action(env)
    robot = action.entity
    names = tuple(robot.joint_names)
    acted = tuple(target.name for target in action.targets)
    gains = dict(
        zip(
            robot.actuators.names,
            zip(
                robot.actuators.stiffness[0].tolist(),
                robot.actuators.damping[0].tolist(),
                strict=True,
            ),
            strict=True,
        )
    )
    absent = [name for name in names if name not in gains]
    if absent or acted != names:
        odd = (absent or [n for n in names if n not in acted] or ["another order"])[0]
        raise ExportError(
            "Other programs expect one action per joint, in the order of the joints; "
            f"this policy differs at {odd!r}."
        )
    default = robot.data.default_joint_pos[0].double().numpy()
    scale = action.scale.double().reshape(-1).numpy()
    offset = action.summand().double().reshape(-1).numpy()
    stiffness, damping = np.array([gains[name] for name in names]).T
    terms = tuple(_terms(env, group, names))
    return Interface(
        format="mjlab-fused",
        network=network,
        joints=names,
        default=default,
        stiffness=stiffness,
        damping=damping,
        acted=acted,
        action_scale=np.broadcast_to(scale, len(acted)).copy(),
        action_offset=np.broadcast_to(offset, len(acted)).copy(),
        terms=terms,
        control_dt=env.step_dt,
        physics_dt=env.physics_dt,
        imu=_imu(env, robot.index.prefix),
        ranges=_ranges(env),
    )


def _imu(env: ManagerBasedRlEnv, prefix: str) -> str | None:
    """Return the site of the velocimeter or the gyro, without the robot's prefix."""
    model, kinds = env.sim.mj_model, ("mjSENS_VELOCIMETER", "mjSENS_GYRO")
    for kind in kinds:
        for index in np.flatnonzero(
            model.sensor_type == int(getattr(mujoco.mjtSensor, kind))
        ):
            site = model.site(int(model.sensor_objid[index])).name
            return site.removeprefix(prefix)
    return None


def _only_action(env: ManagerBasedRlEnv) -> tuple[Any]:
    terms = list(env.action_manager.terms.values())
    kinds = ", ".join(type(term.cfg).__name__ for term in terms)
    if len(terms) != 1 or type(terms[0]) is not mdp.JointPositionAction:
        raise ExportError(
            f"The task has the actions {kinds}. Other programs support one "
            "JointPositionActionCfg."
        )
    if terms[0].cfg.clip is not None:
        raise ExportError("The action term clips its targets, which is not supported.")
    return (terms[0],)


def _terms(
    env: ManagerBasedRlEnv, group: str, joints: tuple[str, ...]
) -> Iterator[Term]:
    for slot in env.observation_manager.groups[group].slots:
        source = _source(env, group, slot.cfg, slot.name)
        scale = slot.cfg.scale
        values = 1.0 if scale is None else np.asarray(scale, float)
        clip = slot.cfg.clip
        if slot.history and slot.stride > 1:
            raise ExportError(
                f"{slot.label} has history_stride={slot.stride}; other formats have no "
                "stride. Set it to 1."
            )
        yield Term(
            name=slot.name,
            source=source,
            joints=joints if source in JOINT_SOURCES else (),
            scale=values,
            clip=None if clip is None else (float(clip[0]), float(clip[1])),
            history=max(slot.history, 1),
        )


def _source(env: ManagerBasedRlEnv, group: str, cfg: Any, name: str) -> Source:
    sensor = cfg.params.get("sensor_name")
    if sensor is not None and cfg.func.__name__ in (
        "builtin_sensor",
        "gravity_from_sensor",
    ):
        kind = int(env.sim.mj_model.sensor(sensor).type[0])
        found = _SENSORS.get(mujoco.mjtSensor(kind).name)
        if found is not None:
            return found
    if cfg.func not in _SOURCES:
        known = ", ".join(sorted(each.__name__ for each in _SOURCES))
        raise ExportError(
            f"Other programs do not support the observation term {name!r} "
            f"({cfg.func.__name__}). Supported: {known}. Train without it: "
            f"--disable observations.{group}.terms.{name}"
        )
    return _SOURCES[cfg.func]


def _ranges(env: ManagerBasedRlEnv) -> tuple[tuple[float, float], ...] | None:
    for term in env.command_manager.terms.values():
        if isinstance(term, UniformVelocityCommand):
            given = vars(term.cfg.ranges)
            names = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
            return tuple((float(given[n][0]), float(given[n][1])) for n in names)
    return None


def write_flat(network: Any, clip: float | None, path: Path) -> None:
    """Write the network with the input "obs" and the output "actions".

    Args:
        network: The trained network.
        clip: Symmetric clip of the actions, or None.
        path: ONNX file to write.
    """
    form = network.as_onnx(verbose=False).cpu().eval()
    if list(form.input_names) != ["obs"]:
        raise ExportError(
            f"The network has the inputs {', '.join(form.input_names)}. Other programs "
            "support one observation without recurrent state."
        )

    class Clipped(torch.nn.Module):
        """Network whose actions are clipped as in training."""

        def __init__(self) -> None:
            super().__init__()
            self.form = form

        def forward(self, obs: torch.Tensor) -> torch.Tensor:
            found = self.form(obs)
            return found if clip is None else found.clamp(-clip, clip)

    with warnings.catch_warnings():
        # dynamo=True writes files that older ONNX readers do not load.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            Clipped().eval(),
            form.get_dummy_inputs(),
            str(path),
            input_names=["obs"],
            output_names=["actions"],
            opset_version=17,
            dynamo=False,
            verbose=False,
        )
