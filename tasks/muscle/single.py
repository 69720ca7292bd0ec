"""One world with muscles as a `gymnasium.Env`, for programs that have many of them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.gym import ManagedWorlds, SingleEnv
from mjlab.muscle import MuscleMap, MuscleTuples, muscle_action
from mjlab.registry import load_task


class MuscleEnv(SingleEnv):
    """A world whose muscle network is learned elsewhere.

    The names are those of the published two-level programs, so that a vector
    environment can call them: `envs.call("update_muscle_weights", weights)`.
    """

    def __init__(self, env: ManagerBasedRlEnv, *, action: str = "muscles") -> None:
        """Take over the world.

        Args:
            env: An environment of one world.
            action: Name of its muscle action.
        """
        super().__init__(ManagedWorlds(env))
        self._term = muscle_action(env, action)

    def get_muscle_map(self) -> MuscleMap:
        """Return which muscles cross which joints, for a learner."""
        return self._term.map

    def update_muscle_weights(
        self, state_dict: Mapping[str, np.ndarray | torch.Tensor]
    ) -> None:
        """Use other weights from now on.

        Args:
            state_dict: Of a network of the same shape, as arrays or tensors.
        """
        state = {name: torch.as_tensor(value) for name, value in state_dict.items()}
        self._term.load_network(state, self._term.version + 1)

    def get_muscle_tuples(self) -> MuscleTuples:
        """Return one row for each step since the last call, and forget them.

        A row is the reduced torque map and then the wanted torques, in N m. Of more
        steps than `MuscleActionCfg.kept_steps`, the last ones are there.
        """
        rows = self._term.rows().cpu().numpy().copy()
        self._term.buffer.clear()
        return MuscleTuples(rows, self._term.map)


def make_muscle_env(
    task: str | ManagerBasedRlEnvCfg,
    *,
    seed: int | None = None,
    kept_steps: int | None = None,
) -> MuscleEnv:
    """Make one world of a task with muscles, on the CPU and one thread.

    Args:
        task: The task's id, or a configuration.
        seed: Seed of all chance. None draws one.
        kept_steps: Steps of which rows are kept. None takes what the task says.
    """
    # As many worlds as processors, each in a process, is how this is used.
    torch.set_num_threads(1)
    cfg: Any = load_task(task).env() if isinstance(task, str) else copy.deepcopy(task)
    cfg.scene.num_envs, cfg.final_obs, cfg.seed = 1, True, seed
    cfg.sim = dataclasses.replace(cfg.sim, backend="native", num_threads=1)
    if kept_steps is not None:
        cfg.actions["muscles"].kept_steps = kept_steps
    return MuscleEnv(ManagerBasedRlEnv(cfg, device="cpu"))
