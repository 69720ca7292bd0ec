"""The faults in `tests/mutants` match the current code and tests."""

from pathlib import Path

import pytest

from tests.mutants.run import Fault, planted, read_faults

ROOT = Path(__file__).parents[2]
MEND = "mend or delete the line in tests/mutants/mutants.jsonl"


def stale_faults(faults: list[Fault]) -> list[str]:
    """Return a message for each line or test of a fault that does not exist."""
    messages = []
    for fault in faults:
        name, file = fault["id"], ROOT / fault["file"]
        if not file.is_file() or planted(fault, file.read_text()) is None:
            messages.append(f"{name}: {fault['file']} has not once {fault['old']!r}")
        tests = {*fault["tests"], fault.get("killed_by", fault["tests"][0])}
        messages += [f"{name}: no test {test}" for test in tests if not exists(test)]
    return messages


def exists(test: str) -> bool:
    """Return whether the file of a test exists and defines the test."""
    file, _, name = test.partition("::")
    path, function = ROOT / file, name.partition("[")[0]
    return path.is_file() and (not name or f"def {function}(" in path.read_text())


def test_the_lines_and_tests_of_each_fault_exist():
    stale = stale_faults(read_faults())
    assert not stale, "\n".join([MEND, *stale])


@pytest.mark.parametrize(
    "change",
    [
        {"old": "no such line"},
        {"file": "mjlab/no_such_file.py"},
        {"tests": ["tests/no_such_file.py"]},
        {"killed_by": "tests/house/test_faults.py::test_of_no_name"},
    ],
)
def test_outdated_fault_is_named(change):
    fault = read_faults()[0]
    assert stale_faults([fault]) == []
    (message,) = stale_faults([fault | change])
    assert message.startswith(fault["id"])
