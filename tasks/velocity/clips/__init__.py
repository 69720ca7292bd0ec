"""Motion files of the style tasks, recorded by `bench/style_clips.py`."""

from pathlib import Path

G1_WALK = Path(__file__).parent / "g1"
"""Folder of the clips that Velocity-G1-Style learns from."""

G1_HELD_OUT = Path(__file__).parent / "held_out" / "g1_walk.npz"
"""Crouched walk at 0.75 m/s, for style distances; no training reads it."""
