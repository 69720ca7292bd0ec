"""Worlds for the checks of `bench/gpu.py`, and comparison of steps in two modes."""

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
"""Tolerance relative to a tensor's scale, because atomic additions on a GPU have no
fixed order.
"""

SMALL = "Cartpole-Balance"

Interlude = Callable[[ManagerBasedRlEnv, int], None]
"""Function that changes an environment before the step with the given number."""


@dataclass
class Plan:
    """Device and size of a check; builds the environments."""

    device: str
    rehearse: bool
    """True for a small run that only tests the check."""
    build_s: list[float] = field(default_factory=list)
    """Build time of each environment in seconds, including kernel compilation."""

    @property
    def on_gpu(self) -> bool:
        """True on a GPU, where speeds are meaningful; False in a rehearsal."""
        return not self.rehearse

    @property
    def twins(self) -> tuple[str, ...]:
        """Modes of the twins. On a GPU, a second eager twin measures the noise."""
        return ("eager",) if self.rehearse else ("eager", "eager")

    def pick(self, number: int, rehearsed: int) -> int:
        """Return `number` on a GPU, and `rehearsed` in a rehearsal."""
        return rehearsed if self.rehearse else number

    def make(self, cfg: ManagerBasedRlEnvCfg, mode: str) -> ManagerBasedRlEnv:
        """Build and time an environment.

        Raise if its mode differs from the requested one.
        """
        start = time.perf_counter()
        cfg.mode = mode  # pyright: ignore[reportAttributeAccessIssue]
        env = ManagerBasedRlEnv(cfg, device=self.device)
        env.reset()
        self.build_s.append(time.perf_counter() - start)
        return env

    def configured(self, task: str, num_envs: int) -> ManagerBasedRlEnvCfg:
        """Return a task's configuration for Warp; in a rehearsal, of a small task."""
        cfg = task_cfg(SMALL if self.rehearse else task)
        cfg.scene.num_envs, cfg.seed = self.pick(num_envs, 4), 0
        cfg.sim.backend = "warp"
        if cfg.scene.num_envs < 64:  # All worlds share the contact buffer.
            cfg.sim.nconmax = 256
        return cfg

    def briefly(self, task: str, num_envs: int = 64) -> ManagerBasedRlEnvCfg:
        """Return the task's configuration with episodes of at most 0.6 s."""
        cfg = self.configured(task, num_envs)
        cfg.episode_length_s = min(cfg.episode_length_s, 0.6)
        return cfg


def share_of_rows(value: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the fraction of worlds in which two tensors differ."""
    if not expected.is_floating_point():
        differs = value != expected
    else:
        limit = TOLERANCE * float(expected.abs().nan_to_num().max()) + 1e-6
        # NaN on one side only is a difference.
        differs = ~((value - expected).abs() <= limit)
        differs &= ~(value.isnan() & expected.isnan())
        differs &= value != expected  # Infinity minus itself is NaN.
    return float(differs.reshape(len(expected), -1).any(dim=1).double().mean())


def verdict(shares: dict[str, float], noise: dict[str, float]) -> dict[str, Any]:
    """Compare fractions of differing worlds with the fractions between two eager runs.

    Up to 1% of the worlds plus three times the fraction of the eager runs can differ.
    """
    allowed = {name: 0.01 + 3.0 * share for name, share in noise.items()}
    wrong = [name for name, share in shares.items() if not share <= allowed[name]]
    return {
        "passed": not wrong,
        "reason": f"different from eager steps: {', '.join(wrong)}" * bool(wrong),
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
    *,
    worlds: torch.Tensor | None = None,
) -> dict[str, Any]:
    """Compare steps with two eager twins, each from the same state.

    On a GPU the order of contacts varies, so a few worlds differ even between two eager
    runs; two twins measure this fraction. With a single twin, 1% of the worlds can
    differ.

    Args:
        fused: The environment to compare.
        twins: Eager environments of the same configuration.
        steps: Number of steps.
        interlude: Called for each environment before each step.
        worlds: Mask of the worlds to compare; None means all.
    """
    eager, *again = twins
    kept = slice(None) if worlds is None else worlds
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
                share = share_of_rows(value[kept], expected[name][kept]) / steps
                found[name] = found.get(name, 0.0) + share
        ended += int((expected["terminated"] | expected["truncated"]).sum())
    noise = noise or dict.fromkeys(shares, 0.0)
    found = verdict(shares, noise) | {"mode": fused.mode, "ended": ended}
    found["runner"] = fused.runner.reason
    if not ended:
        found |= {"passed": False, "reason": "no episode ended"}
    return found


def begin_at_all_ages(env: ManagerBasedRlEnv) -> None:
    """Set different episode ages, so that episodes end at different times."""
    ages = torch.arange(env.num_envs, device=env.device)
    env.episode_length_buf.copy_(ages * env.max_episode_length // env.num_envs)


def taken(env: ManagerBasedRlEnv, action: torch.Tensor) -> dict[str, torch.Tensor]:
    """Run a step; return its results and sensor readings, by name."""
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
    """Return sensor readings by name: rays, images, contacts."""
    found: dict[str, torch.Tensor] = {}
    for name, sensor in env.scene.sensors.items():
        parts = sensor.state()
        if isinstance(sensor.data, torch.Tensor):  # Tensors that the engine owns.
            parts["data"] = sensor.data
        for part, value in parts.items():
            if len(value) == env.num_envs:
                found[f"sensor/{name}/{part}"] = value.clone()
    return found


def close(*envs: ManagerBasedRlEnv) -> None:
    """Close environments and free their memory."""
    for env in envs:
        env.close()
    gc.collect()  # An environment and its terms refer to each other.
