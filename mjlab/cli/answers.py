"""Answers that a user reads when a program ends early, instead of a traceback."""

import atexit
import contextlib
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

FAULT_OF_USER = 2
"""Exit code for a command line or a configuration that cannot work."""


_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)

_BY_SIGNAL = 128
"""Added to a signal's number, it is the exit code of what the signal ended."""


class UsageError(ValueError):
    """A command line that cannot be understood."""


class Answer(Exception):
    """Ends the program with a text, such as the help."""


def run_program(
    main: Callable[[Sequence[str]], None], arguments: Sequence[str] | None = None
) -> int:
    """Run a program and return its exit code.

    An error that this project raises about what it was given becomes one message; any
    other is a fault of the program, and keeps its traceback. So does every error if the
    environment has `MJLAB_TRACEBACK=1`.

    Args:
        main: The program, called with its arguments.
        arguments: The arguments. None takes those of this process.
    """
    # An interpreter that ends looks through every object for cycles, several times,
    # which takes seconds after PyTorch, and finds nothing that has to be closed.
    atexit.register(gc.freeze)
    try:
        with _ending_in_order():
            _answer(main, sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:
        # What reads us, such as `head`, has enough; Python must not flush any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BY_SIGNAL + signal.SIGPIPE
    except KeyboardInterrupt:
        sys.stderr.write("Stopped by Ctrl-C.\n")
        return _BY_SIGNAL + signal.SIGINT
    except (ValueError, ImportError, OSError, RuntimeError) as error:
        if not _is_answer(error) or os.environ.get("MJLAB_TRACEBACK") == "1":
            raise
        notes = getattr(error, "__notes__", [])
        sys.stderr.write(" ".join([f"error: {error}", *notes]) + "\n")
        return FAULT_OF_USER
    return 0


def _answer(main: Callable[[Sequence[str]], None], arguments: Sequence[str]) -> None:
    try:
        main(arguments)
    except Answer as answer:
        sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Have SIGTERM and a closed terminal end the program by way of its clean-up."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        numbers = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
        heeded = {n for n in numbers if signal.getsignal(n) is not signal.SIG_IGN}
        before = {number: signal.signal(number, _leave) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(_BY_SIGNAL + number)


def _is_answer(error: Exception) -> bool:
    """Return whether the message is for the user: ours, or of a disk that refuses."""
    of_disk = isinstance(error, OSError) and error.errno in _OF_THE_DISK
    return of_disk or _is_ours(error)


def _is_ours(error: Exception) -> bool:
    """Return whether this project defines the kind of error, and words its message."""
    return type(error).__module__.partition(".")[0] == "mjlab"
