"""Films of runs, drawn from recorded poses."""

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
from mjlab.exam.rules import Level
from mjlab.render.canvas import Canvas
from mjlab.render.framing import FollowingCamera, Subject
from mjlab.render.offscreen import brighten
from mjlab.render.video import Video

SIZE = 640, 480
"""Width and height of a film, pixels."""


def chosen_runs(runs: Sequence[RunResult]) -> dict[str, int]:
    """Return the ids of the worst and the median run by survival."""
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
    """Write the film of a run.

    Args:
        path: The file, such as run.mp4.
        robot: The robot.
        level: The level.
        run: Run id.
        poses: Recorded positions, shape (frames, nq).
        progress: Called with the number of written frames, and their total.
    """
    exam = robot.exam
    seconds = FRAME_STEPS * exam.control_s
    model, data = copy.copy(robot.model), mujoco.MjData(robot.model)
    brighten(model)
    camera = FollowingCamera(
        Subject(model), robot.base, _camera(), distance=None, aspect=SIZE[0] / SIZE[1]
    )
    caption = _Captions(robot, level, run)
    canvas = Canvas(robot.model, *SIZE, haze=True)
    with closing(canvas), Video(path, 1.0 / seconds) as video:
        for frame, pose in enumerate(poses):
            data.qpos[:] = pose
            mujoco.mj_kinematics(model, data)
            mujoco.mj_camlight(model, data)
            picture = canvas.draw(
                model,
                data,
                camera.look(model, data),
                lines=caption(frame * seconds),
            )
            video.add(picture)
            if progress is not None:
                progress(frame + 1, len(poses))
    return path


class _Captions:
    """Text of frames: time, target and punch."""

    def __init__(self, robot: ExamRobot, level: Level, run: int) -> None:
        exam, runs = robot.exam, range(run, run + 1)
        self._exam, self._level, self._run = exam, level, run
        self._route = draw_route(exam, runs)
        self._punches = draw_punches(exam, runs)

    def __call__(self, seconds: float) -> list[str]:
        exam = self._exam
        target = min(int(seconds // exam.targets.seconds), exam.targets.number - 1)
        x, y = self._route.places[0, target]
        heading = np.degrees(self._route.headings[0, target])
        lines = [
            f"run {self._run}, level {self._level.name}, {seconds:.1f} s",
            f"target {target + 1}: {x:.2f} {y:.2f} m, {heading:.0f} degrees",
        ]
        within = seconds - target * exam.targets.seconds
        # Longer than the punch, so that a viewer can read it.
        if self._level.punches and exam.punches.begin_s <= within < 1.0:
            force = float(np.linalg.norm(self._punches.forces[0, target]))
            joint = exam.joints[self._punches.joints[0, target]]
            lines.append(f"punch: {force:.0f} N at {joint}")
        return lines


def _camera() -> mujoco.MjvCamera:
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE.value
    camera.azimuth, camera.elevation = 140.0, -15.0
    return camera
