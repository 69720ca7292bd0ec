"""Playback of a tracked clip from any of its frames."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.viewer.panels import Page


@runtime_checkable
class Scrubbable(Protocol):
    """Command that tracks clips, and can start an episode at any frame."""

    clip: torch.Tensor
    """Clip of each world, shape (num_envs,)."""

    @property
    def frame(self) -> torch.Tensor:
        """Reference frame at the end of the current step, from 0, shape (num_envs,)."""
        ...

    @property
    def clip_frames(self) -> Mapping[str, int]:
        """Number of frames of each clip, by name."""
        ...

    def begin_at(self, mask: torch.Tensor, clip: int, frame: int) -> None:
        """Start the episodes of worlds in the pose of a frame.

        Args:
            mask: The worlds, between the phases `apply` and `update_kinematics` of a
                reset.
            clip: Index of the clip.
            frame: Index of the frame, from 0 to the second to last.
        """
        ...


class ClipPanel:
    """Panel that selects a clip and, with a slider, the time in the clip."""

    def __init__(self, page: Page, term: Scrubbable) -> None:
        """Add the controls to the page."""
        self._page, self._term = page, term
        self._step_dt = page.player.env.step_dt
        gui = page.server.gui
        names = tuple(term.clip_frames)
        self.clip = gui.add_dropdown("Clip", names, visible=len(names) > 1)
        """Dropdown that selects the clip."""
        self.seconds = gui.add_slider("Seconds", 0.0, self._last(0), self._step_dt, 0.0)
        """Slider of the time in the clip, s."""
        # Ignore changes without a client: `update` makes them, not a user.
        self.clip.on_update(lambda event: event.client and self.begin(0.0))
        self.seconds.on_update(
            lambda event: event.client and self.begin(self.seconds.value)
        )

    def begin(self, seconds: float) -> None:
        """Start the episode of the selected world at a time of the selected clip."""
        names = list(self._term.clip_frames)
        clip = names.index(self.clip.value)
        frame = round(min(seconds, self._last(clip)) / self._step_dt)
        self._page.player.begin(
            self._page.world, lambda mask: self._term.begin_at(mask, clip, frame)
        )

    def update(self) -> None:
        """Show the clip and time of the selected world."""
        clip = int(self._term.clip[self._page.world])
        self.clip.value = list(self._term.clip_frames)[clip]
        self.seconds.max = self._last(clip)
        # The robot is one frame behind the reference frame of the step.
        now = (int(self._term.frame[self._page.world]) - 1) * self._step_dt
        self.seconds.value = min(max(now, 0.0), self._last(clip))

    def _last(self, clip: int) -> float:
        """Return the last time of a clip at which tracking can start, s."""
        frames = list(self._term.clip_frames.values())[clip]
        return (frames - 2) * self._step_dt


def find_clips(env: ManagerBasedRlEnv) -> dict[str, Scrubbable]:
    """Return the commands that track clips, by name."""
    return {
        name: term
        for name, term in env.command_manager.terms.items()
        if isinstance(term, Scrubbable)
    }
