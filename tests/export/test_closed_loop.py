"""Every shipped policy in closed loop: file compared with network."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.compare import compared_excitations, difference
from mjlab.export.drive import GROUP, input_group
from mjlab.export.runner.policy import ContractPolicy, checked
from mjlab.export.targets import sent
from mjlab.export.write import nominal
from mjlab.registry import entries, load_task
from mjlab.rl.learners import InferencePolicy, network_names
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.runs.run import shipped_with
from tests.export.test_runner_cpp import (
    compiled,
    contract_beside,
    driven,
    needs_compiler,
    numbers,
    plain,
)
from tests.worlds.shipped import shipped

STEPS = 500
TRAINED = [name for name in entries() if load_task(name).trained is not None]
ROUNDINGS = dict.fromkeys(("Reach-Yam-Depth", "Lift-Yam-Depth"), 1e-5 / 0.03)
"""A soft-argmax divides its input, with its rounding errors, by the temperature."""


def ran(
    task: str, path: Path
) -> tuple[float, list[Any], list[np.ndarray], list[Any], list[Any]]:
    """Run a file for 500 steps; return its maximum difference from the network.

    Also returns the readings, the inputs of onnxruntime, and the targets of each step;
    and the inputs and excitations of muscles in each physics step.
    """
    run = shipped_with(task)
    assert run is not None
    agent = run.configs()["agent"]
    policy, cfg = ContractPolicy(path), nominal(run.configs()["env"])
    groups = {**cfg.observations, GROUP: input_group(cfg, policy.contract)}
    env = ManagerBasedRlEnv(dataclasses.replace(cfg, observations=groups), device="cpu")
    worlds = RslRlVecEnv(env, groups=agent.obs_groups[network_names(agent)[0]])
    checkpoint = find_checkpoint(run.path)
    network = InferencePolicy(load_network(checkpoint, worlds, agent))
    network.reset()
    observations, worst, begins = worlds.reset(seed=0), 0.0, True
    muscles = compared_excitations(env, policy)
    moments, fed, targets = [], [], []
    clip = agent.clip_actions
    for _ in range(STEPS):
        measured = env.observation_manager.output[GROUP]
        assert isinstance(measured, dict)
        inputs = {name: value[0].numpy().copy() for name, value in measured.items()}
        whole = checked(policy.contract["inputs"], inputs) | policy.state
        fed.append(np.concatenate([value.ravel() for value in whole.values()]))
        answer = policy(inputs)
        nexts = [policy.state[s["name"]] for s in policy.contract["states"]]
        told = np.concatenate([v.ravel() for v in [*answer.values(), *nexts]])
        moments.append(
            {"begins": begins, "inputs": plain(inputs), "answer": told.tolist()}
        )
        names = [term["output"] for term in policy.contract["actions"]]
        targets.append(np.concatenate([answer[name] for name in names]))
        action = network(observations)
        action = action if clip is None else action.clamp(-clip, clip)
        worst = max(worst, difference(answer["action"], action[0].numpy()))
        # The file's action is applied, so that the last action is its own, with its
        # rounding.
        own = torch.from_numpy(answer["action"]).unsqueeze(0)
        observations, _, dones, _ = worlds.step(own)
        network.reset(dones)
        begins = bool(dones.item())
        if begins:
            policy.reset()
            continue
        for name, term in env.action_manager.terms.items():
            expected = sent(env, term)[0].numpy()
            worst = max(worst, difference(answer[f"{name}_target"], expected))
    env.close()
    worst = max([worst, *(each.worst for each in muscles)])
    excited = [step for each in muscles for step in each.steps]
    return worst, moments, fed, targets, excited


def muscles_in_cpp(driver: Path, path: Path, excited: list[Any]) -> float:
    """Return the maximum difference of the C++ header, in each physics step."""
    moments = [
        {"begins": False, "inputs": plain(inputs), "answer": answer.tolist()}
        for inputs, answer in excited
    ]
    words, worst = (driver, "controller", contract_beside(path), "muscles"), 0.0
    lines = [
        said
        for start in range(0, len(moments), STEPS)
        for said in driven(*words, moments=moments[start : start + STEPS])
    ]
    for line, (inputs, answer) in zip(lines, excited, strict=True):
        left, right = line.split("|")
        expected = np.concatenate([values.ravel() for values in inputs.values()])
        worst = max(worst, difference(numbers(left), expected))
        told = np.array([float(word) for word in right.split()[1::2]])
        worst = max(worst, difference(told, answer))
    return worst


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("cpp") / "driver")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("task", TRAINED)
def test_shipped_policy_acts_like_its_network_in_python_and_cpp(task, driver, tmp_path):
    """Print a table row: the task, and the two maximum differences."""
    path = shipped(task, tmp_path).path
    worst, moments, fed, targets, excited = ran(task, path)
    lines = driven(driver, "file", contract_beside(path), moments=moments)
    assert len(lines) == STEPS, lines[-1]
    in_cpp = 0.0
    for line, expected, target in zip(lines, fed, targets, strict=True):
        left, right = line.split("|")
        in_cpp = max(in_cpp, difference(numbers(left), expected))
        told = np.array([float(word) for word in right.split()[1::2]])
        in_cpp = max(in_cpp, difference(told, target))
    if excited:
        in_cpp = max(in_cpp, muscles_in_cpp(driver, path, excited))
    print(f"{task:24s} {worst:.1e} {in_cpp:.1e} {len(excited)}")
    assert worst < ROUNDINGS.get(task, 1e-5)
    assert in_cpp < 1e-6
