"""Training of the muscle network, in parallel with the policy."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle import (
    MuscleAction,
    MuscleCascade,
    MuscleLearnerCfg,
    MuscleRegression,
    MuscleState,
    TorqueMap,
    muscle_action,
)
from mjlab.muscle.action import make_network
from mjlab.muscle.network import cascade_rows
from mjlab.muscle.store import WeightError
from mjlab.registry import entries, load_task
from mjlab.rl import Hook, HookCfg, Training
from mjlab.rl.checkpoint import load_model
from mjlab.rl.vecenv import TrainingEnv, terms_of
from mjlab.runs import find
from mjlab.runs.checkpoints import find_checkpoint

if TYPE_CHECKING:
    from mjlab.rl.figures import Number

_SHOWN = {
    "loss": "loss",
    "rms_torque": "rms_torque",
    "optimum_rms_torque": "optimum_rms_torque",
    "mean_square_activation": "mean_square",
    "optimum_mean_square": "optimum_mean_square",
    "zero_share": "zero_share",
    "full_share": "full_share",
    "optimality_gap": "gap",
    "infeasible_share": "infeasible_share",
    "learn_ms": "learn_ms",
    "rows": "rows",
    "tuple_bytes": "tuple_bytes",
}


class MuscleHookCfg(HookCfg):
    """Train the muscle network after each iteration on the torques of its rollout."""

    learner: MuscleLearnerCfg = MuscleLearnerCfg()
    """Settings of the training."""

    action: str = "muscles"
    """Name of the muscle action."""

    pretraining_rows: int = 12_000
    """Number of random poses for pretraining in a new run."""

    pretraining_updates: int = 12
    """Number of pretraining updates. 0 starts with random weights."""

    earlier: str | None = None
    """Source of the earlier networks of a cascade in a new run: a run, a checkpoint, or
    a task id for its shipped policy. These networks are not trained further."""

    def bind(self, name: str, env: TrainingEnv) -> Hook:
        """Create the hook for one run."""
        return MuscleHook(name, self, env)

    def equip(self, env: ManagerBasedRlEnv, state: Mapping[str, Any]) -> None:
        """Load the muscle network of a checkpoint into an environment."""
        term = muscle_action(env, self.action)
        check_state(term, state)
        term.load_network(acting_network(state), int(state["version"]))

    def acting(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the network's state without the parts that only training needs."""
        return {**state, "learner": {"network": state["learner"]["network"]}}


class MuscleHook(Hook):
    """Trains the muscle network on the torques of the last rollout, and publishes it.

    Before the first rollout it is trained on random poses, so that muscles
    approximately produce the policy's torques from the start.
    """

    def __init__(self, name: str, cfg: MuscleHookCfg, env: TrainingEnv) -> None:
        """Create the learner with its own network on the training device."""
        self.name = name
        self.cfg = cfg
        self._env = terms_of(env)
        self._term: MuscleAction = muscle_action(self._env, cfg.action)
        muscles, device = self._term.map, env.device
        self._whole = make_network(self._term.cfg, muscles).to(device)
        self._whole.load_state_dict(self._term.network_state())
        whole = self._whole
        self.learner = MuscleRegression(
            whole.last if isinstance(whole, MuscleCascade) else whole,
            TorqueMap(muscles, device),
            self._term.buffer.layout,
            cfg.learner,
            **self._term.dynamics(device),
        )
        """Network and optimiser."""
        self.version = 0
        """Number of published weight updates."""

    def before_first_iteration(self, loop: Training) -> None:
        """Load the earlier networks of a cascade, and pretrain on random poses."""
        whole = self._whole
        if isinstance(whole, MuscleCascade):
            self._load_earlier(whole)
            self._publish()
        if not self.cfg.pretraining_updates:
            return
        rows = random_rows(self._term, self.cfg.pretraining_rows, seed=self._env.seed)
        if isinstance(whole, MuscleCascade):
            rows = cascade_rows(whole, rows)
        for _ in range(self.cfg.pretraining_updates):
            self.learner.learn(rows)
        self._publish()

    def equip(self, env: ManagerBasedRlEnv) -> None:
        """Load the trained network into the muscle action of another environment."""
        self.cfg.equip(env, self.state())

    def tensors(self) -> Mapping[str, torch.device]:
        """Return the devices on which the network is trained and evaluated, by name."""
        return {
            "muscle learner": self.learner.network.muscle_scale.device,
            "muscle network": next(self._term.network.parameters()).device,
        }

    def after_iteration(self, loop: Training) -> Mapping[str, Number]:
        """Train on the rollout, and publish the weights."""
        found = self.learner.learn(self._term.rows())
        figures = {f"Muscle/{name}": found[key] for key, name in _SHOWN.items()}
        return figures | {
            "Muscle/publish_ms": self._publish(),
            "Muscle/version": float(self.version),
        }

    def state(self) -> dict[str, Any]:
        """Return network, scales, optimiser state, and the muscles' fingerprint."""
        state = {
            "learner": self.learner.state_dict(),
            "version": self.version,
            "map": self._term.map.fingerprint,
        }
        if isinstance(self._whole, MuscleCascade):
            state["cascade"] = self._whole.state_dict()
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore networks, optimiser state and version from a checkpoint."""
        check_state(self._term, state)
        self._whole.load_state_dict(acting_network(state))
        self.learner.load_state_dict(state["learner"])
        self.version = int(state["version"]) - 1
        self._publish()

    def _publish(self) -> float:
        """Copy the weights to the worlds; return the time, in ms."""
        begun = time.perf_counter()
        self.version += 1
        self._term.load_network(self._whole.state_dict(), self.version)
        return 1000.0 * (time.perf_counter() - begun)

    def _load_earlier(self, cascade: MuscleCascade) -> None:
        """Load all networks but the last from a policy of the same muscles."""
        count = len(cascade.networks) - 1
        if self.cfg.earlier is None:
            raise WeightError(
                f"Only the last network of the cascade is trained. Set agent.hooks."
                f"{self.name}.earlier to a run or a task id with the first {count}."
            )
        path = find_checkpoint(_place_of(self.cfg.earlier))
        state = load_model(path, self._env.device)["hooks"].get(self.name, {})
        check_state(self._term, state)
        found = acting_network(state)
        if "cascade" not in state:
            found = {f"networks.0.{name}": value for name, value in found.items()}
        last = f"networks.{count}."
        own = cascade.state_dict()
        kept = {name: value for name, value in own.items() if name.startswith(last)}
        if found.keys() != own.keys() - kept.keys():
            there = len({name.split(".")[1] for name in found})
            raise WeightError(
                f"{path} has {there} networks that do not match the first {count} of "
                f"this cascade. Set agent.hooks.{self.name}.earlier to a run or a task "
                f"id with these {count} networks."
            )
        cascade.load_state_dict(found | kept)


def _place_of(earlier: str) -> Path:
    """Return the path of a run or checkpoint, or of a task's shipped policy."""
    if earlier not in entries():
        return find(earlier).place
    # Use the shipped policy: the newest run of a task is often the run that is just
    # starting, which has no checkpoint yet.
    if (shipped := load_task(earlier).trained) is None:
        raise WeightError(f"No policy ships with {earlier}. Name a run or checkpoint.")
    return shipped


def acting_network(state: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return the weights of the network or of the whole cascade in a hook's state."""
    return state["cascade"] if "cascade" in state else state["learner"]["network"]


def check_state(term: MuscleAction, state: Mapping[str, Any]) -> None:
    """Raise unless a hook's state belongs to the muscles of an action."""
    if not state:
        raise WeightError(
            "The checkpoint has no muscle network. Use a checkpoint of a muscle task."
        )
    if state["map"] != term.map.fingerprint:
        raise WeightError(
            "The muscles and joints of this model differ from the model for which the "
            f"muscle network was trained (fingerprint {term.map.fingerprint} instead "
            f"of {state['map']}). "
            "Use a checkpoint of this task."
        )


def random_rows(term: MuscleAction, count: int, seed: int) -> torch.Tensor:
    """Return training rows of random poses with approximately feasible torques.

    Args:
        term: The muscle action.
        count: Number of rows.
        seed: Seed of the poses.
    """
    model = term.sim_model
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    arms, lengths, speeds = [], [], []
    dofs, places = list(term.map.dof_ids), list(term.map.qpos_ids)
    joints = [int(model.dof_jntid[dof]) for dof in dofs]
    low, high = model.jnt_range[joints].T
    for _ in range(count):
        data.qpos[places] = rng.uniform(low, high)
        data.qvel[dofs] = rng.normal(0.0, 3.0, len(dofs))
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        arms.append(data.ten_J.copy())
        lengths.append(data.actuator_length.copy())
        speeds.append(data.actuator_velocity.copy())
    state = MuscleState(term.map, count)
    state.update(_Poses(arms, lengths, speeds), _Compiled(model, count))
    lowest, highest = state.capacity()
    generator = torch.Generator().manual_seed(seed)
    share = 2.0 * torch.rand(lowest.shape, generator=generator) - 1.0
    # Most torques are small relative to the muscles' capacity.
    share = share * torch.rand((count, 1), generator=generator)
    torque = torch.where(share > 0.0, share * highest, -share * lowest)
    return torch.cat((state.red, torque), dim=-1).to(term.device)


class _Poses:
    """Data of many poses, with the fields that `MuscleState` reads."""

    def __init__(
        self,
        arms: list[np.ndarray],
        lengths: list[np.ndarray],
        speeds: list[np.ndarray],
    ) -> None:
        self.ten_J = torch.from_numpy(np.stack(arms)).float()
        self.actuator_length = torch.from_numpy(np.stack(lengths)).float()
        self.actuator_velocity = torch.from_numpy(np.stack(speeds)).float()


class _Compiled:
    """Compiled muscle parameters, the same for all poses."""

    def __init__(self, model: mujoco.MjModel, count: int) -> None:
        def rows(field: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(field).float().expand(count, *field.shape)

        self.actuator_gainprm = rows(model.actuator_gainprm)
        self.actuator_biasprm = rows(model.actuator_biasprm)
        self.actuator_lengthrange = rows(model.actuator_lengthrange)
        self.actuator_acc0 = rows(model.actuator_acc0)
