"""The YAM arm compared with its published model and motor data."""

import math

import mujoco
import numpy as np
import pytest

from mjlab.entity import build_entity
from mjlab.tasks.robots import yam
from mjlab.tasks.robots.skin import with_skin
from tests.tasks.test_robots import body_names, inertia_tensor, joint_names, menagerie
from tests.worlds.published import facts, published_spec

__all__ = ["menagerie"]  # A fixture.

MOTORS = {
    # Design inertia, armature, natural frequency in Hz, maximum force or torque.
    "joint1": (0.123153, 0.032, 2.0, 28.0),
    "joint2": (0.277411, 0.032, 2.0, 28.0),
    "joint3": (0.232763, 0.032, 2.0, 28.0),
    "joint4": (0.030154, 0.0018, 2.0, 10.0),
    "joint5": (0.009126, 0.0018, 2.0, 10.0),
    "joint6": (0.002868, 0.0018, 2.0, 10.0),
    "left_finger": (2.781624, 0.0018 / 0.0262963**2, 1.0, 38.03),
}
GAINS = {
    # As rounded in the published table.
    "joint1": (19.45, 6.19),
    "joint2": (43.81, 13.94),
    "joint3": (36.76, 11.70),
    "joint4": (4.762, 1.516),
    "joint5": (1.441, 0.4587),
    "joint6": (0.4529, 0.1442),
    "left_finger": (109.8, 69.9),
}


@pytest.fixture(scope="module")
def theirs() -> mujoco.MjModel:
    return published_spec("yam").compile()


@pytest.fixture(scope="module")
def ours() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(yam.YAM_XML))


def test_bodies_joints_and_their_order_are_published(ours, theirs):
    assert body_names(ours) == body_names(theirs)
    assert joint_names(ours) == joint_names(theirs)
    assert (ours.body_parentid == theirs.body_parentid).all()


def test_masses_and_inertia_tensors_are_published(ours, theirs):
    np.testing.assert_allclose(ours.body_mass, theirs.body_mass, rtol=1e-6)
    assert ours.body_mass.sum() == pytest.approx(4.00615, abs=1e-5)
    for name in body_names(theirs)[1:]:
        expected = inertia_tensor(theirs, name)
        np.testing.assert_allclose(
            inertia_tensor(ours, name), expected, atol=1e-6 * np.abs(expected).max()
        )
        np.testing.assert_allclose(
            ours.body(name).ipos, theirs.body(name).ipos, atol=1e-6
        )


def test_joint_axes_types_ranges_and_the_coupling_are_published(ours, theirs):
    np.testing.assert_array_equal(ours.jnt_type, theirs.jnt_type)
    np.testing.assert_array_equal(ours.jnt_limited, theirs.jnt_limited)
    np.testing.assert_allclose(ours.jnt_axis, theirs.jnt_axis, atol=1e-9)
    np.testing.assert_allclose(ours.jnt_range, theirs.jnt_range, rtol=1e-6)
    (coupling,) = facts("yam")["equalities"]
    assert ours.neq == 1
    assert ours.eq_type[0] == mujoco.mjtEq.mjEQ_JOINT
    joined = [ours.joint(i[0]).name for i in (ours.eq_obj1id, ours.eq_obj2id)]
    assert joined == coupling["joints"]
    np.testing.assert_array_equal(ours.eq_data[0], coupling["data"])
    np.testing.assert_array_equal(ours.eq_solref[0], coupling["solref"])


def test_bodies_sites_and_cameras_match_the_published_poses_at_100_configurations(
    ours, theirs
):
    rng = np.random.default_rng(3)
    a, b = mujoco.MjData(ours), mujoco.MjData(theirs)
    for _ in range(100):
        a.qpos[:] = b.qpos[:] = rng.uniform(*theirs.jnt_range.T)
        for model, data in ((ours, a), (theirs, b)):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_camlight(model, data)
        for field in ("xpos", "xmat"):
            difference = getattr(a, field) - getattr(b, field)
            assert np.abs(difference).max() < 1e-6
        for kind, count in (("site", theirs.nsite), ("camera", theirs.ncam)):
            for number in range(count):
                name = getattr(theirs, kind)(number).name
                own, other = getattr(a, kind)(name), getattr(b, kind)(name)
                np.testing.assert_allclose(own.xpos, other.xpos, rtol=0, atol=1e-6)
                np.testing.assert_allclose(own.xmat, other.xmat, rtol=0, atol=1e-6)


def test_camera_fields_of_view_are_published(ours):
    for camera in facts("yam")["cameras"]:
        own = ours.camera(camera["name"]).id
        for field in ("fovy", "intrinsic", "resolution"):
            found = getattr(ours, f"cam_{field}")[own]
            np.testing.assert_allclose(found, camera[field], rtol=1e-6)


def test_contact_shapes_are_published(ours):
    theirs = facts("yam")["collision_geoms"]
    assert len(theirs) == 37
    for geom in theirs:
        own = ours.geom(geom["name"])
        assert mujoco.mjtGeom(own.type[0]).name == f"mjGEOM_{geom['type'].upper()}"
        assert own.group == 3
        assert ours.body(own.bodyid[0]).name == geom["body"]
        np.testing.assert_allclose(own.size, geom["size"], atol=1e-9)
        np.testing.assert_allclose(own.pos, geom["pos"], atol=1e-9)
        np.testing.assert_allclose(abs(own.quat @ geom["quat"]), 1.0, atol=1e-9)


def test_visual_geoms_do_not_collide_and_need_no_mesh(ours):
    seen = ours.geom_group == 2
    assert seen.sum() > 30
    assert not ours.geom_contype[seen].any()
    assert not ours.geom_conaffinity[seen].any()
    assert set(ours.geom_group) == {2, 3}
    assert ours.nmesh == ours.nu == ours.nkey == 0


def test_motors_have_the_published_gains_forces_and_armatures():
    model = build_entity(yam.yam_cfg(), "robot").compile()
    driven = [model.joint(model.actuator_trnid[i, 0]).name for i in range(model.nu)]
    assert driven == list(MOTORS)  # The right finger follows the left one.
    for index, name in enumerate(driven):
        inertia, armature, frequency, effort = MOTORS[name]
        omega = 2.0 * math.pi * frequency
        stiffness, damping = inertia * omega**2, 2.0 * 2.0 * inertia * omega
        assert (stiffness, damping) == pytest.approx(GAINS[name], rel=1e-3)
        np.testing.assert_allclose(
            model.actuator_biasprm[index, 1:3], [-stiffness, -damping], rtol=1e-6
        )
        np.testing.assert_allclose(
            model.actuator_forcerange[index], [-effort, effort], rtol=1e-4
        )
        np.testing.assert_allclose(model.joint(name).armature, armature, rtol=1e-5)


def test_an_action_of_one_requests_a_quarter_of_the_torque_from_a_joint_at_rest():
    for name, (inertia, _, frequency, effort) in MOTORS.items():
        stiffness = inertia * (2.0 * math.pi * frequency) ** 2
        scale = 0.25 * effort / stiffness
        assert yam.ACTION_SCALE[name] == pytest.approx(scale, rel=1e-4)


def test_only_the_gripper_collides_and_its_tips_hold_against_turning():
    model = build_entity(yam.yam_cfg(), "robot").compile()
    tips = {f"{side}f_down{k}_collision" for side in "lr" for k in range(6, 12)}
    colliding = set()
    for index in range(model.ngeom):
        geom = model.geom(index)
        assert geom.contype == 0  # Not with each other.
        if not geom.conaffinity:
            continue
        colliding.add(geom.name)
        is_tip = geom.name in tips
        assert geom.condim == (6 if is_tip else 3)
        assert geom.priority == (1 if is_tip else 0)
        assert geom.friction[0] == (1.0 if is_tip else 0.6)
        if is_tip:
            np.testing.assert_array_equal(geom.friction, [1.0, 5e-3, 5e-4])
            np.testing.assert_array_equal(geom.solref, [0.01, 1.0])
    assert tips < colliding
    assert len(colliding) == 29
    assert all(name.startswith(("link6_", "lf_", "rf_")) for name in colliding)


def test_the_home_pose_is_published_and_open_fingers_are_76_millimetres_apart():
    spec = build_entity(yam.yam_cfg(), "robot")
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    expected = [0.0, 1.047, 1.05, -0.9, 0.0, 0.0, 0.01875, -0.01875]
    np.testing.assert_allclose(data.qpos, expected)
    for joint, sign in (("left_finger", 1.0), ("right_finger", -1.0)):
        data.joint(joint).qpos[0] = sign * yam.FINGER_OPEN
    mujoco.mj_forward(model, data)
    tips = [data.geom(f"{side}f_down8_collision").xpos for side in "lr"]
    assert np.linalg.norm(tips[0] - tips[1]) == pytest.approx(0.076, abs=5e-4)
    assert data.body("arm").xpos[2] == pytest.approx(0.01)


def test_arm_with_gravity_compensation_stays_still_without_torque():
    spec = build_entity(yam.yam_cfg(gravity_compensation=True), "robot")
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    sagging = build_entity(yam.yam_cfg(), "robot").compile()
    weight = mujoco.MjData(sagging)
    mujoco.mj_resetDataKeyframe(sagging, weight, 0)
    mujoco.mj_forward(sagging, weight)
    np.testing.assert_allclose(
        data.qfrc_gravcomp[:6], weight.qfrc_bias[:6], rtol=1e-9, atol=1e-9
    )
    assert np.abs(weight.qfrc_bias[:6]).max() > 5.0


def test_the_official_meshes_change_no_physics(menagerie, monkeypatch):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    plain = mujoco.MjSpec.from_file(str(yam.YAM_XML))
    skinned = with_skin(plain, "yam").compile()
    model = plain.compile()
    donor = mujoco.MjModel.from_xml_path(str(menagerie / "i2rt_yam" / "yam.xml"))
    assert skinned.nmesh == donor.nmesh > 0
    np.testing.assert_array_equal(skinned.body_mass, model.body_mass)
    np.testing.assert_array_equal(skinned.body_inertia, model.body_inertia)
    assert (skinned.geom_conaffinity > 0).sum() == (model.geom_conaffinity > 0).sum()
