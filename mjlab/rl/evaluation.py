"""Evaluation of a policy during training."""

from collections.abc import Callable, Sequence

import torch

from mjlab.envs import ManagerBasedRlEnv, Policy, Rollout
from mjlab.rl.config import AgentCfg
from mjlab.rl.hook import Hook


class Evaluation:
    """Evaluate the policy in training: one episode per world, from the same start.

    The worlds are built on first use. Their random streams are separate from the
    training's, so evaluations do not change a run.
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
        """Return mean return, mean length and the share of finished episodes.

        For tasks with success and failure terms, also the shares of episodes in which
        each term held at least once, and at the last step. Results stay on the device.
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
        """Close the evaluation worlds."""
        if self._env is not None:
            self._env.close()

    def _prepared(self) -> ManagerBasedRlEnv:
        """Return the worlds in their state before the first evaluation."""
        if self._env is None:
            self._env = self._make_env()
            self._env.reset()
            self._start = self._env.get_state()
        # This also undoes curriculum progress of the last evaluation.
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
        """Add a step of the worlds in `running`, shape (num_envs,)."""
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
