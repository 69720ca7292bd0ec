"""Command terms with world indices: time of sampling, and updated worlds."""

from typing import Any

import torch

from mjlab.managers import IndexedCommandTerm, IndexedCommandTermCfg
from tests.managers.test_command import make_env, reset, step


class Count(IndexedCommandTerm):
    """Draws a random number and counts its updates."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.value = torch.zeros(env.num_envs, 1)
        self.updates = torch.zeros(env.num_envs)
        self.metrics["steps"] = torch.zeros(env.num_envs)
        self.drawn: list[list[int]] = []

    @property
    def command(self) -> torch.Tensor:
        return self.value

    def _update_metrics(self) -> None:
        self.metrics["steps"] = self.metrics["steps"] + 1.0

    def _resample_command(self, env_ids: torch.Tensor) -> None:
        self.drawn.append(env_ids.tolist())
        self.value[env_ids, 0] = torch.rand(len(env_ids))

    def _update_command(self, env_ids: torch.Tensor | None) -> None:
        self.updates[slice(None) if env_ids is None else env_ids] += 1


class CountCfg(IndexedCommandTermCfg):
    def build(self, env: Any) -> Count:
        return Count(self, env)


def begun(seconds: tuple[float, float] = (1e9, 1e9)) -> tuple[Any, Count]:
    env = make_env({"count": CountCfg(resampling_time_range=seconds)}, num_envs=3)
    return env, env.command_manager.term("count")


def test_reset_samples_immediately_and_updates_its_worlds_only() -> None:
    env, term = begun()
    assert term.drawn == [[0, 1, 2]] and term.updates.tolist() == [1, 1, 1]
    reset(env, env.mask(1))
    assert term.drawn[1:] == [[1]] and term.updates.tolist() == [1, 2, 1]
    assert (
        term.name == "count" and env.command_manager.get_command("count") is term.value
    )


def test_step_updates_all_worlds_and_samples_once_after_a_reset() -> None:
    env, term = begun()
    step(env, env.mask(2))
    assert term.drawn[1:] == [[2]] and term.updates.tolist() == [2, 2, 2]
    assert term.command_counter.tolist() == [1, 1, 1]


def test_command_lasts_its_interval_and_reset_restarts_it() -> None:
    env, term = begun((1.0, 1.0))
    steps = round(1.0 / env.step_dt)
    for _ in range(steps - 2):
        step(env)
    step(env, env.mask(0))
    assert len(term.drawn) == 2
    step(env)
    assert term.drawn[2:] == [[1, 2]]
    assert term.time_left[0] > 1.0 - 1.5 * env.step_dt


def test_a_first_command_shorter_than_a_step_is_drawn_once() -> None:
    env, term = begun((1e-4, 1e-4))
    term.drawn.clear()
    step(env, env.mask(2))
    assert term.drawn == [[2], [0, 1]]


def test_metrics_of_an_episode_end_with_it() -> None:
    env, term = begun()
    for _ in range(3):
        step(env)
    assert term.metric_values[:, 0].tolist() == [4, 4, 4]  # One at the reset.
    step(env, env.mask(1))
    assert term.metrics["steps"].tolist() == [5, 1, 5]


def test_torch_random_numbers_follow_from_the_environment_seed() -> None:
    drawn = []
    for unrelated in (1, 2):
        torch.manual_seed(unrelated)
        env, term = begun()
        before = torch.random.get_rng_state()
        reset(env, env.everyone)
        assert torch.equal(torch.random.get_rng_state(), before)
        drawn.append(term.value.clone())
    assert torch.equal(*drawn) and len(set(drawn[0].flatten().tolist())) == 3


def test_the_term_is_named_among_those_with_indices() -> None:
    _, term = begun()
    assert term.needs_ids and term.couples_worlds and term.writes_state
