"""Messages and exit codes for programs that end early, instead of tracebacks."""

import atexit
import contextlib
import errno
import gc
import linecache
import math
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from mjlab.memory import describe_out_of_memory, is_out_of_memory

FAULT_OF_USER = 2
"""Exit code for a wrong command line or configuration."""


_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO)
_OF_A_NAME = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EEXIST)
_OF_A_NAME += (errno.ENAMETOOLONG, errno.ELOOP)

_OF_A_VALUE = (ValueError, TypeError, LookupError, ImportError, OSError)
"""Built-in exception types that the library raises for wrong values."""

TRACEBACK = "--traceback"
"""Option of all programs: show the traceback of an error."""

BY_SIGNAL = 128
"""A process ended by signal N exits with this number plus N."""


_CALLED: dict[str, str] = {}
"""`mjlab VERB` by script file name; empty if the user runs the scripts."""


def call_programs(verbs: dict[str, str]) -> None:
    """Name programs as `mjlab VERB` in messages from now on.

    Args:
        verbs: Verbs by script file name.
    """
    _CALLED.update({file: f"mjlab {verb}" for file, verb in verbs.items()})


def as_called(text: str) -> str:
    """Replace script names in a text by `mjlab VERB`, if the user runs that command."""
    program = r"(?<![\w/.])(?:python )?(?:scripts/)?(\w+\.py)\b"
    return re.sub(program, lambda found: _CALLED.get(found[1], found[0]), text)


class UsageError(ValueError):
    """Raised for a wrong command line; only its message is shown."""


class Answer(Exception):
    """Raised to print a text, such as the help, and end the program without error."""


def run_program(
    main: Callable[[Sequence[str]], None], arguments: Sequence[str] | None = None
) -> int:
    """Run a program and return its exit code.

    An error that this project raises about user input is printed as one message. Any
    other error is a bug and keeps its traceback. With `--traceback`, or with
    `MJLAB_TRACEBACK=1` in the environment, every error shows its traceback.

    Args:
        main: The program, called with its arguments.
        arguments: The arguments. None takes the arguments of this process.
    """
    # At exit, the interpreter runs several garbage collections over all objects, which
    # takes seconds after importing PyTorch. Frozen objects are skipped.
    atexit.register(gc.freeze)
    given = list(sys.argv[1:] if arguments is None else arguments)
    shows_all = TRACEBACK in given or os.environ.get("MJLAB_TRACEBACK") == "1"
    try:
        with _ending_in_order():
            _answer(main, [each for each in given if each != TRACEBACK])
    except BrokenPipeError:
        # The reader, such as `head`, closed the pipe; Python must not flush to it
        # again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BY_SIGNAL + signal.SIGPIPE
    except KeyboardInterrupt:
        sys.stderr.write("Stopped by Ctrl-C.\n")
        return BY_SIGNAL + signal.SIGINT
    except Exception as error:
        if shows_all or not _is_answer(error):
            raise
        notes = getattr(error, "__notes__", [])
        said = as_called(" ".join([f"error: {_said(error)}", *notes]))
        sys.stderr.write(f"{said}\n")
        return FAULT_OF_USER
    return 0


def _answer(main: Callable[[Sequence[str]], None], arguments: Sequence[str]) -> None:
    try:
        main(arguments)
    except Answer as answer:
        sys.stdout.write(f"{as_called(str(answer))}\n")
    sys.stdout.flush()


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """Raise on SIGINT, SIGTERM and SIGHUP, so that clean-up code runs."""
    ending = _Ending()
    before = _handle_signals(ending)
    try:
        yield
    finally:
        # After a signal, keep the handlers until the interpreter has shut down: further
        # signals would interrupt the clean-up.
        if not ending.is_over:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def postponing_signals() -> Iterator[None]:
    """Handle SIGINT, SIGTERM and SIGHUP after the block.

    Some imports catch every exception, also the one with which a signal ends the
    program: trimesh 5.2, which viser imports, tries its optional imports in this way.
    """
    received: list[int] = []
    before = _handle_signals(lambda number, frame: received.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in received:
        signal.raise_signal(number)


def _handle_signals(handler: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """Handle SIGINT, SIGTERM and SIGHUP, except ignored ones.

    Returns:
        The previous handlers by signal, none outside of the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = {signal.SIGINT, signal.SIGTERM}
    numbers.add(getattr(signal, "SIGHUP", signal.SIGTERM))
    heeded = {n for n in numbers if signal.getsignal(n) is not signal.SIG_IGN}
    return {number: signal.signal(number, handler) for number in heeded}


_IMPATIENCE_S = 2.0
"""Seconds after a signal during which further signals are ignored."""


class _Ending:
    """Signal handler that ends the program with an exception, so that clean-up runs."""

    def __init__(self) -> None:
        self._latest = -math.inf

    @property
    def is_over(self) -> bool:
        """True if a signal ended the program."""
        return math.isfinite(self._latest)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise, unless another signal arrived in the last `_IMPATIENCE_S` seconds."""
        now = time.monotonic()
        if now - self._latest < _IMPATIENCE_S:
            return
        self._latest = now
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(BY_SIGNAL + number)


def _is_answer(error: Exception) -> bool:
    """True if an error is caused by the user's input, files or memory."""
    if is_out_of_memory(error):
        return True
    return _is_ours(error) or _is_worded_here(error) or _is_of_a_file(error)


def _is_of_a_file(error: Exception) -> bool:
    if not isinstance(error, OSError):
        return False
    is_named = error.filename is not None and error.errno in _OF_A_NAME
    return is_named or error.errno in _OF_THE_DISK


def _is_worded_here(error: Exception) -> bool:
    """True if a `raise` statement of this library raised an error of a built-in type.

    Python raises the same types for bugs in the library, but at lines without `raise`.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = [line for _, line in traceback.walk_tb(error.__traceback__)]
    if not isinstance(error, _OF_A_VALUE) or not str(error) or not frames:
        return False
    module = str(frames[-1].f_globals.get("__name__", ""))
    line = linecache.getline(frames[-1].f_code.co_filename, lines[-1])
    return module.startswith("mjlab.") and line.lstrip().startswith("raise ")


def _said(error: Exception) -> str:
    """Return the message of an error for the user."""
    if is_out_of_memory(error):
        return describe_out_of_memory(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.strerror}: {str(error.filename)!r}."
    return str(error.args[0]) if type(error) is KeyError else str(error)


def _is_ours(error: Exception) -> bool:
    """True if the error class is defined in this project."""
    return type(error).__module__.partition(".")[0] == "mjlab"
