"""Runs: a task, its settings and all results. Nothing here imports torch or mujoco."""

from mjlab.runs.checkpoints import CheckpointError as CheckpointError
from mjlab.runs.checkpoints import Checkpoints as Checkpoints
from mjlab.runs.find import Found as Found
from mjlab.runs.find import find as find
from mjlab.runs.run import Run as Run
from mjlab.runs.run import RunError as RunError
