"""Check the sensor readings in the log of a robot that ran a foreign policy."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.port import port
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.verdict import Finding
from mjlab.export.verify import verify_log


def check_log(
    interface: Interface, log: Path, robot: RobotModel | None
) -> Iterator[Finding]:
    """Yield findings about units, signs, frames and times of the sensor readings."""
    if robot is None or log.suffix == ".npz":
        said = "units, signs and frames of sensors need --robot and a log of JSON lines"
        yield Finding("readings", "undetermined", said)
        return
    with tempfile.TemporaryDirectory(prefix="mjlab-log-") as folder:
        path = port(interface, robot, Path(folder) / "policy.onnx")
        found = verify_log(path, log).found
    # Ignore the checksum: the log can come from another export of the same policy.
    faults = [(line, said) for line, said in found if not said.startswith("policy is")]
    if not faults:
        yield Finding("readings", "ok")
    for line, said in faults:
        yield Finding("readings", "mismatch", f"line {line}: {said}")
