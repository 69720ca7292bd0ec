"""Policies with random weights, for the tests of ONNX files."""

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export import Exported, OnnxPolicy, export_policy
from mjlab.export.drive import GROUP, input_group
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.rl import AgentCfg, Ranks
from mjlab.rl.checkpoint import write_model
from mjlab.rl.layout import policy_layout
from mjlab.rl.learners import InferencePolicy, Learner
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tensors import DelayCfg

Numbers = np.ndarray


def cartpole() -> CartpoleBalanceCfg:
    """Episodes of two seconds; the actor has all observation stages and a history."""
    cfg = CartpoleBalanceCfg(episode_length_s=2.0, seed=3)
    old = cfg.observations["actor"]
    assert old is not None
    joints = old.terms["velocity"].params
    late = DelayCfg(min_lag=2, max_lag=2)
    terms = dict(old.terms) | {
        "cart_pos": replace(
            old.terms["cart_pos"],
            history_length=4,
            scale=2.5,
        ),
        "velocity": replace(
            old.terms["velocity"], clip=(-0.3, 0.2), scale=(3.0, 0.5), delay=late
        ),
        "relative": ObservationTermCfg(
            func=mdp.joint_vel_rel, params=joints, history_length=2, delay=late
        ),
        "share": ObservationTermCfg(
            func=mdp.joint_pos_limit_normalized, params=joints, clip=(-0.01, 1.0)
        ),
        "past": ObservationTermCfg(func=mdp.last_action, history_length=3, scale=0.5),
    }
    cfg.observations["actor"] = ObservationGroupCfg(
        terms=terms, nan_policy="sanitize", enable_corruption=False
    )
    force = cfg.actions["force"]
    cfg.actions["force"] = replace(
        force, scale=0.3, offset=0.05, clip={"slider": (-0.2, 0.25)}
    )
    return cfg


def stir(network: torch.nn.Module, seed: int = 0) -> None:
    """Set every weight, bias and running mean to a random value."""
    chance = torch.Generator().manual_seed(seed)
    for name, tensor in network.state_dict().items():
        if not tensor.is_floating_point():
            continue
        drawn = torch.randn(tensor.shape, generator=chance)
        if name.endswith(("_std", "_var", "running_var")):
            drawn = 0.5 + drawn.abs()
        elif tensor.ndim > 1 and not name.startswith("obs_normalizer"):
            drawn = drawn / tensor.shape[1] ** 0.5
        tensor.copy_(drawn)


def save(folder: Path, env_cfg: ManagerBasedRlEnvCfg, agent: AgentCfg) -> Path:
    """Save an untrained policy; return the checkpoint."""
    scene = dataclasses.replace(env_cfg.scene, num_envs=2)
    env = ManagerBasedRlEnv(dataclasses.replace(env_cfg, scene=scene), device="cpu")
    groups = sorted({group for seen in agent.obs_groups.values() for group in seen})
    learner = Learner(RslRlVecEnv(env, groups=groups), agent, Ranks())
    stir(learner.policy)
    state = learner.algorithm.save()
    weights = {name: state[name] for name in ("actor_state_dict",)}
    model = {
        "layout": policy_layout(env, agent),
        "learner": {"algorithm": weights},
        "progress": {"iteration": 7},
    }
    env.close()
    path = folder / "model_000007.pt"
    write_model(path, model, 7)
    return path


def write(
    folder: Path, env_cfg: ManagerBasedRlEnvCfg, agent: AgentCfg, task: str = "T"
) -> tuple[Path, Exported]:
    """Save a policy and export it; return checkpoint and file."""
    checkpoint = save(folder, env_cfg, agent)
    exported = export_policy(
        checkpoint,
        folder / "policy.onnx",
        env_cfg=env_cfg,
        agent_cfg=agent,
        task=task,
    )
    return checkpoint, exported


@dataclasses.dataclass
class Moment:
    """A recorded control step, shapes (num_envs, ...)."""

    measured: dict[str, Numbers]
    """Inputs of the file."""

    action: Numbers
    """Action of the network."""

    begins: Numbers
    """Whether an episode started with this step, bool."""

    ends: Numbers
    """Whether it ended with this step, bool."""

    targets: dict[str, Numbers]
    """Targets of the robot after the step, by quantity."""


def record(
    checkpoint: Path,
    env_cfg: ManagerBasedRlEnvCfg,
    agent: AgentCfg,
    contract: dict[str, Any],
    *,
    entity: str,
    steps: int,
    worlds: int = 2,
) -> list[Moment]:
    """Recorded outputs of torch in an environment, and the measurable inputs."""
    groups = {**env_cfg.observations, GROUP: input_group(env_cfg, contract)}
    scene = dataclasses.replace(env_cfg.scene, num_envs=worlds)
    cfg = dataclasses.replace(env_cfg, scene=scene, observations=groups)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    wrapped = RslRlVecEnv(
        env, groups=agent.obs_groups["actor"], clip_actions=agent.clip_actions
    )
    policy = InferencePolicy(load_network(checkpoint, env, agent))
    data = env.scene.entity(entity).data
    observations = wrapped.reset(seed=5)
    begins = np.ones(worlds, bool)
    found = []
    for _ in range(steps):
        measured = env.observation_manager.output[GROUP]
        assert isinstance(measured, dict)
        kept = {name: value.numpy().copy() for name, value in measured.items()}
        action = policy(observations)
        observations, _, dones, _ = wrapped.step(action)
        policy.reset(dones)
        targets = {name: t.numpy().copy() for name, t in vars(data.targets).items()}
        targets["joint_pos"] = targets["joint_pos"] + data.encoder_bias.numpy()
        ends = dones.numpy().copy()
        found.append(Moment(kept, action.numpy().copy(), begins, ends, targets))
        begins = ends
    env.close()
    return found


def errors(file: OnnxPolicy, moments: list[Moment]) -> tuple[float, float]:
    """Largest error of the file's actions and targets over a recording.

    Errors are relative to the largest output where it exceeds 1, because float32
    rounding grows with the summed values. Targets of worlds that were reset are
    excluded.
    """
    worlds = len(moments[0].begins)
    policies = [file.another() for _ in range(worlds)]
    clip = file.contract["action_clip"] or np.inf
    by_action = by_target = 0.0
    for moment in moments:
        for world, policy in enumerate(policies):
            if moment.begins[world]:
                policy.reset()
            found = policy({k: v[world] for k, v in moment.measured.items()})
            expected = moment.action[world].clip(-clip, clip)
            by_action = max(by_action, _error(found["action"], expected))
            if moment.ends[world]:
                continue
            for term in file.contract["actions"]:
                robot = moment.targets[term["quantity"]][world]
                names = [j["name"] for j in _joints(file, term)]
                told = robot[[names.index(name) for name in term["targets"]]]
                by_target = max(by_target, _error(found[term["output"]], told))
    return by_action, by_target


def _error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def _joints(file: OnnxPolicy, term: dict[str, Any]) -> list[dict[str, Any]]:
    return file.contract["entities"][term["entity"]]["joints"]


def save_linear(path: Path, inputs: int, outputs: int) -> None:
    """Write a network that maps "obs" to "actions", all zero, with ONNX alone."""
    onnx = pytest.importorskip("onnx")
    weights = onnx.numpy_helper.from_array(np.zeros((inputs, outputs), np.float32), "w")
    obs, actions = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", size])
        for name, size in (("obs", inputs), ("actions", outputs))
    )
    node = onnx.helper.make_node("MatMul", ["obs", "w"], ["actions"])
    graph = onnx.helper.make_graph([node], "linear", [obs], [actions], [weights])
    opset = [onnx.helper.make_opsetid("", 18)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=10), path)
