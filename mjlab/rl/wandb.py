"""Logging of metrics and checkpoints to Weights & Biases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mjlab.rl.config import LoggingCfg
from mjlab.runs.run import Run, videos_in
from mjlab.runs.wandb import artifact_of, open_run, video_of


class WandbWriter:
    """Upload metrics, videos and, if configured, the files of a run.

    An artifact with the run's name contains the files needed to resume the run on
    another machine, with the newest and the best checkpoint. Each checkpoint creates a
    new version of the artifact.
    """

    def __init__(
        self, folder: Path, cfg: LoggingCfg, config: Mapping[str, Any]
    ) -> None:
        """Open the run.

        Args:
            folder: The run's folder; the W&B run gets its name.
            cfg: Configuration of the logging.
            config: The run's configuration as plain values.
        """
        self._folder = folder
        self._sends_files = cfg.wandb_artifacts
        self._checkpoints = Run(folder).checkpoints
        self._sent = self._newest()
        self._shown = set(videos_in(folder))
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
        """Upload the metrics, and a new video and a new checkpoint if any."""
        self._show_videos(step=iteration)
        self._run.log(dict(figures), step=iteration)
        newest = self._newest()
        if self._sends_files and newest > self._sent:
            self._run.log_artifact(artifact_of(self._folder))
            self._sent = newest

    def close(self, *, failed: bool = False) -> None:
        """Upload the final files, and finish the W&B run."""
        self._show_videos()
        if self._sends_files and not failed:
            self._run.log_artifact(artifact_of(self._folder))
        self._run.finish(exit_code=int(failed))

    def _show_videos(self, **step: int) -> None:
        """Upload videos written since the last call, under RSL-RL's key "video"."""
        for path in reversed(videos_in(self._folder)):
            if path not in self._shown:
                self._run.log({"video": video_of(path)}, **step)
                self._shown.add(path)

    def _newest(self) -> int:
        return next(iter(self._checkpoints.iterations()), 0)
