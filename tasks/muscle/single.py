"""One muscle-driven world as a `gymnasium.Env`, for external vector environments."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.gym import ManagedWorlds, SingleEnv
from mjlab.muscle import MuscleCascade, MuscleMap, MuscleTuples, muscle_action
from mjlab.registry import load_task


class MuscleEnv(SingleEnv):
    """World whose muscle network is trained by an external learner.

    Methods have the names of published two-level training programs, so that a vector
    environment can call them: `envs.call("update_muscle_weights", weights)`.
    """

    def __init__(self, env: ManagerBasedRlEnv, *, action: str = "muscles") -> None:
        """Wrap the world.

        Args:
            env: An environment of one world.
            action: Name of the muscle action in the environment.
        """
        super().__init__(ManagedWorlds(env))
        self._term = muscle_action(env, action)

    def get_muscle_map(self) -> MuscleMap:
        """Return the map of muscles and the joints they cross, for a learner."""
        return self._term.map

    def update_muscle_weights(
        self, state_dict: Mapping[str, np.ndarray | torch.Tensor]
    ) -> None:
        """Load new weights; in a cascade, the weights of the last network.

        Args:
            state_dict: Weights of a network of the same shape, as arrays or tensors.
        """
        state = {name: torch.as_tensor(value) for name, value in state_dict.items()}
        network = self._term.network
        if isinstance(network, MuscleCascade):
            own = {f"networks.{len(network.networks) - 1}.{n}": state[n] for n in state}
            state = self._term.network_state() | own
        self._term.load_network(state, self._term.version + 1)

    def get_muscle_tuples(self) -> MuscleTuples:
        """Return the training rows since the last call, one per step, and clear them.

        A row is the reduced torque map, followed by the requested torques, in N m. At
        most the last `MuscleActionCfg.kept_steps` steps are stored.
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
    """Create one world of a muscle-driven task, on the CPU and one thread.

    Args:
        task: Task id, or a configuration.
        seed: Random seed. None draws one.
        kept_steps: Number of steps whose rows are stored. None uses the task's setting.
    """
    # Typical use is one process per processor, each with one world.
    torch.set_num_threads(1)
    cfg: Any = load_task(task).env() if isinstance(task, str) else copy.deepcopy(task)
    cfg.scene.num_envs, cfg.final_obs, cfg.seed = 1, True, seed
    cfg.sim = dataclasses.replace(cfg.sim, backend="native", num_threads=1)
    if kept_steps is not None:
        cfg.actions["muscles"].kept_steps = kept_steps
    return MuscleEnv(ManagerBasedRlEnv(cfg, device="cpu"))
