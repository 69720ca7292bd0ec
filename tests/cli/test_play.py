"""`play.py`: sources of policies, viewers, and messages."""

from pathlib import Path

import numpy as np
import pytest

from mjlab.cli import play
from mjlab.cli.answers import Answer
from mjlab.cli.sources import find_source
from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.runs import find
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from mjlab.viewer import ViewerError
from mjlab.watched import watched as play_of
from tests.tools.film_reader import read_film
from tests.worlds.rl_runs import agent_cfg, env_cfg, train_without_export

TASK = "Cartpole-Balance"
SMALL = ("--env.viewer.width", "96", "--env.viewer.height", "64")


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """Folder of runs with one run of two iterations."""
    root = tmp_path_factory.mktemp("logs")
    train_without_export(env_cfg(), agent_cfg(2), task=TASK, root=root, device="cpu")
    return root


# No run exists.


def test_a_video_of_random_actions_is_written_and_its_frames_move(
    renderer_works, tmp_path, capsys
):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "out.mp4"
    arguments = [TASK, "--policy", "random", "--video", str(path), "--steps", "12"]
    play.main([*arguments, *SMALL, "--env.viewer.lookat", "0", "0", "1"])
    frames = read_film(path).frames
    assert frames.shape == (12, 64 * 96 * 3)
    moved = np.abs(np.diff(frames.astype(int), axis=0)).max(axis=1)
    # A slow pole changes few pixels, and the codec can drop such a change.
    assert (moved > 10).sum() >= 9
    assert capsys.readouterr().out.endswith(f"Wrote {path}: 12 frames, 0.6 s.\n")


def test_a_video_has_the_requested_length_and_size(renderer_works, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "out.mp4"
    arguments = [TASK, "--policy", "zero", "--video", str(path), "--seconds", "0.35"]
    play.main([*arguments, "--size", "80,48"])
    # A step of this task takes 0.05 s.
    assert read_film(path).frames.shape == (7, 48 * 80 * 3)


def test_several_worlds_are_side_by_side_in_a_video(renderer_works, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "out.mp4"
    arguments = [TASK, "--policy", "zero", "--video", str(path), "--steps", "1"]
    play.main([*arguments, "--num-envs", "3", *SMALL])
    assert read_film(path).frames.shape == (1, (2 * 64 + 2) * (2 * 96 + 2) * 3)


def test_viewer_is_opened_only_on_request(capsys):
    arguments = [TASK, "--policy", "zero", "--viewer", "none", "--steps", "4"]
    play.main([*arguments, "--num-envs", "2", "--seed", "7"])
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{TASK}, zero actions: 2 worlds, seed 7."
    # Upright, centred and at rest without force earns nearly 1 per second.
    assert 0.04 < float(second.rpartition(" ")[2].rstrip(".")) <= 0.05


def test_teleoperation_drives_one_arm_without_time_limit(monkeypatch, capsys):
    pytest.importorskip("mjviser", reason="the extra `viewer` is not installed")
    from mjlab.viewer.web import WebViewer

    seen = []
    monkeypatch.setattr(WebViewer, "run", lambda page, steps: seen.append(page))
    arguments = ["Lift-Yam-IK", "--policy", "teleop"]
    play.main([*arguments, "--port", "0"])
    play.main([*arguments, "--port", "0", "--as-trained", "--num-envs", "2"])
    (first, second) = (page.player.env for page in seen)
    assert (first.num_envs, first.max_episode_length_s) == (1, 1e9)
    assert (second.num_envs, second.max_episode_length_s) == (2, 8.0)
    assert all(len(page.hands) == 1 and not page.policies for page in seen)
    assert "Lift-Yam-IK, teleoperated: 1 world, seed 0." in capsys.readouterr().out


# The trained configuration.


def play_unseen(place: str, logs: Path, *more: str) -> None:
    play.main([place, "--logs", str(logs), "--viewer", "none", "--steps", "3", *more])


@pytest.mark.parametrize(
    "place", ["latest", TASK, f"{TASK}/latest", "RUN", "CHECKPOINT"]
)
def test_run_is_played_by_every_form_of_its_name(place: str, logs, capsys):
    run = find("latest", logs).run
    known = {
        "RUN": str(run.path),
        "CHECKPOINT": str(run.path / "checkpoints" / "model_000002.pt"),
    }
    play_unseen(known.get(place, place), logs)
    title = f"{TASK}, {run.path.name}"
    title += ", model_000002" if place == "CHECKPOINT" else ""
    assert capsys.readouterr().out.startswith(f"{title}: 1 world, seed 0.\n")


def test_a_run_is_played_with_its_own_configuration_and_the_users(logs):
    given = {"policy": "trained", "logs": logs}
    source = find_source("latest", as_trained=False, **given)
    assert source.env.events == env_cfg().events
    assert source.env.episode_length_s == 1e9
    trained = find_source("latest", as_trained=True, **given)
    assert trained.env.episode_length_s == env_cfg().episode_length_s


def test_the_policy_of_a_run_acts_as_its_network_does(logs):
    import torch

    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl import RslRlVecEnv
    from mjlab.rl.policy import load_policy

    run = find("latest", logs).run
    env = ManagerBasedRlEnv(env_cfg(worlds=4))
    policy = load_policy(run.path, env, agent_cfg(2))
    observations, _ = env.reset()
    actions = policy(observations)
    worlds = RslRlVecEnv(ManagerBasedRlEnv(env_cfg(worlds=4)), groups=["actor"])
    network = load_policy(run.path, worlds, agent_cfg(2))
    seen = worlds.get_observations()
    seen["actor"] = observations["actor"]
    assert torch.equal(actions, network(seen))
    assert actions.shape == (4, 1) and actions.abs().max() > 0


# The configuration for play.


def test_play_has_no_noise_pushes_or_time_limit():
    watched = play_of(VelocityGo1FlatCfg())
    assert watched.events["push_robot"] is None
    groups = [group for group in watched.observations.values() if group is not None]
    assert not any(group.enable_corruption for group in groups)
    assert watched.episode_length_s == 1e9


def test_a_custom_configuration_class_is_played_as_well():
    before = CartpoleBalanceCfg()
    for group in before.observations.values():
        assert group is not None
        group.enable_corruption = True
    watched: ManagerBasedRlEnvCfg = play_of(before)
    actor = watched.observations["actor"]
    assert actor is not None and not actor.enable_corruption
    assert watched.episode_length_s == 1e9 and before.episode_length_s == 50.0


# Answers.


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("Cartpole-Balanse", r"no run or task 'Cartpole-Balanse'.*'Cartpole-Balance'"),
        ("Muscle-Walk-W54", r"no run of 'Muscle-Walk-W54'.*train.py.*--policy rand"),
        ("latest --logs nowhere", r"There is no run in nowhere. Train one"),
        ("--policy zero", r"--policy zero needs a task. Tasks: Cartpole-Balance"),
        ("latest --steps 0", r"--steps is 0; it has to be 1 or more"),
        ("latest --num-envs 0", r"--num-envs is 0; it has to be 1 or more"),
        ("latest --speed 0", r"--speed is 0.0; it has to be above 0"),
        ("latest --seconds 0", r"--seconds is 0.0; it has to be above 0"),
        ("latest --seconds 1 --steps 2", r"--steps and --seconds exclude each other"),
        ("latest --video a.mp4 --viewer web", r"--video cannot be combined with"),
        (
            "latest --policy teleop --video a.mp4",
            r"teleop needs the controls of --viewer",
        ),
        ("policy.onnx", r"policy.onnx does not exist"),
    ],
)
def test_an_invalid_command_line_is_refused(arguments, answer, logs, monkeypatch):
    monkeypatch.setattr(play, "show", None)  # the page would be served until stopped
    words = arguments.split()
    if "--logs" not in words:
        words += ["--logs", str(logs)]
    with pytest.raises(ValueError, match=answer):
        play.main(words)


def test_a_window_without_a_display_is_refused_before_anything_is_built(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(play, "find_source", None)
    with pytest.raises(ViewerError, match="--viewer web"):
        play.main([TASK, "--policy", "zero", "--viewer", "native"])


def test_available_settings_are_explained(logs):
    with pytest.raises(Answer, match=r"--env.viewer.distance"):
        play.main(["latest", "--logs", str(logs), "--help-config", "env.viewer"])
