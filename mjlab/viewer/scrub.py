"""A clip that is followed, from any of its frames."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.viewer.panels import Page


@runtime_checkable
class Scrubbable(Protocol):
    """A command that follows clips, and can begin an episode anywhere in one."""

    clip: torch.Tensor
    """Clip of each world, shape (num_envs,)."""

    @property
    def frame(self) -> torch.Tensor:
        """Frame that the step at hand leads to, from 0, shape (num_envs,)."""
        ...

    @property
    def clip_frames(self) -> Mapping[str, int]:
        """Number of frames of each clip, by its name."""
        ...

    def begin_at(self, mask: torch.Tensor, clip: int, frame: int) -> None:
        """Begin the episodes of worlds in the pose of a frame.

        Args:
            mask: The worlds, between the phases `apply` and `update_kinematics` of a
                reset.
            clip: The clip, by its number.
            frame: The frame, from 0; one before the last at the most.
        """
        ...


class ClipPanel:
    """Choice of a clip, and a slider along it."""

    def __init__(self, page: Page, term: Scrubbable) -> None:
        """Add the controls to the present part of the page."""
        self._page, self._term = page, term
        self._step_dt = page.player.env.step_dt
        gui = page.server.gui
        names = tuple(term.clip_frames)
        self.clip = gui.add_dropdown("Clip", names, visible=len(names) > 1)
        """The clip to show."""
        self.seconds = gui.add_slider("Seconds", 0.0, self._last(0), self._step_dt, 0.0)
        """Place in the clip, s."""
        # Without a visitor it is `update` that follows the clip.
        self.clip.on_update(lambda event: event.client and self.begin(0.0))
        self.seconds.on_update(
            lambda event: event.client and self.begin(self.seconds.value)
        )

    def begin(self, seconds: float) -> None:
        """Begin the episode of the chosen world at a place of the chosen clip."""
        names = list(self._term.clip_frames)
        clip = names.index(self.clip.value)
        frame = round(min(seconds, self._last(clip)) / self._step_dt)
        self._page.player.begin(
            self._page.world, lambda mask: self._term.begin_at(mask, clip, frame)
        )

    def update(self) -> None:
        """Show where the chosen world is."""
        clip = int(self._term.clip[self._page.world])
        self.clip.value = list(self._term.clip_frames)[clip]
        self.seconds.max = self._last(clip)
        # The robot is in the frame before the one that the step leads to.
        now = (int(self._term.frame[self._page.world]) - 1) * self._step_dt
        self.seconds.value = min(max(now, 0.0), self._last(clip))

    def _last(self, clip: int) -> float:
        """Return the last place of a clip at which something is left to follow, s."""
        frames = list(self._term.clip_frames.values())[clip]
        return (frames - 2) * self._step_dt


def find_clips(env: ManagerBasedRlEnv) -> dict[str, Scrubbable]:
    """Return the commands that follow clips, by their names."""
    return {
        name: term
        for name, term in env.command_manager.terms.items()
        if isinstance(term, Scrubbable)
    }
