"""A trained policy without its learner: loaded from a checkpoint, and evaluated."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from rsl_rl.utils import resolve_class

from mjlab.envs import ManagerBasedRlEnv, Policy, Rollout
from mjlab.registry import entries, load_task, trusted
from mjlab.rl.checkpoint import check_layout, find_checkpoint, load_model
from mjlab.rl.config import AgentCfg
from mjlab.rl.hook import Hook
from mjlab.rl.learners import InferencePolicy, network_names, to_rsl_rl
from mjlab.rl.run_folder import RunFolder
from mjlab.rl.state import policy_layout, saved_layout
from mjlab.rl.vecenv import RslRlVecEnv, to_tensordict


def load_policy(
    place: Path,
    worlds: ManagerBasedRlEnv | RslRlVecEnv,
    cfg: AgentCfg | None = None,
    *,
    best: bool = False,
) -> InferencePolicy:
    """Load the policy of a checkpoint; see `load_network`.

    Without `cfg`, the learner is that of the run's configuration.
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
    """Load the network of the policy of a checkpoint.

    What hooks had learned beside it is given to the worlds.

    Args:
        place: A checkpoint, or a folder of a run.
        worlds: The worlds that it will act in: its observations and actions are those
            that it was trained with, and nothing else has to be.
        cfg: The learner that it was trained with.
        best: Whether to take a run's best checkpoint rather than its newest.
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
    network.load_state_dict(model["learner"]["algorithm"][f"{name}_state_dict"])
    for key, hook in cfg.hooks.items():
        if hook is not None:
            hook.equip(env, model["hooks"].get(key, {}))
    return network.to(env.device)


def find_agent(place: Path, *, best: bool = False) -> AgentCfg:
    """Return the learner of the run that a checkpoint is in.

    Args:
        place: A checkpoint, or a folder of a run.
        best: Whether to take a run's best checkpoint rather than its newest.
    """
    run = RunFolder.of_checkpoint(find_checkpoint(place, best=best))
    return run.configs(trusted(run.info()["task"]))["agent"]


def find_teacher(place: str) -> Path:
    """Return the checkpoint of a policy: a run's best, or what ships with a task."""
    shipped = load_task(place).trained if place in entries() else None
    return find_checkpoint(Path(place) if shipped is None else shipped, best=True)


def _part(saved: dict[str, Any], present: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the part of a saved layout that concerns one network."""
    seen = saved["observation"]
    return saved | {
        "observation": {k: v for k, v in seen.items() if k in present["observation"]},
        "agent": {k: v for k, v in saved["agent"].items() if k == name},
    }


class Evaluation:
    """Runs the policy in training: one episode in each world, from the same start.

    The worlds are built when they are first needed. They draw nothing from what
    training draws, so that a run with evaluations is the same as one without.
    """

    def __init__(
        self,
        make_env: Callable[[], ManagerBasedRlEnv],
        cfg: AgentCfg,
        hooks: Sequence[Hook] = (),
    ) -> None:
        self._make_env = make_env
        self._cfg = cfg
        self._hooks = hooks
        self._env: ManagerBasedRlEnv | None = None
        self._start: dict[str, torch.Tensor] = {}

    def run(self, policy: Policy) -> dict[str, torch.Tensor]:
        """Return mean return and length of the episodes, and the share that ended.

        Where the task declares success and failure, also the shares of episodes in
        which they held once, and in their last step. Nothing is read from the device.
        """
        env = self._prepared()
        rollout = Rollout(env, policy, seed=self._cfg.evaluation.seed)
        outcomes = _OutcomeShares(env)
        most = min(env.max_episode_length, self._cfg.evaluation.max_steps)
        for stepped in rollout.steps(most):
            outcomes.update(stepped)
        return {
            "Eval/mean_reward": rollout.returns.mean(),
            "Eval/mean_episode_length": rollout.lengths.mean(),
            "Eval/finished": 1.0 - rollout.running.double().mean(),
            **outcomes.shares(),
        }

    def close(self) -> None:
        """Let go of the worlds."""
        if self._env is not None:
            self._env.close()

    def _prepared(self) -> ManagerBasedRlEnv:
        """Return the worlds as they were before the first evaluation."""
        if self._env is None:
            self._env = self._make_env()
            self._env.reset()
            self._start = self._env.get_state()
        # A curriculum that moved on in the last evaluation goes back as well.
        self._env.set_state(self._start)
        for hook in self._hooks:
            hook.equip(self._env)
        return self._env


class _OutcomeShares:
    """Success and failure in one episode of each world."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        self._manager = env.outcome_manager
        none = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        names = self._manager.active_terms
        self._once = {name: none.clone() for name in names}
        self._at_end = {name: none.clone() for name in names}

    def update(self, running: torch.Tensor) -> None:
        """Take a step in, where the episode still ran, shape (num_envs,)."""
        for name, once in self._once.items():
            now = self._manager.now(name)
            once.logical_or_(now & running)
            torch.where(running, now, self._at_end[name], out=self._at_end[name])

    def shares(self) -> dict[str, torch.Tensor]:
        """Return shares of the episodes, by log key."""
        kinds = {"once": self._once, "at_end": self._at_end}
        return {
            f"Eval/{name}_{kind}": flags.double().mean()
            for kind, by_name in kinds.items()
            for name, flags in by_name.items()
        }
