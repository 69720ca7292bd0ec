"""Motion files of the tracking tasks; `mjlab.motion.tools.clips` describes them."""

from pathlib import Path

G1_CLIPS = Path(__file__).parent / "g1"
"""Folder of the clips of the G1."""

G1_RANDOM_CLIPS = Path(__file__).parent / "g1_random"
"""Folder of random motions of the G1, written by `mjlab motion make --random 20`."""

GO1_CLIPS = Path(__file__).parent / "go1"
"""Folder of the clips of the Go1."""
