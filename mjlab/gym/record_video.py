"""Videos of all worlds side by side."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.recording import RecordingError
from mjlab.render import GlError, Offscreen, Video, VideoError

Trigger = Callable[[int], bool]


class VideoRecorder:
    """Renders steps into one video file after another.

    Frames are encoded as they arrive, so only one frame is in memory.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        folder: Path,
        *,
        fps: float,
        shows_info: bool,
        trigger: Trigger | None,
        max_steps: int | None,
        avoids_overwriting: bool,
    ) -> None:
        """Open a canvas, and check that videos can be written.

        Args:
            env: The environment.
            folder: Folder of the videos.
            fps: Frame rate, in Hz.
            shows_info: Write reward and infos of each world over its image.
            trigger: Function that takes the number of steps so far, and returns True
                to render the next step. None renders all steps.
            max_steps: Number of steps per video. None records until `flush`.
            avoids_overwriting: Keep existing videos.

        Raises:
            RecordingError: If rendering is impossible, or videos cannot be written.
        """
        self._folder, self._fps, self._avoids = folder, fps, avoids_overwriting
        self._shows_info, self._trigger = shows_info, trigger
        self._max_steps = max_steps
        self._number = -1
        self._steps = 0
        try:
            self._video = self._next()
            self._canvas = Offscreen(
                env.sim, env.scene, env.cfg.viewer, worlds=range(env.num_envs)
            )
        except (GlError, VideoError) as error:
            raise RecordingError(
                f"save_video=True is not possible here: {error} save_video=False "
                "records only trajectories."
            ) from error

    def before_step(self) -> None:
        """Render the initial frame of a video."""
        if self._is_wanted() and not self._video.num_frames:
            self._draw(())

    def after_step(self, figures: Mapping[str, torch.Tensor], *, draws: bool) -> None:
        """Render the state after a step.

        Args:
            figures: Reward and infos of the step by name, each of shape (num_envs,).
            draws: Whether to render this step.
        """
        if draws and self._is_wanted() and self._video.num_frames:
            self._draw(_lines(figures) if self._shows_info else ())
        self._steps += 1
        limit = self._max_steps
        if limit is not None and self._video.num_frames > limit:
            self.flush()

    def flush(
        self,
        name: str | None = None,
        suffix: str = "",
        *,
        ignore_empty: bool = True,
        save: bool = True,
    ) -> Path | None:
        """Finish a video and start the next one.

        Args:
            name: Name of the video without suffix. None uses the next number.
            suffix: Appended to the number, after an underscore.
            ignore_empty: Discard a video with a single frame.
            save: Whether to keep the video.

        Returns:
            Path of the video, or None if no video was written.
        """
        video = self._video
        is_worth = video.num_frames > (1 if ignore_empty else 0)
        if not video.num_frames:
            return None
        video.close()
        kept = None
        if save and is_worth:
            stem = name or video.path.stem + (f"_{suffix}" if suffix else "")
            kept = video.path.with_name(f"{stem}.mp4")
            os.replace(video.path, kept)
        else:
            video.path.unlink()
            self._number -= 1
        self._video = self._next()
        return kept

    def close(self) -> None:
        """Finish the last video, and close the canvas."""
        self.flush()
        self._canvas.close()

    def _is_wanted(self) -> bool:
        return self._trigger is None or self._trigger(self._steps)

    def _draw(self, lines: Sequence[list[str]]) -> None:
        self._video.add(self._canvas.frame(lines=lines.__getitem__ if lines else None))

    def _next(self) -> Video:
        self._number += 1
        while self._avoids and list(self._folder.glob(f"{self._number}[._]*mp4")):
            self._number += 1
        return Video(self._folder / f"{self._number}.mp4", self._fps)


def _lines(figures: Mapping[str, torch.Tensor]) -> list[list[str]]:
    """Return the text lines that are written over each world's image."""
    rows = zip(*(value.tolist() for value in figures.values()), strict=True)
    return [
        [f"{name} {_shown(value)}" for name, value in zip(figures, row, strict=True)]
        for row in rows
    ]


def _shown(value: float | bool) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
