"""Run a policy from its ONNX file, without torch and without the task.

NumPy and onnxruntime are required.
"""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mjlab import files
from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.extras import missing

NEEDS = missing("An ONNX file", "onnx, onnxruntime and onnxscript", "export")
"""Error message if packages for writing and running ONNX files are missing."""

CONVENTIONS = {
    "units": "SI; angles in radians",
    "quaternions": "wxyz",
    "frames": "names of bodies and sites of the model, or world with z up",
    "call": (
        "once per control step, with the latest measurements; start each state at its "
        "initial value, and pass each returned state to the next call"
    ),
}
"""Conventions that every contract states."""

FOREIGN = "ForeignNetwork"
"""Network class name in the contract of a foreign policy."""

_REMEDY = "Export the policy again, or copy the file again"
_ELSEWHERE = "For policies of other programs, see docs/howto/export_a_policy.md."


class ExportError(ValueError):
    """Raised if a policy cannot be exported, or a file cannot be played."""


def to_text(whole: Mapping[str, Any]) -> str:
    """Return the contract as JSON."""
    return json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def is_installed() -> bool:
    """Return whether the packages for writing and running ONNX files are installed."""
    needed = ("onnx", "onnxruntime", "onnxscript")
    return all(importlib.util.find_spec(name) for name in needed)


def require_installed() -> None:
    """Raise, with installation advice, unless the packages are installed."""
    if not is_installed():
        raise ExportError(NEEDS)


class OnnxPolicy(ContractPolicy):
    """Policy of one robot, loaded from an ONNX file.

    The object stores the policy's state between calls, such as a history or the last
    action. `reset` clears the state.
    """

    def __init__(self, path: str | Path) -> None:
        """Load a file; raise `ExportError` if it cannot be loaded."""
        self.path = Path(path)
        """Path of the ONNX file."""
        if not self.path.is_file():
            raise ExportError(f"{self.path} does not exist.")
        with files.reading(str(self.path), ExportError, f"{_REMEDY}."):
            try:
                super().__init__(self.path)
            except ImportError as error:
                raise ExportError(NEEDS) from error
            except ContractError as error:
                raise ExportError(f"{error}. {_REMEDY}. {_ELSEWHERE}") from error

    @property
    def task(self) -> str:
        """Id of the training task."""
        return self.contract["task"]

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(entry["name"] for entry in self.contract["inputs"])

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, without states."""
        return tuple(entry["name"] for entry in self.contract["outputs"])

    def another(self) -> "OnnxPolicy":
        """Return the same policy with separate state, for another robot."""
        twin = object.__new__(OnnxPolicy)
        twin.__dict__.update(self.__dict__)
        twin.controllers = {n: each.another() for n, each in self.controllers.items()}
        twin.reset()
        return twin
