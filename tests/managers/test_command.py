"""Commands: timers, classes of velocity commands, poses, and metrics."""

import copy
import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np
import pytest
import torch

from mjlab.entity import Entity
from mjlab.managers.command import CommandManager, CommandTerm, CommandTermCfg
from mjlab.managers.term import TermError
from mjlab.mdp.commands import PoseCommandCfg, PoseRanges, UniformVectorCommandCfg
from mjlab.mdp.velocity_command import UniformVelocityCommandCfg, VelocityRanges
from mjlab.names import UnknownNameError
from tests.worlds.fake_env import FakeEnv
from tests.worlds.physics_env import PhysicsEnv, from_xml

ROBOT = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1"><freejoint/><geom size=".1"/>
      <body name="head" pos=".2 0 .1" quat=".9 .2 .3 .1">
        <geom size=".05"/><site name="eye" pos=".03 .02 .01" quat=".8 .1 .2 .5"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
POST = (
    '<mujoco><worldbody><body name="post"><geom size=".1"/></body></worldbody></mujoco>'
)


def make_env(commands: dict[str, CommandTermCfg | None], num_envs: int = 4) -> Any:
    env: Any = PhysicsEnv({"robot": from_xml(ROBOT), "post": from_xml(POST)}, num_envs)
    return bound(env, commands)


def bound(env: Any, commands: dict[str, CommandTermCfg | None]) -> Any:
    """Give the environment its commands, and begin an episode in every world."""
    env.command_manager = CommandManager(commands, env)
    reset(env, env.everyone)
    return env


def reset(env: Any, mask: torch.Tensor) -> None:
    """Begin episodes outside a step, as the environment does."""
    _begin(env, mask)
    _observe(env, 0.0)


def step(env: Any, done: torch.Tensor | None = None) -> None:
    """Update commands as the environment does in a step, without physics."""
    env.rng.advance()
    env.episode_length_buf += 1
    _begin(env, env.mask() if done is None else done)
    _observe(env, env.step_dt)


def _begin(env: Any, mask: torch.Tensor) -> None:
    env.rng.advance(mask)
    env.command_manager.reset(mask)
    env.episode_length_buf.masked_fill_(mask, 0)
    env.episode_log.fold(mask)


def _observe(env: Any, dt: float) -> None:
    env.command_manager.write_state(dt)
    if isinstance(env, PhysicsEnv):
        env.forward()
    env.command_manager.compute(dt)


def vector(
    times: tuple[float, float], ranges: tuple[tuple[float, float], ...] = ((0, 1),)
) -> UniformVectorCommandCfg:
    return UniformVectorCommandCfg(resampling_time_range=times, ranges=ranges)


def velocity(
    times: tuple[float, float] = (1.0, 1.0), **fields: Any
) -> UniformVelocityCommandCfg:
    ranges = UniformVelocityCommandCfg.Ranges(
        lin_vel_x=(-1.0, 2.0),
        lin_vel_y=(-0.5, 0.5),
        ang_vel_z=(-0.7, 0.7),
        heading=(-math.pi, math.pi),
    )
    settings = {"resampling_time_range": times, "ranges": ranges}
    heading = {"heading_command": True, "rel_heading_envs": 0.0}
    return UniformVelocityCommandCfg(**(settings | heading | fields))


# Timers.


def runs_of(env: Any, name: str, steps: int) -> list[list[int]]:
    """Steps that each command lasted in each world, without the unfinished one."""
    seen = []
    for _ in range(steps):
        seen.append(env.command_manager.get_command(name)[:, 0].clone())
        step(env)
    values = torch.stack(seen)
    runs = []
    for world in range(env.num_envs):
        changes = (values[1:, world] != values[:-1, world]).nonzero().flatten() + 1
        edges = [0, *changes.tolist()]
        runs.append([b - a for a, b in itertools.pairwise(edges)])
    return runs


def test_a_command_lasts_exactly_its_time_over_a_thousand_steps() -> None:
    # 0.3 / 0.02 is a little below 15 in floating point, and float32 sums drift.
    env = bound(FakeEnv(3), {"goal": vector((0.3, 0.3))})
    for runs in runs_of(env, "goal", 1000):
        assert runs == [15] * 66


def test_times_are_uniform_in_their_range_of_steps() -> None:
    env = bound(FakeEnv(200), {"goal": vector((0.06, 0.12))})
    lengths = torch.tensor([*itertools.chain(*runs_of(env, "goal", 300))])
    counts = torch.bincount(lengths, minlength=8)
    assert counts[:3].tolist() == [0, 0, 0]
    assert counts[7:].tolist() == [0]
    share = counts[3:7] / lengths.numel()
    assert (share - 0.25).abs().max() < 0.01


def test_a_reset_restarts_the_timer_and_draws_once() -> None:
    env = bound(FakeEnv(3), {"goal": vector((0.1, 0.1))})
    command = env.command_manager.get_command("goal")
    changes: list[list[int]] = [[], [], []]
    before = command.clone()
    for index in range(1, 30):
        step(env, env.mask(1) if index in (3, 13, 15) else None)
        for world in (command != before).any(dim=1).nonzero().flatten().tolist():
            changes[world].append(index)
        before = command.clone()
    assert changes[0] == changes[2] == [5, 10, 15, 20, 25]
    assert changes[1] == [3, 8, 13, 15, 20, 25]


def test_reset_between_steps_leaves_other_worlds_unchanged() -> None:
    env = make_env({"twist": velocity((0.1, 0.3), rel_heading_envs=0.5)})
    for _ in range(4):
        step(env)
    manager = env.command_manager
    before = {name: value.clone() for name, value in manager.state().items()}
    reset(env, env.mask(2))
    others = [0, 1, 3]
    for name, value in manager.state().items():
        if "ranges" not in name:
            assert value[others].equal(before[name][others]), name
    assert not manager.get_command("twist")[2].equal(before["twist.command"][2])


def test_infinite_time_keeps_the_command_for_the_episode() -> None:
    env = bound(FakeEnv(2), {"goal": vector((math.inf, math.inf))})
    first = env.command_manager.get_command("goal").clone()
    for _ in range(50):
        step(env)
    assert env.command_manager.get_command("goal").equal(first)
    step(env, env.mask(0))
    changed = (env.command_manager.get_command("goal") != first).flatten()
    assert changed.tolist() == [True, False]


def test_time_left_counts_down_in_seconds() -> None:
    env = bound(FakeEnv(1), {"goal": vector((0.06, 0.06))})
    left = []
    for _ in range(5):
        left.append(float(env.command_manager.term("goal").time_left))
        step(env)
    assert left == pytest.approx([0.06, 0.04, 0.02, 0.06, 0.04])


def test_overdue_command_has_no_time_left() -> None:
    env = bound(FakeEnv(2), {"goal": vector((0.06, 0.06))})
    # Episodes that begin somewhere in the middle, as training likes to begin them.
    env.episode_length_buf += torch.tensor([0, 100])
    left = env.command_manager.term("goal").time_left
    assert left.tolist() == pytest.approx([0.06, 0.0])


# The manager and its contract.


class Recorder(CommandTerm):
    """Records the calls of a command term."""

    metric_names: ClassVar[tuple[str, ...]] = ("steps",)

    def __init__(self, name: str, cfg: "RecorderCfg", env: Any) -> None:
        self.writes_state = cfg.writes_state
        self.calls = cfg.calls
        super().__init__(name, cfg, env, num_draws=2)
        self._command = torch.zeros(env.num_envs, 1)

    @property
    def command(self) -> torch.Tensor:
        return self._command

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        assert unit.shape == (self.num_envs, 2)
        begins = (mask & self.begins_episode).tolist()
        self.calls.append((self.name, "resample", mask.tolist(), begins))

    def _update(self) -> None:
        self.calls.append((self.name, "update"))

    def _update_metrics(self) -> None:
        self.calls.append((self.name, "metrics"))
        self.metrics["steps"].add_(1.0)


@dataclass(kw_only=True)
class RecorderCfg(CommandTermCfg):
    writes_state: bool = False
    calls: list[Any]

    def bind(self, name: str, env: Any) -> CommandTerm:
        return Recorder(name, self, env)


def recorder(calls: list[Any], *, writes_state: bool = False) -> RecorderCfg:
    times = (0.04, 0.04)
    return RecorderCfg(
        resampling_time_range=times, calls=calls, writes_state=writes_state
    )


def test_calls_come_in_the_documented_order() -> None:
    calls: list[Any] = []
    env: Any = FakeEnv(2)
    terms = {
        "plain": recorder(calls),
        "off": None,
        "writer": recorder(calls, writes_state=True),
    }
    bound(env, terms)
    nobody, all_ = [False, False], [True, True]
    assert calls == [
        ("writer", "resample", all_, all_),
        ("plain", "resample", all_, all_),
        ("plain", "update"),
        ("writer", "update"),
    ]
    for expected in (nobody, all_):
        calls.clear()
        step(env)
        assert calls == [
            ("writer", "metrics"),
            ("writer", "resample", expected, nobody),
            ("plain", "metrics"),
            ("plain", "resample", expected, nobody),
            ("plain", "update"),
            ("writer", "update"),
        ]
    calls.clear()
    step(env, env.mask(1))
    assert calls[1] == ("writer", "resample", [False, True], [False, True])


def test_metrics_are_logged_and_cleared_where_episodes_end() -> None:
    env: Any = FakeEnv(3)
    bound(env, {"goal": recorder([]), "other": vector((1.0, 1.0))})
    assert env.episode_log.keys == ["Metrics/goal/steps"]
    for _ in range(5):
        step(env)
    step(env, env.mask(1, 2))
    assert float(env.episode_log.latest()["Metrics/goal/steps"]) == 5.0
    steps = env.command_manager.term("goal").metrics["steps"]
    assert steps.tolist() == [6.0, 1.0, 1.0]


def test_unknown_names_suggest_the_nearest() -> None:
    env = bound(FakeEnv(), {"twist": vector((1.0, 1.0)), "pose": None})
    manager = env.command_manager
    assert manager.active_terms == ["twist"]
    for look_up in (manager.get_command, manager.term, manager.get_term):
        with pytest.raises(UnknownNameError, match=r"no command term 'twst'.*'twist'"):
            look_up("twst")


@pytest.mark.parametrize("times", [(0.0, 1.0), (2.0, 1.0), (-1.0, 1.0)])
def test_invalid_resampling_times_are_an_error(times: tuple[float, float]) -> None:
    with pytest.raises(TermError, match=r"Command term 'goal': resampling_time_range"):
        bound(FakeEnv(), {"goal": vector(times)})


# Velocities.


def test_velocity_commands_belong_to_exclusive_classes_with_given_fractions() -> None:
    shares = {
        "rel_standing_envs": 0.1,
        "rel_heading_envs": 0.3,
        "rel_forward_envs": 0.2,
        "rel_world_envs": 0.15,
    }
    env = make_env({"twist": velocity(**shares)}, 4000)
    term = env.command_manager.term("twist")
    flags = (term.is_standing, term.is_heading, term.is_forward, term.is_world)
    classes = torch.stack(flags, dim=1)
    assert int(classes.sum(dim=1).max()) == 1
    # Four standard deviations of a share of 4000 draws are at most 0.03.
    found = classes.float().mean(dim=0).tolist()
    assert found == pytest.approx(list(shares.values()), abs=0.03)
    command = term.command
    assert (command[term.is_standing] == 0).all()
    forward = command[term.is_forward]
    assert (forward[:, 1:] == 0).all()
    assert (forward[:, 0] >= 0).all()
    assert float(forward[:, 0].mean()) == pytest.approx(1.0, abs=0.1)
    plain = command[~classes.any(dim=1)]
    low, high = torch.tensor([-1.0, -0.5, -0.7]), torch.tensor([2.0, 0.5, 0.7])
    assert ((plain >= low) & (plain <= high)).all()
    middle = (plain.mean(dim=0) - (low + high) / 2) / (high - low)
    assert middle.abs().max() < 0.05
    assert (plain.amax(dim=0) > high - 0.05).all()
    assert (plain.amin(dim=0) < low + 0.05).all()


def test_a_command_keeps_its_class_until_the_next_one_is_due() -> None:
    kinds = ("standing", "heading", "forward", "world")
    cfg = velocity((0.1, 0.1), **{f"rel_{kind}_envs": 0.25 for kind in kinds})
    env = make_env({"twist": cfg}, 32)
    half, nobody = env.mask(*range(16)), env.mask()
    classes = env.command_manager.state()["twist.classes"]
    # Half of the worlds are reset in the second step, and are due 5 steps after that.
    for index, due in enumerate((nobody, half, nobody, nobody, ~half, nobody, half)):
        before = classes.clone()
        step(env, half if index == 1 else None)
        changed = (classes != before).any(dim=1)
        assert not changed[~due].any()
        assert changed.any() == due.any()


def test_heading_commands_turn_towards_their_heading_by_the_shorter_way() -> None:
    cfg = velocity(rel_heading_envs=1.0, heading_control_stiffness=0.5)
    env = make_env({"twist": cfg}, 3)
    term, robot = env.command_manager.term("twist"), env.scene.entity("robot")
    yaw = torch.tensor([3.0, 0.2, 0.0])
    pose = robot.data.default_root_state[:, :7].clone()
    pose[:, 3], pose[:, 6] = (yaw / 2).cos(), (yaw / 2).sin()
    robot.write_root_pose_w(env.everyone, pose)
    term.heading_target.copy_(torch.tensor([-3.0, 1.2, -3.0]))
    step(env)
    wanted = [0.5 * (2 * math.pi - 6.0), 0.5 * 1.0, -0.7]
    assert term.command[:, 2].tolist() == pytest.approx(wanted, abs=1e-5)


def test_world_commands_keep_their_direction_while_the_root_turns() -> None:
    env = make_env({"twist": velocity((9.0, 9.0), rel_world_envs=1.0)}, 3)
    term, robot = env.command_manager.term("twist"), env.scene.entity("robot")
    fixed = term.command.clone()  # The root is not turned yet.
    yaw = torch.tensor([0.4, math.pi / 2, -2.0])
    pose = robot.data.default_root_state[:, :7].clone()
    pose[:, 3], pose[:, 6] = (yaw / 2).cos(), (yaw / 2).sin()
    robot.write_root_pose_w(env.everyone, pose)
    step(env)
    for world in range(3):
        wanted = np.zeros(3)
        back = np.zeros(4)
        mujoco.mju_negQuat(back, pose[world, 3:].double().numpy())
        planar = np.array([*fixed[world, :2].tolist(), 0.0])
        mujoco.mju_rotVecQuat(wanted, planar, back)
        np.testing.assert_allclose(term.command[world, :2], wanted[:2], atol=1e-6)
        assert term.command[world, 2] == fixed[world, 2]


def test_heading_fraction_has_no_effect_without_heading_commands() -> None:
    cfg = velocity(rel_heading_envs=1.0, rel_standing_envs=0.2, heading_command=False)
    env = make_env({"twist": cfg}, 64)
    assert not env.command_manager.term("twist").is_heading.any()


def test_ranges_are_live_tensors() -> None:
    env = make_env({"twist": velocity((0.02, 0.02))}, 64)
    term = env.command_manager.term("twist")
    ranges = VelocityRanges(lin_vel_x=(3.0, 4.0), lin_vel_y=(0, 0), ang_vel_z=(1, 1))
    for name in ("lin_vel_x", "lin_vel_y", "ang_vel_z"):
        term.ranges[name].copy_(torch.tensor(getattr(ranges, name)))
    step(env)
    assert ((term.command[:, 0] >= 3.0) & (term.command[:, 0] <= 4.0)).all()
    assert (term.command[:, 1:] == torch.tensor([0.0, 1.0])).all()
    assert term.state()["ranges"][0].tolist() == [3.0, 4.0]
    assert term.cfg.ranges.lin_vel_x == (-1.0, 2.0)


def test_velocity_errors_are_means_over_the_episode() -> None:
    env = make_env({"twist": velocity((9.0, 9.0))}, 2)
    robot = env.scene.entity("robot")
    command = env.command_manager.get_command("twist").clone()
    errors = []
    for speed in (0.5, -1.0, 2.0):
        moving = torch.zeros(2, 6)
        moving[:, 0], moving[:, 5] = speed, speed / 2
        robot.write_root_velocity_b(env.everyone, moving)
        step(env)
        away = torch.tensor([speed, 0.0]) - command[:, :2]
        errors.append(
            torch.stack((away.norm(dim=1), (speed / 2 - command[:, 2]).abs()), dim=1)
        )
    term = env.command_manager.term("twist")
    torch.testing.assert_close(term.metric_values, torch.stack(errors).mean(dim=0))
    step(env, env.mask(0))
    logged = env.episode_log.latest()
    names = ["Metrics/twist/error_vel_xy", "Metrics/twist/error_vel_yaw"]
    wanted = torch.stack(errors).mean(dim=0)[0]
    torch.testing.assert_close(torch.stack([logged[name] for name in names]), wanted)
    step(env)
    moved = torch.tensor([2.0, 0.0]) - term.command[0, :2]
    torch.testing.assert_close(term.metrics["error_vel_xy"][0], moved.norm())


def test_an_episode_may_begin_with_the_root_moving_as_commanded() -> None:
    cfg = velocity((0.04, 0.04), init_velocity_prob=0.5, rel_world_envs=0.5)
    env: Any = PhysicsEnv({"robot": from_xml(ROBOT)}, 400)
    robot: Entity = env.scene.entity("robot")
    turned = torch.tensor([0.0, 0.0, 1.0, 0.7, 0.1, 0.2, 0.6]).repeat(400, 1)
    turned[:, 3:] /= turned[:, 3:].norm(dim=1, keepdim=True)
    robot.write_root_pose_w(env.everyone, turned)
    bound(env, {"twist": cfg})
    moving = (robot.data.root_vel_w != 0).any(dim=1)
    assert float(moving.float().mean()) == pytest.approx(0.5, abs=0.1)
    command = env.command_manager.get_command("twist")
    seen = torch.cat(
        (robot.data.root_lin_vel_b[:, :2], robot.data.root_ang_vel_b[:, 2:]), dim=1
    )
    torch.testing.assert_close(seen[moving], command[moving], atol=1e-6, rtol=1e-5)
    other = (robot.data.root_lin_vel_b[:, 2], robot.data.root_ang_vel_b[:, :2])
    assert max(float(each.abs().max()) for each in other) < 1e-6
    before, velocity_before = command.clone(), env.sim.data.qvel.clone()
    for _ in range(2):
        step(env)
    assert (command != before).any(dim=1).all()
    assert env.sim.data.qvel.equal(velocity_before)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"rel_standing_envs": 0.6, "rel_heading_envs": 0.5},
            "add up to at most 1: rel_standing_envs=0.6, rel_heading_envs=0.5",
        ),
        ({"rel_world_envs": 1.5}, "have to be from 0 to 1.*rel_world_envs=1.5"),
        ({"entity_name": "robto"}, "'twist': .*no entity 'robto'.*'robot'"),
        ({"init_velocity_prob": 2.0}, "init_velocity_prob=2.0 has to be from 0 to 1"),
        (
            {"init_velocity_prob": 0.5, "entity_name": "post"},
            "'post' has a fixed base",
        ),
        (
            {
                "ranges": VelocityRanges(
                    lin_vel_x=(1, 0), lin_vel_y=(0, 0), ang_vel_z=(0, 0)
                )
            },
            r"range of lin_vel_x is \(1, 0\)",
        ),
        (
            {
                "ranges": VelocityRanges(
                    lin_vel_x=(-1, 0), lin_vel_y=(0, 0), ang_vel_z=(0, 0)
                ),
                "rel_forward_envs": 0.1,
            },
            "lin_vel_x is 0; it has to be positive",
        ),
    ],
)
def test_invalid_velocity_commands_are_an_error(
    fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(TermError, match=said):
        make_env({"twist": velocity(**fields)})


# Poses.


def pose(command_frame: str, times: tuple[float, float] = (9.0, 9.0)) -> PoseCommandCfg:
    ranges = PoseRanges(
        pos_x=(0.3, 0.6), pos_y=(-0.2, 0.2), pos_z=(0.1, 0.1), roll=(-3, 3), yaw=(-3, 3)
    )
    return PoseCommandCfg(
        resampling_time_range=times,
        frame_type="site",
        frame_name="eye",
        ranges=ranges,
        command_frame=command_frame,  # type: ignore[arg-type]
    )


def in_world(root: np.ndarray, command: np.ndarray) -> np.ndarray:
    """A pose in the root frame as a pose in the world, by MuJoCo."""
    place, quat = np.zeros(3), np.zeros(4)
    mujoco.mju_mulPose(place, quat, root[:3], root[3:], command[:3], command[3:])
    return np.concatenate([place, quat])


def move_root(env: Any) -> None:
    robot = env.scene.entity("robot")
    moved = torch.rand(env.num_envs, 7, generator=torch.Generator().manual_seed(5))
    moved[:, 3:] /= moved[:, 3:].norm(dim=1, keepdim=True)
    robot.write_root_pose_w(env.everyone, moved)


@pytest.mark.parametrize("command_frame", ["base", "world"])
def test_pose_commands_are_constant_until_resampled(command_frame: str) -> None:
    env = make_env({"reach": pose(command_frame)}, 64)
    env.scene.spawn_origins[:, 0].fill_(0.5)
    term = env.command_manager.term("reach")
    step(env)
    drawn, goal = term.command.clone(), term.goal_pose_w.clone()
    move_root(env)
    step(env)
    assert (drawn[:, 3] >= 0).all()
    assert (term.command[:, 3] >= 0).all()
    if command_frame == "base":
        assert term.command.equal(drawn)
        assert (drawn[:, :3] >= torch.tensor([0.3, -0.2, 0.1])).all()
        assert (drawn[:, :3] <= torch.tensor([0.6, 0.2, 0.1])).all()
    else:
        assert term.goal_pose_w.equal(goal)
        assert (goal[:, 0] >= 0.8).all()
        assert (goal[:, 0] <= 1.1).all()
    root = env.scene.entity("robot").data.root_pose_w.double().numpy()
    for world in range(0, 64, 8):
        wanted = in_world(root[world], term.command[world].double().numpy())
        found = term.goal_pose_w[world].numpy()
        np.testing.assert_allclose(found[:3], wanted[:3], atol=1e-5)
        assert abs(found[3:] @ wanted[3:]) == pytest.approx(1.0, abs=1e-5)


def test_drawn_orientations_are_roll_then_pitch_then_yaw() -> None:
    cfg = pose("base")
    cfg.ranges = PoseRanges(roll=(0.3, 0.3), pitch=(-0.2, -0.2), yaw=(1.1, 1.1))
    env = make_env({"reach": cfg})
    wanted = np.zeros(4)
    mujoco.mju_euler2Quat(wanted, np.array([0.3, -0.2, 1.1]), "XYZ")
    found = env.command_manager.get_command("reach")[0, 3:]
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-6)


def test_pose_errors_are_those_of_the_named_frame() -> None:
    env = make_env({"reach": pose("world")}, 2)
    move_root(env)
    env.forward()
    step(env)
    term = env.command_manager.term("reach")
    data, site = env.sim.data, env.sim.mj_model.site("robot/eye").id
    for world in range(2):
        goal = term.goal_pose_w[world].double().numpy()
        away = goal[:3] - data.site_xpos[world, site].numpy()
        found = term.metrics["position_error"][world]
        assert float(found) == pytest.approx(np.linalg.norm(away), rel=1e-4)
        quat, turn = np.zeros(4), np.zeros(3)
        mujoco.mju_mat2Quat(
            quat, data.site_xmat[world, site].double().flatten().numpy()
        )
        mujoco.mju_subQuat(turn, goal[3:], quat)
        found = term.metrics["orientation_error"][world]
        assert float(found) == pytest.approx(np.linalg.norm(turn), rel=1e-3)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"frame_name": "eyes"}, "'reach': There is no site 'eyes' of 'robot'.*'eye'"),
        ({"command_frame": "bass"}, "command_frame is 'bass'.*'base'"),
        ({"ranges": PoseRanges(roll=(1.0, 0.0))}, "range of roll"),
    ],
)
def test_invalid_pose_commands_are_an_error(fields: dict[str, Any], said: str) -> None:
    cfg = pose("base")
    for name, value in fields.items():
        setattr(cfg, name, value)
    with pytest.raises(TermError, match=said):
        make_env({"reach": cfg})


# Laws.


def all_terms() -> dict[str, CommandTermCfg | None]:
    return {
        "twist": velocity(
            (0.04, 0.1),
            rel_standing_envs=0.1,
            rel_heading_envs=0.3,
            rel_forward_envs=0.2,
            rel_world_envs=0.2,
            init_velocity_prob=0.5,
        ),
        "base": pose("base", (0.04, 0.1)),
        "world": pose("world", (0.04, 0.1)),
        "numbers": vector((0.04, 0.1), ((0.0, 1.0), (-2.0, 2.0))),
    }


def test_configurations_are_not_written_to() -> None:
    cfg = all_terms()
    before = copy.deepcopy(cfg)
    env = make_env(cfg)
    for index in range(5):
        step(env, env.mask(index % 4))
    assert cfg == before


def test_commands_do_not_depend_on_other_worlds() -> None:
    def run(num_envs: int, disturbed: bool) -> list[dict[str, torch.Tensor]]:
        env = make_env(all_terms(), num_envs)
        states = []
        for index in range(12):
            done = env.mask(2) if index in (3, 8) else env.mask()
            if disturbed and index in (1, 4, 5):
                done = done | env.mask(0)
            step(env, done)
            state = env.command_manager.state()
            states.append({k: v.clone() for k, v in state.items() if "ranges" not in k})
        return states

    calm, disturbed, many = run(4, False), run(4, True), run(16, False)
    for one, two, three in zip(calm, disturbed, many, strict=True):
        for name, value in one.items():
            assert two[name][1:].equal(value[1:]), name
            assert three[name][:4].equal(value), name
    assert not calm[-1]["twist.drawn"][0].equal(disturbed[-1]["twist.drawn"][0])
