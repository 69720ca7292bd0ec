"""Panels of the page: cameras, policies, figures, groups, handles."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
import pytest
import torch

from mjlab.cli.watching import list_checkpoints
from mjlab.envs import ManagerBasedRlEnv, ZeroPolicy
from mjlab.registry import load_task
from mjlab.render import RayRendererCfg
from mjlab.rl import CheckpointCfg, GaussianCfg, MlpModelCfg, load_policy
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.sensor import CameraSensorCfg
from mjlab.tasks.manipulation import LiftYamIKCfg, LiftYamMixedCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.viewer import Player, TeleopPolicy, ViewerError
from tests.viewer.clock import Clock
from tests.viewer.test_viewer import press
from tests.worlds.rl_runs import agent_cfg, env_cfg, make_loop

pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")

from viser import TransformControlsEvent

from mjlab.viewer.cameras import as_colors
from mjlab.viewer.drag import find_free
from mjlab.viewer.panels import PolicyPanel, bars
from mjlab.viewer.teleop import GRIPPER, MOVES
from mjlab.viewer.web import WebViewer

WIDE = {"width": 24, "height": 16, "renderer": RayRendererCfg()}


@pytest.fixture(scope="module")
def arms() -> ManagerBasedRlEnv:
    cfg = LiftYamIKCfg(seed=1).play()
    cfg.scene.num_envs = 2
    kinds = ("rgb", "depth", "segmentation")
    camera = CameraSensorCfg(
        name="eye", camera="robot/front_cam", data_types=kinds, **WIDE
    )
    cfg.scene.sensors = (*cfg.scene.sensors, camera)
    return ManagerBasedRlEnv(cfg)


@pytest.fixture
def page(arms: ManagerBasedRlEnv) -> Iterator[WebViewer]:
    player = Player(arms, ZeroPolicy(arms), seed=0, clock=Clock())
    player.pause()
    viewer = WebViewer(player, port=0, title="test")
    viewer.update()
    yield viewer
    viewer.close()


# Cameras.


def test_pictures_of_the_selected_world_are_shown_while_enabled(page):
    (panel,) = page.cameras
    panel.update()
    assert {shown.image.shape for shown in panel.pictures.values()} == {(1, 1, 3)}
    assert not any(shown.visible for shown in panel.pictures.values())
    panel.shows_pictures.value = True
    panel.update()
    data = page.player.env.scene.sensor("eye").data
    assert not torch.equal(data.rgb[0], data.rgb[1]), "Worlds look alike."
    for world in (0, 1):
        page.page.world = world
        panel.update()
        shown = panel.pictures["eye", "rgb"]
        assert shown.visible and shown.image.shape == (16 * 11, 24 * 11, 3)
        assert np.array_equal(shown.image[::11, ::11], data.rgb[world].numpy())
    depth = data.depth[1]
    far = depth[depth < data.max_distance].max()
    label = panel.pictures["eye", "depth"].label
    assert float(far) < 0.5 * float(depth.max()), "Nothing is seen beyond the table."
    assert label == (
        f"eye, depth: black {depth.min():.2f} m, white {far:.2f} m and beyond"
    )
    panel.shows_pictures.value = False
    panel.update()
    assert not any(shown.visible for shown in panel.pictures.values())


def test_greys_grow_with_depth_and_objects_have_colours_of_their_own():
    depth = np.array([[0.5, 1.0, 1.5, 2.5, 20.0]], np.float32)[..., None]
    shown, scale = as_colors("depth", depth, max_distance=20.0)
    greys = shown[0, :: shown.shape[1] // 5].tolist()
    assert greys == [[grey] * 3 for grey in (0, 64, 128, 255, 255)]
    assert scale == ": black 0.50 m, white 2.50 m and beyond"
    shown, scale = as_colors("depth", np.full((2, 2, 1), 20.0), max_distance=20.0)
    assert (shown == 255).all()
    geom = int(mujoco.mjtObj.mjOBJ_GEOM)
    seen = np.array([[(-1, -1), *((i, geom) for i in range(12))]], np.int32)
    shown, scale = as_colors("segmentation", seen, max_distance=20.0)
    colors = [tuple(color) for color in shown[0, :: shown.shape[1] // 13].tolist()]
    assert colors[0] == (0, 0, 0) and scale == ""
    apart = [
        np.abs(np.subtract(a, b)).sum()
        for i, a in enumerate(colors)
        for b in colors[:i]
    ]
    assert min(apart) > 30


def test_frusta_match_the_position_and_direction_of_the_cameras(page):
    (panel,) = page.cameras
    page.draw()
    assert panel.frusta == {}
    panel.shows_frusta.value = True
    page.page.world = 1
    page.draw()
    engine = page.player.env.sim.engine
    model, data = engine.mj_model_of(1), engine.mj_data_of(1)
    mujoco.mj_forward(model, data)
    assert sorted(panel.frusta) == ["robot/camera_d405", "robot/front_cam"]
    for name, frustum in panel.frusta.items():
        camera = data.camera(name)
        assert frustum.position == pytest.approx(camera.xpos, abs=1e-6)
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, np.array(frustum.wxyz, dtype=float))
        x, y, z = matrix.reshape(3, 3).T
        right, up, back = camera.xmat.reshape(3, 3).T
        assert x == pytest.approx(right, abs=1e-5)
        assert y == pytest.approx(-up, abs=1e-5)
        assert z == pytest.approx(-back, abs=1e-5)
        fovy = model.cam_fovy[camera.id]
        assert frustum.fov == pytest.approx(np.radians(fovy), abs=1e-6)
    assert panel.frusta["robot/front_cam"].aspect == 1.5
    assert panel.frusta["robot/camera_d405"].aspect == pytest.approx(1280 / 720)
    panel.shows_frusta.value = False
    page.draw()
    assert not any(frustum.visible for frustum in panel.frusta.values())


# Policies.


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Checkpoints of two iterations and of another network; the best is damaged."""
    folder = tmp_path_factory.mktemp("run")
    small = MlpModelCfg(
        hidden_dims=(4,), obs_normalization=True, distribution_cfg=GaussianCfg()
    )
    each = CheckpointCfg(every=1)
    make_loop(agent_cfg(9, actor=small), folder=folder).run()
    make_loop(agent_cfg(3, checkpoint=each), folder=folder).run()
    damaged = folder / "best.pt"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    return folder


def test_another_checkpoint_acts_from_the_next_step_on(run):
    env = ManagerBasedRlEnv(env_cfg(worlds=2))
    place, cfg = run / "model_000003.pt", agent_cfg(3)
    menu = list_checkpoints(place, env, cfg)
    player = Player(env, menu.load(menu.present), seed=0, clock=Clock())
    player.pause()
    page = WebViewer(player, port=0, title="test", policies=menu)
    try:
        (panel,) = page.policies
        panel.update()
        names = ["model_000009", "model_000003", "model_000002", "best"]
        assert panel.choice.visible and list(panel.choice.options) == names
        assert panel.choice.value == "model_000003"
        seen = player.rollout.observations
        before = player.rollout.policy(seen)
        for name, fault in (
            ("best", "best.pt is damaged"),
            ("model_000009", r"hidden_dims: \[4\], \[8\] here"),
            ("model_000007", "No complete checkpoint"),
        ):
            panel.choose(name)
            page.update()
            assert re.search(fault, panel.fault.content) and panel.fault.visible
            assert panel.choice.value == "model_000003"
            assert torch.equal(player.rollout.policy(seen), before)
        panel.choose("model_000002")
        page.update()
        assert panel.choice.value == "model_000002" and not panel.fault.visible
        expected = load_policy(run / "model_000002.pt", env, cfg)(seen)
        assert not torch.equal(expected, before)
        player.step_once()
        page.update()
        assert torch.equal(env.action_manager.action, expected)
    finally:
        page.close()


def test_a_shipped_policy_leaves_no_choice(page):
    place = load_task("Cartpole-Balance").trained
    assert place is not None
    menu = list_checkpoints(find_checkpoint(place), page.player.env, agent_cfg())
    panel = PolicyPanel(page.page, menu)
    panel.update()
    assert not panel.choice.visible and panel.choice.options == ("model_000150",)


# Groups of geoms.


def commands(page: WebViewer) -> list[Any]:
    """Commands of keys."""
    return list(page.server.gui._command_handle_from_uuid.values())


def switches(page: WebViewer, label: str) -> list[Any]:
    """Return controls of the page by their label."""
    handles = page.server.gui._gui_input_handle_from_uuid.values()
    return [each for each in handles if each.label == label]


def test_groups_of_geoms_can_be_hidden_and_so_can_the_ground():
    """Go1's visual geoms are in group 2, and the ground in group 0."""
    env = ManagerBasedRlEnv(VelocityGo1FlatCfg(seed=1))
    page = WebViewer(Player(env, ZeroPolicy(env), seed=0, clock=Clock()), port=0)
    try:
        nodes = page.server.scene._handle_from_node_name
        ground, looks = nodes["/fixed_bodies/terrain/terrain"], "/group2"
        geoms = [node for name, node in nodes.items() if name.endswith(looks)]
        for group, switched, other in ((0, [ground], geoms), (2, geoms, [ground])):
            (switch,) = switches(page, f"G{group}")
            for shows in (True, False, True):
                switch.value = shows
                press(switch)
                page.draw()
                assert switched and all(node.visible == shows for node in switched)
                assert other and all(node.visible for node in other)
    finally:
        page.close()


# Figures.


def test_the_figures_of_the_episode_are_those_that_it_logs(page):
    """Distances are the means of the steps so far, by hand arithmetic."""
    panel, player, world = page.terms["Metrics"], page.player, page.page.world
    goal = player.env.command_manager.term("goal")
    player.reset()
    distances = []
    for _ in range(3):
        player.step_once()
        page.update()
        distances.append(float(goal.distance()[world]))
    panel.update()
    shown = dict(re.findall(r">([\w/]+)</span><span>([-+.\d]+)<", panel.bars.content))
    names = [f"goal/{name}" for name in ("distance", "reach_distance", "there")]
    names += ["success", "success_once", "fail", "fail_once"]
    assert list(shown) == names
    mean = sum(distances) / 3
    assert float(shown["goal/distance"]) == pytest.approx(mean, abs=1e-4)
    assert float(shown["success"]) == 0.0
    player.env.outcome_manager.now("success")[world] = True
    panel.record()
    panel.update()
    assert re.search(r">success</span><span>\+1.0000<", panel.bars.content)


# Teleoperation of an arm.


@pytest.fixture
def driven(arms: ManagerBasedRlEnv) -> Iterator[WebViewer]:
    policy = TeleopPolicy(arms)
    player = Player(arms, policy, seed=0, clock=Clock())
    player.pause()
    viewer = WebViewer(player, port=0, title="test")
    yield viewer
    viewer.close()


def grasp_pose(env: ManagerBasedRlEnv, world: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gripper's position, m, and axes as columns, by MuJoCo's kinematics."""
    model, data = env.sim.engine.mj_model_of(world), env.sim.engine.mj_data_of(world)
    mujoco.mj_kinematics(model, data)
    site = data.site("robot/grasp_site")
    return site.xpos.copy(), site.xmat.reshape(3, 3).copy()


def wait(page: WebViewer, steps: int) -> None:
    for _ in range(steps):
        page.player.step_once()
    page.update()


def test_presses_move_the_gripper_by_the_stated_distance(driven):
    """Forward, left and up by buttons and keys; the other world is unchanged."""
    env, (panel,) = driven.player.env, driven.hands
    driven.scene.env_idx = 1
    driven.update()
    begins = [grasp_pose(env, world)[0] for world in (0, 1)]
    wait(driven, 10)
    keys = {handle._impl.props.hotkey: handle for handle in commands(driven)}
    panel.step.value = 30
    for key in "IIJU":  # Forward twice, left, up.
        for callback in keys[key]._impl.trigger_cb:
            callback(None)
        wait(driven, 8)
    panel.push("down")
    panel.step.value = 10
    panel.push("down")
    wait(driven, 40)
    moved = grasp_pose(env, 1)[0] - begins[1]
    assert moved == pytest.approx([0.06, 0.03, -0.01], abs=2e-3)
    assert grasp_pose(env, 0)[0] == pytest.approx(begins[0], abs=1e-4)
    driven.draw()
    assert driven.hands[0].target.position == pytest.approx(
        begins[1] + [0.06, 0.03, -0.01], abs=1e-4
    )


def test_presses_turn_the_gripper_and_close_it(driven):
    env, (panel,) = driven.player.env, driven.hands
    place, axes = grasp_pose(env, 0)
    for _ in range(3):
        panel.push("turn left")
    wait(driven, 50)
    turned = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0]])
    expected = np.vstack((turned, [0, 0, 1])) @ axes
    found, after = grasp_pose(env, 0)
    assert after == pytest.approx(expected, abs=5e-3)
    assert found == pytest.approx(place, abs=2e-3)
    finger = env.scene.entity("robot").joint_names.index("left_finger")
    joint_pos = env.scene.entity("robot").data.joint_pos[:, finger]
    assert (joint_pos > 0.03).all()
    panel.push(GRIPPER)
    wait(driven, 20)
    assert joint_pos[0] < 0.002 and joint_pos[1] > 0.03
    panel.push(GRIPPER)
    wait(driven, 20)
    assert (joint_pos > 0.03).all()


def test_a_target_stays_near_the_gripper_and_moves_with_a_reset(driven):
    env, policy = driven.player.env, driven.player.rollout.policy
    for _ in range(20):
        policy.push("up", 0)
        policy.push("tilt up", 0)
    place, axes = grasp_pose(env, 0)
    ahead = policy.target_pos_w[0].numpy() - place
    assert ahead == pytest.approx([0, 0, 0.1], abs=1e-4)
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, policy.target_quat_w[0].double().numpy())
    angle = np.arccos((np.trace(axes.T @ matrix.reshape(3, 3)) - 1.0) / 2.0)
    assert angle == pytest.approx(0.5, abs=1e-3)
    policy.push(GRIPPER, 0)
    wait(driven, 5)
    driven.player.reset(0)
    driven.update()
    place, _ = grasp_pose(env, 0)
    wait(driven, 10)
    assert not policy.closes.any()
    assert policy.target_pos_w[0].numpy() == pytest.approx(place, abs=1e-3)
    assert grasp_pose(env, 0)[0] == pytest.approx(place, abs=1e-3)


@pytest.mark.parametrize(
    "base",
    [(0.5**0.5, 0.0, 0.0, 0.5**0.5), (0.5**0.5, 0.5**0.5, 0.0, 0.0)],
    ids=["turned left by 90 degrees", "rolled by 90 degrees"],
)
def test_presses_go_by_the_axes_of_a_base_that_is_turned(base):
    """Forward, left and up, and each rotation, in the base axes, by MuJoCo's maths."""
    cfg = LiftYamIKCfg(seed=1).play()
    cfg.scene.num_envs = 1
    env = ManagerBasedRlEnv(cfg)
    policy = TeleopPolicy(env)
    env.reset()
    pose = torch.tensor([[0.0, 0.0, 0.5, *base]])
    robot = env.scene.entity("robot")
    robot.write_root_pose_w(torch.ones(1, dtype=torch.bool), pose)
    env.sim.forward()
    env.scene.refresh()
    x, y, z = np.eye(3)
    moves = {"forward": x, "back": -x, "left": y, "right": -y, "up": z, "down": -z}
    turns = {"turn left": z, "turn right": -z, "tilt up": -y, "tilt down": y}
    turns |= {"roll left": -x, "roll right": x}
    assert {*moves, *turns} == {*MOVES}
    for name, axis in {**moves, **turns}.items():
        policy.reset()
        policy.hold()
        place, quat = policy.target_pos_w[0].numpy().copy(), policy.target_quat_w[0]
        before = quat.double().numpy().copy()
        policy.push(name, 0, step=0.01)
        in_world = np.zeros(3)
        mujoco.mju_rotVecQuat(in_world, axis, np.array(base))
        moved = policy.target_pos_w[0].numpy() - place
        assert moved == pytest.approx(0.01 * in_world * (name in moves), abs=1e-6), name
        press, expected = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(press, in_world, 0.1 * (name in turns))
        mujoco.mju_mulQuat(expected, press, before)
        same = abs(float(expected @ policy.target_quat_w[0].double().numpy()))
        assert same == pytest.approx(1.0, abs=1e-6), name


def test_tasks_without_inverse_kinematics_cannot_be_teleoperated():
    env = ManagerBasedRlEnv(env_cfg(worlds=1))
    fault = "use_relative_mode, as in Lift-Yam-IK.* task: 'force' .AffineAction."
    with pytest.raises(ViewerError, match=fault):
        TeleopPolicy(env)


# Dragging.


DragPhase = Literal["start", "update", "end"]


def drag(page: WebViewer, phase: DragPhase, **pose: tuple[float, ...]) -> None:
    """Simulate a visitor dragging the handles."""
    handles = page.drags[0].handles
    for name, value in pose.items():
        setattr(handles._impl, name, np.array(value))
    event = TransformControlsEvent(None, None, handles, phase)
    for callback in handles._impl_aux.update_cb:
        asyncio.run(callback(event))  # type: ignore[arg-type]
    page.update()


def test_a_cube_follows_its_handles_and_falls_when_released(page):
    """Held at 0.5 m for 10 steps of 40 ms, then released for 5: it falls by 0.2 m.

    The other world, and everything except the cube, are unaffected.
    """
    (panel,), env = page.drags, page.player.env
    alone = env.get_state()
    wait(page, 15)
    qpos = env.sim.data.qpos.clone()
    env.set_state(alone)
    cube = env.scene.entity("object").data
    assert list(panel.choice.options) == ["nothing", "object"]
    page.draw()
    assert not panel.handles.visible
    panel.choice.value = "object"
    page.draw()
    assert panel.handles.visible
    assert panel.handles.position == pytest.approx(cube.root_pos_w[0].numpy())
    place, turn = (0.1, -0.4, 0.5), (0.5**0.5, 0.0, 0.0, 0.5**0.5)
    drag(page, "start")
    drag(page, "update", position=place, wxyz=turn)
    for _ in range(10):
        wait(page, 1)
        assert cube.root_pos_w[0].numpy() == pytest.approx(place, abs=1e-6)
        assert cube.root_quat_w[0].numpy() == pytest.approx(turn, abs=1e-6)
        assert not cube.root_lin_vel_w[0].any()
    drag(page, "end")
    wait(page, 5)
    fallen = place[2] - float(cube.root_pos_w[0, 2])
    substeps = 5 * env.cfg.decimation
    by_euler = 9.81 * env.physics_dt**2 * substeps * (substeps + 1) / 2
    assert fallen == pytest.approx(by_euler, rel=1e-4) and fallen > 0.19
    after = env.sim.data.qpos
    assert torch.equal(after[1], qpos[1])
    arm = env.scene.entity("robot").data.joint_pos.shape[1]
    assert after[0, :arm] == pytest.approx(qpos[0, :arm].numpy(), abs=1e-4)
    page.draw()
    assert panel.handles.position == pytest.approx(cube.root_pos_w[0].numpy())


def test_floating_objects_can_be_dragged_and_those_absent_in_some_worlds_cannot():
    cfg = LiftYamMixedCfg(seed=0)
    cfg.scene.num_envs = 2
    assert find_free(ManagerBasedRlEnv(cfg)) == {}


def test_a_bar_grows_from_the_middle_green_to_the_right_and_red_to_the_left():
    found = re.findall(
        r"left:([\d.]+)%;width:([\d.]+)%;background:(#\w+)",
        bars({"gain": 2.0, "cost": -1.0, "none": 0.0}),
    )
    green, red = "#3fa45b", "#d9534f"
    assert found == [
        ("50.0", "50.0", green),
        ("25.0", "25.0", red),
        ("50.0", "0.0", green),
    ]
