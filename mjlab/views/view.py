"""The parts that views of all kinds share."""

from collections.abc import Sequence

import torch

from mjlab.views.choice import MemberChoice
from mjlab.views.source import ViewSource


class View:
    """Some things of a scene, one of them in each world, or k.

    A row is a thing in a world. Tensors have the shape (num_envs, ...), or
    (num_envs, k, ...) where `which` chooses k members in each world. Rows that are not
    present read as zero, poses as the identity, and are not written.
    """

    def __init__(
        self,
        source: ViewSource,
        names: Sequence[str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        """Choose among members; `MemberChoice` says what `which` and `present` are."""
        self.source = source
        """The parts of the scene that are read and written."""
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
    """A view of things that other things touch."""

    @property
    def net_contact_force(self) -> torch.Tensor:
        """Force from all that touches it, world frame, N, shape (..., 3).

        Of the last physics step, or in an observation of the present state. The scene
        has to declare it: `contact_pairs=(ContactPairCfg(first="<name>"),)`.
        """
        return self.source.forces.net(self)


def slow(
    lin_vel: torch.Tensor, ang_vel: torch.Tensor, most_lin: float, most_ang: float
) -> torch.Tensor:
    """Return whether both speeds are at most so large, shape (...)."""
    linear = lin_vel.square().sum(dim=-1) <= most_lin**2
    return linear & (ang_vel.square().sum(dim=-1) <= most_ang**2)
