"""Films: videos of worlds that go on while they are drawn."""

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
    """A video of chosen worlds.

    A frame is drawn and encoded by a thread of its own while the worlds take their next
    step, so a film takes as long as the slower of both.
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
            fps: Frames in a second.
            sim: What is drawn, as in `Offscreen`.
            scene: What is in it.
            view: Where frames look from, and how large the picture of one world is.
            worlds: Worlds to show side by side. None shows the view's.
            contacts: Whether contacts are drawn with their forces.
        """
        self.num_frames = 0
        """Frames so far."""
        self._video = Video(path, fps)
        self._thread = ThreadPoolExecutor(1, "film")
        self._last: Future[None] | None = None
        # OpenGL belongs to the thread that opens it.
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
        """The worlds that are shown."""
        return self._camera.worlds

    def add(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> None:
        """Append the present; see `Offscreen.frame`.

        It returns when the frame before is in the file, whose errors it raises.
        """
        shots = self._camera.take(marks=marks, lines=lines)
        self._wait()
        self._last = self._thread.submit(self._draw, shots)
        self.num_frames += 1

    def close(self) -> None:
        """Finish the file. What was seen until a fault is worth keeping."""
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
