"""Videos of a policy, made without a window and as fast as the machine can."""

import math
from collections.abc import Sequence
from pathlib import Path

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render import Offscreen, Video
from mjlab.viewer.marks import collect_marks
from mjlab.viewer.player import Player

MAX_FPS = 60.0
"""Frames in a second that are worth drawing."""


def record_video(
    player: Player,
    path: Path,
    steps: int,
    *,
    title: str = "",
    worlds: Sequence[int] | None = None,
    contacts: bool = True,
) -> int:
    """Step the worlds, write what happens to a video, and return the frames.

    The video shows the worlds in real time. Where there are more steps in a second than
    are worth drawing, some are not drawn.

    Args:
        player: The worlds and what acts in them.
        path: The file.
        steps: Steps to show.
        title: First line of the text in the pictures; empty for no text.
        worlds: Worlds to show side by side. None shows that of `cfg.viewer`.
        contacts: Whether contacts are drawn with their forces.
    """
    env = player.env
    rate = 1.0 / env.step_dt
    every = max(1, math.ceil(rate / MAX_FPS - 1e-9))
    view = env.cfg.viewer
    camera = Offscreen(env.sim, env.scene, view, worlds=worlds, contacts=contacts)
    with camera, Video(path, rate / every) as video:
        for step in range(steps):
            player.step()
            if step % every:
                continue
            marks = collect_marks(env, camera.worlds)
            text = Caption(player, title) if title else None
            video.add(camera.frame(marks=marks, lines=text))
        return video.num_frames


class Caption:
    """The text of a frame."""

    def __init__(self, player: Player, title: str) -> None:
        self._player = player
        self._title = title

    def __call__(self, world: int) -> list[str]:
        """Lines for one world: what it is, its time, its commands and its reward."""
        env = self._player.env
        seconds = float(env.episode_length_buf[world]) * env.step_dt
        lines = [self._title, f"world {world}   {seconds:.2f} s"]
        lines += [
            f"{name}: {' '.join(f'{value:+.2f}' for value in command[world].tolist())}"
            for name, command in _commands(env).items()
        ]
        return [*lines, f"reward {float(self._player.reward[world]):+.4f}"]


def _commands(env: ManagerBasedRlEnv) -> dict[str, torch.Tensor]:
    terms = env.command_manager.terms.items()
    # A command of many numbers, such as a motion, is not for reading.
    return {name: term.command for name, term in terms if term.command.shape[1] <= 4}
