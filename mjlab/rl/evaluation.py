"""Evaluation while training: the policy without exploration, in worlds of its own."""

from collections.abc import Callable, Sequence

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl.config import AgentCfg
from mjlab.rl.hook import Hook
from mjlab.rl.learners import InferencePolicy
from mjlab.rl.vecenv import RslRlVecEnv


class Evaluation:
    """Runs one episode in each world, always from the same start.

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
        self._env: RslRlVecEnv | None = None
        self._start: dict[str, torch.Tensor] = {}

    def run(self, policy: InferencePolicy) -> dict[str, torch.Tensor]:
        """Mean return and length of the episodes, and the share of those that ended.

        Where the task declares success and failure, also the shares of episodes in
        which they held once, and in their last step. Nothing is read from the device.
        """
        env = self._prepared()
        observations = env.get_observations()
        count = {"dtype": torch.float64, "device": env.device}
        returns = torch.zeros(env.num_envs, **count)
        lengths = torch.zeros(env.num_envs, **count)
        running = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)
        outcomes = _Outcomes(env.env)
        for _ in range(min(env.env.max_episode_length, self._cfg.evaluation.max_steps)):
            observations, reward, dones, _ = env.step(policy(observations))
            returns += torch.where(running, reward, 0.0)
            lengths += running
            outcomes.update(running)
            running = running & ~dones
            policy.reset(dones)
        return {
            "Eval/mean_reward": returns.mean(),
            "Eval/mean_episode_length": lengths.mean(),
            "Eval/finished": 1.0 - running.double().mean(),
            **outcomes.shares(),
        }

    def close(self) -> None:
        """Let go of the worlds."""
        if self._env is not None:
            self._env.env.close()

    def _prepared(self) -> RslRlVecEnv:
        """The worlds, at the start of their episodes."""
        if self._env is None:
            env = self._make_env()
            groups = [g for seen in self._cfg.obs_groups.values() for g in seen]
            self._env = RslRlVecEnv(
                env, groups=groups, clip_actions=self._cfg.clip_actions
            )
            self._start = env.get_state()
        # A curriculum that moved on in the last evaluation goes back as well.
        self._env.env.set_state(self._start)
        for hook in self._hooks:
            hook.equip(self._env.env)
        self._env.reset(seed=self._cfg.evaluation.seed)
        return self._env


class _Outcomes:
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
        """Shares of the episodes, by log key."""
        kinds = {"once": self._once, "at_end": self._at_end}
        return {
            f"Eval/{name}_{kind}": flags.double().mean()
            for kind, by_name in kinds.items()
            for name, flags in by_name.items()
        }
