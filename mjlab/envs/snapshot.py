"""The whole state of an environment, out and in."""

from typing import TYPE_CHECKING

import torch

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


def restore_state(env: "ManagerBasedRlEnv", state: dict[str, torch.Tensor]) -> None:
    """Copy `state` into the live tensors and the engine."""
    live = live_tensors(env)
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
    physics = {k[4:]: v for k, v in state.items() if k.startswith("sim.")}
    env.sim.restore(physics)
    for name, tensor in live.items():
        tensor.copy_(state[name])
    env.scene.invalidate()
