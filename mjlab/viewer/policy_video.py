"""Videos of a policy, rendered offscreen as fast as possible."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mjlab.render import WorldVideo
from mjlab.viewer.marks import collect_marks
from mjlab.viewer.player import Player

MAX_FPS = 30.0
"""Maximum frame rate, in Hz: rendering a frame takes as long as simulating several
steps."""


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

    The video is in real time. If the step rate exceeds the maximum frame rate, some
    steps are not rendered.

    Args:
        player: The worlds and their policy.
        path: The file.
        steps: Number of steps.
        title: First line of text; empty for no text.
        worlds: Worlds to show side by side. None shows that of `cfg.viewer`.
        contacts: Draw contacts with their forces.
        tell: Called with the number of frames so far and in total.
    """
    env = player.env
    rate = 1.0 / env.step_dt
    every = max(1, math.ceil(rate / MAX_FPS - 1e-9))
    with WorldVideo(
        path,
        rate / every,
        env.sim,
        env.scene,
        env.cfg.viewer,
        worlds=worlds,
        contacts=contacts,
    ) as film:
        for step in range(steps):
            player.step()
            if step % every:
                continue
            marks = collect_marks(env, film.worlds)
            text = partial(caption, player, title) if title else None
            film.add(marks=marks, lines=text)
            if tell is not None:
                tell(film.num_frames, math.ceil(steps / every))
        return film.num_frames


def caption(player: Player, title: str, world: int) -> list[str]:
    """Return text lines for one world: title, time, commands and reward."""
    env = player.env
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
    return [*lines, f"reward {float(player.reward[world]):+.4f}"]
