"""Parts of a step, tested without an environment."""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab.envs import Step
from mjlab.envs.autoreset import AutoReset, reset_ended
from mjlab.envs.nonfinite import NonfiniteGuard, TooManyNonfiniteError
from mjlab.envs.runner import EagerRunner, StaleStateCheck, StepObserver
from mjlab.envs.state import EnvState
from mjlab.sim import EngineError
from mjlab.sim.fields import FORWARD_FIELDS


def flags(*ended: bool) -> Any:
    """Termination manager with these ended worlds, which can end and exclude others."""
    dones = torch.tensor(ended)
    terminated, time_outs = dones.clone(), torch.zeros_like(dones)

    def end(mask: torch.Tensor) -> None:
        terminated.logical_or_(mask)
        dones.logical_or_(mask)

    def spare(mask: torch.Tensor) -> None:
        for each in (dones, terminated, time_outs):
            each.masked_fill_(mask, False)

    def keep_time_outs(besides: torch.Tensor) -> None:
        terminated.copy_(besides)
        torch.logical_or(time_outs, besides, out=dones)

    return SimpleNamespace(
        dones=dones,
        terminated=terminated,
        time_outs=time_outs,
        end=end,
        spare=spare,
        keep_time_outs=keep_time_outs,
    )


def rewards(*values: float) -> Any:
    nonfinite = torch.zeros(len(values), dtype=torch.bool)
    return SimpleNamespace(reward=torch.tensor(values), nonfinite=nonfinite)


NONE = torch.zeros(3, dtype=torch.bool)

# --- Resets ---------------------------------------------------------------------------


def test_a_world_that_is_reset_externally_instead_of_stepped_gets_zero_reward() -> None:
    flags_of = torch.tensor([True, True, False])
    step = Step(torch.zeros(3), torch.tensor([1.0, 2.0, 3.0]), flags_of, flags_of, {})
    held_back = torch.tensor([False, True, False])
    found = reset_ended(step, "next_step", held_back, lambda mask: mask.float())
    assert found.observations.tolist() == [0.0, 1.0, 0.0]
    assert found.reward.tolist() == [1.0, 0.0, 3.0]
    assert found.terminated.tolist() == [True, False, False]
    assert found.truncated.tolist() == [True, False, False]


def test_skipped_world_gets_no_action_reward_or_metrics() -> None:
    ended, sums = flags(False, True, False), torch.tensor([1.0, 2.0, 3.0])
    paid = rewards(7.0, 8.0, 9.0)
    resets = AutoReset(ended, paid, "next_step", figures=[sums])
    action = torch.ones(3, 2)
    resets.hold_back()
    taken = resets.allowed(action)
    assert taken.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    assert action.tolist() == [[1.0, 1.0]] * 3, "the step may be run once more"
    sums.add_(10.0)
    ended.dones.copy_(torch.tensor([True, True, False]))
    resets.correct(NONE)
    assert sums.tolist() == [11.0, 2.0, 13.0]
    assert paid.reward.tolist() == [7.0, 0.0, 9.0]
    assert ended.dones.tolist() == [True, False, False]
    assert resets.held_back.tolist() == [False, True, False]


def test_diverged_world_ends_even_if_only_time_outs_end_episodes() -> None:
    ended = flags(True, False, True)
    ended.time_outs.copy_(torch.tensor([False, True, False]))
    resets = AutoReset(ended, rewards(0.0, 0.0, 0.0), ignore_terminations=True)
    resets.correct(torch.tensor([False, False, True]))
    assert ended.dones.tolist() == [False, True, True]


def test_a_world_that_the_caller_resets_is_not_reset_again_in_the_next_step() -> None:
    ended = flags(True, True, False)
    resets = AutoReset(ended, rewards(0.0, 0.0, 0.0), "next_step")
    resets.release(torch.tensor([True, False, False]))
    resets.hold_back()
    assert resets.held_back.tolist() == [False, True, False]


def test_terminal_observations_are_kept_and_zero_in_diverged_worlds() -> None:
    ended = flags(True, True, False)
    memory = {"actor": torch.zeros(3, 1), "parts": {"a": torch.zeros(3, 2)}}
    resets = AutoReset(ended, rewards(0.0, 0.0, 0.0), final_obs=memory)
    assert resets.shows_ends
    seen = {"actor": torch.full((3, 1), 5.0), "parts": {"a": torch.full((3, 2), 6.0)}}
    resets.keep(seen, torch.tensor([False, True, False]))
    assert memory["actor"].flatten().tolist() == [5.0, 0.0, 5.0]
    assert memory["parts"]["a"][:, 0].tolist() == [6.0, 0.0, 6.0]


def test_unknown_reset_time_lists_valid_ones() -> None:
    with pytest.raises(ValueError, match="'same_step', 'next_step', 'never'"):
        AutoReset(flags(True), rewards(0.0), "later")  # type: ignore[arg-type]


# --- Non-finite numbers ---------------------------------------------------------------


def guard(
    ended: Any, bad: torch.Tensor, share: float, report: Any = None
) -> NonfiniteGuard:
    report = report or SimpleNamespace(overflow={}, advice=())
    health: Any = SimpleNamespace(check=lambda out: out.copy_(bad), read=lambda: report)
    counting = SimpleNamespace(take_nonfinite=lambda: {"reward/fast": 2, "reward/b": 0})
    steps = torch.tensor(4)
    return NonfiniteGuard(health, ended, (counting,), steps, share)


def test_diverged_world_ends_and_is_counted_by_term() -> None:
    ended = flags(False, False, False)
    found = guard(ended, torch.tensor([False, True, False]), share=0.2)
    found.detect()
    found.diverged[2] = True  # As added by the reward manager.
    found.end_episodes()
    assert ended.dones.tolist() == [False, True, True]
    assert found.take_counts() == {
        "Health/nonfinite": 2.0,
        "Health/nonfinite/reward/fast": 2.0,
    }
    assert found.take_counts()["Health/nonfinite"] == 0.0, "taken once"


def test_buffer_overflow_is_reported_once_until_it_recovers() -> None:
    report = SimpleNamespace(overflow={"contacts": 3}, advice=("Give more room.",))
    found = guard(flags(False), torch.tensor([False]), share=1.0, report=report)

    def lacked() -> float:
        return found.take_counts()["Health/overflow/contacts"]

    with pytest.warns(RuntimeWarning, match="Give more room"):
        assert lacked() == 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lacked() == 0.0
    report.overflow = {"contacts": 5}
    with pytest.warns(RuntimeWarning, match="Give more room"):
        assert lacked() == 2.0


def test_too_many_diverged_worlds_stop_the_run_with_fraction_and_terms() -> None:
    found = guard(flags(False), torch.tensor([True]), share=0.2)
    found.detect()
    found.end_episodes()
    with pytest.raises(TooManyNonfiniteError, match=r"\(25\.0%.*reward/fast \(2\)"):
        found.take_counts()


# --- State ----------------------------------------------------------------------------


class Physics:
    """Worlds with one number as their state."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs, self.device = num_envs, torch.device("cpu")
        self.backend = SimpleNamespace(engine="native")
        self.numbers = torch.zeros(num_envs)

    def snapshot(self) -> dict[str, torch.Tensor]:
        return {"state": self.numbers.clone()}

    def restore(
        self, snapshot: dict[str, torch.Tensor], mask: torch.Tensor | None
    ) -> None:
        where = torch.ones(self.num_envs, dtype=torch.bool) if mask is None else mask
        self.numbers[where] = snapshot["state"][where]


class Owner:
    def __init__(self, num_envs: int) -> None:
        self.memory, self.sums = torch.zeros(num_envs), torch.zeros(num_envs)

    def state(self) -> dict[str, torch.Tensor]:
        return {"memory": self.memory, "sums": self.sums}


def worlds(num_envs: int) -> tuple[Any, Owner, Owner, EnvState, list[str]]:
    physics, term, log, forgets = (
        Physics(num_envs),
        Owner(num_envs),
        Owner(num_envs),
        [],
    )
    scene: Any = SimpleNamespace(invalidate=lambda: forgets.append("scene"))
    length = torch.zeros(num_envs, dtype=torch.int64)
    owners = {"term": term, "log": log}
    sim: Any = physics
    return (
        physics,
        term,
        log,
        EnvState(sim, scene, {"episode_length": length}, owners),
        forgets,
    )


# --- Running --------------------------------------------------------------------------


class Watcher(StepObserver):
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def before_step(self) -> None:
        self.lines.append("before")

    def after_phase(self, phase: str) -> None:
        self.lines.append(f"seen {phase}")

    def after_step(self) -> None:
        self.lines.append("after")

    def step_failed(self, error: EngineError) -> None:
        self.lines.append(f"failed {error}")

    def interrupted(self) -> None:
        self.lines.append("interrupted")


def runner(lines: list[str], error: EngineError | None = None) -> EagerRunner:
    def advance_by_phases(hooks: list[Callable[[str], None]]) -> None:
        for phase in ("one", "two"):
            lines.append(phase)
            for hook in hooks:
                hook(phase)
        if error is not None:
            raise error

    program: Any = SimpleNamespace(advance_by_phases=advance_by_phases)
    sim: Any = SimpleNamespace(needs_graphs=False)
    return EagerRunner(program, sim, [Watcher(lines)], mode="eager", reason="a test")


def test_observers_are_called_before_after_and_between_the_phases_of_a_step() -> None:
    lines: list[str] = []
    steps = runner(lines)
    steps.run()
    steps.mark_stale()
    expected = ["before", "one", "seen one", "two", "seen two", "after", "interrupted"]
    assert lines == expected


def test_observers_are_notified_of_a_failed_engine_step() -> None:
    lines: list[str] = []
    with pytest.raises(EngineError):
        runner(lines, EngineError("stuck", [0])).run()
    assert lines[-1] == "failed stuck"


def test_write_between_steps_is_detected_once() -> None:
    tensors = {name: torch.zeros(2) for name in FORWARD_FIELDS}
    calls: list[str] = []
    engine = SimpleNamespace(
        wp_model=object(),
        variable_fields=("body_mass",),
        data=tensors.__getitem__,
        model=lambda name: None,
    )
    sim: Any = SimpleNamespace(engine=engine, forward=lambda: calls.append("forward"))
    check = StaleStateCheck(sim)
    check.refresh_if_written()
    assert calls == []
    tensors["mocap_pos"].add_(1.0)
    check.refresh_if_written()
    check.refresh_if_written()
    assert calls == ["forward"]
    check.mark_stale()
    check.refresh_if_written()
    assert calls == ["forward", "forward"]
