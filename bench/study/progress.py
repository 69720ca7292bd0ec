"""Progress of a study."""

import sys
import time

_WIDTH = 30


class Progress:
    """Progress bar on a terminal; otherwise one line per result."""

    def __init__(self, total: int) -> None:
        """Start the bar.

        Args:
            total: Total number of items.
        """
        self._total = max(total, 1)
        self._done = 0
        self._start = time.perf_counter()
        self._measured = 0

    def show(self, what: str) -> None:
        """Show the current item."""
        if sys.stderr.isatty():
            self._bar(what)

    def done(self, what: str, *, measured: bool = True) -> None:
        """Count a finished item.

        Args:
            what: Summary of its result.
            measured: False for an item that already existed.
        """
        self._done += 1
        self._measured += measured
        if sys.stderr.isatty():
            self._bar(what)
        elif measured:
            print(f"[{self._done}/{self._total}] {what}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Finish the line of the bar."""
        if sys.stderr.isatty():
            print(file=sys.stderr, flush=True)

    def _bar(self, what: str) -> None:
        full = round(_WIDTH * self._done / self._total)
        bar = "#" * full + "." * (_WIDTH - full)
        seconds = time.perf_counter() - self._start
        text = f"\r[{bar}] {self._done}/{self._total}  {seconds:.0f} s  {what}"
        print(f"{text[:110]:<110}", end="", file=sys.stderr, flush=True)
