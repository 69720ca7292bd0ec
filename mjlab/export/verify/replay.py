"""Detect swapped joints, wrong signs and rotated axes in a log.

Each log line gives the joint positions and velocities, and the tilt and velocities of
the root. From this state, the recorded scene is simulated for one control period with
the logged targets, and the joints are compared with the next line. A swap, sign or
rotation that removes most of the error is reported.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import mujoco
import numpy as np

from mjlab.export.runner.checks import ReadingChecks
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify.lines import joint_series, series

_LINES = 16
"""Maximum number of log lines to simulate."""

_GOOD = 0.05
"""Largest accepted joint error, as a fraction of the mean joint motion per period."""

_LEFT, _SURE = 0.4, 0.1
"""Maximum fraction of the error that a correction can leave, and the fraction below
which the search stops."""

_WORST = 6
"""Number of joints for which negations and swaps in pairs are tried. The joints with
the largest errors are used."""

_DEPTH = 1e-3
"""Penetration of the robot's lowest point, m. Logs do not contain the root's height, so
the robot is placed on the ground."""


@dataclass(frozen=True)
class _Readings:
    """Readings of the joints and of the root, one row per log line."""

    pos: np.ndarray
    """Joint positions, shape (lines, joints); NaN for unobserved joints."""
    vel: np.ndarray
    """Joint velocities, shape (lines, joints); 0 for unobserved joints."""
    sent: np.ndarray
    """Position targets, shape (lines, joints); NaN for joints without targets."""
    up: np.ndarray
    """Vertical in the IMU's frame, as `ReadingChecks.vertical`, shape (lines, 3)."""
    gyro: np.ndarray
    """Angular velocity in the IMU's frame, rad/s, shape (lines, 3)."""
    lin: np.ndarray
    """Linear velocity in the IMU's frame, m/s, shape (lines, 3)."""


def exchanged(policy: ContractPolicy, rows: list[dict[str, Any]]) -> str | None:
    """Describe swapped, negated or rotated readings of a log; None if there are none.

    Args:
        policy: The policy.
        rows: Lines of the log in which targets were sent.
    """
    readings = _readings(policy, rows)
    if readings is None or policy.contract["model"]["lacks"] or len(rows) < 4:
        return None
    turned = _turned_gyro(readings, policy.dt)
    if turned is not None and not policy.entity["root"]["is_fixed"]:
        return turned
    scene = _Scene(policy, rows)
    missed = scene.missed(readings).mean(axis=0)
    moved = float(np.nanmean(np.abs(np.diff(readings.pos, axis=0))))
    if not moved > 1e-4 or missed.max() < _GOOD * moved:
        return None
    best: tuple[float, str | None] = (float(missed.mean()), None)
    for said, changed in _changes(policy, readings, missed):
        left = scene.missed(changed).mean(axis=0)
        # Compare the joints that the correction changes; all joints for the root.
        is_other = ~np.isclose(changed.pos, readings.pos, equal_nan=True).all(axis=0)
        chosen = is_other if is_other.any() else np.ones(len(missed), bool)
        before, after = float(missed[chosen].mean()), float(left[chosen].mean())
        if left.mean() < best[0] and after < _LEFT * before:
            best = (
                float(left.mean()),
                f"{said}: with this correction, the targets lead to the next lines "
                f"within {after:.2g} rad, without it within {before:.2g} rad",
            )
        if best[0] < _SURE * missed.mean():
            break
    return best[1]


def _readings(policy: ContractPolicy, rows: list[dict[str, Any]]) -> _Readings | None:
    """Return the readings of the lines; None without joint positions or tilt."""
    entity, inputs = policy.entity, policy.contract["inputs"]
    names = [joint["name"] for joint in entity["joints"]]
    kinds = ("joint_pos", "joint_vel")
    found = {kind: joint_series(policy.contract, rows, kind) for kind in kinds}
    if not rows or not found["joint_pos"]:
        return None
    none, zero = np.full(len(rows), np.nan), np.zeros(len(rows))
    pos = np.stack([found["joint_pos"].get(name, none) for name in names], axis=1)
    vel = np.stack([found["joint_vel"].get(name, zero) for name in names], axis=1)
    sent = np.full(pos.shape, np.nan)
    for term in policy.contract["actions"]:
        if term["quantity"] == "joint_pos" and not term["relative_to"]:
            columns = [names.index(n) for n in term["targets"]]
            values = series(rows, term["output"], "targets")
            assert values is not None, "Missing targets were reported earlier."
            sent[:, columns] = values
    still = np.zeros((len(rows), 3))
    if entity["root"]["is_fixed"]:
        return _Readings(pos, vel, sent, still, still, still)
    checks = ReadingChecks(policy.contract)
    down = [e for e in inputs if checks.upright(e) is not None]
    if not down:
        return None
    rates: dict[Any, Any] = {
        e["unit"]: series(rows, e["name"])
        for e in inputs
        if e["frame"] == checks.axes(down[0]) and e["elements"] == ["x", "y", "z"]
    }
    told = series(rows, down[0]["name"])
    assert told is not None, "Missing readings were reported earlier."
    up = checks.vertical(down[0], told)
    gyro, lin = rates.get("rad/s", still), rates.get("m/s", still)
    return _Readings(pos, vel, sent, up, gyro, lin)


def _changes(
    policy: ContractPolicy, readings: _Readings, missed: np.ndarray
) -> Iterator[tuple[str, _Readings]]:
    """Yield a possible mistake, and the readings with this mistake corrected."""
    names = [joint["name"] for joint in policy.entity["joints"]]
    worst = np.argsort(-missed, kind="stable")[:_WORST].tolist()
    for one in worst:
        sign = np.where(np.arange(len(names)) == one, -1.0, 1.0)
        turned = replace(readings, pos=readings.pos * sign, vel=readings.vel * sign)
        yield f"sign: joint_pos and joint_vel of {names[one]} are negated", turned
        yield (
            f"sign: the axis of {names[one]} points in the opposite direction",
            replace(turned, sent=readings.sent * sign),
        )
    orders = list(_orders(policy, names))
    for one, other in combinations(sorted(worst), 2):
        order = list(range(len(names)))
        order[one], order[other] = other, one
        orders.append((f"{names[one]} and {names[other]} are swapped", order))
    for said, order in orders:
        pos, vel = readings.pos[:, order], readings.vel[:, order]
        moved = replace(readings, pos=pos, vel=vel)
        yield f"order: {said} in joint_pos and joint_vel", moved
        sent = readings.sent[:, order]
        if np.array_equal(np.isnan(sent), np.isnan(readings.sent)):
            yield f"order: {said} in readings and targets", replace(moved, sent=sent)
    if policy.entity["root"]["is_fixed"]:
        return
    for axis, name in enumerate("xyz"):
        for times in (1, 2, 3):
            turn = _quarter(axis, times)
            turned = {
                "the IMU": {"up", "gyro", "lin"},
                "the linear velocity": {"lin"},
            }
            for said, which in turned.items():
                fields = {key: getattr(readings, key) @ turn.T for key in which}
                yield (
                    f"frame: {said} is in axes rotated by {90 * times} degrees about "
                    f"{name}",
                    replace(readings, **fields),
                )


def _turned_gyro(readings: _Readings, dt: float) -> str | None:
    """Describe a rotation of the gyro's axes that fits the change of the vertical."""
    up, gyro = readings.up, (readings.gyro[1:] + readings.gyro[:-1]) / 2.0
    middle, change = (up[1:] + up[:-1]) / 2.0, np.diff(up, axis=0) / dt

    def error(turn: np.ndarray) -> float:
        # In the robot's frame, a vector that is fixed in the world rotates with the
        # negative angular velocity.
        return float(((change - np.cross(middle, gyro @ turn.T)) ** 2).sum())

    before, moved = error(np.eye(3)), float((change**2).sum())
    if before < max(0.3 * moved, 0.01 * len(change)):
        return None
    turns = {
        f"{90 * times} degrees about {name}": error(_quarter(axis, times))
        for axis, name in enumerate("xyz")
        for times in (1, 2, 3)
    }
    best = min(turns, key=lambda turn: turns[turn])
    if turns[best] > 0.3 * before:
        return None
    return (
        f"frame: the gyro is in axes rotated by {best}, compared with the rotation of "
        "the vertical"
    )


def _orders(
    policy: ContractPolicy, names: list[str]
) -> Iterator[tuple[str, list[int]]]:
    """Yield joint orders with their description.

    An order lists, for each joint of the contract, its index in the log.
    """
    for said, others in _limbs(names):
        yield said, [names.index(name) for name in others]
    orders = {
        "joints are in actuator order": [
            a["target"] for a in policy.entity["actuators"]
        ],
        "joints are alphabetical": sorted(names),
        "joints are reversed": names[::-1],
    }
    for said, order in orders.items():
        if sorted(order) == sorted(names) and order != names:
            yield said, [order.index(name) for name in names]


def _limbs(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield names with one or two pairs of limbs swapped, such as FL and FR."""
    parts: dict[str, set[str]] = {}
    split = [name.partition("_") for name in names]
    for limb, mark, rest in split:
        if mark:
            parts.setdefault(limb, set()).add(rest)
    alike = [
        pair for pair in combinations(parts, 2) if parts[pair[0]] == parts[pair[1]]
    ]
    twice = [two for two in combinations(alike, 2) if len({*two[0], *two[1]}) == 4]
    for pairs in [*((pair,) for pair in alike), *twice]:
        other = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
        said = ", ".join(f"{one} and {two}" for one, two in pairs) + " are swapped"
        yield said, [other.get(limb, limb) + mark + rest for limb, mark, rest in split]


def _quarter(axis: int, times: int) -> np.ndarray:
    """Return the rotation matrix of `times` quarter turns about an axis (0 to 2)."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    turn = np.zeros((3, 3))
    turn[axis, axis] = turn[second, first] = 1.0
    turn[first, second] = -1.0
    return np.linalg.matrix_power(turn, times)


class _Scene:
    """Simulates control periods of the recorded scene from the states in a log."""

    def __init__(self, policy: ContractPolicy, rows: list[dict[str, Any]]) -> None:
        self._robot, self._root = MujocoRobot(policy), policy.entity["root"]
        self._start = {k: policy.record()[k][0].astype(float) for k in ("qpos", "qvel")}
        places = np.linspace(0, len(rows) - 2, min(_LINES, len(rows) - 1))
        self._lines = np.unique(places.astype(int))
        outputs = [term["output"] for term in policy.contract["actions"]]
        shapes = {o["name"]: o["shape"] for o in policy.contract["outputs"]}
        self._targets = [
            {n: np.reshape(row["targets"][n], shapes[n]).astype(float) for n in outputs}
            for row in rows
        ]
        pairs = self._robot.joints
        self._pos, self._dof = (list(each) for each in zip(*pairs, strict=True))
        names = [joint["name"] for joint in policy.entity["joints"]]
        self._columns = {
            term["output"]: [names.index(name) for name in term["targets"]]
            for term in policy.contract["actions"]
            if term["quantity"] == "joint_pos" and not term["relative_to"]
        }
        # Disable limits: a joint with an inverted axis can be beyond them.
        self._robot.model.jnt_limited[:] = 0
        self._mount(policy)

    def missed(self, readings: _Readings) -> np.ndarray:
        """Return absolute joint errors at the next line, shape (lines, joints)."""
        robot, away = self._robot, []
        robot.start(self._start["qpos"], self._start["qvel"])
        for line in self._lines:
            self._place(readings, int(line))
            robot.write(self._sent(readings, int(line)))
            robot.wait()
            away.append(np.abs(robot.data.qpos[self._pos] - readings.pos[line + 1]))
            away[-1][np.isnan(away[-1])] = 0.0
        return np.array(away)

    def _sent(self, readings: _Readings, line: int) -> dict[str, np.ndarray]:
        """Return the outputs of a line, with position targets from `readings`."""
        found = dict(self._targets[line])
        for output, columns in self._columns.items():
            found[output] = readings.sent[line, columns]
        return found

    def _mount(self, policy: ContractPolicy) -> None:
        """Find the IMU's pose in the root's frame, and the sign of its vertical."""
        model = self._robot.model
        self._axes, self._arm, self._sign = np.eye(3), np.zeros(3), -1.0
        if self._root["is_fixed"]:
            return
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        body = self._robot.find("body", self._root["frame"])
        turn, origin = data.xmat[body].reshape(3, 3), data.xpos[body]
        checks = ReadingChecks(policy.contract)
        entry = next(
            e for e in policy.contract["inputs"] if checks.upright(e) is not None
        )
        frame = checks.axes(entry)
        names = [model.site(i).name for i in range(model.nsite)]
        on = data.site(frame) if frame in names else data.body(frame)
        axes, place = on.xmat.reshape(3, 3), on.xpos
        self._axes, self._arm = turn.T @ axes, turn.T @ (place - origin)
        self._sign = float(np.sign((self._axes @ checks.upright(entry))[2]))

    def _place(self, readings: _Readings, line: int) -> None:
        model = self._robot.model
        qpos, qvel = self._start["qpos"].copy(), np.zeros(model.nv)
        pos = readings.pos[line]
        qpos[self._pos] = np.where(np.isnan(pos), qpos[self._pos], pos)
        qvel[self._dof] = readings.vel[line]
        if not self._root["is_fixed"]:
            # The free joint comes first. Any heading can be chosen.
            up = self._sign * (self._axes @ readings.up[line])
            qpos[3:7], turn = _upright_quat(up)
            spin = self._axes @ readings.gyro[line]
            speed = self._axes @ readings.lin[line] - np.cross(spin, self._arm)
            qvel[:3], qvel[3:6] = turn @ speed, spin
        self._robot.place(qpos, qvel)
        if not self._root["is_fixed"]:
            qpos[2] -= self._clearance() + _DEPTH
            self._robot.place(qpos, qvel)

    def _clearance(self) -> float:
        """Return the smallest distance between the robot and the ground planes, m."""
        model, data = self._robot.model, self._robot.data
        welds = model.body_weldid[model.geom_bodyid]
        planes = [
            geom
            for geom in np.flatnonzero(welds == 0)
            if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
        ]
        root = self._robot.find("body", self._root["frame"])
        own = model.body_rootid[model.geom_bodyid] == model.body_rootid[root]
        collides = model.geom_contype + model.geom_conaffinity > 0
        touching = np.flatnonzero(own & collides)
        return min(
            (
                mujoco.mj_geomDistance(model, data, plane, int(geom), 10.0, None)
                for plane in planes
                for geom in touching
            ),
            default=-_DEPTH,
        )


def _upright_quat(up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shortest rotation that makes a direction of the root vertical.

    Returns:
        The quaternion (wxyz) and the rotation matrix.
    """
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    axis = np.cross(up, [0.0, 0.0, 1.0])
    size = float(np.linalg.norm(axis))
    quat, turn = np.zeros(4), np.zeros(9)
    axis = axis / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])
    mujoco.mju_axisAngle2Quat(quat, axis, float(np.arctan2(size, up[2])))
    mujoco.mju_quat2Mat(turn, quat)
    return quat, turn.reshape(3, 3)
