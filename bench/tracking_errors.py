"""Means of tracking errors over worlds, bodies and frames.

Imports only torch, because bench/tracking_peer.py also uses it in the interpreter of
mjlab.
"""

import torch

NAMES: tuple[str, ...] = ("global", "local", "velocity", "acceleration")


class TrackingErrors:
    """Sums of the errors that bench/tracker.py defines, in mm."""

    def __init__(self) -> None:
        """Begin with no frame."""
        self._sums = dict.fromkeys(NAMES, 0.0)
        self._counts = dict.fromkeys(NAMES, 0)
        self._past: list[torch.Tensor] = []

    def add(
        self,
        position: torch.Tensor,
        reference: torch.Tensor,
        aligned: torch.Tensor,
        alive: torch.Tensor,
    ) -> None:
        """Add one frame: body positions (worlds, bodies, 3) of robot and reference.

        `aligned` is the reference after aligning heading and horizontal position. Only
        worlds that are `alive` count.
        """
        self._past = [*self._past[-2:], position - reference]
        errors = {"global": self._past[-1], "local": position - aligned}
        if len(self._past) > 1:
            errors["velocity"] = self._past[-1] - self._past[-2]
        if len(self._past) > 2:
            last, middle, first = self._past[::-1]
            errors["acceleration"] = last - 2.0 * middle + first
        for name, error in errors.items():
            self._sums[name] += 1000.0 * float(error.norm(dim=-1)[alive].sum())
            self._counts[name] += int(alive.sum()) * error.shape[1]

    def means(self, frames: int) -> dict[str, float]:
        """Return the means, and the fraction that was completed of all body frames."""
        means = {
            name: total / max(self._counts[name], 1)
            for name, total in self._sums.items()
        }
        return {"completed": self._counts["global"] / frames, **means}
