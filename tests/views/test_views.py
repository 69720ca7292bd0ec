"""Views of bodies, joints and entities, compared with MuJoCo C and entity data."""

from collections.abc import Iterator
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
import torch

from mjlab import views
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
)
from mjlab.names import UnknownNameError
from mjlab.scene import ContactPairCfg, Scene, SceneCfg
from mjlab.sim import SimulationCfg
from mjlab.terrain import TerrainCfg
from mjlab.views import Pose, ViewError
from tests.tools.step_watch import watch
from tests.worlds.view_world import advance, box, forward, furniture, make_world, shake


@pytest.fixture(scope="module", params=[1, 4, 16])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    scene = make_world(furniture(), request.param).scene
    shake(scene)
    yield scene


@pytest.fixture
def small() -> Scene:
    return make_world(furniture(), 2).scene


def in_mujoco(scene: Scene, world: int) -> mujoco.MjData:
    """The state of a world in MuJoCo C, computed from qpos and qvel."""
    model = scene.sim.mj_model
    data = mujoco.MjData(model)
    for field in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
        value = getattr(scene.sim.data, field)[world].double().numpy()
        getattr(data, field)[:] = value
    mujoco.mj_forward(model, data)
    return data


def object_velocity(
    model: mujoco.MjModel, data: mujoco.MjData, body: int
) -> np.ndarray:
    """Return MuJoCo's velocity of a body's frame, linear before angular."""
    both = np.zeros(6)
    kind = mujoco.mjtObj.mjOBJ_XBODY
    mujoco.mj_objectVelocity(model, data, kind, body, both, 0)
    return np.concatenate([both[3:], both[:3]])


def everyone(scene: Scene) -> torch.Tensor:
    return torch.ones(scene.num_envs, dtype=torch.bool)


# The packed state.


def test_the_packed_state_equals_mujocos(scene: Scene):
    model = scene.sim.mj_model
    packed = views.of(scene).rigid_body_data
    assert packed.shape == (scene.num_envs, model.nbody, 13)
    for world in (0, scene.num_envs - 1):
        data = in_mujoco(scene, world)
        for name, column in views.of(scene).body_index.items():
            body = model.body(name).id
            assert column == body
            row = packed[world, column].numpy()
            np.testing.assert_allclose(row[:3], data.xpos[body], atol=1e-5)
            np.testing.assert_allclose(row[3:7], data.xquat[body], atol=1e-5)
            velocity = object_velocity(model, data, body)
            np.testing.assert_allclose(row[7:], velocity, atol=1e-5)


def test_the_packed_state_equals_the_reads_of_every_entity(scene: Scene):
    for name, entity in scene.entities.items():
        columns = [
            views.of(scene).body_index[f"{name}/{body}"] for body in entity.body_names
        ]
        packed = views.of(scene).rigid_body_data[:, columns]
        assert torch.equal(packed[..., :7], entity.data.body_pose_w)
        assert torch.equal(packed[..., 7:], entity.data.body_vel_w)


def test_packed_state_is_computed_once_per_step():
    scene = make_world(furniture(), 2).scene
    first = views.of(scene).rigid_body_data
    assert views.of(scene).rigid_body_data is first
    fallen = first[:, views.of(scene).body_index["cube/box"], 2].clone()
    advance(scene, 20)
    forward(scene)
    assert (
        views.of(scene).rigid_body_data[:, views.of(scene).body_index["cube/box"], 2]
        < fallen
    ).all()


def test_reading_velocities_requires_only_the_velocity_stage():
    scene = make_world(furniture(), 2).scene
    with scene.sim.reads.record() as names:
        views.of(scene).rigid_body_data.sum()
        views.of(scene).body("cube/box").velocity.sum()
    assert names == {"xpos", "xquat", "cvel", "subtree_com"}
    assert scene.sim.reads.needed.name == "VELOCITY"


# Single views.


def test_a_body_view_reads_its_column_of_the_packed_state(scene: Scene):
    view = views.of(scene).body("full/drawer")
    row = views.of(scene).rigid_body_data[:, views.of(scene).body_index["full/drawer"]]
    assert torch.equal(view.pose.raw, row[:, :7])
    assert torch.equal(view.lin_vel_w, row[:, 7:10])
    assert torch.equal(view.ang_vel_w, row[:, 10:])
    assert view.mass.tolist() == [0.5] * scene.num_envs
    assert torch.equal(view.joint.pos, scene.entities["full"].data.joint_pos[:, 1])
    assert view.joint.limits.tolist() == [[0.0, pytest.approx(0.3)]] * scene.num_envs
    assert view.which.tolist() == [0] * scene.num_envs
    assert view.present.tolist() == [True] * scene.num_envs


def test_a_body_of_the_scene_itself_has_zero_velocity(scene: Scene):
    view = views.of(scene).body("terrain")
    assert view.pose.raw.tolist() == [[0, 0, 0, 1, 0, 0, 0]] * scene.num_envs
    assert view.is_static().all()
    assert not views.of(scene).body("cube/box").is_static().any()


def test_an_entity_view_equals_the_entity(scene: Scene):
    view, data = views.of(scene).view("full"), scene.entities["full"].data
    assert torch.equal(view.root_pose.raw, data.root_pose_w)
    assert torch.equal(view.root_vel_w, data.root_vel_w)
    assert torch.equal(view.qpos, data.joint_pos)
    assert torch.equal(view.qvel, data.joint_vel)
    assert torch.equal(view.qlimits, data.joint_pos_limits)
    assert torch.equal(view.soft_joint_pos_limits, data.soft_joint_pos_limits)
    assert torch.equal(view.default_joint_pos, data.default_joint_pos)
    assert view.mass.tolist() == [5.5] * scene.num_envs
    assert view.dof.tolist() == [2] * scene.num_envs
    assert view.joint_mask.all() and view.joint_mask.shape == (scene.num_envs, 2)
    assert torch.equal(
        view.body("door").pose.raw, views.of(scene).body("full/door").pose.raw
    )
    assert views.of(scene).view("full") is view


def test_bodies_that_cannot_move_are_static(small: Scene):
    assert views.of(small).view("cube").is_static().all()
    velocity = torch.tensor([[0.02, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 5 + [0.05]])
    views.of(small).view("cube").write_root_velocity(everyone(small), velocity)
    assert views.of(small).view("cube").is_static().tolist() == [False, True]
    assert views.of(small).view("cube").is_static(ang=0.04).tolist() == [False, False]
    assert views.of(small).view("cube").is_static(lin=0.03).tolist() == [True, True]


# Writing.


def test_a_pose_is_written_in_the_worlds_of_the_mask_alone(small: Scene):
    view, before = views.of(small).body("cube/box"), small.sim.data.qpos.clone()
    pose = Pose.create([1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0])
    view.write_pose(torch.tensor([False, True]), pose)
    views.of(small).body("cube/box").write_velocity(
        torch.tensor([False, True]), torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    )
    forward(small)
    assert view.pose[1].raw.tolist() == pose.raw.tolist()
    assert view.velocity[1].tolist() == pytest.approx([1, 2, 3, 4, 5, 6])
    assert torch.equal(small.sim.data.qpos[0], before[0])
    assert view.velocity[0].tolist() == [0.0] * 6


def test_the_base_of_a_fixed_entity_is_placed_and_everything_on_it(small: Scene):
    post = views.of(small).body("lamp/post")
    pose = torch.tensor([[0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0]])
    post.write_pose(everyone(small), pose)
    forward(small)
    assert (
        views.of(small).body("lamp/arm").pose.p.tolist()
        == [[0.0, 1.0, pytest.approx(2.4)]] * 2
    )


def test_joints_are_written_in_the_worlds_of_the_mask_alone(small: Scene):
    mask = torch.tensor([True, False])
    view = views.of(small).view("full")
    view.write_joint_pos(mask, torch.tensor([0.5, 0.25]))
    view.write_joint_vel(mask, 2.0)
    assert view.qpos.tolist() == [[0.5, 0.25], [0.0, 0.0]]
    assert view.qvel.tolist() == [[2.0, 2.0], [0.0, 0.0]]
    slide = views.of(small).joint("full/slide")
    slide.write_pos(~mask, 0.125)
    slide.write_vel(~mask, torch.tensor([7.0, 8.0]))
    assert slide.qpos.tolist() == [0.25, 0.125]
    assert slide.qvel.tolist() == [2.0, 8.0]
    assert view.qpos.tolist() == [[0.5, 0.25], [0.0, 0.125]]


def test_a_push_accelerates_a_body_by_force_over_mass(small: Scene):
    view = views.of(small).body("brick/box")
    force = torch.tensor([[0.0, 6.0, 0.0], [0.0, 0.0, 0.0]])
    view.write_wrench(everyone(small), force, torch.zeros(2, 3))
    advance(small, 10)
    forward(small)
    speed = 6.0 / 2.0 * 10 * small.sim.timestep
    assert view.lin_vel_w[:, 1].tolist() == pytest.approx([speed, 0.0], rel=1e-3)


def test_a_view_resets_its_entity(small: Scene):
    view = views.of(small).view("plain")
    start = view.root_pose.raw.clone()
    view.write_root_pose(everyone(small), Pose.create_from_pq())
    view.reset_to_default(torch.tensor([False, True]))
    assert view.root_pose.raw[0].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert torch.equal(view.root_pose.raw[1], start[1])


def test_reading_and_writing_views_can_be_captured_in_a_graph(
    small: Scene, monkeypatch: pytest.MonkeyPatch
):
    mask = torch.tensor([False, True])
    which = torch.tensor([0, 1])
    merged = views.of(small).merge_entities(["plain", "full"], which, mask)
    links = views.of(small).merge_links(["plain/door", "full/drawer"], which)
    two = views.of(small).merge_entities(
        ["plain", "full"], torch.tensor([[0, 1], [1, 0]])
    )
    single, offset = views.of(small).view("cube"), torch.ones(2, 3)

    def use() -> None:
        views.of(small).rigid_body_data.sum()
        merged.write_root_pose(mask, merged.root_pose * Pose.create_from_pq(offset))
        two.write_root_pose(mask, two.root_pose)
        two.write_joint_vel(mask, two.joint_vel)
        single.write_root_velocity(mask, single.root_vel_w)
        merged.write_root_velocity(mask, merged.root_vel_w)
        merged.write_joint_state(mask, merged.joint_pos, merged.joint_vel)
        links.joint.write_pos(mask, links.joint.pos)
        (links.pose.inv() * merged.root_pose).to_transformation_matrix()
        for value in (merged.is_static(), merged.mass, merged.qlimits, merged.dof):
            assert value.shape[0] == 2

    use()  # The first read of a field creates its tensor.
    small.invalidate()
    with watch(SimpleNamespace(sim=small.sim), monkeypatch) as seen:
        use()
    assert seen.problems == []
    assert seen.launches > 50
    with seen:
        which[mask].sum()
    assert seen.problems, "the watch itself works"


# Invalid names.


def test_unknown_names_come_with_the_nearest(small: Scene):
    with pytest.raises(UnknownNameError) as error:
        views.of(small).body("full/dooor")
    assert "no body 'full/dooor'" in str(error.value)
    assert "nearest first: 'full/door'" in str(error.value)
    with pytest.raises(UnknownNameError, match=r"no joint 'hinges'.*'hinge'"):
        views.of(small).joint("full/hinges")
    with pytest.raises(
        UnknownNameError, match=r"no joint 'hinge'.*'(full|plain)/hinge'"
    ):
        views.of(small).joint("hinge")
    with pytest.raises(UnknownNameError, match=r"no entity 'cub'.*first: 'cube'"):
        views.of(small).view("cub")
    with pytest.raises(UnknownNameError, match=r"no body 'drawer'.*'door'"):
        views.of(small).merge_entities(["plain", "full"], torch.tensor([0, 1])).body(
            "drawer"
        )


def test_unwritable_views_are_refused_with_the_reason(small: Scene):
    mask = everyone(small)
    pose, velocity = torch.zeros(2, 7), torch.zeros(2, 6)
    with pytest.raises(ViewError) as error:
        views.of(small).body("full/door").write_pose(mask, pose)
    assert str(error.value) == (
        "The body 'full/door' is not a root body, so its pose follows from its "
        "parent. Write the joints or the root pose of the entity 'full': "
        "views.of(scene).view('full')."
    )
    with pytest.raises(ViewError) as error:
        views.of(small).body("terrain").write_pose(mask, pose)
    assert str(error.value) == (
        "The body 'terrain' belongs to the scene, not to an entity, and cannot be "
        "placed."
    )
    for write in (
        views.of(small).view("lamp").write_root_velocity,
        views.of(small).body("lamp/post").write_velocity,
    ):
        with pytest.raises(ViewError) as error:
            write(mask, velocity)
        assert str(error.value) == (
            "The entity 'lamp' has a fixed base, so it has no root velocity to write."
        )
    with pytest.raises(ViewError) as error:
        views.of(small).view("cube").write_root_pose(mask, torch.zeros(3, 7))
    assert str(error.value) == (
        "A value of shape (3, 7) does not fit the rows of this view, which have "
        "shape (2, 7)."
    )


def test_a_body_without_a_single_joint_is_refused_by_name(small: Scene):
    with pytest.raises(ViewError) as error:
        _ = views.of(small).body("full/case").joint
    assert str(error.value) == (
        "The body 'full/case' has 0 hinge and slide joints. Its `joint` needs exactly "
        "one; name it with views.of(scene).joint(...)."
    )
    with pytest.raises(ViewError, match=r"has 2 .*: 'lamp/nod', 'lamp/roll'\. Its"):
        _ = views.of(small).body("lamp/head").joint
    with pytest.raises(ViewError, match="'lamp/swing' is a ball joint"):
        views.of(small).joint("lamp/swing")


# In an environment.


def held(env: ManagerBasedRlEnv) -> torch.Tensor:
    return views.of(env.scene).pairwise_contact_force("cube", "terrain")


def packed(env: ManagerBasedRlEnv) -> torch.Tensor:
    return views.of(env.scene).rigid_body_data.flatten(1)


def lift(env: ManagerBasedRlEnv) -> torch.Tensor:
    return views.of(env.scene).view("cube").net_contact_force[:, 2]


def test_terms_read_current_views_and_forces():
    cfg = ManagerBasedRlEnvCfg(
        decimation=4,
        episode_length_s=9.0,
        scene=SceneCfg(
            num_envs=2,
            terrain=TerrainCfg(kind="plane"),
            entities={"cube": box(1.0, 0.1, (0.0, 0.0, 0.1))},
            contact_pairs=(
                ContactPairCfg(first="cube", second="terrain"),
                ContactPairCfg(first="cube"),
            ),
        ),
        sim=SimulationCfg(backend="native", num_threads=1),
        observations={
            "actor": ObservationGroupCfg(
                terms={
                    "held": ObservationTermCfg(func=held),
                    "packed": ObservationTermCfg(func=packed),
                }
            )
        },
        events={"reset": EventTermCfg(mode="reset", func=mdp.reset_scene_to_default)},
        rewards={"lift": RewardTermCfg(func=lift, weight=1.0)},
    )
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    for _ in range(60):
        observations, reward, *_ = env.step(torch.zeros(2, 0))
    seen = observations["actor"]
    assert seen[:, 2].tolist() == pytest.approx([9.81, 9.81], rel=0.01)
    assert (reward / env.step_dt).tolist() == pytest.approx([9.81, 9.81], rel=0.01)
    data = in_mujoco(env.scene, 1)
    cube = views.of(env.scene).body_index["cube/box"]
    row = seen[1, 3:].view(-1, 13)[cube].numpy()
    np.testing.assert_allclose(row[:3], data.xpos[cube], atol=1e-5)
    np.testing.assert_allclose(row[3:7], data.xquat[cube], atol=1e-5)
