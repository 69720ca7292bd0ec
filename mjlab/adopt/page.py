"""Web page about an adopted robot: findings, and pictures of feet and joint axes."""

import time
from pathlib import Path

import mujoco
import numpy as np

from mjlab.adopt.robot import Adopted
from mjlab.files import write_atomic, write_text
from mjlab.png import png
from mjlab.render.canvas import Canvas
from mjlab.render.framing import Subject, fitting_distance
from mjlab.render.offscreen import brighten
from mjlab.render.overlays import Marks
from mjlab.report.template import render_page
from mjlab.tasks.robots.legged import action_scale

_VIEWS = {"From the front left": 145.0, "Left side": 90.0, "Front": 180.0}
"""Azimuth of the camera, degrees, by title. The robot faces +x."""

_SIZE = (720, 600)
_LEFT, _RIGHT = (0.15, 0.55, 0.95, 1.0), (0.95, 0.45, 0.1, 1.0)
"""Colours of the legs that step in the first and in the second half of a stride."""


def write_page(robot: Adopted, folder: Path, *, pictures: bool = True) -> Path:
    """Write `findings.html` and its pictures to a folder; return the page's path.

    Args:
        robot: Findings about the robot.
        folder: An existing folder.
        pictures: Whether to draw pictures, which needs OpenGL.
    """
    start = time.perf_counter()
    files = _write_pictures(robot, folder) if pictures else {}
    text = render_page(
        "findings.html",
        package="mjlab.adopt",
        start=start,
        robot=robot,
        pictures={title: file.name for title, file in files.items()},
        legs=_leg_rows(robot),
        motors=_motor_rows(robot),
    )
    page = folder / "findings.html"
    write_text(page, text)
    return page


def _leg_rows(robot: Adopted) -> list[list[str]]:
    """Return a table row per leg: foot, sole geoms, joints, half of the stride."""
    return [
        [leg.foot, ", ".join(leg.geoms), ", ".join(leg.joints), str(leg.clock)]
        for leg in robot.legs
    ]


def _motor_rows(robot: Adopted) -> list[list[str]]:
    """Return a table row per joint: use, stance, torque limit, inertia and gains."""
    legs = len(robot.legs)
    return [
        [
            joint,
            "policy" if joint in robot.acted else "holds the stance",
            f"{robot.stance.get(joint, 0.0):.2f}",
            f"{motor.effort_limit:.3g}",
            f"{motor.loop_inertia:.3g}",
            f"{motor.stiffness:.3g}",
            f"{motor.damping:.3g}",
            f"{action_scale(legs, motor):.2f}" if joint in robot.acted else "",
        ]
        for joint, motor in robot.motors.items()
    ]


def _write_pictures(robot: Adopted, folder: Path) -> dict[str, Path]:
    """Write one picture per view, and return the files by title."""
    files = {}
    for title, picture in draw(robot).items():
        file = folder / f"{title.lower().replace(' ', '_')}.png"
        data = png(picture.transpose(2, 0, 1))
        write_atomic(file, lambda stream, data=data: stream.write(data))
        files[title] = file
    return files


def draw(robot: Adopted) -> dict[str, np.ndarray]:
    """Draw the stance from each view; return images by title.

    Images have shape (height, width, 3), uint8.
    """
    model, data = _on_ground(robot)
    marks = _marks(robot, model, data)
    low, high = Subject(model).box(model, data)
    distance = 0.9 * fitting_distance(model, low, high, _SIZE[0] / _SIZE[1])
    option = mujoco.MjvOption()
    mujoco.mjv_defaultOption(option)
    option.geomgroup[:] = 1
    option.sitegroup[:] = 0
    canvas = Canvas(model, *_SIZE, haze=True, option=option)
    pictures = {}
    try:
        for title, azimuth in _VIEWS.items():
            view = mujoco.MjvCamera()
            view.azimuth, view.elevation, view.distance = azimuth, -12.0, distance
            view.lookat[:] = 0.5 * (low + high)
            pictures[title] = canvas.draw(model, data, view, marks=marks)
    finally:
        canvas.close()
    return pictures


def _on_ground(robot: Adopted) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot in its stance on a plane, with transparent geoms."""
    spec = robot.spec.copy()
    for geom in spec.geoms:
        geom.rgba[3] = min(geom.rgba[3], 0.4)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=(0, 0, 1),
        rgba=(0.75, 0.77, 0.8, 1.0),
    )
    spec.worldbody.add_light(
        pos=(0, 0, 4), dir=(0.2, 0.3, -1), type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    )
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[2] = robot.height
    for joint, position in robot.stance.items():
        data.qpos[model.joint(joint).qposadr[0]] = position
    mujoco.mj_forward(model, data)
    brighten(model)
    return model, data


def _marks(robot: Adopted, model: mujoco.MjModel, data: mujoco.MjData) -> Marks:
    """Return marks: a sphere per sole, an arrow per acted joint, and the base frame."""
    marks = Marks([0])
    size = 0.12 * robot.leg_length
    for leg in robot.legs:
        color = _RIGHT if leg.clock else _LEFT
        place = data.site(f"{leg.foot}_sole").xpos
        marks.add_sphere(0, place, 0.4 * size, color=color, text=leg.foot)
        for joint in leg.joints:
            _add_axis(marks, model, data, joint, size, color)
    for joint in robot.acted:
        if not any(joint in leg.joints for leg in robot.legs):
            _add_axis(marks, model, data, joint, size, (0.2, 0.7, 0.2, 1.0))
    base = data.body(robot.base)
    marks.add_frame(
        0,
        base.xpos,
        base.xmat,
        scale=3.0 * size,
        axis_radius=0.08 * size,
        text=robot.base,
    )
    return marks


def _add_axis(
    marks: Marks,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    joint: str,
    size: float,
    color: tuple[float, float, float, float],
) -> None:
    index = model.joint(joint).id
    anchor, axis = data.xanchor[index], data.xaxis[index]
    marks.add_arrow(
        0, anchor - size * axis, anchor + size * axis, color=color, width=0.08 * size
    )
