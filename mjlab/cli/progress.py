"""Show the progress of long operations on a terminal."""

import sys
from collections.abc import Callable


def tell_progress(
    what: str, unit: str = "frame", every: int = 20
) -> Callable[[int, int], None]:
    """Return a function that shows progress, if the error output is a terminal."""

    def tell(done: int, number: int) -> None:
        if sys.stderr.isatty() and (done == number or done % every == 0):
            end = "\n" if done == number else ""
            sys.stderr.write(f"\r{what}: {unit} {done} of {number}{end}")
            sys.stderr.flush()

    return tell
