"""Writers of metrics: `metrics.jsonl`, TensorBoard, Weights & Biases."""

import importlib
import json
import logging
import math
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from mjlab.files import saying_why, write_text
from mjlab.rl.config import LoggingCfg
from mjlab.rl.wandb import WandbWriter
from mjlab.runs.metrics import METRICS

_log = logging.getLogger(__name__)


class Writer(Protocol):
    """Interface of objects that write the metrics of each iteration."""

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Write the metrics of an iteration."""
        ...

    def close(self, *, failed: bool = False) -> None:
        """Finish writing; `failed` marks a run that ended with an error."""
        ...


class JsonlWriter:
    """Write one JSON object per line: "iteration", then the metrics by name.

    Non-finite numbers are written as null, which every JSON reader accepts.
    """

    def __init__(self, path: Path, *, start: int = 0) -> None:
        """Open the file.

        Args:
            path: The file. Existing lines are kept.
            start: Finished iterations. Lines of later iterations, which a resumed run
                repeats, are removed.
        """
        kept = [line for line in _lines(path) if _iteration(line) <= start]
        write_text(path, "".join(f"{line}\n" for line in kept))
        self._path = path
        self._file = path.open("a", encoding="utf-8")

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Write a line, and flush it so that readers see it immediately."""
        numbers = {k: v if math.isfinite(v) else None for k, v in figures.items()}
        line = json.dumps({"iteration": iteration, **numbers})
        with saying_why(self._path, len(line)):
            self._file.write(line + "\n")
            self._file.flush()

    def close(self, *, failed: bool = False) -> None:
        """Close the file."""
        self._file.close()


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a `metrics.jsonl`, without an incomplete last line."""
    return [json.loads(line) for line in _lines(path)]


def _lines(path: Path) -> list[str]:
    """Return the complete lines of a file, none if it does not exist."""
    if not path.exists():
        return []
    text = path.read_text("utf-8")
    return text.splitlines() if text.endswith("\n") else text.splitlines()[:-1]


def _iteration(line: str) -> int:
    return int(json.loads(line)["iteration"])


class TensorboardWriter:
    """Write TensorBoard event files; a disk error does not stop the training."""

    def __init__(self, folder: Path, *, start: int = 0) -> None:
        module = importlib.import_module("torch.utils.tensorboard")
        # Hide entries that an earlier process wrote after its last checkpoint.
        purge = start + 1 if start else None
        self._writer: Any = None
        self._is_failed = False
        threading.excepthook = _without_tensorboard(threading.excepthook)
        with self._warning_of_disk():
            self._writer = module.SummaryWriter(str(folder), purge_step=purge)

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Write each metric as a scalar, until a disk error."""
        if self._is_failed:
            return
        with self._warning_of_disk():
            for name, value in figures.items():
                self._writer.add_scalar(name, value, iteration)

    def close(self, *, failed: bool = False) -> None:
        """Flush and close."""
        if self._writer is not None:
            with self._warning_of_disk():
                self._writer.close()

    @contextmanager
    def _warning_of_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._is_failed:
                return
            self._is_failed = True
            _log.warning(
                "TensorBoard's files are incomplete (%s); %s has all metrics.",
                error.strerror or error,
                METRICS,
            )


def _without_tensorboard(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    """Wrap `threading.excepthook` to ignore disk errors of TensorBoard's thread.

    The writer raises the error again in its next call, where it is reported
    (TensorBoard 2.21).
    """

    def report(arguments: Any) -> None:
        frames = traceback.walk_tb(arguments.exc_traceback)
        modules = {frame.f_globals.get("__name__", "") for frame, _ in frames}
        is_its = any(name.startswith("tensorboard.") for name in modules)
        if not (is_its and isinstance(arguments.exc_value, OSError)):
            hook(arguments)

    return report


@contextmanager
def writing(
    folder: Path, cfg: LoggingCfg, *, start: int = 0, config: Mapping[str, Any]
) -> Iterator[list[Writer]]:
    """Open the configured writers, and close them at the end.

    Args:
        folder: The run's folder.
        cfg: Configuration of the writers.
        start: Finished iterations.
        config: The run's configuration as plain values, for W&B.
    """
    writers: list[Writer] = []
    with ExitStack() as ending:

        def add(writer: Writer) -> None:
            writers.append(writer)
            ending.push(lambda kind, *_: writer.close(failed=kind is not None))

        add(JsonlWriter(folder / METRICS, start=start))
        if cfg.tensorboard:
            try:
                add(TensorboardWriter(folder, start=start))
            except ImportError:
                _log.warning(
                    "TensorBoard is not installed, so metrics are written to %s only. "
                    "Run `pip install tensorboard`, or set logging.tensorboard=False.",
                    METRICS,
                )
        if cfg.wandb:
            add(WandbWriter(folder, cfg, config))
        yield writers
