"""The command line: one file per verb.

The file of a verb imports no torch, MuJoCo or Warp, so `--help` is shown quickly.
"""

from mjlab.cli.answers import UsageError as UsageError
from mjlab.cli.answers import run_program as run_program
