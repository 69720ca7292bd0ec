"""Files of several root bodies, compared with MuJoCo stepping the file alone."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab.actuator import PositionActuatorCfg, XmlActuatorCfg
from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg, entities_from
from mjlab.names import UnknownNameError
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, SceneError, build_scene
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from mjlab.spec import GeomCfg
from mjlab.terrain import TerrainCfg

TIED = """
<mujoco><compiler settotalmass="3"/><option timestep=".004" integrator="Euler"/>
<worldbody><geom name="floor" type="plane" size="2 2 .1" pos="0 0 -1"/>
  <body name="cup"><joint name="x" type="slide" axis="1 0 0" damping="1"/>
    <joint name="z" type="slide" axis="0 0 1" damping="1"/>
    <geom name="cup" size=".1"/><site name="cup"/>
    <body name="lid" pos="0 0 .12"><joint name="lid" axis="0 1 0"/>
      <geom name="lid" size=".05"/></body></body>
  <body name="ball" pos="0 0 .3"><freejoint/><geom name="ball" size=".08"/>
    <site name="ball"/></body>
  <body pos=".5 0 0"><geom name="post" size=".1"/></body></worldbody>
<tendon><spatial name="string" range="0 .5" limited="true"><site site="cup"/>
  <site site="ball"/></spatial></tendon>
<equality><connect body1="cup" body2="ball" anchor="0 0 .1" active="false"/></equality>
<contact><exclude body1="lid" body2="ball"/></contact>
<actuator><motor name="pull" tendon="string"/><motor name="push" joint="x" gear="3"/>
</actuator>
<sensor><tendonpos tendon="string"/><jointpos name="at" joint="z"/></sensor>
<keyframe><key name="up" qpos=".1 0 .2 0 0 .4 1 0 0 0" ctrl=".1 .2"/></keyframe>
</mujoco>
"""


def source() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(TIED)


def bound(cfg: SceneCfg, num_envs: int = 2) -> Scene:
    options = MujocoCfg(timestep=0.004, integrator="euler")
    sim_cfg = SimulationCfg(backend="native", mujoco=options)
    built = build_scene(cfg)
    sim = Simulation(compile_model(built.spec, sim_cfg), num_envs, sim_cfg)
    return Scene(cfg, built, sim, WorldRng(num_envs, 0, sim.device))


def test_the_root_bodies_of_a_file_are_the_entities_of_its_scene() -> None:
    scene = bound(SceneCfg(source=source))
    assert (
        list(scene.entities) == list(entities_from(source)) == ["cup", "ball", "body_4"]
    )
    cup, ball = scene.entities["cup"], scene.entities["ball"]
    assert cup.joint_names == ("x", "z", "lid") and cup.body_names == ("cup", "lid")
    assert cup.index.actuators.names == ("push",) and cup.index.sensors.names == ("at",)
    assert cup.is_fixed_base and not ball.is_fixed_base
    assert not len(cup.index.tendons) and not len(ball.index.tendons)
    model = scene.sim.mj_model
    sizes = (model.ntendon, model.neq, model.nexclude, model.nu, model.nsensor)
    assert sizes == (1, 1, 1, 2, 2)


@pytest.mark.parametrize("way", ["source", "entities"])
def test_a_file_of_several_roots_moves_as_mujoco_moves_it(way: str) -> None:
    whole = way == "source"
    cfg = SceneCfg(source=source) if whole else SceneCfg(entities=entities_from(source))
    scene = bound(cfg)
    file = source().compile()
    data = mujoco.MjData(file)
    mujoco.mj_resetDataKeyframe(file, data, 0)
    everywhere = torch.ones(2, dtype=torch.bool)
    for entity in scene.entities.values():
        entity.reset_to_default(everywhere)
    np.testing.assert_allclose(scene.sim.data.qpos[1], data.qpos, atol=1e-7)
    data.qpos[:] = scene.sim.data.qpos[0].double()
    data.ctrl[:] = 0.0
    draw = np.random.default_rng(0)
    for _ in range(200):
        ctrl = draw.uniform(-1, 1, file.nu).astype(np.float32)
        scene.sim.data.ctrl.copy_(torch.from_numpy(ctrl).expand(2, -1))
        data.ctrl[:] = ctrl
        scene.sim.step()
        mujoco.mj_step(file, data)
    assert data.ncon and np.abs(data.qvel).max() > 0.1
    for world in range(2):
        np.testing.assert_array_equal(scene.sim.engine.batch.qpos[world], data.qpos)


def test_removing_an_entity_removes_attached_elements() -> None:
    entities = entities_from(source)
    del entities["ball"]
    alone = source()
    alone.delete(alone.body("ball"))
    model = build_scene(SceneCfg(entities=entities)).spec.compile()
    expected = alone.compile()
    assert (model.nq, model.ntendon, model.nu) == (expected.nq, 0, 1)
    assert model.nsensor == expected.nsensor == 1 and model.neq == model.nexclude == 0


def test_a_configuration_changes_its_own_root_alone() -> None:
    entities = entities_from(source)
    cup = entities["cup"]
    cup.geoms = (GeomCfg(geom_names=".*", friction=0.25),)
    cup.init_state = InitialStateCfg(joint_pos={"z": 0.125})
    lid = PositionActuatorCfg(target_names_expr=("lid",), stiffness=2.0, damping=0.1)
    push = XmlActuatorCfg(target_names_expr=("x",))
    cup.articulation = ArticulationCfg(actuators=(lid, push))
    entities["ball"].init_state = InitialStateCfg(
        pos=(0.0, 0.0, 0.75), ang_vel=(0.0, 0.0, 2.0)
    )
    # Without the post.
    scene = bound(SceneCfg(entities={"mug": cup, "ball": entities["ball"]}))
    model = scene.sim.mj_model
    slides = {model.geom(i).name: model.geom_friction[i, 0] for i in range(3)}
    assert slides == {"floor": 1.0, "cup": 0.25, "lid": 0.25}
    assert model.geom("ball").friction[0] == 1.0
    everywhere = torch.ones(2, dtype=torch.bool)
    mug, ball = scene.entities["mug"], scene.entities["ball"]
    for entity in (mug, ball):
        entity.reset_to_default(everywhere)
    # "up" of the file, except for values in the configuration.
    torch.testing.assert_close(mug.data.joint_pos[0], torch.tensor([0.1, 0.125, 0.2]))
    assert ball.data.root_pos_w[0].tolist() == [0.0, 0.0, 0.75]
    assert ball.data.root_ang_vel_w[0].tolist() == [0.0, 0.0, 2.0]
    mug.data.targets.joint_pos[:, 2] = 0.5
    mug.apply()
    lid_ctrl = int(model.actuator("lid").id)
    assert scene.sim.data.ctrl[:, lid_ctrl].tolist() == [0.5, 0.5]


def test_a_whole_file_is_combined_with_ground_and_other_entities() -> None:
    box = EntityCfg(
        source=lambda: mujoco.MjSpec.from_string(
            "<mujoco><worldbody><body name='box' pos='3 0 1'><freejoint/>"
            "<geom size='.1'/></body></worldbody></mujoco>"
        )
    )
    scene = bound(SceneCfg(source=source, terrain=TerrainCfg(), entities={"box": box}))
    assert {*scene.entities} == {"cup", "ball", "body_4", "box"}
    file = source().compile()
    model = scene.sim.mj_model
    assert model.body_mass.sum() == pytest.approx(3.0 + model.body("box/box").mass[0])
    np.testing.assert_array_equal(model.body_mass[: file.nbody][1:], file.body_mass[1:])


def test_a_whole_file_without_a_body_is_included_too() -> None:
    text = '<mujoco><worldbody><geom name="box" size=".1"/></worldbody></mujoco>'
    cfg = SceneCfg(source=lambda: mujoco.MjSpec.from_string(text))
    assert bound(cfg).sim.mj_model.geom("box").size[0] == 0.1


def test_roots_that_do_not_fit_are_refused_by_name() -> None:
    cup = EntityCfg(source=source, root="cupp")
    with pytest.raises(UnknownNameError, match=r"root body 'cupp'.*'cup'"):
        build_scene(SceneCfg(entities={"mug": cup}))
    other = EntityCfg(source=lambda: source(), root="ball")
    with pytest.raises(SceneError, match="have to name one file"):
        build_scene(SceneCfg(entities=entities_from(source) | {"ball": other}))
