"""Motion clip of a robot: joint and body states by frame, with names."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mjlab.motion.rates import angular_velocity, resample_times, sample, velocity
from mjlab.names import find_name
from mjlab.settings.types import WrongTypeError, check_type, field_types

Array = np.ndarray

_UNIT = 1e-3
"""Tolerance of the norm of unit quaternions; files hold float32."""


class MotionError(ValueError):
    """Error for an invalid motion or motion file."""


@dataclass(frozen=True, kw_only=True)
class MotionInfo:
    """Metadata of a motion: robot, source, licence, authors and processing steps."""

    robot: str = ""
    """Short name of the robot, such as "G1"; empty if not known."""

    model_hash: str = ""
    """Hash of the robot's kinematics (`MotionRobot.hash`); empty if not known."""

    source: str = ""
    """Kind and source of the data, such as "synthetic: key poses" or a data set."""

    licence: str = ""
    """Licence of the motion; empty if not known."""

    authors: tuple[str, ...] = ()
    """Authors of the motion."""

    log: tuple[str, ...] = ()
    """Steps of processing, oldest first."""

    loops: bool = False
    """True if the last frame continues with the first one."""

    splits: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Frame ranges by name: first frame, and last frame + 1."""

    def logged(self, step: str) -> "MotionInfo":
        """Return a copy with one more processing step in the log."""
        return replace(self, log=(*self.log, step))

    @classmethod
    def of_data(cls, data: Any, where: str) -> "MotionInfo":
        """Build the metadata from a file's JSON, written by `dataclasses.asdict`.

        Args:
            data: The parsed JSON.
            where: The file, for error messages.

        Raises:
            MotionError: If it has unknown entries, or values of the wrong type.
        """
        kinds = field_types(cls)
        try:
            check_type(data, dict[str, Any], f"{where}: info")
            data = {"splits": {}, **data}
            for name, value in data.items():
                if name not in kinds:
                    raise MotionError(f"{where}: info has an unknown entry, {name!r}.")
                check_type(value, kinds[name], f"{where}: info.{name}")
        except WrongTypeError as error:
            raise MotionError(str(error)) from error
        kept: dict[str, Any] = {
            n: tuple(v) if isinstance(v, list) else v for n, v in data.items()
        }
        splits = {n: (first, end) for n, (first, end) in data["splits"].items()}
        return cls(**{**kept, "splits": splits})


@dataclass(frozen=True, kw_only=True, eq=False)
class Motion:
    """Joint and body states in float64, at a constant frame rate.

    Unit quaternions are wxyz, positions in metres, angles in radians, all velocities in
    world axes. Positions and velocities of bodies refer to the origin of the body
    frame, not to the centre of mass. Root and joints determine the motion;
    `MotionRobot.completed` computes the other bodies.
    """

    name: str
    """Short name, unique among the clips of a command."""

    fps: float
    """Frames per second."""

    joint_names: tuple[str, ...]
    """Names of the joints, in the order of the columns."""

    joint_pos: Array
    """Joint positions, shape (frames, joints), radians or metres."""

    joint_vel: Array
    """Joint velocities, rad/s or m/s, shape (frames, joints)."""

    root_body: str
    """Name of the floating body; included in `body_names`."""

    body_names: tuple[str, ...]
    """Names of the bodies, in the order of the columns."""

    body_pos_w: Array
    """Body positions in the world, m, shape (frames, bodies, 3)."""

    body_quat_w: Array
    """Body orientations in the world, wxyz, shape (frames, bodies, 4)."""

    body_lin_vel_w: Array
    """Body linear velocities in world axes, m/s, shape (frames, bodies, 3)."""

    body_ang_vel_w: Array
    """Body angular velocities in world axes, rad/s, shape (frames, bodies, 3)."""

    contact_names: tuple[str, ...] = ()
    """Bodies with ground contact labels, such as the feet."""

    contacts: Array | None = None
    """Ground contact labels, shape (frames, contact names), bool."""

    feasibility: Array | None = None
    """Assistive wrench on the root in a simulation of the frame, as a fraction of the
    robot's weight, shape (frames,): 0 is feasible. None if not simulated."""

    info: MotionInfo = field(default_factory=MotionInfo)
    """Metadata of the motion."""

    def __post_init__(self) -> None:
        _check_shapes(self)
        _check_values(self)

    @classmethod
    def from_root(
        cls,
        name: str,
        fps: float,
        root_pos: Array,
        root_quat: Array,
        joint_pos: Array,
        *,
        root_body: str,
        joint_names: Sequence[str],
        contact_names: Sequence[str] = (),
        contacts: Array | None = None,
        feasibility: Array | None = None,
        info: MotionInfo | None = None,
    ) -> "Motion":
        """Build a motion from poses, (frames, 3), (frames, 4) and (frames, joints).

        Velocities are finite differences of neighbouring frames.
        """
        _check_rate(name, fps)
        pos, quat, joints = (
            np.asarray(values, dtype=np.float64)
            for values in (root_pos, root_quat, joint_pos)
        )
        if pos.ndim != 2 or len(pos) < 2:
            raise MotionError(
                f"Motion {name!r} has {len(pos)} frames; it needs at least 2."
            )
        _check_quats(name, quat[:, None], (root_body,))
        return cls(
            name=name,
            fps=float(fps),
            joint_names=tuple(joint_names),
            joint_pos=joints,
            joint_vel=velocity(joints, fps),
            root_body=root_body,
            body_names=(root_body,),
            body_pos_w=pos[:, None],
            body_quat_w=quat[:, None],
            body_lin_vel_w=velocity(pos, fps)[:, None],
            body_ang_vel_w=angular_velocity(quat, fps)[:, None],
            contact_names=tuple(contact_names),
            contacts=contacts,
            feasibility=feasibility,
            info=info if info is not None else MotionInfo(),
        )

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return len(self.joint_pos)

    @property
    def duration(self) -> float:
        """Duration from the first frame to the last, in seconds."""
        return (self.num_frames - 1) / self.fps

    @property
    def root_pos(self) -> Array:
        """Position of the root in the world, m, shape (frames, 3)."""
        return self.body_pos_w[:, self.body_names.index(self.root_body)]

    @property
    def root_quat(self) -> Array:
        """Orientation of the root in the world, wxyz, shape (frames, 4)."""
        return self.body_quat_w[:, self.body_names.index(self.root_body)]

    def bare(self) -> "Motion":
        """Return a motion with root and joints only, and recomputed velocities."""
        return self._rebuilt(self.fps, self.root_pos, self.root_quat, self.joint_pos)

    def frames(self, first: int, last: int) -> "Motion":
        """Return the frames from `first` up to `last`, exclusive."""
        if not 0 <= first < last <= self.num_frames or last - first < 2:
            raise MotionError(
                f"Motion {self.name!r}: {first} to {last} is not a range of two or "
                f"more of its frames, 0 to {self.num_frames}."
            )
        part = slice(first, last)
        cut = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
        cut += ("body_lin_vel_w", "body_ang_vel_w")
        changes: dict[str, Any] = {key: getattr(self, key)[part] for key in cut}
        for key in ("contacts", "feasibility"):
            values = getattr(self, key)
            changes[key] = None if values is None else values[part]
        info = replace(self.info, splits={}, loops=False)
        info = info.logged(f"frames {first} to {last}")
        return replace(self, **changes, info=info)

    def resampled(self, fps: float) -> "Motion":
        """Resample root and joints to another frame rate, by linear interpolation.

        Orientations are interpolated along the shorter arc. Contacts are taken from the
        nearest frame.
        """
        _check_rate(self.name, fps)
        if fps == self.fps:
            return self
        times = resample_times(self.num_frames, self.fps, fps)
        nearest = np.minimum(np.rint(times).astype(int), self.num_frames - 1)
        contacts, share = self.contacts, self.feasibility
        ratio = fps / self.fps
        info = self.info.logged(f"resampled from {self.fps:g} to {fps:g} fps")
        last = len(times)
        splits = {
            name: (round(start * ratio), min(round(stop * ratio), last))
            for name, (start, stop) in info.splits.items()
        }
        return self._rebuilt(
            fps,
            sample(self.root_pos, times),
            sample(self.root_quat, times, is_quat=True),
            sample(self.joint_pos, times),
            contacts=None if contacts is None else contacts[nearest],
            feasibility=None if share is None else sample(share, times),
            info=replace(info, splits=splits),
        )

    def joint_columns(self, names: Sequence[str]) -> list[int]:
        """Return the columns of joints by name; raise for unknown names."""
        return self._columns(names, self.joint_names, "joint")

    def body_columns(self, names: Sequence[str]) -> list[int]:
        """Return the columns of bodies by name; raise for unknown names."""
        return self._columns(names, self.body_names, "body")

    def _columns(
        self, names: Sequence[str], own: tuple[str, ...], what: str
    ) -> list[int]:
        owner = f"motion {self.name}"
        return [find_name(name, own, what=what, owner=owner) for name in names]

    def _rebuilt(
        self, fps: float, pos: Array, quat: Array, joints: Array, **changes: Any
    ) -> "Motion":
        kept: dict[str, Any] = {
            "contact_names": self.contact_names,
            "contacts": self.contacts,
            "feasibility": self.feasibility,
            "info": self.info,
        }
        return Motion.from_root(
            self.name,
            fps,
            pos,
            quat,
            joints,
            root_body=self.root_body,
            joint_names=self.joint_names,
            **(kept | changes),
        )


def _check_rate(name: str, fps: float) -> None:
    if not (np.isfinite(fps) and fps > 0.0):
        raise MotionError(f"Motion {name!r} has fps {fps:g}; it has to be positive.")


def _check_shapes(motion: Motion) -> None:
    name, frames = motion.name, len(motion.joint_pos)
    _check_rate(name, motion.fps)
    if frames < 2:
        raise MotionError(f"Motion {name!r} has {frames} frames; it needs at least 2.")
    joints, bodies = len(motion.joint_names), len(motion.body_names)
    shapes: dict[str, tuple[int, ...]] = {
        "joint_pos": (frames, joints),
        "joint_vel": (frames, joints),
        "body_pos_w": (frames, bodies, 3),
        "body_quat_w": (frames, bodies, 4),
        "body_lin_vel_w": (frames, bodies, 3),
        "body_ang_vel_w": (frames, bodies, 3),
    }
    if motion.contacts is not None:
        shapes["contacts"] = (frames, len(motion.contact_names))
    if motion.feasibility is not None:
        shapes["feasibility"] = (frames,)
    for key, shape in shapes.items():
        found = np.shape(getattr(motion, key))
        if found != shape:
            raise MotionError(
                f"Motion {name!r}: {key} has shape {found}; its names require {shape}."
            )
    for what, names in (("joint", motion.joint_names), ("body", motion.body_names)):
        twice = [each for each in names if names.count(each) > 1]
        if twice:
            raise MotionError(f"Motion {name!r} names the {what} {twice[0]!r} twice.")
    motion.body_columns([motion.root_body])
    for split, (start, stop) in motion.info.splits.items():
        if not 0 <= start < stop <= frames:
            raise MotionError(
                f"Motion {name!r}: split {split!r}, {start} to {stop}, is outside "
                f"frames 0 to {frames}."
            )


def _check_values(motion: Motion) -> None:
    columns = {"joint": motion.joint_names, "body_": motion.body_names}
    for key in ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w"):
        _check_finite(motion, key, columns[key[:5]])
    for key in ("body_lin_vel_w", "body_ang_vel_w"):
        _check_finite(motion, key, columns["body_"])
    _check_quats(motion.name, motion.body_quat_w, motion.body_names)


def _check_finite(motion: Motion, key: str, names: tuple[str, ...]) -> None:
    values = getattr(motion, key)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        frame, column = bad[0][:2]
        raise MotionError(
            f"Motion {motion.name!r}: {key} of {names[column]!r} is "
            f"{values[tuple(bad[0])]} in frame {frame}."
        )


def _check_quats(name: str, quats: Array, bodies: Sequence[str]) -> None:
    lengths = np.linalg.norm(quats, axis=-1)
    bad = np.argwhere(np.abs(lengths - 1.0) > _UNIT)
    if len(bad):
        frame, body = bad[0]
        raise MotionError(
            f"Motion {name!r}: the quaternion of {bodies[body]!r} has length "
            f"{lengths[frame, body]:.4g} in frame {frame}; it has to be 1."
        )
