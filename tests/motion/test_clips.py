"""Shipped clips, compared with MuJoCo C and the published limits of the robot."""

import re
from itertools import pairwise

import mujoco
import numpy as np
import pytest

from mjlab.motion import Motion, MotionRobot, load_motion
from mjlab.motion.tools.clips.g1 import SKETCHES, make_clip, sketch_robot
from mjlab.motion.tools.clips.go1 import sway
from mjlab.motion.tools.clips.random import GRID, random_motion
from mjlab.motion.tools.sketch import Sketch
from mjlab.tasks.robots.g1 import FOOT_BODIES, FOOT_SITES, G1, G1_XML
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.tracking.clips import G1_CLIPS, G1_RANDOM_CLIPS, GO1_CLIPS

FILES = sorted(G1_CLIPS.glob("*.npz"))
PUBLISHED_SPEEDS = {
    "(hip_pitch|hip_yaw|waist_yaw)": 32.0,
    "(hip_roll|knee)": 20.0,
    "(shoulder|elbow|wrist_roll)": 37.0,
    "wrist_(pitch|yaw)": 22.0,
}
"""Greatest speeds of the G1's motors by Unitree, in rad/s, by parts of names."""


@pytest.fixture(scope="module")
def model():
    spec = mujoco.MjSpec.from_file(str(G1_XML))
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(name="ground", type=plane, size=[0, 0, 1])
    return spec.compile()


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def clip(request):
    return load_motion(request.param)


def poses(model: mujoco.MjModel, clip: Motion) -> np.ndarray:
    """Positions as MuJoCo has them, shape (frames, nq), joints by name."""
    qpos = np.zeros((clip.num_frames, model.nq))
    qpos[:, :3], qpos[:, 3:7] = clip.root_pos, clip.root_quat
    for column, name in enumerate(clip.joint_names):
        qpos[:, model.joint(name).qposadr[0]] = clip.joint_pos[:, column]
    return qpos


def test_every_description_has_its_file_and_the_files_are_small():
    assert {file.stem for file in FILES} == set(SKETCHES)
    assert sum(file.stat().st_size for file in FILES) < 450_000


def test_a_random_clip_equals_the_clip_built_from_its_seed():
    files = sorted(G1_RANDOM_CLIPS.glob("*.npz"))
    assert len(files) == 20
    assert sum(file.stat().st_size for file in files) < 1_000_000
    path = G1_RANDOM_CLIPS / "random_012.npz"
    robot = MotionRobot(G1.entity_cfg(), G1.name)
    made = make_clip(path.stem, robot, describe=random_motion(12), grid=GRID)
    shipped = load_motion(path)
    np.testing.assert_allclose(shipped.joint_pos, made.joint_pos, atol=1e-6)
    np.testing.assert_allclose(shipped.root_pos, made.root_pos, atol=1e-6)
    assert shipped.info.log == made.info.log


def test_metadata_of_shipped_clips_is_complete(clip):
    info = clip.info
    assert info.source.startswith("synthetic") and info.licence == "Apache-2.0"
    assert info.robot == "G1" and info.model_hash and info.authors and info.loops
    assert clip.contact_names == FOOT_BODIES and clip.contacts is not None
    assert 8.0 <= clip.duration <= 20.0 and clip.fps <= 50.0
    carried = clip.feasibility
    assert carried is not None and 0.0 <= carried.min() and carried.max() <= 0.25 + 1e-6
    feet_stay = {"bow", "box", "look_around", "squat", "wave"}
    assert carried.any() == (clip.name not in feet_stay)


def test_the_feet_of_a_clip_follow_its_description(model, clip):
    sketch = Sketch(sketch_robot())
    SKETCHES[clip.name](sketch)
    times = np.arange(clip.num_frames) / clip.fps
    data = mujoco.MjData(model)
    found = []
    for qpos in poses(model, clip):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        found.append([data.site(foot).xpos.copy() for foot in FOOT_SITES])
    moved = np.array(found) - found[0]
    for number, foot in enumerate(FOOT_SITES):
        for axis, name in enumerate("xyz"):
            told = sketch.channels[f"{foot}.{name}"](times)
            assert np.abs(moved[:, number, axis] - told + told[0]).max() < 1e-3


def test_a_standing_foot_does_not_slip(model, clip):
    data = mujoco.MjData(model)
    bodies = [model.body(name).id for name in FOOT_BODIES]
    place, turn = [], []
    for qpos in poses(model, clip):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        place.append(data.xpos[bodies])
        turn.append(data.xmat[bodies])
    places, turns = np.array(place), np.array(turn)
    for foot in range(2):
        stands = clip.contacts[:, foot]
        edges = np.flatnonzero(np.diff(stands.astype(int))) + 1
        for first, last in pairwise([0, *edges, clip.num_frames]):
            if stands[first]:
                away = places[first:last, foot] - places[first, foot]
                assert np.linalg.norm(away, axis=1).max() < 5e-3
                assert np.abs(turns[first:last, foot] - turns[first, foot]).max() < 0.01
            else:
                assert places[first:last, foot, 2].max() > places[0, foot, 2] + 0.03


def test_bodies_do_not_penetrate_the_ground_or_each_other(model, clip):
    data = mujoco.MjData(model)
    ground = model.geom("ground").id
    every = slice(None, None, 4)
    for qpos, stands in zip(
        poses(model, clip)[every], clip.contacts[every], strict=True
    ):
        data.qpos[:] = qpos
        # What stands has to touch the ground if it were a millimetre lower.
        data.qpos[2] -= 1e-3
        mujoco.mj_fwdPosition(model, data)
        touching = set()
        for number in range(data.ncon):
            contact = data.contact[number]
            names = [model.geom(geom).name for geom in contact.geom]
            assert ground in contact.geom, f"{names} touch each other"
            assert contact.dist > -6e-3, names
            touching |= {name.partition("_foot")[0] for name in names}
        said = {side for side, on in zip(("left", "right"), stands, strict=True) if on}
        assert said <= touching <= {"left", "right", "ground"}


def test_joints_stay_in_their_ranges_and_below_the_speeds_of_their_motors(model, clip):
    for column, name in enumerate(clip.joint_names):
        low, high = model.joint(name).range
        path = clip.joint_pos[:, column]
        assert low <= path.min() and path.max() <= high
        speed = np.abs(np.diff(path)).max() * clip.fps
        known = [v for part, v in PUBLISHED_SPEEDS.items() if re.search(part, name)]
        assert all(speed < limit for limit in known)
        assert known or re.search("ankle|waist", name)


def test_the_ends_of_a_clip_are_one_pose(clip):
    assert np.abs(clip.joint_pos[-1] - clip.joint_pos[0]).max() < 1e-3
    assert abs(clip.root_pos[-1, 2] - clip.root_pos[0, 2]) < 1e-3
    assert np.abs(clip.root_quat[[0, -1], 1:3]).max() < 1e-3
    assert np.abs(clip.joint_vel[[0, -1]]).max() < 0.02


def test_quaternions_have_length_one_and_never_jump(clip):
    assert np.linalg.norm(clip.root_quat, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert (np.sum(clip.root_quat[1:] * clip.root_quat[:-1], axis=1) > 0.99).all()


def test_standing_on_one_foot_keeps_the_mass_above_it():
    robot = sketch_robot()
    data = mujoco.MjData(robot.model)
    for side, foot in zip((1.0, -1.0), robot.feet, strict=True):
        qpos, stands = Sketch(robot).stand_on(foot, 0.5).hold(1.0).solve(10.0)
        assert stands.all()
        data.qpos[:] = qpos[-1]
        mujoco.mj_forward(robot.model, data)
        soles = [data.site(name).xpos for name in robot.feet]
        # The feet are where they stood, on both sides of the origin.
        assert soles[0] == pytest.approx([0.0, -soles[1][1], robot.sole], abs=1e-6)
        trunk = robot.model.body(robot.base).id
        inside = data.site(foot).xpos[1] - 0.015 * side
        assert data.subtree_com[trunk, :2] == pytest.approx([0.0, inside], abs=1e-4)
        assert data.xmat[trunk, 7] == pytest.approx(np.sin(-0.08 * side), abs=1e-4)


def test_the_clip_of_the_go1_equals_the_clip_built_from_its_description():
    shipped = load_motion(GO1_CLIPS / "sway.npz")
    made = sway(MotionRobot(GO1.entity_cfg(), "Go1"))
    # Files hold steps of 2^-15 m and rad.
    assert np.abs(made.joint_pos - shipped.joint_pos).max() < 1e-4
    assert np.abs(made.root_pos - shipped.root_pos).max() < 1e-4
    assert np.array_equal(made.contacts, shipped.contacts)
