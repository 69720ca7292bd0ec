"""The contract of a file: all that must be known to run its policy on a robot.

`contract.schema.json` beside this file says what each key is.
"""

import dataclasses
import datetime
import importlib.metadata
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from mjlab import mdp
from mjlab.actuator import ActuatorCfg, ExplicitActuatorCfg, IdealPdActuatorCfg
from mjlab.actuator.compiled import controls_of
from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.graph import OnnxState
from mjlab.export.motion import MEASURED as CLIP_TERMS
from mjlab.export.motion import ClipConstants
from mjlab.export.plan import OnnxInput
from mjlab.export.quantities import root_frame
from mjlab.export.recipes import upright_reading
from mjlab.export.runner.policy import FORMAT, NO_CHECKSUM, PD
from mjlab.export.targets import ACTION
from mjlab.provenance import versions
from mjlab.rl.config import AgentCfg
from mjlab.settings.file import as_data


def contract(
    env: ManagerBasedRlEnv,
    agent: AgentCfg,
    *,
    task: str,
    origin: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    states: Sequence[OnnxState],
    actions: Sequence[Mapping[str, Any]],
    planned: Sequence[OnnxInput],
    affine: Mapping[str, Mapping[str, Any]],
    network: str,
    commands: Sequence[Mapping[str, Any]],
    more: Mapping[str, Any],
    clips: ClipConstants | None = None,
) -> dict[str, Any]:
    """Return the whole contract, as plain values that JSON can hold.

    Args:
        env: The environment in its nominal form: nothing of it is randomised.
        agent: The configuration of the training.
        task: The task's id.
        origin: The provenance of the policy.
        inputs: Descriptions of the inputs.
        states: The memory between calls.
        actions: Descriptions of the action's terms.
        planned: The observation terms, in the order of the network.
        affine: Factors and offsets of terms, by their places.
        network: The name of the agent's network that acts.
        commands: Descriptions of what can be commanded.
        more: Descriptions of the scene, and of the recorded steps.
        clips: The clips that it follows, if it does.
    """
    references = [] if clips is None else clips.outputs
    robot = actions[0]["entity"]
    whole = {
        "format": FORMAT,
        "checksum": NO_CHECKSUM,
        "task": task,
        "made": {
            "at": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "by": versions() | {"onnx": importlib.metadata.version("onnx")},
            **origin,
        },
        "conventions": CONVENTIONS,
        "rates": {
            "physics_dt": env.physics_dt,
            "decimation": env.cfg.decimation,
            "control_dt": env.step_dt,
            "control_hz": 1.0 / env.step_dt,
        },
        "robot": robot,
        **more,
        "commands": list(commands),
        "inputs": [
            {**entry, "upright": upright_reading(env, robot, entry["measured"])}
            for entry in inputs
        ],
        "states": [dataclasses.asdict(state) for state in states],
        "outputs": [*_outputs(env, actions), *references],
        **({} if clips is None else {"motion": clips.described()}),
        "actions": list(actions),
        "action_clip": agent.clip_actions,
        "observations": _terms(env, planned, inputs, affine),
        "network": as_data(getattr(agent, network)),
        "entities": {
            name: _entity(env, entity) for name, entity in env.scene.entities.items()
        },
    }
    return _plain(whole)


def to_text(whole: Mapping[str, Any]) -> str:
    """Return the contract as JSON."""
    return json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


CONVENTIONS = {
    "units": "SI; angles in radians",
    "quaternions": "wxyz",
    "frames": "names of bodies and sites of the model, or world with z up",
    "call": "once a control step, with the latest measurements; give each state its "
    "initial value in all places at the start, and then what its next output said",
}


def _outputs(
    env: ManagerBasedRlEnv, actions: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    outputs = [
        {
            "name": term["output"],
            "shape": [len(term.get("elements", term["targets"]))],
            "unit": term["unit"],
            "elements": term.get("elements", term["targets"]),
            "meaning": f"Targets of {term['entity']}, {term['quantity']}.",
        }
        for term in actions
    ]
    raw = {
        "name": ACTION,
        "shape": [env.action_manager.total_action_dim],
        "unit": "1",
        "elements": None,
        "meaning": "The action as the network puts it out. A robot does not need it.",
    }
    return [*outputs, raw]


def _terms(
    env: ManagerBasedRlEnv,
    planned: Sequence[OnnxInput],
    inputs: Sequence[Mapping[str, Any]],
    affine: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return what the network sees, term by term, and where each comes from."""
    by_name = {entry["name"]: entry for entry in inputs}
    terms = []
    for each in planned:
        group = env.observation_manager.groups[each.group]
        slot = next(slot for slot in group.slots if slot.name == each.term)
        source = by_name.get(each.input, {}) if each.is_measured else {}
        about = "last action" if each.cfg.func is mdp.last_action else "time"
        if each.is_measured:
            is_compared = each.cfg.func in CLIP_TERMS
            about = "input and clips" if is_compared else "input"
        terms.append(
            {
                "term": each.place,
                "input": each.input if each.is_measured else None,
                "from": about,
                "shape": list(slot.output_shape),
                "width": slot.width,
                "unit": source.get("unit", "1"),
                "frame": source.get("frame"),
                **affine.get(each.place, {}),
                "clip": each.cfg.clip,
                "scale": as_data(each.cfg.scale),
                "history": slot.history,
                "delay_in_training": source.get("delay_in_training"),
            }
        )
    return terms


# The robot.


def _entity(env: ManagerBasedRlEnv, entity: Entity) -> dict[str, Any]:
    data = entity.data
    root = data.default_root_state[0].tolist()
    return {
        "prefix": entity.index.prefix,
        "root": {
            "frame": root_frame(env, entity),
            "is_fixed": entity.is_fixed_base,
            "default_pos": root[:3],
            "default_quat": root[3:7],
        },
        "joints": _joints(env, entity),
        "actuators": _actuators(env, entity),
    }


def _joints(env: ManagerBasedRlEnv, entity: Entity) -> list[dict[str, Any]]:
    model, data = env.sim.mj_model, entity.data
    columns = {
        "limits": data.joint_pos_limits[0].tolist(),
        "soft_limits": data.soft_joint_pos_limits[0].tolist(),
        "default_pos": data.default_joint_pos[0].tolist(),
        "default_vel": data.default_joint_vel[0].tolist(),
    }
    joints = []
    for index, name in enumerate(entity.joint_names):
        joint = model.joint(entity.index.prefix + name)
        dof = int(joint.dofadr[0])
        is_slide = int(joint.type[0]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
        joints.append(
            {
                "name": name,
                "type": "slide" if is_slide else "hinge",
                "unit": "m" if is_slide else "rad",
                **{key: values[index] for key, values in columns.items()},
                "armature": float(model.dof_armature[dof]),
                "damping": float(model.dof_damping[dof].flat[0]),
                "frictionloss": float(model.dof_frictionloss[dof]),
            }
        )
    return joints


def _actuators(env: ManagerBasedRlEnv, entity: Entity) -> list[dict[str, Any]]:
    model, actuators = env.sim.mj_model, entity.actuators
    columns = {
        "stiffness": actuators.stiffness[0].tolist(),
        "damping": actuators.damping[0].tolist(),
        "effort_limit": actuators.effort_limit[0].tolist(),
    }
    controls = [
        (binding, found)
        for binding in actuators.bindings
        for found in controls_of(binding, model).values()
    ]
    described = []
    for index, (binding, found) in enumerate(controls):
        actuator, address = found[0].actuator, found[0].address
        is_limited = bool(model.actuator_ctrllimited[address])
        described.append(
            {
                "target": actuators.names[index],
                "transmission": binding.cfg.transmission,
                "kind": binding.cfg.kind,
                "actuator": model.actuator(actuator).name,
                "commands": [control.command for control in found],
                "law": _law(binding.cfg),
                **{key: values[index] for key, values in columns.items()},
                "gear": float(model.actuator_gear[actuator, 0]),
                "control_range": model.actuator_ctrlrange[address].tolist()
                if is_limited
                else None,
                "delay_in_physics_steps": as_data(binding.cfg.delay),
            }
        )
    return described


def _law(cfg: ActuatorCfg) -> str | None:
    """Return what the actuator does beyond what MuJoCo does; None for nothing."""
    if cfg.delay is not None:
        return "a delay of commands"
    if type(cfg) is IdealPdActuatorCfg and cfg.transmission == "joint":
        return PD
    return f"the law of {cfg.kind}" if isinstance(cfg, ExplicitActuatorCfg) else None


def _plain(value: Any) -> Any:
    """Return a copy that JSON can hold, with None for what is not finite."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _short(value) if math.isfinite(value) else None
    return value


def _short(value: float) -> float:
    """Return the shortest equal number in single precision, if there is one."""
    single = np.float32(value)
    return float(str(single)) if float(single) == value else value
