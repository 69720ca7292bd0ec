"""Export a trained policy to an ONNX file, verified against the network.

Export builds an environment with one world and without randomisation, so that defaults,
limits and gains are nominal. File and network run side by side in this environment, and
the export fails if their actions differ.
"""

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.export.compare import CHECKED_STEPS, compare_file, compare_terms
from mjlab.export.contract import contract
from mjlab.export.control_step import ControlStep
from mjlab.export.graph import onnx_model
from mjlab.export.muscles import muscle_controllers
from mjlab.export.reader import ExportError, OnnxPolicy, to_text
from mjlab.export.record import record, recorded_scene, starts
from mjlab.export.rewards import REWARD_MODEL, rewards_of
from mjlab.export.runner.policy import (
    CONTRACT,
    RECORD,
    SCENE,
    encode,
    with_checksum,
)
from mjlab.export.trace import Tracer
from mjlab.export.world import WORLD_MODEL, world_of
from mjlab.files import write_atomic, write_text
from mjlab.managers import ActionTermCfg, ObservationGroupCfg, ObservationTermCfg
from mjlab.muscle.action import MuscleActionCfg
from mjlab.rl.checkpoint import load_model
from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import network_names
from mjlab.rl.models.spatial import SpatialCnnModel
from mjlab.rl.policy import load_network
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import Run
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.safe_names import plain_name
from mjlab.terrain import TerrainCfg
from mjlab.threads import torch_threads

TOLERANCE = 1e-5
"""Tolerance of actions and targets of a file, relative for values above 1.

A spatial softmax amplifies rounding errors, so networks with one have a tolerance of
`TOLERANCE / temperature`.
"""


@dataclass(frozen=True)
class Exported:
    """Written files, contract and accuracy of an export."""

    path: Path
    """The ONNX file."""

    contract_path: Path
    """Contract of the file, as JSON in the same folder."""

    contract: dict[str, Any]
    """The contract."""

    error: float
    """Maximum difference between outputs of file and network, relative for values above
    1."""

    @property
    def summary(self) -> str:
        """Report for the console."""
        sizes = {
            kind: ", ".join(f"{e['name']} {_size(e['shape'])}" for e in entries)
            for kind, entries in self.contract.items()
            if kind in ("inputs", "outputs", "states")
        }
        state = f"\nState: {sizes['states']}" if sizes["states"] else ""
        rates = self.contract["rates"]
        rate = f"{rates['control_hz']:g} Hz"
        muscles = "".join(
            f", {output['name']} {_size(output['shape'])} at "
            f"{1.0 / rates['physics_dt']:g} Hz"
            for term in self.contract["actions"]
            if "tracked_by" in term
            for output in term["tracked_by"]["outputs"]
        )
        return (
            f"Wrote {self.path} and {self.contract_path}.\n"
            f"Inputs: {sizes['inputs']}{state}\n"
            f"Outputs: {sizes['outputs']} at {rate}{muscles}\n"
            f"Maximum difference from the network in {CHECKED_STEPS} steps: "
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
    """Export the policy of a run.

    Args:
        run: The run.
        configs: Configurations of the run, with the keys "env" and "agent".
        checkpoint: Checkpoint to export. None uses the newest, or the best if `best`.
        best: Export the best checkpoint instead of the newest.
        to: File to write. None means export/TASK.onnx in the run's folder.
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
    """Export the policy of a checkpoint, with its contract.

    Args:
        checkpoint: Checkpoint to export.
        to: File to write, such as "policy.onnx".
        env_cfg: Configuration of the training environment.
        agent_cfg: Configuration of the agent.
        task: Id of the task, for `play.py`.
        origin: Provenance entries for the contract.
    """
    with contextlib.closing(ManagerBasedRlEnv(nominal(env_cfg), device="cpu")) as env:
        env.reset(seed=0)
        name = network_names(agent_cfg)[0]
        seen, clip = agent_cfg.obs_groups[name], agent_cfg.clip_actions
        worlds = RslRlVecEnv(env, groups=seen)
        network = load_network(checkpoint, worlds, agent_cfg)
        with torch_threads(1):
            step = ControlStep(Tracer(env, seen), network.eval(), clip)
            controllers = muscle_controllers(step.tracer)
            compare_terms(step, controllers)
            world = world_of(step.tracer, [leaf.name for leaf in step.inputs])
            commands = [leaf.name for leaf in step.inputs if leaf.kind == "command"]
            rewards = rewards_of(
                step.tracer, commands, {} if world is None else world.states
            )
            steps = record(
                worlds, network, clip=clip, leaves=step.inputs, controllers=controllers
            )
        scene = recorded_scene(env.cfg)
        whole = contract(
            step,
            controllers,
            env_cfg,
            agent_cfg,
            task=task,
            origin={
                "checkpoint": checkpoint.name,
                "iteration": load_model(checkpoint)["progress"]["iteration"],
                **(origin or {}),
            },
            network=name,
            first_commands=steps.commands,
            more={"model": scene.described(), "record": steps.described()}
            | ({} if world is None else {"world": world.described()})
            | ({} if rewards is None else {"rewards": rewards.described()}),
        )
        texts = {CONTRACT: to_text(whole), "task": task}
        texts |= {RECORD: steps.content, SCENE: scene.content}
        texts |= {
            each.name: encode(each.model().SerializeToString()) for each in controllers
        }
        if world is not None:
            texts[WORLD_MODEL] = encode(world.model().SerializeToString())
        if rewards is not None:
            texts[REWARD_MODEL] = encode(rewards.model().SerializeToString())
        model = onnx_model(step.file, step.examples, texts)
        leaves = {leaf.name: leaf for leaf in step.inputs}

        def error(file: OnnxPolicy) -> float:
            with torch_threads(1):
                return compare_file(file, worlds, network, clip=clip, leaves=leaves)

        return _write(to, model, whole, error, _allowed(network))


def _write(
    to: Path,
    model: onnx.ModelProto,
    whole: dict[str, Any],
    error_of: Callable[[OnnxPolicy], float],
    allowed: float,
) -> Exported:
    """Write a file and its contract; raise if the error exceeds the tolerance."""
    content, whole["checksum"] = with_checksum(model.SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / to.name
        draft.write_bytes(content)
        error = error_of(OnnxPolicy(draft))
    if not error <= allowed:
        raise ExportError(
            f"{to} was not written: in simulation, actions or targets of the file "
            f"differ from the network's by {error:.2g}, more than the tolerance "
            f"{allowed:.2g}. Please report this."
        )
    contract_path = to.with_suffix(".contract.json")
    write_atomic(to, lambda file: file.write(content))
    write_text(contract_path, to_text(whole))
    return Exported(to, contract_path, whole, error)


def _size(shape: Sequence[int]) -> str:
    return f"({' x '.join(map(str, shape))})"


def nominal(cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnvCfg:
    """Return the configuration with one world, without noise, delay and randomisation.

    It uses the native backend in eager mode, and flat ground instead of generated
    terrain.
    """
    groups: dict[str, ObservationGroupCfg | None] = {}
    for name, group in cfg.observations.items():
        if group is not None:
            terms = {key: term and _on_time(term) for key, term in group.terms.items()}
            groups[name] = dataclasses.replace(
                group, terms=terms, enable_corruption=False
            )
    scene = dataclasses.replace(cfg.scene, num_envs=1)
    if scene.terrain is not None and scene.terrain.generator is not None:
        # Generated terrain is too large for the file, and the policy does not need it.
        scene.terrain = TerrainCfg()
    return dataclasses.replace(
        cfg,
        observations=groups,
        actions={name: _unblocked(term) for name, term in cfg.actions.items()},
        scene=scene,
        sim=dataclasses.replace(cfg.sim, backend="native"),
        events=starts(cfg.events),
        curriculum={},
        recorders={},
        seed=0,
        mode="eager",
    )


def _on_time(term: ObservationTermCfg) -> ObservationTermCfg:
    """Return the term without delay: a file contains no delays."""
    return dataclasses.replace(term, delay=None, delay_min_lag=0, delay_max_lag=0)


def _unblocked(term: ActionTermCfg | None) -> ActionTermCfg | None:
    """Set a muscle action's block size to one world, which avoids padding."""
    is_muscle = isinstance(term, MuscleActionCfg)
    return dataclasses.replace(term, block=1) if is_muscle else term


def _allowed(network: torch.nn.Module) -> float:
    """Return the tolerance for a network, larger for a spatial softmax."""
    is_spatial = isinstance(network, SpatialCnnModel)
    return TOLERANCE / min(1.0, network.temperature if is_spatial else 1.0)
