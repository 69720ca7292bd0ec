"""How long things have been in the air and on the ground."""

import torch

from mjlab.tensors.masks import fill_where


class AirTime:
    """Counts the physics steps of alternating phases of air and contact.

    Steps are counted as integers and multiplied by their duration, so that no rounding
    accumulates over an episode. A phase counts as over when the other one begins; the
    phase that an episode ends in is forgotten at the reset.
    """

    def __init__(self, num_envs: int, width: int, device: torch.device) -> None:
        """Allocate the counters of `width` things in each world."""
        shape = (num_envs, width, 4)
        # On the last dimension: the air phase and the contact phase that run now (one
        # of them is 0), then the last air phase and the last contact phase that ended.
        self._steps = torch.zeros(shape, dtype=torch.int32, device=device)
        self._times = torch.zeros(shape, device=device)
        self._is_air = torch.tensor([True, False], device=device)

    @property
    def current_air_time(self) -> torch.Tensor:
        """Seconds since contact was lost, 0 in contact, shape (num_envs, width)."""
        return self._times[..., 0]

    @property
    def current_contact_time(self) -> torch.Tensor:
        """Seconds since contact was made, 0 in the air, shape (num_envs, width)."""
        return self._times[..., 1]

    @property
    def last_air_time(self) -> torch.Tensor:
        """Seconds that the last ended air phase took, shape (num_envs, width)."""
        return self._times[..., 2]

    @property
    def last_contact_time(self) -> torch.Tensor:
        """Seconds that the last ended contact phase took, shape (num_envs, width)."""
        return self._times[..., 3]

    def update(self, in_contact: torch.Tensor, dt: float) -> None:
        """Count one physics step of `dt` seconds.

        Args:
            in_contact: Shape (num_envs, width): bool, or a number that is zero in the
                air.
            dt: Duration of a physics step.
        """
        running, ended = self._steps[..., :2], self._steps[..., 2:]
        goes_on = torch.logical_xor(in_contact.unsqueeze(-1), self._is_air)
        stopped = running.masked_fill(goes_on, 0)
        torch.where(stopped > 0, stopped, ended, out=ended)
        running.add_(1).mul_(goes_on)
        torch.mul(self._steps, dt, out=self._times)

    def landed_within(self, steps: int) -> torch.Tensor:
        """Whether an air phase ended within the last `steps` physics steps.

        Shape (num_envs, width). Something that is in contact since the reset has not
        landed.
        """
        return self._began_within(steps, phase=1)

    def lifted_within(self, steps: int) -> torch.Tensor:
        """Whether a contact phase ended within the last `steps` physics steps."""
        return self._began_within(steps, phase=0)

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the phases of the worlds of `mask`, shape (num_envs,)."""
        fill_where(self._steps, mask, 0)
        fill_where(self._times, mask, 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {"phase_steps": self._steps, "phase_times": self._times}

    def _began_within(self, steps: int, *, phase: int) -> torch.Tensor:
        running, other_ended = self._steps[..., phase], self._steps[..., 3 - phase]
        return (running > 0) & (running <= steps) & (other_ended > 0)
