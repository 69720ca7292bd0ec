"""Random numbers of runs: route, punches and payload, equal for all policies."""

from dataclasses import dataclass

import numpy as np

from mjlab.exam.rotations import wrap
from mjlab.exam.rules import Exam
from mjlab.exam.streams import Purpose, Stream


@dataclass(frozen=True)
class Route:
    """Targets of runs, in the frame of the first control step."""

    places: np.ndarray
    """Positions, m, shape (runs, targets, 2)."""

    headings: np.ndarray
    """Headings in (-pi, pi], shape (runs, targets)."""


@dataclass(frozen=True)
class PunchPlan:
    """Punches of runs, one for each target."""

    joints: np.ndarray
    """Joint index in the joint order of the exam, shape (runs, targets)."""

    on_child: np.ndarray
    """Whether the force rotates with the child body instead of the parent, same
    shape."""

    forces: np.ndarray
    """Force in the axes of that body, N, shape (runs, targets, 3)."""


@dataclass(frozen=True)
class PayloadPlan:
    """Payloads of runs, one for each target."""

    masses: np.ndarray
    """Masses, kg, shape (runs, targets)."""

    offsets: np.ndarray
    """Offsets forward and to the left, m, shape (runs, targets, 2)."""


def draw_route(exam: Exam, runs: range) -> Route:
    """Draw the targets of runs."""
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
    """Draw the punches of runs."""
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
    """Draw the payloads of runs."""
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
