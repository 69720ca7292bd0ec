"""Reader of video files, for tests."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest


@dataclass(frozen=True)
class Film:
    """Contents of a video file."""

    fps: float
    size: tuple[int, int]
    """Width and height."""
    frames: np.ndarray
    """Shape (frames, height * width * 3)."""


def read_film(path: Path) -> Film:
    """Return every frame of a video, as bytes.

    imageio-ffmpeg's reader starts ffmpeg with a `preexec_fn`, so Python forks, which
    the system refuses for processes with large virtual memory.
    """
    ffmpeg = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    told = subprocess.run([ffmpeg, "-i", str(path)], capture_output=True, check=False)
    line = next(line for line in told.stderr.decode().splitlines() if "Video:" in line)
    size = re.search(r", (\d+)x(\d+)[, ]", line)
    rate = re.search(r", ([\d.]+) fps", line)
    assert size and rate, line
    width, height = int(size[1]), int(size[2])
    raw = ["-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(
        [ffmpeg, "-i", str(path), *raw], capture_output=True, check=True
    )
    pixels = np.frombuffer(done.stdout, np.uint8).reshape(-1, width * height * 3)
    return Film(float(rate[1]), (width, height), pixels)
