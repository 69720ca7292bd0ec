"""Checks, mirror images, blends and imports of motions, with planted faults."""

import pickle
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from mjlab.entity import EntityCfg
from mjlab.motion import Motion, MotionError, MotionRobot, load_motion, save_motion
from mjlab.motion.mirror import mirrored
from mjlab.motion.tools.checks import (
    check_motion,
    collision_geoms,
    estimate_contacts,
    lowest_points,
    stances,
)
from mjlab.motion.tools.edit import blended
from mjlab.motion.tools.importers import read_csv, read_npz
from mjlab.names import UnknownNameError
from mjlab.tasks.robots.g1 import FOOT_BODIES, G1, G1_XML, MIRROR
from mjlab.tasks.tracking.clips import G1_CLIPS
from tests.worlds.motions import g1_robot

SIDES = (
    *("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll"),
    *("waist_yaw", "waist_roll", "waist_pitch"),
    *("shoulder_pitch", "shoulder_roll", "shoulder_yaw"),
    *("elbow", "wrist_roll", "wrist_pitch", "wrist_yaw"),
)
UNITREE = (
    *(f"left_{name}_joint" for name in SIDES[:6]),
    *(f"right_{name}_joint" for name in SIDES[:6]),
    *(f"{name}_joint" for name in SIDES[6:9]),
    *(f"left_{name}_joint" for name in SIDES[9:]),
    *(f"right_{name}_joint" for name in SIDES[9:]),
)
"""Order of the columns in Unitree's files, as published."""


@pytest.fixture(scope="module")
def robot() -> MotionRobot:
    return g1_robot()


@pytest.fixture(scope="module")
def kick() -> Motion:
    return load_motion(G1_CLIPS / "kick.npz")


@pytest.fixture(scope="module")
def coarse(kick) -> Motion:
    """The kick at 10 frames per second, for faster checks."""
    return kick.resampled(10.0)


def changed(motion: Motion, *, root=None, joints=None, **more) -> Motion:
    return Motion.from_root(
        motion.name,
        motion.fps,
        motion.root_pos if root is None else root,
        motion.root_quat,
        motion.joint_pos if joints is None else joints,
        root_body=motion.root_body,
        joint_names=motion.joint_names,
        contact_names=motion.contact_names,
        contacts=motion.contacts,
        **{"info": motion.info, **more},
    )


# --- Checks -------------------------------------------------------------------------


def with_joint(motion: Motion, name: str, add) -> Motion:
    joints = motion.joint_pos.copy()
    column = motion.joint_names.index(name)
    joints[:, column] += add(np.arange(motion.num_frames))
    return changed(motion, joints=joints)


FAULTS = {
    "ground penetration": lambda m: changed(m, root=m.root_pos - (0, 0, 0.01)),
    "foot slip in stance": lambda m: changed(
        m, root=m.root_pos + 0.01 * np.sin(np.arange(m.num_frames) / 4.0)[:, None]
    ),
    "joint limit violation": lambda m: with_joint(
        m, "left_elbow_joint", lambda frame: 3.0 * (frame == 100)
    ),
    "fraction of motor speed limit": lambda m: with_joint(
        m, "left_knee_joint", lambda frame: 5.0 * (frame == 100)
    ),
    "self-penetration": lambda m: with_joint(
        m, "right_shoulder_roll_joint", lambda frame: 0.9 + 0.0 * frame
    ),
    "loop closure error": lambda m: with_joint(
        m, "left_elbow_joint", lambda frame: 0.002 * (frame > 100)
    ),
}


def test_a_clip_that_ships_passes_every_check(robot, kick):
    figures = check_motion(kick, robot, G1.speed_limits(robot.joint_names))
    assert {figure.name for figure in figures if figure.passes} >= set(FAULTS)
    assert all(figure.passes for figure in figures)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_by_its_check(robot, coarse, name):
    limits = G1.speed_limits(robot.joint_names)
    clean, faulty = (
        {figure.name: figure.passes for figure in check_motion(motion, robot, limits)}
        for motion in (coarse, FAULTS[name](coarse))
    )
    assert clean[name] and not faulty[name]


def test_velocities_that_are_not_those_of_the_frames_are_found(robot, coarse):
    full = robot.completed(coarse)
    wrong = replace(full, joint_vel=full.joint_vel + 0.3 * (np.arange(29) == 3))
    figures = {figure.name: figure for figure in check_motion(wrong, robot)}
    figure = figures["velocity minus finite differences"]
    assert not figure.passes and figure.value == pytest.approx(0.03, abs=1e-3)
    assert figure.place.startswith("left_knee_joint")


SHAPES = """
<mujoco><worldbody><body name="thing"><freejoint/>
  <geom type="sphere" size="0.1" pos="0.3 0 0"/>
  <geom type="capsule" size="0.05 0.2" pos="0 0.3 0" quat="0.8 0.6 0 0"/>
  <geom type="box" size="0.1 0.2 0.3" pos="0 0 0.3" quat="0.6 0 0.8 0"/>
  <geom type="cylinder" size="0.1 0.2" pos="-0.3 0 0" quat="0.5 0.5 0.5 0.5"/>
  <geom type="ellipsoid" size="0.1 0.2 0.05" pos="0 -0.3 0.1"/>
  <geom type="sphere" size="1" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>
"""


def test_the_lowest_point_of_each_shape_matches_mujocos_distance_to_a_plane(tmp_path):
    file = tmp_path / "shapes.xml"
    file.write_text(SHAPES)
    thing = MotionRobot(EntityCfg(source=file), "thing")
    random = np.random.default_rng(0)
    quats = random.normal(size=(20, 4))
    quats /= np.linalg.norm(quats, axis=1)[:, None]
    pos = np.array([0.0, 0.0, 2.0]) + 0.3 * random.random((20, 3))
    motion = Motion.from_root(
        "m", 50.0, pos, quats, np.zeros((20, 0)), root_body="thing", joint_names=()
    )
    found = lowest_points(motion, thing)
    spec = mujoco.MjSpec.from_string(SHAPES)
    plane = spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], name="ground"
    )
    model = spec.compile()
    data, ground = mujoco.MjData(model), model.geom(plane.name).id
    others = [geom for geom in collision_geoms(model) if geom != ground]
    assert found.shape == (20, len(others)) == (20, 5)
    for frame in range(20):
        data.qpos[:] = [*pos[frame], *quats[frame]]
        mujoco.mj_kinematics(model, data)
        expected = [
            mujoco.mj_geomDistance(model, data, ground, geom, 10.0, np.zeros(6))
            for geom in others
        ]
        assert found[frame] == pytest.approx(expected, abs=2e-6)


def test_low_and_slow_feet_count_as_standing(robot, kick):
    guessed = estimate_contacts(robot.completed(kick), FOOT_BODIES)
    assert (guessed == kick.contacts).mean() > 0.93
    assert [s[:2] for s in stances(np.array([[1, 0, 1], [0, 1, 1]], bool).T)] == [
        *((0, 0), (0, 2), (1, 1)),
    ]


# --- Mirror images and blends --------------------------------------------------------


def bodies_by_mujoco(motion: Motion) -> dict[str, np.ndarray]:
    model = mujoco.MjModel.from_xml_path(str(G1_XML))
    data, found = mujoco.MjData(model), []
    for frame in range(0, motion.num_frames, 25):
        data.qpos[:3], data.qpos[3:7] = motion.root_pos[frame], motion.root_quat[frame]
        for column, name in enumerate(motion.joint_names):
            data.joint(name).qpos[0] = motion.joint_pos[frame, column]
        mujoco.mj_kinematics(model, data)
        found.append(data.xpos.copy())
    places = np.array(found)
    return {model.body(i).name: places[:, i] for i in range(1, model.nbody)}


def test_in_the_mirror_every_body_is_where_its_other_side_was_reflected(kick):
    image = mirrored(kick, MIRROR)
    before, after = bodies_by_mujoco(kick), bodies_by_mujoco(image)
    swap = {"left": "right", "right": "left"}
    for name, place in before.items():
        side, _, rest = name.partition("_")
        other = f"{swap[side]}_{rest}" if side in swap else name
        # The published model's torso is 0.2 mm askew.
        assert np.abs(after[other] - place * (1, -1, 1)).max() < 1e-3, name
    assert np.array_equal(image.contacts, kick.contacts[:, ::-1])
    again = mirrored(image, MIRROR)
    assert np.array_equal(again.joint_pos, kick.joint_pos)
    assert np.array_equal(again.root_quat, kick.root_quat)


def test_a_blend_begins_as_one_motion_and_ends_as_the_other_moved_as_a_whole(kick):
    turn, walk = (load_motion(G1_CLIPS / f"{n}.npz") for n in ("full_turn", "walk"))
    half = turn.frames(0, turn.num_frames // 2)
    both = blended(half, walk, 0.6)
    fade = round(0.6 * 50.0) + 1
    start = half.num_frames - fade
    assert both.num_frames == start + walk.num_frames
    assert np.array_equal(both.joint_pos[:start], half.joint_pos[:start])
    assert np.array_equal(both.joint_pos[start + fade :], walk.joint_pos[fade:])
    # The way walked is as long, and along the heading in which the walk begins.
    way = both.root_pos[-1] - both.root_pos[start + fade]
    walked = walk.root_pos[-1] - walk.root_pos[fade]
    w, _, _, z = half.root_quat[start]
    yaw = 2.0 * np.arctan2(z, w)
    expected = [np.cos(yaw) * walked[0], np.sin(yaw) * walked[0], walked[2]]
    assert way == pytest.approx(expected, abs=0.02) and walked[0] > 2.0
    steps = np.linalg.norm(np.diff(both.root_pos, axis=0), axis=1)
    assert steps.max() < 0.03
    assert np.array_equal(both.contacts[start + fade :], walk.contacts[fade:])
    # In between, what stands stands in both: a kick's foot in the air does not.
    walk_kick = blended(walk.frames(0, 2 * fade), kick.frames(160, 360), 0.6)
    standing = walk.contacts[fade : 2 * fade] & kick.contacts[160 : 160 + fade]
    assert np.array_equal(walk_kick.contacts[fade : 2 * fade], standing)
    assert (standing != walk.contacts[fade : 2 * fade]).any()


def test_an_overlap_longer_than_a_motion_is_refused(kick):
    with pytest.raises(
        MotionError, match=r"overlap of 30 s .* is invalid.*at least two frames"
    ):
        blended(kick, kick, 30.0)


# --- Imports ------------------------------------------------------------------------


def unitree_rows(motion: Motion, fps: float) -> np.ndarray:
    slow = motion.resampled(fps)
    columns = slow.joint_columns(UNITREE)
    quats = slow.root_quat[:, [1, 2, 3, 0]]
    return np.concatenate((slow.root_pos, quats, slow.joint_pos[:, columns]), axis=1)


def write_csv(path, rows):
    np.savetxt(path, rows, delimiter=",", fmt="%.8f")
    return path


def test_unitree_csv_gives_the_original_motion(robot, kick, tmp_path):
    path = write_csv(tmp_path / "kick.csv", unitree_rows(kick, 30.0))
    found = read_csv(path, robot, fps=30.0).resampled(50.0)
    columns = found.joint_columns(kick.joint_names)
    number = found.num_frames
    # Thirty frames a second cut the corners of a kick.
    away = np.abs(found.joint_pos[:, columns] - kick.joint_pos[:number])
    assert away.max() < 0.02 and np.median(away) < 1e-4
    assert np.abs(found.root_pos - kick.root_pos[:number]).max() < 1e-3
    assert np.abs(found.root_quat - kick.root_quat[:number]).max() < 1e-3
    part = read_csv(path, robot, fps=30.0, rows=(11, 20))
    exact = read_csv(path, robot, fps=30.0)
    assert np.array_equal(part.joint_pos, exact.joint_pos[10:20])


MISTAKES = {
    "has 35 columns; 29 joints of G1 require 36": lambda rows: rows[:, :-1],
    "row 3 has nan in column 8": lambda rows: np.where(
        (np.arange(len(rows))[:, None] == 2) & (np.arange(36) == 7), np.nan, rows
    ),
    "upside down with quaternions read as xyzw, and upright": lambda rows: rows[
        :, [0, 1, 2, 6, 3, 4, 5, *range(7, 36)]
    ],
    "quaternion of frame 0 has length": lambda rows: rows[:, ::-1],
}


@pytest.mark.parametrize("message", MISTAKES)
def test_implausible_csv_rows_are_refused(robot, kick, tmp_path, message):
    rows = MISTAKES[message](unitree_rows(kick, 30.0))
    path = write_csv(tmp_path / "kick.csv", rows)
    with pytest.raises(MotionError, match=message):
        read_csv(path, robot, fps=30.0)


def test_rows_out_of_range_and_no_rate_are_refused(robot, kick, tmp_path):
    path = write_csv(tmp_path / "kick.csv", unitree_rows(kick, 30.0))
    with pytest.raises(
        MotionError, match=r"360 to 380 is not a range .* rows, 1 to 370"
    ):
        read_csv(path, robot, fps=30.0, rows=(360, 380))
    with pytest.raises(MotionError, match="has fps 0; it has to be positive"):
        read_csv(path, robot, fps=0.0)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(MotionError, match=r"not a number.*Remove any header"):
        read_csv(path, robot, fps=30.0)


def foreign(path, motion: Motion, keys: str) -> None:
    """Write the arrays of another project, without our header."""
    arrays = {key: np.asarray(getattr(motion, key)) for key in keys.split()}
    arrays["fps"] = np.array([motion.fps])
    np.savez(path, **arrays)


BEYOND_MIMIC = (
    "joint_pos joint_vel body_pos_w body_quat_w body_lin_vel_w body_ang_vel_w"
)


def test_a_file_without_names_needs_their_order(robot, kick, tmp_path):
    full, path = robot.completed(kick), tmp_path / "old.npz"
    foreign(path, full, BEYOND_MIMIC)
    with pytest.raises(MotionError, match=r"does not name its joints.*their order"):
        read_npz(path, robot)
    found = read_npz(
        path, robot, joint_names=robot.joint_names, body_names=robot.body_names
    )
    assert np.array_equal(found.body_pos_w, full.body_pos_w)
    assert robot.completed(found).info.robot == "G1"
    wrong = (*robot.joint_names[1:], robot.joint_names[0])
    bad = read_npz(path, robot, joint_names=wrong, body_names=robot.body_names)
    with pytest.raises(MotionError, match="from its forward kinematics"):
        robot.completed(bad)


def test_a_file_of_holosoma_has_its_root_among_the_joints(robot, kick, tmp_path):
    full, path = robot.completed(kick), tmp_path / "holosoma.npz"
    root = np.concatenate((full.root_pos, full.root_quat), axis=1)
    other_links = full.body_pos_w.copy()
    other_links[:, 1:] *= 1.02
    np.savez(
        path,
        fps=np.array([50]),
        joint_pos=np.concatenate((root, full.joint_pos), axis=1),
        body_pos_w=np.concatenate((0.0 * other_links[:, :1], other_links), axis=1),
        body_ang_vel_w=np.full_like(full.body_ang_vel_w, 7.0),
        joint_names=np.array(full.joint_names),
        body_names=np.array(["world", *full.body_names]),
    )
    found = robot.completed(read_npz(path, robot))
    assert np.array_equal(found.joint_pos, full.joint_pos)
    assert found.joint_vel == pytest.approx(full.joint_vel, abs=1e-4)
    assert found.body_pos_w == pytest.approx(full.body_pos_w, abs=1e-6)
    assert found.body_ang_vel_w == pytest.approx(full.body_ang_vel_w, abs=1e-2)


@pytest.mark.parametrize("fault", ["quaternions", "joints"])
def test_a_root_among_the_joints_in_another_order_is_an_error(
    robot, kick, tmp_path, fault
):
    full, path = robot.completed(kick), tmp_path / "wrong.npz"
    quats, names = full.root_quat, list(full.joint_names)
    if fault == "quaternions":
        quats = quats[:, (1, 2, 3, 0)]
    else:
        names = names[1:] + names[:1]
    np.savez(
        path,
        fps=50.0,
        joint_pos=np.concatenate((full.root_pos, quats, full.joint_pos), axis=1),
        body_pos_w=full.body_pos_w,
        joint_names=np.array(names),
        body_names=np.array(full.body_names),
    )
    with pytest.raises(MotionError, match="cm from forward kinematics on average"):
        read_npz(path, robot)


def test_pickles_are_refused_by_any_name(robot, tmp_path):
    clip = tmp_path / "clip.pkl"
    clip.write_bytes(pickle.dumps({"root_pos": [1, 2]}))
    with pytest.raises(MotionError, match="is a pickle, which can run code"):
        read_npz(clip, robot)
    hidden = tmp_path / "clip.npz"
    np.savez(hidden, fps=30.0, joint_pos=np.array([{"a": 1}], dtype=object))
    with pytest.raises(
        MotionError, match="contains pickled objects, which can run code"
    ):
        read_npz(hidden, robot)


def test_an_unknown_joint_is_named_with_the_nearest(robot, kick, tmp_path):
    names = tuple(n.replace("left_elbow", "left_elbov") for n in kick.joint_names)
    save_motion(replace(kick, joint_names=names), tmp_path / "odd.npz")
    with pytest.raises(UnknownNameError, match=r"left_elbov_joint.*left_elbow_joint"):
        robot.completed(load_motion(tmp_path / "odd.npz"))
