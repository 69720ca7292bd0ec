"""Joints of a contract, each number compared with its source in the model."""

from types import SimpleNamespace
from typing import Any

import mujoco
import pytest
import torch

from mjlab.export.contract import _joints

XML = """
<mujoco>
  <worldbody>
    <body name="arm/base">
      <joint name="arm/turn" axis="0 0 1" armature=".1" damping=".2" frictionloss=".3"/>
      <geom size=".1"/>
      <body><joint name="arm/reach" type="slide" armature=".4" damping=".5"
        frictionloss=".6"/><geom size=".1"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def test_joint_parameters_are_not_swapped() -> None:
    env: Any = SimpleNamespace(
        sim=SimpleNamespace(mj_model=mujoco.MjModel.from_xml_string(XML))
    )
    data = SimpleNamespace(
        joint_pos_limits=torch.tensor([[[-1.0, 1.0], [-2.0, 2.0]]]),
        soft_joint_pos_limits=torch.tensor([[[-0.5, 0.5], [-1.5, 1.5]]]),
        default_joint_pos=torch.tensor([[0.25, 0.75]]),
        default_joint_vel=torch.tensor([[0.0, 0.125]]),
    )
    entity: Any = SimpleNamespace(
        data=data, joint_names=("turn", "reach"), index=SimpleNamespace(prefix="arm/")
    )
    turn, reach = _joints(env, entity)
    keys = ("armature", "damping", "frictionloss", "default_pos", "default_vel")
    assert [turn[k] for k in keys] == pytest.approx([0.1, 0.2, 0.3, 0.25, 0.0])
    assert [reach[k] for k in keys] == pytest.approx([0.4, 0.5, 0.6, 0.75, 0.125])
    assert (turn["type"], turn["unit"]) == ("hinge", "rad")
    assert (reach["type"], reach["unit"]) == ("slide", "m")
    assert turn["limits"] == [-1.0, 1.0] and reach["soft_limits"] == [-1.5, 1.5]
