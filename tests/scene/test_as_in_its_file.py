"""A model in a scene compared with its file compiled alone, and the check itself."""

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.actuator import MotorActuatorCfg
from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.random import WorldRng
from mjlab.scene import ChangedModelError, Scene, SceneCfg, build_scene, check_models
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from mjlab.spec import GeomCfg

CART = """
<mujoco><worldbody>
  <body name="cart"><joint name="slider" type="slide" axis="1 0 0"/>
    <geom name="cart" type="box" size=".2 .1 .05" mass="1"/>
    <body name="pole"><joint name="hinge" axis="0 1 0"/>
      <geom name="pole" type="capsule" size=".02" fromto="0 0 0 0 0 .6" mass=".1"/>
    </body></body></worldbody></mujoco>
"""
LEGGED = """
<mujoco><compiler settotalmass="14" inertiafromgeom="true">
  <lengthrange mode="all"/></compiler>
  <size nuser_geom="2"/><visual><map znear=".2"/></visual>
  <option timestep=".004" integrator="RK4" gravity="0 0 -3" iterations="7">
    <flag contact="disable" energy="enable"/></option>
  <custom><numeric name="pace" data="1 2 3"/><text name="maker" data="us"/></custom>
  <worldbody><body name="trunk" pos="0 0 1"><freejoint/><geom name="trunk" size=".2"/>
    <body name="leg"><joint name="knee" axis="0 1 0" range="-1 1" limited="true"/>
      <geom name="leg" size=".1" pos=".2 0 0" user="3 4"/><site name="foot"/></body>
    <body name="arm"><joint name="elbow" axis="0 0 1"/><geom name="arm" size=".07"/>
    </body></body></worldbody>
  <tendon><fixed name="cord"><joint joint="knee" coef="2"/>
    <joint joint="elbow" coef="1"/></fixed></tendon>
  <equality><joint joint1="knee" joint2="elbow" polycoef="0 2 0 0 0"/></equality>
  <contact><pair geom1="leg" geom2="arm" condim="1"/>
    <exclude body1="trunk" body2="leg"/></contact>
  <actuator><motor name="push" joint="knee" gear="3"/></actuator>
  <sensor><framepos objtype="site" objname="foot"/></sensor>
  <keyframe><key qpos="0 0 2 1 0 0 0 .5 .25" ctrl=".1"/></keyframe></mujoco>
"""
PAINTED = """
<mujoco><asset>
  <texture name="tiles" type="2d" builtin="checker" rgb1=".{0} .2 .3" width="8"
    height="8"/><material name="tiles" texture="tiles"/>
  <hfield name="hill" nrow="2" ncol="2" size="1 1 1 .1" elevation="0 {0} {1} 1"/>
  <mesh name="wedge" vertex="0 0 0 {0} 0 0 0 {1} 0 0 0 1"/></asset>
  <worldbody><body name="box"><freejoint/><geom type="mesh" mesh="wedge"/>
    <geom type="hfield" hfield="hill" material="tiles"/></body></worldbody></mujoco>
"""
PLANE = '<geom type="plane" size="1 1 1"/>'
RAIL = CART.replace(
    '<body name="cart">',
    '<geom name="rail" type="capsule" size=".02 1"/>\n<body name="cart" pos="0 .3 0">',
)
FLEX = """
<mujoco><option timestep=".001"/><worldbody><body name="post" pos="0 0 1">
  <geom name="post" size=".02"/>
  <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass=".1"
    radius=".01"><edge equality="true"/><pin id="0 1"/></flexcomp></body>
</worldbody></mujoco>
"""


def of(text: str) -> Callable[[], mujoco.MjSpec]:
    return lambda: mujoco.MjSpec.from_string(text)


def scene_of(cfg: EntityCfg, **more: object) -> tuple[SceneCfg, mujoco.MjModel]:
    """Build, compile and check a scene with one entity."""
    scene = SceneCfg(entities={"it": cfg}, **more)
    built = build_scene(scene)
    model = compile_model(built.spec, SimulationCfg())
    check_models(scene, built, model)
    return scene, model


# --- Findings of the review -----------------------------------------------------------


def test_the_total_mass_set_in_a_file_is_the_mass_of_the_entity() -> None:
    file = mujoco.MjModel.from_xml_string(LEGGED)
    _, model = scene_of(EntityCfg(source=of(LEGGED)))
    assert file.body_mass.sum() == pytest.approx(14.0)
    np.testing.assert_array_equal(model.body_mass[1:], file.body_mass[1:])
    np.testing.assert_array_equal(model.body_inertia[1:], file.body_inertia[1:])


def test_worldbody_geoms_add_no_mass_to_the_base() -> None:
    file = mujoco.MjModel.from_xml_string(RAIL)
    _, model = scene_of(EntityCfg(source=of(RAIL)))
    assert model.nbody == file.nbody + 1
    assert model.body_mass.sum() == file.body_mass.sum() == pytest.approx(1.1)
    np.testing.assert_array_equal(model.body_subtreemass[2:], file.body_subtreemass[1:])


def test_length_ranges_requested_by_a_file_are_kept() -> None:
    file = mujoco.MjModel.from_xml_string(LEGGED)
    _, model = scene_of(EntityCfg(source=of(LEGGED)))
    assert np.ptp(file.actuator_lengthrange) > 0.1
    np.testing.assert_array_equal(model.actuator_lengthrange, file.actuator_lengthrange)


def test_a_position_without_effect_may_appear_next_to_a_plane() -> None:
    text = CART.replace("<worldbody>", f"<worldbody>{PLANE}")
    here = InitialStateCfg(pos=(0.0, 0.0, 0.0), rot=(1.0, 0.0, 0.0, 0.0))
    scene_of(EntityCfg(source=of(text), init_state=here))
    with pytest.raises(ValueError, match="cannot be placed"):
        there = InitialStateCfg(pos=(0.0, 0.0, 0.1))
        scene_of(EntityCfg(source=of(text), init_state=there))


def test_a_flexible_part_on_a_fixed_base_moves_as_in_its_file() -> None:
    file = mujoco.MjModel.from_xml_string(FLEX)
    scene = SceneCfg(entities={"it": EntityCfg(source=of(FLEX))})
    options = read_options(file)
    model = compile_model(build_scene(scene).spec, SimulationCfg(mujoco=options))
    ours, theirs = mujoco.MjData(model), mujoco.MjData(file)
    for _ in range(100):
        mujoco.mj_step(model, ours)
        mujoco.mj_step(file, theirs)
    assert np.ptp(theirs.qpos) > 1e-3
    np.testing.assert_array_equal(ours.qpos, theirs.qpos)


def read_options(model: mujoco.MjModel) -> MujocoCfg:
    """The file's options where these tests set them."""
    return MujocoCfg(timestep=model.opt.timestep, integrator="euler")


@pytest.mark.parametrize("text", [CART, RAIL, LEGGED], ids=["cart", "rail", "legged"])
def test_native_moves_a_model_as_mujoco_moves_its_file(text: str) -> None:
    file = mujoco.MjModel.from_xml_string(text)
    file.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    for name, value in (("disableflags", 0), ("enableflags", 0), ("iterations", 100)):
        setattr(file.opt, name, value)
    file.opt.gravity = (0.0, 0.0, -9.81)
    scene = SceneCfg(entities={"it": EntityCfg(source=of(text))})
    built = build_scene(scene)
    cfg = SimulationCfg(backend="native", mujoco=read_options(file))
    sim = Simulation(compile_model(built.spec, cfg), 2, cfg)
    data = mujoco.MjData(file)
    if file.nkey:
        data.qpos[:] = file.key_qpos[0]
    else:
        data.qpos[-1] = 0.1
    sim.data.qpos.copy_(sim.data.qpos.new_tensor(data.qpos))
    data.qpos[:] = sim.data.qpos[0].double().numpy()
    for _ in range(300):
        sim.step()
        mujoco.mj_step(file, data)
    assert np.abs(data.qvel).max() > 0.1
    for world in range(2):
        np.testing.assert_array_equal(sim.engine.batch.qpos[world], data.qpos)


# --- The check ----------------------------------------------------------------------


def plant_contact_pairs(patch: pytest.MonkeyPatch) -> None:
    """The fault of the review: a root with a joint treated as part of its base."""
    from mjlab.entity import base

    original = base.restore_contacts
    patch.setattr(
        base,
        "restore_contacts",
        lambda spec, bodies: original(
            spec, [*bodies, *(w for r in spec.worldbody.bodies for w in base.welded(r))]
        ),
    )


def plant_lost_settings(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("mjlab.entity.build.keep_compiled", lambda spec, model: None)


def plant_lost_keyframe(patch: pytest.MonkeyPatch) -> None:
    from mjlab.scene import build

    original = build.merge_keyframes

    def merged(name: str, parts: list[object]) -> object:
        frame = original(name, parts)
        frame.qpos[-1] = 0.0
        return frame

    patch.setattr(build, "merge_keyframes", merged)


def plant_attached(change: Callable[[mujoco.MjSpec], None]):
    """Change a model after it was attached."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        from mjlab.scene import build

        original = build.attach_spec

        def attach(parent: mujoco.MjSpec, child: mujoco.MjSpec, **more: object):
            frame = original(parent, child, **more)
            change(parent)
            return frame

        patch.setattr(build, "attach_spec", attach)

    return plant


def _damp(spec: mujoco.MjSpec) -> None:
    spec.joint("it/knee").damping[0] = 0.5


def _drop_equality(spec: mujoco.MjSpec) -> None:
    spec.delete(spec.equalities[0])


def _drop_exclusion(spec: mujoco.MjSpec) -> None:
    spec.delete(spec.excludes[0])


def _move_sensor(spec: mujoco.MjSpec) -> None:
    spec.sensors[0].objtype = mujoco.mjtObj.mjOBJ_XBODY
    spec.sensors[0].objname = "it/leg"


def _weaken(spec: mujoco.MjSpec) -> None:
    spec.actuators[0].gear[0] = 2.0


def _rewrite(spec: mujoco.MjSpec) -> None:
    spec.numerics[0].data[1] = 7.0


def _retie(spec: mujoco.MjSpec) -> None:
    spec.tendons[0].stiffness[0] = 1.0


def _flatten(spec: mujoco.MjSpec) -> None:
    spec.hfields[0].userdata = [0.0, 0.0, 0.0, 1.0]


def _recolor(spec: mujoco.MjSpec) -> None:
    spec.textures[0].rgb1 = (1.0, 0.0, 0.0)


FAULTS = {
    "contact pairs": (
        CART,
        plant_contact_pairs,
        r"pairs 'cart'-'cart', 'cart'-'pole' can collide",
    ),
    "settings": (
        LEGGED,
        plant_lost_settings,
        r"actuator_lengthrange of 'push' is \[0. 0.\].*body_inertia of 'trunk'",
    ),
    "keyframe": (LEGGED, plant_lost_keyframe, r"its initial qpos"),
    "damping": (LEGGED, plant_attached(_damp), r"dof_damping of 'leg' is \[0.5\] inst"),
    "equality": (
        LEGGED,
        plant_attached(_drop_equality),
        r"equality 'equality_0' is mi",
    ),
    "exclusion": (
        LEGGED,
        plant_attached(_drop_exclusion),
        r"exclude 'exclude_0' is mi",
    ),
    "sensor": (LEGGED, plant_attached(_move_sensor), r"sensor_objtype of 'sensor_0'"),
    "actuator": (LEGGED, plant_attached(_weaken), r"actuator_gear of 'push'"),
    "numeric": (LEGGED, plant_attached(_rewrite), r"numeric_data of 'pace' is \[7.\]"),
    "tendon": (LEGGED, plant_attached(_retie), r"tendon_stiffness of 'cord'"),
    "height field": (
        PAINTED.format(1, 2),
        plant_attached(_flatten),
        "hfield_data of 'hill' differs",
    ),
    "texture": (
        PAINTED.format(1, 2),
        plant_attached(_recolor),
        "tex_data of 'tiles' differs",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_unexpected_warning_is_an_error_that_names_it(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, plant, message = FAULTS[fault]
    scene_of(EntityCfg(source=of(text)))
    plant(monkeypatch)
    with pytest.raises(ChangedModelError, match=message):
        scene_of(EntityCfg(source=of(text)))


def test_requested_features_are_not_reported_as_faults() -> None:
    motor = MotorActuatorCfg(target_names_expr=("elbow",), armature=0.1)
    cfg = EntityCfg(
        source=of(LEGGED),
        init_state=InitialStateCfg(pos=(0.0, 0.0, 3.0), joint_pos={"knee": 0.2}),
        articulation=ArticulationCfg(actuators=(motor,)),
        geoms=(GeomCfg(geom_names="leg", friction=0.3),),
    )
    scene_of(cfg)


def test_textures_height_fields_and_meshes_of_several_models_are_distinguished() -> (
    None
):
    """Elements of each model follow those of the previous one."""
    entities = {
        name: EntityCfg(source=of(PAINTED.format(one, two)))
        for name, one, two in (("a", 1, 2), ("b", 3, 5))
    }
    scene = SceneCfg(entities=entities)
    built = build_scene(scene)
    check_models(scene, built, compile_model(built.spec, SimulationCfg()))


def test_a_camera_fixed_to_the_world_may_accompany_others() -> None:
    """`poscom0` is relative to the scene's centre of mass, which other models move."""
    watched = """<mujoco><worldbody><camera name="eye" pos="1 0 1"/><body name="ball">
      <freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    ball = EntityCfg(source=of(watched))
    cart = EntityCfg(source=of(CART), init_state=InitialStateCfg(pos=(3.0, 0.0, 0.0)))
    scene = SceneCfg(entities={"ball": ball, "cart": cart})
    built = build_scene(scene)
    model = compile_model(built.spec, SimulationCfg())
    check_models(scene, built, model)
    alone = mujoco.MjModel.from_xml_string(watched).cam("eye").poscom0
    assert not np.allclose(model.cam("ball/eye").poscom0, alone)


def test_a_scene_reports_the_changes_of_its_own_edit(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        scene_of(EntityCfg(source=of(LEGGED)), spec_fn=_damp)
    lines = [r.message for r in caplog.records if "spec_fn" in r.message]
    assert len(lines) == 1 and "dof_damping of 'leg'" in lines[0]


def test_binding_a_scene_runs_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_contact_pairs(monkeypatch)
    cfg = SceneCfg(entities={"it": EntityCfg(source=of(CART))})
    built = build_scene(cfg)
    sim = Simulation(compile_model(built.spec, SimulationCfg()), 1)
    rng = WorldRng(1, 0, sim.device)
    with pytest.raises(ChangedModelError, match="'cart'-'pole' can"):
        Scene(cfg, built, sim, rng)


def test_changes_required_by_attaching_are_reported_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fixed = CART.replace('<joint name="slider" type="slide" axis="1 0 0"/>', "")
    with caplog.at_level(logging.INFO):
        scene_of(EntityCfg(source=of(fixed)))
    lines = [r.message for r in caplog.records if r.name == "mjlab.scene.check"]
    assert lines == [
        "'it' has a mocap root body, so that its pose can be set; 1 explicit contact "
        "pairs replace contacts that the mocap body disables."
    ]


# --- Options and warnings -----------------------------------------------------------


def test_options_overridden_by_the_scene_are_reported_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene_of(EntityCfg(source=of(LEGGED)))
    lines = [
        r.message for r in caplog.records if "SimulationCfg overrides" in r.message
    ]
    assert len(lines) == 1
    asked, decided = lines[0].split("; SimulationCfg overrides that: ")
    for part in ("timestep 0.004", "integrator rk4", "gravity 0 0 -3", "iterations 7"):
        assert part in asked
    assert "disableflags contact" in asked and "enableflags energy" in asked
    assert "timestep 0.002, gravity 0 0 -9.81, integrator implicitfast" in decided


def test_from_file_copies_the_options_of_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "legged.xml"
    path.write_text(LEGGED)
    file = mujoco.MjModel.from_xml_path(str(path))
    cfg = SceneCfg(entities={"it": EntityCfg(source=path)})
    built = build_scene(cfg)
    options = SimulationCfg(mujoco=MujocoCfg.from_file(path))
    model = compile_model(built.spec, options)
    for name in dir(file.opt):
        if not name.startswith("_"):
            np.testing.assert_array_equal(
                getattr(model.opt, name), getattr(file.opt, name), err_msg=name
            )
    check_models(cfg, built, model)
    assert "SimulationCfg overrides" not in caplog.text
    assert MujocoCfg.from_file(path, timestep=0.01).timestep == 0.01


CONFLICT = """
import logging, sys
from mjlab.entity import EntityCfg
from mjlab.scene import SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg, compile_model
logging.basicConfig(format="%(name)s %(message)s")
built = build_scene(SceneCfg(entities={"it": EntityCfg(source=sys.argv[1])}))
logging.getLogger("mjlab.mujoco").setLevel(logging.DEBUG)  # What a step warns of.
cfg = SimulationCfg(backend="native")
sim = Simulation(compile_model(built.spec, cfg), 1, cfg)
sim.data.qvel.fill_(1e12)
sim.step()
"""


def test_mujoco_warnings_are_logged_without_a_file(tmp_path: Path) -> None:
    path = tmp_path / "legged.xml"
    path.write_text(LEGGED)
    command = [sys.executable, "-W", "ignore", "-c", CONFLICT, str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["legged.xml"]
    line, *of_steps = done.stderr.splitlines()
    assert line.startswith("mjlab.mujoco MuJoCo: compiler attribute 'settotalmass' is")
    assert of_steps
    for each in of_steps:
        assert each.startswith("mjlab.mujoco MuJoCo: Nan, Inf or huge value in Q")
