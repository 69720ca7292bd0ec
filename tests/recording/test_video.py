"""Videos of `RecordEpisode`, read back frame by frame."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.envs import ViewerCfg
from mjlab.gym import TorchVectorEnv
from mjlab.gym.record_video import VideoRecorder
from mjlab.replay import RecordEpisode
from tests.tools.film_reader import read_film
from tests.worlds import gym_tasks


def filmed(
    folder: Path, num_envs: int, mode: str = "same_step", **settings: Any
) -> RecordEpisode:
    cfg = gym_tasks.scripted()
    cfg.viewer = ViewerCfg(width=64, height=48, lookat=(0.0, 0.0, 1.0), distance=5.0)
    env = TorchVectorEnv(gym_tasks.worlds(cfg, num_envs), autoreset_mode=mode)
    return RecordEpisode(env, folder, save_trajectory=False, **settings)


def steps(env: RecordEpisode, number: int) -> None:
    for _ in range(number):
        env.step(torch.ones(env.num_envs, 1))


def films(folder: Path) -> dict[str, int]:
    """Return the number of frames of each video."""
    return {
        path.stem: len(read_film(path).frames) for path in sorted(folder.glob("*.mp4"))
    }


@pytest.mark.usefixtures("renderer_works")
def test_a_video_shows_all_worlds_and_is_cut_after_so_many_steps(
    tmp_path: Path,
) -> None:
    env = filmed(tmp_path, 4, max_steps_per_video=3, video_fps=10.0, info_on_video=True)
    env.reset(seed=0)
    steps(env, 7)
    env.close()
    # The initial state, and the state after each step.
    assert films(tmp_path) == {"0": 4, "1": 4, "2": 2}
    film = read_film(tmp_path / "0.mp4")
    assert film.fps == 10.0
    assert film.size == (2 * 64 + 2, 2 * 48 + 2)


@pytest.mark.usefixtures("renderer_works")
@pytest.mark.parametrize("mode", ["same_step", "disabled"])
def test_the_video_of_a_single_row_is_cut_where_its_episode_ends(
    mode: str, tmp_path: Path
) -> None:
    env = filmed(tmp_path, 1, mode)
    env.reset(seed=0)
    for _ in range(2):
        steps(env, 3)  # The episode of the only world has three.
        if mode == "disabled":
            env.reset()
    steps(env, 2)
    env.reset(options={"save": False})
    env.close()
    # In the mode SAME_STEP a third step already shows the next episode.
    frames = 3 if mode == "same_step" else 4
    assert films(tmp_path) == {"0": frames, "1": frames}


@pytest.mark.usefixtures("renderer_works")
def test_a_trigger_chooses_steps_and_a_flush_names_a_video(tmp_path: Path) -> None:
    (tmp_path / "0.mp4").write_bytes(b"mine")
    env = filmed(
        tmp_path,
        2,
        max_steps_per_video=100,
        save_video_trigger=lambda step: 2 <= step < 4,
        avoid_overwriting_video=True,
    )
    env.reset(seed=0)
    steps(env, 6)
    assert env.flush_video(suffix="good") == tmp_path / "1_good.mp4"
    assert env.flush_video() is None
    env.close()
    assert (tmp_path / "0.mp4").read_bytes() == b"mine"
    (tmp_path / "0.mp4").unlink()
    assert films(tmp_path) == {"1_good": 3}
    frames = read_film(tmp_path / "1_good.mp4").frames.astype(np.int64)
    # The cart is pushed, to move.
    assert np.abs(frames[-1] - frames[0]).max() > 20


@pytest.mark.parametrize("steps", [1, 3])
def test_a_video_of_so_many_steps_has_a_frame_more(
    steps: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One image of the initial state, and one after each step."""
    lengths: list[int] = []
    monkeypatch.setattr("mjlab.gym.record_video.Offscreen", lambda *a, **k: None)
    env: Any = SimpleNamespace(
        sim=None, scene=None, cfg=SimpleNamespace(viewer=None), num_envs=1
    )
    recorder = VideoRecorder(
        env,
        tmp_path,
        fps=20.0,
        shows_info=False,
        trigger=None,
        max_steps=steps,
        avoids_overwriting=False,
    )
    film = SimpleNamespace(num_frames=0)

    def draw(lines: Any) -> None:
        film.num_frames += 1

    def flush() -> None:
        lengths.append(film.num_frames)
        film.num_frames = 0

    monkeypatch.setattr(recorder, "_video", film)
    monkeypatch.setattr(recorder, "_draw", draw)
    monkeypatch.setattr(recorder, "flush", flush)
    for _ in range(2 * steps):
        recorder.before_step()
        recorder.after_step({}, draws=True)
    assert lengths == [steps + 1, steps + 1]
