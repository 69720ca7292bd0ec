"""Pytest plugin that runs as many slow tests as fit into a time limit.

    python -m pytest -p tests.tools.slow_share -m "slow and not gpu" \
        --share-minutes 30 --share-turn "$(git rev-list --count HEAD)"

Files are in a cyclic order. The turn selects the start: five consecutive turns start at
    evenly spaced files, so together they cover everything if a fifth fits into the
    time. Tests that are not reached are skipped with that reason.
"""

import time

import pytest

TURNS = 5


def rotated(files: list[str], turn: int) -> list[str]:
    """Return the files, starting at this turn's file."""
    start = (turn % TURNS) * len(files) // TURNS
    return files[start:] + files[:start]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("a share of the slow tests")
    group.addoption("--share-minutes", type=float, default=30.0)
    group.addoption("--share-turn", type=int, default=0)


class _Share:
    def __init__(self, minutes: float, turn: int) -> None:
        self.minutes, self.turn = minutes, turn
        self.ends = time.monotonic() + 60.0 * minutes

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        paths = sorted({str(item.path) for item in items})
        place = {path: i for i, path in enumerate(rotated(paths, self.turn))}
        items.sort(key=lambda item: place[str(item.path)])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.monotonic() > self.ends:
            pytest.skip(f"{self.minutes:g} minutes are over; it comes in another turn")


def pytest_configure(config: pytest.Config) -> None:
    minutes = config.getoption("--share-minutes")
    turn = config.getoption("--share-turn")
    config.pluginmanager.register(_Share(minutes, turn))
