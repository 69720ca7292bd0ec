"""Observations and actions of a foreign policy, in one form for all formats.

A reader in `formats` fills an `Interface` from the files of its project. The graph, the
checks and the simulation use only the `Interface`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from mjlab.export.foreign.network import Network

Source = Literal[
    "gyro",
    "lin_vel",
    "gravity",
    "command",
    "joint_pos",
    "joint_pos_rel",
    "joint_vel",
    "last_action",
    "cos_phase",
    "sin_phase",
]
"""Quantity of an observation term.

`gyro`, `lin_vel` and `gravity` are in the axes of the IMU, and `gravity` is the unit
vector that points down. `joint_pos_rel` is relative to the default pose.
"""

JOINT_SOURCES = ("joint_pos", "joint_pos_rel", "joint_vel")
PHASE_SOURCES = ("cos_phase", "sin_phase")

Kept = Literal["raw", "clipped", "target"]
"""Action that the next observation contains: the network's output ("raw"), the clipped
output, or the joint target."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """Observation term. Its values are clipped, scaled, then stored in the history."""

    name: str
    """Name of the term in the project's files."""

    source: Source
    """Quantity that the term observes."""

    joints: tuple[str, ...] = ()
    """Joints of a joint quantity, in the order of its elements."""

    scale: np.ndarray | float = 1.0
    """Scale: one number, or one per element."""

    clip: tuple[float, float] | None = None
    """Lower and upper bound before scaling."""

    history: int = 1
    """Number of control steps in the term, including the current one."""

    frame: Literal["imu", "world"] = "imu"
    """Frame in which a vector is expressed."""

    blind: tuple[str, ...] = ()
    """Joints for which the term always contains 0."""


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Gait clock, observed as the sine and cosine of phases."""

    hz: float
    """Frequency, Hz."""

    offsets: tuple[float, ...] = (0.0,)
    """Initial phases, rad, such as one per leg."""

    is_early: bool = False
    """Whether the clock advances before the first observation instead of after it."""

    still: Literal["runs", "pi", "zero"] = "runs"
    """Observation during a zero command: the running clock, phases of pi, or zeros."""

    hz_by_command: float = 0.0
    """Increase of the frequency at a command norm of 1.5 or more, Hz."""


@dataclass(frozen=True, kw_only=True)
class Interface:
    """Contract of a policy: its observation terms, and how actions become targets."""

    format: str
    """Name of the format."""

    network: Network
    """Network of the policy."""

    joints: tuple[str, ...]
    """Joints in the order of the policy's files."""

    default: np.ndarray
    """Default pose, rad, in the order of `joints`."""

    stiffness: np.ndarray
    """Position gains, N m/rad, in the order of `joints`."""

    damping: np.ndarray
    """Velocity gains, N m s/rad, in the order of `joints`."""

    acted: tuple[str, ...]
    """Joints that the actions move, in the order of the actions."""

    action_scale: np.ndarray
    """Scale of each action, rad."""

    action_offset: np.ndarray
    """Joint target at zero action, rad, one per action."""

    action_clip: float | None = None
    """Clip of the actions, symmetric about zero. None means no clip."""

    target_clip: np.ndarray | None = None
    """Lower and upper limit of each target, rad, shape (actions, 2)."""

    kept: Kept = "raw"
    """Action that the next observation contains."""

    terms: tuple[Term, ...]
    """Observation terms, in the order of the observation."""

    clock: Clock | None = None
    """Gait clock, if the policy observes one."""

    newest_first: bool = False
    """Whether histories list the newest step first instead of the oldest."""

    by_step: bool = False
    """Whether histories are grouped by control step instead of by term."""

    fills: bool = True
    """Whether histories start as copies of the first observation instead of zeros."""

    control_dt: float
    """Control period, s."""

    physics_dt: float | None = None
    """Physics timestep in training, s. None if no file contains it."""

    imu: str | None = None
    """IMU site in the robot model. None means the frame of the root body."""

    ranges: tuple[tuple[float, float], ...] | None = None
    """Command ranges: forward velocity (m/s), left velocity (m/s), yaw rate (rad/s)."""

    places: Mapping[str, str] = field(default_factory=dict)
    """File and key of each field, by field name, for messages."""

    assumed: tuple[str, ...] = ()
    """Assumptions about facts that the policy's files do not contain."""

    def place(self, name: str) -> str:
        """Return the file and key of a field, or the field's name if unknown."""
        return self.places.get(name, name)

    def size(self, term: Term) -> int:
        """Number of elements of a term in one control step."""
        if term.source in JOINT_SOURCES:
            return len(term.joints)
        if term.source in PHASE_SOURCES:
            return 0 if self.clock is None else len(self.clock.offsets)
        return len(self.acted) if term.source == "last_action" else 3

    def elements(self, term: Term) -> list[str]:
        """Names of a term's elements."""
        if term.source in JOINT_SOURCES:
            return list(term.joints)
        if term.source == "last_action":
            return list(self.acted)
        if term.source == "command":
            return ["lin_vel_x", "lin_vel_y", "ang_vel_z"]
        if term.source in PHASE_SOURCES:
            return [f"phase {i}" for i in range(self.size(term))]
        return ["x", "y", "z"]

    @property
    def width(self) -> int:
        """Number of elements of the whole observation."""
        return sum(self.size(term) * term.history for term in self.terms)

    def columns(self, term: Term) -> np.ndarray:
        """Columns of a term in the observation, shape (history, elements).

        The first row is the oldest step.
        """
        size, first = self.size(term), 0
        if self.by_step:
            whole = sum(self.size(each) for each in self.terms)
            for each in self.terms[: self._index(term)]:
                first += self.size(each)
            rows = whole * np.arange(term.history)
        else:
            for each in self.terms[: self._index(term)]:
                first += self.size(each) * each.history
            rows = size * np.arange(term.history)
        found = first + rows[:, None] + np.arange(size)
        return found[::-1] if self.newest_first else found

    def with_term(self, name: str, **changes: Any) -> "Interface":
        """Return a copy in which the named term has changed fields."""
        terms = tuple(
            replace(term, **changes) if term.name == name else term
            for term in self.terms
        )
        return replace(self, terms=terms)

    def _index(self, term: Term) -> int:
        return [each.name for each in self.terms].index(term.name)
