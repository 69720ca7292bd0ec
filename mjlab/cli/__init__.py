"""The command line: one file for each verb.

Importing a verb's file imports no torch, MuJoCo or Warp, so `--help` comes at once.
"""

from mjlab.cli.answers import UsageError as UsageError
from mjlab.cli.answers import run_program as run_program
