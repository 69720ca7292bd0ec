"""The shipped robots compared with published models and motor data."""

import hashlib
import math
import re
import sys
import tarfile
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.entity import build_entity
from mjlab.names import UnknownNameError, resolve_values
from mjlab.tasks.robots import cartpole, g1, go1
from mjlab.tasks.robots.robot import Motor, reflected_inertia
from mjlab.tasks.robots.skin import load_with_skin, with_skin
from tests.worlds.published import (
    ARCHIVE,
    FOLDERS,
    facts,
    published_spec,
    write_menagerie,
)

SLOW = pytest.mark.slow
NEEDS = pytest.mark.skipif(
    not ARCHIVE.is_file(), reason="The archive of published robots is not here."
)

XML = {"g1": g1.G1_XML, "go1": go1.GO1_XML}
ROBOTS = pytest.mark.parametrize("robot", ["g1", "go1"])
RELATIVE = 1e-6


@pytest.fixture(scope="module")
def reference() -> dict[str, mujoco.MjModel]:
    return {name: published_spec(name).compile() for name in XML}


@pytest.fixture(
    scope="module", params=["stand-ins", pytest.param("archive", marks=[SLOW, NEEDS])]
)
def menagerie(request, tmp_path_factory) -> Path:
    """Folder like a Menagerie checkout, with stand-ins for meshes or real ones."""
    folder = tmp_path_factory.mktemp("menagerie")
    if request.param == "stand-ins":
        write_menagerie(folder)
        return folder
    return unpacked(folder)


@pytest.fixture(scope="module")
def donors(menagerie) -> dict[str, mujoco.MjModel]:
    return {name: compiled(menagerie, name) for name in XML}


@pytest.fixture(scope="module")
def ours() -> dict[str, mujoco.MjModel]:
    return {name: mujoco.MjModel.from_xml_path(str(path)) for name, path in XML.items()}


def body_names(model: mujoco.MjModel) -> list[str]:
    return [model.body(i).name for i in range(model.nbody)]


def joint_names(model: mujoco.MjModel) -> list[str]:
    return [model.joint(i).name for i in range(model.njnt)]


def inertia_tensor(model: mujoco.MjModel, body: str) -> np.ndarray:
    """Return the inertia about the centre of mass, in the axes of the body frame."""
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.body(body).iquat)
    rotation = rotation.reshape(3, 3)
    return rotation @ np.diag(model.body(body).inertia) @ rotation.T


# ---------------------------------------------------------------- published bodies


@ROBOTS
def test_bodies_and_joints_are_the_published_ones_in_the_same_order(
    robot, ours, reference
):
    assert body_names(ours[robot]) == body_names(reference[robot])
    assert joint_names(ours[robot]) == joint_names(reference[robot])
    assert (ours[robot].body_parentid == reference[robot].body_parentid).all()


@ROBOTS
def test_total_and_per_body_mass_are_published(robot, ours, reference):
    np.testing.assert_allclose(
        ours[robot].body_mass, reference[robot].body_mass, rtol=RELATIVE
    )
    total = {"g1": 33.34, "go1": 12.74}[robot]
    assert ours[robot].body_mass.sum() == pytest.approx(total, abs=0.005)


@ROBOTS
def test_inertia_tensors_and_centres_of_mass_are_published(robot, ours, reference):
    for name in body_names(reference[robot])[1:]:
        expected = inertia_tensor(reference[robot], name)
        difference = np.abs(inertia_tensor(ours[robot], name) - expected).max()
        assert difference <= RELATIVE * np.abs(expected).max(), name
        np.testing.assert_allclose(
            ours[robot].body(name).ipos, reference[robot].body(name).ipos, atol=1e-6
        )


@ROBOTS
def test_joint_axes_types_and_ranges_are_published(robot, ours, reference):
    for name in joint_names(reference[robot]):
        a, b = ours[robot].joint(name), reference[robot].joint(name)
        assert a.type == b.type
        assert ours[robot].jnt_limited[a.id] == reference[robot].jnt_limited[b.id]
        np.testing.assert_allclose(a.axis, b.axis, atol=1e-9)
        np.testing.assert_allclose(a.range, b.range, rtol=RELATIVE)


@ROBOTS
def test_bodies_and_sites_match_the_published_poses_at_random_configurations(
    robot, ours, reference
):
    rng = np.random.default_rng(7)
    a, b = mujoco.MjData(ours[robot]), mujoco.MjData(reference[robot])
    low, high = reference[robot].jnt_range[1:].T
    sites = [reference[robot].site(i).name for i in range(reference[robot].nsite)]
    for _ in range(100):
        quat = rng.normal(size=4)
        base = [*rng.uniform(-1, 1, 3), *(quat / np.linalg.norm(quat))]
        a.qpos[:] = b.qpos[:] = [*base, *rng.uniform(low, high)]
        mujoco.mj_kinematics(ours[robot], a)
        mujoco.mj_kinematics(reference[robot], b)
        np.testing.assert_allclose(a.xpos, b.xpos, rtol=0, atol=1e-6)
        np.testing.assert_allclose(a.xmat, b.xmat, rtol=0, atol=1e-6)
        for name in sites:
            np.testing.assert_allclose(
                a.site(name).xpos, b.site(name).xpos, rtol=0, atol=1e-6
            )
            np.testing.assert_allclose(
                a.site(name).xmat, b.site(name).xmat, rtol=0, atol=1e-6
            )


@ROBOTS
def test_collision_shapes_and_excluded_pairs_are_published(robot, ours):
    theirs = facts(robot)["collision_geoms"]
    assert len(theirs) == {"g1": 33, "go1": 30}[robot]
    for geom in theirs:
        own = ours[robot].geom(geom["name"])
        assert mujoco.mjtGeom(own.type[0]).name == f"mjGEOM_{geom['type'].upper()}"
        assert own.group == 3
        assert ours[robot].body(own.bodyid[0]).name == geom["body"]
        np.testing.assert_allclose(own.size, geom["size"], atol=1e-6)
        np.testing.assert_allclose(own.pos, geom["pos"], atol=1e-6)
        np.testing.assert_allclose(abs(own.quat @ geom["quat"]), 1.0, atol=1e-9)
    pairs = [(key >> 16, key & 0xFFFF) for key in ours[robot].exclude_signature]
    named = {frozenset(ours[robot].body(i).name for i in pair) for pair in pairs}
    assert named == set(map(frozenset, facts(robot)["excluded_pairs"]))


@ROBOTS
def test_sensors_are_published(robot, ours):
    model = ours[robot]
    theirs = facts(robot)["sensors"]
    assert [model.sensor(i).name for i in range(model.nsensor)] == [
        sensor["name"] for sensor in theirs
    ]
    for i, sensor in enumerate(theirs):
        kind = mujoco.mjtSensor(model.sensor_type[i]).name
        assert kind == f"mjSENS_{sensor['type'].upper()}"
        assert model.sensor_dim[i] == sensor["dim"]
        assert (
            named(model, model.sensor_objtype[i], model.sensor_objid[i])
            == (sensor["object"])
        )
        assert (
            named(model, model.sensor_reftype[i], model.sensor_refid[i])
            == (sensor["reference"])
        )


def named(model: mujoco.MjModel, kind: int, number: int) -> list[str | None]:
    """Return kind and name of the object that a sensor refers to."""
    if number < 0:
        return [None, None]
    return [mujoco.mju_type2Str(kind), mujoco.mj_id2name(model, kind, number)]


@ROBOTS
def test_visual_geoms_do_not_collide_and_are_invisible_to_rays(robot, ours):
    model = ours[robot]
    seen = model.geom_group == 2
    assert seen.sum() > 20
    assert not model.geom_contype[seen].any()
    assert not model.geom_conaffinity[seen].any()
    assert set(model.geom_group) == {2, 3}  # Ray casters use group 0.
    assert model.nmesh == model.nu == model.nkey == 0


# ------------------------------------------------------------------ motors and gains

OMEGA = 2.0 * math.pi * 10.0


def g1_motor(joint: str) -> tuple[float, float]:
    """Armature and effort limit of a G1 joint, from the published motor data."""
    m5020 = 0.139e-4 * ((1 + 46 / 18) * (1 + 56 / 16)) ** 2
    m5020 += 0.017e-4 * (1 + 56 / 16) ** 2 + 0.169e-4
    m14 = 0.489e-4 * (4.5 * (1 + 48 / 22)) ** 2 + 0.098e-4 * (1 + 48 / 22) ** 2
    m14 += 0.533e-4
    m22 = 0.489e-4 * (4.5 * 5.0) ** 2 + 0.109e-4 * 5.0**2 + 0.738e-4
    m4010 = 0.068e-4 * (5.0 * 5.0) ** 2
    table = {
        ("elbow", "shoulder", "wrist_roll"): (m5020, 25.0),
        ("hip_pitch", "hip_yaw", "waist_yaw"): (m14, 88.0),
        ("hip_roll", "knee"): (m22, 139.0),
        ("wrist_pitch", "wrist_yaw"): (m4010, 5.0),
        ("waist_pitch", "waist_roll", "ankle"): (2 * m5020, 2 * 25.0),
    }
    found = [row for words, row in table.items() if any(w in joint for w in words)]
    assert len(found) == 1
    return found[0]


def go1_motor(joint: str) -> tuple[float, float]:
    """Armature and effort limit of a Go1 joint, from the published motor data."""
    rotor = 0.000111842
    return (rotor * 9**2, 35.55) if "calf" in joint else (rotor * 6**2, 23.7)


MOTOR_OF = {"g1": g1_motor, "go1": go1_motor}
ENTITY_CFG = {"g1": g1.g1_cfg, "go1": go1.go1_cfg}


def test_published_formulas_give_the_published_table():
    # (armature, kp, kd, effort, action scale), as rounded in the published table.
    rows = {
        "left_elbow_joint": (0.003609725, 14.2506, 0.907223, 25, 0.438577),
        "left_hip_pitch_joint": (0.01017752, 40.1792, 2.55789, 88, 0.547546),
        "left_knee_joint": (0.025101925, 99.0984, 6.30880, 139, 0.350661),
        "left_wrist_yaw_joint": (0.00425, 16.7783, 1.06814, 5, 0.0745009),
        "left_ankle_roll_joint": (0.00721945, 28.5012, 1.81445, 50, 0.438577),
        "FR_hip_joint": (0.004026312, 15.8952, 1.01192, 23.7, 0.372753),
        "FR_calf_joint": (0.009059202, 35.7643, 2.27683, 35.55, 0.248502),
    }
    for joint, row in rows.items():
        armature, effort = (go1_motor if joint.startswith("F") else g1_motor)(joint)
        stiffness = armature * OMEGA**2
        computed = (
            armature,
            stiffness,
            2 * 2 * armature * OMEGA,
            effort,
            0.25 * effort / stiffness,
        )
        assert computed == pytest.approx(row, rel=5e-6)


@ROBOTS
def test_every_joint_is_driven_by_one_actuator_with_published_constants(robot, ours):
    groups = ENTITY_CFG[robot]().articulation.actuators
    scales = {"g1": g1.ACTION_SCALE, "go1": go1.ACTION_SCALE}[robot]
    for joint in joint_names(ours[robot])[1:]:
        armature, effort = MOTOR_OF[robot](joint)
        stiffness = armature * OMEGA**2
        driving = [
            group
            for group in groups
            if any(re.fullmatch(pattern, joint) for pattern in group.target_names_expr)
        ]
        assert len(driving) == 1, joint
        assert driving[0].armature == pytest.approx(armature, rel=RELATIVE)
        assert driving[0].stiffness == pytest.approx(stiffness, rel=RELATIVE)
        assert driving[0].damping == pytest.approx(
            2 * 2 * armature * OMEGA, rel=RELATIVE
        )
        assert driving[0].effort_limit == pytest.approx(effort, rel=RELATIVE)
        scale = [v for pattern, v in scales.items() if re.fullmatch(pattern, joint)]
        assert scale == pytest.approx([0.25 * effort / stiffness], rel=RELATIVE)


@ROBOTS
def test_the_built_robot_has_published_constants_and_starts_in_its_keyframe(robot):
    cfg = ENTITY_CFG[robot]()
    model = build_entity(cfg, robot).compile()
    joints = joint_names(model)[1:]
    assert model.nu == len(joints)
    for i in range(model.nu):
        joint = model.joint(model.actuator_trnid[i, 0])
        armature, effort = MOTOR_OF[robot](joint.name)
        kp, kd = armature * OMEGA**2, 2 * 2 * armature * OMEGA
        np.testing.assert_allclose(joint.armature, armature, rtol=RELATIVE)
        np.testing.assert_allclose(model.actuator_gainprm[i, 0], kp, rtol=RELATIVE)
        np.testing.assert_allclose(
            model.actuator_biasprm[i, :3], [0.0, -kp, -kd], rtol=RELATIVE
        )
        np.testing.assert_allclose(
            model.actuator_forcerange[i], [-effort, effort], rtol=RELATIVE
        )
    np.testing.assert_allclose(model.key_qpos[0, :3], cfg.init_state.pos)
    np.testing.assert_allclose(
        model.key_qpos[0, 7:], resolved(cfg.init_state.joint_pos, joints)
    )


def test_reflected_inertia_refuses_stages_without_a_ratio():
    with pytest.raises(ValueError, match="the numbers have to be equal"):
        reflected_inertia((1e-5, 1e-5), (1.0, 2.0, 3.0))


def test_two_motors_side_by_side_have_the_action_scale_of_one():
    one = Motor(armature=0.004, effort_limit=25.0)
    assert one.doubled().action_scale == pytest.approx(one.action_scale, rel=1e-12)
    assert one.doubled().stiffness == pytest.approx(2 * one.stiffness, rel=1e-12)


# ---------------------------------------------------------------- poses and contacts

G1_KEYFRAMES = {
    "home": (
        0.783675,
        {"hip_pitch": -0.1, "knee": 0.3, "ankle_pitch": -0.2, "elbow": 1.28},
    ),
    "knees_bent": (
        0.76,
        {"hip_pitch": -0.312, "knee": 0.669, "ankle_pitch": -0.363, "elbow": 0.6},
    ),
}


def g1_keyframe(name: str, joint: str) -> float:
    """Joint value of a published G1 keyframe."""
    if "shoulder_roll" in joint:
        return 0.2 if joint.startswith("left") else -0.2
    if "shoulder_pitch" in joint:
        return 0.2
    values = G1_KEYFRAMES[name][1]
    return next((value for word, value in values.items() if word in joint), 0.0)


def resolved(patterns, joints: list[str]) -> list[float]:
    values = resolve_values(patterns, joints, what="joint")
    return [0.0 if value is None else value for value in values]


@pytest.mark.parametrize("name", ["home", "knees_bent"])
def test_g1_keyframes_are_published(name, ours):
    pose = {"home": g1.home, "knees_bent": g1.knees_bent}[name]()
    joints = joint_names(ours["g1"])[1:]
    assert pose.pos == (0.0, 0.0, G1_KEYFRAMES[name][0])
    assert resolved(pose.joint_pos, joints) == [g1_keyframe(name, j) for j in joints]


def test_g1_starts_with_bent_knees():
    assert g1.g1_cfg().init_state == g1.knees_bent()


def test_go1_keyframe_is_published(ours):
    joints = joint_names(ours["go1"])[1:]
    expected = []
    for joint in joints:
        hip = 0.1 if joint[1] == "R" else -0.1
        expected.append(0.9 if "thigh" in joint else -1.8 if "calf" in joint else hip)
    pose = go1.go1_cfg().init_state
    assert pose.pos == (0.0, 0.0, 0.278)
    assert resolved(pose.joint_pos, joints) == expected


@ROBOTS
def test_initial_pose_puts_the_feet_at_ground_height_within_two_centimetres(
    robot, ours
):
    model, data = ours[robot], mujoco.MjData(ours[robot])
    pose = ENTITY_CFG[robot]().init_state
    data.qpos[2] = pose.pos[2]
    data.qpos[7:] = resolved(pose.joint_pos, joint_names(model)[1:])
    mujoco.mj_kinematics(model, data)
    record = {"g1": g1.G1, "go1": go1.GO1}[robot]
    radius = {"g1": 0.0, "go1": 0.023}[robot]
    for site in record.foot_sites:
        assert abs(data.site(site).xpos[2] - radius) < 0.02


@pytest.mark.parametrize("self_collision", [True, False])
def test_g1_feet_have_friction_and_other_links_only_push(self_collision, ours):
    spec = mujoco.MjSpec.from_file(str(g1.G1_XML))
    g1.full_collision(self_collision=self_collision).edit(spec)
    model = spec.compile()
    for i in range(model.ngeom):
        geom = model.geom(i)
        if not geom.name:
            assert (geom.contype, geom.conaffinity) == (0, 0)
            continue
        foot = "_foot" in geom.name
        assert geom.contype == (1 if self_collision else 0)
        assert geom.conaffinity == 1
        assert geom.condim == (3 if foot else 1)
        assert geom.priority == (1 if foot else 0)
        assert geom.friction[0] == (0.6 if foot else 1.0)


def test_go1_feet_have_rolling_friction_and_all_contacts_are_stiff():
    spec = mujoco.MjSpec.from_file(str(go1.GO1_XML))
    go1.full_collision().edit(spec)
    model = spec.compile()
    colliding = [model.geom(i) for i in range(model.ngeom) if model.geom_contype[i]]
    assert len(colliding) == 30
    for geom in colliding:
        foot = geom.name.endswith("_foot_collision")
        assert geom.condim == (6 if foot else 1)
        assert geom.priority == (1 if foot else 0)
        np.testing.assert_array_equal(geom.solref, [0.01, 1.0])
        if foot:
            np.testing.assert_array_equal(geom.friction, [1.0, 5e-3, 5e-4])


@pytest.mark.parametrize("record", [g1.G1, go1.GO1], ids=["g1", "go1"])
def test_names_in_the_robot_record_exist(record, ours):
    model = ours[record.name.lower()]
    bodies, joints = body_names(model), joint_names(model)[1:]
    sites = [model.site(i).name for i in range(model.nsite)]
    geoms = [model.geom(i).name for i in range(model.ngeom)]
    assert record.base_body == bodies[1]
    assert {record.torso_body, *record.foot_bodies, *record.tracking_bodies} <= {
        *bodies
    }
    assert {*record.foot_sites} <= {*sites}
    assert len(record.foot_sites) == len(record.foot_bodies) == len(record.foot_geoms)
    for pattern, body, site in zip(
        record.foot_geoms, record.foot_bodies, record.foot_sites, strict=True
    ):
        matched = [name for name in geoms if re.fullmatch(pattern, name)]
        assert matched
        owners = {model.body(model.geom(name).bodyid[0]).name for name in matched}
        assert owners == {body}
        assert model.body(model.site(site).bodyid[0]).name == body
    for table in (
        record.action_scale,
        record.posture_std_standing,
        record.posture_std_walking,
        record.posture_std_running,
    ):
        for joint in joints:
            assert sum(bool(re.fullmatch(p, joint)) for p in table) == 1, joint


@ROBOTS
def test_each_config_is_fresh(robot):
    first, second = ENTITY_CFG[robot](), ENTITY_CFG[robot]()
    first.init_state.joint_pos[".*"] = 9.0
    assert ".*" not in second.init_state.joint_pos


# ---------------------------------------------------------------- cartpole


def test_cartpole_accelerates_by_the_textbook_formula():
    model = mujoco.MjModel.from_xml_path(str(cartpole.CARTPOLE_XML))
    model.dof_damping[:] = 0.0
    data = mujoco.MjData(model)
    angle, rate, force = 0.3, 0.7, 4.0
    data.joint(cartpole.POLE_JOINT).qpos = angle
    data.joint(cartpole.POLE_JOINT).qvel = rate
    data.ctrl[0] = force / 10.0  # The motor's gear is 10.
    mujoco.mj_forward(model, data)
    # A capsule of uniform density: a cylinder of length 1 and two half spheres.
    radius, length, cart, pole, gravity = 0.045, 1.0, 1.0, 0.1, 9.81
    cylinder = math.pi * radius**2 * length
    ball = 4.0 / 3.0 * math.pi * radius**3
    density = pole / (cylinder + ball)
    inertia = density * cylinder * (3 * radius**2 + length**2) / 12
    inertia += (
        density * ball * (0.4 * radius**2 + length**2 / 4 + 0.375 * radius * length)
    )
    inertia += pole * (length / 2) ** 2
    lever = pole * length / 2
    mass = np.array(
        [[cart + pole, lever * math.cos(angle)], [lever * math.cos(angle), inertia]]
    )
    right = [
        force + lever * rate**2 * math.sin(angle),
        lever * gravity * math.sin(angle),
    ]
    expected = np.linalg.solve(mass, right)
    np.testing.assert_allclose(data.qacc, expected, rtol=1e-5)


def test_cartpole_has_the_published_rail_damping_and_motor():
    model = mujoco.MjModel.from_xml_path(str(cartpole.CARTPOLE_XML))
    np.testing.assert_array_equal(model.joint("slider").range, [-1.8, 1.8])
    assert model.joint("slider").damping == 5e-4
    assert model.joint("hinge_1").damping == 2e-6
    assert not model.jnt_limited[model.joint("hinge_1").id]
    np.testing.assert_array_equal(model.actuator_ctrlrange, [[-1.0, 1.0]])
    assert model.body_mass.sum() == pytest.approx(1.1)
    assert not model.geom_contype.any()


def test_the_built_cartpole_is_driven_by_the_motor_of_its_file():
    model = build_entity(cartpole.cartpole_cfg(), "cartpole").compile()
    assert model.nu == 1
    assert model.actuator_gear[0, 0] == 10.0
    assert model.joint(model.actuator_trnid[0, 0]).name == cartpole.SLIDER_JOINT


# ---------------------------------------------------------------- skins


def trajectory(spec: mujoco.MjSpec, robot: str) -> np.ndarray:
    """A hundred steps from a fall onto the ground, with motors off."""
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    pose = ENTITY_CFG[robot]().init_state
    data.qpos[2] = pose.pos[2]
    data.qpos[7:] = resolved(pose.joint_pos, joint_names(model)[1:])
    data.qvel[:] = np.random.default_rng(3).normal(size=model.nv)
    data.qvel[2] = -1.0
    states = []
    for _ in range(100):
        mujoco.mj_step(model, data)
        states.append([*data.qpos, *data.qvel, *data.sensordata])
    assert data.ncon > 0
    return np.array(states)


@ROBOTS
def test_a_skin_changes_the_looks_and_not_the_physics(
    robot, menagerie, donors, monkeypatch
):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    plain = mujoco.MjSpec.from_file(str(XML[robot]))
    skinned = with_skin(plain, robot)
    a, b = plain.copy().compile(), skinned.copy().compile()
    assert a.nmesh == 0
    assert b.nmesh == donors[robot].nmesh
    for field in ("body_mass", "body_inertia", "body_ipos", "body_iquat", "body_pos"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    np.testing.assert_array_equal(a.body_invweight0, b.body_invweight0)
    assert (b.geom_group == 0).sum() == 0
    np.testing.assert_array_equal(trajectory(plain, robot), trajectory(skinned, robot))


@ROBOTS
def test_a_skin_sits_where_the_published_meshes_sit(
    robot, menagerie, donors, monkeypatch
):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    model = load_with_skin(XML[robot], robot).compile()
    meshes = model.geom_type == mujoco.mjtGeom.mjGEOM_MESH
    theirs = donors[robot].geom_type == mujoco.mjtGeom.mjGEOM_MESH
    assert meshes.sum() == theirs.sum()

    def corners(model: mujoco.MjModel, chosen: np.ndarray) -> np.ndarray:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        boxes = []
        for geom in np.flatnonzero(chosen):
            mesh = model.geom_dataid[geom]
            start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            vertices = model.mesh_vert[start : start + count]
            rotation = data.geom_xmat[geom].reshape(3, 3)
            world = vertices @ rotation.T + data.geom_xpos[geom]
            boxes.append([*world.min(0), *world.max(0)])
        return np.array(boxes)

    np.testing.assert_allclose(
        corners(model, meshes), corners(donors[robot], theirs), atol=1e-5
    )


@ROBOTS
def test_a_config_with_a_skin_builds_the_same_robot(
    robot, menagerie, donors, monkeypatch
):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    plain = build_entity(ENTITY_CFG[robot](), robot).compile()
    skinned = build_entity(ENTITY_CFG[robot](skin=True), robot).compile()
    assert (plain.nmesh, skinned.nmesh) == (0, donors[robot].nmesh)
    for field in ("body_mass", "body_inertia", "dof_armature", "actuator_gainprm"):
        np.testing.assert_array_equal(getattr(plain, field), getattr(skinned, field))


def test_a_skin_of_another_hardware_revision_is_refused(menagerie, monkeypatch):
    monkeypatch.setenv("MENAGERIE_ROOT", str(menagerie))
    spec = mujoco.MjSpec.from_file(str(g1.G1_XML))
    spec.body("left_knee_link").pos[2] -= 0.01
    with pytest.raises(ValueError, match=r"g1\.xml: body 'left_knee_link' is at"):
        with_skin(spec, "g1")


def test_a_missing_skin_suggests_the_installation(tmp_path, monkeypatch):
    spec = mujoco.MjSpec.from_file(str(go1.GO1_XML))
    with pytest.raises(UnknownNameError, match=r"no skin for robot 'go2'.*'go1'"):
        with_skin(spec, "go2")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="has no folder 'unitree_go1'"):
        with_skin(spec, "go1")


def test_without_meshes_at_hand_the_pip_line_is_named(monkeypatch):
    monkeypatch.delenv("MENAGERIE_ROOT", raising=False)
    monkeypatch.setitem(sys.modules, "mujoco_menagerie", None)
    spec = mujoco.MjSpec.from_file(str(go1.GO1_XML))
    with pytest.raises(ModuleNotFoundError, match=r"mjlab-fused\[menagerie\]"):
        with_skin(spec, "go1")


# ---------------------------------------------------------------- the published files


def unpacked(folder: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "robots"


def compiled(folder: Path, robot: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(folder / FOLDERS[robot] / f"{robot}.xml"))


@NEEDS
@pytest.mark.slow
@pytest.mark.parametrize("robot", FOLDERS)
def test_the_facts_are_those_of_the_published_file(robot, tmp_path):
    folder, known = unpacked(tmp_path), facts(robot)
    file = folder / FOLDERS[robot] / f"{robot}.xml"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == known["source"]["sha256"]
    theirs, made = compiled(folder, robot), published_spec(robot).compile()
    assert body_names(made) == body_names(theirs)
    assert joint_names(made) == joint_names(theirs)
    for field in (
        *("body_parentid", "body_pos", "body_quat", "body_mass", "body_ipos"),
        *("body_iquat", "body_inertia", "jnt_type", "jnt_bodyid", "jnt_axis"),
        *("jnt_pos", "jnt_limited", "jnt_range", "site_bodyid", "site_pos"),
        *("site_quat", "exclude_signature"),
    ):
        np.testing.assert_allclose(
            getattr(made, field), getattr(theirs, field), atol=1e-9, err_msg=field
        )
    for geom in known["collision_geoms"]:
        own, other = made.geom(geom["name"]), theirs.geom(geom["name"])
        for field in ("type", "bodyid", "size", "pos", "quat"):
            np.testing.assert_allclose(
                getattr(own, field), getattr(other, field), atol=1e-9
            )
