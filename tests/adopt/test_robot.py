"""Findings about a hexapod and a biped that are known by construction."""

import mujoco
import numpy as np
import pytest

from mjlab.adopt.mirror import name_rule
from mjlab.adopt.motors import standing_torques
from mjlab.adopt.notes import AdoptError
from mjlab.adopt.robot import Adopted, Overrides, adopt
from mjlab.adopt.shape import Posed
from mjlab.adopt.stance import feet_gap, moves, sole_centre
from mjlab.tasks.robots.g1 import G1_XML
from mjlab.tasks.robots.go1 import GO1_XML
from tests.adopt.models import hexapod, point_biped

GRAVITY = 9.81


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("robots")
    (folder / "hexapod.xml").write_text(hexapod())
    (folder / "point.xml").write_text(point_biped())
    return folder


@pytest.fixture(scope="module")
def six(folder) -> Adopted:
    return adopt(folder / "hexapod.xml")


@pytest.fixture(scope="module")
def two(folder) -> Adopted:
    return adopt(folder / "point.xml")


@pytest.fixture(scope="module")
def flat_footed() -> Adopted:
    return adopt(G1_XML)


def test_a_hexapod_has_six_feet_and_alternating_tripods(six):
    clocks = {leg.foot: leg.clock for leg in six.legs}
    first = {name for name, clock in clocks.items() if clock == 0}
    assert first in (
        {"lf_foot", "rm_foot", "lr_foot"},
        {"rf_foot", "lm_foot", "rr_foot"},
    )
    assert len(clocks) == 6
    assert all(leg.geoms == (f"{leg.foot[:2]}_tip",) for leg in six.legs)


def test_the_soles_are_at_one_height_below_the_base(six, two):
    for robot in (six, two):
        heights = [
            robot.height
            + robot.posed.points([robot.posed.model.geom(g).id])[:, 2].min()
            for leg in robot.legs
            for g in leg.geoms
        ]
        assert np.allclose(heights, 0.0, atol=1e-3)


def test_the_stance_is_within_the_limits_with_the_feet_below_the_centre_of_mass(
    six, two
):
    for robot in (six, two):
        for joint, position in robot.stance.items():
            low, high = robot.posed.limits(joint)
            assert low <= position <= high
        feet = np.mean([sole_centre(robot.posed, leg)[0] for leg in robot.legs])
        assert abs(robot.posed.centre_of_mass()[0] - feet) < 2e-3


def test_a_hexapod_stands_and_a_biped_on_points_falls(six, two):
    assert six.stands == 3.0
    assert two.stands < 3.0


def test_moves_of_a_leg_lift_shift_and_turn_only_its_sole(six):
    posed, height, by = six.posed, 0.2 * six.leg_length, 0.01
    before = [sole_centre(posed, leg) for leg in six.legs]
    for moved, leg in enumerate(six.legs):
        found = moves(posed, leg, height)
        assert tuple(found) == leg.joints
        x, y, _ = before[moved]
        motions = ((0, 0, height), (by, 0, 0), (0, by, 0), (-by * y, by * x, 0))
        for kind, (share, motion) in enumerate(
            zip((1.0, by, by, by), motions, strict=True)
        ):
            place(six, {joint: share * four[kind] for joint, four in found.items()})
            for other, start in enumerate(before):
                expected = motion if other == moved else (0, 0, 0)
                found_at = sole_centre(posed, six.legs[other])
                assert np.allclose(found_at - start, expected, atol=1.5e-3)
        posed.place(six.stance)


def test_a_flat_foot_stays_level_and_turns_with_the_robot(flat_footed):
    posed, leg, by = flat_footed.posed, flat_footed.legs[0], 0.02
    found = moves(posed, leg, 0.05)
    start, level = sole_centre(posed, leg), orientation(posed, leg.foot)
    for kind, (share, motion, turn) in enumerate(
        (
            (1.0, (0, 0, 0.05), 0.0),
            (by, (by, 0, 0), 0.0),
            (by, (0, by, 0), 0.0),
            (by, (-by * start[1], by * start[0], 0), by),
        )
    ):
        place(flat_footed, {j: share * four[kind] for j, four in found.items()})
        assert np.allclose(sole_centre(posed, leg) - start, motion, atol=1.5e-3)
        change = orientation(posed, leg.foot) @ level.T
        assert np.allclose(change[:, 2], (0, 0, 1), atol=5e-3)
        assert change[1, 0] == pytest.approx(turn, abs=2e-3)
        posed.place(flat_footed.stance)


def test_the_gap_between_feet_does_not_depend_on_their_order(flat_footed):
    posed, legs = flat_footed.posed, flat_footed.legs
    gap = feet_gap(posed, legs)
    left, right = sorted((sole_centre(posed, leg)[1] for leg in legs), reverse=True)
    # The outer capsules of a sole are 5.2 cm apart.
    assert gap == pytest.approx(left - right - 0.052, abs=2e-3)
    assert feet_gap(posed, legs[::-1]) == gap


def test_one_leg_pushes_towards_the_centre_of_mass(two):
    """Its torques are the moments of this force, besides the weight of the leg."""
    posed, model = two.posed, two.posed.model
    (leg,) = [leg for leg in two.legs if leg.side > 0]
    torques = standing_torques(posed, [leg])
    sole = sole_centre(posed, leg)
    up = posed.centre_of_mass() - sole
    force = two.mass * GRAVITY * up / up[2]
    for joint in leg.joints:
        moment = posed.axis(joint) @ np.cross(sole - posed.anchor(joint), force)
        weight = posed.data.qfrc_bias[model.joint(joint).dofadr[0]]
        assert torques[joint] == pytest.approx(weight - moment)
    # The stance leg lifts the other hip, and extends its knee.
    assert torques["left_hip_roll"] > 1.0
    assert torques["left_knee"] < -1.0


def place(robot: Adopted, change: dict[str, float]) -> None:
    """Add a change to the stance of a robot."""
    robot.posed.place({j: q + change.get(j, 0.0) for j, q in robot.stance.items()})


def orientation(posed: Posed, body: str) -> np.ndarray:
    return posed.data.xmat[posed.model.body(body).id].reshape(3, 3).copy()


def test_the_knees_of_a_biped_point_forward(two):
    hip, knee = two.posed.anchor("left_hip_pitch"), two.posed.anchor("left_knee")
    assert knee[0] > hip[0] + 0.02
    assert two.stance["left_knee"] == pytest.approx(two.stance["right_knee"], abs=1e-6)
    assert 0.3 < two.stance["left_knee"] < 1.2


def test_rolls_and_yaws_change_sign_in_the_mirror(six, two):
    assert two.mirror is not None and six.mirror is not None
    signs = dict(zip(two.acted, two.mirror.joint_signs(two.acted), strict=True))
    assert {joint for joint, sign in signs.items() if sign < 0} == {
        "left_hip_roll",
        "right_hip_roll",
    }
    # In the file, the axes of femurs are mirrored, and the axes of coxas are not.
    signs = dict(zip(six.acted, six.mirror.joint_signs(six.acted), strict=True))
    flipped = {joint for joint, sign in signs.items() if sign < 0}
    assert flipped == {joint for joint in six.acted if joint.endswith("_coxa")}
    assert six.mirror.other("lf_coxa") == "rf_coxa"


def test_the_mirrored_stance_is_the_stance(six, two):
    for robot in (six, two):
        assert robot.mirror is not None
        joints = list(robot.acted)
        images = robot.mirror.permutation(joints)
        signs = robot.mirror.joint_signs(joints)
        for joint, image, sign in zip(joints, images, signs, strict=True):
            other = robot.stance[joints[image]]
            assert robot.stance[joint] == pytest.approx(sign * other, abs=1e-3)


def test_torque_limits_are_the_control_ranges_of_motors(six, two):
    assert {motor.effort_limit for motor in six.motors.values()} == {6.0}
    assert {motor.effort_limit for motor in two.motors.values()} == {40.0}


def test_the_effective_inertia_of_a_knee_is_that_of_its_shank(two):
    """Compared with the parallel-axis theorem, without the ends of the capsule."""
    rod, toe, armature = 0.5 * 0.28**2 / 3.0, 0.1 * 0.3**2, 0.01
    found = two.motors["left_knee"].loop_inertia
    assert found == pytest.approx(rod + toe + armature, rel=0.03)


def test_the_written_model_has_the_sensors_of_the_walking_tasks(two):
    model = two.spec.compile()
    names = {model.sensor(i).name for i in range(model.nsensor)}
    assert names == {"imu_ang_vel", "imu_lin_vel", "imu_upvector", "root_angmom"}
    assert model.nu == 0
    assert model.site("left_shank_sole").bodyid == model.body("left_shank").id


def test_links_without_a_visible_geom_get_capsules_without_mass_and_contact(
    folder, two
):
    """The thighs keep their geom in a group that videos do not show, with its mass."""
    text = (folder / "point.xml").read_text()
    length = 'size="0.03" mass="1"'
    hidden = text.replace(length, f'{length} group="3"')
    assert hidden.count("group") == 2
    (folder / "hidden.xml").write_text(hidden)
    robot = adopt(folder / "hidden.xml")
    model, plain = robot.spec.compile(), two.spec.compile()
    added = [i for i in range(model.ngeom) if model.geom_group[i] == 2]
    bodies = {model.body(int(model.geom_bodyid[i])).name for i in added}
    assert bodies == {"left_thigh", "right_thigh"}
    assert model.ngeom == plain.ngeom + 2
    assert not model.geom_contype[added].any()
    assert not model.geom_conaffinity[added].any()
    assert np.array_equal(model.body_mass, plain.body_mass)
    assert np.array_equal(model.body_inertia, plain.body_inertia)
    assert any("left_thigh" in line for line in robot.notes.changes)


def test_an_armature_too_small_for_the_motor_is_raised(folder):
    """Torque limits are 40 N m, so the least accepted armature is 0.004 kg m2."""
    text = (folder / "point.xml").read_text()
    knee = 'range="0.0 2.3" armature="0.01"'
    assert text.count(knee) == 2
    for armature, wanted in ((0.0041, 0.0041), (0.0039, 0.008)):
        file = folder / "light.xml"
        file.write_text(text.replace(knee, f'range="0.0 2.3" armature="{armature}"'))
        robot = adopt(file)
        model = robot.spec.compile()
        found = [model.joint(f"{side}_knee").armature for side in ("left", "right")]
        assert np.allclose(found, wanted)
        assert np.allclose(model.joint("left_hip_roll").armature, 0.01)
        raised = any("'left_knee'" in line for line in robot.notes.changes)
        assert raised == (armature != wanted)


def test_very_soft_soles_get_the_default_impedance(folder):
    text = (folder / "point.xml").read_text()
    soft = text.replace('size="0.03"\n', 'size="0.03" solimp="0.015 1 0.03"\n')
    assert soft.count("solimp") == 2
    (folder / "soft.xml").write_text(soft)
    robot = adopt(folder / "soft.xml")
    model = robot.spec.compile()
    for side in ("left", "right"):
        assert np.allclose(model.geom(f"{side}_toe").solimp, (0.9, 0.95, 0.001, 0.5, 2))
    assert any("'left_toe', 'right_toe'" in line for line in robot.notes.changes)


def test_the_stance_of_our_go1_is_found_without_its_names(tmp_path):
    """Our own file has no torque limits and no armature; its stance is a crouch."""
    robot = adopt(GO1_XML)
    assert {leg.foot for leg in robot.legs} == {
        f"{leg}_calf" for leg in ("FR", "FL", "RR", "RL")
    }
    assert robot.stands == 3.0
    assert 0.22 < robot.height < 0.35
    assert any("No plausible torque limit" in line for line in robot.notes.findings)
    assert robot.mirror is not None
    assert robot.mirror.other("FL_hip_joint") == "FR_hip_joint"
    assert robot.mirror.joint_signs(["FL_hip_joint", "FL_calf_joint"]) == [-1.0, 1.0]


def test_options_replace_findings(folder):
    given = Overrides(
        stance={"left_knee": 1.0, "right_knee": 1.0},
        effort={"left_knee": 15.0},
        mirror=False,
    )
    robot = adopt(folder / "point.xml", "Rex", given)
    assert robot.name == "Rex"
    assert robot.stance["left_knee"] == 1.0
    assert robot.motors["left_knee"].effort_limit == 15.0
    assert robot.mirror is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Overrides(feet=("left_shin", "right_shin")), "--feet: 'left_shin'"),
        (Overrides(torso="left_shank"), "--torso: 'left_shank'"),
        (Overrides(stance={"left_nee": 0.1}), "no joint 'left_nee'.*'left_knee'"),
        (Overrides(effort={"left_nee": 0.1}), "--effort: .*'left_knee'"),
    ],
)
def test_an_option_with_an_unknown_name_is_refused(folder, given, said):
    with pytest.raises(AdoptError, match=said):
        adopt(folder / "point.xml", overrides=given)


def test_side_names_become_the_shortest_matching_rule():
    pairs = [("L_rail_1", "R_rail_1"), ("Left_Hip", "Right_Hip")]
    assert name_rule(pairs) == (("Left", "Right"), ("L", "R"))
    assert name_rule([("hip_1", "hip_2")]) == (("hip_1", "hip_2"),)
    # "l" alone would turn the middle joint "lumbar" into "rumbar".
    rule = name_rule([("l_hip", "r_hip")], [("lumbar", "lumbar")])
    assert rule == (("l_hip", "r_hip"),)


def test_robot_with_one_heavy_arm_is_reported_as_asymmetric(folder):
    spec = mujoco.MjSpec.from_string(point_biped())
    spec.geom("left_toe").mass = 0.5
    file = folder / "heavy.xml"
    spec.compile()
    file.write_text(spec.to_xml())
    notes = adopt(file).notes
    assert any(
        "masses differ" in line and "left_knee" in line for line in notes.findings
    )
