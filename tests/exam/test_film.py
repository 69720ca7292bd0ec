"""Films: selected runs, and marks at the positions of plain MuJoCo."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.exam.draws import draw_punches, draw_route
from mjlab.exam.film import Moment, Script, chosen_runs, write_film
from mjlab.exam.results import RunResult
from mjlab.exam.robot import ExamRobot, build_robot
from mjlab.exam.rules import LEVELS
from mjlab.exam.tables import GO1_EXAM

YAW = 0.7


@pytest.fixture(scope="module")
def robot() -> ExamRobot:
    return build_robot(GO1_EXAM)


def _pose(robot: ExamRobot) -> np.ndarray:
    pose = np.zeros(robot.model.nq)
    pose[:7] = 1.0, 2.0, 0.3, np.cos(YAW / 2), 0.0, 0.0, np.sin(YAW / 2)
    pose[robot.qpos] = robot.stance
    return pose


def test_worst_and_median_run_are_chosen_by_survival() -> None:
    seconds = {4: 30.0, 5: 2.0, 6: 90.0, 7: 90.0, 8: 45.0}
    runs = [RunResult(run, time, time == 90.0) for run, time in seconds.items()]
    assert chosen_runs(runs) == {"worst": 5, "median": 8}


def test_target_is_marked_in_the_frame_of_the_first_pose(robot: ExamRobot) -> None:
    pose, data = _pose(robot), mujoco.MjData(robot.model)
    script = Script(robot, LEVELS["A"], 3, pose)
    marks = script.marks(Moment(robot.exam, 6.0), data)
    x, y = draw_route(robot.exam, range(3, 4)).places[0, 1]
    expected = (
        1.0 + np.cos(YAW) * x - np.sin(YAW) * y,
        2.0 + np.sin(YAW) * x + np.cos(YAW) * y,
    )
    np.testing.assert_allclose(marks.shapes[0][0].center[:2], expected)
    assert len(marks.arrows[0]) == 1


def test_punch_is_marked_at_its_joint_and_in_its_direction(robot: ExamRobot) -> None:
    pose, data = _pose(robot), mujoco.MjData(robot.model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(robot.model, data)
    script = Script(robot, LEVELS["B"], 3, pose)
    assert len(script.marks(Moment(robot.exam, 1.0), data).arrows[0]) == 1
    arrow = script.marks(Moment(robot.exam, 0.14), data).arrows[0][1]
    plan = draw_punches(robot.exam, range(3, 4))
    joint = robot.model.joint(robot.exam.joints[plan.joints[0, 0]]).id
    np.testing.assert_allclose(arrow.end, data.xanchor[joint])
    child = robot.model.jnt_bodyid[joint]
    body = child if plan.on_child[0, 0] else robot.model.body_parentid[child]
    force = np.zeros(3)
    mujoco.mju_mulMatVec(force, data.xmat[body].reshape(3, 3), plan.forces[0, 0])
    way = arrow.end - arrow.start
    np.testing.assert_allclose(
        way / np.linalg.norm(way), force / np.linalg.norm(force), atol=1e-9
    )


@pytest.mark.usefixtures("renderer_works")
def test_film_has_a_frame_for_each_pose(robot: ExamRobot, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    poses = np.tile(_pose(robot), (3, 1))
    path = write_film(
        tmp_path / "run.mp4", robot, LEVELS["B"], 3, poses, lambda *at: told.append(at)
    )
    assert path.stat().st_size > 1000
    assert told == [(1, 3), (2, 3), (3, 3)]
