"""Building an entity's spec, compared with MuJoCo's compiler and dynamics."""

import copy
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import (
    ArticulationCfg,
    EntityCfg,
    InitialStateCfg,
    InitialStateError,
    RootError,
    build_entity,
)
from mjlab.spec import CollisionCfg, GeomCfg, LightCfg, MissingAssetError

ARM = """
<mujoco model="arm">
  <worldbody>
    <body name="base" pos="0 0 .1">
      <geom name="foot" type="box" size=".1 .1 .05" friction=".4" condim="4"/>
      <geom type="sphere" size=".12" margin=".003" gap=".001" solmix="3"/>
      <body name="flange" pos="0 0 .1"><geom name="rim" size=".1" priority="2"
        solref=".03 .8" solimp=".8 .9 .002 .4 3" friction=".9 .1 .2"/></body>
      <body name="upper" pos="0 0 .15">
        <joint name="shoulder" axis="0 1 0" range="-100 100"/>
        <geom name="upper" type="capsule" size=".05" fromto="0 0 0 .4 0 0"
          margin=".01" solref=".01 1" adhesion="1"/>
        <body name="pad"><geom name="pad" pos=".1 0 0" size=".06" condim="6"/></body>
        <body name="lower" pos=".4 0 0">
          <joint name="wrist" type="ball"/>
          <geom name="lower" type="capsule" size=".05" fromto="0 0 0 .3 0 0"/>
          <site name="tip" pos=".3 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><position name="drive" joint="shoulder" kp="20" kv="1"/></actuator>
  <sensor><jointpos joint="shoulder"/></sensor>
  <keyframe>
    <key name="rest" qpos=".3 1 0 0 0" ctrl=".2"/>
    <key name="up" qpos="-1 .6 0 .8 0" qvel="1 2 3 4"/>
  </keyframe>
</mujoco>
"""

CART = """
<mujoco model="cart">
  <worldbody>
    <geom name="rail" type="box" size="1 .02 .02"/>
    <site name="end" pos="1 0 0"/>
    <body name="cart" pos="0 0 .1">
      <joint name="slider" type="slide" axis="1 0 0" stiffness="3"/>
      <geom name="cart" type="box" size=".1 .05 .085"/>
      <body name="pole"><joint name="hinge" axis="0 1 0"/>
        <geom name="pole" type="capsule" size=".02" fromto="0 0 0 .1 0 .5"/></body>
    </body>
  </worldbody>
</mujoco>
"""

BOX = """
<mujoco model="box">
  <worldbody>
    <body name="box" pos="0 0 1"><freejoint/><geom name="shell" size=".1"/></body>
  </worldbody>
</mujoco>
"""

URDF = """
<robot name="crane">
  <link name="foot"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="jib"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hook"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="foot"/><child link="jib"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
  <joint name="weld" type="fixed"><parent link="jib"/><child link="hook"/></joint>
</robot>
"""


def spec_of(xml: str) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(xml)


def in_scene(spec: mujoco.MjSpec, name: str) -> mujoco.MjModel:
    scene = mujoco.MjSpec()
    scene.attach(spec, prefix=f"{name}/", frame=scene.worldbody.add_frame())
    return scene.compile()


def run(model: mujoco.MjModel, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the joint positions and contact counts of a rollout from keyframe 0."""
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    positions, contacts = [], []
    for _ in range(steps):
        mujoco.mj_step(model, data)
        positions.append(data.qpos.copy())
        contacts.append(data.ncon)
    return np.array(positions), np.array(contacts)


# --- Sources ------------------------------------------------------------------------


def test_model_without_configuration_keeps_its_physics(tmp_path: Path):
    file = tmp_path / "box.xml"
    motor = '<actuator><motor joint="swing"/></actuator></mujoco>'
    body = '<body name="b"><joint name="swing" axis="0 1 0"/><geom size=".1"/></body>'
    text = BOX.replace('size=".1"/></body>', f'size=".1"/>{body}</body>')
    file.write_text(text.replace("</mujoco>", motor))
    before = file.read_bytes()
    model = build_entity(EntityCfg(source=file), "thing").compile()
    plain = mujoco.MjModel.from_xml_path(str(file))
    data, expected = mujoco.MjData(model), mujoco.MjData(plain)
    data.ctrl[:] = expected.ctrl[:] = 0.3
    for _ in range(50):
        mujoco.mj_step(model, data)
        mujoco.mj_step(plain, expected)
    np.testing.assert_array_equal(data.qpos, expected.qpos)
    assert file.read_bytes() == before


def test_a_spec_given_as_source_is_copied():
    source = spec_of(ARM)
    before = source.to_xml()
    build_entity(EntityCfg(source=source), "arm")
    assert source.to_xml() == before


def test_factory_is_a_source():
    assert build_entity(EntityCfg(source=lambda: spec_of(BOX)), "b").compile().nq == 7


def test_urdf_keeps_its_links_and_can_float(tmp_path: Path):
    file = tmp_path / "crane.urdf"
    file.write_text(URDF)
    model = in_scene(build_entity(EntityCfg(source=file), "crane"), "crane")
    names = [model.body(i).name for i in range(1, model.nbody)]
    assert names == ["crane/foot", "crane/jib", "crane/hook"]
    assert model.nq == 1
    floating = EntityCfg(source=file, floating_base=True)
    assert in_scene(build_entity(floating, "crane"), "crane").nq == 8


def test_building_does_not_write_to_the_configuration():
    cfg = EntityCfg(
        source=lambda: spec_of(ARM),
        init_state=InitialStateCfg(joint_pos={"shoulder": 0.1}),
        collisions=(CollisionCfg(geom_names=("upper",)),),
    )
    before = copy.deepcopy(cfg)
    build_entity(cfg, "arm")
    assert cfg == before


def test_edits_are_applied_and_every_element_gets_a_name():
    cfg = EntityCfg(
        source=lambda: spec_of(ARM),
        collisions=(CollisionCfg(geom_names=("upper",), condim=1),),
        geoms=(GeomCfg(geom_names=("upper",), condim=6),),
        lights=(LightCfg(name="lamp", body="lower"),),
    )
    model = build_entity(cfg, "arm").compile()
    assert model.geom("upper").condim == 6, "geoms are edited after collisions"
    assert model.geom("lower").contype == 0
    assert model.light("lamp").bodyid == model.body("lower").id
    assert all(model.geom(i).name for i in range(model.ngeom))
    assert all(model.sensor(i).name for i in range(model.nsensor))


# --- The base -----------------------------------------------------------------------


def test_fixed_base_can_be_placed_and_moves_as_if_it_were_fixed():
    built = build_entity(EntityCfg(source=lambda: spec_of(ARM)), "arm")
    model = in_scene(built, "arm")
    plain = mujoco.MjModel.from_xml_string(ARM)
    assert model.nbody == plain.nbody, "the root body itself is what is placed"
    assert model.body("arm/base").mocapid == 0
    moved, contacts = run(model, 400)
    expected, expected_contacts = run(plain, 400)
    assert expected_contacts.max() > 0, "the base touches the links in this model"
    np.testing.assert_array_equal(contacts, expected_contacts)
    np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_contacts_with_a_placed_base_have_the_parameters_of_the_plain_file():
    built = build_entity(EntityCfg(source=lambda: spec_of(ARM)), "arm").compile()
    plain = mujoco.MjModel.from_xml_string(ARM)
    found = []
    for model in (built, plain):
        data = mujoco.MjData(model)
        # All pairs are in contact, so that all mixing rules are tested.
        data.qpos[:] = [np.pi / 2 + 0.05, 1, 0, 0, 0]
        mujoco.mj_forward(model, data)
        found.append(contact_parameters(model, data))
    assert len(found[1]) >= 4
    assert found[0].keys() == found[1].keys()
    for pair, expected in found[1].items():
        np.testing.assert_allclose(found[0][pair], expected, atol=1e-12, err_msg=pair)


def contact_parameters(
    model: mujoco.MjModel, data: mujoco.MjData
) -> dict[str, np.ndarray]:
    # Names differ for geoms without a name in the file; ids do not.
    return {
        str(sorted(contact.geom)): np.hstack(
            [
                contact.dist,
                contact.includemargin,
                contact.friction,
                contact.solref,
                contact.solreffriction,
                contact.solimp,
                contact.dim,
            ]
        )
        for contact in data.contact
    }


def test_excluded_contacts_of_a_placed_base_stay_excluded():
    xml = ARM.replace(
        "<sensor>", '<contact><exclude body1="base" body2="upper"/></contact><sensor>'
    )
    model = build_entity(EntityCfg(source=lambda: spec_of(xml)), "arm").compile()
    _, contacts = run(model, 50)
    _, expected = run(mujoco.MjModel.from_xml_string(xml), 50)
    np.testing.assert_array_equal(contacts, expected)


def test_a_root_with_joints_is_attached_with_its_siblings_to_a_placed_body():
    built = build_entity(EntityCfg(source=lambda: spec_of(CART)), "cart")
    model, plain = in_scene(built, "cart"), mujoco.MjModel.from_xml_string(CART)
    base = model.body("cart/mocap_base")
    assert base.mocapid == 0
    assert model.geom("cart/rail").bodyid == base.id
    assert model.site("cart/end").bodyid == base.id
    moved, _ = run(model, 300)
    expected, _ = run(plain, 300)
    np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_a_wrapped_entity_keeps_the_files_it_has_in_memory():
    corners = "".join(f"v {x} {y} {z}\n" for x in "01" for y in "01" for z in "01")
    spec = spec_of(
        CART.replace(
            "<worldbody>",
            '<asset><mesh name="hull" file="hull.obj"/></asset><worldbody>',
        ).replace(
            '<geom name="pole" ', '<geom type="mesh" mesh="hull"/><geom name="pole" '
        )
    )
    spec.assets = {"hull.obj": corners + "f 1 2 3\nf 6 7 8\n"}
    model = in_scene(build_entity(EntityCfg(source=spec), "cart"), "cart")
    assert model.nmesh == 1
    assert model.geom("cart/geom_2").type == mujoco.mjtGeom.mjGEOM_MESH


def test_a_plane_next_to_the_root_belongs_to_the_world():
    xml = ARM.replace(
        "<worldbody>", '<worldbody><geom name="floor" type="plane" size="1 1 1"/>'
    )
    model = build_entity(EntityCfg(source=lambda: spec_of(xml)), "arm").compile()
    assert model.geom("floor").bodyid == 0
    assert model.body("base").mocapid == 0


def test_a_root_with_joints_next_to_a_plane_belongs_to_the_world():
    plane = '<worldbody><geom name="floor" type="plane" size="1 1 1"/>'
    xml = CART.replace("<worldbody>", plane)
    model = build_entity(EntityCfg(source=lambda: spec_of(xml)), "cart").compile()
    assert model.nmocap == 0
    assert model.nbody == mujoco.MjModel.from_xml_string(xml).nbody
    with pytest.raises(InitialStateError, match="'cart', but it cannot be placed"):
        key_of(xml, pos=(1.0, 0.0, 0.0), name="cart")


def test_entity_of_geoms_alone_can_be_placed():
    xml = '<mujoco><worldbody><geom name="slab" size=".1"/></worldbody></mujoco>'
    model, _ = key_of(xml, pos=(1.0, 2.0, 3.0))
    np.testing.assert_array_equal(model.key_mpos[0], [1, 2, 3])
    assert model.geom("slab").bodyid == model.body("mocap_base").id


def test_root_that_cannot_float_is_named():
    cfg = EntityCfg(source=lambda: spec_of(CART), floating_base=True)
    with pytest.raises(RootError, match="'cart', but its root body has the joint 'sli"):
        build_entity(cfg, "cart")


def test_two_root_bodies_are_refused_by_name():
    xml = BOX.replace(
        "</worldbody>", '<body name="lid"><geom size="1"/></body></worldbody>'
    )
    with pytest.raises(RootError, match=r"'b' has 2 root bodies: 'box', 'lid'"):
        build_entity(EntityCfg(source=lambda: spec_of(xml)), "b")


def test_free_joint_inside_a_tree_is_refused_by_name():
    spec = spec_of(ARM)
    spec.body("lower").add_freejoint(name="loose")
    message = r"free joint 'loose' of the entity 'arm' is on the body 'lower'.*'upper'"
    with pytest.raises(RootError, match=message):
        build_entity(EntityCfg(source=spec), "arm")


def test_empty_model_is_refused():
    with pytest.raises(RootError, match="'void' has neither a body nor a geom"):
        build_entity(EntityCfg(source=mujoco.MjSpec), "void")


# --- Initial state --------------------------------------------------------------------


def key_of(
    source: str, name: str = "thing", **init: object
) -> tuple[mujoco.MjModel, np.ndarray]:
    cfg = EntityCfg(
        source=lambda: spec_of(source),
        init_state=InitialStateCfg(**init),  # type: ignore[arg-type]
    )
    model = build_entity(cfg, name).compile()
    assert model.nkey == 1
    return model, model.key_qpos[0]


def test_first_keyframe_is_the_initial_state_unless_another_is_named():
    model, qpos = key_of(ARM)
    np.testing.assert_array_equal(qpos, [0.3, 1, 0, 0, 0])
    assert model.key_ctrl[0] == 0.2
    np.testing.assert_allclose(model.key_mpos[0], [0, 0, 0.1])
    for keyframe in ("up", 1):
        model, qpos = key_of(ARM, keyframe=keyframe)
        np.testing.assert_array_equal(qpos, [-1, 0.6, 0, 0.8, 0])
        np.testing.assert_array_equal(model.key_qvel[0], [1, 2, 3, 4])


def test_model_without_keyframe_starts_in_its_reference_pose():
    _, qpos = key_of(BOX)
    np.testing.assert_array_equal(qpos, [0, 0, 1, 1, 0, 0, 0])


def test_joint_values_by_pattern_are_written_over_the_keyframe():
    model, qpos = key_of(
        ARM,
        joint_pos={"should.*": -0.5, "wrist": (0.0, 2.0, 0.0, 0.0)},
        joint_vel={"wrist": (1.0, 2.0, 3.0)},
    )
    np.testing.assert_array_equal(qpos, [-0.5, 0, 1, 0, 0])
    np.testing.assert_array_equal(model.key_qvel[0], [0, 1, 2, 3])


def test_pose_places_a_floating_and_a_fixed_base():
    half = np.sqrt(0.5)
    _, qpos = key_of(BOX, pos=(1.0, 2.0, 3.0), rot=(1.0, 0.0, 0.0, 1.0))
    np.testing.assert_allclose(qpos, [1, 2, 3, half, 0, 0, half])
    model, _ = key_of(ARM, pos=(1.0, 2.0, 3.0), rot=(1.0, 0.0, 0.0, 1.0))
    np.testing.assert_allclose(model.key_mpos[0], [1, 2, 3])
    np.testing.assert_allclose(model.key_mquat[0], [half, 0, 0, half])


def test_initial_angular_velocity_is_in_world_axes():
    # Yawed by 90 degrees, the world's x axis is the body's -y axis.
    half = float(np.sqrt(0.5))
    model, _ = key_of(
        BOX,
        rot=(half, 0.0, 0.0, half),
        lin_vel=(1.0, 2.0, 3.0),
        ang_vel=(1.0, 0.0, 0.0),
    )
    np.testing.assert_allclose(model.key_qvel[0], [1, 2, 3, 0, -1, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("source", "init", "message"),
    [
        (ARM, {"joint_pos": {"sholder": 1.0}}, "'sholder'.*first: 'shoulder', 'wrist'"),
        (ARM, {"joint_pos": {"wrist": 1.0}}, "joint 'wrist'.*to be 4 finite numbers"),
        (ARM, {"joint_vel": {"shoulder": (1.0, 2.0, 3.0)}}, "to be 1 finite number"),
        (ARM, {"keyframe": "dwon"}, "no keyframe 'dwon'.*'rest', 'up'|'up', 'rest'"),
        (ARM, {"keyframe": 2}, "keyframe=2.*has 2 keyframes"),
        (
            ARM,
            {"lin_vel": (1.0, 0.0, 0.0)},
            "velocity of the entity 'thing', but its base is fixed",
        ),
        (BOX, {"rot": (0.0, 0.0, 0.0, 0.0)}, "a non-zero quaternion"),
        (BOX, {"pos": (0.0, 1.0)}, "init_state.pos of the entity 'thing'.*3 finite"),
    ],
)
def test_bad_initial_state_is_named(source: str, init: dict, message: str):
    with pytest.raises(ValueError, match=message):
        key_of(source, **init)


def test_keyframe_of_the_wrong_size_is_named():
    xml = ARM.replace('qpos="-1 .6 0 .8 0"', 'qpos="-1 .6 0"')
    message = r"keyframe 'up' of the entity 'arm' has 3 values in qpos.* has 5"
    with pytest.raises(InitialStateError, match=message):
        build_entity(EntityCfg(source=lambda: spec_of(xml)), "arm")


def test_missing_file_and_missing_mesh_are_named(tmp_path: Path):
    (tmp_path / "robot.xml").write_text(BOX)
    with pytest.raises(FileNotFoundError, match=r"robott\.xml.*first: 'robot\.xml'"):
        build_entity(EntityCfg(source=tmp_path / "robott.xml"), "r")
    mesh = '<asset><mesh name="hull" file="hull.obj"/></asset></mujoco>'
    (tmp_path / "meshed.xml").write_text(BOX.replace("</mujoco>", mesh))
    with pytest.raises(MissingAssetError, match=r"'hull'.*hull\.obj"):
        build_entity(EntityCfg(source=tmp_path / "meshed.xml"), "r")


# --- Actuators ----------------------------------------------------------------------


def servo(*patterns: str) -> PositionActuatorCfg:
    return PositionActuatorCfg(target_names_expr=patterns, stiffness=5.0, damping=0.5)


def test_added_actuators_follow_the_model_s_own_and_its_keyframe_still_fits():
    cfg = EntityCfg(
        source=lambda: spec_of(CART.replace("</mujoco>", CART_DRIVE)),
        articulation=ArticulationCfg(actuators=(servo("hinge"),)),
    )
    model = in_scene(build_entity(cfg, "cart"), "cart")
    names = [model.actuator(i).name for i in range(model.nu)]
    assert names == ["cart/push", "cart/hinge"]
    np.testing.assert_array_equal(model.key_ctrl[0], [0.7, 0.0])
    np.testing.assert_array_equal(model.key_qpos[0], [0.1, 0.2])


CART_DRIVE = """
  <actuator><motor name="push" joint="slider"/></actuator>
  <keyframe><key qpos=".1 .2" ctrl=".7"/></keyframe>
</mujoco>
"""


def test_a_pattern_that_matches_no_actuator_is_reported():
    cfg = EntityCfg(
        source=lambda: spec_of(CART),
        articulation=ArticulationCfg(actuators=(servo("hing"),)),
    )
    with pytest.raises(ValueError, match=r"'cart' matches 'hing'.*first: 'hinge'"):
        build_entity(cfg, "cart")


def test_entity_name_with_a_slash_is_refused():
    with pytest.raises(ValueError, match="'a/b'"):
        build_entity(EntityCfg(source=lambda: spec_of(BOX)), "a/b")


def test_building_logs_no_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
):
    monkeypatch.chdir(tmp_path)
    handler = mujoco.get_mju_user_warning()
    built = build_entity(EntityCfg(source=lambda: spec_of(CART)), "c")
    assert built.compile().nmocap == in_scene(built, "c").nmocap == 1
    assert not list(recwarn)
    assert not list(tmp_path.iterdir())
    assert mujoco.get_mju_user_warning() is handler
