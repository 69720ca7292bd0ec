"""Answers asked from outside after a replay, which runs no Python, against a twin's.

Whatever computes on request must forget it when a graph has moved the worlds.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from mjlab import views
from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle.action import MuscleAction
from mjlab.registry import load_task
from mjlab.sensor import ContactSensor
from tests.tools.cuda_stand_in import CudaTensor, StandInError, stand_in, to_host

NUM_ENVS = 4
TASKS = {"Velocity-G1-Flat": 20}
# Names of properties that a thing of this configuration does not have.
MISSING = (AttributeError, ValueError)


def build(name: str, mode: Any) -> ManagerBasedRlEnv:
    cfg = load_task(name).env()
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = NUM_ENVS, 0, "warp"
    cfg.episode_length_s = 40 * cfg.decimation * cfg.sim.mujoco.timestep
    cfg.mode = mode
    env = ManagerBasedRlEnv(cfg, device="cuda:0")
    env.reset(seed=3)
    return env


def tensors(value: Any, path: str) -> Iterator[tuple[str, bytes]]:
    """Tensors within a value, by the way to them."""
    if isinstance(value, CudaTensor):
        yield path, to_host(value).contiguous().numpy().tobytes()
    elif isinstance(value, views.Pose):
        yield from tensors(value.p, f"{path}.p")
        yield from tensors(value.q, f"{path}.q")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from tensors(getattr(value, field.name), f"{path}.{field.name}")


def properties(owner: Any, path: str) -> Iterator[tuple[str, bytes]]:
    """Public attributes of an object that are tensors, whatever computes them."""
    if isinstance(owner, torch.Tensor):
        yield path, to_host(owner).contiguous().numpy().tobytes()
        return
    for name in {*dir(type(owner)), *getattr(owner, "__dict__", ())}:
        if name.startswith("_") or callable(getattr(type(owner), name, None)):
            continue
        try:
            value = getattr(owner, name)
        except MISSING:
            continue
        yield from tensors(value, f"{path}.{name}")


def times(sensor: ContactSensor, name: str) -> Iterator[tuple[str, bytes]]:
    """Answers about times, of a sensor that takes them."""
    try:
        touching = sensor.is_in_contact()
    except AttributeError:
        return
    yield from tensors(touching, f"{name}.touching")
    yield from tensors(sensor.compute_first_contact(0.1), f"{name}.landed")
    yield from tensors(sensor.compute_first_air(0.1), f"{name}.lifted")


def asked(env: ManagerBasedRlEnv) -> dict[str, bytes]:
    """Everything that can be asked of an environment between two steps."""
    answers: dict[str, bytes] = {}
    seen = views.of(env.scene)
    owners: dict[str, Any] = {"views": seen}
    for name, entity in env.scene.entities.items():
        view = seen.view(name)
        owners |= {f"data.{name}": entity.data, f"view.{name}": view}
        body = seen.body(next(n for n in seen.body_index if n.startswith(f"{name}/")))
        owners[f"body.{name}"] = body
    for name, sensor in env.scene.sensors.items():
        owners |= {f"sensor.{name}": sensor, f"sensor.{name}.data": sensor.data}
        if isinstance(sensor, ContactSensor):
            answers |= dict(times(sensor, name))
    for name, term in env.command_manager.terms.items():
        owners[f"command.{name}"] = term
    for name, action in env.action_manager.terms.items():
        owners[f"action.{name}"] = action
        if isinstance(action, MuscleAction):
            owners[f"muscles.{name}"] = action.present()
    for path, owner in owners.items():
        answers |= dict(properties(owner, path))
    tables = str(env).partition("\n\n")[2]
    return answers | {"print(env)": tables.encode()}


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_what_is_asked_after_a_replay_is_what_a_twin_answers(name: str) -> None:
    try:
        with stand_in():
            wrong, asked_for = compare(name)
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")
    assert len(asked_for) > 40
    assert wrong == {}


def compare(name: str) -> tuple[dict[str, int], set[str]]:
    """Steps after which answers differ, by what was asked; and all that was asked."""
    fused, eager = (build(name, mode) for mode in ("fused", "segmented"))
    random = torch.Generator().manual_seed(0)
    size = (NUM_ENVS, fused.action_manager.total_action_dim)
    wrong: dict[str, int] = {}
    names: set[str] = set()
    for step in range(TASKS[name]):
        action = torch.randn(size, generator=random).to("cuda:0")
        mask = torch.rand(NUM_ENVS, generator=random).to("cuda:0") < 0.3
        for env in (fused, eager):
            env.step(action)
            if step % 7 == 3:
                env.reset(mask=mask)
        with fused.sim.reads.allow_late(), eager.sim.reads.allow_late():
            ours, theirs = asked(fused), asked(eager)
        assert ours.keys() == theirs.keys()
        names |= ours.keys()
        for key in [key for key in ours if ours[key] != theirs[key]]:
            wrong[key] = wrong.get(key, 0) + 1
    return wrong, names
