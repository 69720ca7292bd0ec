"""Worlds for the checks of `bench/gpu.py`, and how steps of two modes compare."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from bench.env import task_cfg
from mjlab.cli.speed import random_actions
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg

TOLERANCE = 1e-3
"""Largest difference, as a share of a tensor's scale, that counts as none: atomic
additions on a GPU come in no order."""

SMALL = "Cartpole-Balance"

Interlude = Callable[[ManagerBasedRlEnv, int], None]
"""Does something to an environment before a step of this number."""


@dataclass
class Plan:
    """The device of a check and its size."""

    device: str
    rehearse: bool
    """True for as little as shows that the check runs."""
    build_s: list[float] = field(default_factory=list)
    """Seconds that each environment took to be built, its kernels compiled."""

    @property
    def on_gpu(self) -> bool:
        """True where speeds mean anything."""
        return not self.rehearse

    @property
    def twins(self) -> tuple[str, ...]:
        """Modes of what one graph is compared with: one where there is no noise."""
        return ("eager",) if self.rehearse else ("eager", "eager")

    def pick(self, number: int, rehearsed: int) -> int:
        """Return a number, or the small one of a rehearsal."""
        return rehearsed if self.rehearse else number

    def make(self, cfg: ManagerBasedRlEnvCfg, mode: str) -> ManagerBasedRlEnv:
        """Build an environment; time it. Steps that are not as asked are an error."""
        start = time.perf_counter()
        cfg.mode = mode  # pyright: ignore[reportAttributeAccessIssue]
        env = ManagerBasedRlEnv(cfg, device=self.device)
        env.reset()
        self.build_s.append(time.perf_counter() - start)
        return env

    def configured(self, task: str, num_envs: int) -> ManagerBasedRlEnvCfg:
        """A task as it is, on Warp. A rehearsal takes a small one."""
        cfg = task_cfg(SMALL if self.rehearse else task)
        cfg.scene.num_envs, cfg.seed = self.pick(num_envs, 4), 0
        cfg.sim.backend = "warp"
        if cfg.scene.num_envs < 64:  # The pool of contacts is shared.
            cfg.sim.nconmax = 256
        return cfg

    def briefly(self, task: str, num_envs: int = 64) -> ManagerBasedRlEnvCfg:
        """The same with episodes that end while it is watched."""
        cfg = self.configured(task, num_envs)
        cfg.episode_length_s = min(cfg.episode_length_s, 0.6)
        return cfg


def share_of_rows(value: torch.Tensor, expected: torch.Tensor) -> float:
    """Share of the worlds in which two tensors differ."""
    if not expected.is_floating_point():
        differs = value != expected
    else:
        limit = TOLERANCE * float(expected.abs().nan_to_num().max()) + 1e-6
        # What is not a number on one side only differs.
        differs = ~((value - expected).abs() <= limit)
        differs &= ~(value.isnan() & expected.isnan())
        differs &= value != expected  # Infinity less itself is no number.
    return float(differs.reshape(len(expected), -1).any(dim=1).double().mean())


def verdict(shares: dict[str, float], noise: dict[str, float]) -> dict[str, Any]:
    """Judge whether what differs is no more than between two eager runs, by name."""
    allowed = {name: 0.01 + 3.0 * share for name, share in noise.items()}
    wrong = [name for name, share in shares.items() if not share <= allowed[name]]
    return {
        "passed": not wrong,
        "reason": f"other than eager steps: {', '.join(wrong)}" * bool(wrong),
        "tolerance": TOLERANCE,
        "share_of_worlds_that_differ": shares,
        "the_same_of_two_eager_runs": noise,
        "allowed": allowed,
    }


def compare(
    fused: ManagerBasedRlEnv,
    twins: Sequence[ManagerBasedRlEnv],
    steps: int,
    interlude: Interlude = lambda env, step: None,
) -> dict[str, Any]:
    """Compare each of some steps with those of two eager twins from the same state.

    A few worlds part ways even between two eager runs on a GPU, where contacts come in
    no order, so two of them say how many. Beside a single one 1% may differ.
    """
    eager, *again = twins
    begin_at_all_ages(eager)
    random = torch.Generator(device=fused.device).manual_seed(0)
    shares: dict[str, float] = {}
    noise: dict[str, float] = {}
    ended = 0
    for step, action in enumerate(0.5 * random_actions(fused, steps, random)):
        state = eager.get_state()
        fused.set_state(state)
        for env in again:
            env.set_state(state)
        for env in (fused, *again, eager):
            interlude(env, step)
        *outputs, expected = [taken(env, action) for env in (fused, *again, eager)]
        for found, output in zip((shares, noise), outputs, strict=False):
            for name, value in output.items():
                share = share_of_rows(value, expected[name]) / steps
                found[name] = found.get(name, 0.0) + share
        ended += int((expected["terminated"] | expected["truncated"]).sum())
    noise = noise or dict.fromkeys(shares, 0.0)
    found = verdict(shares, noise) | {"mode": fused.mode, "ended": ended}
    if not ended:
        found |= {"passed": False, "reason": "no episode ended"}
    return found


def begin_at_all_ages(env: ManagerBasedRlEnv) -> None:
    """Have episodes end one after another."""
    ages = torch.arange(env.num_envs, device=env.device)
    env.episode_length_buf.copy_(ages * env.max_episode_length // env.num_envs)


def taken(env: ManagerBasedRlEnv, action: torch.Tensor) -> dict[str, torch.Tensor]:
    """Take a step; return what it returned and what sensors say, by name."""
    observations, reward, terminated, truncated, _ = env.step(action)
    own: dict[str, torch.Tensor] = {
        "reward": reward,
        "terminated": terminated,
        "truncated": truncated,
    }
    seen: dict[str, Any] = {f"observation/{g}": v for g, v in observations.items()}
    with env.sim.reads.allow_late():
        return own | seen | sensed(env)


def sensed(env: ManagerBasedRlEnv) -> dict[str, torch.Tensor]:
    """Answers of sensors, by name: rays, pictures, contacts."""
    found: dict[str, torch.Tensor] = {}
    for name, sensor in env.scene.sensors.items():
        parts = sensor.state()
        if isinstance(sensor.data, torch.Tensor):  # The engine's own memory.
            parts["data"] = sensor.data
        for part, value in parts.items():
            if len(value) == env.num_envs:
                found[f"sensor/{name}/{part}"] = value.clone()
    return found


def close(*envs: ManagerBasedRlEnv) -> None:
    """Close environments and let go of their memory."""
    for env in envs:
        env.close()
    gc.collect()  # An environment and its terms hold each other.
