"""Video files, encoded frame by frame by ffmpeg, and videos of worlds."""

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from mjlab.extras import missing
from mjlab.files import make_folders, move_durably, saying_why, temporary_beside
from mjlab.render.offscreen import Offscreen, OrbitView, Shot, join
from mjlab.render.overlays import Marks
from mjlab.scene import Scene
from mjlab.sim import Simulation

SUFFIXES = (".mp4", ".mkv", ".mov")
"""Supported file suffixes."""

_QUALITY = 21
"""Constant rate factor of x264: 0 is lossless, 51 is the lowest quality."""


class VideoError(RuntimeError):
    """Raised when a video cannot be written."""


class Video:
    """Video file.

    Frames are encoded as they arrive, so only one frame is in memory. The file is
    written under a temporary name and renamed when complete.
    """

    def __init__(self, path: Path, fps: float) -> None:
        """Look up ffmpeg; the file is opened with the first frame.

        Args:
            path: The file; its folder is created if necessary.
            fps: Frame rate, in Hz.

        Raises:
            VideoError: If the extra `video` is not installed, or the suffix is unknown.
        """
        self.path = Path(path)
        """Path of the video file."""
        self.num_frames = 0
        """Number of frames so far."""
        if self.path.suffix not in SUFFIXES:
            raise VideoError(
                f"{self.path} ends in {self.path.suffix!r}. "
                f"Valid: {', '.join(SUFFIXES)}."
            )
        if not fps > 0.0:
            raise VideoError(f"fps={fps} has to be above 0.")
        self._ffmpeg = _require_ffmpeg()
        self._fps = fps
        # ffmpeg derives the container format from the suffix.
        name = temporary_beside(self.path).name
        self._part = self.path.with_name(f".{name}{self.path.suffix}")
        self._sink: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes]
        self._shape: tuple[int, ...] = ()

    def add(self, frame: np.ndarray) -> None:
        """Append a frame.

        Args:
            frame: Shape (height, width, 3), uint8, equal for all frames.
        """
        even = _even(frame)
        if self._sink is None:
            self._shape = even.shape
            self._sink = self._open(even.shape)
        if even.shape != self._shape:
            raise VideoError(
                f"{self.path}: frame {self.num_frames} has shape {frame.shape}, and "
                f"the first frame {self._shape}. All frames must have the same shape."
            )
        assert self._sink.stdin is not None
        try:
            self._sink.stdin.write(np.ascontiguousarray(even).data)
        except BrokenPipeError:
            self.close()  # `close` raises the error of ffmpeg.
        self.num_frames += 1

    def close(self) -> None:
        """Finish the file. Without frames no file is written."""
        if self._sink is not None:
            assert self._sink.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._sink.stdin.close()
            code = self._sink.wait()
            self._sink = None
            with self._said as said:
                reason = _first_line(said)
            if code != 0:
                self._part.unlink(missing_ok=True)
                raise VideoError(f"{self.path} cannot be written: {reason}.")
            move_durably(self._part, self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, shape: tuple[int, ...]) -> subprocess.Popen[bytes]:
        """Start ffmpeg in a separate process group, which Ctrl-C does not reach.

        imageio-ffmpeg would use a `preexec_fn`, which makes Python call fork instead of
        vfork. With thousands of worlds, whose memory is mostly virtual, the system
        refuses a fork.
        """
        # Create the file here: ffmpeg would report a failure late, and in several
        # lines.
        with saying_why(self.path):
            make_folders(self.path.parent)
            self._part.touch(exist_ok=False)
        source = f"-f rawvideo -pix_fmt rgb24 -s {shape[1]}x{shape[0]} -r {self._fps}"
        codec = f"-an -vcodec libx264 -preset veryfast -crf {_QUALITY}"
        codec += " -pix_fmt yuv420p -v error"
        self._said = tempfile.TemporaryFile()
        line = [self._ffmpeg.get_ffmpeg_exe(), "-y", *source.split(), "-i", "-"]
        return subprocess.Popen(
            [*line, *codec.split(), str(self._part)],
            stdin=subprocess.PIPE,
            stderr=self._said,
            process_group=0,
        )


class WorldVideo:
    """Video of selected worlds.

    A separate thread renders and encodes each frame while the worlds take their next
    step, so the slower of the two determines the total time.
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
        """Open the file and the renderer.

        Args:
            path: Path of the file, as in `Video`.
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
        self._thread = ThreadPoolExecutor(1, "video")
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
        """Worlds in the video."""
        return self._camera.worlds

    def add(
        self,
        *,
        marks: Marks | None = None,
        lines: Callable[[int], Sequence[str]] | None = None,
    ) -> None:
        """Append the current state as a frame; see `Offscreen.frame`.

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _draw(self, shots: Sequence[Shot]) -> None:
        self._video.add(join(self._camera.draw(shots)))

    def _wait(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last.result()


def _require_ffmpeg() -> Any:
    """Return the module that locates ffmpeg."""
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise VideoError(missing("A video", "imageio-ffmpeg", "video")) from error
    try:
        imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise VideoError(f"{missing('A video', 'ffmpeg', 'video')} {error}") from error
    return imageio_ffmpeg


def _first_line(said: IO[bytes]) -> str:
    """Return the first line of ffmpeg's messages, without the component's name."""
    said.seek(0)
    first = said.read().decode(errors="replace").strip().split("\n")[0]
    return re.sub(r"^\[.*?\] ", "", first).rstrip(".") or "ffmpeg gave no reason"


def _even(frame: np.ndarray) -> np.ndarray:
    """Pad a frame to even width and height, which the pixel format yuv420p requires."""
    height, width = frame.shape[:2]
    grown = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    return np.ascontiguousarray(grown)
