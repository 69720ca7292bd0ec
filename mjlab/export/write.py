"""Writes a trained policy to an ONNX file, and proves that it acts like the original.

The environment is built once more, with one world and nothing randomised: defaults,
limits and gains are then the nominal ones. There the file and the network act side by
side, and a file that acts differently is refused.
"""

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export.contract import contract, to_text
from mjlab.export.graph import Graph
from mjlab.export.inputs import Observer
from mjlab.export.network import add_network
from mjlab.export.plan import GROUP, OnnxInput, measured_group, plan
from mjlab.export.reader import ExportError, OnnxPolicy
from mjlab.export.recipes import described_commands
from mjlab.export.record import record, recorded_scene, starts
from mjlab.export.runner.policy import CONTRACT, RECORD, SCENE, with_checksum
from mjlab.export.targets import ACTION, add_targets
from mjlab.files import write_atomic, write_text
from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.mdp.driven import DrivenAction
from mjlab.rl.checkpoint import load_model
from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import InferencePolicy, network_names
from mjlab.rl.models.spatial import SpatialCnnModel
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import Run
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.safe_names import plain_name
from mjlab.tensors.math import (
    quat_box_minus,
    quat_conjugate,
    quat_mul,
    quat_rotate_inverse,
)
from mjlab.terrain import TerrainCfg
from mjlab.threads import torch_threads

TOLERANCE = 1e-5
"""Largest difference between the file and the network: of actions and targets, or of
their share where they are larger than 1. A spatial softmax multiplies what is rounded
by the inverse of its temperature, and the difference that is allowed too."""

CHECKED_STEPS = 50
"""Steps over which every file is compared."""

_SIZE_OF_ACTIONS = 0.5


@dataclass(frozen=True)
class Exported:
    """The files that were written."""

    path: Path
    """The ONNX file."""

    contract_path: Path
    """The contract beside it, as JSON."""

    contract: dict[str, Any]
    """The contract."""

    error: float
    """Largest difference between the file and the network when they were compared, as
    a share where numbers are larger than 1."""

    @property
    def summary(self) -> str:
        """A summary for the user."""
        sizes = {
            kind: ", ".join(f"{e['name']} {_size(e['shape'])}" for e in entries)
            for kind, entries in self.contract.items()
            if kind in ("inputs", "outputs", "states")
        }
        state = f"\nState: {sizes['states']}" if sizes["states"] else ""
        rate = f"{self.contract['rates']['control_hz']:g} Hz"
        return (
            f"Wrote {self.path} and {self.contract_path.name}.\n"
            f"Inputs: {sizes['inputs']}{state}\n"
            f"Outputs: {sizes['outputs']} at {rate}\n"
            f"Largest difference from the network in {CHECKED_STEPS} steps: "
            f"{self.error:.1g}"
        )


def export_run(
    run: Run,
    configs: Mapping[str, Any],
    *,
    checkpoint: Path | None = None,
    best: bool = False,
    to: Path | None = None,
) -> Exported:
    """Write the policy of a run.

    Args:
        run: The run.
        configs: Its configurations by name.
        checkpoint: One of its checkpoints. None takes the newest, or the best.
        best: Take the best.
        to: The file to write. None is export/<task>.onnx in the run's folder.
    """
    info = run.info()
    git = {Path(top).name: found for top, found in info["git"].items()}
    return export_policy(
        checkpoint or find_checkpoint(run.path, best=best),
        to or run.path / "export" / f"{plain_name(info['task'])}.onnx",
        env_cfg=configs["env"],
        agent_cfg=configs["agent"],
        task=info["task"],
        origin={
            "run": run.path.name,
            "trained_with": info["versions"],
            "git": git,
            "seed": info["seed"],
        },
    )


def export_policy(
    checkpoint: Path,
    to: Path,
    *,
    env_cfg: ManagerBasedRlEnvCfg,
    agent_cfg: AgentCfg,
    task: str,
    origin: Mapping[str, Any] | None = None,
) -> Exported:
    """Write the policy of a checkpoint, with its contract beside it.

    Args:
        checkpoint: The checkpoint.
        to: The file to write, such as "policy.onnx".
        env_cfg: The environment that it was trained in.
        agent_cfg: The configuration of its training.
        task: The task's id, by which `play.py` finds it.
        origin: More about where it comes from, for the contract.
    """
    name = network_names(agent_cfg)[0]
    seen = agent_cfg.obs_groups[name]
    planned = plan(env_cfg, seen)
    env = ManagerBasedRlEnv(_nominal(env_cfg, planned), device="cpu")
    worlds = RslRlVecEnv(env, groups=seen)
    network = load_network(checkpoint, worlds, agent_cfg)

    graph = Graph()
    observer = Observer(graph, env)
    groups = observer.add(planned, seen)
    clip = agent_cfg.clip_actions
    action = add_network(graph, network.eval(), groups)
    action, actions = add_targets(graph, env, action, clip=clip, observer=observer)
    if observer.last_action is not None:
        graph.remember("last_action", action)
    steps = record(worlds, network, clip=clip, inputs=observer.inputs)
    scene = recorded_scene(env.cfg)
    whole = contract(
        env,
        agent_cfg,
        task=task,
        origin={
            "checkpoint": checkpoint.name,
            "iteration": load_model(checkpoint)["progress"]["iteration"],
            **(origin or {}),
        },
        inputs=observer.inputs,
        states=graph.states,
        actions=actions,
        planned=planned,
        affine=observer.affine,
        network=name,
        clips=observer.clips,
        commands=described_commands(env, observer.inputs, steps.commands),
        more={"model": scene.described(), "record": steps.described()},
    )
    texts = {CONTRACT: to_text(whole), "task": task}
    texts |= {RECORD: steps.content, SCENE: scene.content}
    return _write(to, graph.model(texts), whole, worlds, network, clip)


def _size(shape: Sequence[int]) -> str:
    return f"({' x '.join(map(str, shape))})"


def _nominal(
    cfg: ManagerBasedRlEnvCfg, planned: list[OnnxInput]
) -> ManagerBasedRlEnvCfg:
    """Return one world, with nothing drawn, that also shows what the file takes."""
    groups: dict[str, ObservationGroupCfg | None] = {}
    for name, group in cfg.observations.items():
        if group is not None:
            terms = {key: term and _on_time(term) for key, term in group.terms.items()}
            groups[name] = dataclasses.replace(
                group, terms=terms, enable_corruption=False
            )
    nominal = dataclasses.replace(cfg, observations=groups)
    places = {each.input: each.place for each in planned if each.is_measured}
    groups[GROUP] = measured_group(nominal, places)
    scene = dataclasses.replace(cfg.scene, num_envs=1)
    if scene.terrain is not None and scene.terrain.generator is not None:
        # What is drawn is no part of the policy, and too large for its file.
        scene.terrain = TerrainCfg()
    return dataclasses.replace(
        nominal,
        scene=scene,
        sim=dataclasses.replace(cfg.sim, backend="native"),
        events=starts(cfg.events),
        curriculum={},
        recorders={},
        seed=0,
        mode="eager",
    )


def _on_time(term: ObservationTermCfg) -> ObservationTermCfg:
    """Return a term without its delay, which is not the file's business."""
    return dataclasses.replace(term, delay=None, delay_min_lag=0, delay_max_lag=0)


def _write(
    to: Path,
    model: Any,
    whole: dict[str, Any],
    worlds: RslRlVecEnv,
    network: torch.nn.Module,
    clip: float | None,
) -> Exported:
    """Write the file once it is known to be right."""
    content, whole["checksum"] = with_checksum(model.SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / to.name
        draft.write_bytes(content)
        with torch_threads(1):
            error = compare(OnnxPolicy(draft), worlds, network, clip=clip)
    worlds.env.close()
    if not error <= _allowed(network):
        raise ExportError(
            f"The policy cannot be written to {to}: in simulation the file acts "
            f"differently from the network, by {error:.2g}. Please report this."
        )
    contract_path = to.with_suffix(".contract.json")
    write_atomic(to, lambda file: file.write(content))
    write_text(contract_path, to_text(whole))
    return Exported(to, contract_path, whole, error)


def _allowed(network: torch.nn.Module) -> float:
    """Return how much the file may differ: a sharp softmax enlarges what is rounded."""
    is_spatial = isinstance(network, SpatialCnnModel)
    return TOLERANCE / min(1.0, network.temperature if is_spatial else 1.0)


def compare(
    policy: OnnxPolicy,
    worlds: RslRlVecEnv,
    network: torch.nn.Module,
    *,
    clip: float | None,
    steps: int = CHECKED_STEPS,
) -> float:
    """Run file and network on the same measurements; return how much they differ.

    The world is moved by chance, so that it goes where no policy would take it.

    Args:
        policy: The file.
        worlds: One world, which also measures what the file takes.
        network: The network.
        clip: Largest size of an action, None for any.
        steps: How long.
    """
    env = worlds.env
    original = InferencePolicy(network)
    original.reset()
    policy.reset()
    chance = torch.Generator().manual_seed(0)
    observations = worlds.reset(seed=0)
    worst = 0.0
    for _ in range(steps):
        action = original(observations)
        action = action if clip is None else action.clamp(-clip, clip)
        measured = env.observation_manager.output[GROUP]
        assert isinstance(measured, dict), "The group is not concatenated."
        found = policy({name: value[0].numpy() for name, value in measured.items()})
        for name, expected in _expected(env, action).items():
            worst = max(worst, _difference(found[name], expected))
        taken = _SIZE_OF_ACTIONS * torch.randn(action.shape, generator=chance)
        if "state_last_action" in policy.state:
            policy.state["state_last_action"] = taken[0].numpy()
        observations, _, dones, _ = worlds.step(taken)
        original.reset(dones)
        if dones.item():
            policy.reset()
    return worst


def _expected(env: ManagerBasedRlEnv, action: torch.Tensor) -> dict[str, np.ndarray]:
    """Return what the environment makes of an action, by output."""
    expected, start = {ACTION: action[0].numpy()}, 0
    for name, term in env.action_manager.terms.items():
        assert isinstance(term, DrivenAction), "Others were refused."
        term.process_actions(action[:, start : start + term.action_dim])
        expected[f"{name}_target"] = _asked(term)[0].numpy()
        start += term.action_dim
    return expected


def _asked(term: DrivenAction) -> torch.Tensor:
    """Return the targets of a term in force; of a frame, the way to its goal."""
    if not isinstance(term, mdp.DifferentialIKAction):
        return term.processed_action
    cfg, data = term.cfg, term.entity.data
    in_base = cfg.command_frame == "base"
    quat = data.root_quat_w if in_base else torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    place, goal = term.goal_pos_w, term.goal_quat_w
    if cfg.use_relative_mode:
        parts = [place - term.frame.pos_w, quat_box_minus(goal, term.frame.quat_w)]
        parts = [quat_rotate_inverse(quat, part) for part in parts]
    else:
        origin = data.root_pos_w if in_base else torch.zeros(1, 3)
        parts = [quat_rotate_inverse(quat, place - origin)]
        parts += [quat_mul(quat_conjugate(quat), goal)]
    return torch.cat(parts, dim=1)[:, : term.action_dim]


def _difference(found: np.ndarray, expected: np.ndarray) -> float:
    size = np.maximum(1.0, np.abs(expected))
    difference = np.max(np.abs(found - expected) / size)
    # What is not a number is as different as can be.
    return float(np.nan_to_num(difference, nan=np.inf))
