"""Videos recorded while the worlds are stepped."""

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from mjlab.render.closing import Closing
from mjlab.render.offscreen import Offscreen, OrbitView, Shot, join
from mjlab.render.overlays import Marks
from mjlab.render.video import Video
from mjlab.scene import Scene
from mjlab.sim import Simulation


class Film(Closing):
    """Video of selected worlds.

    A separate thread renders and encodes each frame while the worlds take their next
    step, so the total time is that of the slower of both.
    """

    def __init__(
        self,
        path: Path,
        fps: float,
        sim: Simulation,
        scene: Scene,
        view: OrbitView,
        *,
        worlds: Sequence[int] | None = None,
        contacts: bool = False,
    ) -> None:
        """Open file and canvas.

        Args:
            path: The file, as in `Video`.
            fps: Frame rate, in Hz.
            sim: The simulation, as in `Offscreen`.
            scene: Its scene.
            view: Camera, and image size of one world.
            worlds: Worlds to show side by side. None shows the view's world.
            contacts: Draw contacts with their forces.
        """
        self.num_frames = 0
        """Number of frames so far."""
        self._video = Video(path, fps)
        self._thread = ThreadPoolExecutor(1, "film")
        self._last: Future[None] | None = None
        # An OpenGL context belongs to the thread that opens it.
        opening = self._thread.submit(
            Offscreen, sim, scene, view, worlds=worlds, contacts=contacts
        )
        try:
            self._camera = opening.result()
        except BaseException:
            self._thread.shutdown()
            raise

    @property
    def worlds(self) -> tuple[int, ...]:
        """The worlds in the video."""
        return self._camera.worlds

    def add(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> None:
        """Append the present state as a frame; see `Offscreen.frame`.

        Returns when the previous frame is written, and raises its errors.
        """
        shots = self._camera.take(marks=marks, lines=lines)
        self._wait()
        self._last = self._thread.submit(self._draw, shots)
        self.num_frames += 1

    def close(self) -> None:
        """Finish the file, also after an error: the frames so far are kept."""
        with contextlib.ExitStack() as ending:
            ending.callback(self._video.close)
            ending.callback(self._thread.shutdown)
            ending.callback(lambda: self._thread.submit(self._camera.close).result())
            self._wait()

    def _draw(self, shots: Sequence[Shot]) -> None:
        self._video.add(join(self._camera.draw(shots)))

    def _wait(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last.result()
