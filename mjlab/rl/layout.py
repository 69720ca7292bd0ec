"""What a checkpoint has to agree with: an environment's terms, and the networks."""

from typing import Any

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl.config import AgentCfg
from mjlab.rl.config_io import to_data
from mjlab.rl.learners import network_names


def policy_layout(
    env: ManagerBasedRlEnv, cfg: AgentCfg, *, parts: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """What a policy means by its inputs and outputs, as plain values.

    Args:
        env: The environment.
        cfg: The learner.
        parts: Networks that count. None takes all; to play, only the policy counts.
    """
    names = network_names(cfg) if parts is None else parts
    seen = {group for name in names for group in cfg.obs_groups.get(name, ())}
    observations = env.observation_manager
    shapes = observations.group_obs_term_dim
    return {
        "observation": {
            group: {
                term: list(shape)
                for term, shape in zip(terms, shapes[group], strict=True)
            }
            for group, terms in observations.active_terms.items()
            if group in seen or any(name.startswith(f"{group}/") for name in seen)
        },
        "action": {
            term: [
                f"{target.entity}/{target.name} {target.quantity}"
                for target in env.action_manager.term(term).targets
            ]
            or env.action_manager.term(term).action_dim
            for term in env.action_manager.active_terms
        },
        "agent": {
            name: {
                "sees": list(cfg.obs_groups.get(name, ())),
                "model": to_data(getattr(cfg, name)),
            }
            for name in names
        },
    }


def worlds_layout(env: ManagerBasedRlEnv) -> dict[str, Any]:
    """What the saved state of the worlds has to agree with, as plain values."""
    managers = {
        "command": env.command_manager,
        "reward": env.reward_manager,
        "termination": env.termination_manager,
        "event": env.event_manager,
        "curriculum": env.curriculum_manager,
        "metrics": env.metrics_manager,
    }
    return {
        "num_envs": env.num_envs,
        "engine": env.sim.backend.engine,
    } | {
        kind: dict.fromkeys(manager.active_terms, "present")
        for kind, manager in managers.items()
    }
