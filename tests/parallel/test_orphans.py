"""Child processes end with their parent process."""

import os

import pytest

from mjlab.parallel import process


def test_a_child_whose_parent_has_ended_exits_when_it_requests_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, ...]] = []

    class Library:
        def prctl(self, *numbers: int) -> None:
            asked.append(numbers)

    def leave(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(process.ctypes, "CDLL", lambda name: Library())
    monkeypatch.setattr(process.os, "_exit", leave)
    monkeypatch.setattr(process.sys, "platform", "linux")
    process.end_with_parent(os.getppid())
    with pytest.raises(SystemExit) as ended:
        process.end_with_parent(os.getppid() + 1)
    assert ended.value.code == 1
    assert len(asked) == 2
    process.end_with_parent(None)
    assert len(asked) == 2
