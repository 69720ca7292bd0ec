"""Mirror tables compared with the engine's motion of a mirrored robot."""

import dataclasses
import math
import re
from functools import partial
from typing import Literal, NamedTuple

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl import RslRlVecEnv, TrainingLoop
from mjlab.runs.settings import read_task, task_text
from mjlab.settings.change import Setting, apply
from mjlab.tasks.robots.g1 import G1, G1_XML
from mjlab.tasks.robots.go1 import GO1, GO1_XML
from mjlab.tasks.robots.robot import Mirror, Robot
from mjlab.tasks.robots.symmetry import (
    G1SymmetryCfg,
    Go1SymmetryCfg,
    Reflection,
    SymmetryError,
)
from mjlab.tasks.velocity import (
    VelocityCfg,
    VelocityG1Cfg,
    VelocityG1FlatCfg,
    VelocityGo1Cfg,
    VelocityGo1FlatCfg,
)
from mjlab.tasks.velocity.commands import TwistCommandCfg
from mjlab.tasks.velocity.gait import GaitActionCfg
from mjlab.tasks.velocity.rl import go1_rl
from tests.tasks.mirrored_robots import symmetric, turned

STEPS = 20
PERIOD = 0.4
"""Period of the gait, s."""
ROBOTS = pytest.mark.parametrize("robot", [G1, GO1], ids=lambda robot: robot.name)
XML = {"G1": G1_XML, "Go1": GO1_XML}
FLAT: dict[str, type[VelocityCfg]] = {
    "G1": VelocityG1FlatCfg,
    "Go1": VelocityGo1FlatCfg,
}
SYMMETRY = {"G1": G1SymmetryCfg(), "Go1": Go1SymmetryCfg()}


# Two worlds, the second of which is the mirror image of the first.


def mirrored_pose(joints: list[str], mirror: Mirror, qpos: np.ndarray) -> np.ndarray:
    """Position, quaternion, and the joints by the tested table."""
    x, y, z = qpos[:3]
    order, signs = mirror.permutation(joints), mirror.joint_signs(joints)
    return np.concatenate(([x, -y, z], turned(qpos[3:7]), qpos[7:][order] * signs))


def mirrored_speed(joints: list[str], mirror: Mirror, qvel: np.ndarray) -> np.ndarray:
    """Linear velocity, a vector, and angular velocity, a pseudovector."""
    x, y, z, p, q, r = qvel[:6]
    order, signs = mirror.permutation(joints), mirror.joint_signs(joints)
    return np.concatenate(([x, -y, z, -p, q, -r], qvel[6:][order] * signs))


def make(
    robot: Robot,
    *,
    is_symmetric: bool = True,
    backend: Literal["native", "warp"] = "native",
) -> ManagerBasedRlEnv:
    """Two worlds without noise and randomness."""
    cfg = FLAT[robot.name]()
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = 2, 1, backend
    cfg.events, cfg.curriculum, cfg.terminations = {}, {}, {}
    # Pyramidal friction depends on tangents, which are not mirrored; elliptic does not.
    cfg.sim.mujoco.cone = "elliptic"
    cfg.sim.mujoco.iterations, cfg.sim.mujoco.ls_iterations = 100, 50
    # Half a period of the gait is a whole number of steps.
    for group in cfg.observations.values():
        assert group is not None
        group.enable_corruption = False
        params = group.terms["gait_clock"].params
        params["gait"] = dataclasses.replace(params["gait"], period=PERIOD)
    for term in cfg.actions.values():
        if isinstance(term, GaitActionCfg):
            term.gait = dataclasses.replace(term.gait, period=PERIOD)
    # Both worlds walk straight ahead.
    command = cfg.commands["twist"]
    assert isinstance(command, TwistCommandCfg)
    command.heading_command, command.rel_standing_envs = False, 0.0
    ranges = command.ranges
    ranges.lin_vel_x, ranges.lin_vel_y, ranges.ang_vel_z = (0.5, 0.5), (0, 0), (0, 0)
    entity = robot.entity_cfg()
    assert robot.mirror is not None
    if is_symmetric:
        entity.source = partial(symmetric, XML[robot.name], robot.mirror.other)
    cfg.scene.entities = {"robot": entity}
    return ManagerBasedRlEnv(cfg, device="cpu")


def set_images(env: ManagerBasedRlEnv, mirror: Mirror, height: float) -> list[str]:
    """Write a state into world 0, and its mirror image into world 1."""
    joints = list(env.scene.entity("robot").joint_names)
    generator = torch.Generator().manual_seed(3)
    data, count = env.sim.data, len(joints)
    data.qpos[0, 7:] += 0.1 * torch.randn(count, generator=generator)
    data.qpos[0, :3] = torch.tensor((0.2, 0.3, height))
    tilt = torch.tensor((1.0, 0.1, -0.15, 0.4))
    data.qpos[0, 3:7] = tilt / torch.linalg.vector_norm(tilt)
    data.qvel[0] = 0.3 * torch.randn(6 + count, generator=generator)
    pose, speed = data.qpos[0].numpy(), data.qvel[0].numpy()
    data.qpos[1] = torch.from_numpy(mirrored_pose(joints, mirror, pose))
    data.qvel[1] = torch.from_numpy(mirrored_speed(joints, mirror, speed))
    # The mirror image of a gait is the gait half a period later.
    env.episode_length_buf[1] = round(PERIOD / 2 / env.step_dt)
    env.sim.forward()
    return joints


class Differences(NamedTuple):
    """Maximum values over a number of steps."""

    state: float
    """Of poses and velocities."""
    seen: float
    """Of observations."""
    force: float
    """Not a difference: logarithm of the feet's forces, to detect contact."""


def roll_images(
    env: ManagerBasedRlEnv,
    mirror: Mirror,
    *,
    steps: int = STEPS,
    size: float = 0.3,
    height: float = 3.0,
    until_touch: bool = False,
) -> Differences:
    """Return maximum differences from the mirror image.

    Args:
        env: Two worlds.
        mirror: The table.
        steps: Number of steps.
        size: Standard deviation of the actions.
        height: Initial height, m; large values avoid contacts.
        until_touch: Stop at the first foot contact.
    """
    joints = set_images(env, mirror, height)
    reflection = Reflection(env, mirror)
    generator = torch.Generator().manual_seed(4)
    state, seen, force = 0.0, 0.0, 0.0
    forces = env.observation_manager.term("critic/foot_contact_forces")
    for _ in range(steps):
        action = size * torch.randn(
            1, env.action_manager.total_action_dim, generator=generator
        )
        observed, *_ = env.step(torch.cat((action, reflection.actions(action))))
        if height > 1.0 and env.sim.backend.engine == "native":
            assert env.sim.engine.mj_data_of(0).ncon == 0
        state = max(state, state_difference(env, joints, mirror))
        force = max(force, float(forces().abs().max()))
        for name, values in observed.items():
            assert isinstance(values, torch.Tensor)
            off = reflection.group(name, values[:1]) - values[1:]
            is_command = command_columns(env, name)
            seen = max(seen, float(off[:, ~is_command].abs().max()))
        if until_touch and force > 1.0:
            break
    return Differences(state, seen, force)


def state_difference(
    env: ManagerBasedRlEnv, joints: list[str], mirror: Mirror
) -> float:
    """Maximum state difference, in float64 where the engine has it."""
    if env.sim.backend.engine == "native":
        poses, speeds = zip(
            *(
                (d.qpos.copy(), d.qvel.copy())
                for d in map(env.sim.engine.mj_data_of, (0, 1))
            ),
            strict=True,
        )
    else:
        poses, speeds = env.sim.data.qpos.numpy(), env.sim.data.qvel.numpy()
    pose = mirrored_pose(joints, mirror, poses[0]) - poses[1]
    speed = mirrored_speed(joints, mirror, speeds[0]) - speeds[1]
    return float(max(np.abs(pose).max(), np.abs(speed).max()))


def command_columns(env: ManagerBasedRlEnv, group: str) -> torch.Tensor:
    """Columns of sampled, not computed, values."""
    manager = env.observation_manager
    names, shapes = manager.active_terms[group], manager.group_obs_term_dim[group]
    return torch.cat(
        [
            torch.full((math.prod(shape),), name == "command")
            for name, shape in zip(names, shapes, strict=True)
        ]
    )


@ROBOTS
def test_symmetric_robot_moves_like_its_mirror_image(
    robot: Robot,
) -> None:
    assert robot.mirror is not None
    state, seen, _ = roll_images(make(robot), robot.mirror)
    # Targets of a G1 follow its clock, which is computed in float32.
    assert state < (1e-5 if robot is G1 else 1e-8)
    # Observations are float32: joints rotate at up to 60 rad/s.
    assert seen < 1e-4


@pytest.mark.slow
@ROBOTS
def test_symmetric_robot_moves_like_its_mirror_image_on_warp(robot: Robot) -> None:
    assert robot.mirror is not None
    env = make(robot, backend="warp")
    state, *_ = roll_images(env, robot.mirror, steps=1)
    assert state < 1e-4


def with_wrong_sign(mirror: Mirror, joint: str) -> Mirror:
    """The table with a wrong sign for one joint."""
    pattern = mirror.flipped_joints
    if re.fullmatch(pattern, joint):
        wrong = f"(?!{joint}$)({pattern})"
    else:
        wrong = f"({pattern})|{joint}"
    return dataclasses.replace(mirror, flipped_joints=wrong)


@pytest.mark.parametrize(
    ("robot", "joint"),
    [
        (G1, "left_ankle_roll_joint"),
        (G1, "right_knee_joint"),
        (G1, "waist_yaw_joint"),
        (GO1, "FL_hip_joint"),
        (GO1, "RR_calf_joint"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_wrong_sign_in_the_symmetry_table_fails(robot: Robot, joint: str) -> None:
    assert robot.mirror is not None
    wrong = with_wrong_sign(robot.mirror, joint)
    names = joint_names(robot)
    changed = np.subtract(wrong.joint_signs(names), robot.mirror.joint_signs(names))
    assert np.count_nonzero(changed) == 1
    state, *_ = roll_images(make(robot), wrong, steps=1)
    assert state > 1e-2


def joint_names(robot: Robot) -> list[str]:
    """Joints of a robot except the free joint."""
    model = mujoco.MjModel.from_xml_path(str(XML[robot.name]))
    return [model.joint(i).name for i in range(1, model.njnt)]


@ROBOTS
def test_foot_contacts_are_mirrored(robot: Robot) -> None:
    """The solver orders the contacts of the two worlds differently, so not to 1e-8."""
    assert robot.mirror is not None
    height = robot.entity_cfg().init_state.pos
    assert height is not None
    drop = height[2] + 0.2
    rolled = roll_images(
        make(robot), robot.mirror, steps=40, height=drop, until_touch=True
    )
    assert rolled.force > 1.0
    assert rolled.seen < 5e-2


@ROBOTS
def test_the_published_robot_differs_from_its_mirror_image_a_little(
    robot: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    assert robot.mirror is not None
    state, seen, _ = roll_images(make(robot, is_symmetric=False), robot.mirror)
    with capsys.disabled():
        print(
            f"\n{robot.name} as published, {STEPS} steps: {state:.2g} rad or rad/s "
            f"from its mirror image, {seen:.2g} in what it observes"
        )
    assert 1e-8 < state < 3.0


# Other entries of a table.


@pytest.mark.parametrize(
    ("cfg", "robot"), [(VelocityG1Cfg, G1), (VelocityGo1Cfg, GO1)], ids=["G1", "Go1"]
)
def test_a_scan_shows_each_point_where_its_mirror_image_is(
    cfg: type[VelocityCfg], robot: Robot
) -> None:
    assert robot.mirror is not None
    rough = cfg()
    rough.scene.num_envs, rough.seed = 1, 0
    reflection = Reflection(env := ManagerBasedRlEnv(rough, device="cpu"), robot.mirror)
    rays = next(s for s in rough.scene.sensors if s.name == "terrain_scan")
    starts = torch.from_numpy(rays.local_rays()[0])  # type: ignore[attr-defined]
    manager = env.observation_manager
    place = manager.active_terms["actor"].index("height_scan")
    sizes = [math.prod(shape) for shape in manager.group_obs_term_dim["actor"]]
    values = torch.zeros(2, sum(sizes), dtype=torch.float64)
    scan = slice(sum(sizes[:place]), sum(sizes[: place + 1]))
    values[:, scan] = starts[:, :2].T
    image = reflection.group("actor", values)[:, scan]
    torch.testing.assert_close(image[0], starts[:, 0])
    torch.testing.assert_close(image[1], -starts[:, 1])


@ROBOTS
def test_a_command_rotates_at_its_yaw_rate(robot: Robot) -> None:
    """Forward, left and yaw rate, mirrored like the root's velocities."""
    assert robot.mirror is not None
    reflection = Reflection(env := make(robot), robot.mirror)
    manager = env.observation_manager
    names = manager.active_terms["actor"]
    sizes = [math.prod(shape) for shape in manager.group_obs_term_dim["actor"]]
    ends = dict(zip(names, np.cumsum(sizes).tolist(), strict=True))
    signs = reflection.group("actor", torch.ones(1, sum(sizes)))[0]
    linear, spin, command = (
        signs[ends[name] - 3 : ends[name]]
        for name in ("base_lin_vel", "base_ang_vel", "command")
    )
    assert command.tolist() == [*linear[:2].tolist(), spin[2].item()]


def test_a_term_without_a_rule_is_an_error_with_its_name() -> None:
    cfg = VelocityGo1FlatCfg()
    cfg.scene.num_envs, cfg.seed = 1, 0
    actor = cfg.observations["actor"]
    assert actor is not None
    actor.terms["gait_phase"] = actor.terms["command"]
    assert GO1.mirror is not None
    with pytest.raises(SymmetryError, match="'actor/gait_phase' has no mirror image"):
        Reflection(ManagerBasedRlEnv(cfg, device="cpu"), GO1.mirror)


def test_a_part_without_a_counterpart_is_an_error_with_its_name() -> None:
    mirror = Mirror(sides=(("left_", "right_"),), flipped_joints="")
    with pytest.raises(ValueError, match="mirror image of 'left_arm' is 'right_arm'"):
        mirror.permutation(["left_arm", "body"])


@ROBOTS
def test_images_are_appended_to_observations_and_to_actions(robot: Robot) -> None:
    assert robot.mirror is not None
    env = make(robot)
    worlds, reflection = RslRlVecEnv(env), Reflection(env, robot.mirror)
    seen = worlds.get_observations()
    done = torch.randn(2, worlds.num_actions)
    append = SYMMETRY[robot.name].data_augmentation_func
    both, doubled = append(env=worlds, obs=seen, actions=done)
    for name in ("actor", "critic"):
        assert torch.equal(both[name][:2], seen[name])
        assert torch.equal(both[name][2:], reflection.group(name, seen[name]))
    assert torch.equal(doubled, torch.cat((done, reflection.actions(done))))
    assert append(env=worlds, obs=None, actions=done)[0] is None


@ROBOTS
def test_a_policy_learns_with_its_mirror_images(robot: Robot) -> None:
    """RSL-RL accepts the images, and a mirror loss makes the policy symmetric."""
    symmetry = dataclasses.replace(
        SYMMETRY[robot.name], use_mirror_loss=True, mirror_loss_coeff=10.0
    )
    cfg = FLAT[robot.name]()
    cfg.scene.num_envs, cfg.seed = 16, 1
    agent = go1_rl()
    agent.actor.hidden_dims = agent.critic.hidden_dims = (32,)
    agent.num_steps_per_env, agent.max_iterations, agent.evaluation.every = 8, 0, 0
    agent.algorithm.symmetry_cfg, agent.algorithm.schedule = symmetry, "fixed"
    losses = []
    loop = TrainingLoop(ManagerBasedRlEnv(cfg, device="cpu"), agent)
    for iterations in (1, 15):
        agent.max_iterations += iterations
        losses.append(loop.run().figures["Loss/symmetry"])
    assert losses[1] < 0.1 * losses[0]


def test_symmetry_is_enabled_by_its_configuration_name() -> None:
    setting = Setting("agent.algorithm.symmetry_cfg", ("G1SymmetryCfg",))
    agent = apply({"agent": go1_rl()}, [setting])["agent"]
    assert agent.algorithm.symmetry_cfg == G1SymmetryCfg()
    text = task_text("Velocity-Go1-Flat", {"agent": agent})
    assert read_task(text, "a run")["agent"] == agent
