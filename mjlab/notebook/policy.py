"""Load policies and create environments by task id, run, checkpoint or ONNX file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy
from mjlab.export import OnnxPolicy
from mjlab.gym import ManagedWorlds, NumpyVectorEnv, SingleEnv, TorchVectorEnv
from mjlab.gym.build import make as make_task
from mjlab.gym.build import task_of
from mjlab.registry import entries
from mjlab.rl import AgentCfg
from mjlab.rl import load_policy as load_network_policy
from mjlab.rl.learners import network_names
from mjlab.runs import Found, find
from mjlab.runs.find import LOGS, WANDB
from mjlab.runs.run import LATEST
from mjlab.task_file import typed_task


class SavedPolicy:
    """Trained policy of a task, a run, a checkpoint or an ONNX file.

    `bind` loads the policy for an environment. After that, calling the policy with
    observations returns actions.
    """

    def __init__(self, found: Found, *, best: bool = False) -> None:
        """Read the configuration of the policy.

        Args:
            found: Run, checkpoint or ONNX file.
            best: Use a run's best checkpoint instead of its newest.
        """
        self.place = found.place
        """Path of the run, the checkpoint or the ONNX file."""
        self._best = best
        self._file: OnnxPolicy | None = None
        self._configs: dict[str, Any] = {}
        if found.file is not None:
            self._file = OnnxPolicy(found.file)
            self.task: str = self._file.task
            """Id of the task."""
        else:
            self.task = found.run.task
            self._configs = found.run.configs()
        self._policy: Policy | None = None

    def __repr__(self) -> str:
        return f"SavedPolicy({self.task!r}, {str(self.place)!r})"

    def env_cfg(self, *, play: bool = False) -> ManagerBasedRlEnvCfg:
        """Return the environment configuration of the policy.

        For a run, this is the configuration that it was trained with. For an ONNX file,
        it is the configuration of the task, with the observations and actions of the
        file.

        Args:
            play: Return the configuration for play.
        """
        if self._file is None:
            return self._configs["env"]
        from mjlab.export import open_file

        return open_file(self.place, as_trained=not play)[1]

    def bind(self, env: Any) -> "SavedPolicy":
        """Load the policy for an environment, and return it.

        Args:
            env: Environment of `mjlab.make`, with or without wrappers, or a
                `ManagerBasedRlEnv`. Its observations and actions must match the policy.
        """
        worlds = managed_env(env)
        if self._file is None:
            agent = self._configs["agent"]
            self._policy = load_network_policy(
                self.place, worlds, agent, best=self._best
            )
            return self
        from mjlab.export import FilePolicy
        from mjlab.export.drive import GROUP

        if GROUP not in worlds.observation_manager.groups:
            raise ValueError(
                f"{self.place} is an ONNX policy, which needs the environment of its "
                f"contract: env = mjlab.make({str(self.place)!r}, num_envs=...)."
            )
        self._policy = FilePolicy(worlds, self._file)
        return self

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return the actions, shape (num_envs, action_dim).

        Args:
            observations: Tensors by observation group, or one tensor if the policy has
                one group; shape (num_envs, obs_dim), or (obs_dim,) for a single world.
        """
        if self._policy is None:
            raise ValueError(
                "The policy is not bound to an environment. Use "
                "mjlab.load_policy(place, env), or policy.bind(env)."
            )
        if self._file is not None or isinstance(observations, Mapping):
            return self._policy(observations)
        seen = torch.as_tensor(observations)
        group, *more = self._groups()
        if more:
            raise ValueError(
                f"The policy reads the observation groups {[group, *more]}. Use "
                f"mjlab.make(..., groups={[group, *more]})."
            )
        if seen.ndim == 1:
            return self._policy({group: seen.unsqueeze(0)})[0]
        return self._policy({group: seen})

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Reset hidden states of the worlds in `dones` (num_envs,), or of all."""
        if self._policy is not None:
            self._policy.reset(dones)

    def _groups(self) -> tuple[str, ...]:
        agent: AgentCfg = self._configs["agent"]
        return tuple(agent.obs_groups[network_names(agent)[0]])


def load_policy(
    place: str | Path,
    env: Any = None,
    *,
    best: bool = False,
    logs: str | Path = LOGS,
) -> SavedPolicy:
    """Load a trained policy.

    Args:
        place: Task id (its newest run, else the policy that ships with the task), run
            folder, checkpoint, ONNX file, "latest" or "wandb:ENTITY/PROJECT/NAME".
        env: Environment to bind the policy to; `rollout` binds an unbound policy.
        best: Use a run's best checkpoint instead of its newest.
        logs: Folder of all runs.
    """
    named = typed_task(str(place))
    task = task_of(named)
    found = find(task if task in entries() else named, Path(logs))
    policy = SavedPolicy(found, best=best)
    return policy if env is None else policy.bind(env)


def make(
    place: str | Path, *, num_envs: int = 1, **settings: Any
) -> TorchVectorEnv | NumpyVectorEnv:
    """Create the environment of a task or of a saved policy; see `mjlab.make`."""
    task = typed_task(str(place))
    if task_of(task) in entries() or not _is_saved(place):
        return make_task(task, num_envs=num_envs, **settings)
    policy = SavedPolicy(find(place))
    cfg = policy.env_cfg(play=settings.get("play", False))
    if policy.place.suffix == ".onnx":
        # The only observation group is the file's inputs. `env_cfg` has applied `play`.
        settings = {"groups": None, **settings, "play": False}
    return make_task(policy.task, num_envs=num_envs, cfg=cfg, **settings)


def managed_env(env: Any) -> ManagerBasedRlEnv:
    """Return the manager-based environment inside an environment and its wrappers."""
    base = env.unwrapped
    if isinstance(base, TorchVectorEnv | NumpyVectorEnv | SingleEnv):
        worlds = base.worlds
        base = worlds.env if isinstance(worlds, ManagedWorlds) else worlds
    if not isinstance(base, ManagerBasedRlEnv):
        raise TypeError(
            f"The environment is a {type(base).__name__}; it has to come from "
            "mjlab.make, or be a ManagerBasedRlEnv."
        )
    return base


def _is_saved(place: str | Path) -> bool:
    """Return True for the name of a run, a checkpoint or an ONNX file."""
    words = str(place)
    return (
        words.startswith(WANDB)
        or Path(words).name == LATEST
        or Path(words).suffix in (".pt", ".onnx")
        or Path(words).exists()
    )
