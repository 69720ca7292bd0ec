"""Motion files: contents and derived quantities."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from mjlab.motion import (
    Motion,
    MotionError,
    MotionInfo,
    MotionRobot,
    angular_velocity,
    find_motions,
    load_motion,
    save_motion,
)
from mjlab.motion.robot import kinematics_hash
from mjlab.names import UnknownNameError
from mjlab.scene import SceneCfg, build_scene
from mjlab.sim import SimulationCfg, compile_model
from mjlab.tasks.robots.g1 import g1_cfg, home
from mjlab.tasks.robots.go1 import go1_cfg
from tests.worlds.motions import g1_robot, shuffled, turning


@pytest.fixture(scope="module")
def robot() -> MotionRobot:
    return g1_robot()


def two_joints(**changes: Any) -> Motion:
    """Three frames at 10 fps, small enough to compute by hand."""
    given: dict[str, Any] = {
        "root_pos": np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.3, 0.0, 1.0]]),
        "root_quat": np.array([[1.0, 0, 0, 0]] * 3),
        "joint_pos": np.array([[0.0, 1.0], [0.2, 1.0], [0.6, 1.0]]),
        "root_body": "base",
        "joint_names": ("a", "b"),
    }
    given |= changes
    return Motion.from_root("small", given.pop("fps", 10.0), **given)


def test_velocities_are_central_differences_and_one_sided_at_the_ends() -> None:
    motion = two_joints()
    assert motion.joint_vel[:, 0] == pytest.approx([2.0, 3.0, 4.0])
    assert motion.body_lin_vel_w[:, 0, 0] == pytest.approx([1.0, 1.5, 2.0])


def test_angular_velocity_is_in_world_axes_and_repeats_at_the_ends() -> None:
    # First a quarter turn about x, then turns about the world's z at 2 rad/s.
    angles = 2.0 * np.arange(5) / 10.0
    about_z = np.stack((np.cos(angles / 2), 0 * angles, 0 * angles, np.sin(angles / 2)))
    first = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    quats = np.zeros((5, 4))
    for frame in range(5):
        mujoco.mju_mulQuat(quats[frame], about_z[:, frame], first)
    found = angular_velocity(quats, 10.0)
    assert found == pytest.approx(np.tile([0.0, 0.0, 2.0], (5, 1)))
    faster = angular_velocity(quats[[0, 1, 3]], 10.0)
    assert faster[:, 2] == pytest.approx([3.0, 3.0, 3.0])


def test_resampling_is_linear_and_takes_the_shorter_way_of_a_rotation() -> None:
    half = np.deg2rad([0.0, 45.0, 90.0]) / 2.0
    quats = np.stack((np.cos(half), 0 * half, 0 * half, np.sin(half)), axis=1)
    quats[1] *= -1.0  # The same rotation by its other quaternion.
    motion = two_joints(root_quat=quats).resampled(25.0)
    # Times 0, 0.04, ... 0.2 s lie at 0, 0.4, 0.8, 1.2, 1.6 and 2 frames.
    assert motion.num_frames == 6
    assert motion.root_pos[:, 0] == pytest.approx([0.0, 0.04, 0.08, 0.14, 0.22, 0.3])
    assert motion.joint_pos[:, 0] == pytest.approx([0.0, 0.08, 0.16, 0.28, 0.44, 0.6])
    angles = 2.0 * np.arctan2(motion.root_quat[:, 3], motion.root_quat[:, 0])
    turned = np.rad2deg((angles + np.pi) % (2 * np.pi) - np.pi)
    assert turned == pytest.approx([0.0, 18.0, 36.0, 54.0, 72.0, 90.0])


@pytest.mark.parametrize("fps", [12.0, 24.0])
def test_resampled_contacts_are_those_of_the_nearest_frame(fps: float) -> None:
    """From 10 fps, contacts flip half way between frames."""
    contacts = np.array([[False, True], [True, True], [False, False]])
    share = np.array([0.0, 1.0, 0.0])
    motion = two_joints(
        contact_names=("left", "right"), contacts=contacts, feasibility=share
    ).resampled(fps)
    times = np.arange(motion.num_frames) * 10.0 / fps
    nearest = [int(time + 0.5) for time in times.tolist()]
    assert all(abs(time % 1.0 - 0.5) > 1e-6 for time in times)
    assert motion.contacts is not None and motion.feasibility is not None
    assert motion.contacts.tolist() == contacts[nearest].tolist()
    # In between, the share of the hand is in between.
    assert motion.feasibility == pytest.approx(1.0 - np.abs(times - 1.0))


def test_bodies_are_where_mujoco_puts_them_and_as_fast(robot: MotionRobot) -> None:
    motion = robot.completed(turning(robot))
    model = robot.sim.mj_model
    data = mujoco.MjData(model)
    for frame in (0, 37, 100):
        turn = motion.root_quat[frame]
        spin, inverse = np.zeros(3), np.zeros(4)
        mujoco.mju_negQuat(inverse, turn)
        mujoco.mju_rotVecQuat(spin, motion.body_ang_vel_w[frame, 0], inverse)
        data.qpos[:3], data.qpos[3:7] = motion.root_pos[frame], turn
        data.qpos[7:] = motion.joint_pos[frame]
        data.qvel[:3], data.qvel[3:6] = motion.body_lin_vel_w[frame, 0], spin
        data.qvel[6:] = motion.joint_vel[frame]
        mujoco.mj_forward(model, data)
        for column, name in enumerate(motion.body_names):
            body = model.body(f"robot/{name}").id
            twist = np.zeros(6)
            kind = mujoco.mjtObj.mjOBJ_XBODY
            mujoco.mj_objectVelocity(model, data, kind, body, twist, 0)
            found = motion.body_pos_w[frame, column]
            assert found == pytest.approx(data.xpos[body], abs=2e-6)
            quat = motion.body_quat_w[frame, column]
            assert abs(quat @ data.xquat[body]) == pytest.approx(1.0, abs=1e-6)
            linear = motion.body_lin_vel_w[frame, column]
            assert linear == pytest.approx(twist[3:], abs=2e-5)
            angular = motion.body_ang_vel_w[frame, column]
            assert angular == pytest.approx(twist[:3], abs=2e-5)


@pytest.mark.parametrize("bare", [True, False])
def test_saved_file_keeps_all_data(tmp_path: Path, bare: bool) -> None:
    robot = g1_robot()
    info = MotionInfo(
        robot="G1",
        model_hash=robot.hash,
        source="synthetic: test",
        licence="CC0-1.0",
        authors=("A", "B"),
        log=("made",),
        loops=True,
        splits={"train": (0, 80), "test": (80, 101)},
    )
    made = replace(
        robot.completed(turning(robot)),
        contact_names=("left_ankle_roll_link",),
        contacts=np.arange(101)[:, None] % 2 == 0,
        feasibility=np.linspace(0.0, 0.5, 101),
        info=info,
    )
    path = save_motion(made, tmp_path / "turning.npz", bare=bare)
    read = load_motion(path)
    assert read.info == info and read.name == "turning" and read.fps == 50.0
    assert read.joint_names == made.joint_names
    assert read.body_names == (("pelvis",) if bare else made.body_names)
    assert np.array_equal(read.contacts, made.contacts)  # type: ignore[arg-type]
    assert read.feasibility == pytest.approx(made.feasibility, abs=1e-7)
    again = robot.completed(read)
    for key in ("joint_pos", "body_pos_w", "body_quat_w"):
        assert getattr(again, key) == pytest.approx(getattr(made, key), abs=1e-6)
    for key in ("joint_vel", "body_lin_vel_w", "body_ang_vel_w"):
        assert getattr(again, key) == pytest.approx(getattr(made, key), abs=5e-5)
    with np.load(path) as file:
        assert not any(file[key].dtype.hasobject for key in file.files)


def test_columns_in_another_order_are_the_same_motion(robot: MotionRobot) -> None:
    made = robot.completed(turning(robot))
    again, mixed = robot.completed(made), robot.completed(shuffled(made))
    for key in ("joint_pos", "joint_vel", "body_pos_w", "body_ang_vel_w"):
        assert np.array_equal(getattr(mixed, key), getattr(again, key)), key


def test_a_file_without_names_needs_their_order(
    tmp_path: Path, robot: MotionRobot
) -> None:
    made = robot.completed(turning(robot))
    keys = ("fps", "joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
    keys += ("body_lin_vel_w", "body_ang_vel_w")
    path = tmp_path / "published.npz"
    np.savez(path, **{key: getattr(made, key) for key in keys})
    with pytest.raises(MotionError, match=r"does not name its joints.*their order"):
        load_motion(path)
    read = load_motion(path, joint_names=robot.joint_names, body_names=robot.body_names)
    assert robot.completed(read).body_pos_w == pytest.approx(made.body_pos_w, abs=1e-5)
    wrong = list(robot.body_names)
    wrong[5], wrong[9] = wrong[9], wrong[5]
    mixed = load_motion(path, joint_names=robot.joint_names, body_names=wrong)
    with pytest.raises(MotionError, match=r"Check that .* in the order of its columns"):
        robot.completed(mixed)


def test_the_hash_is_of_the_links_and_not_of_masses_or_places() -> None:
    robot = g1_robot()
    cfg = g1_cfg()
    cfg.init_state = home()
    scene = SceneCfg(entities={"other": go1_cfg(), "walker": cfg})
    model = compile_model(build_scene(scene).spec, SimulationCfg())
    assert kinematics_hash(model, "walker") == robot.hash
    model.body_mass[:] *= 2.0
    assert kinematics_hash(model, "walker") == robot.hash
    model.body_pos[model.body("walker/left_knee_link").id, 2] += 1e-4
    assert kinematics_hash(model, "walker") != robot.hash


# Refusals: each message says what would have been right.


def refused(motion: Any, kind: type[Exception] = MotionError) -> str:
    with pytest.raises(kind) as error:
        motion()
    return str(error.value)


def test_invalid_numbers_are_refused() -> None:
    assert refused(lambda: two_joints(fps=0.0)) == (
        "Motion 'small' has fps 0; it has to be positive."
    )
    joints = np.zeros((3, 2))
    joints[1, 1] = np.nan
    assert refused(lambda: two_joints(joint_pos=joints)) == (
        "Motion 'small': joint_pos of 'b' is nan in frame 1."
    )
    quats = np.array([[1.0, 0, 0, 0], [0.5, 0, 0, 0], [1.0, 0, 0, 0]])
    assert refused(lambda: two_joints(root_quat=quats)) == (
        "Motion 'small': the quaternion of 'base' has length 0.5 in frame 1; it has to "
        "be 1."
    )
    assert refused(lambda: two_joints(joint_names=("a", "a"))) == (
        "Motion 'small' names the joint 'a' twice."
    )
    assert refused(lambda: two_joints(joint_names=("a",))) == (
        "Motion 'small': joint_pos has shape (3, 2); its names require (3, 1)."
    )
    assert refused(lambda: two_joints().frames(2, 7)) == (
        "Motion 'small': 2 to 7 is not a range of two or more of its frames, 0 to 3."
    )


def test_a_motion_of_another_robot_is_refused(robot: MotionRobot) -> None:
    made = turning(robot)
    dog = MotionRobot(go1_cfg(), "Go1")
    assert refused(lambda: dog.completed(made), UnknownNameError).startswith(
        "Motion 'turning' has the joint 'left_hip_pitch_joint', but Go1 does not. "
        "Valid names, nearest first: "
    )
    info = MotionInfo(robot="G1 with long legs", model_hash="0123456789ab")
    assert refused(lambda: robot.completed(replace(made, info=info))) == (
        "Motion 'turning' was made for G1 with long legs with link hash 0123456789ab; "
        f"the link hash of G1 is {robot.hash}. Import it for this robot."
    )
    few = replace(
        made,
        joint_names=made.joint_names[1:],
        joint_pos=made.joint_pos[:, 1:],
        joint_vel=made.joint_vel[:, 1:],
    )
    assert refused(lambda: robot.completed(few), UnknownNameError) == (
        "Motion 'turning' lacks the joint 'left_hip_pitch_joint' of G1."
    )
    with pytest.raises(UnknownNameError, match="There is no body 'left_knee_link' of"):
        made.body_columns(["left_knee_link"])


def test_quaternions_with_w_last_are_known_by_where_the_bodies_are(
    robot: MotionRobot,
) -> None:
    made = robot.completed(turning(robot))
    turned = replace(made, body_quat_w=made.body_quat_w[..., [1, 2, 3, 0]])
    assert refused(lambda: robot.completed(turned)).endswith(
        "but matches with quaternions read as xyzw. They have to be wxyz: import it "
        "with --quat xyzw."
    )


def test_unreadable_files_are_reported_with_the_reason(tmp_path: Path) -> None:
    pickled = tmp_path / "clip.pkl"
    pickled.write_bytes(pickle.dumps({"dof_pos": [1.0]}))
    assert refused(lambda: load_motion(pickled)) == (
        f"{pickled} is a pickle, which can run code when opened. Save its arrays "
        "with numpy.savez or as CSV, and import that file."
    )
    hidden = tmp_path / "hidden.npz"
    np.savez(hidden, joint_pos=np.array([{"a": 1}], dtype=object))
    assert refused(lambda: load_motion(hidden)) == (
        f"{hidden} contains pickled objects, which can run code when opened. Save "
        "its arrays with numpy.savez, and import that file."
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(lambda: find_motions([empty])) == (
        f"The folder {empty} has no motion file (*.npz)."
    )
    assert refused(lambda: find_motions([])) == (
        "clips is empty: name motion files, or a folder of them."
    )
    twins = [tmp_path / "one" / "wave.npz", tmp_path / "two" / "wave.npz"]
    for twin in twins:
        twin.parent.mkdir()
        np.savez(twin, fps=50.0)
    assert refused(lambda: find_motions(twins)) == (
        f"Two clips are called 'wave': {twins[0]} and {twins[1]}. Rename one."
    )
    assert refused(
        lambda: load_motion(twins[0], joint_names=["a"], body_names=["b"])
    ) == (f"{twins[0]} is not a motion file: it lacks 'joint_pos'.")
