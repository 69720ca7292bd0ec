"""Entities that differ per world, compared with models compiled alone."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab import views
from mjlab.entity import Entity, EntityCfg, InitialStateCfg
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import EventTermCfg, SceneEntityCfg
from mjlab.names import UnknownNameError
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, SceneError, build_scene
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from mjlab.spec import CollisionCfg
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.terrain import TerrainCfg
from mjlab.views import VariantsCfg, VariantsError

FREE = """<mujoco><asset>{asset}</asset><worldbody><body name="{name}"><freejoint/>
  <geom name="shape" {shape}/></body></worldbody></mujoco>"""
SHAPES = {
    "box": 'type="box" size=".05 .06 .07" mass=".3"',
    "sphere": 'type="sphere" size=".06" mass=".2" condim="4" friction=".8 .01 .001"',
    "capsule": 'type="capsule" size=".03 .05" mass=".25" euler="0 90 0"',
    "mesh": 'type="mesh" mesh="wedge" density="700"',
}
WEDGE = (
    '<mesh name="wedge" vertex="-.05 -.05 -.03 .06 -.05 -.03 .06 .05 -.03 '
    '-.05 .05 -.03 0 0 .08"/>'
)
CABINET = """<mujoco><worldbody>
  <body name="case"><geom name="case" type="box" size=".1 .02 .15" pos="0 .1 0"/>
    <body name="door" pos=".1 0 0">
      <joint name="door" axis="0 0 1" range="-1.5 1.5" damping=".05"/>
      <geom name="door" type="box" size=".1 .01 .14" pos="-.1 0 0" mass=".5"/></body>
    <body name="drawer" pos="0 -.05 -.05">
      <joint name="drawer" type="slide" axis="0 1 0" range="-.2 0" damping=".3"
        frictionloss=".1"/>
      <geom name="drawer" type="box" size=".08 .02 .03" mass=".4"/></body>
  </body></worldbody></mujoco>"""
HEIGHT = 0.2


def free(name: str, shape: str = "", asset: str = "") -> EntityCfg:
    xml = FREE.format(name=name, shape=shape or SHAPES[name], asset=asset)
    start = InitialStateCfg(pos=(0.0, 0.0, HEIGHT))
    return EntityCfg(source=mujoco.MjSpec.from_string(xml), init_state=start)


def cabinet() -> EntityCfg:
    start = InitialStateCfg(pos=(0.0, 0.0, HEIGHT), joint_pos={"door": 0.3})
    return EntityCfg(source=mujoco.MjSpec.from_string(CABINET), init_state=start)


def objects() -> dict[str, EntityCfg]:
    shapes = {name: free(name, asset=WEDGE) for name in SHAPES}
    return {**shapes, "cabinet": cabinet()}


def only(*names: str) -> dict[str, EntityCfg]:
    return {name: objects()[name] for name in names}


FAST = ("box", "sphere", "capsule", "mesh")


def build(
    variants: VariantsCfg,
    num_envs: int,
    *,
    seed: int = 0,
    sim: SimulationCfg | None = None,
    others: dict[str, EntityCfg] | None = None,
    **scene: object,
) -> Scene:
    cfg = SceneCfg(
        num_envs=num_envs,
        terrain=TerrainCfg(),
        entities={**(others or {}), "object": variants},
        **scene,  # pyright: ignore[reportArgumentType]
    )
    built = build_scene(cfg)
    sim = sim or native()
    simulation = Simulation(compile_model(built.spec, sim), num_envs, sim, device="cpu")
    return Scene(cfg, built, simulation, WorldRng(num_envs, seed, "cpu"))


def native(**options: object) -> SimulationCfg:
    return config("native", **options)


def config(backend: str, **options: object) -> SimulationCfg:
    mujoco_cfg = MujocoCfg(timestep=0.005, **options)  # pyright: ignore[reportArgumentType]
    return SimulationCfg(backend=backend, mujoco=mujoco_cfg)  # pyright: ignore[reportArgumentType]


def everyone(scene: Scene) -> torch.Tensor:
    return torch.ones(scene.num_envs, dtype=torch.bool)


def compile_alone(
    option: EntityCfg,
    simple: list[bool],
    sim: SimulationCfg,
    others: dict[str, EntityCfg],
) -> mujoco.MjModel:
    """The scene with that object in every world, with these body flags."""
    key = (id(option), tuple(simple), str(sim))
    if key not in _ALONE:
        entities: dict[str, EntityCfg | VariantsCfg] = {**others, "object": option}
        spec = build_scene(SceneCfg(terrain=TerrainCfg(), entities=entities)).spec
        own = [body for body in spec.bodies if owns(body.name, "object")]
        for body, its in zip(own, simple, strict=True):
            if not its:
                body.simple = False
        # The option's spec is kept alive, so that its id is not reused.
        _ALONE[key] = compile_model(spec, sim), option
    return _ALONE[key][0]


_ALONE: dict[object, tuple[mujoco.MjModel, EntityCfg]] = {}


class Twin:
    """One world of a scene, and MuJoCo C with that world's object compiled alone."""

    def __init__(
        self,
        scene: Scene,
        world: int,
        options: dict[str, EntityCfg],
        others: dict[str, EntityCfg],
    ) -> None:
        variants, self._sim = scene.variants["object"], scene.sim
        option = variants.names()[world]
        assert option is not None
        self.option = option
        member = list(variants.members)[int(variants.which[world])]
        model = scene.sim.mj_model
        bodies = [b for b in range(model.nbody) if owns(model.body(b).name, member)]
        joints = [j for j in range(model.njnt) if owns(model.joint(j).name, member)]
        simple = [bool(model.body_simple[body]) for body in bodies]
        self.model = compile_alone(options[option], simple, scene.sim.cfg, others)
        self.data = mujoco.MjData(self.model)
        self.world = world
        qpos, qvel = (positions(model, joints), velocities(model, joints))
        self.qpos, self.qvel = qpos, qvel
        mocap = model.body_mocapid[bodies[0]]
        self.mocap = mocap if mocap >= 0 else None

    def start(self) -> None:
        """Copy the state of the world."""
        self.data.qpos[:] = self.read("qpos")[self.qpos]
        self.data.qvel[:] = self.read("qvel")[self.qvel]
        if self.mocap is not None:
            self.data.mocap_pos[0] = self.read("mocap_pos")[self.mocap]
            self.data.mocap_quat[0] = self.read("mocap_quat")[self.mocap]

    def read(self, field: str) -> np.ndarray:
        """The engine's own numbers: float64 on the native engine."""
        if self._sim.backend.engine == "native":
            return self._sim.engine.batch.bind(field)[self.world]  # pyright: ignore[reportAttributeAccessIssue]
        return getattr(self._sim.data, field)[self.world].numpy()

    def difference(self) -> float:
        mujoco.mj_step(self.model, self.data)
        pos = np.abs(self.read("qpos")[self.qpos] - self.data.qpos).max()
        vel = np.abs(self.read("qvel")[self.qvel] - self.data.qvel).max()
        return float(max(pos, vel))


def owns(name: str, entity: str) -> bool:
    return name.startswith(f"{entity}/")


def positions(model: mujoco.MjModel, joints: list[int]) -> list[int]:
    widths = {0: 7, 1: 4, 2: 1, 3: 1}
    starts = [
        (int(model.jnt_qposadr[j]), widths[int(model.jnt_type[j])]) for j in joints
    ]
    return [start + i for start, width in starts for i in range(width)]


def velocities(model: mujoco.MjModel, joints: list[int]) -> list[int]:
    return [d for d in range(model.nv) if int(model.dof_jntid[d]) in joints]


def start_moving(scene: Scene, twins: list[Twin], height: float = 0.15) -> None:
    """Throw the objects, differently in each world; inactive parts stay at rest."""
    mask = everyone(scene)
    for entity in scene.entities.values():
        entity.reset_to_default(mask)
    random = torch.Generator().manual_seed(0)
    for twin in twins:
        columns = torch.tensor(twin.qvel)
        speed = torch.randn(len(twin.qvel), generator=random)
        scene.sim.data.qvel[twin.world, columns] = speed
        if twin.option != "cabinet":
            scene.sim.data.qpos[twin.world, twin.qpos[2]] = height
    scene.sim.forward()
    for twin in twins:
        twin.start()


def worst_differences(
    scene: Scene,
    options: dict[str, EntityCfg],
    steps: int,
    height: float = 0.15,
    others: dict[str, EntityCfg] | None = None,
) -> dict[str, float]:
    """Return the maximum difference of each option from its twins."""
    worlds = range(scene.num_envs)
    twins = [Twin(scene, world, options, others or {}) for world in worlds]
    start_moving(scene, twins, height)
    worst = dict.fromkeys(options, 0.0)
    touched: set[str] = set()
    for _ in range(steps):
        scene.sim.step()
        for twin in twins:
            worst[twin.option] = max(worst[twin.option], twin.difference())
            if twin.data.nefc:
                touched.add(twin.option)
    assert touched == set(options)
    return worst


# --- Each world behaves as with its object alone --------------------------------------


def test_free_objects_of_one_tree_move_bit_for_bit_as_if_alone() -> None:
    options = only(*FAST)
    scene = build(VariantsCfg(options=options), 64)
    assert set(scene.variants["object"].names()) == set(options)
    assert isinstance(scene["object"], Entity)
    worst = worst_differences(scene, options, steps=120)
    assert worst == dict.fromkeys(options, 0.0)


def test_objects_of_other_trees_move_bit_for_bit_as_if_alone() -> None:
    options = objects()
    scene = build(VariantsCfg(options=options), 64, sim=native(jacobian="sparse"))
    assert set(scene.variants["object"].names()) == set(options)
    assert len(scene.variants["object"].members) > 1
    worst = worst_differences(scene, options, steps=120)
    assert worst == dict.fromkeys(options, 0.0)


def test_a_dense_jacobian_sums_over_idle_joints_which_shows_in_the_last_bits() -> None:
    # MuJoCo multiplies dense matrices four columns at a time, so additional columns of
    # zeros change the order of sums.
    options = objects()
    scene = build(VariantsCfg(options=options), 16, sim=native(jacobian="dense"))
    worst = worst_differences(scene, options, steps=100)
    assert worst["cabinet"] == 0.0
    assert 0.0 < max(worst.values()) < 1e-11


@pytest.mark.slow
def test_on_warp_five_objects_move_as_if_alone() -> None:
    options = objects()
    scene = build(VariantsCfg(options=options), 64, sim=config("warp"))
    assert set(scene.variants["object"].names()) == set(options)
    worst = worst_differences(scene, options, steps=20, height=0.055)
    assert max(worst.values()) < 1e-4, worst
    data = scene.sim.engine.wp_data  # pyright: ignore[reportAttributeAccessIssue]
    count = int(data.nacon.numpy()[0])
    pairs = zip(
        data.contact.worldid.numpy()[:count],
        data.contact.geom.numpy()[:count],
        strict=True,
    )
    assert all(
        scene.sim.model.geom_rgba[world, geom, 3] > 0
        for world, two in pairs
        for geom in two
    )


def test_a_box_and_another_box_share_one_geom() -> None:
    small = free("box", 'type="box" size=".02 .02 .02" mass=".1"')
    options = {"large": objects()["box"], "small": small}
    scene = build(VariantsCfg(options=options), 8)
    object_ = scene["object"]
    assert isinstance(object_, Entity)
    assert object_.index.geoms.names == ("shape",)
    worst = worst_differences(scene, options, steps=100)
    assert worst == {"large": 0.0, "small": 0.0}


def test_two_meshes_share_one_geom() -> None:
    flat = WEDGE.replace(".08", ".01")
    options = {"tall": objects()["mesh"], "flat": free("mesh", asset=flat)}
    scene = build(VariantsCfg(options=options), 8)
    assert scene.sim.mj_model.ngeom == 2
    assert scene.sim.mj_model.nmesh == 2
    worst = worst_differences(scene, options, steps=100)
    assert worst == {"tall": 0.0, "flat": 0.0}


def test_bodies_of_several_geoms_meet_as_if_alone() -> None:
    dumbbell = """<geom name="left" size=".04" pos="-.08 0 0"/>
      <geom name="right" size=".04" pos=".08 0 0"/>
      <geom name="bar" type="capsule" size=".015 .08" euler="0 90 0"/>"""
    xml = f"""<mujoco><worldbody><body name="dumbbell"><freejoint/>{dumbbell}
      </body></worldbody></mujoco>"""
    start = InitialStateCfg(pos=(0.0, 0.0, 0.4))
    spec = mujoco.MjSpec.from_string(xml)
    options = {
        **only("box", "capsule"),
        "dumbbell": EntityCfg(source=spec, init_state=start),
    }
    steps = "".join(
        f'<geom type="box" size=".1 .1 .02" pos="{x} {y} {0.05 + 0.3 * x}"/>'
        for x in (-0.1, 0.1)
        for y in (-0.1, 0.1)
    )
    xml = f'<mujoco><worldbody><body name="steps">{steps}</body></worldbody></mujoco>'
    others = {"steps": EntityCfg(source=mujoco.MjSpec.from_string(xml))}
    scene = build(VariantsCfg(options=options), 24, others=others)
    assert scene.entity("object").index.geoms.names == (
        "shape",
        "capsule_shape",
        "left",
        "right",
        "bar",
    )
    worst = worst_differences(scene, options, 150, 0.3, others)
    assert worst == dict.fromkeys(options, 0.0)


def test_masses_are_those_of_the_single_objects() -> None:
    scene = build(VariantsCfg(options=objects()), 16)
    alone = {
        name: cfg.source.compile().body_mass.sum()  # pyright: ignore
        for name, cfg in objects().items()
    }
    names = scene.variants["object"].names()
    expected = [alone[name] for name in names if name is not None]
    np.testing.assert_allclose(
        views.of(scene).view("object").mass.numpy(), expected, rtol=1e-6
    )


# --- Absent objects have no effect
# ------------------------------------------------------


@pytest.fixture(scope="module")
def mixed() -> Iterator[Scene]:
    """Five objects in 16 worlds, at rest on the ground."""
    scene = build(VariantsCfg(options=objects()), 16)
    for entity in scene.entities.values():
        entity.reset_to_default(everyone(scene))
    for _ in range(300):
        scene.sim.step()
    scene.sim.forward()
    yield scene


def test_contacts_are_between_the_world_and_its_object(mixed: Scene) -> None:
    variants = mixed.variants["object"]
    members = list(variants.members)
    for world in range(mixed.num_envs):
        data = mixed.sim.engine.batch.get_data(world)  # pyright: ignore[reportAttributeAccessIssue]
        geoms = {int(g) for contact in data.contact for g in contact.geom}
        names = {mixed.sim.mj_model.geom(geom).name for geom in geoms}
        own = members[int(variants.which[world])]
        assert all(owns(name, own) for name in names - {"terrain"})
        if variants.names()[world] != "cabinet":
            assert len(names - {"terrain"}) == 1


def test_inactive_bodies_stay_at_their_position(mixed: Scene) -> None:
    variants = mixed.variants["object"]
    for number, entity in enumerate(variants.members.values()):
        idle = variants.which != number
        assert bool(idle.any())
        assert bool((entity.data.root_lin_vel_w[idle].abs() < 1e-9).all())
        assert bool((entity.data.joint_vel[idle].abs() < 1e-9).all())


def test_rays_meet_only_the_object_of_their_world(mixed: Scene) -> None:
    batch = mixed.sim.engine.batch  # pyright: ignore[reportAttributeAccessIssue]
    above, down = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])
    center = np.asarray(views.of(mixed).view("object").root_pose.p.double())
    dist, geoms = batch.ray((center + above)[:, None], np.tile(down, (16, 1, 1)))
    names = [mixed.sim.mj_model.geom(int(g)).name for g in geoms[:, 0]]
    alpha = mixed.sim.model.geom_rgba[
        torch.arange(16), torch.from_numpy(geoms[:, 0]).long(), 3
    ]
    assert bool((alpha > 0.0).all())
    for world, name in enumerate(mixed.variants["object"].names()):
        if name in ("box", "sphere", "capsule", "mesh"):
            _, geom = names[world].split("/")
            assert owns(names[world], next(iter(mixed.entities)))
            assert name in geom or (name == "box" and geom == "shape")
    assert bool((dist > 0.0).all())


def test_drawings_show_only_the_object_of_their_world(mixed: Scene) -> None:
    for world in (0, 1, 2):
        model = mixed.sim.engine.mj_model_of(world)
        data = mixed.sim.engine.mj_data_of(world)
        drawn = mujoco.MjvScene(model, maxgeom=100)
        mujoco.mjv_updateScene(
            model,
            data,
            mujoco.MjvOption(),
            None,
            mujoco.MjvCamera(),
            mujoco.mjtCatBit.mjCAT_ALL,
            drawn,
        )
        seen = [g for g in drawn.geoms[: drawn.ngeom] if g.rgba[3] > 0.0]
        is_cabinet = mixed.variants["object"].names()[world] == "cabinet"
        assert len(seen) == 1 + (3 if is_cabinet else 1)


def test_the_merged_view_has_the_joints_of_each_object(mixed: Scene) -> None:
    view = views.of(mixed).view("object")
    has = mixed.variants["object"].has("cabinet")
    assert view.num_joints.tolist() == [2 if there else 0 for there in has.tolist()]
    door = view.joint_pos[has][:, 0]
    assert bool((door != 0.0).all())
    assert bool((view.joint_pos[~has] == 0.0).all())


# --- Assignment of objects ------------------------------------------------------------


def test_a_world_has_the_same_object_whatever_the_number_of_worlds() -> None:
    few = build(VariantsCfg(options=only("box", "sphere")), 4)
    many = build(VariantsCfg(options=only("box", "sphere")), 16)
    names = many.variants["object"].names()
    assert few.variants["object"].names() == names[:4]
    other = build(VariantsCfg(options=only("box", "sphere")), 16, seed=1)
    assert other.variants["object"].names() != names


def test_weights_are_fractions_of_the_worlds() -> None:
    weights = {"box": 3.0, "sphere": 1.0, "mesh": 0.0}
    options = only("box", "sphere", "mesh")
    cfg = VariantsCfg(options=options, weights=weights, absent=0.2)
    names = build(cfg, 1000).variants["object"].names()
    assert names.count("mesh") == 0
    # Four standard deviations of a binomial fraction.
    assert abs(names.count("box") / 1000 - 0.6) < 0.062
    assert abs(names.count("sphere") / 1000 - 0.2) < 0.051
    assert abs(names.count(None) / 1000 - 0.2) < 0.051


def test_a_list_gives_each_world_its_object_and_none_leaves_it_out() -> None:
    listed = ("sphere", None, "box", "box")
    scene = build(VariantsCfg(options=only("box", "sphere"), assignment=listed), 4)
    variants = scene.variants["object"]
    assert variants.names() == list(listed)
    assert variants.present.tolist() == [True, False, True, True]
    view = views.of(scene).view("object")
    mass = [0.2, 0.0, 0.3, 0.3]
    np.testing.assert_allclose(view.mass.numpy(), mass, rtol=1e-6)
    for _ in range(200):
        scene.sim.step()
    entity = scene.entity("object")
    assert float(entity.data.root_lin_vel_w[1].abs().max()) < 1e-9
    data = scene.sim.engine.batch.get_data(1)  # pyright: ignore[reportAttributeAccessIssue]
    assert data.ncon == 0


def test_initial_states_are_those_of_the_options() -> None:
    high = dataclasses.replace(objects()["box"])
    high.init_state = InitialStateCfg(pos=(0.0, 0.0, 0.9))
    options = {"high": high, "sphere": objects()["sphere"]}
    listed = ("high", "sphere", "high")
    scene = build(VariantsCfg(options=options, assignment=listed), 3)
    entity = scene.entity("object")
    entity.reset_to_default(everyone(scene))
    height = entity.data.root_pos_w[:, 2]
    np.testing.assert_allclose(height.numpy(), [0.9, HEIGHT, 0.9], rtol=1e-6)


# --- Drawing anew --------------------------------------------------------------------


def redrawn() -> Scene:
    return build(VariantsCfg(options=objects(), redraw=True), 32)


def test_a_reset_draws_again_and_leaves_other_worlds_unchanged() -> None:
    scene = redrawn()
    variants, sim = scene.variants["object"], scene.sim
    sim.model["body_mass"][:] *= 1.5  # As in an event.
    before, names = sim.snapshot(), variants.names()
    mask = torch.arange(32) < 16
    sim.reset(mask)
    variants._rng.advance(mask)
    scene.reset(mask)
    after = sim.snapshot()
    assert variants.names()[16:] == names[16:]
    assert variants.names()[:16] != names[:16]
    for key in before:
        if before[key].shape[:1] == (32,):
            assert torch.equal(before[key][16:], after[key][16:]), key


def test_newly_drawn_worlds_move_as_if_simulated_alone() -> None:
    options = objects()
    cfg = VariantsCfg(options=options, redraw=True)
    scene = build(cfg, 48, sim=native(jacobian="sparse"))
    mask = everyone(scene)
    for _ in range(3):
        scene.sim.reset(mask)
        scene.variants["object"]._rng.advance(mask)
        scene.reset(mask)
    assert set(scene.variants["object"].names()) == set(options)
    worst = worst_differences(scene, options, steps=100)
    assert worst == dict.fromkeys(options, 0.0)


@pytest.mark.slow
def test_on_warp_newly_drawn_worlds_equal_worlds_built_that_way() -> None:
    options = objects()
    for name in FAST:  # Low enough to touch the ground.
        options[name].init_state = InitialStateCfg(pos=(0.0, 0.0, 0.055))
    cfg = VariantsCfg(options=options, redraw=True, absent=0.1)
    drawn = build(cfg, 32, sim=config("warp"))
    first, some = drawn.variants["object"].names(), torch.arange(32) < 24
    for mask in (everyone(drawn), some, some):
        drawn.sim.step()  # Redrawn objects have moved and had contacts before.
        drawn.sim.reset(mask)
        drawn.variants["object"]._rng.advance(mask)
        drawn.reset(mask)
    names = drawn.variants["object"].names()
    assert set(names) == {*options, None}
    assert sum(old != new for old, new in zip(first, names, strict=True)) > 8
    listed = VariantsCfg(options=options, assignment=tuple(names))
    built = build(listed, 32, sim=config("warp"))
    for field in drawn.sim.engine.variable_fields:
        ours, theirs = (getattr(scene.sim.model, field) for scene in (drawn, built))
        assert torch.equal(ours, theirs), field
    for scene in (drawn, built):
        scene.sim.reset()
        for entity in scene.entities.values():
            entity.reset_to_default(everyone(scene))
        spin = torch.linspace(-2.0, 2.0, scene.sim.data.qvel.numel())
        scene.sim.data.qvel.copy_(spin.view_as(scene.sim.data.qvel))
        scene.sim.forward()
    for _ in range(40):
        for scene in (drawn, built):
            scene.sim.step()
        assert torch.equal(drawn.sim.data.qpos, built.sim.data.qpos)
        assert torch.equal(drawn.sim.data.qvel, built.sim.data.qvel)
    assert int(built.sim.engine.wp_data.nacon.numpy()[0]) >= 16  # pyright: ignore[reportAttributeAccessIssue]


def test_without_redraw_a_reset_keeps_the_objects() -> None:
    scene = build(VariantsCfg(options=only("box", "sphere")), 8)
    names = scene.variants["object"].names()
    scene.variants["object"]._rng.advance()
    scene.reset(everyone(scene))
    assert scene.variants["object"].names() == names


def cartpole_with_objects(num_envs: int, **variants: Any) -> CartpoleBalanceCfg:
    cfg = CartpoleBalanceCfg(seed=1, episode_length_s=0.15)
    cfg.scene.num_envs = num_envs
    options = only("box", "sphere", "cabinet")
    cfg.scene.entities["object"] = VariantsCfg(options=options, **variants)
    return cfg


@pytest.mark.parametrize(
    "engine", ["native", pytest.param("warp", marks=pytest.mark.slow)]
)
def test_an_environment_draws_again_as_episodes_end_and_returns_to_a_snapshot(
    engine: Any,
) -> None:
    cfg = cartpole_with_objects(16, redraw=True, absent=0.2)
    cfg.sim.backend = engine
    env = ManagerBasedRlEnv(cfg, "cpu")
    env.reset()
    variants = env.scene.variants["object"]
    action = torch.zeros(16, 1)
    env.step(action)
    state, names = env.get_state(), variants.names()
    masses = views.of(env.scene).view("object").mass.clone()
    seen = []
    for _ in range(3):
        env.step(action)
        seen.append(variants.names())
    assert seen[0] == names
    assert seen[2] != names
    later = views.of(env.scene).view("object").mass.clone()
    env.set_state(state)
    assert variants.names() == names
    assert torch.equal(views.of(env.scene).view("object").mass, masses)
    for again in seen:
        env.step(action)
        assert variants.names() == again
    assert torch.equal(views.of(env.scene).view("object").mass, later)
    env.close()


def test_the_start_up_report_shows_the_path_used() -> None:
    env = ManagerBasedRlEnv(cartpole_with_objects(2))
    assert "Entity 'object': 3 options in 2 kinematic trees" in str(env)
    env.close()


def test_properties_of_the_option_cannot_be_randomised_too() -> None:
    cfg = cartpole_with_objects(2)
    asset = SceneEntityCfg("object.box+sphere")
    cfg.events["mass"] = EventTermCfg(
        func=mdp.randomize.body_mass,
        mode="reset",
        params={"asset_cfg": asset, "ranges": (0.9, 1.1)},
    )
    with pytest.raises(
        ValueError, match="differs between the options of entity 'object'"
    ):
        ManagerBasedRlEnv(cfg)


def test_a_term_that_names_a_merged_entity_suggests_its_members() -> None:
    scene = build(VariantsCfg(options=only("box", "cabinet")), 2)
    with pytest.raises(UnknownNameError) as error:
        scene.entity("object")
    assert str(error.value) == (
        "The entity 'object' differs between worlds; its members are 'object.box', "
        "'object.cabinet'. Name one of them, or read "
        "views.of(scene).view('object')."
    )


# --- Invalid configurations -----------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": {}}, "The entity 'object' has no options."),
        (
            {"weights": {"box": 1.0, "bal": 1.0}},
            "The entity 'object' has a weight for 'bal', which is not one of its "
            "options. Valid names, nearest first: 'ball', 'box'.",
        ),
        (
            {"weights": {"box": 1.0}},
            "The entity 'object' has no weight for its option 'ball'. Give weights "
            "to all options or to none.",
        ),
        (
            {"weights": {"box": -1.0, "ball": 2.0}},
            "The weight of the option 'box' of the entity 'object' is -1.0; it has to "
            "be a number of 0 or more.",
        ),
        (
            {"weights": {"box": 0.0, "ball": 0.0}},
            "The weights of the entity 'object' sum to 0, so no option can be sampled.",
        ),
        (
            {"assignment": ("box", "ball", "box")},
            "The assignment of the entity 'object' is for 3 worlds, and the scene "
            "has 2. Use weights for any number of worlds.",
        ),
        (
            {"assignment": ("box", "bll")},
            "The assignment of the entity 'object' gives world 1 the option 'bll', "
            "which does not exist. Valid names, nearest first: 'ball', 'box'.",
        ),
        (
            {"assignment": ("box", "ball"), "redraw": True},
            "The entity 'object' has an assignment and redraw, which exclude each "
            "other. Remove one of them.",
        ),
        (
            {"assignment": ("box", "ball"), "absent": 0.5},
            "The entity 'object' has an assignment and absent, which exclude each "
            "other. Remove one of them.",
        ),
        (
            {"absent": 1.0},
            "absent=1.0 of the entity 'object' is a fraction of the worlds: it has "
            "to be at least 0 and below 1.",
        ),
    ],
)
def test_invalid_variants_are_refused(change: dict[str, object], message: str) -> None:
    options = {"box": free("box"), "ball": free("sphere")}
    cfg = dataclasses.replace(VariantsCfg(options=options), **change)
    with pytest.raises(VariantsError) as error:
        build_scene(SceneCfg(num_envs=2, entities={"object": cfg}))
    assert str(error.value) == message


def test_an_edit_of_the_scene_has_to_work_for_each_option_alone() -> None:
    def edit(spec: mujoco.MjSpec) -> None:
        spec.geom("object/shape").friction[0] = 0.5

    options = {"box": free("box"), "ball": free("sphere", 'size=".1" group="3"')}
    ball: Any = options["ball"].source
    ball.geoms[0].name = "round"
    with pytest.raises(SceneError) as error:
        build(VariantsCfg(options=options), 2, spec_fn=edit)
    assert str(error.value) == (
        "scene.spec_fn has to work with each option of the entity 'object' "
        "separately, because each option is also compiled alone; with 'ball' "
        "it raised AttributeError: 'NoneType' object has no attribute 'friction'"
    )


def test_an_option_that_cannot_be_built_is_named() -> None:
    options = {"box": free("box"), "none": EntityCfg(source=mujoco.MjSpec())}
    with pytest.raises(ValueError, match="neither a body nor a geom") as error:
        build_scene(SceneCfg(entities={"object": VariantsCfg(options=options)}))
    assert "This error occurred in the option 'none'." in error.value.__notes__


def test_edits_of_an_option_are_applied() -> None:
    slippery = dataclasses.replace(
        objects()["box"],
        collisions=(CollisionCfg(geom_names=".*", friction=(0.1,)),),
    )
    options = {"rough": objects()["box"], "slippery": slippery}
    scene = build(VariantsCfg(options=options, assignment=("rough", "slippery")), 2)
    friction = scene.sim.model.geom_friction[:, 1, 0]
    np.testing.assert_allclose(friction.numpy(), [1.0, 0.1], rtol=1e-6)


def test_the_paths_and_their_reasons_are_reported() -> None:
    fast = build(VariantsCfg(options=only("box", "sphere")), 2)
    assert fast.variants["object"].note == (
        "2 options share one kinematic tree (fast path)"
    )
    general = build(VariantsCfg(options=only("box", "cabinet")), 2)
    assert general.variants["object"].note == (
        "2 options in 2 kinematic trees, which all exist in every world; unused trees "
        "are inactive (general path): 'cabinet' has another kinematic tree"
    )
