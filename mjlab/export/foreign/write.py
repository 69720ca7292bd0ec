"""Write our policies in the formats of other projects.

- `isaaclab`: `exported/policy.onnx` and `params/deploy.yaml`, as Unitree's controller
  in C++ reads them.
- `mjlab`: `policy.onnx` with the metadata of mjlab 1.6.

Drafts of the files are read by the readers in `formats`, and compared with recorded
steps of the task. The files are written only if the recorded steps are reproduced.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.network import read_network
from mjlab.export.foreign.own import own_interface, write_flat
from mjlab.export.foreign.recording import Recording
from mjlab.export.foreign.robot_model import RobotModel, model_file
from mjlab.export.foreign.verify import open_loop, read_policy
from mjlab.export.reader import ExportError
from mjlab.export.write import nominal
from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import network_names
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.threads import torch_threads

STEPS = 50
"""Number of control steps in which the files are compared with the task."""

_UNITREE = {
    "gyro": "base_ang_vel",
    "gravity": "projected_gravity",
    "command": "velocity_commands",
    "joint_pos_rel": "joint_pos_rel",
    "joint_vel": "joint_vel_rel",
    "last_action": "last_action",
}
"""Observation terms of Unitree's controller, by quantity."""

_MJLAB = {
    "lin_vel": "base_lin_vel",
    "gyro": "base_ang_vel",
    "gravity": "projected_gravity",
    "command": "command",
    "joint_pos_rel": "joint_pos",
    "joint_vel": "joint_vel",
    "last_action": "actions",
}
"""Usual names of observation terms in mjlab, by quantity."""


def export_as(
    form: str,
    checkpoint: Path,
    to: Path,
    *,
    env_cfg: ManagerBasedRlEnvCfg,
    agent_cfg: AgentCfg,
) -> list[Path]:
    """Write a policy in the format of another project; return the files.

    Args:
        form: "isaaclab" or "mjlab".
        checkpoint: Checkpoint of the policy.
        to: Folder to write to.
        env_cfg: Configuration of the training environment.
        agent_cfg: Configuration of the agent.
    """
    write = {"isaaclab": write_deploy, "mjlab": write_metadata}[form]
    with (
        contextlib.closing(ManagerBasedRlEnv(nominal(env_cfg), device="cpu")) as env,
        tempfile.TemporaryDirectory(prefix="mjlab-export-") as folder,
        torch_threads(1),
    ):
        env.reset(seed=0)
        (group,) = _only_group(agent_cfg)
        worlds = RslRlVecEnv(env, groups=(group,))
        network = load_network(checkpoint, worlds, agent_cfg).eval()
        draft = Path(folder)
        clip = agent_cfg.clip_actions
        write_flat(network, clip, draft / "network.onnx")
        interface = own_interface(env, read_network(draft / "network.onnx"), group)
        files = write(interface, draft / "files")
        recording = _recorded(env, worlds, network, group, clip)
        _compare(form, files, env_cfg, interface, recording)
        shutil.copytree(draft / "files", to, dirs_exist_ok=True)
    return [to / path.relative_to(draft / "files") for path in files]


def _only_group(agent_cfg: AgentCfg) -> tuple[str]:
    groups = tuple(agent_cfg.obs_groups[network_names(agent_cfg)[0]])
    if len(groups) != 1:
        raise ExportError(
            f"The network observes the groups {', '.join(groups)}. Other programs "
            "support one group."
        )
    return groups


# The formats.


def write_deploy(interface: Interface, folder: Path) -> list[Path]:
    """Write policy.onnx and deploy.yaml in Unitree's folder layout."""
    import yaml

    if interface.ranges is None:
        raise ExportError(
            "Unitree's controller needs a velocity command with ranges, which the "
            "task does not have."
        )
    for term in interface.terms:
        if term.source not in _UNITREE:
            raise ExportError(
                f"Unitree's controller has no observation term for {term.name!r} "
                f"({term.source}). Known: {', '.join(_UNITREE.values())}. Train "
                f"without it: --disable observations.actor.terms.{term.name}"
            )
    kinds = [term.source for term in interface.terms]
    if len(set(kinds)) < len(kinds):
        raise ExportError(
            "Unitree's controller has each observation term once, but the policy "
            f"observes {', '.join(kinds)}."
        )
    names = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
    ranges = {n: list(pair) for n, pair in zip(names, interface.ranges, strict=True)}
    whole = {
        # Motors are numbered in the order of the robot model.
        "joint_ids_map": list(range(len(interface.joints))),
        "step_dt": float(interface.control_dt),
        "stiffness": interface.stiffness.tolist(),
        "damping": interface.damping.tolist(),
        "default_joint_pos": interface.default.tolist(),
        "commands": {"base_velocity": {"ranges": ranges | {"heading": None}}},
        "actions": {
            "JointPositionAction": {
                "clip": None,
                "joint_names": [".*"],
                "scale": interface.action_scale.tolist(),
                "offset": interface.action_offset.tolist(),
                "joint_ids": None,
            }
        },
        "observations": {
            _UNITREE[term.source]: {
                "params": {"command_name": "base_velocity"}
                if term.source == "command"
                else {},
                "clip": None if term.clip is None else list(term.clip),
                "scale": np.broadcast_to(term.scale, interface.size(term)).tolist(),
                "history_length": term.history,
            }
            for term in interface.terms
        },
    }
    files = [folder / "exported" / "policy.onnx", folder / "params" / "deploy.yaml"]
    for file in files:
        file.parent.mkdir(parents=True)
    shutil.copy(interface.network.path, files[0])
    text = yaml.safe_dump(whole, default_flow_style=None, sort_keys=False)
    files[1].write_text(text, "utf-8")
    return files


def write_metadata(interface: Interface, folder: Path) -> list[Path]:
    """Write policy.onnx with the metadata of mjlab 1.6."""
    texts: dict[str, Any] = {
        "run_path": "mjlab-fused",
        "joint_names": interface.joints,
        "joint_stiffness": interface.stiffness,
        "joint_damping": interface.damping,
        "default_joint_pos": interface.default,
        "command_names": ["twist"],
        "observation_names": [_MJLAB[term.source] for term in interface.terms],
        "observation_terms_scale": [np.ravel(term.scale) for term in interface.terms],
        "observation_terms_flatten_history_dim": [1.0 for _ in interface.terms],
        "observation_terms_history_length": [
            term.history if term.history > 1 else 0 for term in interface.terms
        ],
        "observation_terms_clip": [
            term.clip or (-np.inf, np.inf) for term in interface.terms
        ],
        "action_scale": interface.action_scale,
    }
    if not np.allclose(interface.action_offset, interface.default):
        raise ExportError(
            "mjlab's metadata has no action offset: the offset must be the default "
            "pose. Set offset to 0 and use_default_offset to True."
        )
    model = onnx.load(str(interface.network.path))
    onnx.helper.set_model_props(
        model,
        {
            key: ",".join(map(_entry, values)) if key != "run_path" else values
            for key, values in texts.items()
        },
    )
    folder.mkdir()
    path = folder / "policy.onnx"
    onnx.save(model, str(path))
    return [path]


def _entry(value: Any) -> str:
    """Format an entry of a list as mjlab does: six decimals, separated by ";"."""
    if isinstance(value, str):
        return value
    return ";".join(f"{float(number):.6f}" for number in np.ravel(value))


# The comparison.


def _recorded(
    env: ManagerBasedRlEnv, worlds: Any, network: Any, group: str, clip: float | None
) -> Recording:
    """Run the network in the task; record up to `STEPS` steps of one episode."""
    (action,) = env.action_manager.terms.values()
    robot = env.scene.entity(action.targets[0].entity)
    command = next(iter(env.command_manager.terms), None)
    rows: list[Mapping[str, Any]] = []
    observations = worlds.reset(seed=0)
    for step in range(STEPS):
        data = robot.data
        row = {
            "time": torch.tensor([[step * env.step_dt]]),
            "joint_pos": data.joint_pos,
            "joint_vel": data.joint_vel,
            "root_quat_w": data.root_link_quat_w,
            "root_ang_vel_b": data.root_link_ang_vel_b,
            "root_lin_vel_b": data.root_link_lin_vel_b,
            "observation": observations[group],
        }
        if command is not None:
            row["command"] = env.command_manager.term(command).command
        row = {name: value[0].double().numpy().copy() for name, value in row.items()}
        with torch.no_grad():
            found = network(observations)
        found = found if clip is None else found.clamp(-clip, clip)
        row["action"] = found[0].double().numpy().copy()
        observations, _, dones, _ = worlds.step(found)
        row["joint_pos_target"] = data.targets.joint_pos[0].double().numpy().copy()
        rows.append(row)
        if dones.item():
            break
    names = tuple(robot.joint_names)
    arrays = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Recording("the task", names, arrays)


def _compare(
    form: str,
    files: list[Path],
    env_cfg: ManagerBasedRlEnvCfg,
    own: Interface,
    recording: Recording,
) -> None:
    """Raise if the files give other observations or targets than the task."""
    robot = RobotModel(model_file(env_cfg))
    configs = [file for file in files if file.suffix == ".yaml"]
    interface = replace(read_policy(files[0], form, configs, robot), imu=own.imu)
    wrong = [
        each
        for each in open_loop(interface, recording, robot)
        if each.state == "mismatch"
    ]
    if wrong:
        raise ExportError(
            f"The written files act differently from the task. {wrong[0].place}: "
            f"{wrong[0].said}."
        )
