"""The project computes the values that are stored in tests/golden/data.

After an intended change, `python -m tests.golden.make --only PART` rewrites them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.golden import compare
from tests.golden.make import PARTS, recorded
from tests.golden.policies import TRAINED, policy_actions
from tests.golden.runs import CASES, observe

QUICK = {"native/synthetic", "native/Cartpole-Balance", "native/Velocity-Go1-Flat"}
QUICK_POLICIES = {"Cartpole-Balance"}


def params(cases: list[str], quick: set[str]) -> list[Any]:
    return [
        pytest.param(case, marks=[] if case in quick else [pytest.mark.slow])
        for case in cases
    ]


def check(differences: list[str]) -> None:
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("case", params(CASES, QUICK))
def test_ten_steps_give_the_stored_values_on_any_processor(case: str) -> None:
    tolerance = compare.TOLERANCES[case.partition("/")[0]]
    close = partial(compare.close, tolerance=tolerance)
    check(compare.entries(recorded("values")[case], observe(case), close))


@pytest.mark.parametrize("task", params(list(TRAINED), QUICK_POLICIES))
def test_a_shipped_policy_takes_the_same_actions(task: str) -> None:
    before, after = recorded("policies")[task], policy_actions(task)
    close = partial(compare.close, tolerance=compare.TOLERANCES["policies"])
    check(compare.entries(by_step(before), by_step(after), close))


def by_step(taken: dict[str, list[list[float]]]) -> dict[str, list[float]]:
    return {
        f"{seed}, step {step}": action
        for seed, actions in taken.items()
        for step, action in enumerate(actions)
    }


@pytest.mark.parametrize("part", PARTS)
def test_every_task_and_policy_has_stored_values(part: str) -> None:
    missing = set(PARTS[part][0]) - recorded(part).keys()
    command = f"python -m tests.golden.make --only {part} --cases"
    assert not missing, f"Type: {command} {' '.join(sorted(missing))}"
    assert recorded(part).keys() <= set(PARTS[part][0]), "values of tasks that are gone"


# The comparison names each difference.


def values_with(change: Callable[[dict[str, Any]], None]) -> list[str]:
    before: dict[str, Any] = {"a": [1.0, 1000.0], "b": "f00d", "c": []}
    after: dict[str, Any] = {"a": [1.0, 1000.0], "b": "f00d", "c": []}
    change(after)
    return compare.entries(before, after, compare.close)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(a=[1.0049, 1000.0]), []),
        (lambda d: d.update(a=[1.0052, 1000.0]), ["a: was [1.0, 1000.0], is [1.0052"]),
        (lambda d: d.update(a=[float("nan"), 1000.0]), ["a: was [1.0, 1000.0], is"]),
        (lambda d: d.update(b="d00f"), ["b: was f00d, is d00f"]),
        (lambda d: d.pop("c"), ["gone: c"]),
        (lambda d: d.update(e="cafe"), ["new: e"]),
        (lambda d: d.update(e=d.pop("b")), ["gone: b", "new: e (equals b)"]),
    ],
)
def test_each_changed_entry_is_named(
    change: Callable[[dict[str, Any]], None], said: list[str]
) -> None:
    found = values_with(change)
    assert len(found) == len(said)
    assert all(map(str.startswith, found, said))
