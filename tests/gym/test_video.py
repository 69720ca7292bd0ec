"""Gymnasium's video wrappers around the environment forms."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVectorVideo

import mjlab
from mjlab.gym import NumpyVectorEnv
from tests.tools.film_reader import Film, read_film

pytest.importorskip("moviepy", reason="Gymnasium's RecordVideo needs moviepy")
pytestmark = pytest.mark.usefixtures("renderer_works")

EPISODE = 6


def differs(film: Film) -> bool:
    """Return whether every image has content, and the last one differs."""
    is_drawn = bool((film.frames.std(axis=1) > 1.0).all())
    change = np.abs(film.frames[0].astype(int) - film.frames[-1].astype(int))
    return is_drawn and int(change.max()) > 40


def push(env: Any, steps: int) -> None:
    action = np.ones(env.action_space.shape, np.float32)
    for _ in range(steps):
        env.step(action)


def test_the_vector_wrapper_films_all_rows_of_the_numpy_form(tmp_path: Path) -> None:
    venv = mjlab.make(
        "Cartpole-Balance",
        num_envs=4,
        numpy=True,
        seed=0,
        max_episode_steps=EPISODE,
        render_mode="rgb_array",
    )
    assert isinstance(venv, NumpyVectorEnv)
    pictures = venv.render
    env: Any = RecordVectorVideo(
        venv, str(tmp_path / "videos"), episode_trigger=lambda episode: episode < 2
    )
    env.reset(seed=1)
    height, width, _ = pictures()[0].shape  # pyright: ignore[reportOptionalSubscript]
    push(env, 2 * EPISODE + 2)
    env.close()
    files = sorted((tmp_path / "videos").iterdir())
    assert [file.name for file in files] == [
        "rl-video-episode-0.mp4",
        "rl-video-episode-1.mp4",
    ]
    for file in files:
        film = read_film(file)
        assert len(film.frames) == EPISODE + 1  # Images of the reset and of the steps.
        assert film.size == (2 * width, 2 * height)
        assert film.fps == venv.metadata["render_fps"]
        assert differs(film)


def test_the_vector_wrapper_films_a_number_of_steps(tmp_path: Path) -> None:
    venv = mjlab.make(
        "Cartpole-Balance", num_envs=2, numpy=True, seed=0, render_mode="rgb_array"
    )
    env: Any = RecordVectorVideo(
        venv,  # pyright: ignore[reportArgumentType]
        str(tmp_path / "videos"),
        step_trigger=lambda step: step == 3,
        video_length=5,
        record_first_only=True,
    )
    env.reset(seed=1)
    push(env, 12)
    env.close()
    (file,) = (tmp_path / "videos").iterdir()
    # Gymnasium stops after it has more frames.
    assert len(read_film(file).frames) == 6


def test_the_single_wrapper_films_an_episode(tmp_path: Path) -> None:
    made = gymnasium.make(
        "mjlab/Cartpole-Balance-v0",
        seed=0,
        max_episode_steps=EPISODE,
        render_mode="rgb_array",
    )
    env = RecordVideo(
        made, str(tmp_path / "videos"), episode_trigger=lambda episode: True
    )
    for _ in range(2):
        env.reset(seed=3)
        push(env, EPISODE)
    env.close()
    films = [read_film(file) for file in sorted((tmp_path / "videos").iterdir())]
    assert [len(film.frames) for film in films] == [EPISODE + 1] * 2
    assert all(differs(film) for film in films)
    # Equal seeds and actions give equal images.
    assert np.array_equal(films[0].frames, films[1].frames)
