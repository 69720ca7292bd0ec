"""Videos during training: one world, at intervals."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.runner import StepObserver
from mjlab.files import CannotWriteError
from mjlab.render import GlError, VideoError
from mjlab.viewer.policy_video import PolicyVideo

SIZE = (640, 360)
"""Width and height of the videos, in pixels. Without a GPU, the time of a frame grows
with its pixels."""


@dataclass(frozen=True, kw_only=True)
class VideoSchedule:
    """Selects the steps of a training run to film."""

    interval: int = 2000
    """Steps from the start of a video to the start of the next. The first video starts
    with the first step."""

    length: int = 200
    """Steps of a video."""


class TrainingVideo(StepObserver):
    """Films the world `cfg.viewer.world` during training, with exploration.

    A thread renders and encodes a frame while the worlds take their next steps. If
    videos cannot be written, one line reports the reason, and the training continues.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        folder: Path,
        schedule: VideoSchedule,
        *,
        say: Callable[[str], object],
        title: str = "",
        iteration: Callable[[], int] = lambda: 0,
        start: int = 0,
    ) -> None:
        """Register with the environment, and film until `close`.

        Args:
            env: The worlds.
            folder: Folder of the videos. Their names contain their first step.
            schedule: Steps to film.
            say: Function that shows a line to the user.
            title: First line of text in the videos, before the iteration.
            iteration: Function that returns the number of the current iteration.
            start: Number of steps finished before, if a run is resumed.
        """
        self._env, self._folder, self._schedule = env, folder, schedule
        self._say, self._title, self._iteration = say, title, iteration
        self._step = start
        self._film: PolicyVideo | None = None
        self._last = 0
        env.observers.append(self)

    def close(self) -> None:
        """Stop, and finish the current video."""
        if self in self._env.observers:
            self._env.observers.remove(self)
        film, self._film = self._film, None
        if film is not None:
            with self._stopping_on_error():
                film.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Interface of an observer.

    def before_step(self) -> None:
        if self._film is None and self._step % self._schedule.interval == 0:
            with self._stopping_on_error():
                self._open()
        self._step += 1

    def after_step(self) -> None:
        film = self._film
        if film is None:
            return
        with self._stopping_on_error():
            film.after_step()
            if self._step == self._last:
                self._film = None
                film.close()

    def _open(self) -> None:
        width, height = SIZE
        view = dataclasses.replace(self._env.cfg.viewer, width=width, height=height)
        self._last = self._step + self._schedule.length
        self._film = PolicyVideo(
            self._env,
            self._folder / f"step_{self._step:07d}.mp4",
            title=f"{self._title}, iteration {self._iteration()}",
            view=view,
            contacts=False,
        )

    @contextlib.contextmanager
    def _stopping_on_error(self) -> Iterator[None]:
        """Stop recording after an error; the training continues."""
        try:
            yield
        except (GlError, VideoError, CannotWriteError, OSError) as error:
            film, self._film = self._film, None
            self.close()
            if film is not None:
                with contextlib.suppress(VideoError, CannotWriteError, OSError):
                    film.close()
            self._say(f"Training videos stop here: {error}")
