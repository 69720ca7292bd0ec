"""Base classes of views."""

from collections.abc import Sequence

import torch

from mjlab.views.choice import MemberChoice
from mjlab.views.source import ViewSource


class View:
    """Elements of a scene, with one or k of them selected in each world.

    A row is an element in a world. Tensors have the shape (num_envs, ...), or
    (num_envs, k, ...) if `which` selects k members in each world. Rows that are not
    present read as zero, poses as the identity, and are not written.
    """

    def __init__(
        self,
        source: ViewSource,
        names: Sequence[str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        """Select among members; see `MemberChoice` for `which` and `present`."""
        self.source = source
        """Data of the scene."""
        self.names = tuple(names)
        """Names of the members."""
        sim = source.sim
        self.choice = MemberChoice(self.names, sim.num_envs, sim.device, which, present)
        """The member of each row."""

    @property
    def which(self) -> torch.Tensor:
        """The member of each row, int64, shape (num_envs,) or (num_envs, k)."""
        return self.choice.picks.view(self.choice.shape)

    @property
    def present(self) -> torch.Tensor:
        """Presence of each row, bool, shape (num_envs,) or (num_envs, k)."""
        if self.choice.present is not None:
            return self.choice.present
        return torch.ones_like(self.which, dtype=torch.bool)

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self.names))
        return f"{type(self).__name__}({names}, shape={tuple(self.choice.shape)})"


class TouchingView(View):
    """View of elements that can be in contact."""

    @property
    def net_contact_force(self) -> torch.Tensor:
        """Total contact force, world frame, N, shape (..., 3).

        This is the force in the last physics step or, if an observation reads it, in
        the current state. The scene has to declare it:
        `contact_pairs=(ContactPairCfg(first="<name>"),)`.
        """
        return self.source.forces.net(self)


def slow(
    lin_vel: torch.Tensor, ang_vel: torch.Tensor, most_lin: float, most_ang: float
) -> torch.Tensor:
    """Return True where both speeds are at most the limits, shape (...)."""
    linear = lin_vel.square().sum(dim=-1) <= most_lin**2
    return linear & (ang_vel.square().sum(dim=-1) <= most_ang**2)
