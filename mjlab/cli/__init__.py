"""The command line: what a user typed, as configurations, and answers to mistakes.

Nothing here imports torch, MuJoCo or Warp by itself, so that `--help` comes at once.
It knows no task and no learner: scripts bring those together.
"""

from mjlab.cli.answers import Answer as Answer
from mjlab.cli.answers import UsageError as UsageError
from mjlab.cli.answers import run_program as run_program
from mjlab.cli.line import Line as Line
from mjlab.cli.line import Program as Program
from mjlab.cli.line import read_line as read_line
