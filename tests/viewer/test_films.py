"""Videos: scheduled commands, framing, labels, and light."""

import dataclasses
import itertools
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from mjlab.cli import play
from mjlab.cli.sources import find_source
from mjlab.envs import ManagerBasedRlEnv, ZeroPolicy
from mjlab.mdp import UniformVelocityCommandCfg
from mjlab.registry import entries, load_task
from mjlab.render import Offscreen
from mjlab.render.framing import Follower
from mjlab.rl import load_policy
from mjlab.runs import Run
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.viewer import Player
from mjlab.viewer.policy_video import caption
from tests.tools.film_reader import read_film

FILMED = ("Velocity-Go1-Flat", "Velocity-G1-Flat", "Muscle-Walk-W18")
SHIPPED = {name: place for name in entries() if (place := load_task(name).trained)}
LEAST = 0.4
"""Minimum fraction of the image height that moving parts fill."""

SMALL = ("--size", "96,64")


def worlds_of(task: str) -> ManagerBasedRlEnv:
    cfg = load_task(task).play()
    cfg.scene.num_envs, cfg.seed = 1, 0
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def mask_of(camera: Offscreen) -> tuple[np.ndarray, np.ndarray]:
    """A frame, and the image region of moving parts, by MuJoCo's renderer."""
    (shot,) = camera.take()
    (picture,) = camera.draw([shot])
    model, (height, width, _) = shot.model, picture.shape
    # Its default image size is smaller than a video's.
    model.vis.global_.offheight, model.vis.global_.offwidth = height, width
    with mujoco.Renderer(model, height, width) as renderer:
        renderer.enable_segmentation_rendering()
        renderer.update_scene(shot.data, shot.camera)
        numbers, kinds = np.moveaxis(renderer.render(), -1, 0)
    movable = np.flatnonzero(model.body_weldid[model.geom_bodyid] != 0)
    is_geom = kinds == int(mujoco.mjtObj.mjOBJ_GEOM)
    return picture, is_geom & np.isin(numbers, movable)


def share_of_height(mask: np.ndarray) -> float:
    rows = np.flatnonzero(mask.any(axis=1))
    return float(np.ptp(rows) + 1) / len(mask) if len(rows) else 0.0


# Commands.


def drive_of(ranges: dict[str, tuple[float, float]]) -> Player:
    cfg = VelocityGo1FlatCfg(seed=0).play()
    cfg.scene.num_envs = 2
    twist = cfg.commands["twist"]
    assert isinstance(twist, UniformVelocityCommandCfg)
    for axis, range_ in ranges.items():
        setattr(twist.ranges, axis, range_)
    cfg.curriculum = {}
    env = ManagerBasedRlEnv(cfg)
    return Player(env, ZeroPolicy(env), seed=0, scheduled=True)


def commanded(player: Player, seconds: float) -> list[float]:
    """Return the command at an episode time of world 1."""
    env = player.env
    env.episode_length_buf[1] = round(seconds / env.step_dt)
    for drive in player.drives.values():
        drive.apply()
    return env.command_manager.get_command("twist")[1].tolist()


def test_a_scheduled_command_goes_forward_turns_goes_sideways_and_stops():
    player = drive_of({})
    told = [commanded(player, seconds) for seconds in (0.0, 3.4, 3.6, 7.0, 9.0, 10.1)]
    forward, turn, left = [0.8, 0.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.4, 0.0]
    expected = [forward, forward, turn, left, [0.0] * 3, forward]
    np.testing.assert_allclose(told, expected, atol=1e-6)


def test_a_scheduled_command_is_within_the_ranges_of_the_task():
    ranges = {"lin_vel_x": (0.1, 0.5), "lin_vel_y": (-0.2, 0.0)}
    player = drive_of({**ranges, "ang_vel_z": (-0.3, 0.3)})
    told = [commanded(player, seconds) for seconds in (1.0, 4.0, 7.0, 9.0)]
    expected = [[0.5, 0, 0], [0.5, 0, 0.3], [0.1, 0, 0], [0.1, 0, 0]]
    np.testing.assert_allclose(told, expected, atol=1e-6)


def test_manual_command_overrides_the_schedule():
    player = drive_of({})
    (drive,) = player.drives.values()
    drive.steer((0.3, -0.1, 0.2), world=None)
    np.testing.assert_allclose(commanded(player, 1.0), (0.3, -0.1, 0.2), atol=1e-6)
    drive.release()
    player.step()
    told = commanded(player, 1.0)
    assert not np.allclose(told, (0.3, -0.1, 0.2)) and not np.allclose(
        told, (0.8, 0, 0)
    )


@pytest.mark.parametrize(
    ("options", "scheduled"),
    [
        (("--video", "out.mp4"), True),
        (("--video", "out.mp4", "--commands", "random"), False),
        (("--viewer", "none"), False),
        (("--viewer", "none", "--commands", "scheduled"), True),
    ],
)
def test_films_follow_the_schedule_unless_random_commands_are_requested(
    options: tuple[str, ...], scheduled: bool, monkeypatch, capsys
):
    seen: list[Player] = []
    monkeypatch.setattr(play, "write_video", lambda player, *rest: seen.append(player))
    monkeypatch.setattr(play, "run", lambda player, steps: seen.append(player) or 0.0)
    play.main(["Velocity-Go1-Flat", "--policy", "zero", "--steps", "1", *options])
    (drive,) = seen[0].drives.values()
    assert drive.is_active is scheduled


# Labels.


def test_the_label_shows_the_command_in_words_with_units():
    player = drive_of({})
    commanded(player, 4.0)
    lines = caption(player.env, "Velocity-Go1-Flat", 1)
    assert lines[:3] == [
        "Velocity-Go1-Flat",
        "world 1, 4.0 s",
        "forward 0.5 m/s, left 0.0 m/s, turn 0.5 rad/s",
    ]
    (drive,) = player.drives.values()
    drive.steer((-0.04, 0.0, -0.0), world=None)
    drive.apply()
    assert (
        caption(player.env, "", 1)[2] == "forward 0.0 m/s, left 0.0 m/s, turn 0.0 rad/s"
    )


def test_the_label_of_the_walker_shows_its_name_once_and_its_speed():
    source = find_source(
        "Muscle-Walk-W18", policy="trained", as_trained=False, logs=Path("none")
    )
    env = worlds_of("Muscle-Walk-W18")
    lines = caption(Player(env, ZeroPolicy(env), seed=0).env, source.title, 0)
    assert " ".join(lines).count("Muscle-Walk-W18") == 1
    assert lines[2] == f"speed {float(env.command_manager.term('gait').speed):.1f} m/s"


# Framing.


@pytest.mark.parametrize("task", FILMED)
def test_the_robot_fills_the_picture_with_contrast_in_any_orientation(
    task: str, renderer_works
):
    env = worlds_of(task)
    robot = env.scene.entity("robot")
    everyone = torch.ones(1, dtype=torch.bool)
    root = torch.cat((robot.data.root_pos_w, robot.data.root_quat_w), dim=1)
    view = dataclasses.replace(env.cfg.viewer, width=640, height=360)
    with Offscreen(env.sim, env.scene, view) as camera:
        for yaw in (0.0,) if robot.is_fixed_base else (0.0, 2.2):
            if not robot.is_fixed_base:
                turned = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
                root[0, 3:] = torch.tensor(turned)
                robot.write_root_pose_w(everyone, root)
                env.sim.forward()
            picture, mask = mask_of(camera)
            assert share_of_height(mask) >= LEAST, f"yaw {yaw:.2f}"
            edges = (mask[0], mask[-1], mask[:, 0], mask[:, -1])
            assert not any(edge.any() for edge in edges), "All of it is in view."
            luma = picture @ np.array((0.299, 0.587, 0.114))
            ground = np.median(luma[240:][~mask[240:]])
            assert np.abs(luma[mask] - ground).mean() > 30.0, "It stands out."
            assert ground > 70.0, "The ground is no night."


@pytest.mark.slow
@pytest.mark.parametrize("task", SHIPPED)
def test_the_film_of_a_shipped_policy_shows_it_large_all_the_time(
    task: str, renderer_works
):
    cfg = load_task(task).play()
    cfg.scene.num_envs = 1
    env = ManagerBasedRlEnv(cfg)
    agent = Run(SHIPPED[task]).configs()["agent"]
    policy = load_policy(SHIPPED[task], env, agent)
    player = Player(env, policy, seed=0, scheduled=True)
    view = Run(SHIPPED[task]).configs()["env"].viewer
    assert (view.width, view.height) == (1280, 720)
    view = dataclasses.replace(view, width=640, height=360)
    every = max(1, round(0.04 / env.step_dt))
    with Offscreen(env.sim, env.scene, view) as camera:
        for step in range(round(10.0 / env.step_dt)):
            player.step()
            if step % every:
                continue
            if step % round(1.0 / env.step_dt):
                camera.take()  # The camera follows from frame to frame.
                continue
            _, mask = mask_of(camera)
            assert share_of_height(mask) >= LEAST, f"{step * env.step_dt:.1f} s"
            middle = np.argwhere(mask).mean(axis=0) / mask.shape
            assert (np.abs(middle - 0.5) < 0.25).all(), f"at {middle}"


def test_the_camera_follows_without_lag_or_bobbing():
    """25 frames per second; 1 m/s forward, and up and down by 2 cm twice per second."""
    follower = Follower()
    bob, lags = [], []
    for frame in range(200):
        seconds = frame / 25.0
        height = 0.5 + 0.02 * math.sin(2.0 * math.pi * 2.0 * seconds)
        jumped = follower.follow(np.array([seconds, 0.0, height]))
        assert jumped == (frame == 0)
        if frame >= 100:
            bob.append(follower.place[2])
            lags.append(seconds - follower.place[0])
    assert np.abs(lags).max() < 1e-3
    assert np.ptp(bob) < 0.5 * 0.04


def test_the_camera_jumps_where_the_robot_is_put_elsewhere():
    follower = Follower()
    for place in itertools.repeat(np.zeros(3), 5):
        follower.follow(place)
    assert follower.follow(np.array([5.0, 0.0, 0.0]))
    np.testing.assert_array_equal(follower.place, (5.0, 0.0, 0.0))
    assert not follower.follow(np.array([5.0, 0.1, 0.0]))


@pytest.mark.parametrize("number", [1, 3])
def test_a_film_is_1280_by_720_pixels_however_many_worlds_share_it(
    number: int, renderer_works, tmp_path, capsys
):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "out.mp4"
    line = ["Cartpole-Balance", "--policy", "zero", "--video", str(path)]
    play.main([*line, "--steps", "1", "--num-envs", str(number)])
    assert read_film(path).size == (1280, 720)
    play.main([*line, "--steps", "1", "--num-envs", str(number), *SMALL])
    assert read_film(path).size == (96, 64)
