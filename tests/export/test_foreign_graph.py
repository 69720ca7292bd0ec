"""Observations and targets of foreign policies, compared with NumPy formulas."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from mjlab.export.foreign import read_policy
from mjlab.export.foreign.observed import expected_observations
from mjlab.export.foreign.port import port
from mjlab.export.foreign.recording import Recording
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.foreign.verify import graph_of
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.export.verify import verify
from tests.export.foreign_policies import (
    DEFAULT,
    DEPLOY,
    JOINTS,
    LEGGED_GYM,
    MAP,
    MJLAB,
    gravity,
    states,
    write_network,
    write_robot,
)


def read(folder: Path, form: str) -> tuple[Any, RobotModel, np.ndarray]:
    """Return a policy of a format, its robot and the weights of its network."""
    robot = RobotModel(write_robot(folder))
    path, config = folder / "policy.onnx", folder / "config.yaml"
    widths = {"mjlab": 21, "isaaclab": 63, "legged-gym": 23}
    metadata = MJLAB if form == "mjlab" else None
    weights = write_network(path, widths[form], metadata=metadata)
    config.write_text({"isaaclab": DEPLOY, "legged-gym": LEGGED_GYM}.get(form, ""))
    configs = [] if form == "mjlab" else [config]
    return read_policy(path, form, configs, robot), robot, weights


def run(
    interface: Any, robot: RobotModel, seen: dict[str, Any]
) -> dict[str, np.ndarray]:
    """Return the outputs of the graph for a sequence of states."""
    graph = graph_of(interface, robot)
    policy, rows = graph.session(), []
    for step in range(len(seen["time"])):
        fed = {
            entry["name"]: seen[
                "command" if entry["name"] == "twist" else entry["name"]
            ]
            for entry in graph.about["inputs"]
        }
        rows.append(policy({name: values[step] for name, values in fed.items()}))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def test_mjlab_policy_acts_as_its_formula(tmp_path):
    interface, robot, weights = read(tmp_path, "mjlab")
    seen = states()
    found = run(interface, robot, seen)
    last, scale = np.zeros(4), np.array([0.25, 0.5, 0.25, 0.5])
    for step in range(len(seen["time"])):
        observation = np.concatenate(
            [
                0.25 * seen["root_ang_vel_b"][step],
                gravity(seen["root_quat_w"])[step],
                np.clip(seen["command"][step], -1, 1) * [2.0, 2.0, 0.25],
                seen["joint_pos"][step] - DEFAULT,
                0.05 * seen["joint_vel"][step],
                last,
            ]
        )
        last = np.tanh(observation @ weights)
        np.testing.assert_allclose(found["action"][step], last, atol=2e-5)
        target = np.array(DEFAULT) + scale * last
        np.testing.assert_allclose(found["joint_pos_target"][step], target, atol=1e-5)


def test_history_of_isaac_lab_is_grouped_by_term_and_starts_with_copies(tmp_path):
    interface, robot, weights = read(tmp_path, "isaaclab")
    seen = states()
    found = run(interface, robot, seen)
    order = list(MAP)
    actions = [np.zeros(4)]
    terms = {
        "gyro": 0.2 * seen["root_ang_vel_b"],
        "gravity": gravity(seen["root_quat_w"]),
        "command": seen["command"],
        "pos": seen["joint_pos"][:, order] - np.array(DEFAULT)[order],
        "vel": 0.05 * np.clip(seen["joint_vel"][:, order], -10.0, 10.0),
    }
    for step in range(len(seen["time"])):
        steps = [max(step - back, 0) for back in (2, 1, 0)]
        parts = [values[each] for values in terms.values() for each in steps]
        parts += [actions[each] for each in steps]
        actions.append(np.tanh(np.concatenate(parts) @ weights))
        np.testing.assert_allclose(found["action"][step], actions[-1], atol=2e-5)
    # Targets follow the joint order of the robot model, actions that of the policy.
    own = np.array([0.25, 0.25, 0.5, 0.5]) * actions[-1] + np.array(DEFAULT)[order]
    target = np.zeros(4)
    target[order] = own
    np.testing.assert_allclose(found["joint_pos_target"][-1], target, atol=1e-5)


def test_gait_clock_of_legged_gym_starts_after_one_step(tmp_path):
    interface, robot, _ = read(tmp_path, "legged-gym")
    seen = states()
    whole = Recording("states", JOINTS, seen | {"action": np.zeros((40, 4))})
    found = expected_observations(interface, graph_of(interface, robot), whole)
    phase = 2.0 * np.pi * 0.02 * np.arange(1, 41) / 0.8
    np.testing.assert_allclose(found[:, -2], np.sin(phase), atol=1e-5)
    np.testing.assert_allclose(found[:, -1], np.cos(phase), atol=1e-5)


@pytest.mark.parametrize("form", ["mjlab", "isaaclab", "legged-gym"])
def test_converted_policy_file_has_our_contract(tmp_path, form):
    interface, robot, _ = read(tmp_path, form)
    path = port(interface, robot, tmp_path / "ported.onnx")
    contract = json.loads(path.with_suffix(".contract.json").read_text("utf-8"))
    schema = Path("mjlab/export/contract.schema.json").read_text("utf-8")
    jsonschema.validate(contract, json.loads(schema))
    assert verify(path).text.endswith("OK: matches the recording.")
    gains = MujocoRobot(ContractPolicy(path)).gains()
    assert gains["left_knee"] == {
        "stiffness": 60.0,
        "damping": 2.0,
        "effort_limit": 80.0,
    }
