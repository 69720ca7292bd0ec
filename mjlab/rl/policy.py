"""A trained policy, to be run without its learner."""

from pathlib import Path
from typing import Any

import torch
from rsl_rl.utils import resolve_class

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl.checkpoint import check_layout, find_checkpoint, load_model
from mjlab.rl.config import AgentCfg
from mjlab.rl.layout import policy_layout
from mjlab.rl.learners import InferencePolicy, network_names, to_rsl_rl
from mjlab.rl.vecenv import RslRlVecEnv


def load_policy(
    place: Path, worlds: RslRlVecEnv, cfg: AgentCfg, *, best: bool = False
) -> InferencePolicy:
    """The policy of a checkpoint.

    Args:
        place: A checkpoint, or a folder of a run.
        worlds: What it will act in: its observations and actions are those that it was
            trained with, and nothing else has to be.
        cfg: How it was trained.
        best: Whether to take a run's best checkpoint rather than its newest.
    """
    return InferencePolicy(load_network(place, worlds, cfg, best=best))


def load_network(
    place: Path, worlds: RslRlVecEnv, cfg: AgentCfg, *, best: bool = False
) -> torch.nn.Module:
    """The network of the policy of a checkpoint; see `load_policy`.

    What hooks had learned beside it is given to the worlds.

    Args:
        place: A checkpoint, or a folder of a run.
        worlds: What it will act in: its observations and actions are those that it was
            trained with, and nothing else has to be.
        cfg: How it was trained.
        best: Whether to take a run's best checkpoint rather than its newest.
    """
    path = find_checkpoint(place, best=best)
    model = load_model(path, worlds.env.device)
    name = network_names(cfg)[0]
    present = policy_layout(worlds.env, cfg, parts=(name,))
    check_layout(_part(model["layout"], present, name), present, path)
    options = to_rsl_rl(cfg)
    build, arguments = resolve_class(options[name])
    network: Any = build(
        worlds.get_observations(),
        options["obs_groups"],
        name,
        worlds.num_actions,
        **arguments,
    )
    network.load_state_dict(model["learner"]["algorithm"][f"{name}_state_dict"])
    for key, hook in cfg.hooks.items():
        if hook is not None:
            hook.equip(worlds.env, model["hooks"].get(key, {}))
    return network.to(worlds.env.device)


class TrainedPolicy:
    """The policy of a checkpoint, for an environment itself and its observations."""

    def __init__(
        self, env: ManagerBasedRlEnv, agent: AgentCfg, place: Path, *, best: bool
    ) -> None:
        """Load it; see `load_policy`."""
        groups = agent.obs_groups[network_names(agent)[0]]
        self._worlds = RslRlVecEnv(env, groups=groups)
        self._clip = agent.clip_actions
        self._policy = load_policy(place, self._worlds, agent, best=best)

    def __call__(self, observations: Any) -> torch.Tensor:
        """Return the most likely actions, shape (num_envs, total_action_dim)."""
        actions = self._policy(self._worlds._as_tensordict(observations))
        return actions if self._clip is None else actions.clamp(-self._clip, self._clip)

    def reset(self, dones: torch.Tensor) -> None:
        """Forget the past of the worlds that begin anew."""
        self._policy.reset(dones)


def _part(saved: dict[str, Any], present: dict[str, Any], name: str) -> dict[str, Any]:
    """What of a saved layout concerns one network."""
    seen = saved["observation"]
    return saved | {
        "observation": {k: v for k, v in seen.items() if k in present["observation"]},
        "agent": {k: v for k, v in saved["agent"].items() if k == name},
    }
