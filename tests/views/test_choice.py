"""Merged views, compared with a loop over the worlds and the members' views."""

import pytest
import torch

from mjlab import views
from mjlab.names import UnknownNameError
from mjlab.scene import Scene
from mjlab.views import MergeError, ViewError
from tests.worlds.view_world import World, forward, furniture, make_world, shake

MEMBERS = ["plain", "cube", "full"]
IDENTITY = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module", params=[1, 4, 16])
def world(request: pytest.FixtureRequest) -> World:
    return make_world(furniture(), request.param)


@pytest.fixture
def scene(world: World) -> Scene:
    shake(world.scene)
    return world.scene


@pytest.fixture(scope="module")
def four() -> Scene:
    return make_world(furniture(), 4).scene


def draw(scene: Scene, seed: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 3, (scene.num_envs,), generator=generator)


def draw_two(scene: Scene) -> torch.Tensor:
    """Two distinct members of each world, in either order."""
    first = draw(scene)
    return torch.stack((first, (first + 1 + draw(scene, 6) % 2) % 3), dim=1)


def some(scene: Scene) -> torch.Tensor:
    """A mask that is unrelated to the choice of members."""
    return torch.arange(scene.num_envs) % 3 != 1


# Reading.


def test_a_merged_entity_reads_its_member_in_each_world(scene: Scene):
    which = draw(scene)
    merged = views.of(scene).merge_entities(MEMBERS, which)
    singles = [views.of(scene).view(name) for name in MEMBERS]
    for i, member in enumerate(which.tolist()):
        single = singles[member]
        joints = int(single.num_joints[i])
        assert torch.equal(merged.root_pose[i].raw, single.root_pose[i].raw)
        assert torch.equal(merged.root_vel_w[i], single.root_vel_w[i])
        assert torch.equal(merged.root_lin_vel_w[i], single.root_lin_vel_w[i])
        assert torch.equal(merged.root_ang_vel_w[i], single.root_ang_vel_w[i])
        assert merged.mass[i] == single.mass[i]
        assert merged.is_static()[i] == single.is_static()[i]
        assert merged.num_joints[i] == joints
        for name in ("joint_pos", "joint_vel", "joint_pos_limits"):
            row, own = getattr(merged, name)[i], getattr(single, name)[i]
            assert torch.equal(row[:joints], own)
            assert not row[joints:].any()
        assert merged.joint_mask[i].tolist() == [j < joints for j in range(2)]


def test_a_view_of_two_of_three_reads_both_members_in_their_order(scene: Scene):
    which = draw_two(scene)
    merged = views.of(scene).merge_entities(MEMBERS, which)
    singles = [views.of(scene).view(name) for name in MEMBERS]
    assert merged.root_pose.shape == (scene.num_envs, 2)
    assert merged.joint_pos_limits.shape == (scene.num_envs, 2, 2, 2)
    for i, row in enumerate(which.tolist()):
        for slot, member in enumerate(row):
            single = singles[member]
            joints = int(single.num_joints[i])
            assert torch.equal(merged.root_pose[i, slot].raw, single.root_pose[i].raw)
            assert torch.equal(merged.qvel[i, slot, :joints], single.qvel[i])
            assert not merged.qvel[i, slot, joints:].any()
            assert merged.mass[i, slot] == single.mass[i]


def test_merged_bodies_and_links_read_their_members(scene: Scene):
    names = ["plain/door", "full/door", "full/drawer"]
    which = draw(scene)
    merged = views.of(scene).merge_links(
        [views.of(scene).body(name) for name in names], which
    )
    singles = [views.of(scene).body(name) for name in names]
    for i, member in enumerate(which.tolist()):
        single = singles[member]
        assert torch.equal(merged.pose[i].raw, single.pose[i].raw)
        assert torch.equal(merged.velocity[i], single.velocity[i])
        assert merged.mass[i] == single.mass[i]
        assert merged.joint.pos[i] == single.joint.pos[i]
        assert merged.joint.vel[i] == single.joint.vel[i]
        assert torch.equal(merged.joint.limits[i], single.joint.limits[i])
    two = views.of(scene).merge_bodies(names, draw_two(scene))
    assert two.pose.shape == (scene.num_envs, 2)
    for i, row in enumerate(draw_two(scene).tolist()):
        for slot, member in enumerate(row):
            assert torch.equal(two.velocity[i, slot], singles[member].velocity[i])


def test_absent_bodies_read_as_zero_with_an_identity_pose(scene: Scene):
    present = some(scene)
    merged = views.of(scene).merge_entities(MEMBERS, draw(scene), present)
    body = views.of(scene).merge_bodies(["cube/box"], present=present)
    there = views.of(scene).merge_entities(MEMBERS, draw(scene))
    for i, here in enumerate(present.tolist()):
        if here:
            assert torch.equal(merged.root_pose[i].raw, there.root_pose[i].raw)
            assert torch.equal(merged.joint_pos[i], there.joint_pos[i])
            assert torch.equal(merged.mass[i], there.mass[i])
        else:
            assert merged.root_pose[i].raw.tolist() == IDENTITY
            assert body.pose[i].raw.tolist() == IDENTITY
            assert not merged.joint_mask[i].any()
            for value in (merged.root_vel_w, merged.joint_pos, merged.mass):
                assert not value[i].any()
    assert torch.equal(merged.present, present)


def test_a_view_follows_a_choice_that_is_drawn_again(scene: Scene):
    which, present = draw(scene), some(scene)
    merged = views.of(scene).merge_entities(MEMBERS, which, present)
    which.copy_((which + 1) % 3)
    present.copy_(~present)
    again = views.of(scene).merge_entities(MEMBERS, which.clone(), present.clone())
    assert torch.equal(merged.root_pose.raw, again.root_pose.raw)
    assert torch.equal(merged.joint_pos, again.joint_pos)
    assert torch.equal(merged.joint_mask, again.joint_mask)


# Writing.


def test_writing_reaches_the_chosen_member_of_the_masked_worlds_alone(scene: Scene):
    which, mask = draw(scene), some(scene)
    merged = views.of(scene).merge_entities(MEMBERS, which)
    qpos, qvel = scene.sim.data.qpos.clone(), scene.sim.data.qvel.clone()
    pose = views.of(scene).view("brick").root_pose
    velocity = torch.arange(6.0 * scene.num_envs).view(-1, 6)
    joints = torch.arange(2.0 * scene.num_envs).view(-1, 2)
    merged.write_root_pose(mask, pose)
    merged.write_root_velocity(mask, velocity)
    merged.write_joint_state(mask, joints, -joints)
    # The same with one entity and one world at a time.
    result = scene.sim.data.qpos.clone(), scene.sim.data.qvel.clone()
    scene.sim.data.qpos.copy_(qpos)
    scene.sim.data.qvel.copy_(qvel)
    scene.invalidate()
    for i, member in enumerate(which.tolist()):
        alone = torch.arange(scene.num_envs) == i
        entity = scene.entities[MEMBERS[member]]
        if bool(mask[i]):
            own = joints[:, : entity.num_joints]
            entity.write_root_pose_w(alone, pose.raw)
            entity.write_root_velocity_w(alone, velocity)
            entity.write_joint_state(alone, own, -own)
    assert torch.equal(result[0], scene.sim.data.qpos)
    assert torch.equal(result[1], scene.sim.data.qvel)
    if mask.any():
        assert not torch.equal(result[0], qpos)


def test_each_row_of_a_view_of_two_is_written_to_its_own_member(scene: Scene):
    which, mask = draw_two(scene), some(scene)
    merged = views.of(scene).merge_entities(MEMBERS, which)
    before = merged.joint_pos.clone()
    pose = torch.randn(scene.num_envs, 2, 7, generator=torch.Generator().manual_seed(1))
    joints = torch.arange(4.0 * scene.num_envs).view(-1, 2, 2)
    untouched = views.of(scene).view("brick").root_pose.raw.clone()
    merged.write_root_pose(mask, pose)
    merged.write_joint_pos(mask, joints)
    expected = torch.where(mask[:, None, None], joints, before) * merged.joint_mask
    assert torch.equal(merged.joint_pos, expected)
    assert torch.equal(merged.root_pose.raw[mask], pose[mask])
    assert torch.equal(views.of(scene).view("brick").root_pose.raw, untouched)
    left_out = [({0, 1, 2} - set(row)).pop() for row in which.tolist()]
    for i, member in enumerate(left_out):
        same = (pose[i] == views.of(scene).view(MEMBERS[member]).root_pose[i].raw).all(
            dim=-1
        )
        assert not same.any()


def test_absent_objects_are_not_written(scene: Scene):
    everyone, present = torch.ones(scene.num_envs) > 0.0, some(scene)
    merged = views.of(scene).merge_entities(MEMBERS, draw(scene), present)
    before = scene.sim.data.qpos.clone()
    merged.write_root_pose(everyone, torch.ones(7))
    merged.write_joint_pos(everyone, 0.125)
    changed = (scene.sim.data.qpos != before).any(dim=1)
    assert torch.equal(changed, present)


def test_merged_joints_and_bodies_are_written_to_the_chosen_member(scene: Scene):
    which = draw(scene) % 2
    mask = some(scene)
    joint = views.of(scene).merge_joints(["plain/hinge", "full/slide"], which)
    before = joint.pos.clone()
    joint.write_pos(mask, torch.arange(1.0, scene.num_envs + 1))
    target = torch.arange(1.0, scene.num_envs + 1)
    assert torch.equal(joint.pos, torch.where(mask, target, before))
    boxes = views.of(scene).merge_bodies(["cube/box", "brick/box"], which)
    other = views.of(scene).merge_bodies(["cube/box", "brick/box"], 1 - which)
    kept, here = other.pose.raw.clone(), boxes.pose.raw.clone()
    pose = torch.tensor([3.0, 2.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    boxes.write_pose(mask, pose)
    boxes.write_velocity(mask, torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0, 2.0]))
    forward(scene)
    torch.testing.assert_close(boxes.pose.raw, torch.where(mask[:, None], pose, here))
    assert torch.equal(other.pose.raw, kept)
    assert (boxes.lin_vel_w[mask] == torch.tensor([1.0, 0.0, 0.0])).all()


# Invalid merges.


def test_merging_an_empty_list_or_a_duplicate_is_an_error(four: Scene):
    for merge in (
        views.of(four).merge_bodies,
        views.of(four).merge_entities,
        views.of(four).merge_joints,
    ):
        with pytest.raises(MergeError) as error:
            merge([])
        assert str(error.value) == (
            "The list of members is empty, so there is nothing to merge."
        )
    with pytest.raises(MergeError) as error:
        views.of(four).merge_entities(
            ["cube", "cube"], torch.zeros(4, dtype=torch.int64)
        )
    assert str(error.value) == "The member 'cube' occurs twice in 'cube', 'cube'."


def test_members_of_different_kinds_are_an_error(four: Scene):
    with pytest.raises(MergeError) as error:
        views.of(four).merge_bodies(
            [views.of(four).body("cube/box"), views.of(four).view("cube")]
        )  # type: ignore[list-item]
    assert str(error.value) == (
        "EntityView('cube', shape=(4,)) cannot be merged with BodyViews: all "
        "members of a view must be of one kind."
    )
    with pytest.raises(MergeError, match="cannot be merged with EntityViews"):
        views.of(four).merge_entities([views.of(four).joint("full/slide")])  # type: ignore[list-item]
    with pytest.raises(ViewError, match="'cube/box' has 0 hinge and slide joints"):
        views.of(four).merge_links(
            ["full/door", "cube/box"], torch.tensor([0, 1, 0, 1])
        )
    with pytest.raises(UnknownNameError, match=r"no entity 'cup'.*first: 'cube'"):
        views.of(four).merge_entities(["cube", "cup"], torch.tensor([0, 1, 0, 1]))


def test_merged_views_cannot_be_merged(four: Scene):
    merged = views.of(four).merge_entities(["cube", "full"], torch.tensor([0, 1, 0, 1]))
    with pytest.raises(MergeError) as error:
        views.of(four).merge_entities([merged, "brick"], torch.tensor([0, 1, 0, 1]))
    assert str(error.value) == (
        "EntityView('cube', 'full', shape=(4,)) is already merged. Merge its "
        "members, 'cube', 'full', with the others."
    )


def test_an_invalid_choice_is_an_error_when_the_view_is_created(four: Scene):
    def complaint(
        which: torch.Tensor | None, present: torch.Tensor | None = None
    ) -> str:
        with pytest.raises(MergeError) as error:
            views.of(four).merge_entities(["cube", "full"], which, present)
        return str(error.value)

    assert complaint(None) == (
        "2 members, 'cube', 'full', need `which`: an int64 tensor of shape (4,) "
        "that selects one per world, or (4, k) that selects k."
    )
    assert complaint(torch.tensor([0, 1, 2, 0])) == (
        "`which` is 2 in world 2, but the view has 2 members, 0 to 1: 'cube', 'full'."
    )
    assert "`which` is -1 in world 0" in complaint(torch.tensor([-1, 1, 1, 0]))
    assert complaint(torch.tensor([[0, 1], [1, 0], [1, 1], [0, 1]])) == (
        "`which` is [1, 1] in world 2; the members of a world have to be distinct."
    )
    assert complaint(torch.zeros(3, dtype=torch.int64)) == (
        "`which` has shape (3,); it has to be (4,) or (4, k)."
    )
    assert complaint(torch.zeros(4)) == (
        "`which` is torch.float32 on cpu; it has to be torch.int64 on cpu, the "
        "simulation's device."
    )
    fine = torch.zeros(4, dtype=torch.int64)
    assert complaint(fine, torch.ones(2, dtype=torch.bool)) == (
        "`present` has shape (2,); it has to be (4,) or (4,)."
    )
    assert "`present` is torch.int64 on cpu" in complaint(fine, fine)


def test_invalid_write_changes_no_member(four: Scene):
    merged = views.of(four).merge_entities(["cube", "lamp"], torch.tensor([0, 1, 0, 1]))
    before = four.sim.data.qvel.clone()
    with pytest.raises(ViewError, match="'lamp' has a fixed base"):
        merged.write_root_velocity(torch.ones(4) > 0.0, torch.ones(4, 6))
    assert torch.equal(four.sim.data.qvel, before)
