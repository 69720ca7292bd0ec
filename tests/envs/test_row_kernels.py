"""Steps with fused row kernels, compared with torch steps.

Kernels run on Warp's CPU device with the native engine, so that only the kernels
differ.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.sim.warp_rows import RowPrograms
from mjlab.threads import torch_threads
from tests.golden.runs import NUM_ENVS, actions, build

STEPS = 10
"""Episodes of at most 8 steps end during the comparison."""


def flush_before(rows: RowPrograms, call: Callable[..., Any]) -> Callable[..., Any]:
    def flushed(*args: Any, **kwargs: Any) -> Any:
        rows.flush()
        return call(*args, **kwargs)

    return flushed


def watched(env: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch) -> RowPrograms:
    """Return programs that are launched before the engine, as before Warp's kernels."""
    rows, engine = RowPrograms(NUM_ENVS, torch.device("cpu")), env.sim.engine
    verbs = ("step", "finish_step", "forward", "reset", "_collect")
    for verb in (*verbs, "recompute_constants"):
        monkeypatch.setattr(engine, verb, flush_before(rows, getattr(engine, verb)))
    step_many = flush_before(rows, engine.step_many)

    def flushed_steps(number: int, after_each: Callable[[], None]) -> None:
        # The engine exchanges sensor readings between the calls.
        step_many(number, lambda: (after_each(), rows.flush()))

    monkeypatch.setattr(engine, "step_many", flushed_steps)
    for sense_pass in env.sim._sense_passes:
        launch = flush_before(rows, sense_pass.launch)
        monkeypatch.setattr(sense_pass, "launch", launch)
    return rows


def differing(
    ours: dict[str, Any], theirs: dict[str, Any], most: float
) -> dict[str, float]:
    """Maximum relative differences of the tensors that differ."""
    found = {}
    for name, value in ours.items():
        there, here = (t.double().nan_to_num(7.0) for t in (theirs[name], value))
        if value.numel():
            scale = 1.0 if not value.is_floating_point() else here.abs().max() + 1e-3
            found[name] = float((there - here).abs().max() / scale)
    return {name: error for name, error in found.items() if error > most}


MOST = {"Muscle-Walk-W18": 1e-4}
"""Tolerances other than 2e-5: rounding accumulates over twenty physics steps."""


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=pytest.mark.slow)
        for task in (
            "Cartpole-Balance",
            "Velocity-G1-Flat",
            "Velocity-G1",
            "Muscle-Walk-W18",
            "synthetic",
        )
    ],
)
def test_kernels_of_a_complete_step_match_torch(
    task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with torch_threads(1):
        plain, env = build(f"native/{task}"), build(f"native/{task}")
        rows = watched(env, monkeypatch)
        for step, action in enumerate(actions(env)[:STEPS]):
            # Rounding does not accumulate, because both continue from the same state.
            env.set_state(plain.get_state())
            plain.action_manager.take(action)
            env.action_manager.take(action)
            plain.program.advance()
            with rows.in_use():
                env.program.advance()
            if step == 0:
                rows.compile()
            found = differing(plain.get_state(), env.get_state(), MOST.get(task, 2e-5))
            assert found == {}, step
    assert not rows._noted, "all of it was compiled after the first step"
