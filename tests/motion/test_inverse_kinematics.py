"""Prioritised poses, keyframes, and the centre of mass, compared with formulas."""

import math

import mujoco
import numpy as np
import pytest

from mjlab.motion.tools.channel import Channel, pendulum_path
from mjlab.motion.tools.inverse_kinematics import (
    InverseKinematics,
    body_height,
    joint_positions,
    site_pose,
)

ARM = """
<mujoco><compiler angle="radian"/><worldbody>
  <body><joint name="shoulder" axis="0 -1 0" range="-2 2" limited="true"/>
    <geom size="0.01" mass="1"/>
    <body pos="0.4 0 0">
      <joint name="elbow" axis="0 -1 0" range="-2 2.5" limited="true"/>
      <geom size="0.01" mass="1"/><site name="hand" pos="0.3 0 0"/></body>
  </body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def arm():
    return mujoco.MjModel.from_xml_string(ARM)


def solved(model, place, limit_share=1.0):
    solver = InverseKinematics(model, limit_share=limit_share)
    start = np.array([0.1, 0.5])
    return solver.solve(start, [[site_pose(0, np.array(place), None)]])


def test_inverse_kinematics_of_two_links_matches_the_law_of_cosines(arm):
    x, z = 0.35, 0.4
    elbow = math.acos((x * x + z * z - 0.4**2 - 0.3**2) / (2 * 0.4 * 0.3))
    inner = math.atan2(0.3 * math.sin(elbow), 0.4 + 0.3 * math.cos(elbow))
    shoulder = math.atan2(z, x) - inner
    assert solved(arm, (x, 0.0, z)) == pytest.approx([shoulder, elbow], abs=1e-5)


def test_a_point_out_of_reach_stretches_the_arm_towards_it(arm):
    shoulder, elbow = solved(arm, (2.0, 0.0, 2.0))
    assert shoulder + 0.3 / 0.7 * elbow == pytest.approx(math.pi / 4, abs=0.02)
    assert abs(elbow) < 0.1


def test_joints_stop_at_their_margin_and_others_continue(arm):
    # From above, the hand comes to the point behind only with a bent elbow.
    shoulder, elbow = solved(arm, (-0.5, 0.0, 0.1), limit_share=0.5)
    assert shoulder <= 1.0 + 1e-9 and elbow <= 0.25 + 0.5 * 2.25 + 1e-9
    assert shoulder == pytest.approx(1.0)


def test_body_reaches_its_target_height():
    lift = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body pos='0 0 0.5'><joint type='slide' axis='0 0 1'/>"
        "<geom size='0.01' mass='1'/></body></worldbody></mujoco>"
    )
    pose = InverseKinematics(lift).solve(np.array([0.1]), [[body_height(1, 0.8)]])
    assert pose == pytest.approx([0.3], abs=1e-5)


def test_one_step_meets_two_layers_of_a_linear_model():
    slides = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint type='slide' axis='0 0 1'/>"
        "<geom size='0.01' mass='1'/><body><joint type='slide' axis='0 0 1'/>"
        "<geom size='0.01' mass='1'/></body></body></worldbody></mujoco>"
    )
    solver = InverseKinematics(slides, most_iterations=1)
    first = joint_positions(np.array([0]), np.array([0.08]))
    pose = solver.solve(np.zeros(2), [[body_height(2, 0.1)], [first]])
    assert pose == pytest.approx([0.08, 0.02], abs=1e-3)


def test_higher_priorities_are_exact_regardless_of_lower_ones(arm):
    point, posture = np.array([0.35, 0.0, 0.4]), np.array([1.9, -1.9])
    solver = InverseKinematics(arm, limit_share=1.0)
    layers = [[site_pose(0, point, None)], [joint_positions(np.array([0, 1]), posture)]]
    pose = solver.solve(np.array([0.1, 0.5]), layers)
    data = mujoco.MjData(arm)
    data.qpos[:] = pose
    mujoco.mj_kinematics(arm, data)
    assert np.abs(data.site_xpos[0] - point).max() < 1e-6


# --- Keys over time -----------------------------------------------------------------


def test_between_two_keys_the_velocity_has_least_jerk():
    channel = Channel(1.0)
    channel.move(1.0, 3.0, 5.0)
    t = np.array([1.0, 1.5, 2.0, 3.0, 4.0])
    s = np.array([0.0, 0.25, 0.5, 1.0, 1.0])
    assert channel(t) == pytest.approx(1.0 + 4.0 * (10 * s**3 - 15 * s**4 + 6 * s**5))
    fine = channel(np.array([2.0 - 1e-5, 2.0 + 1e-5]))
    assert np.diff(fine)[0] / 2e-5 == pytest.approx(15.0 / 8.0 * 4.0 / 2.0, rel=1e-6)


def test_a_key_on_the_way_is_passed_without_a_stop_and_without_overshoot():
    channel = Channel(0.0)
    for number, value in enumerate((1.0, 3.0, 3.5, 0.0)):
        channel.move(float(number), number + 1.0, value)
    times = np.linspace(0.0, 4.0, 4001)
    values = channel(times)
    assert values.max() <= 3.5 + 1e-9 and values.min() >= -1e-9
    speed = np.gradient(values, times)
    assert speed[1000] > 0.5 and speed[2000] > 0.2
    # Acceleration has no jump: its slope is at most 60 times 3.5 m, a millisecond long.
    assert np.abs(np.diff(np.gradient(speed, times))[2:-2]).max() < 0.25


def test_moves_of_one_quantity_may_not_overlap():
    channel = Channel(0.0)
    channel.move(0.0, 2.0, 1.0)
    with pytest.raises(ValueError, match=r"starts at 1 s, but .* ends at 2 s"):
        channel.move(1.0, 3.0, 2.0)


def test_a_quantity_rests_only_where_both_sides_keep_its_value():
    channel = Channel(0.0)
    channel.move(1.0, 2.0, 1.0)
    rests = channel.rests(np.array([0.5, 1.0, 1.5, 2.0, 2.5]))
    assert rests.tolist() == [True, False, False, False, True]


# --- The mass above its support -----------------------------------------------------


def test_the_mass_leads_a_step_of_the_support_by_an_exponential():
    dt, height = 0.001, 0.7
    times = np.arange(6001) * dt - 3.0
    support = np.stack([np.where(times < 0.0, 0.0, 0.2), np.zeros(6001)], axis=1)
    support[3000, 0] = 0.1
    rate = math.sqrt(9.81 / height)
    expected = np.where(
        times < 0.0, 0.1 * np.exp(rate * times), 0.2 - 0.1 * np.exp(-rate * times)
    )
    path = pendulum_path(support, dt, height)
    assert path[:, 0] == pytest.approx(expected, abs=1e-5)
    assert np.abs(path[:, 1]).max() == 0.0
