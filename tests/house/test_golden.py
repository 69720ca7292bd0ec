"""The project still computes and shows what is written down of it.

What changes on purpose is rewritten by `python -m tests.golden.make --only PART`. Only
the parts that a change is about should have to be.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.golden import compare
from tests.golden.machine import made_on
from tests.golden.make import EXACT, PARTS, recorded
from tests.golden.runs import CASES, observe
from tests.golden.surface import (
    SCRIPTS,
    TRAINED,
    help_of,
    policy_actions,
    public_names,
    resolve,
)

QUICK = {"native/synthetic", "native/Cartpole-Balance", "native/Velocity-Go1-Flat"}
QUICK_POLICIES = {"Cartpole-Balance"}


def params(cases: list[str], quick: set[str]) -> list[Any]:
    return [
        pytest.param(case, marks=[] if case in quick else [pytest.mark.slow])
        for case in cases
    ]


RUNS = pytest.mark.parametrize("case", params(CASES, QUICK))


def check(differences: list[str]) -> None:
    assert not differences, "\n".join(differences)


def is_as_made_on(part: str, *keys: str) -> bool:
    """Whether this machine must agree with the record on every bit."""
    made, here = recorded(part)["made_on"], made_on()
    return all(made[key] == here[key] for key in keys or made)


def skip_elsewhere(part: str, *keys: str) -> None:
    if not is_as_made_on(part, *keys):
        pytest.skip(f"{part} is exact on {recorded(part)['made_on']}, not here")


@RUNS
def test_a_seeded_run_ends_in_the_same_state_bit_for_bit(case: str) -> None:
    skip_elsewhere("state")
    check(compare.entries(recorded("state")[case], observe(case).state))


@RUNS
def test_ten_steps_give_the_same_numbers_on_any_processor(case: str) -> None:
    tolerance = compare.TOLERANCES[case.partition("/")[0]]
    close = partial(compare.close, tolerance=tolerance)
    check(compare.entries(recorded("values")[case], observe(case).values, close))


@RUNS
def test_state_and_outputs_have_the_same_names_and_shapes(case: str) -> None:
    check(compare.entries(recorded("names")[case], observe(case).names))


@RUNS
def test_a_step_is_made_of_the_same_operations(case: str) -> None:
    skip_elsewhere("operations", "torch")
    found = observe(case).operations
    check(compare.operations(recorded("operations")[case], found))


@pytest.mark.parametrize("task", params(list(TRAINED), QUICK_POLICIES))
def test_a_shipped_policy_takes_the_same_actions(task: str) -> None:
    before, after = recorded("policies")[task], policy_actions(task)
    firsts = [
        {f"first actions of step {i}": few for i, few in enumerate(taken["first"])}
        for taken in (before, after)
    ]
    check(compare.entries(*firsts, compare.close))
    skip_elsewhere("policies")
    check(compare.policies(before, after))


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_says_the_same(script: str) -> None:
    check(compare.lines(recorded("help")[script], help_of(script)))


def test_packages_export_the_same_names_and_each_is_there() -> None:
    before, after = recorded("public"), public_names()
    check(compare.entries(flat(before), flat(after)))
    check([path for path in flat(after) if not resolve(path)])


def flat(names: dict[str, list[str]]) -> dict[str, str]:
    return {f"{p}.{name}": name for p, exported in names.items() for name in exported}


@pytest.mark.parametrize("part", PARTS)
def test_everything_there_is_is_written_down(part: str) -> None:
    """A new task, script or package has to be, and an old one's record goes."""
    cases = recorded(part).keys() - {"made_on"}
    assert cases == set(PARTS[part][0])
    assert ("made_on" in recorded(part)) == (part in EXACT)


# Each comparison names what is another.


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
def test_an_entry_that_is_another_is_named(
    change: Callable[[dict[str, Any]], None], said: list[str]
) -> None:
    found = values_with(change)
    assert len(found) == len(said)
    assert all(map(str.startswith, found, said))


def test_an_operation_that_is_another_is_named() -> None:
    before = {"number": 3, "by_kind": {"add": 2, "mul": 1}, "order": "a1 a2 b1"}
    after = {"number": 3, "by_kind": {"add": 1, "mul": 2}, "order": "a1 b2 b1"}
    more = {"number": 4, "by_kind": {"add": 3, "mul": 1}, "order": "a1 a2 b1 a1"}
    assert compare.operations(before, before) == []
    assert compare.operations(before, after) == [
        "add: -1",
        "mul: +1",
        "operation 1 of 3 is another",
    ]
    assert compare.operations(before, more) == [
        "add: +1",
        "operation 3 of 4 is another",
    ]
