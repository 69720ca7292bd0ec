"""Actions: position targets mapped to the joint limits, and averaged over steps."""

from typing import Any

import numpy as np
import pytest
import torch

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import ArticulationCfg, InitialStateCfg
from mjlab.managers.action import ActionManager, ActionTermCfg
from mjlab.mdp.actions import (
    EMAJointPositionToLimitsActionCfg,
    JointPositionToLimitsActionCfg,
)
from tests.worlds.physics_env import PhysicsEnv, from_xml

WORLDS = 3
ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" range="-1 2"/><geom size=".1"/>
      <body name="fore" pos="0 0 -.3">
        <joint name="elbow" axis="0 1 0" range="0 .5"/><geom size=".1"/>
        <body name="hand" pos="0 0 -.3">
          <joint name="spin" axis="0 0 1"/><geom size=".1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
LOW, HIGH = np.array([-0.85, 0.025]), np.array([1.85, 0.475])
"""Nine tenths of the ranges of shoulder and elbow."""

BENT = ("shoulder", "elbow")
START = {"shoulder": 0.5, "elbow": 0.2}


def arm(term: ActionTermCfg) -> Any:
    """Worlds of an arm whose joints are driven by position, with one action term."""
    servo = PositionActuatorCfg(target_names_expr=(".*",), stiffness=20.0, damping=1.0)
    articulation = ArticulationCfg(actuators=(servo,), soft_joint_pos_limit_factor=0.9)
    start = InitialStateCfg(joint_pos=START)
    cfg = from_xml(ARM, articulation=articulation, init_state=start)
    env = PhysicsEnv({"robot": cfg}, WORLDS, gravity=0.0)
    env.action_manager = ActionManager({"arm": term}, env)  # type: ignore[attr-defined]
    return env


def targets(env: Any) -> np.ndarray:
    return env.scene.entity("robot").data.targets.joint_pos[:, :2].double().numpy()


def test_actions_from_minus_one_to_one_span_the_soft_limits():
    env = arm(JointPositionToLimitsActionCfg(joint_names=BENT))
    actions = torch.tensor([[-1.0, 1.0], [0.0, 0.5], [-7.0, 7.0]])
    env.action_manager.process_action(actions)
    unit = np.array([[-1.0, 1.0], [0.0, 0.5], [-1.0, 1.0]])
    expected = LOW + (unit + 1.0) / 2.0 * (HIGH - LOW)
    np.testing.assert_allclose(targets(env), expected, atol=1e-6)


def test_scale_applies_before_the_mapping_to_the_limits():
    env = arm(JointPositionToLimitsActionCfg(joint_names=BENT, scale={"elbow": 0.25}))
    env.action_manager.process_action(torch.ones(WORLDS, 2))
    elbow = LOW[1] + (0.25 + 1.0) / 2.0 * (HIGH[1] - LOW[1])
    np.testing.assert_allclose(targets(env)[0], [HIGH[0], elbow], atol=1e-6)


def test_a_joint_without_limits_is_refused_by_name():
    with pytest.raises(ValueError, match=r"joint 'spin' has no limits\. Exclude it"):
        arm(JointPositionToLimitsActionCfg())
    arm(JointPositionToLimitsActionCfg(rescale_to_limits=False))


@pytest.mark.parametrize("rescales", [True, False])
def test_targets_are_the_moving_average_that_numpy_computes(rescales: bool):
    alpha = np.array([0.25, 0.8])
    env = arm(
        EMAJointPositionToLimitsActionCfg(
            joint_names=BENT,
            alpha={"shoulder": 0.25, "elbow": 0.8},
            rescale_to_limits=rescales,
            scale=1.5,
        )
    )
    draws = np.random.default_rng(1).normal(size=(12, WORLDS, 2))
    bias = env.scene.entity("robot").data.encoder_bias
    bias[:, 0] = 0.125
    last = np.tile([START["shoulder"] + 0.125, START["elbow"]], (WORLDS, 1))
    for number, drawn in enumerate(draws):
        if number == 6:
            mask = torch.tensor([False, True, False])
            env.action_manager.reset(mask)
            last[1] = [START["shoulder"] + 0.125, START["elbow"]]
        env.action_manager.process_action(torch.tensor(drawn, dtype=torch.float32))
        asked = 1.5 * drawn
        if rescales:
            asked = LOW + (asked.clip(-1.0, 1.0) + 1.0) / 2.0 * (HIGH - LOW)
        last = (alpha * asked + (1.0 - alpha) * last).clip(LOW, HIGH)
        np.testing.assert_allclose(targets(env) + bias[:, :2].numpy(), last, atol=1e-5)


def test_a_world_recovers_from_a_nan_action_at_its_reset():
    env = arm(EMAJointPositionToLimitsActionCfg(joint_names=BENT, alpha=0.5))
    actions = torch.zeros(WORLDS, 2)
    actions[1] = torch.nan
    env.action_manager.process_action(actions)
    assert np.isnan(targets(env)).any(axis=1).tolist() == [False, True, False]
    env.action_manager.reset(torch.tensor([False, True, False]))
    env.action_manager.process_action(torch.zeros(WORLDS, 2))
    middle = (LOW + HIGH) / 2.0
    expected = (middle + np.array(list(START.values()))) / 2.0
    np.testing.assert_allclose(targets(env)[1], expected, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.5, {"elbow": -0.5}])
def test_a_weight_outside_its_range_is_refused(alpha: float | dict[str, float]):
    with pytest.raises(ValueError, match=r"alpha is .*above 0 and at most 1"):
        arm(EMAJointPositionToLimitsActionCfg(joint_names=BENT, alpha=alpha))
