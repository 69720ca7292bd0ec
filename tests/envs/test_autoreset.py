"""Terminal observations, and the effect of requesting them."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from tests.worlds import gym_tasks
from tests.worlds.synthetic import SyntheticCfg


def synthetic() -> ManagerBasedRlEnvCfg:
    """Noise, delays, histories, sensors, pushes and commands; 30 steps."""
    cfg = SyntheticCfg(seed=5)
    cfg.sim.backend = "native"
    return cfg


def on_warp() -> ManagerBasedRlEnvCfg:
    """The same on the other engine, which never reads whether a world has ended."""
    cfg = synthetic()
    cfg.sim.backend = "warp"
    return cfg


ON_WARP = pytest.param(on_warp, marks=pytest.mark.slow)


def few(num_envs: int) -> Any:
    """The noisy cartpole with a number of worlds (T-06)."""

    def make() -> ManagerBasedRlEnvCfg:
        cfg = gym_tasks.remembering()
        cfg.scene.num_envs = num_envs
        return cfg

    return pytest.param(make, id=f"remembering-{num_envs}")


TWINS = [synthetic, few(1), few(4), few(16), ON_WARP]


def build(cfg: ManagerBasedRlEnvCfg, when: Any, *, final_obs: bool) -> Any:
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.choose_resets(when, final_obs=final_obs)
    env.reset(seed=9)
    return env


def actions(env: ManagerBasedRlEnv, steps: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(4)
    size = (steps, env.num_envs, env.action_manager.total_action_dim)
    return torch.randn(size, generator=random)


def flat(observations: Any, row: int) -> list[torch.Tensor]:
    return [
        part[row]
        for value in observations.values()
        for part in (value.values() if isinstance(value, dict) else [value])
    ]


@pytest.mark.parametrize("make", TWINS)
def test_the_terminal_observation_equals_that_of_a_twin_without_resets(
    make: Any,
) -> None:
    env = build(make(), "same_step", final_obs=True)
    twin = build(make(), "never", final_obs=False)
    ended = torch.zeros(env.num_envs, dtype=torch.bool)
    for action in actions(env, 40):
        *_, terminated, truncated, extras = env.step(action)
        twins, _, twin_terminated, twin_truncated, _ = twin.step(action)
        first = (terminated | truncated) & ~ended
        assert torch.equal(first, (twin_terminated | twin_truncated) & ~ended)
        for row in first.nonzero()[:, 0].tolist():
            last, own = flat(extras["final_obs"], row), flat(twins, row)
            assert all(torch.equal(a, b) for a, b in zip(last, own, strict=True))
        ended |= first
    assert ended.all()


@pytest.mark.parametrize("make", TWINS)
def test_terminal_observations_do_not_change_the_state(make: Any) -> None:
    asked = build(make(), "same_step", final_obs=True)
    plain = build(make(), "same_step", final_obs=False)
    ends = 0
    for action in actions(asked, 40):
        *_, terminated, truncated, _ = asked.step(action)
        plain.step(action)
        ends += int((terminated | truncated).sum())
        ours, theirs = asked.state.live(), plain.state.live()
        for name, value in ours.items():
            # Figures of a command's last step are included by one of them only.
            if not name.startswith(("log.", "command.twist.metrics")):
                assert torch.equal(value, theirs[name]), name
    assert ends >= asked.num_envs
    assert torch.equal(asked.sim.data.qpos, plain.sim.data.qpos)


def test_manual_reset_equals_reset_within_the_step() -> None:
    """Compare states, random numbers and observations, in every step."""
    inside = build(gym_tasks.remembering(), "same_step", final_obs=True)
    outside = build(gym_tasks.remembering(), "never", final_obs=False)
    for action in actions(inside, 60):
        observations, *_ = inside.step(action)
        seen, _, terminated, truncated, _ = outside.step(action)
        done = terminated | truncated
        if done.any():
            seen, _ = outside.reset(mask=done)
        for row in range(inside.num_envs):
            pairs = zip(flat(observations, row), flat(seen, row), strict=True)
            assert all(torch.equal(a, b) for a, b in pairs)
