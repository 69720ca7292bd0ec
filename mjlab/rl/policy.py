"""A trained policy, loaded from a checkpoint without its learner."""

from pathlib import Path
from typing import Any

import torch
from rsl_rl.utils import resolve_class

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl.checkpoint import load_model, policy_weights
from mjlab.rl.config import AgentCfg
from mjlab.rl.layout import check_layout, policy_layout, saved_layout
from mjlab.rl.learners import InferencePolicy, network_names, to_rsl_rl
from mjlab.rl.vecenv import RslRlVecEnv, to_tensordict
from mjlab.runs import find
from mjlab.runs.checkpoints import find_checkpoint


def load_policy(
    place: Path,
    worlds: ManagerBasedRlEnv | RslRlVecEnv,
    cfg: AgentCfg | None = None,
    *,
    best: bool = False,
) -> InferencePolicy:
    """Load the policy of a checkpoint; see `load_network`.

    If `cfg` is None, the learner is read from the run's configuration.
    """
    if cfg is None:
        cfg = find_agent(place, best=best)
    network = load_network(place, worlds, cfg, best=best)
    return InferencePolicy(network, clip=cfg.clip_actions)


def load_network(
    place: Path,
    worlds: ManagerBasedRlEnv | RslRlVecEnv,
    cfg: AgentCfg,
    *,
    best: bool = False,
) -> torch.nn.Module:
    """Load the policy network of a checkpoint.

    The learned state of hooks is applied to the worlds.

    Args:
        place: A checkpoint, or a run folder.
        worlds: The worlds to act in. Only their observations and actions must be the
            same as in training.
        cfg: The learner of the training.
        best: Whether to use a run's best checkpoint instead of its newest.
    """
    env = worlds.unwrapped
    path = find_checkpoint(place, best=best)
    model = load_model(path, env.device)
    name = network_names(cfg)[0]
    present = policy_layout(env, cfg, parts=(name,))
    saved = _part(saved_layout(model, cfg), present, name)
    check_layout(saved, present, path)
    options = to_rsl_rl(cfg, env)
    build, arguments = resolve_class(options[name])
    network: Any = build(
        to_tensordict(env.observation_manager.output, cfg.obs_groups[name]),
        options["obs_groups"],
        name,
        env.action_manager.total_action_dim,
        **arguments,
    )
    network.load_state_dict(policy_weights(model, name))
    for key, hook in cfg.hooks.items():
        if hook is not None:
            hook.equip(env, model["hooks"].get(key, {}))
    return network.to(env.device)


def find_agent(place: Path, *, best: bool = False) -> AgentCfg:
    """Return the learner configuration of a checkpoint's run.

    Args:
        place: A checkpoint, or a run folder.
        best: Whether to use a run's best checkpoint instead of its newest.
    """
    path = find_checkpoint(place, best=best)
    return find(path.resolve()).run.configs()["agent"]


def _part(saved: dict[str, Any], present: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the part of a saved layout that concerns one network."""
    seen = saved["observation"]
    return saved | {
        "observation": {k: v for k, v in seen.items() if k in present["observation"]},
        "agent": {k: v for k, v in saved["agent"].items() if k == name},
    }
