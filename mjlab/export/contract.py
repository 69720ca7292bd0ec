"""Contract of a policy file: everything needed to run the policy on a robot.

`contract.schema.json` in this folder documents every key.
"""

import dataclasses
import datetime
import importlib.metadata
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from mjlab.actuator import ActuatorCfg, ExplicitActuatorCfg, IdealPdActuatorCfg
from mjlab.actuator.compiled import controls_of
from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export.clips import TIME_STEP, described_clips, reference_outputs
from mjlab.export.control_step import ControlStep
from mjlab.export.leaves import Leaf
from mjlab.export.muscles import MuscleController
from mjlab.export.quantities import root_frame
from mjlab.export.reader import CONVENTIONS
from mjlab.export.runner.policy import FORMAT, NO_CHECKSUM, PD
from mjlab.export.targets import ACTION, described_actions
from mjlab.managers.observation_config import resolve_delay
from mjlab.mdp.velocity_command import UniformVelocityCommand
from mjlab.provenance import versions
from mjlab.rl.config import AgentCfg
from mjlab.settings.leaves import as_data


def contract(
    step: ControlStep,
    controllers: Sequence[MuscleController],
    trained: ManagerBasedRlEnvCfg,
    agent: AgentCfg,
    *,
    task: str,
    origin: Mapping[str, Any],
    network: str,
    first_commands: Mapping[str, list[float]],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the contract as JSON-compatible values.

    Args:
        step: The traced policy, in an environment without noise or randomisation.
        controllers: The traced muscle controllers.
        trained: The training environment.
        agent: The agent's configuration.
        task: The task's id.
        origin: The provenance of the policy.
        network: Name of the agent's policy network.
        first_commands: First recorded value of each command, by name.
        more: Entries of the scene, the recorded steps and the world model, if any.
    """
    env, clips = step.tracer.env, step.tracer.clips
    actions = described_actions(env, {c.term.name: c.described() for c in controllers})
    robot = actions[0]["entity"]
    references = [] if clips is None else reference_outputs(clips)
    motion = {} if clips is None else {"motion": described_clips(clips)}
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
        "commands": _commands(env, first_commands),
        "inputs": [
            {
                **leaf.described(step.examples[leaf.name]),
                "upright": upright_reading(env, robot, leaf),
            }
            for leaf in step.inputs
        ],
        "states": [dataclasses.asdict(state) for state in step.states],
        "outputs": [*_outputs(env, actions), *references],
        **motion,
        "actions": actions,
        "action_clip": agent.clip_actions,
        "observations": list(_terms(step, trained)),
        "network": as_data(getattr(agent, network)),
        "entities": {
            name: _entity(env, entity) for name, entity in env.scene.entities.items()
        },
    }
    return _plain(whole)


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
        "meaning": "The raw action of the network. A robot does not need it.",
    }
    return [*outputs, raw]


def _terms(
    step: ControlStep, trained: ManagerBasedRlEnvCfg
) -> Iterator[dict[str, Any]]:
    """Yield the observation terms of the network, each with its inputs."""
    tracer = step.tracer
    for name in tracer.seen:
        group, _, only = name.partition("/")
        for slot in tracer.env.observation_manager.groups[group].slots:
            if only not in ("", slot.name):
                continue
            holder = trained.observations[group]
            options = None if holder is None else holder.terms[slot.name]
            assert options is not None, "The manager has this term."
            delay, noise = resolve_delay(options, slot.label), options.noise
            yield {
                "term": f"{group}/{slot.name}",
                "depends_on": step.sources_of(slot.source),
                "shape": list(slot.output_shape),
                "clip": slot.cfg.clip,
                "scale": as_data(slot.cfg.scale),
                "history": slot.history,
                "history_stride": slot.stride,
                "delay_in_training": None if delay is None else as_data(delay),
                "noise_in_training": None if noise is None else as_data(noise),
            }


def _commands(
    env: ManagerBasedRlEnv, first: Mapping[str, list[float]]
) -> list[dict[str, Any]]:
    """Return the contract entries of the commands that the policy accepts."""
    found = []
    for name, start in first.items():
        if name == TIME_STEP:
            continue
        term, ranges = env.command_manager.term(name), None
        width = len(start)
        if isinstance(term, UniformVelocityCommand):
            start = [0.0] * width
            given = vars(term.cfg.ranges)
            ranges = [list(given[k]) for k in ("lin_vel_x", "lin_vel_y", "ang_vel_z")]
        found.append(
            {"name": name, "width": width, "start": start, "range": ranges}
            | {"kind": type(term).__name__}
        )
    return found


def upright_reading(
    env: ManagerBasedRlEnv, entity: str, leaf: Leaf
) -> list[float] | None:
    """Return a gravity sensor's reading for an upright root; None for other inputs."""
    robot, model = env.scene.entity(entity), env.sim.mj_model
    if robot.is_fixed_base or leaf.kind != "sensor":
        return None
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    root = model.body(root_frame(env, robot)).id
    body, axes = _up_sensor(model, data, model.sensor(leaf.about["name"]))
    if model.body_weldid[body] != root:
        return None
    turn = data.xmat[body] if axes is None else axes
    # Upward axis of the root in the sensor's axes.
    up = data.xmat[root].reshape(3, 3)[:, 2] @ turn.reshape(3, 3)
    return (up + 0.0).tolist()


def _up_sensor(model: Any, data: Any, sensor: Any) -> tuple[int, Any]:
    """Return the body and the rotation matrix (size 9) of a gravity sensor.

    A gravity sensor is a `framezaxis` of the world, seen from a body or site. Any other
    sensor gives (0, None), where body 0 is the world.
    """
    objects = mujoco.mjtObj
    of_world = int(sensor.objtype[0]) in (objects.mjOBJ_BODY, objects.mjOBJ_XBODY)
    of_world = of_world and int(sensor.objid[0]) == 0
    is_up = int(sensor.type[0]) == int(mujoco.mjtSensor.mjSENS_FRAMEZAXIS)
    kind, index = int(sensor.reftype[0]), int(sensor.refid[0])
    if is_up and of_world and kind == int(objects.mjOBJ_SITE):
        return int(model.site_bodyid[index]), data.site_xmat[index]
    if is_up and of_world and kind == int(objects.mjOBJ_XBODY):
        return index, data.xmat[index]
    return 0, None


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
    """Return the control law or delay of an actuator; None if MuJoCo computes it."""
    if cfg.delay is not None:
        return "a delay of commands"
    if type(cfg) is IdealPdActuatorCfg and cfg.transmission == "joint":
        return PD
    return (
        f"the control law of {cfg.kind}"
        if isinstance(cfg, ExplicitActuatorCfg)
        else None
    )


def _plain(value: Any) -> Any:
    """Return a JSON-compatible copy, with None for non-finite numbers."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return _short(value) if math.isfinite(value) else None
    return value


def _short(value: float) -> float:
    """Convert a single-precision number to its shortest decimal; keep other numbers."""
    single = np.float32(value)
    return float(str(single)) if float(single) == value else value
