"""What a user gets to read when a program ends early: an answer, not a traceback."""

import atexit
import gc
import os
import sys
from collections.abc import Callable, Sequence

FAULT_OF_USER = 2
"""Exit code for a command line or a configuration that cannot work."""


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
        main(sys.argv[1:] if arguments is None else arguments)
    except Answer as answer:
        sys.stdout.write(f"{answer}\n")
    except (ValueError, ImportError, OSError, RuntimeError) as error:
        if not _is_ours(error) or os.environ.get("MJLAB_TRACEBACK") == "1":
            raise
        sys.stderr.write(f"error: {error}\n")
        return FAULT_OF_USER
    return 0


def _is_ours(error: Exception) -> bool:
    """Whether this project defines the kind of error, and so words its message."""
    return type(error).__module__.partition(".")[0] == "mjlab"
