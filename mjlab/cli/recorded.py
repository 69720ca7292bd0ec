"""Record a policy's episodes to an HDF5 file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch

from mjlab.cli.answers import UsageError
from mjlab.cli.progress import tell_progress
from mjlab.envs import ManagerBasedRlEnv, Policy
from mjlab.gym import FlattenActionSpace
from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.worlds import ManagedWorlds
from mjlab.replay import RecordEpisode

Keep = Literal["all", "succeeded", "failed"]
"""Episodes to write, by success in their last step."""


def record(
    env: ManagerBasedRlEnv,
    policy: Policy,
    path: Path,
    *,
    episodes: int,
    keep: Keep,
    groups: Sequence[str] | None,
    about: str,
) -> int:
    """Run episodes and write them; return the number of written episodes.

    Numbers of episodes per world differ by at most one, because taking the episodes
    that finish first would favour short episodes.

    Args:
        env: The environment, which is closed at the end.
        policy: The policy.
        path: The file.
        episodes: Number of episodes to run.
        keep: Episodes to write, by success in their last step.
        groups: Observation groups to write. None writes all.
        about: Description of the source, stored in the file.
    """
    if keep != "all" and "success" not in env.outcome_manager.terms:
        raise UsageError(
            f"--keep {keep} needs a success criterion, and the configuration has "
            "none. Define it in env.outcomes, or omit --keep."
        )
    worlds = TorchVectorEnv(ManagedWorlds(env, groups=groups))
    recorder = RecordEpisode(
        FlattenActionSpace(worlds),
        path.parent,
        trajectory_name=path.stem,
        save_video=False,
        save_on_reset=False,
        source_desc=about,
        env_id=env.task,
    )
    numbers = torch.arange(env.num_envs, device=env.device)
    left = (episodes - numbers + env.num_envs - 1) // env.num_envs
    tell, written = tell_progress(str(path), "episode", every=1), 0
    recorder.reset(seed=env.cfg.seed)
    policy.reset()
    while bool((left > 0).any()):
        with torch.no_grad():
            actions = policy(env.observation_manager.output)
        _, _, terminated, truncated, info = recorder.step(actions)
        ended = terminated | truncated
        policy.reset(ended)
        wanted = ended & (left > 0)
        left -= wanted.long()
        if keep != "all":
            wanted &= info["final_info"]["success"] == (keep == "succeeded")
        chosen = wanted.nonzero().flatten().tolist()
        if chosen:
            recorder.flush_trajectory(env_idxs_to_flush=chosen)
            written += len(chosen)
            tell(episodes - int(left.sum()), episodes)
    recorder.close()
    return written
