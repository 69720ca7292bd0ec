"""Differential inverse kinematics, against MuJoCo's Jacobian and numpy's solver."""

from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import ArticulationCfg, InitialStateCfg
from mjlab.managers.action import ActionManager
from mjlab.managers.term import TermError
from mjlab.mdp.differential_ik import DifferentialIKActionCfg
from mjlab.mdp.kinematics import DampedInverse
from mjlab.tensors.math import quat_angle
from tests.worlds.physics_env import PhysicsEnv, from_xml

WORLDS = 5

# Seven joints, one of them a slide, two on one body, and a finger beside the chain.
ARM = """
<mujoco model="arm">
  <compiler angle="radian" autolimits="true"/>
  <default><geom contype="0" conaffinity="0" size=".03"/>
    <joint damping="1" armature=".01" range="-2.8 2.8"/></default>
  <worldbody>
    <body name="base" pos=".1 .2 .3" quat=".8 .1 .2 .5">
      <geom name="base" type="box" size=".1 .1 .05"/>
      <body name="shoulder" pos="0 0 .1">
        <joint name="j1" axis="0 0 1"/><joint name="j2" axis="0 1 0" pos=".01 0 .02"/>
        <geom type="capsule" fromto="0 0 0 0 0 .3"/>
        <body name="upper" pos="0 0 .3" quat=".9 .1 0 .1">
          <joint name="j3" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 .25"/>
          <body name="fore" pos="0 0 .25">
            <joint name="j4" type="slide" axis="0 .1 1" range="-.1 .1"/>
            <geom type="capsule" fromto="0 0 0 0 0 .2"/>
            <body name="wrist" pos="0 0 .2">
              <joint name="j5" axis="0 0 1"/>
              <geom/>
              <body name="palm" pos=".02 0 .03">
                <joint name="j6" axis="0 1 0"/><geom/>
                <body name="hand" pos="0 0 .05">
                  <joint name="j7" axis="1 0 0"/>
                  <geom name="hand" type="box" size=".03 .02 .04" pos=".01 0 .05"
                    quat=".7 .1 .3 .2"/>
                  <site name="tip" pos="0 .01 .1" quat=".6 .2 .1 .4"/>
                  <body name="finger" pos="0 0 .1"><joint name="grip" axis="0 1 0"/>
                    <geom/></body>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

START = {"j2": 0.5, "j3": 0.6, "j5": 0.3, "j6": 0.7, "j7": -0.4}
CHAIN = tuple(f"j{i}" for i in range(1, 8))


def make_env(num_envs: int = WORLDS, **fields: Any) -> Any:
    """An arm with one differential-IK term, at a slightly different pose per world."""
    servo = PositionActuatorCfg(
        target_names_expr=(".*",), stiffness=400.0, damping=40.0
    )
    arm = from_xml(
        ARM,
        articulation=ArticulationCfg(actuators=(servo,)),
        init_state=InitialStateCfg(joint_pos=dict(START)),
    )
    env: Any = PhysicsEnv({"robot": arm}, num_envs, gravity=0.0)
    cfg = DifferentialIKActionCfg(
        **({"frame_type": "site", "frame_name": "tip"} | fields)
    )
    env.action_manager = ActionManager({"ik": cfg}, env)
    robot = env.scene.entity("robot")
    spread = torch.linspace(-0.1, 0.1, WORLDS * 8).view(WORLDS, 8)[:num_envs].clone()
    spread[:, 3].mul_(0.3)  # The slide is short.
    position = robot.data.default_joint_pos + spread
    robot.write_joint_pos(env.everyone, position)
    env.forward()
    return env


def mujoco_jacobian(env: Any, world: int, kind: str, name: str) -> np.ndarray:
    """MuJoCo C's Jacobian of the chain's joints, shape (6, 7)."""
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = env.sim.data.qpos[world].numpy()
    data.mocap_pos[:] = env.sim.data.mocap_pos[world].numpy()
    data.mocap_quat[:] = env.sim.data.mocap_quat[world].numpy()
    mujoco.mj_forward(model, data)
    compute = {
        "site": mujoco.mj_jacSite,
        "body": mujoco.mj_jacBody,
        "geom": mujoco.mj_jacGeom,
    }[kind]
    linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    compute(model, data, linear, angular, getattr(model, kind)(f"robot/{name}").id)
    dofs = [int(model.joint(f"robot/{joint}").dofadr[0]) for joint in CHAIN]
    return np.concatenate([linear, angular])[:, dofs]


@pytest.mark.parametrize(
    ("kind", "name"), [("site", "tip"), ("body", "hand"), ("geom", "hand")]
)
def test_the_jacobian_and_the_frame_are_those_of_mujoco(kind: str, name: str) -> None:
    env = make_env(frame_type=kind, frame_name=name)
    term = env.action_manager.term("ik")
    assert term.target_names == CHAIN  # The finger does not move the frame.
    jacobian = term._jacobian.at(term.frame.pos_w)
    model = env.sim.mj_model
    for world in range(WORLDS):
        wanted = mujoco_jacobian(env, world, kind, name)
        np.testing.assert_allclose(jacobian[world].numpy(), wanted, atol=2e-6)
    data = env.sim.data
    prefix = "x" if kind == "body" else f"{kind}_x"
    element = getattr(model, kind)(f"robot/{name}").id
    matrix = getattr(data, f"{prefix}mat")[0, element].double().numpy().reshape(9)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, matrix)
    angle = quat_angle(term.frame.quat_w[:1], torch.tensor(quat[None]).float())
    assert float(angle) < 1e-3
    assert term.frame.pos_w.equal(getattr(data, f"{prefix}pos")[:, element])


@pytest.mark.parametrize("size", [3, 6, 7])
def test_the_damped_inverse_equals_numpys(size: int) -> None:
    random = np.random.default_rng(size)
    jacobian = random.standard_normal((40, size, 7))
    jacobian[:10] *= 1e-3  # Nearly singular.
    error = random.standard_normal((40, size))
    pull = random.standard_normal((40, 7))
    damping = 0.1
    solve = DampedInverse(size, damping, torch.device("cpu"))
    for some_pull in (None, pull):
        tensors = [
            None if x is None else torch.tensor(x).float()
            for x in (jacobian, error, some_pull)
        ]
        step = solve(*tensors)  # type: ignore[arg-type]
        for world in range(40):
            # Least squares with the damping as further rows.
            d = np.zeros(7) if some_pull is None else some_pull[world]
            rows = np.vstack([jacobian[world], damping * np.eye(7)])
            right = np.concatenate([error[world], damping * d])
            wanted = np.linalg.lstsq(rows, right, rcond=None)[0]
            np.testing.assert_allclose(step[world].numpy(), wanted, atol=2e-4)


def test_the_first_step_is_the_damped_least_squares_step_of_numpy() -> None:
    damping = 0.02
    env = make_env(damping=damping, use_relative_mode=True, command_frame="world")
    delta = torch.tensor([[0.01, -0.02, 0.015, 0.05, -0.03, 0.02]] * WORLDS)
    term = env.action_manager.term("ik")
    before = env.scene.entity("robot").data.joint_pos[:, :7].clone()
    env.action_manager.process_action(delta)
    env.action_manager.apply_action()
    targets = env.scene.entity("robot").data.targets.joint_pos
    for world in range(WORLDS):
        jacobian = mujoco_jacobian(env, world, "site", "tip")
        rows = np.vstack([jacobian, damping * np.eye(7)])
        right = np.concatenate([delta[world].numpy(), np.zeros(7)])
        wanted = np.linalg.lstsq(rows, right, rcond=None)[0]
        step = (targets[world, :7] - before[world]).numpy()
        np.testing.assert_allclose(step, wanted, atol=5e-5)
    assert targets[:, 7].equal(env.scene.entity("robot").data.default_joint_pos[:, 7])
    assert term.processed_action.equal(targets[:, :7])


def reachable_pose(env: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the tip is in another configuration; physics is put back afterwards."""
    robot, frame = env.scene.entity("robot"), env.action_manager.term("ik").frame
    before = robot.data.joint_pos.clone()
    other = before + torch.tensor([0.3, 0.3, -0.3, 0.04, 0.4, -0.3, 0.3, 0.0])
    robot.write_joint_pos(env.everyone, other)
    env.forward()
    goal = frame.pos_w.clone(), frame.quat_w.clone()
    robot.write_joint_pos(env.everyone, before)
    env.forward()
    return goal


def distance(env: Any, goal: tuple[torch.Tensor, torch.Tensor]) -> tuple[float, float]:
    frame = env.action_manager.term("ik").frame
    away = (frame.pos_w - goal[0]).norm(dim=1).max()
    return float(away), float(quat_angle(frame.quat_w, goal[1]).max())


@pytest.mark.parametrize("command_frame", ["base", "world"])
def test_an_absolute_pose_is_reached_within_a_millimetre(command_frame: str) -> None:
    env = make_env(use_relative_mode=False, command_frame=command_frame)
    goal = reachable_pose(env)
    root = env.scene.entity("robot").data
    if command_frame == "world":
        action = torch.cat(goal, dim=1)
    else:
        action = torch.zeros(WORLDS, 7)
        for world in range(WORLDS):
            back, turned = np.zeros(4), np.zeros(4)
            mujoco.mju_negQuat(back, root.root_quat_w[world].double().numpy())
            away = (goal[0] - root.root_pos_w)[world].double().numpy()
            place = np.zeros(3)
            mujoco.mju_rotVecQuat(place, away, back)
            mujoco.mju_mulQuat(turned, back, goal[1][world].double().numpy())
            action[world, :3] = torch.tensor(place)
            action[world, 3:] = 2.5 * torch.tensor(turned)  # Of any length.
    assert distance(env, goal)[0] > 0.05
    for _ in range(60):
        env.step(action)
    away, turned = distance(env, goal)
    assert away < 1e-3
    assert turned < 5e-3


def test_world_frame_goals_are_relative_to_spawn_origins() -> None:
    """As on generated terrain, whose tiles stand metres apart."""
    env = make_env(use_relative_mode=False, command_frame="world")
    origins = torch.tensor([[8.0 * i, -16.0 + i, 0.5 * i] for i in range(WORLDS)])
    env.scene.spawn_origins.copy_(origins)
    assert env.scene.spawn_origins.equal(origins)
    action = torch.zeros(WORLDS, 7)
    action[:, :3] = torch.tensor([0.3, -0.2, 0.4])
    action[:, 3] = 1.0
    env.action_manager.process_action(action)
    # By hand: the origin and the goal, added.
    wanted = [[8.0 * i + 0.3, -16.2 + i, 0.5 * i + 0.4] for i in range(WORLDS)]
    goals = env.action_manager.term("ik").goal_pos_w
    np.testing.assert_allclose(goals.numpy(), wanted, rtol=1e-6)


def test_a_position_alone_leaves_joints_to_the_posture() -> None:
    def settle(weight: float) -> tuple[Any, float]:
        env = make_env(
            command_type="position",
            use_relative_mode=False,
            command_frame="world",
            posture_weight=weight,
            posture={"j5": 1.0, "j[67]": 0.2},
        )
        assert env.action_manager.total_action_dim == 3
        goal = reachable_pose(env)
        for _ in range(100):
            env.step(goal[0])
        return env, distance(env, goal)[0]

    free, away_free = settle(0.0)
    held, away_held = settle(0.1)
    assert away_free < 1e-3
    assert away_held < 1e-3

    def off_posture(env: Any) -> float:
        data = env.scene.entity("robot").data
        wanted = data.default_joint_pos[:, :7].clone()
        wanted[:, 4], wanted[:, 5:] = 1.0, 0.2
        return float((data.joint_pos[:, :7] - wanted).norm(dim=1).mean())

    assert off_posture(held) < 0.6 * off_posture(free)


def test_the_longest_joint_step_bounds_the_whole_step() -> None:
    def first_step(**fields: Any) -> torch.Tensor:
        env = make_env(command_type="position", limit_rounds=0, **fields)
        robot = env.scene.entity("robot")
        env.action_manager.process_action(torch.full((WORLDS, 3), 0.01))
        env.action_manager.apply_action()
        return (robot.data.targets.joint_pos - robot.data.joint_pos)[:, :7]

    whole, cut = first_step(max_joint_step=1e9), first_step(max_joint_step=0.005)
    longest = whole.abs().amax(dim=1, keepdim=True)
    assert (longest > 0.005).all()
    torch.testing.assert_close(cut, whole * (0.005 / longest), atol=1e-7, rtol=1e-3)


@pytest.mark.parametrize("limit_rounds", [0, 1])
def test_targets_end_at_the_limits(limit_rounds: int) -> None:
    env = make_env(
        command_type="position",
        command_frame="world",
        max_joint_step=1e9,
        limit_rounds=limit_rounds,
    )
    robot = env.scene.entity("robot")
    joint = env.sim.mj_model.joint("robot/j4").id
    env.action_manager.process_action(5.0 * env.sim.data.xaxis[:, joint])
    env.action_manager.apply_action()
    low, high = robot.data.soft_joint_pos_limits[:, :7].unbind(dim=-1)
    targets = robot.data.targets.joint_pos[:, :7]
    assert ((targets >= low) & (targets <= high)).all()
    torch.testing.assert_close(targets[:, 3], high[:, 3])


def test_joints_at_a_limit_are_excluded_from_the_solution() -> None:
    def away(limit_rounds: int) -> float:
        # The slide is asked past its end in the last world.
        env = make_env(
            use_relative_mode=False, command_frame="world", limit_rounds=limit_rounds
        )
        goal = reachable_pose(env)
        for _ in range(60):
            env.step(torch.cat(goal, dim=1))
        return distance(env, goal)[0]

    assert away(1) < 1e-5
    assert away(0) > 1e-3


def test_held_joints_step_as_given_and_the_others_as_numpy_solves() -> None:
    random = np.random.default_rng(1)
    jacobian, error = random.standard_normal((6, 7)), random.standard_normal(6)
    held = np.array([False, True, False, False, True, False, False])
    values = np.where(held, random.standard_normal(7), 9.0)
    damping = 0.1
    solve = DampedInverse(6, damping, torch.device("cpu"))
    tensors = [torch.tensor(x).float()[None] for x in (jacobian, error, values)]
    step = solve.with_held(
        tensors[0], tensors[1], None, torch.tensor(held)[None], tensors[2]
    )
    rows = np.vstack([jacobian[:, ~held], damping * np.eye(5)])
    left = error - jacobian[:, held] @ values[held]
    right = np.concatenate([left, np.zeros(5)])
    wanted = values.copy()
    wanted[~held] = np.linalg.lstsq(rows, right, rcond=None)[0]
    np.testing.assert_allclose(step[0].numpy(), wanted, atol=1e-4)


def test_relative_actions_are_in_the_axes_of_the_base() -> None:
    env = make_env(position_scale=0.02, rotation_scale=0.1)
    term = env.action_manager.term("ik")
    start = term.frame.pos_w.clone()
    action = torch.zeros(WORLDS, 6)
    action[:, 0].fill_(1.0)
    env.action_manager.process_action(action)
    forward = np.zeros(3)
    quat = env.scene.entity("robot").data.root_quat_w[0].double().numpy()
    mujoco.mju_rotVecQuat(forward, np.array([0.02, 0.0, 0.0]), quat)
    moved = (term.goal_pos_w - start).numpy()
    np.testing.assert_allclose(moved, np.tile(forward, (WORLDS, 1)), atol=1e-6)
    assert float(quat_angle(term.goal_quat_w, term.frame.quat_w).max()) < 1e-3


@pytest.mark.parametrize("axis", [3, 4, 5])
def test_relative_turns_have_a_scale_of_their_own(axis: int) -> None:
    env = make_env(position_scale=0.02, rotation_scale=0.1)
    term = env.action_manager.term("ik")
    action = torch.zeros(WORLDS, 6)
    action[:, axis].fill_(-1.0)
    env.action_manager.process_action(action)
    turned = quat_angle(term.goal_quat_w, term.frame.quat_w)
    np.testing.assert_allclose(turned.numpy(), 0.1, atol=1e-4)


def test_a_reset_clears_the_goals_of_its_worlds_only() -> None:
    env = make_env()
    term = env.action_manager.term("ik")
    for goal in (term.goal_pos_w, term.goal_quat_w):
        goal.fill_(0.5)
    mask = torch.arange(WORLDS) == 1
    term.reset(mask)
    for goal in (term.goal_pos_w, term.goal_quat_w):
        assert not goal[mask].any() and (goal[~mask] == 0.5).all()


def test_non_finite_action_affects_its_own_world_only() -> None:
    env = make_env(clip=(-1.0, 1.0))
    action = torch.zeros(WORLDS, 6)
    action[2, 4] = torch.inf
    env.step(action)
    assert (env.sim.health.find_nonfinite() == env.mask(2)).all()


def test_worlds_do_not_depend_on_the_number_of_worlds() -> None:
    def run(num_envs: int) -> torch.Tensor:
        env = make_env(num_envs, posture_weight=0.1)
        action = torch.linspace(-0.1, 0.1, WORLDS * 6).view(WORLDS, 6)[:num_envs]
        for _ in range(3):
            env.step(action.clone())
        return env.scene.entity("robot").data.targets.joint_pos.clone()

    whole = run(WORLDS)
    for num_envs in (1, 2, 4):
        assert run(num_envs).equal(whole[:num_envs])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"frame_name": "tup"}, "'ik': There is no site 'tup' of 'robot'.*'tip'"),
        ({"frame_type": "joint"}, "frame_type='joint' is unknown.*'body'"),
        ({"joint_names": ("j1", "grip")}, "'grip' of 'robot' does not move the site"),
        ({"frame_type": "geom", "frame_name": "base"}, "does not move the geom 'base'"),
        ({"command_type": "posse"}, "command_type is 'posse'.*'pose'"),
        ({"command_frame": "bass"}, "command_frame is 'bass'.*'base'"),
        ({"damping": 0.0}, "damping is 0.0"),
        ({"max_joint_step": 0.0}, "max_joint_step is 0.0"),
        ({"posture_weight": -1.0}, "posture_weight=-1.0 has to be 0"),
        ({"clip": (1.0, -1.0)}, "with low <= high"),
        ({"posture": {"j9": 0.0}}, "No joint of 'robot' matches 'j9'"),
    ],
)
def test_invalid_term_is_an_error_when_it_is_built(
    fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(TermError, match=said):
        make_env(**fields)
