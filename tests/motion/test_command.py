"""Motion command: reference, terms, and start frames of episodes."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import EventTermCfg
from mjlab.motion import (
    AdaptiveSampling,
    MotionAction,
    MotionActionCfg,
    MotionCommandCfg,
    load_motion,
    motion_command,
    save_motion,
    tracking_errors,
)
from mjlab.motion.mdp import follow_exactly
from mjlab.motion.mirror import mirrored
from mjlab.motion.sampling import FailureBins
from mjlab.registry import load_task
from mjlab.render import Marks
from mjlab.tasks.robots.g1 import MIRROR
from mjlab.tasks.tracking import TrackingG1Cfg
from mjlab.tasks.tracking.clips import G1_CLIPS
from tests.worlds.motions import (
    g1_robot,
    kernels,
    play,
    saved,
    show,
    shuffled,
    standing,
    tracking_env,
    turning,
)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> ManagerBasedRlEnv:
    """Eight worlds that follow a motion in which everything moves."""
    folder = tmp_path_factory.mktemp("clips")
    robot = g1_robot()
    return tracking_env(8, saved(folder, turning(robot)), sampling="uniform")


def product(*quats: np.ndarray) -> np.ndarray:
    result = np.array([1.0, 0.0, 0.0, 0.0])
    for quat in quats:
        mujoco.mju_mulQuat(result, result.copy(), np.asarray(quat, dtype=np.float64))
    return result


def turned(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    result = np.zeros(3)
    mujoco.mju_rotVecQuat(result, vector.astype(np.float64), quat)
    return result


def inverse(quat: np.ndarray) -> np.ndarray:
    return np.asarray(quat, dtype=np.float64) * [1.0, -1.0, -1.0, -1.0]


def yaw_part(quat: np.ndarray) -> np.ndarray:
    """By the heading of the x axis, from the rotation matrix."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quat)
    half = 0.5 * np.arctan2(matrix[3], matrix[0])
    return np.array([np.cos(half), 0.0, 0.0, np.sin(half)])


def test_the_reference_is_moved_by_heading_and_place_of_the_anchor(
    one: ManagerBasedRlEnv,
) -> None:
    show(one, 0, torch.arange(10, 90, 10))
    play(one, 0, torch.arange(15, 95, 10))  # Five frames on, turned and elsewhere.
    command = motion_command(one, "motion")
    found_pos, found_quat = command.reanchored
    anchor = command.cfg.body_names.index("torso_link")
    data = one.scene.entity("robot").data
    torso = one.scene.entity("robot").body_names.index("torso_link")
    for world in range(8):
        pos_r = data.body_pos_w[world, torso].numpy()
        quat_r = data.body_quat_w[world, torso].numpy()
        pos_a = command.body_pos_w[world, anchor].numpy()
        quat_a = command.body_quat_w[world, anchor].numpy()
        turn = yaw_part(product(quat_r, inverse(quat_a)))
        shift = np.array([pos_r[0], pos_r[1], pos_a[2]])
        for body in range(len(command.cfg.body_names)):
            away = command.body_pos_w[world, body].numpy() - pos_a
            expected = shift + turned(turn, away)
            assert found_pos[world, body].numpy() == pytest.approx(expected, abs=1e-5)
            quat = product(turn, command.body_quat_w[world, body].numpy())
            same = abs(found_quat[world, body].numpy() @ quat)
            assert same == pytest.approx(1.0, abs=1e-6)


def test_the_anchor_observation_is_in_the_robot_frame(
    one: ManagerBasedRlEnv,
) -> None:
    show(one, 0, torch.arange(10, 90, 10))
    play(one, 0, torch.arange(15, 95, 10))
    command = motion_command(one, "motion")
    one.observation_manager.compute()
    terms = {s.name: s for s in one.observation_manager.groups["critic"].slots}
    seen = one.observation_manager.output["critic"]
    assert isinstance(seen, torch.Tensor)
    names = list(terms)
    widths = [terms[name].width for name in names]
    parts = dict(zip(names, seen.split(widths, dim=1), strict=True))
    assert widths == [58, 3, 6, 3, 3, 29, 29, 29, 42, 84] and sum(widths) == 286
    pos, quat = command.robot_anchor_pos_w[3].numpy(), command.robot_anchor_quat_w[3]
    back = inverse(quat.numpy())
    away = turned(back, command.anchor_pos_w[3].numpy() - pos)
    assert parts["motion_anchor_pos_b"][3].numpy() == pytest.approx(away, abs=1e-5)
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, product(back, command.anchor_quat_w[3].numpy()))
    six = matrix.reshape(3, 3)[:, :2].flatten()
    assert parts["motion_anchor_ori_b"][3].numpy() == pytest.approx(six, abs=1e-5)
    body = 5
    place = command.robot_bodies("body_pos_w")[3, body].numpy()
    seen_at = parts["body_pos"][3].numpy().reshape(-1, 3)[body]
    assert seen_at == pytest.approx(turned(back, place - pos), abs=1e-5)
    turn = command.robot_bodies("body_quat_w")[3, body].numpy()
    mujoco.mju_quat2Mat(matrix, product(back, turn))
    six = matrix.reshape(3, 3)[:, :2].flatten()
    assert parts["body_ori"][3].numpy().reshape(-1, 6)[body] == pytest.approx(
        six, abs=1e-5
    )


def test_kernels_are_exponentials_of_mean_squares(one: ManagerBasedRlEnv) -> None:
    show(one, 0, torch.arange(10, 90, 10))
    play(one, 0, torch.arange(12, 92, 10))
    command = motion_command(one, "motion")
    robot = command.robot_bodies("body_lin_vel_w")[2].numpy()
    error = np.square(command.body_lin_vel_w[2].numpy() - robot).sum(axis=1).mean()
    found = one.reward_manager.term("motion_body_lin_vel")()[2]
    assert float(found) == pytest.approx(np.exp(-error / 1.0**2), rel=1e-5)
    angles = []
    for ours, theirs in zip(
        command.reanchored[1][2].numpy(),
        command.robot_bodies("body_quat_w")[2].numpy(),
        strict=True,
    ):
        angles.append(2.0 * np.arccos(min(1.0, abs(float(ours @ theirs)))))
    error = np.square(angles).mean()
    found = one.reward_manager.term("motion_body_ori")()[2]
    assert float(found) == pytest.approx(np.exp(-error / 0.4**2), rel=2e-3)


# The perfect player.


def shipped(task: str) -> ManagerBasedRlEnv:
    cfg = load_task(task).env()
    cfg.scene.num_envs = 64
    cfg.sim.num_threads = 1
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    return env


@pytest.mark.parametrize("task", ["Tracking-G1-Clips", "Tracking-Go1"])
def test_exact_playback_of_a_clip_has_maximum_rewards_and_does_not_fail(
    task: str,
) -> None:
    env = shipped(task)
    command = motion_command(env, "motion")
    assert len(command.table.motions) >= 1
    for clip, motion in enumerate(command.table.motions):
        last = motion.num_frames - 1
        for start in range(1, last + 1, env.num_envs):
            frames = torch.arange(start, start + env.num_envs).clamp_(max=last)
            show(env, clip, frames)
            play(env, clip, frames)
            assert kernels(env).min() > 5.0 - 1e-4, motion.name
            assert tracking_errors.body_square(command, "body_pos_global").max() < 1e-10
            for name in ("anchor_pos", "anchor_ori", "limb_pos"):
                assert not env.termination_manager.terms[name]().any(), motion.name


def test_playback_with_one_frame_delay_loses_reward() -> None:
    env = shipped("Tracking-G1")
    frames = torch.arange(64, 128)  # The arm goes up.
    show(env, 0, frames)
    play(env, 0, frames)
    exact = kernels(env)
    play(env, 0, frames - 1)
    late = kernels(env)
    assert exact.min() > 5.0 - 1e-4
    assert late.mean() < 5.0 - 5e-3 and late.max() < exact.min()


def test_exact_playback_of_a_mirrored_clip_has_maximum_rewards(tmp_path: Path) -> None:
    clip = load_motion(G1_CLIPS / "wave.npz")
    clips = saved(tmp_path, mirrored(clip, MIRROR))
    env = tracking_env(64, clips, sampling="uniform")
    robot = env.scene.entity("robot")
    # The mirror by hand: sides change places, and what rolls or yaws turns round.
    swap = {"left": "right", "right": "left"}
    names = [
        swap.get(n.split("_")[0], "") + n[n.find("_") :] for n in robot.joint_names
    ]
    names = [
        n if n in clip.joint_names else o
        for n, o in zip(names, robot.joint_names, strict=True)
    ]
    flips = torch.tensor(
        [-1.0 if ("roll" in n or "yaw" in n) else 1.0 for n in robot.joint_names]
    )
    frames = torch.arange(100, 164)
    columns = clip.joint_columns(names)

    def rows(values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values[frames.numpy()]).float()

    show(env, 0, frames)
    everyone = torch.ones(64, dtype=torch.bool)
    y = torch.tensor([1.0, -1.0, 1.0])
    state = torch.cat(
        (
            rows(clip.root_pos) * y,
            rows(clip.root_quat) * torch.tensor([1.0, -1.0, 1.0, -1.0]),
            rows(clip.body_lin_vel_w[:, 0]) * y,
            rows(clip.body_ang_vel_w[:, 0]) * -y,
        ),
        dim=1,
    )
    robot.write_root_state(everyone, state)
    robot.write_joint_state(
        everyone,
        rows(clip.joint_pos[:, columns]) * flips,
        rows(clip.joint_vel[:, columns]) * flips,
    )
    env.sim.forward()
    env.scene.refresh()
    assert kernels(env).min() > 5.0 - 1e-4
    play(env, 0, frames - 3)
    assert kernels(env).mean() < 5.0 - 1e-2


def test_event_sets_the_robot_to_the_clip_and_restarts_it(
    tmp_path: Path,
) -> None:
    clips = saved(tmp_path, turning(g1_robot(), frames=6))
    cfg = TrackingG1Cfg().play()
    cfg.scene.num_envs = 2
    command = cfg.commands["motion"]
    assert isinstance(command, MotionCommandCfg)
    command.clips = clips
    cfg.events = {
        "exactly": EventTermCfg(
            func=follow_exactly,
            mode="interval",
            interval_range_s=(0.02, 0.02),
            params={"command_name": "motion"},
        )
    }
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    table = motion_command(env, "motion").table.motions[0]
    robot = env.scene.entity("robot").data
    for frame in (1, 2, 3, 4, 0, 1):
        env.step(torch.ones(2, 29))
        assert robot.joint_pos.numpy() == pytest.approx(
            np.tile(table.joint_pos[frame], (2, 1)), abs=1e-6
        )
        root = np.concatenate((table.root_pos[frame], table.root_quat[frame]))
        seen = torch.cat((robot.root_pos_w, robot.root_quat_w), dim=1)
        assert seen[1].numpy() == pytest.approx(root, abs=1e-5)


# Where episodes begin.


def test_a_step_leads_from_the_first_frame_to_the_next_one(tmp_path: Path) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 1.0, 4.0))
    env = tracking_env(3, clips, sampling="start", joint_range=(0.0, 0.0))
    command, robot = motion_command(env, "motion"), env.scene.entity("robot")
    table = command.table.motions[0].joint_pos
    assert robot.data.joint_pos[0].numpy() == pytest.approx(table[0], abs=1e-6)
    assert command.joint_pos[0].numpy() == pytest.approx(table[1], abs=1e-6)
    env.step(torch.zeros(3, 29))
    assert command.joint_pos[0].numpy() == pytest.approx(table[2], abs=1e-6)


def test_a_zero_action_targets_the_clip_and_other_actions_add_an_offset(
    tmp_path: Path,
) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 1.0, 4.0))
    env = tracking_env(2, clips, sampling="start", joint_range=(0.0, 0.0))
    command, robot = motion_command(env, "motion"), env.scene.entity("robot")
    bias = 0.01 * torch.arange(29)
    robot.data.encoder_bias.copy_(bias.expand(2, -1))
    table = command.table.motions[0].joint_pos
    term = env.action_manager.get_term("joint_pos")
    assert isinstance(term, MotionAction)
    action = torch.zeros(2, 29)
    action[1, 3] = 2.0
    for step in range(3):
        env.step(action)
        # Joints are sent there less the bias of what measures them.
        sent = robot.data.targets.joint_pos + bias
        expected = np.tile(table[step + 1], (2, 1))
        expected[1, 3] += 2.0 * term.scale[3].item()
        assert sent.numpy() == pytest.approx(expected, abs=1e-6)


def test_motion_action_with_a_default_offset_is_refused() -> None:
    cfg = TrackingG1Cfg()
    cfg.scene.num_envs = 1
    cfg.actions["joint_pos"] = MotionActionCfg(use_default_offset=True)
    with pytest.raises(
        ValueError, match=r"relative to the clip. .* JointPositionActionCfg"
    ):
        ManagerBasedRlEnv(cfg, device="cpu")


def test_the_end_of_the_clip_is_a_time_out_and_no_failure(tmp_path: Path) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 0.2, 4.0))
    env = tracking_env(3, clips, sampling="start")
    for _ in range(9):
        *_, truncated, _ = env.step(torch.zeros(3, 29))
        assert not truncated.any()
    _, _, terminated, truncated, _ = env.step(torch.zeros(3, 29))
    assert truncated.all() and not terminated.any()
    assert env.take_log()["Metrics/success_at_end"] == 1.0


def test_starts_stay_within_the_requested_ranges(tmp_path: Path) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 1.0, 4.0))
    env = tracking_env(
        64,
        clips,
        sampling="start",
        pose_range={"x": (0.1, 0.2), "yaw": (-0.3, 0.3)},
        velocity_range={"z": (0.5, 0.6)},
        joint_range=(-0.05, 0.05),
    )
    motion = motion_command(env, "motion").table.motions[0]
    data = env.scene.entity("robot").data
    x = data.root_pos_w[:, 0] - float(motion.root_pos[0, 0])
    assert (x >= 0.1).all() and (x <= 0.2).all() and x.std() > 0.01
    assert data.root_pos_w[:, 1].abs().max() < 1e-6
    assert data.heading_w.abs().max() <= 0.3 + 1e-5 and data.heading_w.std() > 0.1
    assert (data.root_lin_vel_w[:, 2] >= 0.5 - 1e-6).all()
    away = data.joint_pos - torch.from_numpy(motion.joint_pos[0]).float()
    assert away.abs().max() <= 0.05 + 1e-6 and away.std() > 0.02


def test_joints_of_a_start_stay_within_their_soft_limits(tmp_path: Path) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 1.0, 4.0))
    for side, column in ((9.0, 1), (-9.0, 0)):
        env = tracking_env(2, clips, sampling="start", joint_range=(side, side))
        data = env.scene.entity("robot").data
        limits = data.soft_joint_pos_limits[..., column]
        torch.testing.assert_close(data.joint_pos, limits, atol=1e-5, rtol=0.0)


def test_seconds_of_all_clips_are_sampled_equally(tmp_path: Path) -> None:
    """Clips of 51, 101 and 301 frames, the last of which is drawn half as often."""
    robot = g1_robot()
    clips = saved(
        tmp_path,
        standing(robot, "a", 1.0, 4.0),
        standing(robot, "b", 2.0, 4.0),
        standing(robot, "c", 6.0, 4.0),
    )
    env = tracking_env(1, clips, sampling="uniform", weights={"c": 0.5})
    choice = (torch.arange(9_000) + 0.5) / 9_000
    clip, row = motion_command(env, "motion")._draw(choice, torch.zeros(9_000))
    shares = torch.bincount(clip, minlength=3) / 9_000
    wanted = torch.tensor([51.0, 101.0, 150.5])
    assert shares.tolist() == pytest.approx((wanted / wanted.sum()).tolist(), abs=1e-3)
    assert sorted(set(row.tolist())) == [0, 51, 152]


@pytest.mark.parametrize("axis", ["roll", "pitch", "yaw"])
def test_noise_of_a_start_turns_the_root_about_an_axis_of_the_world(
    tmp_path: Path, axis: str
) -> None:
    """A robot that looks to the left, turned about each axis alone."""
    arms = standing(g1_robot(), "arms", 1.0, 4.0)
    left = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    quats = np.array([product(left, quat) for quat in arms.root_quat])
    clips = saved(tmp_path, replace(arms, body_quat_w=quats[:, None]))
    env = tracking_env(2, clips, sampling="start", pose_range={axis: (0.3, 0.3)})
    turn = np.zeros(4)
    about = np.eye(3)[("roll", "pitch", "yaw").index(axis)]
    mujoco.mju_axisAngle2Quat(turn, about, 0.3)
    expected = product(turn, quats[0])
    found = env.scene.entity("robot").data.root_quat_w[0].double().numpy()
    assert abs(found @ expected) == pytest.approx(1.0, abs=1e-6)


def bins(lengths: list[int], rate: float = 10.0, **cfg: float) -> FailureBins:
    whole = torch.tensor(lengths)
    given = AdaptiveSampling(**({"rate": 0.5} | cfg))  # type: ignore[arg-type]
    return FailureBins(given, whole, torch.ones(len(lengths)), rate)


def one_fails(bins: FailureBins, frame: int) -> None:
    bins.count(torch.tensor([frame]), torch.ones(1, dtype=torch.bool))


def test_adaptive_sampling_follows_the_published_rule() -> None:
    # 25 frames at 10 Hz: three bins, frames 0 to 8, 9 to 16, 17 to 24.
    found = bins([25])
    assert found.probability.tolist() == pytest.approx([1 / 3] * 3)
    frames = torch.tensor([8, 9, 16, 17, 24, 24])
    failed = torch.tensor([True, True, True, False, True, True])
    found.count(frames, failed)
    assert found.fresh.tolist() == [1.0, 2.0, 2.0]
    found.advance()
    assert found.failures.tolist() == [0.5, 1.0, 1.0] and not found.fresh.any()
    weights = np.array([0.5, 1.0, 1.0]) + 0.1 / 3
    assert found.probability.tolist() == pytest.approx(weights / weights.sum())
    found.advance()
    assert found.failures.tolist() == [0.25, 0.5, 0.5]


def test_the_summary_is_of_the_spread_over_all_seconds() -> None:
    found = bins([39])
    assert found.summary().tolist()[:2] == pytest.approx([1.0, 0.25])
    found.probability.copy_(torch.tensor([0.0, 0.5, 0.0, 0.5]))
    # Two of four: half of the bits.
    assert found.summary().tolist() == pytest.approx([0.5, 0.5, 0.25])


def test_the_kernel_looks_ahead_and_repeats_the_last_second() -> None:
    found = bins([39], kernel=3, decay=0.8, uniform=0.0, floor=1e-9)  # Four bins.
    one_fails(found, 38)
    found.advance()
    k = np.array([1.0, 0.8, 0.64]) / 2.44
    # The failure of bin 3 counts for bins 1, 2 and, with its repetitions, 3.
    weights = np.array([0.0, k[2], k[1] + k[2], 1.0])
    expected = weights / weights.sum()
    assert found.probability.tolist() == pytest.approx(expected, abs=1e-6)


def test_probability_floor_keeps_every_second_possible() -> None:
    found = bins([25], uniform=0.0, floor=0.05)
    one_fails(found, 0)
    found.advance()
    assert found.probability.tolist() == pytest.approx(
        [1.0 / 1.1, 0.05 / 1.1, 0.05 / 1.1]
    )


def test_frames_are_drawn_by_bin_and_never_the_last_one() -> None:
    found = bins([25, 12])  # Three bins and two.
    found.probability.copy_(torch.tensor([0.0, 0.5, 0.0, 0.25, 0.25]))
    choice = torch.tensor([0.0, 0.49, 0.5, 0.74, 0.75, 0.999])
    within = torch.tensor([0.0, 0.999, 0.0, 0.999, 0.0, 0.9999999])
    clip, row = found.draw(choice, within)
    assert clip.tolist() == [0, 0, 1, 1, 1, 1]
    # Floor of (place + within) / bins * (frames - 1), after the 25 rows of the first.
    assert row.tolist() == [8, 15, 25, 30, 30, 35]


def test_failures_change_the_sampled_start_frames(tmp_path: Path) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 4.0, 4.0))
    env = tracking_env(32, clips, adaptive=AdaptiveSampling(rate=0.2))
    command = motion_command(env, "motion")
    assert command.couples_worlds
    before = command.bins.probability.clone()
    for _ in range(40):
        env.step(torch.full((32, 29), 3.0))  # Everybody falls.
    assert command.bins.failures.sum() > 0.1
    assert not torch.equal(command.bins.probability, before)
    kept = env.get_state()
    failures = command.bins.failures.clone()
    env.reset(seed=1)
    for _ in range(5):
        env.step(torch.zeros(32, 29))
    env.set_state(kept)
    assert torch.equal(command.bins.failures, failures)


def test_invalid_settings_suggest_valid_ones(tmp_path: Path) -> None:
    clips = saved(tmp_path, standing(g1_robot(), "arms", 1.0, 4.0))

    def refused(**changes: object) -> str:
        with pytest.raises(Exception) as error:
            tracking_env(1, **({"clips": clips} | changes))  # type: ignore[arg-type]
        return str(error.value)

    assert "There is no body 'left_hand' of 'robot'." in refused(
        body_names=("left_hand",)
    )
    assert "sampling is 'adaptve'. Valid names, nearest first: 'adaptive'" in refused(
        sampling="adaptve"
    )
    assert "There is no axis 'pich' of 'pose_range'." in refused(
        pose_range={"pich": (0.0, 1.0)}
    )
    assert "No clip matches 'legs'. Valid names: 'arms'." in refused(
        weights={"legs": 2.0}
    )
    assert "There is no motion file" in refused(clips=(tmp_path / "none.npz",))


# Many clips.


@pytest.mark.slow
def test_a_ragged_batch_equals_environments_of_single_clips(tmp_path: Path) -> None:
    robot = g1_robot()
    lengths = (0.6, 1.7, 0.9, 1.2, 0.4)
    motions = [
        standing(robot, f"clip_{i}", seconds, 2.0 + i)
        for i, seconds in enumerate(lengths)
    ]
    clips = saved(tmp_path, *motions)
    many = tracking_env(64, clips, sampling="uniform")
    singles = [tracking_env(64, (clip,), sampling="uniform") for clip in clips]
    chosen = motion_command(many, "motion").clip.clone()
    assert len(set(chosen.tolist())) == 5
    random = torch.Generator().manual_seed(0)
    # A world that starts again may draw another clip, and is left out from there on.
    running = torch.ones(64, dtype=torch.bool)
    compared = 0
    for _ in range(25):
        action = 0.3 * torch.randn(64, 29, generator=random)
        ours, reward, terminated, truncated, _ = many.step(action)
        for clip, env in enumerate(singles):
            theirs, their_reward, *_ = env.step(action)
            rows = running & (chosen == clip)
            compared += int(rows.sum())
            assert torch.equal(reward[rows], their_reward[rows])
            rows = rows & ~(terminated | truncated)
            for group in ("actor", "critic"):
                value, other = ours[group], theirs[group]
                assert isinstance(value, torch.Tensor)
                assert isinstance(other, torch.Tensor)
                assert torch.equal(value[rows], other[rows]), group
        running &= ~(terminated | truncated)
    assert compared > 500


def test_weights_set_how_often_a_second_of_a_clip_is_drawn(tmp_path: Path) -> None:
    robot = g1_robot()
    clips = saved(
        tmp_path, standing(robot, "long", 3.0, 2.0), standing(robot, "short", 1.0, 2.0)
    )
    env = tracking_env(512, clips, sampling="uniform", weights={"short": 6.0})
    share = motion_command(env, "motion").clip.float().mean()
    # 51 frames of weight 6 against 151 of weight 1.
    assert float(share) == pytest.approx(306 / 457, abs=0.06)
    assert not motion_command(env, "motion").couples_worlds


def test_columns_in_another_order_give_the_same_command(tmp_path: Path) -> None:
    robot = g1_robot()
    made = robot.completed(standing(robot, "arms", 1.0, 4.0))
    straight = save_motion(made, tmp_path / "a" / "arms.npz")
    mixed = save_motion(shuffled(made), tmp_path / "b" / "arms.npz")
    tables = [
        motion_command(tracking_env(1, (path,)), "motion").table.rows
        for path in (straight, mixed)
    ]
    assert torch.equal(*tables)


def test_the_ghost_is_the_robot_in_the_pose_of_the_reference(
    one: ManagerBasedRlEnv,
) -> None:
    """MuJoCo computes the pose of a copy in the state that `write_row` writes."""
    show(one, 0, torch.arange(10, 90, 10))
    marks = Marks((2,))
    one.debug_vis(marks)
    command = motion_command(one, "motion")
    everyone = torch.ones(one.num_envs, dtype=torch.bool)
    command.write_row(everyone, command.row)
    one.sim.forward()
    model, data = one.sim.engine.mj_model_of(2), one.sim.engine.mj_data_of(2)
    index = command.entity.index
    visible = [g for g in index.geoms.ids.tolist() if model.geom_group[g] < 3]
    visible = [g for g in visible if model.geom_rgba[g, 3] > 0.0]
    drawn = marks.shapes[2]
    assert len(drawn) == len(visible) > 10 and not marks.arrows[2]
    places = np.array([shape.center for shape in drawn])
    assert places == pytest.approx(data.geom_xpos[visible], abs=1e-5)
    turns = np.array([shape.rotation.flatten() for shape in drawn])
    assert turns == pytest.approx(data.geom_xmat[visible], abs=1e-5)
    assert {shape.color for shape in drawn} == {(0.5, 0.7, 0.5, 0.5)}


def test_frames_of_reference_and_robot_can_be_drawn_instead(
    one: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(one, 0, torch.arange(10, 90, 10))
    command = motion_command(one, "motion")
    monkeypatch.setattr(command.cfg.viz, "mode", "frames")
    marks = Marks((2,))
    one.debug_vis(marks)
    names, arrows = command.cfg.body_names, marks.arrows[2]
    assert len(arrows) == 6 * len(names) and not marks.shapes[2]
    starts = np.array([arrow.start for arrow in arrows[::3]])
    robot = command.robot_bodies("body_pos_w")[2].numpy()
    expected = np.concatenate((robot, command.body_pos_w[2].numpy()))
    assert starts == pytest.approx(expected, abs=1e-6)


def test_configurations_of_robots_differ_only_in_names() -> None:
    ours, theirs = TrackingG1Cfg(), load_task("Tracking-Go1").env()
    assert list(ours.rewards) == list(theirs.rewards)
    command = theirs.commands["motion"]
    assert isinstance(command, MotionCommandCfg) and command.anchor_body == "trunk"
