"""A policy in an ONNX file, run by what the file itself says.

Here are neither torch nor tasks: NumPy and onnxruntime are all that is needed.
"""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mjlab import files
from mjlab.export.runner import policy as runner
from mjlab.extras import missing
from mjlab.names import UnknownNameError

NEEDS = missing("An ONNX file", "onnx and onnxruntime", "export")
"""Message about the packages that write and run such files."""

_REMEDY = "Export the policy again, or copy the file anew"


class ExportError(ValueError):
    """A policy that cannot be written to a file, or a file that cannot be played."""


def is_installed() -> bool:
    """Return True if the packages are there that write and run ONNX files."""
    return all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))


def require_installed() -> None:
    """Raise, with the remedy, unless they are."""
    if not is_installed():
        raise ExportError(NEEDS)


class OnnxPolicy:
    """The policy of one robot.

    It remembers what the file's policy remembers, such as a history or its last action,
    from call to call. `reset` forgets it.
    """

    def __init__(self, path: str | Path) -> None:
        """Load a file."""
        self.path = Path(path)
        """The file."""
        self.state: dict[str, NDArray[Any]] = {}
        """The memory, by the name of the tensor that takes it."""
        with files.reading(str(self.path), ExportError, f"{_REMEDY}."):
            self._session, is_whole = _open(self.path)
            self.contract: dict[str, Any] = _read_contract(
                self._session, self.path, is_whole=is_whole
            )
            """The file's contract; `mjlab/export/contract.py` writes it."""
            self._inputs = {entry["name"]: entry for entry in self.contract["inputs"]}
            self.reset()

    @property
    def task(self) -> str:
        """The task that it was trained in."""
        return self.contract["task"]

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of its inputs."""
        return tuple(self._inputs)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of its outputs, without those of its memory."""
        return tuple(entry["name"] for entry in self.contract["outputs"])

    def another(self) -> "OnnxPolicy":
        """Return the same policy for another robot, with a memory of its own."""
        twin = object.__new__(OnnxPolicy)
        twin.__dict__.update(self.__dict__)
        twin.state = {}
        twin.reset()
        return twin

    def reset(self) -> None:
        """Forget everything, as at the start of an episode."""
        self.state = {
            entry["name"]: np.full(entry["shape"], entry["initial"], entry["dtype"])
            for entry in self.contract["states"]
        }

    def __call__(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Act for one control step.

        Args:
            inputs: What was measured, by name, in the units and frames of the contract.

        Returns:
            Targets and the raw action, by name.
        """
        fed = {name: self._checked(name, inputs) for name in self._inputs}
        wanted = [*self.output_names, *(s["next"] for s in self.contract["states"])]
        found = self._session.run(wanted, fed | self.state)
        by_name = dict(zip(wanted, found, strict=True))
        self.state = {s["name"]: by_name[s["next"]] for s in self.contract["states"]}
        return {name: by_name[name] for name in self.output_names}

    def _checked(self, name: str, inputs: Mapping[str, ArrayLike]) -> NDArray[Any]:
        entry = self._inputs[name]
        if name not in inputs:
            raise UnknownNameError(
                f"{self.path.name} needs the input {name!r} ({entry['meaning']}). "
                f"Given: {', '.join(map(repr, inputs)) or 'nothing'}."
            )
        value = np.asarray(inputs[name], entry["dtype"])
        if list(value.shape) != entry["shape"]:
            raise ValueError(
                f"{name!r} has shape {value.shape}; {self.path.name} takes "
                f"{tuple(entry['shape'])}."
            )
        return value


def _open(path: Path) -> tuple[Any, bool]:
    """Return a file's session, and whether its checksum was there, and right."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ExportError(NEEDS) from error
    if not path.is_file():
        raise ExportError(f"There is no file {path}.")
    content = path.read_bytes()
    is_whole = runner.is_whole(content)
    options = onnxruntime.SessionOptions()
    # The network is small, and more threads would only take turns with physics.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # Its errors have no base class of their own.
        said = files.one_line(error)
        raise ExportError(f"{path} cannot be loaded as ONNX: {said}.") from error
    return session, is_whole


def _read_contract(session: Any, path: Path, *, is_whole: bool) -> dict[str, Any]:
    text = session.get_modelmeta().custom_metadata_map.get(runner.CONTRACT)
    if text is None:
        raise ExportError(
            f"{path} was not written by export.py, so it does not say what its inputs "
            "and outputs mean. Play it from Python: docs/howto/export_a_policy.md."
        )
    contract = json.loads(text)
    if contract["format"] > runner.FORMAT:
        raise ExportError(
            f"{path} is of format {contract['format']}; this version reads up to "
            f"{runner.FORMAT}."
        )
    if contract["format"] > 1 and not is_whole:
        raise ExportError(f"{path} is damaged: its checksum is gone. {_REMEDY}.")
    return contract
