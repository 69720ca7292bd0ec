"""What a checkpoint has to agree with: an environment's terms, and the networks."""

from typing import Any

from mjlab.rl.config import AgentCfg
from mjlab.rl.learners import network_names
from mjlab.rl.vecenv import TrainingEnv, terms_of
from mjlab.schema import to_data


def policy_layout(
    env: TrainingEnv, cfg: AgentCfg, *, parts: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """What a policy means by its inputs and outputs, as plain values.

    Args:
        env: The environment.
        cfg: The learner.
        parts: Networks that count. None takes all; to play, only the policy counts.
    """
    names = network_names(cfg) if parts is None else parts
    seen = {group for name in names for group in cfg.obs_groups.get(name, ())}
    bound = terms_of(env)
    observations, actions = bound.observation_manager, bound.action_manager
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
                for target in actions.term(term).targets
            ]
            or actions.term(term).action_dim
            for term in actions.active_terms
        },
        "agent": {
            name: {
                "sees": list(cfg.obs_groups.get(name, ())),
                "model": to_data(getattr(cfg, name)),
            }
            for name in names
        },
    }


def worlds_layout(env: TrainingEnv) -> dict[str, Any]:
    """What the saved state of the worlds has to agree with, as plain values."""
    bound = terms_of(env)
    managers = {
        "command": bound.command_manager,
        "reward": bound.reward_manager,
        "termination": bound.termination_manager,
        "event": bound.event_manager,
        "curriculum": bound.curriculum_manager,
        "metrics": bound.metrics_manager,
    }
    return {
        "num_envs": env.num_envs,
        "engine": bound.sim.backend.engine,
    } | {
        kind: dict.fromkeys(manager.active_terms, "present")
        for kind, manager in managers.items()
    }
