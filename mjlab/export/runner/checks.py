"""Check sensor readings against the contract.

Messages name the likely error, such as degrees instead of radians or a wrong sign.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from mjlab.export.runner.policy import Arrays, ContractError, checked

DEGREE = math.pi / 180.0
"""One degree, in radians."""
APART = 0.3
"""Tolerance between two readings of one joint, rad; 0.1 m per rad for slides. Readings
taken at different times within a period stay within it."""
LEAN = 20.0
"""Tolerance between two measurements of the root's tilt, degrees."""
LENGTH = 0.1
"""Tolerance of the norm of a unit vector."""


class JointLimits:
    """Checks joint positions against the limits in the contract."""

    def __init__(self, entity: dict[str, Any], margin: float) -> None:
        """Store the joints of a robot.

        Args:
            entity: The robot's entry in the contract.
            margin: Margin beyond joint limits, rad; 0.1 m per rad for slides.
        """
        self.names: list[str] = [joint["name"] for joint in entity["joints"]]
        """Names of the joints, in the contract's order."""
        self.units: list[str] = [joint["unit"] for joint in entity["joints"]]
        """Units of the joint positions, "rad" or "m"."""
        pairs = [joint["limits"] for joint in entity["joints"]]
        self._low = np.array([-np.inf if low is None else low for low, _ in pairs])
        self._high = np.array([np.inf if high is None else high for _, high in pairs])
        self._margin = margin

    def way(self, place: int, of_hinge: float) -> float:
        """Convert a hinge tolerance, rad, to the joint's unit; 0.1 m per rad."""
        return of_hinge if self.units[place] == "rad" else 0.1 * of_hinge

    def fault(self, what: str, positions: dict[int, float]) -> str | None:
        """Return a description of the first position beyond its limits.

        Args:
            what: The reading, such as "joint_pos".
            positions: Positions by joint index.
        """
        beyond = [p for p in positions.items() if not self._is_within(*p)]
        if not beyond:
            return None
        place, value = beyond[0]
        said = (
            f"{what} of {self.names[place]} is {value:.4g}, beyond its limits "
            f"{self._low[place]:.4g} to {self._high[place]:.4g} {self.units[place]}"
        )
        hinges = {p: v for p, v in positions.items() if self.units[p] == "rad"}
        is_large = any(abs(value) > math.pi for value in hinges.values())
        if is_large and all(self._is_within(p, v * DEGREE) for p, v in hinges.items()):
            said += f"; {value:.4g} degrees are {value * DEGREE:.3g} rad"
        return said

    def _is_within(self, place: int, value: float) -> bool:
        way = self.way(place, self._margin)
        return bool(self._low[place] - way <= value <= self._high[place] + way)


class ReadingChecks:
    """Checks the readings of each control period."""

    def __init__(self, contract: dict[str, Any], margin: float = 0.1) -> None:
        """Prepare the checks.

        Args:
            contract: Contract of the policy.
            margin: Margin beyond joint limits, rad; 0.1 m per rad for slides.
        """
        self._robot = contract["robot"]
        robot = contract["entities"][self._robot]
        self._limits = JointLimits(robot, margin)
        self._inputs, self._root = contract["inputs"], robot["root"]["frame"]
        self._rates = {entry["name"]: RateCheck() for entry in self._inputs}
        self._gyros = [
            (gyro["name"], other["name"])
            for gyro in self._inputs
            for other in self._inputs
            if gyro["unit"] == "rad/s" and gyro["elements"] == ["x", "y", "z"]
            if self.upright(other) is not None and self.axes(other) == gyro["frame"]
        ]

    def fault(
        self, given: Arrays, joints: Any, upright: float | None, since: float
    ) -> str | None:
        """Return a description of the first invalid reading.

        Args:
            given: The inputs, by name.
            joints: Positions of the contract's joints, if known.
            upright: Cosine of the root's tilt, if known.
            since: Time since the last call, s; infinite for the first.

        Raises:
            ContractError: If an input is missing or has the wrong shape.
        """
        measured = checked(self._inputs, given)
        own = {} if joints is None else self._own(np.asarray(joints, float))
        seen = {
            e["name"]: self._by_joint(e, measured[e["name"]])
            for e in self._inputs
            if self._is_own(e, "joint_pos") or self._is_own(e, "joint_vel")
        }
        faults = (
            self._nonfinite(measured, own),
            self._beyond(seen, own),
            self._apart(seen, own),
            self._lengths(measured),
            self._velocities(seen, own, since),
            self._turning(measured, since),
            self._leaning(measured, upright),
        )
        return next((said for kind in faults for said in kind), None)

    def upright(self, entry: dict[str, Any]) -> np.ndarray | None:
        """Return the value of `vertical` while the root is upright, shape (3,).

        None for inputs that measure neither gravity nor the root's orientation.
        """
        if entry["measured"]["kind"] == "root_quat_w":
            return np.array([0.0, 0.0, -1.0])
        given = entry.get("upright")
        return None if given is None else np.array(given)

    @staticmethod
    def vertical(entry: dict[str, Any], values: np.ndarray) -> np.ndarray:
        """Return the gravity reading, or the down vector in the root's frame.

        Unit vectors, shape (..., 3), in the frame that `axes` names.
        """
        if entry["measured"]["kind"] != "root_quat_w":
            return values.astype(float)
        w, x, y, z = np.moveaxis(values.astype(float), -1, 0)
        rows = (2.0 * (w * y - x * z), -2.0 * (y * z + w * x))
        return np.stack((*rows, 2.0 * (x * x + y * y) - 1.0), axis=-1)

    def axes(self, entry: dict[str, Any]) -> str | None:
        """Return the name of the frame in which `vertical` is expressed."""
        is_root = entry["measured"]["kind"] == "root_quat_w"
        return self._root if is_root else entry["frame"]

    def _is_own(self, entry: dict[str, Any], kind: str) -> bool:
        """Return whether an input measures `kind` of the contract's robot."""
        how = entry["measured"]
        return how["kind"] == kind and how["entity"] == self._robot

    def _own(self, joints: np.ndarray) -> dict[int, float]:
        if joints.shape != (len(self._limits.names),):
            raise ContractError(
                f"joint_pos() returns {joints.size} numbers, but the contract has "
                f"{len(self._limits.names)} joints"
            )
        return dict(enumerate(joints.tolist()))

    def _by_joint(self, entry: dict[str, Any], values: np.ndarray) -> dict[int, float]:
        """Return the elements of an input by joint index."""
        places = [self._limits.names.index(joint) for joint in entry["elements"]]
        return dict(zip(places, np.ravel(values).tolist(), strict=True))

    def _of(self, kind: str) -> list[str]:
        return [e["name"] for e in self._inputs if self._is_own(e, kind)]

    def _nonfinite(self, measured: Arrays, own: dict[int, float]) -> Iterator[str]:
        for entry in self._inputs:
            is_bad = ~np.isfinite(measured[entry["name"]]).ravel()
            if is_bad.any():
                yield f"{element(entry, int(np.argmax(is_bad)))} is not a finite number"
        for place, value in own.items():
            if not math.isfinite(value):
                name = self._limits.names[place]
                yield f"joint_pos() of {name} is not a finite number"

    def _beyond(
        self, seen: dict[str, dict[int, float]], own: dict[int, float]
    ) -> Iterator[str]:
        known = {name: seen[name] for name in self._of("joint_pos")}
        for what, positions in (known | {"joint_pos()": own}).items():
            said = self._limits.fault(what, positions)
            yield from [] if said is None else [said]

    def _apart(
        self, seen: dict[str, dict[int, float]], own: dict[int, float]
    ) -> Iterator[str]:
        for name in self._of("joint_pos"):
            for place, value in seen[name].items():
                other = own.get(place, value)
                if abs(value - other) > self._limits.way(place, APART):
                    yield (
                        f"{name} of {self._limits.names[place]} is {value:.4g}, but "
                        f"joint_pos() returns {other:.4g} {self._limits.units[place]}"
                    )

    def _lengths(self, measured: Arrays) -> Iterator[str]:
        for entry in self._inputs:
            kind = entry["measured"]["kind"]
            is_quat = kind in ("root_quat_w", "body_quat")
            if is_quat or self.upright(entry) is not None:
                length = float(np.linalg.norm(measured[entry["name"]]))
                if abs(length - 1.0) > LENGTH:
                    yield f"{entry['name']} has the length {length:.4g}, expected 1"

    def _velocities(
        self, seen: dict[str, dict[int, float]], own: dict[int, float], since: float
    ) -> Iterator[str]:
        known = {p: v for name in self._of("joint_pos") for p, v in seen[name].items()}
        known |= own
        units = self._limits.units
        for name in self._of("joint_vel"):
            hinges = [p for p in seen[name] if p in known and units[p] == "rad"]
            pos = np.array([known[place] for place in hinges])
            vel = np.array([seen[name][place] for place in hinges])
            what = "the change of the joint positions"
            said = self._rates[name].fault(what, pos, vel, since)
            yield from [] if said is None else [f"{name} {said}"]

    def _turning(self, measured: Arrays, since: float) -> Iterator[str]:
        """Yield gyros that contradict the rate of change of the gravity direction."""
        for gyro, gravity in self._gyros:
            entry = next(e for e in self._inputs if e["name"] == gravity)
            down = self.vertical(entry, measured[gravity])
            # In the robot's frame, a vector that is fixed in the world rotates with
            # the negative angular velocity.
            rates = np.cross(down, measured[gyro].astype(float))
            what = f"the rotation of {gravity}"
            said = self._rates[gyro].fault(what, down, rates, since)
            yield from [] if said is None else [f"{gyro} {said}"]

    def _leaning(self, measured: Arrays, upright: float | None) -> Iterator[str]:
        for entry in self._inputs:
            value = self.upright(entry)
            if value is None or upright is None:
                continue
            found = self.vertical(entry, measured[entry["name"]])
            tilts = [tilt_of(float(found @ value)), tilt_of(upright)]
            if abs(tilts[0] - tilts[1]) > LEAN:
                yield (
                    f"{entry['name']} implies a tilt of {tilts[0]:.0f} degrees, and "
                    f"upright() {tilts[1]:.0f}"
                )


class RateCheck:
    """Compares measured rates with finite differences of the values."""

    def __init__(self) -> None:
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._sums = np.zeros(4)

    def fault(
        self, what: str, values: np.ndarray, rates: np.ndarray, seconds: float
    ) -> str | None:
        """Describe rates with the wrong unit or sign; return None if they agree.

        Args:
            what: Description of the change, named in the error message.
            values: Values, rad or unit vectors.
            rates: Measured rates of the values, per second.
            seconds: Time since the last call, s.
        """
        last, self._last = self._last, (values, rates)
        if last is None or not 0.0 < seconds < math.inf:
            return None
        change, mean = (values - last[0]) / seconds, (rates + last[1]) / 2.0
        self._sums += [change @ change, change @ mean, mean @ mean, len(values)]
        squared, product, other, count = self._sums.tolist()
        alike = product / max(math.sqrt(squared * other), 1e-12)
        factor = product / max(squared, 1e-12)
        if count >= 2 * len(values) and alike > 0.9 and 30.0 < factor < 100.0:
            return (
                f"is {factor:.3g} times {what}: it is in degrees per second, expected "
                "rad/s"
            )
        is_moving = squared > 0.01 * count
        if count >= 5 * len(values) and is_moving and alike < -0.9:
            return f"is the negative of {what}"
        return None


def tilt_of(cosine: float) -> float:
    """Return the angle with this cosine, degrees."""
    return math.acos(min(max(cosine, -1.0), 1.0)) / DEGREE


def element(entry: dict[str, Any], *places: int) -> str:
    """Name elements of an input in a message; only the input if all are named."""
    names = entry["elements"]
    if names is None or len(places) == math.prod(entry["shape"]):
        return entry["name"]
    return f"{entry['name']} of {', '.join(names[place] for place in places)}"
