"""The whole state of an environment, out and in."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import torch

from mjlab.masks import write_where

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


class StateError(ValueError):
    """A state that does not belong to this environment."""


def live_tensors(env: "ManagerBasedRlEnv") -> dict[str, torch.Tensor]:
    """Every tensor outside the engine that the future depends on, live."""
    parts = {
        "rng": env.rng,
        "scene": env.scene,
        "event": env.event_manager,
        "command": env.command_manager,
        "action": env.action_manager,
        "observation": env.observation_manager,
        "termination": env.termination_manager,
        "reward": env.reward_manager,
        "curriculum": env.curriculum_manager,
        "metrics": env.metrics_manager,
        "outcome": env.outcome_manager,
        "log": env.episode_log,
        "quarantine": env.quarantine,
    }
    counters = {
        "episode_length": env.episode_length_buf,
        "step_counter": env.common_step_counter,
    }
    return counters | {
        f"{part}.{name}": tensor
        for part, owner in parts.items()
        for name, tensor in owner.state().items()
    }


def take_state(env: "ManagerBasedRlEnv") -> dict[str, torch.Tensor]:
    """Copies of everything, physics first."""
    physics = {f"sim.{k}": v for k, v in env.sim.snapshot().items()}
    return physics | {k: v.clone() for k, v in live_tensors(env).items()}


SHARED = (
    "step_counter",
    "log.*",
    "quarantine.*",
    "curriculum.*",
    "reward.weights",
    "metrics.*.nonfinite_counts",
    "event.global_*",
    "command.*.ranges",
    "*.params.*",
    "action.*.shared.*",
)
"""Names of tensors that all worlds share, whatever their shape is. Any other tensor has
a row for each world if its first dimension is the number of worlds."""


def is_per_world(name: str, tensor: torch.Tensor, num_envs: int) -> bool:
    """Whether a tensor of a state has a row for each world.

    Args:
        name: Its name in the state.
        tensor: The tensor.
        num_envs: Number of worlds of the environment that the state is of.
    """
    is_shared = any(fnmatchcase(name, pattern) for pattern in SHARED)
    return not is_shared and tensor.shape[:1] == (num_envs,)


def restore_state(
    env: "ManagerBasedRlEnv",
    state: Mapping[str, torch.Tensor],
    mask: torch.Tensor | None = None,
) -> None:
    """Copy `state` into the live tensors and the engine.

    Args:
        env: The environment.
        state: What `take_state` returned.
        mask: The worlds, shape (num_envs,), bool; the others, and what worlds share,
            stay as they are. None means all, and what they share.
    """
    live = live_tensors(env)
    check_state(live, state)
    _check_engine(env, state)
    physics = {k[4:]: v for k, v in state.items() if k.startswith("sim.")}
    env.sim.restore(physics, mask)
    for name, tensor in live.items():
        if mask is None:
            tensor.copy_(state[name])
        elif is_per_world(name, tensor, env.num_envs):
            write_where(tensor, mask, state[name])
    env.phases.invalidate()


def check_state(
    live: Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor]
) -> None:
    """Raise unless a state has the tensors of an environment, in their shapes."""
    given = {name for name in state if not name.startswith("sim.")}
    if given != set(live):
        odd = sorted(given ^ set(live))
        raise StateError(
            "The state is of an environment with other terms: "
            + ", ".join(odd[:5])
            + (f" and {len(odd) - 5} more" if len(odd) > 5 else "")
            + " are in one of the two only."
        )
    for name, tensor in live.items():
        if tensor.shape != state[name].shape:
            raise StateError(
                f"{name!r} has shape {tuple(state[name].shape)} in the state, and "
                f"{tuple(tensor.shape)} here. Is the number of worlds the same?"
            )


def _check_engine(env: "ManagerBasedRlEnv", state: Mapping[str, torch.Tensor]) -> None:
    """Raise for a state of the other engine: the two keep different things."""
    engine = env.sim.backend.engine
    given = "native" if "sim.state" in state else "warp"
    if given != engine:
        raise StateError(
            f"The state is of the {given} engine, and this environment runs on the "
            f"{engine} engine. get_state_dict() is the same on both."
        )
