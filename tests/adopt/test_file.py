"""Damaged model files: each gets one line that names the fault."""

import mujoco
import numpy as np
import pytest

from mjlab.adopt.file import read_spec
from mjlab.adopt.notes import AdoptError, Notes
from mjlab.adopt.robot import adopt
from tests.adopt.models import point_biped

SHANK = '<geom type="capsule" fromto="0 0 0 0 0 -0.28" size="0.02" mass="0.5"/>'
KNEE = '<joint name="left_knee" axis="0 1 0" range="0.0 2.3" armature="0.01"/>'
TOE = """<geom name="left_toe" type="sphere" pos="0 0 -0.3" size="0.03"
              mass="0.1"/>"""
BOX = '<geom type="box" size="0.06 0.1 0.1" pos="0 0 0.1" mass="6"/>'
FREE = '<freejoint name="root"/>'
MESH = '<mesh name="shin" file="shin.stl"/>'


def inertial(mass: str = "1", inertia: str = 'diaginertia="1 1 1"') -> str:
    return f'<inertial pos="0 0 0" mass="{mass}" {inertia}/>'


def changed(old: str, new: str) -> str:
    text = point_biped()
    assert old in text
    return text.replace(old, new)


def knee(**attributes: str) -> str:
    """Return the biped with other attributes of its left knee."""
    wanted = {"axis": "0 1 0", "range": "0.0 2.3", "armature": "0.01"} | attributes
    words = " ".join(f'{name}="{value}"' for name, value in wanted.items())
    return changed(KNEE, f'<joint name="left_knee" {words}/>')


def with_shank(extra: str) -> str:
    """Return the biped with another element in both shanks."""
    return changed(SHANK, SHANK + extra)


def urdf() -> str:
    """A base and one leg."""
    moments = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'
    inertia = f'<inertial><mass value="1"/><inertia {moments}/></inertial>'
    sphere = '<origin xyz="0 0 -0.5"/><geometry><sphere radius="0.1"/></geometry>'
    leg = f"{inertia}<collision>{sphere}</collision>"
    return f"""<robot name="r"><link name="base">{inertia}</link>
      <link name="thigh">{inertia}</link><link name="leg">{leg}</link>
      <joint name="hip" type="revolute"><parent link="base"/><child link="thigh"/>
      <origin xyz="0 0 -0.1"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
      <joint name="knee" type="revolute"><parent link="thigh"/><child link="leg"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
      </robot>"""


REFUSED = {
    "empty": ("robot.xml", " ", "robot.xml is empty"),
    "wrong kind of file": ("robot.usd", "x", "neither MJCF .* nor URDF"),
    "xacro": (
        "robot.urdf",
        '<robot xmlns:xacro="http://ros.org/wiki/xacro"/>',
        r"xacro macros. Expand them first: xacro robot.urdf > robot.urdf",
    ),
    "unclosed tag": ("robot.xml", "<mujoco><worldbody>", "cannot read robot.xml"),
    "not a model": ("robot.xml", "<html/>", "cannot read robot.xml"),
    "no body": ("robot.xml", "<mujoco/>", "has no body"),
    "no joint": (
        "robot.xml",
        "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>",
        "has no joint, so nothing in it can walk",
    ),
    "unknown attribute": ("robot.xml", knee(damper="1"), "unrecognized attribute"),
    "missing include": (
        "robot.xml",
        changed("<worldbody>", '<include file="legs.xml"/><worldbody>'),
        "Error opening file 'legs.xml'",
    ),
    "actuator of no joint": (
        "robot.xml",
        changed('joint="left_knee"', 'joint="left_ellbow"'),
        "unknown transmission target 'left_ellbow'",
    ),
    "axis of length zero": (
        "robot.xml",
        knee(axis="0 0 0"),
        "'left_knee' has an axis of length zero",
    ),
    "axis not a number": ("robot.xml", knee(axis="0 nan 0"), "is not a number"),
    "text as axis": ("robot.xml", knee(axis="0 one 0"), "bad format"),
    "axis of two numbers": ("robot.xml", knee(axis="0 1"), "not have enough data"),
    "degrees as radians": (
        "robot.xml",
        knee(range="0 130"),
        "from 0 to 130 rad. These look like degrees",
    ),
    "negative mass": (
        "robot.xml",
        changed(SHANK, SHANK.replace('mass="0.5"', 'mass="-0.5"')),
        "has a negative mass or density",
    ),
    "negative mass of a body": (
        "robot.xml",
        with_shank(inertial(mass="-1")),
        "'left_shank' has the mass -1 kg",
    ),
    "impossible products of inertia": (
        "robot.xml",
        with_shank(inertial(inertia='fullinertia="1 1 1 2 0 0"')),
        "'left_shank' has a negative principal moment",
    ),
    "joints to the world": (
        "robot.xml",
        changed(FREE, '<joint name="rail" type="slide" axis="1 0 0"/>'),
        "attached to the world by 'rail'",
    ),
    "free joint besides another": (
        "robot.xml",
        changed(FREE, FREE + '<joint name="spin" axis="0 0 1"/>'),
        "free joint",
    ),
    "millimetres": (
        "robot.xml",
        changed('pos="0 0 -0.3">', 'pos="0 0 -300">'),
        "Lengths must be in metres",
    ),
    "ball joint in a leg": (
        "robot.xml",
        changed(KNEE, '<joint name="left_knee" type="ball" armature="0.01"/>'),
        "has the ball joint 'left_knee'",
    ),
    "one leg": (
        "robot.urdf",
        urdf(),
        "Found 1 foot; a walking robot needs at least two",
    ),
    "no geoms": (
        "robot.xml",
        "<mujoco><worldbody><body><freejoint/>"
        + inertial()
        + "<body pos='0 0 -0.5'><joint/>"
        + inertial()
        + "</body></body></worldbody></mujoco>",
        "No body has a geom",
    ),
    "feet without geoms": (
        "robot.xml",
        changed(TOE, "").replace(SHANK, inertial(inertia='diaginertia=".1 .1 .1"')),
        "'left_shank' has no geom, so it cannot touch the ground",
    ),
}

REPAIRED = {
    "limits in the wrong order": (knee(range="2.3 0.0"), "limits in the wrong order"),
    "limits of one position": (
        knee(range="0 0", limited="true"),
        "limited to the single position 0",
    ),
    "negative damping": (knee(damping="-1"), "negative damping"),
    "negative armature": (knee(armature="-0.1"), "negative armature"),
    "torque limits in the wrong order": (
        knee(actuatorfrcrange="9 -9", actuatorfrclimited="true"),
        "torque limits in the wrong order",
    ),
    "triangle inequality": (
        with_shank(inertial(inertia='diaginertia="1 .1 .1"')),
        "'left_shank', 'right_shank' violates the triangle inequality",
    ),
    "mass of zero": (
        with_shank(inertial(mass="0", inertia='diaginertia="0 0 0"')),
        "'left_shank', 'right_shank' can move but has no mass",
    ),
    "missing mesh": (
        changed("<worldbody>", f"<asset>{MESH}</asset><worldbody>").replace(
            SHANK, SHANK + '<geom type="mesh" mesh="shin" mass="0"/>'
        ),
        "The files of 1 mesh are missing: 'shin'",
    ),
    "feet that do not collide": (
        changed(' mass="0.1"/>', ' mass="0.1" contype="0" conaffinity="0"/>').replace(
            SHANK, SHANK.replace("/>", ' contype="0" conaffinity="0"/>')
        ),
        "no geom that collides",
    ),
    "bodies that always touch": (
        changed(
            '<geom type="box" size="0.06 0.1 0.1"',
            '<geom type="box" size="0.06 0.1 0.1" pos="0 0 0.1" mass="1"/>'
            '<geom type="sphere" size="0.8"',
        ),
        "Bodies touch in every pose",
    ),
    "torque below the weight": (
        changed('ctrlrange="-40 40"', 'ctrlrange="-0.5 0.5"'),
        "is too small to hold the stance",
    ),
    "inertia of a small ball": (
        changed(BOX, inertial("6", 'diaginertia="0.002 0.002 0.002"') + BOX),
        "The inertia of 'pelvis' is implausible: at most 0.002 kg m2",
    ),
    "base on its side": (
        changed('pos="0 0 0.65">', 'pos="0 0 0.65" euler="1.57 0 0">'),
        "'pelvis' is tilted in the file",
    ),
    "grams as kilograms": (
        changed(SHANK, SHANK.replace('mass="0.5"', 'mass="5000"')),
        "Are masses in kg",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_cannot_be_repaired_is_refused_in_one_line(case, tmp_path):
    name, text, fault = REFUSED[case]
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(AdoptError, match=fault) as raised:
        adopt(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("case", REPAIRED)
def test_a_fault_is_named_in_one_line_and_the_robot_is_adopted(case, tmp_path):
    text, fault = REPAIRED[case]
    file = tmp_path / "robot.xml"
    file.write_text(text)
    robot = adopt(file)
    (line,) = [line for line in robot.notes.faults if fault in line]
    assert "\n" not in line
    assert file.read_text() == text
    robot.spec.compile()


def test_file_without_faults_reports_none(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(point_biped())
    assert adopt(file).notes.faults == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(AdoptError, match="does not exist"):
        read_spec(tmp_path / "none.xml", Notes())


def test_a_file_that_needs_its_scene_names_the_scene(tmp_path):
    contact = '<contact><pair geom1="left_toe" geom2="floor"/></contact></mujoco>'
    robot = tmp_path / "robot.xml"
    robot.write_text(changed("</mujoco>", contact))
    (tmp_path / "other.xml").write_text("<mujoco/>")
    scene = tmp_path / "scene.xml"
    floor = '<worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody>'
    scene.write_text(f'<mujoco><include file="robot.xml"/>{floor}</mujoco>')
    with pytest.raises(AdoptError, match=r"adopt a file that includes it: scene.xml.$"):
        read_spec(robot, Notes())
    scene.unlink()
    with pytest.raises(AdoptError) as raised:
        read_spec(robot, Notes())
    assert "includes" not in str(raised.value)


def test_swapped_joint_limits_are_repaired(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(knee(range="2.3 0.0"))
    model = read_spec(file, Notes()).compile()
    assert model.joint("left_knee").range.tolist() == [0.0, 2.3]


def test_a_balanced_inertia_has_the_mean_of_its_moments(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(with_shank(inertial(inertia='diaginertia="1 .1 .1"')))
    model = read_spec(file, Notes()).compile()
    assert np.allclose(model.body("left_shank").inertia, (1.0 + 0.1 + 0.1) / 3.0)


def test_physics_options_are_removed_and_named(tmp_path):
    file = tmp_path / "robot.xml"
    option = '<option impratio="100" cone="elliptic"/><worldbody>'
    file.write_text(changed("<worldbody>", option))
    notes = Notes()
    option = read_spec(file, notes).compile().opt
    assert (option.impratio, option.cone) == (1.0, mujoco.mjtCone.mjCONE_PYRAMIDAL)
    (line,) = [line for line in notes.changes if "physics options" in line]
    assert "'impratio', 'cone'" in line


SMALL_INERTIA = {
    "of the file": inertial("6", 'diaginertia="0.002 0.002 0.002"') + BOX,
    "of a small geom": BOX.replace('mass="6"', 'mass="0"')
    + '<geom type="sphere" size="0.02" mass="6"/>',
}


@pytest.mark.parametrize("case", SMALL_INERTIA)
def test_a_far_too_small_inertia_becomes_that_of_the_bounding_box(case, tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(changed(BOX, SMALL_INERTIA[case]))
    pelvis = read_spec(file, Notes()).compile().body("pelvis")
    height = 0.22 if case == "of a small geom" else 0.2
    sides = np.array((0.12, 0.2, height)) ** 2
    assert np.allclose(pelvis.mass, 6.0)
    assert np.allclose(sorted(pelvis.inertia), sorted(0.5 * (sides.sum() - sides)))


def test_the_floor_and_its_contact_pairs_are_removed(tmp_path):
    text = changed(
        "<worldbody>", '<worldbody><geom name="floor" type="plane" size="1 1 1"/>'
    )
    pair = '<contact><pair geom1="floor" geom2="left_toe"/></contact>'
    file = tmp_path / "robot.xml"
    file.write_text(text.replace("</mujoco>", f"{pair}</mujoco>"))
    model = read_spec(file, Notes()).compile()
    assert model.npair == 0
    assert not (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE).any()
