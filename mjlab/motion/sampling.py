"""Seconds of clips at which episodes begin: all alike, or those that fail more often.

Each clip is cut into bins of about a second. Failures are counted into the bin in which
they happen; a running average of the counts makes a bin more probable, and those just
before it.
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
    """Preference of seconds that were failed."""

    rate: float = 0.001
    """Share of the failures of a step in the running average."""

    uniform: float = 0.1
    """Weight that is spread over all bins, whatever has failed."""

    kernel: int = 1
    """Bins whose failures count for a bin: its own, and those after it. An episode
    then begins before what is difficult."""

    decay: float = 0.8
    """Weight of the failures of a bin relative to those of the bin before it."""

    floor: float = 0.0
    """Least probability of a bin, before all are scaled to add up to 1."""

    def check(self) -> None:
        """Raise for what has no meaning."""
        shares = {"rate": self.rate, "decay": self.decay}
        wrong = [name for name, share in shares.items() if not 0.0 < share <= 1.0]
        if wrong:
            raise ValueError(f"{wrong[0]}={shares[wrong[0]]} has to be in (0, 1].")
        if self.kernel < 1:
            raise ValueError(f"kernel={self.kernel} has to be 1 or more.")
        if self.uniform < 0.0 or self.floor < 0.0 or self.uniform + self.floor == 0.0:
            raise ValueError(
                f"uniform={self.uniform} and floor={self.floor} are 0 or more, and not "
                "both 0: a bin that never failed would never be drawn."
            )


class FailureBins:
    """Failures by second of each clip, and the probabilities that follow."""

    def __init__(
        self,
        cfg: AdaptiveSampling,
        lengths: torch.Tensor,
        weights: torch.Tensor,
        rate: float,
    ) -> None:
        """Cut clips into bins.

        Args:
            cfg: The preference.
            lengths: Frames of each clip, shape (clips,), int64.
            weights: How often a second of each clip is drawn relative to the others,
                shape (clips,).
            rate: Frames per second.
        """
        cfg.check()
        self._cfg = cfg
        device = lengths.device
        counts = lengths // round(rate) + 1
        starts = counts.cumsum(0) - counts
        clips = torch.arange(len(lengths), device=device)
        self.clip = clips.repeat_interleave(counts)
        """The clip of each bin, shape (bins,), int64."""
        total = len(self.clip)
        place = torch.arange(total, device=device) - starts[self.clip]
        rows = lengths.cumsum(0) - lengths
        # The share of a clip at which a bin begins, and that it has, in rows but one.
        spans = (lengths - 1)[self.clip] / counts[self.clip]
        self._spans = spans.double()
        self._lows = rows[self.clip] + place * self._spans
        self._most = (rows + lengths - 2)[self.clip]
        frames = torch.arange(int(lengths.sum()), device=device)
        owner = clips.repeat_interleave(lengths)
        local = frames - rows[owner]
        shares = torch.div(local * counts[owner], lengths[owner], rounding_mode="floor")
        self.bin = starts[owner] + shares
        """The bin of each row of the table, shape (rows,), int64."""
        self._places = torch.arange(total, device=device) / total
        self._weights = weights[self.clip]
        self._has_weights = bool((weights != 1.0).any())
        self._kernel = cfg.decay ** torch.arange(cfg.kernel, device=device)
        self._kernel /= self._kernel.sum()
        # The bins whose failures count for each bin; the last one stands for those
        # beyond it.
        after = place[:, None] + torch.arange(cfg.kernel, device=device)
        last = (counts - 1)[self.clip][:, None]
        self._after = torch.minimum(after, last) + starts[self.clip][:, None]
        self.failures = torch.zeros(total, device=lengths.device)
        """Running average of failures a step, shape (bins,), live."""
        self.fresh = torch.zeros(total, device=lengths.device)
        """Failures that are not in the average yet, shape (bins,), live."""
        self.probability = torch.zeros(total, device=lengths.device)
        """Probability of each bin, shape (bins,), live."""
        self._refresh()

    def count(self, row: torch.Tensor, fail: torch.Tensor) -> None:
        """Count the worlds that failed.

        Args:
            row: The row of all clips that each world had reached, int64.
            fail: Which of them failed, shape (num_envs,), bool.
        """
        # Sums of ones are the same in any order, so that no device differs.
        self.fresh.scatter_add_(0, self.bin[row], fail.float())

    def advance(self) -> None:
        """Take the failures of a step into the average."""
        self.failures.lerp_(self.fresh, self._cfg.rate)
        self.fresh.zero_()
        self._refresh()

    def draw(
        self, choice: torch.Tensor, within: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return a clip and a row to begin in for each world; a last one is never it.

        Args:
            choice: Uniform numbers in [0, 1) that choose the bin.
            within: Uniform numbers in [0, 1) that choose the place in it.
        """
        found = torch.searchsorted(self.probability.cumsum(0), choice, right=True)
        # Rounding may leave the sum a little below 1.
        found = found.clamp_(max=len(self.clip) - 1)
        row = torch.addcmul(self._lows[found], within, self._spans[found]).long()
        return self.clip[found], torch.minimum(row, self._most[found])

    def summary(self) -> torch.Tensor:
        """Entropy over its most, greatest probability, and its place, 0 to 1."""
        p = self.probability
        most = math.log(len(p)) if len(p) > 1 else 1.0
        entropy = torch.xlogy(p, p).sum() / -most
        top, place = p.max(dim=0)
        # A place of no dimension would be read by the host.
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
    """Return the frame at a share of a clip, from 0 to one before its last."""
    frame = (share * (lengths - 1)).long()
    return torch.minimum(frame, lengths - 2)


def start_ranges(
    boxes: Mapping[str, Mapping[str, Range]], joint_range: Range, joints: int
) -> dict[str, Range]:
    """Return the ranges of what is drawn at the start, in the order of the draws.

    Args:
        boxes: Ranges by axis of the root's pose and velocity, by the field's name.
        joint_range: The range of each joint.
        joints: Number of joints.
    """
    ranges: dict[str, Range] = {}
    for label, box in boxes.items():
        for axis in box:
            find_name(axis, _AXES, what="axis", owner=label)
        ranges |= {f"{label}.{axis}": box.get(axis, (0.0, 0.0)) for axis in _AXES}
    return ranges | {f"joint_range {i}": joint_range for i in range(joints)}
