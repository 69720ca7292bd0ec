"""Contact forces between two objects, compared with weights and MuJoCo's contacts."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from mjlab import views
from mjlab.entity import EntityCfg
from mjlab.names import UnknownNameError
from mjlab.scene import (
    ContactPairCfg,
    ContactPairError,
    SceneCfg,
    build_scene,
)
from mjlab.scene.build import build_pairs
from mjlab.sim import Stage
from mjlab.views import ContactForces, ViewError
from tests.tools.step_watch import watch
from tests.worlds.view_world import (
    GRAVITY,
    World,
    advance,
    box,
    furniture,
    make_world,
)

PLATE, CUBE, BALL = 3.0, 1.0, 0.5
PAIRS = (
    ContactPairCfg(first="cube|bowl", second="plate"),
    ContactPairCfg(first=("cube", "bowl", "plate"), second="terrain"),
    ContactPairCfg(first="cube"),
    ContactPairCfg(first="plate|bowl"),
    ContactPairCfg(first="cube/box", second="plate/box"),
)


def stack() -> dict[str, EntityCfg]:
    """A cube on a plate on the ground, and a bowl beside them, on the ground."""
    return {
        "plate": box(PLATE, 0.2, (0.0, 0.0, 0.2)),
        "cube": box(CUBE, 0.1, (0.0, 0.0, 0.501)),
        "bowl": box(BALL, 0.1, (1.0, 0.0, 0.1)),
    }


def at_rest(backend: str, num_envs: int = 3) -> World:
    """World 1 has the cube in the air, and world 2 has it upon the ground."""
    world = make_world(stack(), num_envs, pairs=PAIRS, backend=backend)
    scene = world.scene
    pose = torch.tensor([[0.0, 0.0, 9.0], [0.0, 0.0, 9.0], [0.0, 2.0, 0.101]])
    pose = torch.cat((pose, torch.tensor([[1.0, 0.0, 0.0, 0.0]] * 3)), dim=1)
    mask = torch.tensor([False, True, True])
    scene.entities["cube"].write_root_pose_w(mask, pose)
    advance(scene, 300)
    return world


@pytest.fixture(scope="module")
def world() -> World:
    return at_rest("native")


def up(*newtons: float) -> list:
    """Forces that point up, within 1 % of their size."""
    return [[pytest.approx(0.0, abs=1e-2)] * 2 + [weigh(n)] for n in newtons]


def weigh(newtons: float) -> object:
    return pytest.approx(newtons, rel=0.01, abs=1e-6)


def check_forces(world: World) -> None:
    scene = world.scene
    weight, plate, bowl = (m * GRAVITY for m in (CUBE, PLATE, BALL))
    on_cube = views.of(scene).pairwise_contact_force("cube", "plate")
    assert on_cube.tolist() == up(weight, 0.0, 0.0)
    assert on_cube[1:].tolist() == [[0.0, 0.0, 0.0]] * 2  # Apart: exactly zero.
    on_plate = views.of(scene).pairwise_contact_force("plate", "cube")
    assert torch.equal(on_plate, -on_cube)
    grounded = views.of(scene).pairwise_contact_force("cube", "terrain")
    assert grounded.tolist() == up(0.0, 0.0, weight)
    under = views.of(scene).pairwise_contact_force("plate", "terrain")
    assert under.tolist() == up(weight + plate, plate, plate)
    net = views.of(scene).net_contact_force("cube")
    torch.testing.assert_close(net, on_cube + grounded, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(
        views.of(scene).view("plate").net_contact_force,
        under + on_plate,
        atol=1e-4,
        rtol=1e-5,
    )
    assert views.of(scene).view("plate").net_contact_force.tolist() == up(
        plate, plate, plate
    )
    assert views.of(scene).net_contact_force("bowl").tolist() == up(bowl, bowl, bowl)
    by_body = views.of(scene).body("cube/box")
    assert torch.equal(
        views.of(scene).pairwise_contact_force(
            by_body, views.of(scene).body("plate/box")
        ),
        on_cube,
    )


def check_merged(world: World) -> None:
    scene = world.scene
    which = torch.tensor([0, 1, 0])
    thing = views.of(scene).merge_entities(["cube", "bowl"], which)
    weight, bowl = CUBE * GRAVITY, BALL * GRAVITY
    on_plate = views.of(scene).pairwise_contact_force(thing, "plate")
    assert on_plate.tolist() == up(weight, 0.0, 0.0)
    on_ground = views.of(scene).pairwise_contact_force(thing, "terrain")
    assert on_ground.tolist() == up(0.0, bowl, weight)
    net = thing.net_contact_force
    assert net.tolist() == up(weight, bowl, weight)
    torch.testing.assert_close(net, on_plate + on_ground, atol=1e-5, rtol=1e-5)
    both = views.of(scene).merge_entities(
        ["cube", "bowl"], torch.tensor([[0, 1], [1, 0], [1, 0]])
    )
    each = views.of(scene).pairwise_contact_force(both, views.of(scene).body("terrain"))
    assert each[:, 0].tolist() == up(0.0, bowl, bowl)
    assert each[:, 1].tolist() == up(bowl, 0.0, weight)
    assert torch.equal(views.of(scene).pairwise_contact_force("terrain", both), -each)
    here = torch.tensor([False, True, True])
    absent = views.of(scene).merge_entities(["cube", "bowl"], which, here)
    force = views.of(scene).pairwise_contact_force(absent, "plate")
    assert force[0].tolist() == [0.0, 0.0, 0.0]
    assert absent.net_contact_force.tolist() == up(0.0, bowl, weight)


def test_contact_force_is_the_weight_at_rest_and_zero_in_flight(
    world: World,
):
    check_forces(world)


def test_merged_views_give_the_force_on_the_option_in_each_world(world: World):
    check_merged(world)


@pytest.mark.slow
def test_the_forces_are_the_same_ones_on_the_warp_engine():
    world = at_rest("warp")
    check_forces(world)
    check_merged(world)


def force_between(
    model: mujoco.MjModel, data: mujoco.MjData, one: set[int], two: set[int]
) -> np.ndarray:
    """Force on the bodies `one` from the bodies `two`, summed over the contacts."""
    total = np.zeros(3)
    for i, contact in enumerate(data.contact[: data.ncon]):
        bodies = [int(model.geom_bodyid[g]) for g in contact.geom]
        wrench = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, wrench)
        # On the second geom, in the rows of the contact's frame.
        force = contact.frame.reshape(3, 3).T @ wrench[:3]
        if bodies[0] in one and bodies[1] in two:
            total -= force
        if bodies[1] in one and bodies[0] in two:
            total += force
    return total


@pytest.fixture(scope="module")
def heap() -> World:
    """Two boxes and a cabinet, thrown onto one spot, differently in each world."""
    pairs = (
        ContactPairCfg(first="cube", second=("brick", "full", "terrain")),
        ContactPairCfg(first="full/door", second=("cube", "brick", "terrain")),
        ContactPairCfg(first="full"),
    )
    places = {"full": (0.0, 0.12), "cube": (0.3, 0.35), "brick": (0.15, 0.65)}
    objects = furniture()
    world = make_world({name: objects[name] for name in places}, 4, pairs=pairs)
    everyone = torch.ones(4) > 0.0
    for name, (y, z) in places.items():
        pose = torch.tensor([[0.02, y, z, 1.0, 0.05, 0.0, 0.0]])
        pose[:, 3:] /= pose[:, 3:].norm()
        speed = torch.tensor(
            [[0.1 * i, -0.2, 0.0, 0.0, 0.0, i - 1.0] for i in range(4)]
        )
        views.of(world.scene).view(name).write_root_pose(everyone, pose)
        views.of(world.scene).view(name).write_root_velocity(everyone, speed)
    return world


def test_the_forces_in_a_heap_are_those_of_mujocos_own_contacts(heap: World):
    scene, model = heap.scene, heap.sim.mj_model
    index = views.of(scene).body_index
    links = {i for name, i in index.items() if name.startswith("full/")}
    outside = set(range(model.nbody)) - links
    sides = {name: {i} for name, i in index.items()} | {
        "cube": {index["cube/box"]},
        "brick": {index["brick/box"]},
        "full": links,
    }
    asked = [("cube", "brick"), ("cube", "full"), ("terrain", "cube")]
    asked += [("full/door", "cube"), ("terrain", "full/door")]
    touched = dict.fromkeys(asked, 0)
    for _ in range(12):
        advance(scene, 16)
        before = scene.sim.snapshot()
        scene.sim.forward(Stage.ACCELERATION)
        scene.refresh()
        forces = {pair: views.of(scene).pairwise_contact_force(*pair) for pair in asked}
        net = views.of(scene).net_contact_force("full")
        for world in range(4):
            data = scene.sim.engine.mj_data_of(world)
            mujoco.mj_forward(model, data)
            for (first, second), force in forces.items():
                expected = force_between(model, data, sides[first], sides[second])
                np.testing.assert_allclose(force[world], expected, rtol=1e-3, atol=0.05)
                touched[first, second] += bool(np.abs(expected).max() > 0.1)
            expected = force_between(model, data, links, outside)
            np.testing.assert_allclose(net[world], expected, rtol=1e-3, atol=0.05)
        scene.sim.restore(before)
    assert min(touched.values()) > 0, touched


def test_forces_are_read_without_synchronisation(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    scene = world.scene
    which, here = torch.tensor([0, 1, 0]), torch.tensor([True, True, False])
    thing = views.of(scene).merge_entities(["cube", "bowl"], which, here)
    ground = views.of(scene).body("terrain")
    with watch(SimpleNamespace(sim=world.sim), monkeypatch) as seen:
        total = (
            views.of(scene).pairwise_contact_force(thing, ground)
            + thing.net_contact_force
        )
    assert seen.problems == []
    assert total.shape == (3, 3)


# What cannot be.


def test_a_pair_that_is_not_declared_names_the_lines_to_add(world: World):
    scene = world.scene
    with pytest.raises(ViewError) as error:
        views.of(scene).pairwise_contact_force("bowl", "cube")
    assert str(error.value) == (
        "The contact force on 'bowl' from 'cube' is not measured, because the scene "
        "does not declare this pair. Between steps, use contact_force_now, which needs "
        "no declaration. For terms, add to SceneCfg:\n"
        "contact_pairs=(\n"
        "    ContactPairCfg(first='bowl', second='cube'),\n"
        ")"
    )
    both = views.of(scene).merge_bodies(
        ["cube/box", "bowl/box"], torch.tensor([0, 1, 0])
    )
    with pytest.raises(ViewError) as error:
        _ = both.net_contact_force
    assert str(error.value).endswith(
        "contact_pairs=(\n"
        "    ContactPairCfg(first='cube/box'),\n"
        "    ContactPairCfg(first='bowl/box'),\n"
        ")"
    )
    with pytest.raises(UnknownNameError, match=r"no body or entity 'cubes'.*: 'cube',"):
        views.of(scene).net_contact_force("cubes")


def test_views_of_different_sizes_have_no_pair_force(world: World):
    scene = world.scene
    both = views.of(scene).merge_entities(["cube", "bowl"], torch.tensor([[0, 1]] * 3))
    three = views.of(scene).merge_bodies(
        ["terrain", "world", "plate/box"], torch.tensor([[0, 1, 2]] * 3)
    )
    with pytest.raises(ViewError, match="'cube' has no contact with itself"):
        views.of(scene).pairwise_contact_force("cube", "cube")
    with pytest.raises(ViewError, match=r"rows of shape \(3, 2\).*of shape \(3, 3\)"):
        views.of(scene).pairwise_contact_force(both, three)


def complaint(*pairs: ContactPairCfg) -> str:
    with pytest.raises((ContactPairError, UnknownNameError)) as error:
        build_scene(SceneCfg(entities=stack() | post(), contact_pairs=pairs))
    return str(error.value)


def post() -> dict[str, EntityCfg]:
    xml = """<mujoco><worldbody><body name="base"><joint/>
      <inertial mass="1" diaginertia="1 1 1" pos="0 0 0"/></body>
    </worldbody></mujoco>"""
    return {"ghost": EntityCfg(source=lambda: mujoco.MjSpec.from_string(xml))}


def test_invalid_pairs_are_errors_of_the_scene():
    unknown = complaint(ContactPairCfg(first="cub", second="plate"))
    assert "body or entity" in unknown and "nearest first: 'cube'" in unknown
    assert complaint(ContactPairCfg(first="cube", second="cu.*")) == (
        "ContactPairCfg(first='cube', second='cu.*') matches only 'cube' on both "
        "sides; first and second have to differ."
    )
    assert complaint(ContactPairCfg(first="cube", second="cube/box")) == (
        "In the pair 'cube' and 'cube/box', one contains the other; name two bodies."
    )
    assert complaint(ContactPairCfg(first="ghost")) == (
        "The entity 'ghost' has no body with a geom, so it has no contacts."
    )


def test_a_pattern_without_a_slash_means_entities_and_one_with_it_bodies():
    pairs = (
        ContactPairCfg(first="cube|bowl|plate", second="cube|bowl|plate"),
        ContactPairCfg(first=".*/box", second="world"),
    )
    built = build_scene(SceneCfg(entities=stack(), contact_pairs=pairs))
    assert built.pairs.keys() == {
        ("plate", "cube"),
        ("plate", "bowl"),
        ("cube", "bowl"),
        ("plate/box", "world"),
        ("cube/box", "world"),
        ("bowl/box", "world"),
    }


def test_the_name_of_variants_means_all_options(world: World):
    spec = build_scene(SceneCfg(entities=stack())).spec
    tool = {"tool": ["cube", "bowl"]}
    pairs = build_pairs((ContactPairCfg(first="tool", second="plate"),), spec, tool)
    assert list(pairs) == [("cube", "plate"), ("bowl", "plate")]
    thing = views.of(world.scene).merge_entities(
        ["cube", "bowl"], torch.tensor([0, 1, 0])
    )
    with pytest.raises(ViewError) as error:
        ContactForces({}, tool).net(thing)
    assert str(error.value).endswith("(\n    ContactPairCfg(first='tool'),\n)")


# Of the current state, between things that nobody declared.


def names_of(world: World) -> list[str]:
    return [*world.scene.entities, "terrain", "cube/box", "plate/box"]


@pytest.mark.parametrize(
    "backend", ["native", pytest.param("warp", marks=pytest.mark.slow)]
)
def test_the_current_force_of_any_pair_equals_the_declared_one(backend):
    world = at_rest(backend)
    scene = world.scene
    scene.entities["plate"].write_root_velocity_b(
        torch.tensor([True, True, True]), torch.tensor([[0.1, 0.3, 0.0, 0, 0, 1]] * 3)
    )
    advance(scene, 3)
    scene.sim.forward(Stage.ACCELERATION)
    scene.refresh()
    things = views.of(scene)
    before = {name: value.clone() for name, value in scene.sim.snapshot().items()}
    pairs = [("cube", "plate"), ("plate", "terrain"), ("cube", "terrain")]
    pairs += [("cube/box", "plate/box"), ("terrain", "bowl")]
    for first, second in pairs:
        declared = things.pairwise_contact_force(first, second)
        now = things.contact_force_now(first, second)
        close = {"atol": 1e-3, "rtol": 1e-3 if backend == "warp" else 1e-5}
        torch.testing.assert_close(now, declared, **close)
        assert torch.equal(things.contact_force_now(second, first), -now)
    for name in ("cube", "plate", "bowl"):
        torch.testing.assert_close(
            things.contact_force_now(name), things.net_contact_force(name), **close
        )
    assert things.contact_force_now("plate", "terrain")[:, :2].abs().max() > 0.1
    after = scene.sim.snapshot()
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_undeclared_pairs_can_be_inspected():
    world = make_world(stack(), 3, backend="native")
    scene = world.scene
    advance(scene, 300)
    things = views.of(scene)
    with pytest.raises(ViewError, match="use contact_force_now, which needs no decl"):
        things.pairwise_contact_force("cube", "plate")
    weight = CUBE * GRAVITY
    assert things.contact_force_now("cube", "plate").tolist() == up(*[weight] * 3)
    which = torch.tensor([0, 1, 0])
    thing = things.merge_entities(["cube", "bowl"], which)
    bowl = BALL * GRAVITY
    assert things.contact_force_now(thing).tolist() == up(weight, bowl, weight)
    lifted = torch.tensor([[0.0, 0.0, 9.0, 1.0, 0.0, 0.0, 0.0]] * 3)
    alone = torch.tensor([False, True, False])
    scene.entities["cube"].write_root_pose_w(alone, lifted)
    scene.sim.forward()
    scene.refresh()
    found = things.contact_force_now("cube", "plate")
    assert found[1].tolist() == [0.0, 0.0, 0.0] and found[0, 2] == weigh(weight)
    with pytest.raises(UnknownNameError, match="no body or entity 'cubes'"):
        things.contact_force_now("cubes", "plate")
