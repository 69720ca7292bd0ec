"""Human recordings: joints by hand arithmetic, and retargeting to the robot."""

import mujoco
import numpy as np
import pytest

from mjlab.motion import MotionError, load_motion
from mjlab.motion.tools.bvh import BvhRecording, read_bvh
from mjlab.motion.tools.checks import collision_geoms
from mjlab.motion.tools.retarget import LANDMARKS, HumanoidParts, retargeted
from mjlab.scene import SceneCfg, build_scene
from mjlab.tasks.robots.g1 import G1, g1_cfg
from mjlab.tasks.robots.g1 import LANDMARKS as G1_LANDMARKS
from mjlab.tasks.tracking.clips import G1_CLIPS
from tests.worlds.motions import g1_robot

TWO_BONES = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 2 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 1 0
    }
  }
  JOINT LeftUpLeg
  {
    OFFSET 1 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftLeg
    {
      OFFSET 0 -3 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 -3 0
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
10 20 30 0 0 0 0 0 0 0 0 0 0 0 0
10 20 30 0 0 90 0 0 0 0 90 0 0 0 0
"""


def test_joints_are_where_hand_arithmetic_puts_them(tmp_path):
    file = tmp_path / "two.bvh"
    file.write_text(TWO_BONES)
    found = read_bvh(file)
    assert found.fps == pytest.approx(25.0)
    assert set(found.positions) == {"Hips", "Spine", "LeftUpLeg", "LeftLeg"}
    # The file's (x, y, z) is ours (y, z, x): z forward becomes x, x left becomes y.
    first = {name: place[0].tolist() for name, place in found.positions.items()}
    assert first["Hips"] == [30, 10, 20] and first["Spine"] == [30, 10, 22]
    assert first["LeftUpLeg"] == [30, 11, 20] and first["LeftLeg"] == [30, 11, 17]
    # Turned by 90 degrees about y, x points along -z; the thigh, pitched by 90 degrees
    # about its own x, swings from -y to -z, which after the turn is -x.
    assert found.positions["LeftUpLeg"][1] == pytest.approx([29, 10, 20])
    assert found.positions["LeftLeg"][1] == pytest.approx([29, 7, 20])


def test_rotations_of_a_joint_are_about_axes_that_the_ones_before_have_turned(tmp_path):
    """By 90 degrees about z, then about the turned x: the spine points along z."""
    head, _, _ = TWO_BONES.partition("10 20 30 0 0 0")
    file = tmp_path / "turned.bvh"
    still = " 0 0 0" * 3
    file.write_text(f"{head}0 0 0 90 90 0{still}\n0 0 0 90 0 90{still}\n")
    found = read_bvh(file).positions
    # The file's z is our x, its x our y and its y our z.
    assert found["Spine"][0] == pytest.approx([2, 0, 0], abs=1e-12)
    # About z and then y: the hip, 1 along x, comes to lie along -z.
    assert found["LeftUpLeg"][1] == pytest.approx([-1, 0, 0], abs=1e-12)
    assert found["Spine"][1] == pytest.approx([0, -2, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TWO_BONES.replace("Frames: 2", "Frames: 3"), "30 numbers; 3 frames of 15"),
        ("HIERARCHY nonsense", "its hierarchy contains 'nonsense'"),
        (TWO_BONES.partition("MOTION")[0], "it has no MOTION"),
        (TWO_BONES.replace("Yrotation", "Yscale"), "unknown channel 'Yscale'"),
    ],
)
def test_a_file_that_is_not_a_recording_is_refused(tmp_path, text, message):
    file = tmp_path / "bad.bvh"
    file.write_text(text)
    with pytest.raises(MotionError, match=message):
        read_bvh(file)


PARTS = HumanoidParts(base="pelvis", torso="torso_link", landmarks=G1_LANDMARKS)


def test_human_with_robot_proportions_is_reproduced_in_any_unit():
    robot = g1_robot()
    clip = robot.completed(load_motion(G1_CLIPS / "box.npz").frames(80, 120))
    columns = clip.body_columns([G1_LANDMARKS[name] for name in LANDMARKS])
    usual = ("UpLeg", "Leg", "Foot", "Arm", "ForeArm", "Hand")
    names = [f"{side}{part}" for side in ("Left", "Right") for part in usual]
    places = 100.0 * clip.body_pos_w[:, columns].swapaxes(0, 1)
    person = BvhRecording(fps=50.0, positions=dict(zip(names, places, strict=True)))
    found = robot.completed(retargeted(person, robot, PARTS, "again", 50.0))
    assert found.num_frames == clip.num_frames
    root = clip.root_pos[0] * (1.0, 1.0, 0.0)
    away = found.body_pos_w[:, columns] + root - clip.body_pos_w[:, columns]
    assert np.linalg.norm(away, axis=-1).max() < 0.05
    hands = [clip.body_names.index(f"{side}_elbow_link") for side in ("left", "right")]
    path = clip.body_pos_w[:, hands] - clip.body_pos_w[:1, hands]
    assert np.abs(path).max() > 0.1
    assert G1.landmarks == G1_LANDMARKS


def test_feet_point_in_the_direction_of_the_hips():
    """The same pose, turned to the left by 60 degrees and to the right by 100."""
    robot = g1_robot()
    clip = robot.completed(load_motion(G1_CLIPS / "box.npz").frames(80, 82))
    columns = clip.body_columns([G1_LANDMARKS[name] for name in LANDMARKS])
    usual = ("UpLeg", "Leg", "Foot", "Arm", "ForeArm", "Hand")
    names = [f"{side}{part}" for side in ("Left", "Right") for part in usual]
    ankles = clip.body_columns([G1_LANDMARKS[f"{s}_ankle"] for s in ("left", "right")])
    headings = []
    for degrees in (0.0, 60.0, -100.0):
        cos, sin = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        places = (clip.body_pos_w[:, columns] @ turn.T).swapaxes(0, 1)
        person = BvhRecording(fps=50.0, positions=dict(zip(names, places, strict=True)))
        found = robot.completed(retargeted(person, robot, PARTS, "turned", 50.0))
        w, x, y, z = found.body_quat_w[-1, ankles].T
        yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        headings.append(np.rad2deg(yaw))
        # The feet are level, too.
        assert (1 - 2 * (x * x + y * y) > 0.99).all()
    for feet, degrees in zip(headings[1:], (60.0, -100.0), strict=True):
        assert feet - headings[0] == pytest.approx(degrees, abs=2.0)


def test_the_lowest_point_of_a_whole_recording_is_on_the_ground():
    """A person who sinks: the first frame is not the lowest one."""
    robot = g1_robot()
    clip = robot.completed(load_motion(G1_CLIPS / "box.npz").frames(80, 84))
    columns = clip.body_columns([G1_LANDMARKS[name] for name in LANDMARKS])
    usual = ("UpLeg", "Leg", "Foot", "Arm", "ForeArm", "Hand")
    names = [f"{side}{part}" for side in ("Left", "Right") for part in usual]
    sinking = np.array([0.2, 0.1, 0.0, 0.05])[:, None, None] * (0.0, 0.0, 1.0)
    places = (clip.body_pos_w[:, columns] + sinking).swapaxes(0, 1)
    person = BvhRecording(fps=50.0, positions=dict(zip(names, places, strict=True)))
    found = robot.completed(retargeted(person, robot, PARTS, "sinking", 50.0))
    spec = build_scene(SceneCfg(entities={"robot": g1_cfg()})).spec
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1]
    )
    model = spec.compile()
    data, floor = mujoco.MjData(model), model.geom("floor").id
    lowest = []
    for frame in range(4):
        data.qpos[:3], data.qpos[3:7] = found.root_pos[frame], found.root_quat[frame]
        data.qpos[7:] = found.joint_pos[frame]
        mujoco.mj_kinematics(model, data)
        gaps = (
            mujoco.mj_geomDistance(model, data, floor, geom, 10.0, np.zeros(6))
            for geom in collision_geoms(model)
            if geom != floor
        )
        lowest.append(min(gaps))
    assert min(lowest) == pytest.approx(0.0, abs=1e-5)
    assert lowest.index(min(lowest)) == 2
    assert lowest[0] - lowest[2] == pytest.approx(0.2, abs=0.02)


def test_a_missing_joint_is_named_with_the_available_ones():
    person = BvhRecording(fps=30.0, positions={"LeftUpLeg": np.zeros((3, 3))})
    with pytest.raises(MotionError, match=r"no joint for the left knee.*LeftUpLeg"):
        retargeted(person, g1_robot(), PARTS, "none", 50.0)
