"""Environment whose worlds run in worker processes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Step
from mjlab.envs.config import check_config
from mjlab.envs.nonfinite import check_share
from mjlab.envs.worlds import When
from mjlab.managers import Observations
from mjlab.managers.env import EpisodeLog
from mjlab.parallel.memory import ArraySpec, SharedArrays, spec_of
from mjlab.parallel.process import lasting_parent
from mjlab.random.seeds import to_seeds
from mjlab.workers.pool import Pool
from mjlab.workers.shards import Shards, StateShape, check_independent, shard_cfg
from mjlab.workers.worker import (
    WorkerSpec,
    flat,
    shared_parts,
    term_memory,
    term_specs,
)

_LOG = "log."


class MergedLog(EpisodeLog):
    """Merges the logs of episodes that ended in any of the workers.

    The number of workers changes the rounding of sums over worlds. Learning does not
    use these sums.
    """

    def __init__(self, keys: Sequence[str], device: torch.device) -> None:
        super().__init__(0, device)
        self.register(keys)

    def add(self, sums_and_count: torch.Tensor) -> None:
        """Add the log values of finished episodes: their sums, and their number."""
        if float(sums_and_count[-1]):
            sums_and_count = sums_and_count.to(self._sums_and_count.device)
            self._sums_and_count += sums_and_count
            self._latest = sums_and_count[:-1] / sums_and_count[-1]


class WorkerEnv:
    """Worlds of a task on the native engine, divided among worker processes.

    It has the interface of `ManagerBasedRlEnv` and returns the same numbers, bit for
    bit, for any number of workers: the evolution of a world depends on its global index
    only. Workers never import Warp and see no GPU; they exchange data with this process
    through tensors in shared memory, one per quantity.
    """

    def __init__(
        self,
        cfg: ManagerBasedRlEnvCfg,
        num_workers: int,
        *,
        device: str = "cpu",
        first_world: int = 0,
        timeout_s: float = 60.0,
        build_timeout_s: float = 600.0,
    ) -> None:
        """Start the workers, and wait until their worlds are built.

        Args:
            cfg: The environment, with all worlds.
            num_workers: Number of processes.
            device: Device of the learner, and therefore of observations and actions.
            first_world: Global index of world 0, if several processes train together.
            timeout_s: Seconds without an answer to a step or another request, after
                which a worker is considered stuck.
            build_timeout_s: The same limit while a worker builds its worlds, s.
        """
        check_config(cfg)
        self.cfg = cfg
        self.seed: int = secrets.randbits(31) if cfg.seed is None else cfg.seed
        """Random seed in use: the configured seed, or the drawn one."""
        self.shards = Shards(cfg.scene.num_envs, num_workers)
        self.num_envs = cfg.scene.num_envs
        self.device = torch.device(device)
        sample = shard_cfg(cfg, self.shards.sample, self.seed)
        self.sample = ManagerBasedRlEnv(sample, device="cpu")
        """Environment with the same terms, for queries such as names and shapes of
        terms. It is never stepped."""
        check_independent(self.sample, self.shards)
        self._shape = StateShape(self.sample.get_state(), self.shards.sample)
        self.max_episode_length = self.sample.max_episode_length
        self.step_dt = self.sample.step_dt
        self.single_observation_space = self.sample.single_observation_space
        self.single_action_space = self.sample.single_action_space
        self.episode_log = MergedLog(self.sample.episode_log.keys, self.device)
        """Log of finished episodes of all worlds."""
        self.memory = SharedArrays(self._specs())
        """Memory shared by the workers and this process."""
        self._tensors = self.memory.tensors()
        for name, part in shared_parts(self.sample):
            part.share(term_memory(self._tensors, name))
        self._is_first_step = True
        self._steps = self._steps_then = 0
        self._pool = Pool(
            self._worker_specs(first_world),
            timeout_s=timeout_s,
            build_timeout_s=build_timeout_s,
        )

    # Interface of an environment.

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since the last reset of each world, shape (num_envs,), int64, live."""
        return self._tensors["episode_length"]

    @property
    def reward_terms(self) -> torch.Tensor:
        """Contribution of each term to the last reward, shape (num_envs, terms)."""
        return self._copied("reward_terms")

    def choose_resets(
        self,
        when: When,
        *,
        ignore_terminations: bool = False,
        final_obs: bool | None = None,
    ) -> None:
        """Raise unless the mode is "same_step" with the configured options."""
        differs = final_obs is not None and final_obs != self.cfg.final_obs
        if when != "same_step" or ignore_terminations or differs:
            raise ValueError(
                "Worker processes reset finished worlds in the same step, with "
                f"cfg.final_obs={self.cfg.final_obs}; requested: {when!r}, "
                f"{ignore_terminations=}, {final_obs=}."
            )

    def reset(
        self,
        *,
        seed: int | list[int] | None = None,
        mask: torch.Tensor | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start new episodes; see `ManagerBasedRlEnv.reset`."""
        self._require_use()
        slices = self.shards.slices
        masks: list[Any] = [None] * len(slices)
        if mask is not None:
            masks = [mask[worlds].cpu().numpy() for worlds in slices]
        self._pool.call("reset", self._seeds(seed), masks)
        self._take_log()
        return self._observed("obs"), {"log": self.episode_log.latest()}

    def step(self, action: torch.Tensor) -> Step[Observations]:
        """Advance every world by one step; see `ManagerBasedRlEnv.step`."""
        self._require_use()
        shared = self._tensors["action"]
        if action.shape != shared.shape:
            raise ValueError(
                f"The action has shape {tuple(action.shape)}; it has to be "
                f"{tuple(shared.shape)}: (num_envs, action_dim)."
            )
        shared.copy_(action.detach())
        self._pool.step(is_first=self._is_first_step)
        self._is_first_step = False
        self._steps += 1
        self._take_log()
        extras: dict[str, Any] = {"log": self.episode_log.latest()}
        if self.cfg.final_obs:
            extras["final_obs"] = self._observed("final_obs")
        return Step(
            self._observed("obs"),
            self._copied("reward"),
            self._copied("terminated"),
            self._copied("truncated"),
            extras,
        )

    def get_state(self) -> dict[str, torch.Tensor]:
        """Return a copy of the complete state.

        It equals the state of one environment with all worlds.
        """
        parts = [
            {name: torch.from_numpy(array) for name, array in part.items()}
            for part in self._pool.call("state")
        ]
        log = self.episode_log.state().items()
        return self._shape.merged(parts) | {_LOG + k: v.cpu().clone() for k, v in log}

    def set_state(self, state: dict[str, torch.Tensor]) -> None:
        """Restore a state from `get_state`, bit for bit."""
        for name, live in self.episode_log.state().items():
            live.copy_(state[_LOG + name])
        sums = f"{_LOG}sums_and_count"
        theirs = state | {sums: torch.zeros_like(state[sums])}
        parts = self._shape.divided(theirs, self.shards)
        arrays = [{name: t.cpu().numpy() for name, t in p.items()} for p in parts]
        self._pool.call("load_state", arrays)

    def take_log(self) -> dict[str, float]:
        """Return means over the episodes since the last call, and health counters.

        Raises if the fraction of world steps with non-finite values exceeds
        `max_nonfinite_share`.
        """
        figures, episodes = self.episode_log.take()
        health: dict[str, float] = {}
        for part in self._pool.call("take_health"):
            for name, number in part.items():
                health[name] = health.get(name, 0.0) + number
        self._check_nonfinite(health)
        return (figures if episodes else {}) | health

    def health(self) -> tuple[int, int]:
        """Return the numbers of non-finite world steps and of buffer overflows."""
        nonfinite, overflow = zip(*self._pool.call("health"), strict=True)
        return sum(nonfinite), sum(overflow)

    def begin_share(self) -> None:
        """Start the count of world steps for `max_nonfinite_share`."""
        self._steps_then = self._steps

    def close(self) -> None:
        """Stop the workers, and release shared memory. Can be called twice."""
        self._pool.close()
        self._tensors = {}
        self.memory.close()
        self.sample.close()

    # Methods that only `WorkerEnv` has.

    def begin_rollout(self) -> None:
        """Make workers load new weights and other learner data in the next step."""
        self._is_first_step = True

    @property
    def processes(self) -> list[int]:
        """Process ids of the workers."""
        return self._pool.processes

    def startup_lines(self) -> list[str]:
        """Return the startup report; see `ManagerBasedRlEnv.startup_lines`."""
        _, step, seed, *rest = self.sample.startup_lines()
        each = " or ".join(str(n) for n in sorted(set(self.shards.sizes)))
        return [
            f"{self.num_envs} worlds on native (cpu), in {self.shards.num_workers} "
            f"worker processes of {each} worlds.",
            step,
            seed,
            *rest,
        ]

    # Internals.

    def _specs(self) -> dict[str, ArraySpec]:
        """Return the specifications of the shared arrays."""
        worlds, workers = self.num_envs, self.shards.num_workers
        output = self.sample.observation_manager.output
        kinds = ("obs", "final_obs") if self.cfg.final_obs else ("obs",)
        width = self.sample.action_manager.total_action_dim
        rewards = len(self.sample.reward_manager.active_terms)
        return (
            {
                "action": ArraySpec((worlds, width), "float32"),
                "reward": ArraySpec((worlds,), "float32"),
                "reward_terms": ArraySpec((worlds, rewards), "float32"),
                "terminated": ArraySpec((worlds,), "bool"),
                "truncated": ArraySpec((worlds,), "bool"),
                "episode_length": ArraySpec((worlds,), "int64"),
                "log": ArraySpec((workers, len(self.episode_log.keys) + 1), "float32"),
            }
            | {
                f"{kind}/{name}": spec_of((worlds, *tensor.shape[1:]), tensor.dtype)
                for kind in kinds
                for name, tensor in flat(output).items()
            }
            | term_specs(self.sample, worlds, workers)
        )

    def _worker_specs(self, first_world: int) -> list[WorkerSpec]:
        return [
            WorkerSpec(
                index=index,
                worlds=worlds,
                first_world=first_world + worlds.start,
                cfg=shard_cfg(self.cfg, worlds.stop - worlds.start, self.seed),
                memory=self.memory,
                parent=lasting_parent(),
            )
            for index, worlds in enumerate(self.shards.slices)
        ]

    def _seeds(self, seed: int | list[int] | None) -> list[Any]:
        seeds = to_seeds(seed, self.num_envs)
        slices = self.shards.slices
        return [None if seeds is None else seeds[worlds] for worlds in slices]

    def _copied(self, name: str) -> torch.Tensor:
        return self._tensors[name].to(self.device, copy=True)

    def _observed(self, kind: str) -> Observations:
        output = self.sample.observation_manager.output
        return {
            group: self._copied(f"{kind}/{group}")
            if isinstance(value, torch.Tensor)
            else {term: self._copied(f"{kind}/{group}/{term}") for term in value}
            for group, value in output.items()
        }

    def _require_use(self) -> None:
        """Raise if the environment is closed, or used in a forked process."""
        if self.sample.sim.process != os.getpid():
            self.sample.sim.refuse_use()

    def _take_log(self) -> None:
        self.episode_log.add(self._tensors["log"].sum(dim=0))

    def _check_nonfinite(self, health: dict[str, float]) -> None:
        """Raise if too many world steps since the last call had non-finite values."""
        steps = (self._steps - self._steps_then) * self.num_envs
        self.begin_share()
        start = "Health/nonfinite/"
        by_term = {
            name.removeprefix(start): int(number)
            for name, number in health.items()
            if name.startswith(start) and number
        }
        worlds = int(health["Health/nonfinite"])
        check_share(worlds, steps, by_term, self.cfg.max_nonfinite_share)
