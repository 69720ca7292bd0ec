"""Arm motions: published goal, interpolation, mirror and limits of the hands."""

import mujoco
import numpy as np
import pytest

from mjlab.exam.arms import ArmWalk, HandSpace
from mjlab.exam.robot import ExamRobot, build_robot
from mjlab.exam.rules import Arms
from mjlab.exam.tables import G1_EXAM


def _arms() -> Arms:
    assert G1_EXAM.arms is not None
    return G1_EXAM.arms


ARMS = _arms()

PUBLISHED = (0.16238, 0.22348, 0.18468, 0.72370, -0.10000, -0.33960, 0.22969)


@pytest.fixture(scope="module")
def robot() -> ExamRobot:
    return build_robot(G1_EXAM)


def _walk(robot: ExamRobot, steps: int, runs: range = range(2)) -> np.ndarray:
    walk, active = ArmWalk(robot, ARMS, runs), np.ones(len(runs), bool)
    return np.array([walk.targets(step, active) for step in range(steps)])


def test_first_goal_of_run_0_is_the_published_one(robot: ExamRobot) -> None:
    np.testing.assert_allclose(_walk(robot, 26)[25, 0, :7], PUBLISHED, atol=5e-6)


def test_arms_rest_in_the_first_step_and_then_move_linearly(robot: ExamRobot) -> None:
    left = _walk(robot, 26)[:, 0, :7]
    start = np.array((0.2, 0.2, 0.0, 0.6, 0.0, 0.0, 0.0))
    np.testing.assert_array_equal(left[0], start)
    for step in (1, 10, 24):
        expected = start + step / 25.0 * (np.array(PUBLISHED) - start)
        np.testing.assert_allclose(left[step], expected, atol=1e-5)


def test_right_arm_mirrors_the_left_arm(robot: ExamRobot) -> None:
    both = _walk(robot, 60)
    # Roll and yaw of shoulder and wrist change sign; pitch and elbow do not.
    signs = np.array((1, -1, -1, 1, -1, 1, -1))
    np.testing.assert_array_equal(both[..., 7:], both[..., :7] * signs)


def test_goals_stay_in_the_ranges_of_the_joints(robot: ExamRobot) -> None:
    left = _walk(robot, 2250, range(4))[..., :7]
    low, high = robot.ranges[robot.indices(ARMS.left)].T
    assert (left >= low).all() and (left <= high).all()
    # Interpolation rounds.
    assert np.isclose(left, low).any() or np.isclose(left, high).any()


def test_ended_runs_sample_no_more_goals(robot: ExamRobot) -> None:
    walk = ArmWalk(robot, ARMS, range(2))
    found = np.zeros((2, 14))
    for step in range(27):
        found = walk.targets(step, np.array([True, step < 20]))
    np.testing.assert_array_equal(
        walk.targets(40, np.array([True, False]))[1], found[1]
    )


def test_hands_must_be_in_front_and_below_the_chin(robot: ExamRobot) -> None:
    reach = HandSpace(robot, ARMS)
    stance = np.array((0.2, 0.2, 0.0, 0.6, 0.0, 0.0, 0.0))
    backwards, raised = stance.copy(), stance.copy()
    backwards[0], raised[0] = 0.9, -1.8
    assert reach.allows(stance)
    assert not reach.allows(backwards)
    assert not reach.allows(raised)
    # Reference: the palm site of MuJoCo's kinematics lies inside the hand's box.
    data = mujoco.MjData(robot.model)
    places = []
    for pose in (stance, backwards, raised):
        data.qpos[robot.qpos] = robot.stance
        data.qpos[robot.qpos[robot.indices(ARMS.left)]] = pose
        mujoco.mj_kinematics(robot.model, data)
        torso = robot.model.body("torso_link").id
        place = data.site("left_palm").xpos - data.xpos[torso]
        places.append(data.xmat[torso].reshape(3, 3).T @ place)
    assert places[1][0] < places[0][0] - 0.05
    shoulder = robot.model.body("left_shoulder_pitch_link").pos[2]
    assert places[2][2] > shoulder + 0.033
