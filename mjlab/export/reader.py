"""A policy in an ONNX file, run by what the file itself says.

Here are neither torch nor tasks: NumPy and onnxruntime are all that is needed.
"""

import importlib.util
from pathlib import Path

from mjlab import files
from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.extras import missing

NEEDS = missing("An ONNX file", "onnx, onnxruntime and onnxscript", "export")
"""Message about the packages that write and run such files."""

_REMEDY = "Export the policy again, or copy the file anew"
_ELSEWHERE = "For a policy of another program, see docs/howto/export_a_policy.md."


class ExportError(ValueError):
    """A policy that cannot be written to a file, or a file that cannot be played."""


def is_installed() -> bool:
    """Return True if the packages are there that write and run ONNX files."""
    needed = ("onnx", "onnxruntime", "onnxscript")
    return all(importlib.util.find_spec(name) for name in needed)


def require_installed() -> None:
    """Raise, with the remedy, unless they are."""
    if not is_installed():
        raise ExportError(NEEDS)


class OnnxPolicy(ContractPolicy):
    """The policy of one robot.

    It remembers what the file's policy remembers, such as a history or its last action,
    from call to call. `reset` forgets it.
    """

    def __init__(self, path: str | Path) -> None:
        """Load a file."""
        self.path = Path(path)
        """The file."""
        if not self.path.is_file():
            raise ExportError(f"There is no file {self.path}.")
        with files.reading(str(self.path), ExportError, f"{_REMEDY}."):
            try:
                super().__init__(self.path)
            except ImportError as error:
                raise ExportError(NEEDS) from error
            except ContractError as error:
                raise ExportError(f"{error}. {_REMEDY}. {_ELSEWHERE}") from error

    @property
    def task(self) -> str:
        """The task that it was trained in."""
        return self.contract["task"]

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of its inputs."""
        return tuple(entry["name"] for entry in self.contract["inputs"])

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of its outputs, without those of its memory."""
        return tuple(entry["name"] for entry in self.contract["outputs"])

    def another(self) -> "OnnxPolicy":
        """Return the same policy for another robot, with a memory of its own."""
        twin = object.__new__(OnnxPolicy)
        twin.__dict__.update(self.__dict__)
        twin.reset()
        return twin
