"""Event terms, compared with hand arithmetic and MuJoCo C."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab import mdp
from mjlab.managers.event import EventManager, EventTermCfg
from mjlab.managers.term import TermError
from mjlab.scene import SceneEntityCfg
from mjlab.terrain import FlatCfg, FlatPatchCfg, TerrainCfg, TerrainGeneratorCfg
from tests.worlds.fake_env import FakeEnv
from tests.worlds.small_world import rows_equal, small_world


def bound(
    func: Any,
    num_envs: int = 4,
    *,
    mode: str = "reset",
    terrain: TerrainCfg | None = None,
    **params: Any,
) -> tuple[FakeEnv, EventManager]:
    env = small_world(num_envs, terrain=terrain)
    term: Any = EventTermCfg(func=func, mode=mode, params=params)  # type: ignore[arg-type]
    return env, EventManager({"event": term}, env)  # type: ignore[arg-type]


def reset(env: FakeEnv, events: EventManager, *worlds: int) -> None:
    mask = env.mask(*worlds) if worlds else env.everyone
    env.rng.advance(mask)
    events.apply("reset", mask=mask)


def hills() -> TerrainCfg:
    """Three levels and two columns of flat tiles with marked spots."""
    return TerrainCfg(
        kind="generator",
        generator=TerrainGeneratorCfg(
            size=(4.0, 4.0),
            num_rows=3,
            num_cols=2,
            sub_terrains={"flat": FlatCfg()},
            flat_patch_sampling={"spawn": FlatPatchCfg(num_patches=5)},
        ),
        max_init_terrain_level=0,
    )


# --- The root -------------------------------------------------------------------------


def test_a_reset_root_is_within_its_ranges_about_the_default_and_the_origin():
    env, events = bound(
        mdp.reset_root_state_uniform,
        64,
        terrain=hills(),
        pose_range={"x": (-0.5, 0.5), "z": (0.1, 0.2), "yaw": (-1.0, 1.0)},
        velocity_range={"y": (0.5, 1.0), "pitch": (-2.0, -1.0)},
    )
    reset(env, events)
    data = env.scene.entity("robot").data
    offset = data.root_pos_w - env.scene.spawn_origins
    assert offset[:, 0].abs().max() <= 0.5 and offset[:, 0].std() > 0.2
    assert offset[:, 1].abs().max() < 1e-6
    assert offset[:, 2].min() >= 0.6 and offset[:, 2].max() <= 0.7000001
    assert data.heading_w.abs().max() <= 1.00001
    torch.testing.assert_close(data.gravity_b, torch.tensor([[0.0, 0, -1]] * 64))
    linear = data.root_lin_vel_w
    assert linear[:, 1].min() >= 0.5 and linear[:, 1].max() <= 1.0
    assert not linear[:, [0, 2]].any()
    spin = data.root_ang_vel_w
    assert spin[:, 1].min() >= -2.000001 and spin[:, 1].max() <= -0.99999
    torch.testing.assert_close(spin[:, [0, 2]], torch.zeros(64, 2))


@pytest.mark.parametrize(
    "angles",
    [
        *((0.3, 0.0, 0.0), (0.0, -0.3, 0.0), (0.0, 0.0, 0.3)),
        *((0.1, 0.2, 0.0), (0.0, 0.2, 0.3), (0.1, 0.0, 0.3)),
        (0.1, 0.2, 0.3),
    ],
)
def test_a_turn_of_the_root_is_roll_then_pitch_then_yaw_about_its_default_axes(angles):
    turns = zip(("roll", "pitch", "yaw"), angles, strict=True)
    ranges = {name: (angle, angle) for name, angle in turns if angle}
    env, events = bound(mdp.reset_root_state_uniform, 1, pose_range=ranges)
    data = env.scene.entity("robot").data
    expected = np.array([0.5, 0.5, -0.1, 0.7])
    data.default_root_state[:, 3:7] = torch.from_numpy(expected)
    reset(env, events)
    # What is done first stands last in the product.
    for axis in (2, 1, 0):
        turn = np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], angles[axis])
        mujoco.mju_mulQuat(expected, expected.copy(), turn)
    np.testing.assert_allclose(data.root_quat_w[0], expected, atol=1e-6)


@pytest.mark.parametrize("axis", range(6))
def test_each_axis_can_be_randomised_alone(axis):
    """One range for each axis, compared with hand arithmetic."""
    name = ("x", "y", "z", "roll", "pitch", "yaw")[axis]
    only = {name: (0.25, 0.25)}
    moved = torch.zeros(6)
    moved[axis] = 0.25
    env, events = bound(mdp.push_by_setting_velocity, 1, velocity_range=only)
    reset(env, events)
    torch.testing.assert_close(env.scene.entity("robot").data.root_vel_w[0], moved)
    env, events = bound(mdp.reset_root_state_uniform, 1, velocity_range=only)
    reset(env, events)
    torch.testing.assert_close(env.scene.entity("robot").data.root_vel_w[0], moved)
    turned = torch.zeros(4)
    turned[0] = 1.0
    if axis >= 3:
        turned[0], turned[axis - 2] = math.cos(0.125), math.sin(0.125)
    for func in (
        mdp.reset_root_state_uniform,
        mdp.reset_root_state_from_flat_patches,
    ):
        terrain = hills()
        env, events = bound(func, 1, terrain=terrain, pose_range=only)
        plain, others = bound(func, 1, terrain=terrain, pose_range={"x": (0.0, 0.0)})
        reset(env, events)
        reset(plain, others)
        after, before = (e.scene.entity("robot").data for e in (env, plain))
        torch.testing.assert_close(after.root_quat_w[0], turned, atol=1e-6, rtol=0.0)
        way = (after.root_pos_w - before.root_pos_w)[0]
        torch.testing.assert_close(way, moved[:3], atol=1e-6, rtol=0.0)


def test_worlds_outside_the_mask_are_bit_identical():
    cases: list[tuple[Any, dict[str, Any]]] = [
        (mdp.reset_root_state_uniform, {"pose_range": {"x": (1.0, 2.0)}}),
        (mdp.reset_scene_to_default, {}),
        (
            mdp.reset_joints_by_offset,
            {"position_range": (0.1, 0.2), "velocity_range": (0.1, 0.2)},
        ),
        (mdp.push_by_setting_velocity, {"velocity_range": {"x": (1.0, 2.0)}}),
    ]
    for func, params in cases:
        env, events = bound(func, **params)
        for _ in range(3):
            env.sim.step()
        env.scene.update(env.sim.timestep)
        before = env.sim.snapshot()["state"]
        reset(env, events, 1, 2)
        same = rows_equal(before, env.sim.snapshot()["state"])
        assert same.tolist() == [True, False, False, True], func


def test_a_root_can_start_on_a_flat_spot_of_its_tile():
    env, events = bound(
        mdp.reset_root_state_from_flat_patches, 64, terrain=hills(), patch_name="spawn"
    )
    reset(env, events)
    ground = env.scene.ground
    assert ground is not None
    pos = env.scene.entity("robot").data.root_pos_w - torch.tensor([0.0, 0.0, 0.5])
    gaps = (ground.patches("spawn") - pos[:, None]).norm(dim=-1)
    nearest, which = gaps.min(dim=1)
    assert nearest.max() < 1e-5
    assert set(which.tolist()) == set(range(5))


def test_the_default_state_is_written_at_the_spawn_origin():
    env, events = bound(mdp.reset_scene_to_default, 4, terrain=hills())
    for _ in range(5):
        env.sim.step()
    env.scene.update(env.sim.timestep)
    reset(env, events, 0, 3)
    data = env.scene.entity("robot").data
    origins = env.scene.spawn_origins
    expected = origins + torch.tensor([0.0, 0.0, 0.5])
    torch.testing.assert_close(data.root_pos_w[[0, 3]], expected[[0, 3]])
    assert not env.sim.data.qvel[[0, 3]].any()
    assert env.sim.data.qvel[[1, 2]].any()


def test_a_push_changes_the_velocity_by_the_drawn_value():
    env, events = bound(
        mdp.push_root,
        velocity_range={"x": (0.5, 1.0), "yaw": (0.1, 0.2)},
    )
    data = env.scene.entity("robot").data
    start = torch.tensor([[0.3, -0.2, 0.1, 0.5, 0.6, 0.7]]).repeat(4, 1)
    env.scene.entity("robot").write_root_velocity_w(env.everyone, start)
    reset(env, events, 2)
    change = data.root_vel_w - start
    assert 0.5 <= change[2, 0] <= 1.0 and 0.1 <= change[2, 5] <= 0.2
    torch.testing.assert_close(change[2, 1:5], torch.zeros(4), atol=1e-6, rtol=0.0)
    assert not change[[0, 1, 3]].any()


# --- Joints ---------------------------------------------------------------------------


def test_joints_start_at_an_offset_within_their_soft_limits():
    env, events = bound(
        mdp.reset_joints_by_offset,
        256,
        position_range=(0.5, 2.5),
        velocity_range={"left_hip": (-1.0, 1.0)},
    )
    reset(env, events)
    data = env.scene.entity("robot").data
    pos, vel = data.joint_pos, data.joint_vel
    assert pos.min() >= 0.5 and pos.max() == 1.5
    assert 0.4 < (pos == 1.5).float().mean() < 0.6
    assert vel[:, 0].abs().max() <= 1.0 and vel[:, 0].std() > 0.4
    assert not vel[:, 1].any()
    assert not torch.equal(pos[:, 0], pos[:, 1])


def test_joints_start_at_a_multiple_of_their_default():
    env, events = bound(
        mdp.reset_joints_by_scale,
        position_range=(2.0, 3.0),
        velocity_range=(1.0, 1.0),
        asset_cfg=SceneEntityCfg("robot", joint_names="right_hip"),
    )
    data = env.scene.entity("robot").data
    data.default_joint_pos.fill_(0.25)
    reset(env, events)
    assert data.joint_pos[:, 1].min() >= 0.5 and data.joint_pos[:, 1].max() <= 0.75
    assert not data.joint_pos[:, 0].any()


# --- Forces ---------------------------------------------------------------------------


def test_external_forces_accelerate_bodies_by_newtons_law():
    env, events = bound(
        mdp.apply_external_force_torque,
        force_range={"x": (8.0, 8.0)},
        torque_range=(0.0, 0.0),
    )
    reset(env, events, 1)
    wrench = env.sim.data.xfrc_applied[1, 1:]
    assert wrench.tolist() == [[8.0, 0, 0, 0, 0, 0]] * 3
    assert not env.sim.data.xfrc_applied[[0, 2, 3]].any()
    for _ in range(20):
        env.sim.step()
    env.sim.forward()
    # Euler's steps of the common centre of mass, whatever the bodies do to each other.
    mass = float(env.sim.mj_model.body_mass.sum())
    expected = 3 * 8.0 / mass * env.sim.timestep**2 * (20 * 21 / 2)
    moved = env.sim.data.subtree_com[1, 1] - env.sim.data.subtree_com[0, 1]
    assert moved.tolist() == pytest.approx([expected, 0.0, 0.0], rel=1e-3, abs=1e-6)


def impulses(
    env: FakeEnv, events: EventManager, steps: int, resets: dict[int, torch.Tensor]
) -> torch.Tensor:
    """The force on the torso after each step, shape (steps, num_envs, 6)."""
    seen = []
    for step in range(1, steps + 1):
        env.rng.advance()
        events.apply("step", env.step_dt)
        if step in resets:
            env.rng.advance(resets[step])
            env.sim.reset(resets[step])
            events.reset(resets[step])
        seen.append(env.sim.data.xfrc_applied[:, 1].clone())
    return torch.stack(seen)


IMPULSE: dict[str, Any] = {
    "force_range": (5.0, 10.0),
    "torque_range": (1.0, 2.0),
    "asset_cfg": SceneEntityCfg("robot", body_names="torso"),
}


def test_impulses_begin_after_their_cooldown_and_last_their_duration():
    env, events = bound(
        mdp.apply_body_impulse,
        1,
        mode="step",
        duration_s=(0.06, 0.06),
        cooldown_s=(0.1, 0.1),
        **IMPULSE,
    )
    force = impulses(env, events, 16, {})[:, 0]
    is_pushed = force.any(dim=1).tolist()
    assert is_pushed == [False] * 4 + [True] * 3 + [False] * 5 + [True] * 3 + [False]
    assert force[4:7, :3].min() >= 5.0 and force[4:7, 3:].max() <= 2.0
    assert torch.equal(force[4], force[6])
    assert not torch.equal(force[4], force[12])


def test_a_reset_ends_an_impulse_and_restarts_the_cooldown():
    env, events = bound(
        mdp.apply_body_impulse,
        2,
        mode="step",
        duration_s=(0.2, 0.2),
        cooldown_s=(0.1, 0.1),
        **IMPULSE,
    )
    force = impulses(env, events, 20, {7: env.mask(0)})
    is_pushed = force.any(dim=2)
    assert is_pushed[:, 0].tolist() == (
        [False] * 4 + [True] * 2 + [False] * 5 + [True] * 9
    )
    assert is_pushed[:, 1].tolist() == [False] * 4 + [True] * 10 + [False] * 5 + [True]


def test_reset_does_not_change_random_impulses_of_other_worlds():
    def run(resets: dict[int, list[int]]) -> torch.Tensor:
        env, events = bound(
            mdp.apply_body_impulse,
            3,
            mode="step",
            duration_s=(0.02, 0.2),
            cooldown_s=(0.02, 0.2),
            **IMPULSE,
        )
        return impulses(env, events, 60, {k: env.mask(*v) for k, v in resets.items()})

    calm, disturbed = run({}), run({5: [0], 11: [0]})
    assert torch.equal(calm[:, 1:], disturbed[:, 1:])
    assert not torch.equal(calm[:, 0], disturbed[:, 0])


# --- Ground ---------------------------------------------------------------------------


def test_worlds_move_to_any_tile_and_others_stay():
    env, events = bound(mdp.randomize_terrain, 64, terrain=hills())
    ground = env.scene.ground
    assert ground is not None and not ground.levels.any()
    columns = ground.columns.clone()
    reset(env, events, *range(32))
    assert set(ground.levels[:32].tolist()) == {0, 1, 2}
    assert not ground.levels[32:].any()
    assert torch.equal(ground.columns[32:], columns[32:])
    tile = ground.terrain.origins[ground.levels.numpy(), ground.columns.numpy()]
    torch.testing.assert_close(ground.origins, torch.tensor(tile).float())


def test_worlds_on_a_plane_stay_on_it() -> None:
    env, events = bound(mdp.randomize_terrain, 4)
    reset(env, events, *range(4))
    assert env.scene.ground is None and not env.scene.spawn_origins.any()


# --- Errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("func", "params", "message"),
    [
        (
            mdp.push_by_setting_velocity,
            {"velocity_range": {"vaw": (0.0, 1.0)}},
            "Event term 'event': velocity_range has no axis 'vaw'. Valid names, "
            "nearest first: 'yaw', ",
        ),
        (
            mdp.reset_root_state_uniform,
            {"pose_range": {"x": (1.0, 0.0)}},
            "Event term 'event': root state: the range is (1.0, 0.0); it has to "
            "be (low, high) with low <= high.",
        ),
        (
            mdp.reset_joints_by_offset,
            {"position_range": {"knee": (0, 1)}, "velocity_range": (0, 0)},
            "Event term 'event': No joint matches 'knee'. Valid names: ",
        ),
        (
            mdp.apply_body_impulse,
            {**IMPULSE, "duration_s": (0.2, 0.1), "cooldown_s": (0.1, 0.1)},
            "Event term 'event': duration_s=(0.2, 0.1) has to be (low, high) with "
            "0 <= low <= high.",
        ),
        (
            mdp.push_by_setting_velocity,
            {},
            "Event term 'event': push_by_setting_velocity needs the parameter "
            "'velocity_range'.",
        ),
    ],
)
def test_invalid_event_parameter_is_an_error(
    func: Any, params: dict[str, Any], message: str
):
    with pytest.raises(TermError) as error:
        bound(func, 2, **params)
    assert str(error.value).startswith(message)


def test_a_patch_that_the_terrain_does_not_have_is_an_error():
    with pytest.raises(TermError) as error:
        bound(
            mdp.reset_root_state_from_flat_patches,
            2,
            terrain=hills(),
            patch_name="spwan",
        )
    assert str(error.value) == (
        "Event term 'event': The terrain has no flat patches 'spwan'. Valid names, "
        "nearest first: 'spawn'."
    )


# --- Cost -----------------------------------------------------------------------------
