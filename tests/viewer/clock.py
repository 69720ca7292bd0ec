"""Fake clock for players."""


class Clock:
    """Time that advances only when the test sets it."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
