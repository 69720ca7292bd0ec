"""Composition of entities, terrain and sensors, compared with manual MJCF."""

import zipfile
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from mjlab.actuator import (
    DcMotorActuatorCfg,
    DcPdActuatorCfg,
    DelayCfg,
    IdealPdActuatorCfg,
    MotorActuatorCfg,
    MuscleActuatorCfg,
    PdActuatorCfg,
    PositionActuatorCfg,
    VelocityActuatorCfg,
    XmlActuatorCfg,
)
from mjlab.entity import ArticulationCfg, EntityCfg, InitialStateCfg
from mjlab.names import UnknownNameError
from mjlab.random import WorldRng
from mjlab.scene import (
    Scene,
    SceneCfg,
    SceneEntityCfg,
    Selection,
    build_scene,
)
from mjlab.scene.scene import Ground
from mjlab.sensor import MujocoSensorCfg, ObjRef
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, Stage, compile_model
from mjlab.terrain import (
    FlatCfg,
    PyramidStairsCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
    build_terrain,
    rough_terrains,
)

NUM_ENVS = 3
SIM = SimulationCfg(
    backend="native", mujoco=MujocoCfg(timestep=0.004, integrator="implicitfast")
)

JOINTS = (
    "position",
    "velocity",
    "pd",
    "motor",
    "muscle",
    "dc",
    "ideal",
    "torque",
    "xml",
)

ARM_LINKS = "".join(
    f'<body name="link{i}" pos="0 0 .15">'
    f'<joint name="{name}" axis="{i % 2} {(i + 1) % 2} 0" range="-2 2" limited="true"'
    ' armature=".02" damping=".3"/>'
    '<geom name="g' + str(i) + '" type="capsule" fromto="0 0 0 0 0 .15" size=".02"'
    ' contype="0" conaffinity="0"/>'
    for i, name in enumerate(JOINTS)
) + "</body>" * len(JOINTS)

ARM = f"""
<mujoco model="arm">
  <worldbody>
    <body name="base" pos="0 1.5 .1">
      <geom name="foot" type="cylinder" size=".1 .05"/>
      {ARM_LINKS}
    </body>
  </worldbody>
  <actuator><position name="xml" joint="xml" kp="12" kv="1"/></actuator>
</mujoco>
"""

END = "</mujoco>"

TOY_LINKS = """
      <geom name="body" type="sphere" size=".12"/>
      <body name="tail" pos="0 0 .2">
        <joint name="ball" type="ball" damping=".02"/>
        <geom name="tail" type="capsule" size=".03 .15"/>
      </body>
"""

TOY = f"""
<mujoco model="toy">
  <worldbody>
    <body name="toy" pos="0 0 1"><freejoint name="root"/>{TOY_LINKS}</body>
  </worldbody>
</mujoco>
"""

BOX = """<mujoco model="box">
  <!-- As somebody else wrote it: left as it stands. -->
  <worldbody>
    <body name="box" pos="-1 0 .6">
      <freejoint name="free"/>
      <geom name="shell" type="box" size=".1 .15 .2"/>
      <site name="top" pos="0 0 .2"/>
    </body>
  </worldbody>
  <sensor><accelerometer name="shake" site="top"/></sensor>
  <keyframe><key name="drop" qpos="-1 .2 .9 .9659258 .2588190 0 0"/></keyframe>
</mujoco>
"""


def actuators() -> tuple:
    return (
        PositionActuatorCfg(
            target_names_expr=("position",), stiffness=20.0, damping=2.0
        ),
        VelocityActuatorCfg(
            target_names_expr=("velocity",), damping=3.0, effort_limit=2.0
        ),
        PdActuatorCfg(target_names_expr=("pd",), stiffness=15.0, damping=1.0),
        MotorActuatorCfg(target_names_expr=("motor",), effort_limit=1.5, gear=2.0),
        MuscleActuatorCfg(
            target_names_expr=("muscle",), force=4.0, length_range=(-2.5, 2.5)
        ),
        DcMotorActuatorCfg(
            target_names_expr=("dc",), torque_constant=0.1, resistance=2.0, gear=3.0
        ),
        IdealPdActuatorCfg(target_names_expr=("ideal",), stiffness=9.0, damping=0.8),
        DcPdActuatorCfg(
            target_names_expr=("torque",),
            stiffness=30.0,
            damping=0.5,
            effort_limit=3.0,
            saturation_effort=4.0,
            velocity_limit=6.0,
        ),
        XmlActuatorCfg(target_names_expr=("xml",)),
    )


# The same actuators in MJCF, in their order.
ACTUATORS_BY_HAND = """
  <actuator>
    <position joint="arm/xml" kp="12" kv="1"/>
    <position joint="arm/position" kp="20" kv="2"/>
    <velocity joint="arm/velocity" kv="3" forcerange="-2 2"/>
    <position joint="arm/pd" kp="15"/>
    <velocity joint="arm/pd" kv="1"/>
    <motor joint="arm/motor" gear="2" forcerange="-1.5 1.5"/>
    <muscle joint="arm/muscle" force="4" lengthrange="-2.5 2.5"/>
    <dcmotor joint="arm/dc" motorconst=".1" resistance="2" gear="3"/>
    <motor joint="arm/ideal"/>
    <motor joint="arm/torque" forcerange="-3 3"/>
  </actuator>
"""


def plane() -> TerrainCfg:
    return TerrainCfg(light=False)


def stairs() -> TerrainCfg:
    tiles = {"flat": FlatCfg(), "stairs": PyramidStairsCfg()}
    return TerrainCfg(
        kind="generator",
        light=False,
        generator=TerrainGeneratorCfg(
            sub_terrains=tiles, num_rows=1, num_cols=2, size=(8.0, 8.0), curriculum=True
        ),
    )


TERRAINS = {"plane": plane, "stairs": stairs}


def scene_cfg(box_file: Path, terrain: TerrainCfg) -> SceneCfg:
    return SceneCfg(
        num_envs=NUM_ENVS,
        terrain=terrain,
        entities={
            "toy": EntityCfg(source=lambda: mujoco.MjSpec.from_string(TOY)),
            "arm": EntityCfg(
                source=mujoco.MjSpec.from_string(ARM),
                articulation=ArticulationCfg(actuators=actuators()),
                init_state=InitialStateCfg(joint_pos={"position": 0.3, "pd|xml": -0.2}),
            ),
            "box": EntityCfg(source=box_file),
        },
        sensors=(
            MujocoSensorCfg(
                name="tail_gyro",
                sensor_type="framequat",
                obj=ObjRef(type="xbody", name="tail", entity="toy"),
            ),
        ),
    )


def bound(cfg: SceneCfg, **kwargs) -> tuple[Simulation, Scene]:
    built = build_scene(cfg)
    sim = Simulation(compile_model(built.spec, SIM), cfg.num_envs, SIM, **kwargs)
    scene = Scene(cfg, built, sim, WorldRng(cfg.num_envs, 0, sim.device))
    return sim, scene


@pytest.fixture
def box_file(tmp_path: Path) -> Path:
    path = tmp_path / "box.xml"
    path.write_text(BOX)
    return path


def by_hand(terrain: TerrainCfg) -> mujoco.MjModel:
    """The scene as one MJCF file, without our code except the terrain's tiles."""
    ground = build_terrain(terrain).spec
    text = f"""
<mujoco>
  <worldbody>
    <body name="toy/toy" pos="0 0 1"><freejoint/>{_prefixed(TOY_LINKS, "toy")}</body>
    <body name="arm/mocap" mocap="true" pos="0 1.5 .1">
      <geom type="cylinder" size=".1 .05"/>{_prefixed(ARM_LINKS, "arm")}
    </body>
    <body name="box/box" pos="-1 0 .6">
      <freejoint/><geom type="box" size=".1 .15 .2"/><site name="box/top" pos="0 0 .2"/>
    </body>
  </worldbody>
  {ACTUATORS_BY_HAND}
  <sensor>
    <accelerometer site="box/top"/><framequat objtype="xbody" objname="toy/tail"/>
  </sensor>
</mujoco>
"""
    spec = mujoco.MjSpec.from_string(text)
    spec.attach(ground, frame=spec.worldbody.add_frame(), prefix="ground_")
    return compile_model(spec, SIM)


def _prefixed(text: str, entity: str) -> str:
    return text.replace('name="', f'name="{entity}/')


def commands(steps: int) -> np.ndarray:
    """Targets of the joints, in order, shape (steps, NUM_ENVS, joints)."""
    random = np.random.default_rng(1)
    return (0.5 * random.standard_normal((steps, NUM_ENVS, len(JOINTS)))).astype("f4")


def controls_by_hand(target: np.ndarray, data: mujoco.MjData, adr: dict) -> list[float]:
    """Controls of the manual file, with the explicit laws written out."""
    goal = dict(zip(JOINTS, target, strict=True))
    q = {j: np.float32(data.qpos[adr[j][0]]) for j in JOINTS}
    v = {j: np.float32(data.qvel[adr[j][1]]) for j in JOINTS}
    ideal = 9.0 * (goal["ideal"] - q["ideal"]) - 0.8 * v["ideal"]
    torque = 30.0 * (goal["torque"] - q["torque"]) - 0.5 * v["torque"]
    high = min(4.0 * (1.0 - v["torque"] / 6.0), 3.0)
    low = max(4.0 * (-1.0 - v["torque"] / 6.0), -3.0)
    torque = min(max(torque, low), high)
    return [
        goal["xml"],
        goal["position"],
        goal["velocity"],
        goal["pd"],
        0.25,
        goal["motor"],
        goal["muscle"],
        goal["dc"],
        ideal,
        torque,
    ]


@pytest.mark.parametrize("name", list(TERRAINS))
def test_a_composed_scene_moves_like_the_same_model_written_by_hand(
    name: str, box_file: Path
) -> None:
    terrain = TERRAINS[name]()
    sim, scene = bound(scene_cfg(box_file, terrain))
    hand = by_hand(terrain)
    assert hand.nq == sim.mj_model.nq and hand.nu == sim.mj_model.nu
    arm = scene.entity("arm")
    for entity in scene.entities.values():
        entity.reset_to_default(torch.ones(NUM_ENVS, dtype=torch.bool))
    sim.forward(Stage.ACCELERATION)
    steps, targets = 60, commands(60)
    adr = {
        j: (
            int(hand.joint(f"arm/{j}").qposadr[0]),
            int(hand.joint(f"arm/{j}").dofadr[0]),
        )
        for j in JOINTS
    }
    effort = [JOINTS.index(j) for j in ("motor", "muscle", "dc")]
    expected = []
    for world in range(NUM_ENVS):
        data = mujoco.MjData(hand)
        data.qpos[:] = sim.data.qpos[world].numpy()
        data.mocap_pos[:] = sim.data.mocap_pos[world].numpy()
        data.mocap_quat[:] = sim.data.mocap_quat[world].numpy()
        for step in range(steps):
            data.ctrl[:] = controls_by_hand(targets[step, world], data, adr)
            mujoco.mj_step(hand, data)
        expected.append(data.qpos.copy())
    for step in range(steps):
        target = torch.from_numpy(targets[step])
        arm.data.targets.joint_pos[:] = target
        arm.data.targets.joint_vel.zero_()
        arm.data.targets.joint_vel[:, JOINTS.index("velocity")] = target[:, 1]
        arm.data.targets.joint_vel[:, JOINTS.index("pd")] = 0.25
        arm.data.targets.joint_effort.zero_()
        arm.data.targets.joint_effort[:, effort] = target[:, effort]
        scene.apply()
        sim.step()
        scene.update(sim.timestep)
    ours = sim.engine.batch.bind("qpos")
    # The explicit laws are computed in float32 in the scene and in float64 here.
    assert np.abs(ours - np.array(expected)).max() < 2e-5
    assert np.abs(ours[:, :3] - np.array([0, 0, 1])).max() > 0.01


def test_a_bare_file_is_used_unchanged(box_file: Path) -> None:
    before = box_file.read_bytes()
    sim, scene = bound(scene_cfg(box_file, plane()))
    box = scene.entity("box")
    box.reset_to_default(torch.ones(NUM_ENVS, dtype=torch.bool))
    sim.forward()
    scene.refresh()
    assert box_file.read_bytes() == before
    assert torch.allclose(box.data.root_pos_w, torch.tensor([-1.0, 0.2, 0.9]))
    assert scene.sensor("box/shake").data.shape == (NUM_ENVS, 3)


def test_the_initial_states_of_entities_become_one_keyframe(box_file: Path) -> None:
    spec = build_scene(scene_cfg(box_file, plane())).spec
    model = compile_model(spec, SIM)
    assert model.nkey == 1
    key = model.key("init_state")
    assert np.allclose(key.qpos[:3], [0, 0, 1])
    assert np.allclose(key.qpos[int(model.joint("arm/position").qposadr[0])], 0.3)
    assert np.allclose(key.qpos[int(model.joint("box/free").qposadr[0]) + 2], 0.9)


def test_a_body_a_kilometre_away_changes_no_bit_of_another_world(
    box_file: Path,
) -> None:
    sim, scene = bound(scene_cfg(box_file, plane()))
    ends = []
    for thrown in (False, True):
        sim.reset()
        if thrown:
            sim.data.qpos[0, 0] = 1000.0
            sim.data.qvel[0, 2] = 50.0
        for _ in range(50):
            scene.apply()
            sim.step()
            scene.update(sim.timestep)
        ends.append({n: getattr(sim.data, n).clone() for n in ("qpos", "qvel", "xpos")})
    for name, end in ends[1].items():
        assert torch.equal(end[1:], ends[0][name][1:]), name
        assert not torch.equal(end[0], ends[0][name][0]), name


# Origins.


def test_worlds_on_a_plane_spawn_at_zero_and_are_drawn_on_the_squarest_grid() -> None:
    cfg = SceneCfg(num_envs=6, env_spacing=3.0, terrain=plane(), entities=toy())
    _, scene = bound(cfg)
    assert (scene.spawn_origins == 0).all()
    grid = scene.env_origins
    # Three rows of two: the most nearly square arrangement of six.
    assert sorted(set(grid[:, 0].tolist())) == [-3.0, 0.0, 3.0]
    assert sorted(set(grid[:, 1].tolist())) == [-1.5, 1.5]
    assert len({tuple(place) for place in grid.tolist()}) == 6
    assert torch.allclose(grid.mean(dim=0), torch.zeros(3))


def toy() -> dict[str, EntityCfg]:
    return {"toy": EntityCfg(source=mujoco.MjSpec.from_string(TOY))}


def rough(num_envs: int) -> Scene:
    generator = rough_terrains(curriculum=True)
    cfg = SceneCfg(
        num_envs=num_envs,
        terrain=TerrainCfg(kind="generator", generator=generator),
        entities=toy(),
    )
    return bound(cfg)[1]


def test_a_world_on_terrain_has_the_same_tile_for_any_number_of_worlds() -> None:
    few, many = rough(4).ground, rough(64).ground
    assert few is not None and many is not None
    assert torch.equal(few.columns, many.columns[:4])
    assert torch.equal(few.levels, many.levels[:4])
    assert torch.equal(few.origins, many.origins[:4])
    expected = many.terrain.origins[many.levels.numpy(), many.columns.numpy()]
    assert np.allclose(many.origins.numpy(), expected, atol=1e-6)
    assert len(set(many.columns.tolist())) > 3


def test_worlds_move_by_one_row_and_beyond_the_last_to_a_random_one() -> None:
    ground = rough(64).ground
    assert ground is not None
    rows = ground.terrain.num_rows
    ground.levels.copy_(torch.arange(64) % rows)
    before = ground.levels.clone()
    up = torch.zeros(64, dtype=torch.bool)
    down = up.clone()
    up[:20], down[20:40] = True, True
    ground.move(up, down, "test")
    assert torch.equal(ground.levels[40:], before[40:])
    stayed_inside = before[:20] < rows - 1
    assert torch.equal(
        ground.levels[:20][stayed_inside], before[:20][stayed_inside] + 1
    )
    assert torch.equal(ground.levels[20:40], (before[20:40] - 1).clamp(min=0))
    assert ((ground.levels >= 0) & (ground.levels < rows)).all()
    tile = ground.levels * ground.terrain.num_cols + ground.columns
    origins = torch.from_numpy(ground.terrain.origins).float().flatten(0, 1)
    assert torch.equal(ground.origins, origins[tile])


@pytest.mark.parametrize("most", [0, 1, 2, 9, None])
def test_worlds_start_on_all_levels_up_to_the_hardest_allowed_one(most) -> None:
    generator = rough_terrains(curriculum=True)
    generator.num_rows = 4
    terrain = TerrainCfg(
        kind="generator", generator=generator, max_init_terrain_level=most
    )
    cfg = SceneCfg(num_envs=1, terrain=terrain, entities=toy())
    built = build_scene(cfg)
    assert built.terrain is not None
    ground = Ground(
        built.terrain, WorldRng(1000, 0, "cpu"), TerrainCfg(max_init_terrain_level=most)
    )
    last = 3 if most is None else min(most, 3)
    counts = torch.bincount(ground.levels, minlength=4).tolist()
    # Of 1,000 draws each level has its share, within five standard deviations.
    share = 1000 / (last + 1)
    assert all(abs(count - share) < 5 * share**0.5 for count in counts[: last + 1])
    assert not any(counts[last + 1 :])


def test_worlds_that_are_placed_anywhere_change_their_row_and_their_column() -> None:
    built = build_scene(
        SceneCfg(
            num_envs=1,
            terrain=TerrainCfg(kind="generator", generator=rough_terrains()),
            entities=toy(),
        )
    )
    assert built.terrain is not None
    ground = Ground(
        built.terrain, WorldRng(2000, 0, "cpu"), TerrainCfg(max_init_terrain_level=0)
    )
    rows, columns = built.terrain.num_rows, built.terrain.num_cols
    before = ground.levels.clone(), ground.columns.clone()
    mask = torch.arange(2000) % 2 == 0
    ground.place_anywhere(mask, "test")
    for now, old, count in zip(
        (ground.levels, ground.columns), before, (rows, columns), strict=True
    ):
        assert torch.equal(now[~mask], old[~mask])
        assert (now[mask] != old[mask]).float().mean() > 0.5
        assert len(now[mask].unique()) == count
    tiles = torch.from_numpy(built.terrain.origins).float()
    assert torch.equal(ground.origins, tiles[ground.levels, ground.columns])


def test_positions_relative_to_a_worlds_own_origin() -> None:
    scene = rough(3)
    points = scene.spawn_origins[:, None] + torch.tensor([1.0, 2.0, 3.0])
    expected = torch.tensor([1.0, 2.0, 3.0]).expand(3, 1, 3)
    assert torch.allclose(scene.to_local(points), expected, atol=1e-5)


# Names.


def test_an_unknown_name_is_refused_with_the_valid_ones(box_file: Path) -> None:
    _, scene = bound(scene_cfg(box_file, plane()))
    with pytest.raises(UnknownNameError) as caught:
        scene["armm"]
    assert str(caught.value) == (
        "The scene has no 'armm'. Valid names, nearest first: "
        "'arm', 'tail_gyro', 'box/shake', 'toy', 'box'."
    )
    assert list(scene) == ["toy", "arm", "box", "tail_gyro", "box/shake"]


def test_a_selection_indexes_tensors_of_its_entity(box_file: Path) -> None:
    sim, scene = bound(scene_cfg(box_file, plane()))
    run = SceneEntityCfg("arm", joint_names=("velocity", "pd")).resolve(scene)
    assert run.joint_ids == slice(1, 3) and run.joint_names == ["velocity", "pd"]
    apart = SceneEntityCfg(
        "arm", joint_names=("xml", "position"), preserve_order=True
    ).resolve(scene)
    assert apart.joint_ids.tolist() == [8, 0]
    position = scene.entity("arm").data.joint_pos[:, apart.joint_ids]
    adr = [int(sim.mj_model.joint(f"arm/{n}").qposadr[0]) for n in ("xml", "position")]
    assert torch.equal(position, sim.data.qpos[:, adr])
    dofs = [int(sim.mj_model.joint(f"arm/{n}").dofadr[0]) for n in ("xml", "position")]
    assert apart.global_ids("dof").tolist() == dofs
    bodies = SceneEntityCfg("toy", body_names="tail").resolve(scene)
    assert bodies.global_ids("body").tolist() == [sim.mj_model.body("toy/tail").id]
    assert SceneEntityCfg("arm").resolve(scene).joint_ids == slice(0, 9)


def test_selections_are_equal_that_mean_the_same_elements_in_the_same_order(
    box_file: Path,
) -> None:
    _, scene = bound(scene_cfg(box_file, plane()))

    def chosen(*names: str, **said: bool) -> Selection:
        return SceneEntityCfg("arm", joint_names=names, **said).resolve(scene)

    one = chosen("xml", "position")
    assert one == chosen("xml", "position")
    assert hash(one) == hash(chosen("xml", "position"))
    assert one != chosen("xml", "position", preserve_order=True)
    assert one != chosen("xml", "velocity")
    assert one != SceneEntityCfg("toy", body_names="tail").resolve(scene)


def test_an_empty_selection_suggests_the_nearest_name(box_file: Path) -> None:
    _, scene = bound(scene_cfg(box_file, plane()))
    with pytest.raises(UnknownNameError, match=r"'toy'.*nearest first: 'tail'"):
        SceneEntityCfg("toy", body_names="tial").resolve(scene)
    with pytest.raises(UnknownNameError, match="no entity 'robot'"):
        SceneEntityCfg(joint_names="x").resolve(scene)


@pytest.mark.parametrize(
    "cfg, text",
    [
        (SceneCfg(num_envs=0), "scene.num_envs is 0; it has to be 1 or more."),
        (
            SceneCfg(env_spacing=-1.0),
            "scene.env_spacing is -1.0; it has to be 0 or more.",
        ),
        (SceneCfg(extent=0.0), "scene.extent is 0.0; it has to be above 0."),
        (
            SceneCfg(entities={"a/b": EntityCfg(source="x.xml")}),
            "'a/b' is not a valid name of an entity or sensor: use a non-empty "
            "one without '/', the separator in names such as 'robot/foot'.",
        ),
        (
            SceneCfg(
                entities=toy(),
                sensors=(
                    MujocoSensorCfg(
                        name="toy",
                        sensor_type="gyro",
                        obj=ObjRef(type="site", name="x"),
                    ),
                ),
            ),
            "Two entities or sensors of the scene are called 'toy'. Names have "
            "to be unique across entities and sensors: rename one of them.",
        ),
    ],
)
def test_invalid_scenes_are_refused(cfg: SceneCfg, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        build_scene(cfg)
    assert str(caught.value).startswith(text)


def test_a_scene_can_be_exported_and_compiled_again(
    box_file: Path, tmp_path: Path
) -> None:
    built = build_scene(scene_cfg(box_file, stairs()))
    folder = built.write(tmp_path / "scene")
    again = mujoco.MjModel.from_xml_path(str(folder / "scene.xml"))
    model = built.spec.compile()
    assert np.allclose(again.body_mass, model.body_mass)
    assert np.allclose(again.geom_pos, model.geom_pos, atol=1e-6)
    archive = built.write(tmp_path / "scene.zip", zip=True)
    assert any(n.endswith("scene.xml") for n in zipfile.ZipFile(archive).namelist())


# --- Spacing --------------------------------------------------------------------------

SLIDES = """
<mujoco><worldbody><body name="a"><joint name="one" type="slide"/><geom size=".1"/>
  <body name="b"><joint name="two" type="slide"/><geom size=".1"/></body></body>
</worldbody><actuator><motor name="one" joint="one"/></actuator></mujoco>
"""


def built_of(xml: str, *names: str, **more) -> Scene:
    entities = {n: EntityCfg(source=mujoco.MjSpec.from_string(xml)) for n in names}
    cfg = SceneCfg(num_envs=3, entities=entities, **more)
    built = build_scene(cfg)
    sim = Simulation(compile_model(built.spec, SIM), 3, SIM, device="cpu")
    return Scene(cfg, built, sim, WorldRng(3, 0, "cpu"))


@pytest.mark.parametrize("kind", [PositionActuatorCfg, IdealPdActuatorCfg])
def test_delay_groups_of_one_name_in_two_entities_have_lags_of_their_own(kind):
    """Within an entity the group has one lag per world, not shared with its twin."""
    bus = {"delay": DelayCfg(min_lag=0, max_lag=20), "delay_group": "bus"}
    names = ("position", "velocity")
    actuators = tuple(
        kind(target_names_expr=(name,), stiffness=1.0, damping=0.0, **bus)
        for name in names
    )
    entities = {
        name: EntityCfg(
            source=mujoco.MjSpec.from_string(ARM.partition("  <actuator>")[0] + END),
            articulation=ArticulationCfg(actuators=actuators),
        )
        for name in ("left", "right")
    }
    scene = bound(SceneCfg(num_envs=50, entities=entities))[1]
    lags = {}
    for name, entity in scene.entities.items():
        found = [group._delay.lags for group in entity.actuators._groups]
        assert all(torch.equal(one, found[0]) for one in found)
        lags[name] = found[0]
    assert not torch.equal(lags["left"], lags["right"])


def test_controls_with_those_of_another_entity_between_them_are_as_written():
    def another(spec: mujoco.MjSpec) -> None:
        joint = mujoco.mjtTrn.mjTRN_JOINT
        spec.add_actuator(name="left/two", target="left/two", trntype=joint)

    scene = built_of(SLIDES, "left", "right", spec_fn=another)
    model, left = scene.sim.mj_model, scene.entities["left"]
    names = [model.actuator(i).name for i in range(3)]
    assert names == ["left/one", "right/one", "left/two"]
    assert not left.data.ctrl.any()
    wanted = torch.tensor([[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    left.write_ctrl(torch.tensor([True, False, True]), wanted)
    assert torch.equal(left.data.ctrl, wanted)
    assert scene.sim.data.ctrl[:, 1].tolist() == [0.0] * 3


def test_an_entity_may_be_geoms_of_the_world_and_no_body():
    floor = "<mujoco><worldbody><geom name='a' type='plane' size='1 1 1'/>"
    scene = built_of(f"{floor}</worldbody></mujoco>", "floor")
    assert list(scene.entities) == ["floor"] and scene.sim.mj_model.nbody == 1
