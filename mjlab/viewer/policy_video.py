"""Videos of a policy, made without a window and as fast as the machine can."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mjlab.render import WorldVideo
from mjlab.viewer.marks import collect_marks
from mjlab.viewer.player import Player

MAX_FPS = 30.0
"""Most frames in a second: each takes as long to draw as some steps to simulate."""


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
    """Step the worlds, write a video of it, and return the number of frames.

    The video shows the worlds in real time. Where there are more steps in a second than
    are worth drawing, some are not drawn.

    Args:
        player: The worlds and what acts in them.
        path: The file.
        steps: Steps to show.
        title: First line of the text in the pictures; empty for no text.
        worlds: Worlds to show side by side. None shows that of `cfg.viewer`.
        contacts: Whether contacts are drawn with their forces.
        tell: Called with the number of frames so far and of all.
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
    """Return lines for one world: what it is, its time, commands and reward."""
    env = player.env
    seconds = float(env.episode_length_buf[world]) * env.step_dt
    place = "" if env.num_envs == 1 else f"world {world}, "
    lines = [title, f"{place}{seconds:.1f} s"]
    for name, term in env.command_manager.terms.items():
        numbers = term.command[world].tolist()
        if term.labels:
            pairs = zip(term.labels, numbers, strict=False)
            words = (
                f"{word} {round(value, 1) + 0.0:.1f} {unit}"  # No minus zero.
                for (word, unit), value in pairs
            )
            lines.append(", ".join(words))
        elif len(numbers) <= 4:  # More, such as a motion, are not for reading.
            lines.append(f"{name}: {' '.join(f'{value:+.2f}' for value in numbers)}")
    return [*lines, f"reward {float(player.reward[world]):+.4f}"]
