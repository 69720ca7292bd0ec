"""Muscle models with random states, for the tests of `mjlab.muscle`."""

import functools
from collections.abc import Sequence
from types import SimpleNamespace

import mujoco
import numpy as np
import torch

from mjlab.muscle import MuscleMap, MuscleState, TorqueMap
from mjlab.sim import Simulation
from mjlab.tasks.muscle import models

XML = {"arm6": models.ARM6_XML, "w18": models.W18_XML, "w54": models.W54_XML}
NEUTRAL = {"hip": 0.1, "knee": -0.2, "ankle": 0.1}
"""The bent stance of the published capacities, by the first word of a joint."""


@functools.cache
def muscle_model(name: str) -> mujoco.MjModel:
    if name == "geared arm6":
        text = XML["arm6"].read_text("utf-8")
        geared = text.replace('tendon="biceps"', 'tendon="biceps" gear="1.7"')
        return mujoco.MjModel.from_xml_string(geared)
    return mujoco.MjModel.from_xml_path(str(XML[name]))


@functools.cache
def muscle_map(name: str) -> MuscleMap:
    return MuscleMap.from_model(muscle_model(name))


class EngineFields:
    """Data fields of an engine."""

    def __init__(self, sim: Simulation) -> None:
        self._engine = sim.engine

    def __getattr__(self, name: str) -> torch.Tensor:
        return self._engine.data(name)


def bend(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    for j in range(model.njnt):
        angle = NEUTRAL.get(model.joint(j).name.split("_")[0], 0.0)
        # Of the three rotations of a hip, one is flexion.
        if model.jnt_limited[j] and "ction" not in model.joint(j).name:
            if "rotation" not in model.joint(j).name:
                data.qpos[model.jnt_qposadr[j]] = angle
    mujoco.mj_forward(model, data)


def random_state(
    model: mujoco.MjModel, data: mujoco.MjData, rng: np.random.Generator
) -> None:
    """Set random joint positions within the ranges, velocities and activations."""
    mujoco.mj_resetData(model, data)
    for j in range(model.njnt):
        if model.jnt_limited[j]:
            data.qpos[model.jnt_qposadr[j]] = rng.uniform(*model.jnt_range[j])
    data.qvel[:] = rng.normal(0.0, 2.0, model.nv)
    data.ctrl[:] = rng.uniform(0.0, 1.0, model.nu)
    mujoco.mj_forward(model, data)


DATA = ("ten_J", "actuator_length", "actuator_velocity", "qpos", "qvel", "M")
FORCES = ("qfrc_bias", "qfrc_passive", "qfrc_constraint", "qfrc_actuator", "ctrl")
MODEL = ("gainprm", "biasprm", "lengthrange", "acc0")


def gather(model: mujoco.MjModel, states: Sequence[mujoco.MjData]) -> SimpleNamespace:
    """Return the fields of several states as float64 tensors, one row each."""
    return SimpleNamespace(
        **{
            name: torch.tensor(np.array([getattr(d, name) for d in states]))
            for name in (*DATA, *FORCES)
        }
    )


def constants(model: mujoco.MjModel, rows: int) -> SimpleNamespace:
    fields = {f"actuator_{name}": getattr(model, f"actuator_{name}") for name in MODEL}
    return SimpleNamespace(
        **{k: torch.tensor(v).expand(rows, *v.shape) for k, v in fields.items()}
    )


def random_states(
    name: str, count: int, seed: int = 0
) -> tuple[SimpleNamespace, MuscleState]:
    """Random states of a model, in float64, and the muscles' capacity in them."""
    model, rng = muscle_model(name), np.random.default_rng(seed)
    states = [mujoco.MjData(model) for _ in range(count)]
    for data in states:
        random_state(model, data, rng)
    fields = gather(model, states)
    state = MuscleState(muscle_map(name), count, dtype=torch.float64)
    state.update(fields, constants(model, count))
    return fields, state


def dense(torques: TorqueMap, red: torch.Tensor) -> torch.Tensor:
    """Torque per activation, shape (rows, dofs, muscles), by a plain loop."""
    matrix = red.new_zeros(len(red), torques.num_dofs, torques.num_muscles)
    pairs = zip(torques._dof.tolist(), torques.muscle.tolist(), strict=True)
    for entry, (dof, muscle) in enumerate(pairs):
        matrix[:, dof, muscle] += red[:, entry]
    return matrix
