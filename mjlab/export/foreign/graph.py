"""ONNX graph of a foreign policy, with the inputs and outputs of our own export.

The graph computes the observation, the network's action and the joint targets of an
`Interface`. Histories, the last action, the gait clock and recurrent states are states
of the graph.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mjlab.export.foreign.interface import JOINT_SOURCES, Interface, Term
from mjlab.export.foreign.robot_model import Mount
from mjlab.export.runner.policy import LAST_ACTION, FileGraph, open_session

COMMAND = "twist"
"""Name of the velocity command."""

TARGET = "joint_pos_target"
"""Name of the output with joint targets."""

ACTION = "action"
"""Name of the output with the action that the next observation contains."""

OBSERVATION, RAW = "observation", "raw_action"
"""Additional outputs: the whole observation, and the network's output."""

STILL = 0.01
"""Commands with a norm up to this value count as zero for the gait clock."""


@dataclass(frozen=True)
class Graph:
    """ONNX model with its inputs, states and outputs, as in a contract."""

    model: onnx.ModelProto
    about: dict[str, Any]

    def session(self) -> FileGraph:
        """Return a callable that passes the states from each call to the next."""
        return FileGraph(
            open_session(self.model.SerializeToString(), "graph"), self.about
        )


def assemble(
    interface: Interface, joints: Sequence[str], mount: Mount, root: str
) -> Graph:
    """Build the graph of a policy.

    Args:
        interface: Contract of the policy.
        joints: Joints of the robot, in the order of the readings and targets.
        mount: Pose of the IMU in the root's frame.
        root: Name of the root body.
    """
    build = _Builder(interface, list(joints), mount, root)
    rows = [build.term(term) for term in interface.terms]
    raw = build.network(build.observation(rows))
    build.targets(raw)
    return build.finish()


class _Builder:
    """Builds a graph node by node. Methods return the name of the value they add."""

    def __init__(
        self, interface: Interface, joints: list[str], mount: Mount, root: str
    ) -> None:
        self._interface, self._joints, self._mount, self._root = (
            interface,
            joints,
            mount,
            root,
        )
        self._nodes: list[Any] = []
        self._stored: list[Any] = []
        self._inputs: dict[str, dict[str, Any]] = {}
        self._states: list[dict[str, Any]] = []
        self._widths: dict[str, list[int]] = {}
        self._values: dict[str, str] = {}

    # The observation.

    def term(self, term: Term) -> str:
        """Add the current value of a term, clipped and scaled."""
        value = self._source(term)
        if term.clip is not None:
            low, high = (self._const([float(bound)]) for bound in term.clip)
            value = self._op("Min", self._op("Max", value, low), high)
        if term.blind:
            seen = [float(name not in term.blind) for name in term.joints]
            value = self._op("Mul", value, self._const(seen))
        scale = np.broadcast_to(
            np.asarray(term.scale, float), self._interface.size(term)
        )
        return self._op("Mul", value, self._const(scale))

    def observation(self, rows: Sequence[str]) -> str:
        """Add histories, and concatenate all terms to the observation."""
        interface = self._interface
        grown = [
            self._history(row, term)
            for row, term in zip(rows, interface.terms, strict=True)
        ]
        if interface.by_step and interface.terms[0].history > 1:
            joined = self._op("Concat", *grown, axis=1)
        else:
            joined = self._op("Concat", *map(self._flat, grown), axis=0)
        return self._op("Identity", self._flat(joined), name=OBSERVATION)

    def _history(self, row: str, term: Term) -> str:
        """Add the history of a term, shape (history, elements)."""
        size, length = self._interface.size(term), term.history
        row = self._op("Reshape", row, self._ints([1, size]))
        if length == 1:
            return row
        past = self._state(f"state_history_{term.name}", [length, size])
        late = self._op(
            "Slice", past, self._ints([1]), self._ints([length]), self._ints([0])
        )
        rows = self._op("Concat", late, row, axis=0)
        if self._interface.fills:
            first = self._op("Concat", *[row] * length, axis=0)
            rows = self._op("Where", self._started(), rows, first)
        self._next(past, rows)
        if self._interface.newest_first:
            backwards = self._ints(range(length - 1, -1, -1))
            rows = self._op("Gather", rows, backwards, axis=0)
        return rows

    def _started(self) -> str:
        """Add a boolean that is false in the first step and true afterwards."""
        if "started" not in self._values:
            state = self._state("state_started", [1])
            self._next(state, self._const([1.0]))
            half = self._const([0.5])
            self._values["started"] = self._op("Greater", state, half)
        return self._values["started"]

    def _source(self, term: Term) -> str:
        if term.source in JOINT_SOURCES:
            return self._joint_values(term)
        if term.source == "command":
            return self._command()
        if term.source == "last_action":
            return self._last_action()
        if term.source in ("cos_phase", "sin_phase"):
            return self._phase("Cos" if term.source == "cos_phase" else "Sin")
        value = {
            "gyro": self._gyro,
            "lin_vel": self._lin_vel,
            "gravity": self._gravity,
        }[term.source]()
        if term.frame == "world":
            turn = self._op("MatMul", self._quat_products(), self._const(_TURN))
            turn = self._op("Reshape", turn, self._ints([3, 3]))
            return self._op("MatMul", turn, value)
        if np.allclose(self._mount.axes, np.eye(3)):
            return value
        return self._op("MatMul", value, self._const(self._mount.axes))

    def _joint_values(self, term: Term) -> str:
        kind = "joint_vel" if term.source == "joint_vel" else "joint_pos"
        places = [self._joints.index(name) for name in term.joints]
        value = self._op("Gather", self._joint_leaf(kind), self._ints(places), axis=0)
        if term.source != "joint_pos_rel":
            return value
        default = dict(
            zip(self._interface.joints, self._interface.default, strict=True)
        )
        about = self._const([default[name] for name in term.joints])
        return self._op("Sub", value, about)

    def _gravity(self) -> str:
        return self._op("MatMul", self._quat_products(), self._const(_DOWN))

    def _gyro(self) -> str:
        text = "Angular velocity of the root in its axes."
        about = {"unit": "rad/s", "frame": self._root, "elements": list("xyz")}
        return self._leaf("root_ang_vel_b", 3, about, text)

    def _lin_vel(self) -> str:
        text = "Velocity of the root's origin in its axes."
        about = {"unit": "m/s", "frame": self._root, "elements": list("xyz")}
        value = self._leaf("root_lin_vel_b", 3, about, text)
        if not self._mount.place.any():
            return value
        # Row j is the velocity at the IMU for a unit rate about axis j.
        rates = np.cross(np.eye(3), self._mount.place)
        turning = self._op("MatMul", self._gyro(), self._const(rates))
        return self._op("Add", value, turning)

    def _quat_products(self) -> str:
        """Add the products of the root quaternion's elements, shape (16,)."""
        text = "Orientation of the root, wxyz."
        about = {"unit": "1", "frame": "world", "elements": list("wxyz")}
        quat = self._leaf("root_quat_w", 4, about, text)
        if "products" not in self._values:
            column = self._op("Reshape", quat, self._ints([4, 1]))
            row = self._op("Reshape", quat, self._ints([1, 4]))
            self._values["products"] = self._flat(self._op("Mul", column, row))
        return self._values["products"]

    def _command(self) -> str:
        about = {
            "unit": ["m/s", "m/s", "rad/s"],
            "frame": self._root,
            "elements": ["lin_vel_x", "lin_vel_y", "ang_vel_z"],
        }
        text = "Velocity command."
        return self._leaf(COMMAND, 3, about, text, kind="command", command=COMMAND)

    def _joint_leaf(self, kind: str) -> str:
        unit = "rad" if kind == "joint_pos" else "rad/s"
        about = {"unit": unit, "frame": None, "elements": list(self._joints)}
        text = "Joint positions." if kind == "joint_pos" else "Joint velocities."
        return self._leaf(kind, len(self._joints), about, text)

    def _last_action(self) -> str:
        if LAST_ACTION not in self._widths:
            self._state(LAST_ACTION, [len(self._interface.acted)])
        return LAST_ACTION

    def _phase(self, function: str) -> str:
        """Add the gait clock, and the sine or cosine of its phases."""
        clock = self._interface.clock
        assert clock is not None, "A policy with phases has a clock."
        moves = None if clock.still == "runs" else self._moving()
        if "phases" not in self._values:
            turn = self._state("state_clock", [1])
            ahead = self._op("Add", turn, self._clock_step())
            ahead = self._op("Sub", ahead, self._op("Floor", ahead))
            self._next(turn, ahead)
            now = ahead if clock.is_early else turn
            angle = self._op("Mul", now, self._const([2.0 * math.pi]))
            phases = self._op("Add", angle, self._const(clock.offsets))
            if clock.still == "pi":
                phases = self._op("Where", moves, phases, self._const([math.pi]))
            self._values["phases"] = phases
        value = self._op(function, self._values["phases"])
        if clock.still == "zero":
            value = self._op("Where", moves, value, self._const([0.0]))
        return value

    def _clock_step(self) -> str:
        """Add the advance of the gait clock in one control step, in periods."""
        clock, dt = self._interface.clock, self._interface.control_dt
        assert clock is not None, "A policy with phases has a clock."
        step = self._const([clock.hz * dt])
        if not clock.hz_by_command:
            return step
        share = self._op("Min", self._norm(), self._const([1.5]))
        more = self._op("Mul", share, self._const([clock.hz_by_command * dt / 1.5]))
        return self._op("Add", step, more)

    def _norm(self) -> str:
        command = self._command()
        square = self._op("Mul", command, command)
        total = self._op("MatMul", square, self._const(np.ones((3, 1))))
        return self._op("Sqrt", total)

    def _moving(self) -> str:
        return self._op("Greater", self._norm(), self._const([STILL]))

    # The network and the targets.

    def network(self, observation: str) -> str:
        """Add the network and its action, shape (actions,)."""
        network = self._interface.network
        graph = onnx.ModelProto()
        graph.CopyFrom(network.model)
        graph = onnx.compose.add_prefix(graph, "network/").graph
        names = {each.name for each in graph.initializer}
        self._stored += list(graph.initializer)
        wide = self._ints([1, network.inputs])
        fed: dict[str, tuple[str, ...]] = {
            f"network/{network.observation}": ("Reshape", observation, wide)
        }
        for entry, _, shape in network.recurrent:
            state = self._state(f"state_{entry}", list(shape))
            fed[f"network/{entry}"] = ("Identity", state)
        for given in graph.input:
            if given.name not in names:
                kind, *values = fed[given.name]
                self._nodes.append(helper.make_node(kind, values, [given.name]))
        self._nodes += list(graph.node)
        for entry, output, _ in network.recurrent:
            self._next(f"state_{entry}", f"network/{output}")
        flat = self._flat(f"network/{network.action}")
        return self._op("Identity", flat, name=RAW)

    def targets(self, raw: str) -> None:
        """Add the outputs "action" and "joint_pos_target"."""
        interface, action = self._interface, raw
        if interface.action_clip is not None:
            action = self._between(
                action, -interface.action_clip, interface.action_clip
            )
        scaled = self._op("Mul", action, self._const(interface.action_scale))
        target = self._op("Add", scaled, self._const(interface.action_offset))
        if interface.target_clip is not None:
            target = self._between(target, *interface.target_clip.T)
        kept = {"raw": raw, "clipped": action, "target": target}[interface.kept]
        self._op("Identity", kept, name=ACTION)
        self._last_action()
        self._next(LAST_ACTION, ACTION)
        places = [self._joints.index(name) for name in interface.acted]
        spread = np.zeros((len(places), len(self._joints)))
        spread[np.arange(len(places)), places] = 1.0
        default = dict(zip(interface.joints, interface.default, strict=True))
        rest = [
            0.0 if name in interface.acted else float(default.get(name, 0.0))
            for name in self._joints
        ]
        whole = self._op("MatMul", target, self._const(spread))
        self._op("Add", whole, self._const(rest), name=TARGET)

    def finish(self) -> Graph:
        """Return the model, and the contract entries of its inputs and outputs."""
        interface, states = self._interface, self._states
        outputs = [
            (TARGET, len(self._joints), "rad", list(self._joints)),
            (ACTION, len(interface.acted), "1", None),
        ]
        named = {TARGET: "Joint targets.", ACTION: "Action in the next observation."}
        about = {
            "inputs": list(self._inputs.values()),
            "states": states,
            "outputs": [
                {"name": n, "shape": [w], "unit": u, "elements": e, "meaning": named[n]}
                for n, w, u, e in outputs
            ],
        }
        inputs = [*((e["name"], e["shape"]) for e in about["inputs"])]
        inputs += [(state["name"], state["shape"]) for state in states]
        results = [(n, [w]) for n, w, *_ in outputs]
        results += [
            (OBSERVATION, [interface.width]),
            (RAW, [interface.network.outputs]),
        ]
        results += [(state["next"], state["shape"]) for state in states]
        graph = helper.make_graph(
            self._nodes,
            "foreign",
            [_value(*each) for each in inputs],
            [_value(*each) for each in results],
            self._stored,
        )
        model = helper.make_model(
            graph, opset_imports=list(interface.network.model.opset_import)
        )
        model.ir_version = max(interface.network.model.ir_version, 7)
        return Graph(model, about)

    # Nodes and values.

    def _between(self, value: str, low: Any, high: Any) -> str:
        low, high = (self._const(np.ravel(bound)) for bound in (low, high))
        return self._op("Min", self._op("Max", value, low), high)

    def _flat(self, value: str) -> str:
        return self._op("Reshape", value, self._ints([-1]))

    def _op(
        self, kind: str, *inputs: Any, name: str | None = None, **about: Any
    ) -> str:
        output = name or f"value_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **about))
        return output

    def _const(self, values: Any) -> str:
        return self._store(np.asarray(values, np.float32))

    def _ints(self, values: Any) -> str:
        return self._store(np.asarray(list(values), np.int64))

    def _store(self, array: np.ndarray) -> str:
        name = f"constant_{len(self._stored)}"
        self._stored.append(numpy_helper.from_array(array, name))
        return name

    def _leaf(
        self,
        name: str,
        width: int,
        about: dict[str, Any],
        text: str,
        *,
        kind: str | None = None,
        **more: Any,
    ) -> str:
        """Add an input of the graph and its contract entry."""
        how = {"kind": kind or name, **more}
        if kind is None:
            how["entity"] = "robot"
        if name.startswith("root_"):
            how["body"] = self._root
        self._inputs[name] = {
            "name": name,
            "shape": [width],
            "dtype": "float32",
            **about,
            "meaning": text,
            "measured": how,
            "observation": None,
            "upright": None,
        }
        return name

    def _state(self, name: str, shape: list[int]) -> str:
        self._widths[name] = shape
        kind = name.removeprefix("state_").replace("_", " ")
        self._states.append(
            {
                "name": name,
                "next": f"{name}_next",
                "shape": shape,
                "dtype": "float32",
                "initial": np.zeros(shape).ravel().tolist(),
                "meaning": f"State of the policy: {kind}.",
            }
        )
        return name

    def _next(self, state: str, value: str) -> None:
        self._op("Identity", value, name=f"{state}_next")


def _value(name: str, shape: Sequence[int]) -> Any:
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(shape))


def _products(terms: Sequence[dict[str, float]]) -> np.ndarray:
    """Return the matrix from quaternion products to outputs, shape (16, outputs)."""
    found = np.zeros((4, 4, len(terms)))
    for column, factors in enumerate(terms):
        for pair, factor in factors.items():
            found["wxyz".index(pair[0]), "wxyz".index(pair[1]), column] = factor
    return found.reshape(16, len(terms))


_TURN = _products(
    [
        {"ww": 1.0, "xx": 1.0, "yy": -1.0, "zz": -1.0},
        {"xy": 2.0, "wz": -2.0},
        {"xz": 2.0, "wy": 2.0},
        {"xy": 2.0, "wz": 2.0},
        {"ww": 1.0, "xx": -1.0, "yy": 1.0, "zz": -1.0},
        {"yz": 2.0, "wx": -2.0},
        {"xz": 2.0, "wy": -2.0},
        {"yz": 2.0, "wx": 2.0},
        {"ww": 1.0, "xx": -1.0, "yy": -1.0, "zz": 1.0},
    ]
)
"""Maps the products of a quaternion to its rotation matrix, row by row."""

_DOWN = -_TURN[:, 6:]
"""Maps the products of a quaternion to the unit vector down in the rotated frame: the
negative last row of the rotation matrix."""
