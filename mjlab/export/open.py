"""Open an ONNX policy and the configuration of its task."""

import atexit
import shutil
import tempfile
from pathlib import Path

from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.export.drive import driven_by, with_clips
from mjlab.export.reader import OnnxPolicy
from mjlab.registry import load_task


def open_file(
    path: Path, *, as_trained: bool
) -> tuple[OnnxPolicy, ManagerBasedRlEnvCfg]:
    """Return an ONNX policy, and its task's configuration driven by the file.

    Args:
        path: The exported policy.
        as_trained: Use the training configuration instead of the play configuration.
    """
    file = OnnxPolicy(path)
    task = load_task(file.task)
    cfg = task.env() if as_trained else task.play()
    driven = driven_by(cfg, file.contract)
    if "motion" in file.contract:
        folder = Path(tempfile.mkdtemp(prefix="mjlab-clips-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        driven = with_clips(driven, file, folder)
    return file, driven
