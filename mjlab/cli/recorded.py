"""Episodes of a policy, as many as are asked for, in a file."""

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
"""Episodes that are written, by success in their last step."""


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
    """Run episodes and write them; return how many were written.

    Every world runs its share of them, so that short ones are no more among them than
    they are.

    Args:
        env: The worlds, which are closed in the end.
        policy: What acts in them.
        path: The file.
        episodes: Episodes that are run.
        keep: Those of them that are written.
        groups: Observation groups to write. None writes all.
        about: What the file says of its source.
    """
    if keep != "all" and "success" not in env.outcome_manager.terms:
        raise UsageError(
            f"--keep {keep}: the configuration does not say what success is. Declare "
            "it in env.outcomes, or leave --keep out."
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
