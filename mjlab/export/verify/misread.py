"""Inputs that a file misinterprets: each convention is tried."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mjlab.export.runner.policy import Arrays, ContractPolicy

_STEPS = 25
"""Number of steps to try."""

_SHARE = 0.02
"""Maximum remaining fraction of the difference with the correct convention."""

DEGREES = 180.0 / math.pi


def misread(policy: ContractPolicy, record: Arrays, turns: Any) -> str | None:
    """Describe the convention of one input that explains different outputs.

    Args:
        policy: The policy, whose outputs differ from the record.
        record: The record.
        turns: Orientations of the root, shape (steps, 3, 3), None without a root.
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
    """Return the action errors with one input changed."""
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
            # States are taken from the record, otherwise errors would accumulate.
            policy.state["state_last_action"] = expected[step]
        worst = max(worst, float(np.abs(answer["action"] - expected[step]).max()))
    return worst


def _conventions(
    policy: ContractPolicy, entry: dict[str, Any], record: Arrays, turns: Any
) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Yield conventions, with their inverse."""
    yield "sign: the policy expects the negative", lambda values: -values
    yield (
        ("degrees: the policy expects degrees instead of radians"),
        lambda values: values * DEGREES,
    )
    yield (
        ("degrees: the policy expects radians instead of degrees"),
        lambda values: values / DEGREES,
    )
    for late in (1, 2):
        yield (
            f"delay: the policy expects the value of {late} control "
            f"step{'s' * (late > 1)} before",
            lambda values, late=late: _later(values, -late),
        )
        yield (
            f"delay: the input is {late} control step{'s' * (late > 1)} late",
            lambda values, late=late: _later(values, late),
        )
    elements = entry["elements"] or []
    last = [name.rpartition("_")[2] for name in elements]
    if set("wxyz") <= set(last):
        start = last.index("w")
        for shift in (-1, 1):
            yield (
                "order of a quaternion: the policy expects xyzw instead of wxyz",
                lambda values, shift=shift: _rolled(values, start, shift),
            )
    if turns is not None and len(elements) == 3 and set(elements) == set("xyz"):
        yield (
            "frame: the policy expects world axes",
            lambda values: np.einsum("tij,tj->ti", turns, values),
        )
        yield (
            "frame: the policy expects the robot's axes",
            lambda values: np.einsum("tji,tj->ti", turns, values),
        )
    if len(elements) == 3 and set(elements) == set("xyz"):
        yield from _turned()
    yield from _of_joints(policy, entry, elements)
    yield from _scales(policy, entry)


def _turned() -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray]]]:
    """Yield rotations by 90 and 180 degrees about each axis."""
    for axis, name in enumerate("xyz"):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        quarter = np.zeros((3, 3))
        quarter[axis, axis] = quarter[second, first] = 1.0
        quarter[first, second] = -1.0
        for times in (1, 2, 3):
            turn = np.linalg.matrix_power(quarter, times)
            yield (
                f"frame: the policy expects axes rotated by {90 * times} degrees "
                f"about {name}",
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
            "default offset: the policy does not subtract the default",
            lambda values: values - default,
        )
        yield (
            "default offset: the policy subtracts the default twice",
            lambda values: values + default,
        )
    driven = [a["target"] for a in policy.entity["actuators"]]
    orders = {
        "order of the actuators": driven,
        "alphabetical": sorted(elements),
        "reversed": elements[::-1],
    }
    for name, order in orders.items():
        if sorted(order) != sorted(elements) or order == elements:
            continue
        places = [elements.index(each) for each in order]
        back = [order.index(each) for each in elements]
        yield (
            f"order: the policy expects joints in another order, {name}",
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
            f"scale: the policy expects {1.0 / factor:g} times the value",
            lambda values, factor=factor: values * factor,
        )


def _later(values: np.ndarray, steps: int) -> np.ndarray:
    """Return values shifted by some steps; the first or last value is repeated."""
    places = np.clip(np.arange(len(values)) + steps, 0, len(values) - 1)
    return values[places]


def _rolled(values: np.ndarray, start: int, shift: int) -> np.ndarray:
    rolled = values.copy()
    part = slice(start, start + 4)
    rolled[:, part] = np.roll(values[:, part], shift, axis=1)
    return rolled
