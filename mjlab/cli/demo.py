"""`demo`: watch a policy that ships with the package."""

import os
import sys
from collections.abc import Sequence

from mjlab.cli import play
from mjlab.cli.answers import Answer
from mjlab.runs.run import shipped_with

SHOWN = "Velocity-Go1-Flat"
"""Default task."""

FILM = "demo.mp4"
"""Default video file on a machine without a display."""

HELP = """\
usage: mjlab demo [TASK] [options of mjlab play]

Watch a policy that ships with the package: TASK, or Velocity-Go1-Flat. It opens a page
in the browser, or records the video demo.mp4 on a machine without a display. Velocity
commands follow a schedule: forward, turn, sideways, stop.

options:
  --video FILE            Record a video instead, such as demo.mp4.
  --viewer VIEWER         web or native: serve the page without opening it, or open
                          MuJoCo's window.
  --commands random       Draw velocity commands as in training.
  --help                  This text. `mjlab play --help` lists all other options.

examples:
  mjlab demo
  mjlab demo Velocity-G1-Flat
  mjlab demo Lift-Yam --video lift.mp4"""

_SAYS_WHERE = ("--viewer", "--video", "--dump")


def main(arguments: Sequence[str]) -> None:
    """Play a shipped policy in a browser, or record a video."""
    task, *options = line_of_demo(arguments)
    # `play TASK` would play the user's newest run of the task.
    shipped = shipped_with(task)
    play.main([task if shipped is None else str(shipped.path), *options])


def line_of_demo(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of `play`: open a page in a browser, or record a video.

    Raises:
        Answer: With the help text, for --help.
    """
    if {"--help", "-h"} & set(arguments):
        raise Answer(HELP)
    is_named = bool(arguments) and not arguments[0].startswith("-")
    line = [*(() if is_named else (SHOWN,)), *arguments]
    if not any(option.startswith("--commands") for option in line):
        line += ["--commands", "scheduled"]
    if any(option.startswith(_SAYS_WHERE) for option in arguments):
        return line
    needs_display = sys.platform.startswith("linux")
    if not needs_display or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        return [*line, "--open"]
    sys.stdout.write(
        f"No display found: recording {FILM} instead (--viewer web serves the page "
        "anyway).\n"
    )
    sys.stdout.flush()
    return [*line, "--video", FILM]
