"""Videos during training: their steps, their cost to the training, and failures."""

import json
from pathlib import Path

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render import GlError
from mjlab.rl import LoggingCfg
from mjlab.viewer import policy_video
from mjlab.viewer.training_video import SIZE, TrainingVideo, VideoSchedule
from tests.tools.film_reader import read_film
from tests.worlds.rl_runs import Display, agent_cfg, env_cfg, train_without_export

TASK = "Cartpole-Balance"


def films_below(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.rglob("*.mp4"))


def step(env: ManagerBasedRlEnv, number: int) -> None:
    for _ in range(number):
        env.step(torch.zeros(env.num_envs, env.action_manager.total_action_dim))


def test_a_video_begins_with_each_interval_and_has_its_length(tmp_path, renderer_works):
    env = ManagerBasedRlEnv(env_cfg())
    env.reset()
    said: list[str] = []
    schedule = VideoSchedule(interval=8, length=4)
    with TrainingVideo(env, tmp_path, schedule, say=said.append, start=8):
        step(env, 18)
    step(env, 8)
    # The third one ends with the training.
    names = [f"step_{first:07d}.mp4" for first in (8, 16, 24)]
    assert films_below(tmp_path) == names
    rate = 1.0 / env.step_dt
    for name, length in zip(names, (4, 4, 2), strict=True):
        film = read_film(tmp_path / name)
        assert film.size == SIZE
        # Frames of less than the step rate stand for several steps.
        assert len(film.frames) == -(-length // round(rate / film.fps))
    assert said == []
    env.close()


@pytest.mark.slow
def test_a_training_is_the_same_bits_with_videos(tmp_path, renderer_works):
    def losses(name: str, schedule: VideoSchedule | None) -> list[float]:
        agent = agent_cfg(3, logging=LoggingCfg(tensorboard=False))
        run, _ = train_without_export(
            env_cfg(),
            agent,
            task=TASK,
            root=tmp_path / name,
            device="cpu",
            display=Display(),
            video=schedule,
        )
        rows = map(json.loads, (run.path / "metrics.jsonl").read_text().splitlines())
        return [row["Loss/value"] for row in rows]

    without = losses("without", None)
    assert losses("with", VideoSchedule(interval=5, length=4)) == without
    assert len(without) == 3
    assert films_below(tmp_path / "without") == []
    films = films_below(tmp_path / "with")
    assert "step_0000000.mp4" in films and "step_0000005.mp4" in films
    report = next((tmp_path / "with").rglob("report.html")).read_text()
    assert report.count("data:video/mp4;base64,") == len(films)
    # The last policy is filmed at the end.
    assert "policy.mp4" in films


def test_without_opengl_one_line_says_so_and_training_goes_on(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise GlError("MuJoCo cannot render here (MUJOCO_GL=egl): no device.")

    monkeypatch.setattr(policy_video, "WorldVideo", refuse)
    env = ManagerBasedRlEnv(env_cfg())
    env.reset()
    said: list[str] = []
    schedule = VideoSchedule(interval=2, length=1)
    with TrainingVideo(env, tmp_path, schedule, say=said.append) as films:
        step(env, 6)
        assert films not in env.observers
    assert len(said) == 1
    assert said[0].startswith("Training videos stop here: MuJoCo cannot render")
    assert films_below(tmp_path) == []
    env.close()


def test_a_video_that_cannot_be_written_stops_the_videos_only(tmp_path, renderer_works):
    taken = tmp_path / "videos"
    taken.write_text("a file where the folder would be")
    env = ManagerBasedRlEnv(env_cfg())
    env.reset()
    said: list[str] = []
    with TrainingVideo(env, taken, VideoSchedule(length=4), say=said.append):
        step(env, 8)
    assert len(said) == 1 and str(taken) in said[0]
    env.close()
