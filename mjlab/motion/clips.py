"""Clips of a motion command, packed into one table with one row per frame."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from mjlab.motion.files import find_motions, load_motion
from mjlab.motion.motion import Motion
from mjlab.motion.robot import MotionRobot
from mjlab.names import resolve_values


class ClipTable:
    """Table of the frames of all clips, resampled to the control rate.

    A row has joint positions and velocities, then positions, quaternions, linear and
    angular velocities of the bodies. A world reads one row per step, independent of the
    number and length of the clips.
    """

    def __init__(
        self,
        motions: Sequence[Motion],
        robot: MotionRobot,
        body_names: Sequence[str],
        fps: float,
        device: torch.device,
    ) -> None:
        """Resample the clips, compute missing bodies, and pack the table.

        Args:
            motions: The clips, with unique names.
            robot: Robot of the clips, for forward kinematics.
            body_names: The bodies to keep, in this order.
            fps: Frames per second of the table.
            device: Device of the table.
        """
        self.motions = tuple(robot.completed(m.resampled(fps)) for m in motions)
        """The clips at the rate of the table, with all bodies."""
        self.names = tuple(motion.name for motion in motions)
        """Clip names, in the order of the table."""
        self.body_names = tuple(body_names)
        """Names of the bodies."""
        counts = [motion.num_frames for motion in self.motions]
        ints = {"dtype": torch.int64, "device": device}
        self.lengths = torch.tensor(counts, **ints)
        """Frames of each clip, shape (clips,)."""
        self.starts = self.lengths.cumsum(0) - self.lengths
        """Row of each clip's first frame, shape (clips,)."""
        rows = np.concatenate([self._rows(motion) for motion in self.motions])
        self.rows = torch.from_numpy(rows).to(device)
        """The table, shape (frames of all clips, width), float32."""
        joints, bodies = len(robot.joint_names), len(self.body_names)
        self.widths = (joints, joints, 3 * bodies, 4 * bodies, 3 * bodies, 3 * bodies)
        """Number of columns of each part of a row."""

    def _rows(self, motion: Motion) -> np.ndarray:
        chosen = motion.body_columns(self.body_names)
        bodies = (motion.body_pos_w, motion.body_quat_w)
        bodies += (motion.body_lin_vel_w, motion.body_ang_vel_w)
        frames = motion.num_frames
        parts = [part[:, chosen].reshape(frames, -1) for part in bodies]
        whole = np.concatenate((motion.joint_pos, motion.joint_vel, *parts), axis=1)
        return whole.astype(np.float32)


def load_clips(paths: Sequence[Path]) -> list[Motion]:
    """Read all clips in files and folders."""
    return [load_motion(path) for path in find_motions(paths)]


def clip_weights(
    weights: Mapping[str, float], names: Sequence[str], device: torch.device
) -> torch.Tensor:
    """Sampling weight of each clip, per second of the clip, shape (clips,).

    Args:
        weights: Weights by pattern of clip names; 1 for names without a pattern.
        names: Names of the clips.
        device: Device of the result.
    """
    given = resolve_values(weights, names, what="clip")
    values = [1.0 if value is None else float(value) for value in given]
    if min(values) < 0.0 or max(values) == 0.0:
        raise ValueError(
            f"weights is {dict(weights)}; all weights have to be 0 or more, and at "
            "least one above 0."
        )
    return torch.tensor(values, device=device)
