"""The verb `demo`: `play` of a policy that ships, wherever it can be watched."""

import os
import sys
from collections.abc import Sequence

SHOWN = "Velocity-Go1-Flat"
"""The task that is shown, where the user names none."""

FILM = "demo.mp4"
"""The film, where there is no display for a browser."""

_SAYS_WHERE = ("--viewer", "--video", "--export", "--dump", "--help", "-h")


def line_of_demo(arguments: Sequence[str]) -> list[str]:
    """Return the line of `play`: a page in a browser that is opened, or a film."""
    is_named = bool(arguments) and not arguments[0].startswith("-")
    line = [*(() if is_named else (SHOWN,)), *arguments]
    if not any(option.startswith(("--commands", "--help", "-h")) for option in line):
        line += ["--commands", "scheduled"]
    if any(option.startswith(_SAYS_WHERE) for option in arguments):
        return line
    needs_display = sys.platform.startswith("linux")
    if not needs_display or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        return [*line, "--open"]
    sys.stdout.write(
        f"There is no display for a browser, so this is a film, {FILM}; --viewer web "
        "serves the page all the same.\n"
    )
    sys.stdout.flush()
    return [*line, "--video", FILM]
