"""Videos of runs, rendered from recorded poses."""

import copy
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import mujoco
import numpy as np

from mjlab.exam.conduct import FRAME_STEPS
from mjlab.exam.draws import draw_punches, draw_route
from mjlab.exam.results import RunResult
from mjlab.exam.robot import ExamRobot
from mjlab.exam.rotations import yaw_of
from mjlab.exam.rules import Exam, Level
from mjlab.render.canvas import Canvas
from mjlab.render.framing import FollowingCamera, Subject
from mjlab.render.offscreen import brighten
from mjlab.render.overlays import Color, Marks
from mjlab.render.video import Video

SIZE = 640, 480
"""Width and height of a video, pixels."""

_PUNCH_SHOWN_S = 0.5
_LONGEST_ARROW = 0.8
_TARGET: Color = (0.2, 0.7, 0.3, 1.0)
_PUNCH: Color = (0.9, 0.2, 0.15, 1.0)


def chosen_runs(runs: Sequence[RunResult]) -> dict[str, int]:
    """Return the run ids of the shortest ("worst") and the median survival time."""
    ordered = sorted(runs, key=lambda run: (run.survival, -run.run))
    return {"worst": ordered[0].run, "median": ordered[len(ordered) // 2].run}


def write_film(
    path: Path,
    robot: ExamRobot,
    level: Level,
    run: int,
    poses: np.ndarray,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a video of a run, with arrows for targets and punches.

    Args:
        path: Output file, such as run.mp4.
        robot: The robot.
        level: The level.
        run: Run id.
        poses: Recorded positions, shape (frames, nq).
        progress: Called with the numbers of written frames and of all frames.
    """
    exam = robot.exam
    seconds = FRAME_STEPS * exam.control_s
    model, data = copy.copy(robot.model), mujoco.MjData(robot.model)
    brighten(model)
    camera = FollowingCamera(
        Subject(model), robot.base, _camera(), distance=None, aspect=SIZE[0] / SIZE[1]
    )
    script = Script(robot, level, run, poses[0])
    canvas = Canvas(robot.model, *SIZE, haze=True)
    with closing(canvas), Video(path, 1.0 / seconds) as video:
        for frame, pose in enumerate(poses):
            data.qpos[:] = pose
            mujoco.mj_kinematics(model, data)
            mujoco.mj_camlight(model, data)
            moment = Moment(exam, frame * seconds)
            picture = canvas.draw(
                model,
                data,
                camera.look(model, data),
                marks=script.marks(moment, data),
                lines=script.lines(moment),
            )
            video.add(picture)
            if progress is not None:
                progress(frame + 1, len(poses))
    return path


class Moment:
    """Time of a video frame, the target at this time, and whether a punch is shown."""

    def __init__(self, exam: Exam, seconds: float) -> None:
        duration = exam.targets.seconds
        self.seconds = seconds
        self.target = min(int(seconds // duration), exam.targets.number - 1)
        within = seconds - self.target * duration
        # Draw the arrow for longer than the punch lasts, so that a viewer can see it.
        begin = exam.punches.begin_s
        self.is_punched = begin <= within < begin + _PUNCH_SHOWN_S


class Script:
    """Text and arrows that show a run's targets and punches in its video."""

    def __init__(
        self, robot: ExamRobot, level: Level, run: int, first: np.ndarray
    ) -> None:
        exam, runs = robot.exam, range(run, run + 1)
        self._robot, self._level, self._run = robot, level, run
        route, self._punches = draw_route(exam, runs), draw_punches(exam, runs)
        yaw = float(yaw_of(first[None, 3:7])[0])
        cos, sin = np.cos(yaw), np.sin(yaw)
        turned = route.places[0] @ np.array(((cos, sin), (-sin, cos)))
        self._places = first[:2] + turned
        self._headings = yaw + route.headings[0]
        self._route = route

    def lines(self, moment: Moment) -> list[str]:
        """Return the lines of text to draw on a frame."""
        exam, target = self._robot.exam, moment.target
        x, y = self._route.places[0, target]
        heading = np.degrees(self._route.headings[0, target])
        lines = [
            f"run {self._run}, level {self._level.name}, {moment.seconds:.1f} s",
            f"target {target + 1}: {x:.2f} {y:.2f} m, {heading:.0f} degrees",
        ]
        if self._level.punches and moment.is_punched:
            force = float(np.linalg.norm(self._punches.forces[0, target]))
            joint = exam.joints[self._punches.joints[0, target]]
            lines.append(f"punch: {force:.0f} N at {joint}")
        return lines

    def marks(self, moment: Moment, data: mujoco.MjData) -> Marks:
        """Return marks of the target's position and heading, and of the punch."""
        marks, target = Marks((0,)), moment.target
        place = np.array((*self._places[target], 0.02))
        heading = self._headings[target]
        ahead = np.array((np.cos(heading), np.sin(heading), 0.0))
        marks.add_sphere(0, place, 0.03, color=_TARGET)
        marks.add_arrow(0, place, place + 0.3 * ahead, color=_TARGET)
        if self._level.punches and moment.is_punched:
            plan, model = self._punches, self._robot.model
            joint = self._robot.joints[plan.joints[0, target]]
            child = model.jnt_bodyid[joint]
            on_child = plan.on_child[0, target]
            body = child if on_child else model.body_parentid[child]
            force = data.xmat[body].reshape(3, 3) @ plan.forces[0, target]
            anchor = data.xanchor[joint]
            length = _LONGEST_ARROW / self._robot.exam.punches.ceiling
            marks.add_arrow(0, anchor - length * force, anchor, color=_PUNCH)
        return marks


def _camera() -> mujoco.MjvCamera:
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE.value
    camera.azimuth, camera.elevation = 140.0, -15.0
    return camera
