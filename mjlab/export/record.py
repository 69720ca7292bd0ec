"""Record the first steps of a policy, and their scene, for its exported file.

Users of the file can replay these steps elsewhere and compare the results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab import mdp
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.build import load
from mjlab.export.leaves import Leaf
from mjlab.export.muscles import MuscleController
from mjlab.export.reader import ExportError
from mjlab.export.runner.policy import digest_of, files_of, pack
from mjlab.export.scene_file import packed_scene
from mjlab.export.targets import ACTION, sent
from mjlab.managers import BoundTerm, EventTermCfg
from mjlab.managers.event import required_fields
from mjlab.rl.learners import InferencePolicy
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.sim.compile import apply_options

STEPS = 200
"""Maximum number of recorded control steps. Recording ends with the episode."""


_MOST_BYTES, _LEAST_STEPS = 8_000_000, 21
"""Maximum size, bytes, of the record and of the scene, and minimum number of recorded
steps. Recording stops early if images exceed the size; a scene is omitted if its meshes
exceed it.
"""


_PHYSICS_STEPS = 200
"""Number of physics steps in which muscle controllers are recorded."""


@dataclass(frozen=True)
class FirstSteps:
    """Recorded inputs, outputs, commands, qpos and qvel of a policy's first steps."""

    fields: list[dict[str, Any]]
    """Name, shape and dtype of each array, in storage order."""

    content: str
    """All arrays as one text, packed by `pack`."""

    commands: dict[str, list[float]]
    """First recorded value of each command, by name."""

    def described(self) -> dict[str, Any]:
        """Return the contract entry of the record."""
        return {"steps": self.fields[0]["shape"][0], "fields": self.fields}


def starts(
    events: dict[str, EventTermCfg | None],
) -> dict[str, EventTermCfg | None]:
    """Return the events that initialise the state without changing the model."""
    return {
        name: event
        for name, event in events.items()
        if event is not None
        and event.mode == "reset"
        and not event.func.__module__.startswith(mdp.randomize.__name__)
        and not required_fields({name: event})
        and event.func not in _NO_STARTS
    }


# Excluded events: the world has no terrain tiles, and forces are not part of a state.
_NO_STARTS = (mdp.randomize_terrain, mdp.reset_root_state_from_flat_patches)
_NO_STARTS += (mdp.apply_external_force_torque, mdp.apply_body_impulse)


def record(
    worlds: RslRlVecEnv,
    network: torch.nn.Module,
    *,
    clip: float | None,
    leaves: Sequence[Leaf],
    controllers: Sequence[MuscleController] = (),
    steps: int = STEPS,
) -> FirstSteps:
    """Record the first steps of a network in its task.

    Args:
        worlds: Environment with one world, without randomisation.
        network: The trained network.
        clip: Bound of the actions, None for unbounded.
        leaves: Inputs of the file.
        controllers: The file's muscle controllers, recorded in the first physics steps.
        steps: Maximum number of steps.
    """
    env, policy = worlds.env, InferencePolicy(network)
    policy.reset()
    observations = worlds.reset(seed=0)
    bound = {leaf.name: leaf.bind(env) for leaf in leaves}
    told = {leaf.name: leaf.about["command"] for leaf in leaves if _is_command(leaf)}
    rows: list[dict[str, np.ndarray]] = []
    excited = [_Excitations(controller) for controller in controllers]
    size = 0
    while len(rows) < steps and (size < _MOST_BYTES or len(rows) < _LEAST_STEPS):
        row = _measured(env, bound, told)
        size += sum(value.nbytes for value in row.values())
        action = policy(observations)
        action = action if clip is None else action.clamp(-clip, clip)
        observations, _, dones, _ = worlds.step(action)
        if dones.item():
            break
        rows.append(row | _answered(env, action))
    if not rows:
        raise ExportError(
            "The policy's episode ends at its first step, so nothing can be recorded. "
            "Check whether the initial state meets a termination condition."
        )
    names = sorted(rows[0], key=lambda name: name not in ("qpos", "qvel"))
    arrays = {name: np.stack([row[name] for row in rows]) for name in names}
    for each in excited:
        arrays |= each.arrays()
    fields = [
        {"name": name, "shape": list(array.shape), "dtype": str(array.dtype)}
        for name, array in arrays.items()
    ]
    commands = {
        name.removeprefix("command "): array[0].tolist()
        for name, array in arrays.items()
        if name.startswith("command ")
    }
    content = b"".join(
        array.astype(array.dtype.newbyteorder("<")).tobytes()
        for array in arrays.values()
    )
    return FirstSteps(fields, pack(content), commands)


class _Excitations:
    """Records a muscle controller's inputs and outputs in the first physics steps."""

    def __init__(self, controller: MuscleController) -> None:
        self._controller, self._term = controller, controller.term
        self._rows: list[dict[str, np.ndarray]] = []
        self._term.watches.append(self)

    def __call__(self, excitation: torch.Tensor) -> None:
        if len(self._rows) == _PHYSICS_STEPS:
            return
        values, name = self._controller.read(), self._term.name
        row = {f"{name} input {key}": values[key] for key in self._controller.inputs}
        row[f"{name} output {self._controller.output}"] = excitation
        kept = {key: value[0].cpu().numpy().copy() for key, value in row.items()}
        self._rows.append(kept)

    def arrays(self) -> dict[str, np.ndarray]:
        """Stop recording, and return the recorded steps."""
        self._term.watches.remove(self)
        return {n: np.stack([row[n] for row in self._rows]) for n in self._rows[0]}


def _is_command(leaf: Leaf) -> bool:
    return "command" in leaf.about


def _measured(
    env: ManagerBasedRlEnv, bound: Mapping[str, BoundTerm], told: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """Return copies of the current qpos, qvel, inputs and commands, by name."""
    data = env.sim.data
    row = {"qpos": data.qpos, "qvel": data.qvel}
    with env.sim.reads.allow_late():
        row |= {f"input {name}": term() for name, term in bound.items()}
    row |= {f"command {told[name]}": row[f"input {name}"] for name in told}
    return {name: value[0].cpu().numpy().copy() for name, value in row.items()}


def _answered(env: ManagerBasedRlEnv, action: torch.Tensor) -> dict[str, np.ndarray]:
    """Return copies of the action and of the targets that the action terms set."""
    answers = {ACTION: action}
    for name, term in env.action_manager.terms.items():
        answers[f"{name}_target"] = sent(env, term)
    return {
        f"output {name}": value[0].cpu().numpy().copy()
        for name, value in answers.items()
    }


@dataclass(frozen=True)
class RecordedScene:
    """Scene of the recorded steps, as files."""

    content: str
    """Packed zip file with `scene.xml` and its assets."""

    digest: str
    """SHA-256 of all files."""

    lacks: str | None
    """Reason why the scene is omitted, None if it is included."""

    def described(self) -> dict[str, Any]:
        """Return the contract entry of the scene."""
        about = {"sha256": self.digest, "mujoco": mujoco.__version__}
        return about | {"lacks": self.lacks}


def recorded_scene(cfg: ManagerBasedRlEnvCfg) -> RecordedScene:
    """Pack the scene with its simulation options, without textures."""
    spec = load(cfg).built.spec.copy()
    apply_options(spec, cfg.sim.mujoco)
    content = packed_scene(spec)
    digest, lacks = digest_of(files_of(content)), None
    if len(content) > _MOST_BYTES:
        lacks = (
            f"its meshes take {len(content) / 1e6:.0f} MB, more than the limit of "
            f"{_MOST_BYTES / 1e6:.0f} MB"
        )
        content = b""
    return RecordedScene(pack(content), digest, lacks)
