"""Inputs that a file reads otherwise than it should: each convention is tried."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mjlab.export.runner.policy import Arrays, ContractPolicy

_STEPS = 25
"""Steps that are tried."""

_SHARE = 0.02
"""Share of the departure that the right convention may leave."""

DEGREES = 180.0 / math.pi


def misread(policy: ContractPolicy, record: Arrays, turns: Any) -> str | None:
    """Return the convention by which one input explains other answers, in words.

    Args:
        policy: The policy, which answers otherwise than recorded.
        record: The record.
        turns: Orientations of the root, shape (steps, 3, 3), if it has one.
    """
    plain = _error(policy, record, "", lambda values: values)
    best: tuple[float, str] = (_SHARE * plain, "")
    for entry in policy.contract["inputs"]:
        name = entry["name"]
        for reason, change in _conventions(policy, entry, record, turns):
            error = _error(policy, record, name, change)
            if error < best[0]:
                best = (error, f"{reason}, in its input {name}")
    return best[1] or None


def _error(
    policy: ContractPolicy,
    record: Arrays,
    changed: str,
    change: Callable[[np.ndarray], np.ndarray],
) -> float:
    """Return how far the actions are off when one input is changed."""
    names = [entry["name"] for entry in policy.contract["inputs"]]
    inputs = {name: record[f"input {name}"].astype(float) for name in names}
    if changed:
        inputs[changed] = change(inputs[changed])
    expected = record["output action"]
    steps = min(_STEPS, len(expected))
    policy.reset()
    worst = 0.0
    for step in range(steps):
        answer = policy({name: values[step] for name, values in inputs.items()})
        if "state_last_action" in policy.state:
            # The past is the recorded one, or errors would feed themselves.
            policy.state["state_last_action"] = expected[step]
        worst = max(worst, float(np.abs(answer["action"] - expected[step]).max()))
    return worst


def _conventions(
    policy: ContractPolicy, entry: dict[str, Any], record: Arrays, turns: Any
) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Yield conventions, and what undoes them."""
    yield "sign: it takes the negative", lambda values: -values
    yield "degrees: it takes degrees for radians", lambda values: values * DEGREES
    yield "degrees: it takes radians for degrees", lambda values: values / DEGREES
    for late in (1, 2):
        yield (
            f"delay: it takes what was {late} control step{'s' * (late > 1)} before",
            lambda values, late=late: _later(values, -late),
        )
        yield (
            f"delay: it is {late} control step{'s' * (late > 1)} behind",
            lambda values, late=late: _later(values, late),
        )
    elements = entry["elements"] or []
    last = [name.rpartition("_")[2] for name in elements]
    if set("wxyz") <= set(last):
        start = last.index("w")
        for shift in (-1, 1):
            yield (
                "order of a quaternion: it takes xyzw for wxyz",
                lambda values, shift=shift: _rolled(values, start, shift),
            )
    if turns is not None and len(elements) == 3 and set(elements) == set("xyz"):
        yield (
            "frame: it takes the axes of the world",
            lambda values: np.einsum("tij,tj->ti", turns, values),
        )
        yield (
            "frame: it takes the axes of the robot",
            lambda values: np.einsum("tji,tj->ti", turns, values),
        )
    if len(elements) == 3 and set(elements) == set("xyz"):
        yield from _turned()
    yield from _of_joints(policy, entry, elements)
    yield from _scales(policy, entry)


def _turned() -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Yield quarter and half turns about each axis."""
    for axis, name in enumerate("xyz"):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        quarter = np.zeros((3, 3))
        quarter[axis, axis] = quarter[second, first] = 1.0
        quarter[first, second] = -1.0
        for times in (1, 2, 3):
            turn = np.linalg.matrix_power(quarter, times)
            yield (
                f"frame: it takes axes that are turned by {90 * times} degrees about "
                f"{name}",
                lambda values, turn=turn: values @ turn,
            )


def _of_joints(
    policy: ContractPolicy, entry: dict[str, Any], elements: list[str]
) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    joints = {j["name"]: j["default_pos"] for j in policy.entity["joints"]}
    if not elements or not set(elements) <= joints.keys():
        return
    default = np.array([joints[name] for name in elements])
    if entry["measured"]["kind"] == "joint_pos" and default.any():
        yield (
            "default offset: it does not take the default away",
            lambda values: values - default,
        )
        yield (
            "default offset: it takes the default away twice",
            lambda values: values + default,
        )
    driven = [a["target"] for a in policy.entity["actuators"]]
    orders = {
        "that of the actuators": driven,
        "alphabetical": sorted(elements),
        "reversed": elements[::-1],
    }
    for name, order in orders.items():
        if sorted(order) != sorted(elements) or order == elements:
            continue
        places = [elements.index(each) for each in order]
        back = [order.index(each) for each in elements]
        yield (
            f"order: it takes joints in another order, {name}",
            lambda values, places=places: values[:, places],
        )
        yield (
            f"order: it takes joints in another order, {name}",
            lambda values, back=back: values[:, back],
        )


def _scales(
    policy: ContractPolicy, entry: dict[str, Any]
) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    known = {0.5, 2.0, 0.1, 10.0}
    for term in policy.contract["observations"]:
        if entry["name"] in term["depends_on"] and isinstance(term["scale"], float):
            known |= {term["scale"], 1.0 / term["scale"]}
    for factor in sorted(known):
        yield (
            f"scale: it takes {1.0 / factor:g} times as much",
            lambda values, factor=factor: values * factor,
        )


def _later(values: np.ndarray, steps: int) -> np.ndarray:
    """Return values of some steps later, and the last, or the first, at the end."""
    places = np.clip(np.arange(len(values)) + steps, 0, len(values) - 1)
    return values[places]


def _rolled(values: np.ndarray, start: int, shift: int) -> np.ndarray:
    rolled = values.copy()
    part = slice(start, start + 4)
    rolled[:, part] = np.roll(values[:, part], shift, axis=1)
    return rolled
