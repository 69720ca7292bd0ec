"""Random routes, punches and payloads, which depend only on the run id.

All policies get the same draws.
"""

from dataclasses import dataclass

import numpy as np

from mjlab.exam.rotations import wrap
from mjlab.exam.rules import Exam
from mjlab.exam.streams import Purpose, Stream


@dataclass(frozen=True)
class Route:
    """Targets of each run.

    Their frame is the base's position and yaw at the first control step.
    """

    places: np.ndarray
    """Positions, m, shape (runs, targets, 2)."""

    headings: np.ndarray
    """Headings, rad, in (-pi, pi], shape (runs, targets)."""


@dataclass(frozen=True)
class PunchPlan:
    """Punch parameters of each run, one punch per target."""

    joints: np.ndarray
    """Joint index in the joint order of the exam, shape (runs, targets)."""

    on_child: np.ndarray
    """Whether the force is fixed in the frame of the joint's child body instead of its
    parent body, shape (runs, targets)."""

    forces: np.ndarray
    """Force in the frame that `on_child` selects, N, shape (runs, targets, 3)."""


@dataclass(frozen=True)
class PayloadPlan:
    """Mass and position of each run's payload, one per target."""

    masses: np.ndarray
    """Masses, kg, shape (runs, targets)."""

    offsets: np.ndarray
    """Offsets forward and to the left, m, shape (runs, targets, 2)."""


def draw_route(exam: Exam, runs: range) -> Route:
    """Draw target positions and headings for the given run ids."""
    targets = exam.targets
    units = np.array(
        [
            Stream(run, Purpose.ROUTE).uniform(0.0, 1.0, (targets.number, 3))
            for run in runs
        ]
    )
    radius = targets.radius * np.sqrt(units[..., 0])
    bearing = 2.0 * np.pi * units[..., 1]
    places = np.stack((np.cos(bearing), np.sin(bearing)), axis=-1)
    places = np.array(targets.centre) + radius[..., None] * places
    return Route(places, wrap(2.0 * np.pi * units[..., 2]))


def draw_punches(exam: Exam, runs: range) -> PunchPlan:
    """Draw one punch per target for the given run ids."""
    shape = (len(runs), exam.targets.number)
    plan = PunchPlan(np.zeros(shape, int), np.zeros(shape, bool), np.zeros((*shape, 3)))
    for row, run in enumerate(runs):
        stream = Stream(run, Purpose.PUNCHES)
        for target in range(exam.targets.number):
            plan.joints[row, target] = stream.below(len(exam.joints))
            plan.on_child[row, target] = stream.below(2) != 0
            z = stream.uniform(-1.0, 1.0)[0]
            angle = stream.uniform(0.0, 2.0 * np.pi)[0]
            share = stream.uniform(exam.punches.least, 1.0)[0]
            size = share * exam.punches.ceiling_at(target * exam.targets.seconds)
            flat = np.sqrt(1.0 - z * z)
            direction = (flat * np.cos(angle), flat * np.sin(angle), z)
            plan.forces[row, target] = size * np.array(direction)
    return plan


def draw_payloads(exam: Exam, runs: range) -> PayloadPlan:
    """Draw one payload mass and offset per target for the given run ids."""
    payload = exam.payload
    assert payload is not None, "The exam has no payload."
    low = np.array((payload.mass[0], -payload.offset[0], -payload.offset[1]))
    high = np.array((payload.mass[1], *payload.offset))
    shape = (exam.targets.number, 3)
    units = np.array(
        [Stream(run, Purpose.PAYLOAD).uniform(0.0, 1.0, shape) for run in runs]
    )
    values = low + (high - low) * units
    return PayloadPlan(values[..., 0], values[..., 1:])
