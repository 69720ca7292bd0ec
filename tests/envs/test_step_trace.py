"""Files, functions and frames of this project in one environment step."""

from typing import Any, NamedTuple

import pytest

from mjlab.envs import ManagerBasedRlEnv
from tests.tools.architecture import ROOT
from tests.tools.step_trace import StepTrace, trace_step


class Reach(NamedTuple):
    """Extent of a step."""

    files: int
    functions: int
    depth: int


# The five calls of a step and its named phases are methods; managers without terms
# return immediately.
LIMITS = {
    "Cartpole-Balance": Reach(files=39, functions=141, depth=14),
    "Velocity-Go1-Flat": Reach(files=52, functions=247, depth=16),
}


def reach(trace: StepTrace) -> Reach:
    return Reach(len(trace.files), len(trace.functions), trace.deepest)


@pytest.mark.parametrize("task", LIMITS)
def test_a_step_stays_within_few_files_functions_and_frames(
    task: str, record_property: Any
) -> None:
    trace = trace_step(task)
    record_property("summary", f"One step of {task}: {trace}")
    found, limit = reach(trace), LIMITS[task]
    within = [ours <= most for ours, most in zip(found, limit, strict=True)]
    assert all(within), f"{trace}; the limit is {limit}"


def test_a_detour_through_another_file_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = reach(trace_step("Cartpole-Balance"))
    names = {"step": ManagerBasedRlEnv.step}
    text = "def detour(env, action): return step(env, action)"
    exec(compile(text, str(ROOT / "mjlab/detour.py"), "exec"), names)
    monkeypatch.setattr(ManagerBasedRlEnv, "step", names["detour"])
    after = reach(trace_step("Cartpole-Balance"))
    assert after == tuple(figure + 1 for figure in before)
