"""Figures and checkpoints of a training, sent to Weights & Biases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mjlab.rl.config import LoggingCfg
from mjlab.runs.run import Run
from mjlab.runs.wandb import artifact_of, open_run


class WandbWriter:
    """Sends figures and, where that is asked for, the files of a run.

    An artifact of the run's name has what its folder needs to go on elsewhere, with the
    newest checkpoint and the best; each checkpoint makes a version of it.
    """

    def __init__(
        self, folder: Path, cfg: LoggingCfg, config: Mapping[str, Any]
    ) -> None:
        """Open the run.

        Args:
            folder: The run's folder, after which it is called.
            cfg: What is wanted.
            config: The run's configuration as plain values.
        """
        self._folder = folder
        self._sends_files = cfg.wandb_artifacts
        self._checkpoints = Run(folder).checkpoints
        self._sent = self._newest()
        self._run = open_run(
            folder,
            project=cfg.wandb_project,
            entity=cfg.wandb_entity,
            mode=cfg.wandb_mode,
            offline="--agent.logging.wandb-mode offline",
            name=folder.name,
            config=dict(config),
        )

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Send all figures, and the checkpoint that was made since, if there is one."""
        self._run.log(dict(figures), step=iteration)
        newest = self._newest()
        if self._sends_files and newest > self._sent:
            self._run.log_artifact(artifact_of(self._folder))
            self._sent = newest

    def close(self, *, failed: bool = False) -> None:
        """Send the files as they are in the end, and finish the run there."""
        if self._sends_files and not failed:
            self._run.log_artifact(artifact_of(self._folder))
        self._run.finish(exit_code=int(failed))

    def _newest(self) -> int:
        return next(iter(self._checkpoints.iterations()), 0)
