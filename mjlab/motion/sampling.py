"""Sampling of start frames: uniform, or adaptive by failure counts.

Each clip is divided into bins of about a second. Failures are counted by bin. The
running average of the counts raises the sampling probability of the bin and, if
`kernel` is above 1, of the bins before it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from mjlab.names import find_name

Range = tuple[float, float]

_AXES = ("x", "y", "z", "roll", "pitch", "yaw")


@dataclass(kw_only=True)
class AdaptiveSampling:
    """Settings of adaptive sampling, which prefers start frames before failures."""

    rate: float = 0.001
    """Weight of a step's failures in the running average."""

    uniform: float = 0.1
    """Weight of uniform sampling, spread over all bins."""

    kernel: int = 1
    """Number of bins whose failures raise the probability of a bin: the bin itself and
    the bins after it. Above 1, episodes also start before a difficult part."""

    decay: float = 0.8
    """Weight of a bin's failures in the kernel, relative to the preceding bin."""

    floor: float = 0.0
    """Smallest probability of a bin, before normalisation."""

    def check(self) -> None:
        """Raise for invalid values."""
        shares = {"rate": self.rate, "decay": self.decay}
        wrong = [name for name, share in shares.items() if not 0.0 < share <= 1.0]
        if wrong:
            raise ValueError(f"{wrong[0]}={shares[wrong[0]]} has to be in (0, 1].")
        if self.kernel < 1:
            raise ValueError(f"kernel={self.kernel} has to be 1 or more.")
        if self.uniform < 0.0 or self.floor < 0.0 or self.uniform + self.floor == 0.0:
            raise ValueError(
                f"uniform={self.uniform} and floor={self.floor} have to be 0 or more, "
                "not both 0: bins without failures would never be sampled."
            )


class FailureBins:
    """Failure counts and sampling probabilities, in bins of about one second."""

    def __init__(
        self,
        cfg: AdaptiveSampling,
        lengths: torch.Tensor,
        weights: torch.Tensor,
        rate: float,
    ) -> None:
        """Divide the clips into bins.

        Args:
            cfg: Settings of the sampling.
            lengths: Frames of each clip, shape (clips,), int64.
            weights: Sampling weight per second of each clip, shape (clips,).
            rate: Frames per second.
        """
        cfg.check()
        self._cfg = cfg
        device = lengths.device
        counts = lengths // round(rate) + 1
        starts = counts.cumsum(0) - counts
        clips = torch.arange(len(lengths), device=device)
        self.clip = clips.repeat_interleave(counts)
        """Clip of each bin, shape (bins,), int64."""
        total = len(self.clip)
        place = torch.arange(total, device=device) - starts[self.clip]
        rows = lengths.cumsum(0) - lengths
        # Start and length of each bin, in fractional table rows. A clip's last row is
        # no start.
        spans = (lengths - 1)[self.clip] / counts[self.clip]
        self._spans = spans.double()
        self._lows = rows[self.clip] + place * self._spans
        self._most = (rows + lengths - 2)[self.clip]
        frames = torch.arange(int(lengths.sum()), device=device)
        owner = clips.repeat_interleave(lengths)
        local = frames - rows[owner]
        shares = torch.div(local * counts[owner], lengths[owner], rounding_mode="floor")
        self.bin = starts[owner] + shares
        """Bin of each row of the table, shape (rows,), int64."""
        self._places = torch.arange(total, device=device) / total
        self._weights = weights[self.clip]
        self._has_weights = bool((weights != 1.0).any())
        self._kernel = cfg.decay ** torch.arange(cfg.kernel, device=device)
        self._kernel /= self._kernel.sum()
        # Bins whose failures count for each bin, clamped to the last bin of the clip.
        after = place[:, None] + torch.arange(cfg.kernel, device=device)
        last = (counts - 1)[self.clip][:, None]
        self._after = torch.minimum(after, last) + starts[self.clip][:, None]
        self.failures = torch.zeros(total, device=lengths.device)
        """Running average of failures per step, shape (bins,), live."""
        self.fresh = torch.zeros(total, device=lengths.device)
        """Failures not yet added to the running average, shape (bins,), live."""
        self.probability = torch.zeros(total, device=lengths.device)
        """Probability of each bin, shape (bins,), live."""
        self._refresh()

    def count(self, row: torch.Tensor, fail: torch.Tensor) -> None:
        """Count failures.

        Args:
            row: Table row reached by each world, shape (num_envs,), int64.
            fail: True for worlds that failed, shape (num_envs,), bool.
        """
        # Sums of ones are exact in any order, so all devices give the same result.
        self.fresh.scatter_add_(0, self.bin[row], fail.float())

    def advance(self) -> None:
        """Add the failures of a step to the running average."""
        self.failures.lerp_(self.fresh, self._cfg.rate)
        self.fresh.zero_()
        self._refresh()

    def draw(
        self, choice: torch.Tensor, within: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a clip and a start row for each world, never a clip's last row.

        Args:
            choice: Uniform numbers in [0, 1) that select the bin.
            within: Uniform numbers in [0, 1) that select the position in it.
        """
        found = torch.searchsorted(self.probability.cumsum(0), choice, right=True)
        # The sum can be a little below 1 by rounding.
        found = found.clamp_(max=len(self.clip) - 1)
        row = torch.addcmul(self._lows[found], within, self._spans[found]).long()
        return self.clip[found], torch.minimum(row, self._most[found])

    def summary(self) -> torch.Tensor:
        """Return normalised entropy, largest bin probability and the bin's position."""
        p = self.probability
        most = math.log(len(p)) if len(p) > 1 else 1.0
        entropy = torch.xlogy(p, p).sum() / -most
        top, place = p.max(dim=0)
        # A 0-dimensional index would synchronise with the host.
        found = self._places.index_select(0, place.view(1)).squeeze(0)
        return torch.stack((entropy, top, found))

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""
        return {
            "failures": self.failures,
            "fresh": self.fresh,
            "probability": self.probability,
        }

    def _refresh(self) -> None:
        weights = self.failures + self._cfg.uniform / len(self.failures)
        if self._cfg.kernel > 1:
            weights = weights[self._after] @ self._kernel
        if self._has_weights:
            weights = weights * self._weights
        torch.div(weights, weights.sum(), out=self.probability)
        if self._cfg.floor > 0.0:
            self.probability.clamp_(min=self._cfg.floor)
            self.probability.div_(self.probability.sum())


def first_frame(share: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the frame at a fraction of a clip, from 0 to the last but one."""
    frame = (share * (lengths - 1)).long()
    return torch.minimum(frame, lengths - 2)


def start_ranges(
    boxes: Mapping[str, Mapping[str, Range]], joint_range: Range, joints: int
) -> dict[str, Range]:
    """Return the ranges of the initial state noise, in the order of the draws.

    Args:
        boxes: Ranges of root pose and velocity, by field name and axis.
        joint_range: Range of each joint.
        joints: Number of joints.
    """
    ranges: dict[str, Range] = {}
    for label, box in boxes.items():
        for axis in box:
            find_name(axis, _AXES, what="axis", owner=label)
        ranges |= {f"{label}.{axis}": box.get(axis, (0.0, 0.0)) for axis in _AXES}
    return ranges | {f"joint_range {i}": joint_range for i in range(joints)}
