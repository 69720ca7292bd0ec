"""Compare Isaac Lab's env.yaml with the deploy.yaml of the same policy."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.foreign.formats.files import ConfigFile, read_yaml
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.verdict import Finding

_CLOSE = 6e-3
"""Relative tolerance: deploy.yaml is rounded to three significant digits."""


def compare_env(interface: Interface, configs: Sequence[Path]) -> Iterator[Finding]:
    """Yield differences between env.yaml, if it is given, and deploy.yaml."""
    for path in configs:
        file = read_yaml(path)
        if "observations" not in file or "decimation" not in file:
            continue
        yield from _rate(interface, file)
        yield from _terms(interface, file)
        yield from _action(interface, file)
        yield from _robot(interface, file)


def _rate(interface: Interface, file: ConfigFile) -> Iterator[Finding]:
    period = file.number("decimation") * file.part("sim").number("dt")
    if not np.isclose(period, interface.control_dt, rtol=_CLOSE):
        product = f"{file.at('decimation')} x sim.dt"
        said = f"{interface.control_dt:g} s, but {product} is {period:g} s"
        yield Finding(interface.place("control_dt"), "mismatch", said)


def _terms(interface: Interface, file: ConfigFile) -> Iterator[Finding]:
    group = file.part("observations").part("policy")
    named = {
        name: entry
        for name, entry in group.values.items()
        if isinstance(entry, Mapping) and "func" in entry
    }
    own = list(dict.fromkeys(term.name.partition(".")[0] for term in interface.terms))
    if own != list(named):
        said = f"terms are {', '.join(own)}, but {', '.join(named)} in {group.at('')}"
        yield Finding(interface.place("terms"), "mismatch", said.rstrip("."))
        return
    for term in interface.terms:
        entry = named[term.name.partition(".")[0]]
        place = f"{interface.place('terms')}.{term.name}"
        steps = group.values.get("history_length") or entry.get("history_length") or 1
        if int(steps) != term.history:
            said = f"{term.history} steps, but {steps} in {file.name}"
            yield Finding(f"{place}.history_length", "mismatch", said)
        scale = 1.0 if entry.get("scale") is None else entry["scale"]
        if not np.allclose(term.scale, np.asarray(scale, float), rtol=_CLOSE):
            said = f"{np.ravel(term.scale)[0]:g}, but {scale} in {file.name}"
            yield Finding(f"{place}.scale", "mismatch", said)
        clip = entry.get("clip")
        if (None if clip is None else tuple(map(float, clip))) != term.clip:
            said = f"{term.clip}, but {clip} in {file.name}"
            yield Finding(f"{place}.clip", "mismatch", said)


def _action(interface: Interface, file: ConfigFile) -> Iterator[Finding]:
    for name, entry in file.part("actions").values.items():
        if not isinstance(entry, Mapping) or "scale" not in entry:
            continue
        wanted = by_name(entry["scale"], interface.acted)
        yield from _differ(
            interface, "action_scale", interface.acted, wanted, f"{file.name}: {name}"
        )


def _robot(interface: Interface, file: ConfigFile) -> Iterator[Finding]:
    robot = file.values.get("scene", {}).get("robot", {})
    pose = robot.get("init_state", {}).get("joint_pos")
    if pose is not None:
        wanted, where = (
            by_name(pose, interface.joints),
            f"{file.name}: init_state.joint_pos",
        )
        yield from _differ(interface, "default", interface.joints, wanted, where)
    for name in ("stiffness", "damping"):
        wanted = {}
        for group in (robot.get("actuators") or {}).values():
            names = "|".join(map(str, group["joint_names_expr"]))
            chosen = [joint for joint in interface.joints if re.fullmatch(names, joint)]
            wanted |= by_name(group.get(name), chosen)
        yield from _differ(
            interface, name, interface.joints, wanted, f"{file.name}: {name}"
        )


def by_name(values: Any, joints: Sequence[str]) -> dict[str, float]:
    """Return a value per joint, from one number or from values by name pattern."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        return dict.fromkeys(joints, float(values))
    return {
        joint: float(value)
        for joint in joints
        for pattern, value in values.items()
        if re.fullmatch(str(pattern), joint)
    }


def _differ(
    interface: Interface,
    name: str,
    joints: Sequence[str],
    wanted: Mapping[str, float],
    where: str,
) -> Iterator[Finding]:
    own = dict(zip(joints, getattr(interface, name), strict=True))
    for joint, value in wanted.items():
        if not np.isclose(own[joint], value, rtol=_CLOSE, atol=1e-3):
            said = f"{joint} has {own[joint]:.4g}, but {value:.4g} in {where}"
            yield Finding(interface.place(name), "mismatch", said)
            return
