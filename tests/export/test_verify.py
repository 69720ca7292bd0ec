"""`verify.py`: shipped policies match, and every planted convention is named."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from mjlab.export.runner.policy import NO_CHECKSUM, ContractPolicy, with_checksum
from mjlab.export.verify import verify
from mjlab.export.verify.reasons import Departure, likeliest
from tests.worlds.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]


# --- Planting -------------------------------------------------------------------------


def planted(
    path: Path,
    to: Path,
    graph: Callable[[onnx.GraphProto], None] | None = None,
    contract: Callable[[dict[str, Any]], None] | None = None,
) -> Path:
    """Write a copy with a fault in its graph or contract, with a valid checksum."""
    model = onnx.load(path)
    if graph is not None:
        graph(model.graph)
    for prop in model.metadata_props:
        if prop.key == "contract":
            changed = json.loads(prop.value)
            if contract is not None:
                contract(changed)
            changed["checksum"] = NO_CHECKSUM
            prop.value = json.dumps(changed)
    to.write_bytes(with_checksum(model.SerializeToString())[0])
    return to


def on_input(name: str, *operations: tuple[str, Any]) -> Callable:
    """Change an input inside the file, before all other operations."""

    def change(graph: onnx.GraphProto) -> None:
        last = name
        nodes = []
        for place, (operation, value) in enumerate(operations):
            constant, result = f"planted_constant_{place}", f"planted_{place}"
            graph.initializer.append(numpy_helper.from_array(value, constant))
            axis = {"axis": 0} if operation == "Gather" else {}
            nodes.append(
                helper.make_node(operation, [last, constant], [result], **axis)
            )
            last = result
        for node in graph.node:
            for place, used in enumerate(node.input):
                if used == name:
                    node.input[place] = last
        for node in reversed(nodes):
            graph.node.insert(0, node)

    return change


def on_output(name: str, *operations: tuple[str, Any]) -> Callable:
    """Change an output inside the file, after all other operations."""

    def change(graph: onnx.GraphProto) -> None:
        last = renamed_output(graph, name, f"plain_{name}")
        for place, (operation, value) in enumerate(operations):
            constant, result = f"planted_constant_{place}", f"planted_{place}"
            result = name if place == len(operations) - 1 else result
            graph.initializer.append(numpy_helper.from_array(value, constant))
            axis = {"axis": 0} if operation == "Gather" else {}
            graph.node.append(
                helper.make_node(operation, [last, constant], [result], **axis)
            )
            last = result

    return change


def renamed_output(graph: onnx.GraphProto, name: str, new: str) -> str:
    """Rename the value of an output, and return the new name."""
    node = next(node for node in graph.node if name in node.output)
    node.output[list(node.output).index(name)] = new
    for other in graph.node:
        for place, used in enumerate(other.input):
            if used == name:
                other.input[place] = new
    return new


def late(graph: onnx.GraphProto) -> None:
    """Return the targets of the previous call."""
    fresh = renamed_output(graph, "joint_pos_target", "fresh_target")
    info = onnx.TensorProto.FLOAT
    graph.input.append(helper.make_tensor_value_info("state_late", info, [12]))
    graph.output.append(helper.make_tensor_value_info("next_late", info, [12]))
    graph.node.append(helper.make_node("Identity", [fresh], ["next_late"]))
    graph.node.append(
        helper.make_node("Identity", ["state_late"], ["joint_pos_target"])
    )


def say_late(contract: dict[str, Any]) -> None:
    contract["states"].append(
        {"name": "state_late", "next": "next_late", "shape": [12]}
        | {"dtype": "float32", "initial": 0.0, "meaning": "The last targets."}
    )


def numbers(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def input_of(contract: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in contract["inputs"] if entry["name"] == name)


def swaps_measured(contract):
    joints = input_of(contract, "joint_pos")["elements"]
    joints[0], joints[4] = joints[4], joints[0]


def swaps_targets(contract):
    targets = contract["actions"][0]["targets"]
    targets[1], targets[7] = targets[7], targets[1]


def measures_at_the_trunk(contract):
    how = {"kind": "root_lin_vel_b", "entity": "robot", "body": "robot/trunk"}
    input_of(contract, "imu_lin_vel")["measured"] = how


def says_other_gains(contract):
    contract["entities"]["robot"]["actuators"][3]["stiffness"] *= 2.0


def says_another_rate(contract):
    contract["rates"]["physics_dt"] = 0.004


DEFAULT = numbers(*[0.1, 0.9, -1.8, -0.1, 0.9, -1.8] * 2)


def scene_of(path: Path) -> str:
    return ContractPolicy(path).scene()["scene.xml"].decode()


def default_of(path: Path) -> np.ndarray:
    joints = ContractPolicy(path).entity["joints"]
    return np.array([joint["default_pos"] for joint in joints], np.float32)


DEGREES = np.float32(np.pi / 180.0)

IN_THE_FILE = {
    "sign of an input": (
        on_input("imu_ang_vel", ("Mul", numbers(-1.0))),
        None,
        r"joint_pos_target differs from step 1.* undetermined",
    ),
    "default offset of targets": (
        on_output("joint_pos_target", ("Sub", DEFAULT)),
        None,
        r"output joint_pos_target differs from step 0 on, by up to .*default offset: "
        r"the default position is missing",
    ),
    "scale of targets": (
        on_output(
            "joint_pos_target",
            ("Sub", DEFAULT),
            ("Mul", numbers(0.5)),
            ("Add", DEFAULT),
        ),
        None,
        r"output joint_pos_target differs.*scale: found 0.5 times",
    ),
    "degrees of targets": (
        on_output("joint_pos_target", ("Mul", numbers(1.0 / DEGREES))),
        None,
        r"output joint_pos_target differs.*degrees: found degrees instead of rad",
    ),
    "sign of a target": (
        on_output(
            "joint_pos_target",
            ("Sub", DEFAULT),
            ("Mul", numbers(*[-1.0] + [1.0] * 11)),
            ("Add", DEFAULT),
        ),
        None,
        r"output joint_pos_target differs.*sign: found the negative \(FR_hip_joint",
    ),
    "delay of targets": (
        late,
        say_late,
        r"output joint_pos_target differs from step 0.*delay: it is 1 control step",
    ),
    "order of what is measured": (
        None,
        swaps_measured,
        r"measured joint_pos differs from step 0.*order: FL_thigh_joint is where FR_",
    ),
    "order of targets": (
        None,
        swaps_targets,
        r"motion after the recorded targets .* differs from step 0.*order: RR_thigh_"
        r"joint is where FR_thigh_joint should be",
    ),
    "gains": (
        None,
        says_other_gains,
        r"^gains of FL_thigh_joint: stiffness is 15.9 in",
    ),
    "rate": (None, says_another_rate, r"^rate: the model steps by 0.005 s, but the co"),
    "lever arm of what is measured": (
        None,
        measures_at_the_trunk,
        # The site of the IMU is at (-0.01592, -0.06659, -0.00617) in the trunk.
        r"measured imu_lin_vel differs.*lever arm: measured 0.0687 m away from "
        r"the expected point, by \(0.016, 0.067, 0.006\) m in the axes of the root",
    ),
}


SLOW = {
    *("degrees of targets", "narrows", "sign of a target", "weakens", "adds_mass"),
}
"""Kinds of faults of which a similar one is in the quick tests."""


def kinds_of(names):
    slow = pytest.mark.slow
    return [pytest.param(n, marks=slow) if n in SLOW else n for n in names]


@pytest.mark.parametrize("kind", kinds_of(IN_THE_FILE))
def test_a_convention_that_is_planted_in_the_file_is_named(kind, go1, tmp_path):
    assert default_of(go1) == pytest.approx(DEFAULT)
    graph, contract, said = IN_THE_FILE[kind]
    path = planted(go1, tmp_path / "planted.onnx", graph, contract)
    verdict = verify(path)
    assert any(re.search(said, each) for each in verdict.departures), verdict.text


# --- Faults in the robot's model
# --------------------------------------------------------


def softens(spec):
    actuator = spec.actuator("robot/FL_calf_joint")
    actuator.gainprm[0] *= 0.5
    actuator.biasprm[1] *= 0.5


def weakens(spec):
    spec.actuator("robot/RL_hip_joint").forcerange = [-10.0, 10.0]


def slows(spec):
    spec.option.timestep = 0.002


def turns_imu(spec):
    spec.site("robot/imu").quat = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]


def turns_axis(spec):
    spec.joint("robot/RR_calf_joint").axis = -spec.joint("robot/RR_calf_joint").axis


def renames(spec):
    spec.joint("robot/FL_hip_joint").name = "robot/FL_hip"
    spec.actuator("robot/FL_hip_joint").target = "robot/FL_hip"


def narrows(spec):
    joint = spec.joint("robot/FR_thigh_joint")
    joint.range = [joint.range[0], 2.0]


def adds_joint(spec):
    spec.body("robot/FR_calf").add_joint(name="tail")


def delays(spec):
    for actuator in spec.actuators:
        actuator.delay, actuator.nsample = 0.02, 8


def adds_mass(spec):
    spec.body("robot/trunk").mass += 2.0


def shifts_mass(spec):
    thigh = spec.body("robot/FL_thigh")
    thigh.ipos = thigh.ipos + np.array([0.0, 0.02, 0.0])


def widens_mass(spec):
    spec.body("robot/trunk").inertia = 1.5 * spec.body("robot/trunk").inertia


def slips(spec):
    spec.geom("robot/FR_foot_collision").friction[0] = 0.05


def flies_to_mars(spec):
    spec.option.gravity = [0.0, 0.0, -3.7]


def moves_imu(spec):
    spec.site("robot/imu").pos = spec.site("robot/imu").pos + np.array([0.19, 0.0, 0.0])


def carries_imu_on_a_leg(spec):
    spec.site("robot/imu").name = "robot/old"
    spec.body("robot/FR_hip").add_site(name="robot/imu")


def brakes_no_joint(spec):
    for actuator in spec.actuators:
        actuator.biasprm[2] = 0.0


IN_THE_ROBOT: dict[Callable, str] = {
    softens: r"^gains of FL_calf_joint: stiffness is .* in the model, but .* in th",
    weakens: r"^gains of RL_hip_joint: effort_limit is 10 in the model, but 23.7 in",
    slows: r"^rate: the model steps by 0.002 s, but the contract by 0.005 s, 4 times",
    turns_imu: r"^frame of imu_ang_vel: its axes are rotated by 90 degrees",
    turns_axis: r"^sign of RR_calf_joint: its axis points in the opposite direction",
    renames: r"^joint FL_hip_joint: the model has none of this name",
    narrows: r"^joint FR_thigh_joint: limits -0.686 to 2 in the model, but ",
    adds_joint: r"^joint tail: the contract has none of this name",
    delays: r"motion after .*delay: targets have no effect in their own contr",
    adds_mass: r"^mass of trunk: 7.204 kg in the model, but 5.204 kg in the rec",
    shifts_mass: r"^centre of mass of FL_thigh: 20 mm from its position in the rec",
    widens_mass: r"^inertia of trunk: \(0.02522, 0.09452, 0.1075\) kg m\^2 abou",
    slips: r"^sliding friction of FR_calf on the ground: 0.05 to 1 in the mod",
    flies_to_mars: r"^gravity: \(0, 0, -3.7\) m/s\^2 in the model, but \(0, 0, -",
    moves_imu: r"^lever arm of imu_lin_vel: the sensor is 0.19 m from its position .* "
    r"by \(0.19, 0, 0\) m in the axes of the root",
    carries_imu_on_a_leg: r"^input imu_lin_vel: the sensor is on another link than ",
    brakes_no_joint: r"^gains of RR_calf_joint: damping is 0 in the model, but 2.277",
}
ALONE = {adds_mass, shifts_mass, widens_mass, slips, flies_to_mars, moves_imu}
"""Faults that cause exactly one line."""


def test_unexplained_motion_is_reported_as_undetermined(go1, tmp_path, monkeypatch):
    """For a property that no numerical comparison covers."""
    monkeypatch.setattr("mjlab.export.verify.play.differences", lambda *robots: [])
    spec = mujoco.MjSpec.from_string(scene_of(go1))
    flies_to_mars(spec)
    spec.compile()
    robot = tmp_path / "robot.xml"
    robot.write_text(spec.to_xml())
    (said,) = verify(go1, robot).departures
    assert said.startswith("The motion after the recorded targets (") and (
        ": undetermined; " in said
    )


BY_NAME = {change.__name__: change for change in IN_THE_ROBOT}


@pytest.mark.parametrize("kind", kinds_of(BY_NAME))
def test_differences_of_another_robot_are_named(kind, go1, tmp_path):
    change = BY_NAME[kind]
    spec = mujoco.MjSpec.from_string(scene_of(go1))
    change(spec)
    spec.compile()
    robot = tmp_path / "robot.xml"
    robot.write_text(spec.to_xml())
    verdict = verify(go1, robot)
    said = IN_THE_ROBOT[change]
    assert any(re.search(said, each) for each in verdict.departures), verdict.text
    assert change not in ALONE or len(verdict.departures) == 1


def test_the_recorded_scene_without_the_prefix_of_its_names_is_the_same_robot(
    go1, tmp_path
):
    robot = tmp_path / "robot.xml"
    text = scene_of(go1)
    # Default classes keep theirs, which would otherwise exist twice.
    robot.write_text(re.sub(r'(?<!class=)"robot/', '"', text))
    assert verify(go1, robot).departures == []


# --- What ships -----------------------------------------------------------------------


def check_equal(path: Path, record_property) -> None:
    verdict = verify(path)
    record_property("summary", f"{path.stem}: {verdict.text}")
    assert verdict.departures == []
    assert max(early for early, _ in verdict.joints.values()) < 1e-4


def test_an_exported_policy_equals_its_network(go1, cartpole, record_property):
    check_equal(go1, record_property)
    check_equal(cartpole, record_property)


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    "Cartpole-Swingup Lift-Yam-Taught Muscle-Walk-W18 Reach-Yam Tracking-G1 "
    "Velocity-G1-Flat".split(),
)
def test_every_policy_that_ships_is_equal(task, tmp_path, record_property):
    check_equal(shipped(task, tmp_path).path, record_property)


# --- Reasons by hand ------------------------------------------------------------------


CHANCE = np.random.default_rng(0)
NUMBERS = CHANCE.normal(size=(50, 3))
QUATS = CHANCE.normal(size=(50, 4))
NAMES = ["quat_w", "quat_x", "quat_y", "quat_z"]


@pytest.mark.parametrize(
    ("found", "expected", "names", "said"),
    [
        (
            QUATS[:, [1, 2, 3, 0]],
            QUATS,
            NAMES,
            "order of a quaternion: wxyz against xy",
        ),
        (
            NUMBERS[:, [0, 2, 1]],
            NUMBERS,
            "abc",
            "order: b is where c should be;",
        ),
        (NUMBERS * [1, -1, 1], NUMBERS, "abc", "sign: found the negative (b)"),
        (
            NUMBERS * 180 / np.pi,
            NUMBERS,
            "abc",
            "degrees: found degrees instead of radians",
        ),
        (
            NUMBERS * np.pi / 180,
            NUMBERS,
            "abc",
            "degrees: radians were interpreted as degrees",
        ),
        (NUMBERS * 0.05, NUMBERS, "abc", "scale: found 0.05 times the expected value"),
        (NUMBERS * [0.5, 1, 3], NUMBERS, "abc", "scale: found 0.5 to 3 times"),
        (
            np.roll(NUMBERS, 2, axis=0),
            NUMBERS,
            "abc",
            "delay: it is 2 control steps la",
        ),
        (NUMBERS + 0.3, NUMBERS, "abc", "offset: constant error of 0.3"),
        (
            NUMBERS @ np.diag([-1, -1, 1]),
            NUMBERS,
            "abc",
            "sign: found the negative",
        ),
    ],
)
def test_a_reason_is_distinguished_from_the_others(found, expected, names, said):
    assert likeliest(Departure(found, expected, list(names))).startswith(said)


def test_a_frame_error_is_identified_by_its_rotation():
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    said = likeliest(Departure(NUMBERS @ turn.T, NUMBERS, list("xyz")))
    assert said == "frame: found axes rotated by 90 degrees"
    angles = np.linspace(0.0, 2.0, 50)
    turns = np.array(
        [
            [[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]
            for a in angles
        ]
    )
    world = np.einsum("tij,tj->ti", turns, NUMBERS)
    said = likeliest(Departure(world, NUMBERS, list("xyz"), turns=turns))
    assert said == "frame: found world axes instead of the robot's axes"


def test_a_scale_that_explains_a_small_part_of_the_error_is_not_named():
    found = 0.94 * NUMBERS + 0.06 * CHANCE.normal(size=(50, 3))
    departure = Departure(found, NUMBERS, list("abc"), rough=0.06, most=0.75)
    assert departure.wrong and likeliest(departure) is None


def test_a_lever_arm_is_identified_by_the_velocity_due_to_rotation():
    spin = CHANCE.normal(size=(50, 3))
    away = [0.1, -0.2, 0.05]
    # By hand arithmetic, component by component.
    x, y, z = spin.T
    added = np.stack(
        (
            y * away[2] - z * away[1],
            z * away[0] - x * away[2],
            x * away[1] - y * away[0],
        ),
        axis=1,
    )
    said = likeliest(Departure(NUMBERS + added, NUMBERS, list("xyz"), spin=spin))
    assert said == (
        "lever arm: measured 0.229 m away from the expected point, by (0.100, -0.200, "
        "0.050) m in the axes of the root"
    )


def test_random_errors_have_no_reason_and_equal_values_need_none():
    other = CHANCE.normal(size=(50, 3))
    assert likeliest(Departure(other, NUMBERS, list("abc"))) is None
    assert likeliest(Departure(NUMBERS, NUMBERS, list("abc"))) is None


# --- Typed ----------------------------------------------------------------------------


def typed(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "scripts/verify.py", *map(str, arguments)]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True)


def test_the_exit_code_distinguishes_equal_different_and_unreadable(cartpole, tmp_path):
    done = typed(cartpole)
    assert done.returncode == 0 and done.stdout.endswith(
        "OK: matches the recording.\n"
    ), done.stderr
    assert "  slider  " in done.stdout
    change = on_output("force_target", ("Mul", numbers(-1.0)))
    done = typed(planted(cartpole, tmp_path / "planted.onnx", change))
    assert done.returncode == 1, done.stderr
    assert "sign: found the negative" in done.stdout
    beside = cartpole.with_suffix(".contract.json")
    done = typed(beside)
    assert done.returncode == 2 and done.stderr == (
        f"error: {beside} is JSON, not ONNX: pass its ONNX file, such as {cartpole}\n"
    )
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(cartpole.read_bytes()[:-100])
    done = typed(broken)
    assert done.returncode == 2 and "is damaged: its content does not" in done.stderr
    assert typed(tmp_path / "none.onnx").returncode == 2
