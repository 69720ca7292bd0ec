"""Properties in which a robot model must agree with the recorded scene."""

from types import SimpleNamespace
from typing import Any

import mujoco
import pytest

from mjlab.export.runner.robot import MujocoRobot, gain_faults
from mjlab.export.verify.same import _axes

XML = """
<mujoco>
  <worldbody>
    <body><joint name="a" axis="{0}"/><geom size=".1"/>
      <body pos="0 0 .3"><joint name="b" axis="0 1 0"/><geom size=".1"/></body>
    </body>
  </worldbody>
  <actuator>
    <position name="a" joint="a" kp="20" kv="2" forcerange="{1}"/>
  </actuator>
</mujoco>
"""


def robot(axis: str = "0 0 1", force: str = "-7 7") -> Any:
    model = mujoco.MjModel.from_xml_string(XML.format(axis, force))
    names = ("a", "b")
    joints = [
        (int(model.joint(n).qposadr[0]), int(model.joint(n).dofadr[0])) for n in names
    ]
    actuator = {
        "actuator": "a",
        "target": "a",
        "commands": ["position"],
        "law": None,
        "stiffness": 20.0,
        "damping": 2.0,
        "effort_limit": 7.0,
    }
    entity = {
        "joints": [{"name": n, "default_pos": 0.2} for n in names],
        "actuators": [actuator],
    }
    return SimpleNamespace(
        model=model, joints=joints, entity=entity, find=lambda kind, name: 0
    )


def test_a_joint_about_the_same_axis_has_no_difference() -> None:
    assert list(_axes(robot(), robot())) == []


def test_an_axis_that_points_the_other_way_is_a_wrong_sign() -> None:
    # The second joint moves with the first one, by twice 0.2 rad.
    first, second = _axes(robot("0 0 -1"), robot())
    assert first == "sign of a: its axis points in the opposite direction"
    assert second == "frame of b: its axis is rotated by 22.9 degrees"


def test_a_rotated_axis_is_reported_with_the_angle() -> None:
    (first, *_) = _axes(robot("0.6427876 0 0.7660444"), robot())
    assert first == "frame of a: its axis is rotated by 40.0 degrees"


def faults(model: Any) -> list[str]:
    return gain_faults(model.entity, MujocoRobot.gains(model), "in the model")


@pytest.mark.parametrize("force", ["-7 7", "-9 7"])
def test_effort_limit_is_the_upper_bound(force: str) -> None:
    assert faults(robot(force=force)) == []
    (said,) = faults(robot(force="-7 9"))
    assert "effort_limit is 9 in the model, but 7 in the contract" in said
