"""Clips inside a file: the reference as constants, looked up by the time step."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from mjlab import motion
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export.graph import Graph
from mjlab.export.reader import ExportError, OnnxPolicy
from mjlab.motion import Motion, MotionCommand, MotionInfo
from mjlab.safe_names import check_name

TIME_STEP = "time_step"
"""Input that says which row of the clips the step should lead to."""

REFERENCE = "reference_"
"""Beginning of the names of outputs that are the reference; an input may have the
rest."""

INPUTS: dict[Any, str] = {
    motion.mdp.motion_reference: TIME_STEP,
    motion.mdp.motion_anchor_pos_b: "anchor_pose_w",
    motion.mdp.motion_anchor_ori_b: "anchor_quat_w",
}
"""Name of the input that a term of a clip comes from."""

MEASURED: dict[Any, Any] = {
    motion.mdp.motion_reference: motion.mdp.motion_time_step,
    motion.mdp.motion_anchor_pos_b: motion.mdp.robot_anchor_pose_w,
    motion.mdp.motion_anchor_ori_b: motion.mdp.robot_anchor_quat_w,
}
"""By term, what measures of the robot what the term compares with the clip."""

_PARTS = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
_PARTS += ("body_lin_vel_w", "body_ang_vel_w")
_WIDTHS = (0, 0, 3, 4, 3, 3)
_UNITS = ("rad", "rad/s", "m", "1", "m/s", "rad/s")


class ClipConstants:
    """The frames of all clips in a graph, and what terms make of one of them."""

    def __init__(self, graph: Graph, command: MotionCommand, time_step: str) -> None:
        """Add the tables, and outputs of the row that is asked for.

        Args:
            graph: The graph.
            command: The command whose clips they are.
            time_step: The value of the row, shape (1,), float32.
        """
        self._graph = graph
        self.command = command
        table = command.table
        self._bodies = len(table.body_names)
        last = float(len(table.rows) - 1)
        held = graph.add("Clip", time_step, graph.constant(0.0), graph.constant(last))
        row = graph.add("Cast", graph.add("Round", held), to=_INT64)
        self.parts: dict[str, str] = {}
        """Values of the row, by the names of outputs."""
        self.outputs: list[dict[str, Any]] = []
        """Descriptions of these outputs, for the contract."""
        split = table.rows.cpu().split(table.widths, dim=1)
        for name, values, width, unit in zip(
            _PARTS, split, _WIDTHS, _UNITS, strict=True
        ):
            shape = (values.shape[1],) if width == 0 else (self._bodies, width)
            found = graph.add("Gather", graph.constant(values.numpy()), row, axis=0)
            self.parts[name] = graph.shaped(found, shape)
            graph.output(REFERENCE + name, self.parts[name], shape)
            names = command.entity.joint_names if width == 0 else table.body_names
            self.outputs.append(
                {
                    "name": REFERENCE + name,
                    "shape": list(shape),
                    "unit": unit,
                    "elements": list(names),
                    "meaning": "The reference of this time step, in the world.",
                }
            )

    def joint_pos(self, names: Sequence[str]) -> str:
        """Add the reference of some joints, in their order, and return that."""
        there = self.command.entity.joint_names
        columns = [there.index(name) for name in names]
        chosen = self._graph.constant(columns, "int64")
        return self._graph.add("Gather", self.parts["joint_pos"], chosen, axis=0)

    def add(self, func: Any, measured: str) -> str:
        """Add what a term makes of its input and of the row, and return that."""
        graph, parts = self._graph, self.parts
        if func is motion.mdp.motion_reference:
            return graph.join([parts["joint_pos"], parts["joint_vel"]])
        body = self.command.table.body_names.index(self.command.cfg.anchor_body)
        if func is motion.mdp.motion_anchor_pos_b:
            place = graph.shaped(graph.part(parts["body_pos_w"], body, body + 1), (3,))
            away = graph.add("Sub", place, graph.part(measured, 0, 3))
            turn = self._matrix(graph.part(measured, 3, 7))
            # A row times the matrix: onnxruntime 1.31.1 multiplies a vector by the
            # matrix itself where it should by a transposed one.
            seen = graph.add("MatMul", graph.shaped(away, (1, 3)), turn)
            return graph.shaped(seen, (3,))
        quat = graph.shaped(graph.part(parts["body_quat_w"], body, body + 1), (4,))
        back = graph.add("Transpose", self._matrix(measured), perm=[1, 0])
        turned = graph.add("MatMul", back, self._matrix(quat))
        columns = graph.constant([0, 1], "int64")
        return graph.shaped(graph.add("Gather", turned, columns, axis=1), (6,))

    def _matrix(self, quat: str) -> str:
        """Add the rotation matrix of a unit quaternion, from products of its parts."""
        graph = self._graph
        column, row = graph.shaped(quat, (4, 1)), graph.shaped(quat, (1, 4))
        products = graph.shaped(graph.add("Mul", column, row), (16,))
        linear = graph.add("MatMul", graph.constant(_products()), products)
        whole = graph.add("Add", linear, graph.constant(np.eye(3).flatten()))
        return graph.shaped(whole, (3, 3))

    def described(self) -> dict[str, Any]:
        """Return what the contract says of the clips."""
        command = self.command
        table = command.table
        starts = table.starts.tolist()
        return {
            "time_step": "1 where a clip's robot is in its first frame: the row that "
            "the step should lead to, among those of all clips",
            "fps": table.motions[0].fps,
            "anchor_body": command.cfg.anchor_body,
            "body_names": list(table.body_names),
            "compared_bodies": list(command.cfg.body_names),
            "joint_names": list(command.entity.joint_names),
            "root_body": table.motions[0].root_body,
            "sha256": hashlib.sha256(table.rows.cpu().numpy().tobytes()).hexdigest(),
            "clips": [
                {
                    "name": clip.name,
                    "first": start,
                    "frames": clip.num_frames,
                    "info": asdict(clip.info),
                }
                for clip, start in zip(table.motions, starts, strict=True)
            ],
        }


def clips_of(policy: OnnxPolicy) -> list[Motion]:
    """Return the clips that a file brings, as it puts them out row by row."""
    about = policy.contract["motion"]
    _check_names(policy)
    inputs: dict[str, Any] = {
        entry["name"]: np.zeros(entry["shape"], entry["dtype"])
        for entry in policy.contract["inputs"]
    }
    twin = policy.another()
    total = sum(clip["frames"] for clip in about["clips"])
    rows = []
    for row in range(total):
        inputs[TIME_STEP] = np.array([row], np.float32)
        answer = twin(inputs)
        rows.append([answer[REFERENCE + part] for part in _PARTS])
    whole: dict[str, Any] = {
        part: np.array(values, dtype=np.float64)
        for part, values in zip(_PARTS, zip(*rows, strict=True), strict=True)
    }
    return [
        Motion(
            name=clip["name"],
            fps=about["fps"],
            joint_names=tuple(about["joint_names"]),
            root_body=about["root_body"],
            body_names=tuple(about["body_names"]),
            info=MotionInfo.of_data(clip["info"], str(policy.path)),
            **{
                part: values[clip["first"] : clip["first"] + clip["frames"]]
                for part, values in whole.items()
            },
        )
        for clip in about["clips"]
    ]


def _check_names(policy: OnnxPolicy) -> None:
    """Raise unless the clips can be saved as files of their names."""
    seen: set[str] = set()
    for clip in policy.contract["motion"]["clips"]:
        name = check_name(clip["name"], f"{policy.path} names a clip", ExportError)
        if name.casefold() in seen:
            raise ExportError(f"{policy.path} brings two clips of the name {name!r}.")
        seen.add(name.casefold())


def clip_constants(
    graph: Graph, env: ManagerBasedRlEnv, names: Sequence[str], time_step: str
) -> ClipConstants:
    """Add the clips of the one command that terms are about.

    Args:
        graph: The graph.
        env: The environment.
        names: The commands that the terms name.
        time_step: The value of the row.
    """
    if len(set(names)) != 1:
        raise ExportError(
            f"The policy follows the clips of {', '.join(sorted(set(names)))}, and a "
            "file has those of one command."
        )
    return ClipConstants(graph, motion.motion_command(env, names[0]), time_step)


def _products() -> np.ndarray:
    """Return how a rotation matrix less the identity follows from products wxyz.

    Shape (9, 16): entries row by row, from products of parts, the first one outside.
    """
    entries = {
        (0, 0): {"yy": -2.0, "zz": -2.0},
        (0, 1): {"xy": 2.0, "wz": -2.0},
        (0, 2): {"xz": 2.0, "wy": 2.0},
        (1, 0): {"xy": 2.0, "wz": 2.0},
        (1, 1): {"xx": -2.0, "zz": -2.0},
        (1, 2): {"yz": 2.0, "wx": -2.0},
        (2, 0): {"xz": 2.0, "wy": -2.0},
        (2, 1): {"yz": 2.0, "wx": 2.0},
        (2, 2): {"xx": -2.0, "yy": -2.0},
    }
    places = {name: place for place, name in enumerate("wxyz")}
    matrix = np.zeros((9, 16))
    for (row, column), products in entries.items():
        for (first, second), factor in products.items():
            matrix[3 * row + column, 4 * places[first] + places[second]] = factor
    return matrix


_INT64 = 7
"""ONNX's number of the type int64."""
