"""Videos of a policy, rendered offscreen as fast as possible."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from mjlab.envs import ManagerBasedRlEnv
from mjlab.render import WorldVideo
from mjlab.render.offscreen import OrbitView
from mjlab.viewer.marks import collect_marks
from mjlab.viewer.player import Player

MAX_FPS = 30.0
"""Maximum frame rate, in Hz: rendering a frame takes as long as simulating several
steps."""


class PolicyVideo:
    """Video of worlds that other code steps.

    It plays in real time. If the step rate exceeds the maximum frame rate, some steps
    are not rendered.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        path: Path,
        *,
        title: str = "",
        worlds: Sequence[int] | None = None,
        view: OrbitView | None = None,
        contacts: bool = True,
    ) -> None:
        """Open the file and the renderer.

        Args:
            env: The worlds.
            path: The file.
            title: First line of text; empty for no text.
            worlds: Worlds to show side by side. None shows the view's world.
            view: Camera, and image size of one world. None uses `cfg.viewer`.
            contacts: Draw contacts with their forces.

        Raises:
            GlError: If rendering is impossible.
            VideoError: If videos cannot be written.
        """
        rate = 1.0 / env.step_dt
        self.every = max(1, math.ceil(rate / MAX_FPS - 1e-9))
        """Steps per frame."""
        self._env, self._title, self._steps = env, title, 0
        self._film = WorldVideo(
            path,
            rate / self.every,
            env.sim,
            env.scene,
            env.cfg.viewer if view is None else view,
            worlds=worlds,
            contacts=contacts,
        )

    @property
    def num_frames(self) -> int:
        """Number of frames so far."""
        return self._film.num_frames

    def after_step(self) -> bool:
        """Append the state after a step, if a frame is due; return True if appended."""
        is_frame = self._steps % self.every == 0
        self._steps += 1
        if is_frame:
            marks = collect_marks(self._env, self._film.worlds)
            text = partial(caption, self._env, self._title) if self._title else None
            self._film.add(marks=marks, lines=text)
        return is_frame

    def close(self) -> None:
        """Finish the file."""
        self._film.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def record_video(
    player: Player,
    path: Path,
    steps: int,
    *,
    title: str = "",
    worlds: Sequence[int] | None = None,
    contacts: bool = True,
    tell: Callable[[int, int], None] | None = None,
) -> int:
    """Step the worlds, write a video, and return the number of frames.

    Args:
        player: The worlds and their policy.
        path: The file.
        steps: Number of steps.
        title: First line of text; empty for no text.
        worlds: Worlds to show side by side. None shows the world of `cfg.viewer`.
        contacts: Draw contacts with their forces.
        tell: Function called with the number of frames so far and in total.
    """
    env = player.env
    with PolicyVideo(env, path, title=title, worlds=worlds, contacts=contacts) as film:
        for _ in range(steps):
            player.step()
            if film.after_step() and tell is not None:
                tell(film.num_frames, math.ceil(steps / film.every))
        return film.num_frames


def caption(env: ManagerBasedRlEnv, title: str, world: int) -> list[str]:
    """Return text lines for one world: title, time, commands and reward."""
    seconds = float(env.episode_length_buf[world]) * env.step_dt
    place = "" if env.num_envs == 1 else f"world {world}, "
    lines = [title, f"{place}{seconds:.1f} s"]
    for name, term in env.command_manager.terms.items():
        numbers = term.command[world].tolist()
        if term.labels:
            pairs = zip(term.labels, numbers, strict=False)
            words = (
                f"{word} {round(value, 1) + 0.0:.1f} {unit}"  # Avoid minus zero.
                for (word, unit), value in pairs
            )
            lines.append(", ".join(words))
        # Longer commands, such as reference motions, are not shown.
        elif len(numbers) <= 4:
            lines.append(f"{name}: {' '.join(f'{value:+.2f}' for value in numbers)}")
    return [*lines, f"reward {float(env.reward_manager.reward[world]):+.4f}"]
