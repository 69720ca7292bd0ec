"""Compare replayed episodes with their recording."""

from dataclasses import dataclass, field

import torch

from mjlab.replay.replay import Replay, Replayed, recorded_values


@dataclass
class QuantityTally:
    """Comparison of one quantity over all episodes."""

    rows: int = 0
    """Number of compared rows: one per step, or one per state."""

    unequal: int = 0
    """Number of rows that are not bit-identical."""

    largest: float = 0.0
    """Maximum absolute difference of an element."""

    first: tuple[int, int] | None = None
    """Episode number and row of the first difference, None without differences."""


@dataclass
class ReplayReport:
    """Comparison of a replay with its recording."""

    replay: Replay
    """The replay."""

    episodes: int = 0
    """Number of replayed episodes."""

    steps: int = 0
    """Number of steps of all replayed episodes."""

    claimed: int = 0
    """Number of episodes that must be bit-identical."""

    broken: list[int] = field(default_factory=list)
    """Numbers of the episodes that must be bit-identical, but differ."""

    tallies: dict[str, QuantityTally] = field(default_factory=dict)
    """Comparisons by path of the quantity."""

    left_out: dict[str, str] = field(default_factory=dict)
    """Reason why a recorded quantity was not compared, by its path."""

    def add(self, replayed: Replayed) -> None:
        """Compare a replayed episode with the recording."""
        episode = replayed.episode
        self.episodes += 1
        self.steps += episode.length
        is_equal = True
        for name, expected in recorded_values(episode).items():
            value = replayed.values.get(name)
            if name.startswith("physics/") and value is None:
                continue  # Another engine: `env_states` are compared instead.
            if value is None or value.shape != expected.shape:
                self.left_out.setdefault(name, _why_not(value, expected))
                continue
            is_equal &= self._compare(name, episode.number, value, expected)
        if self.replay.claims_exact(episode):
            self.claimed += 1
            if not is_equal:
                self.broken.append(episode.number)

    @property
    def is_as_claimed(self) -> bool:
        """Whether all episodes that must be bit-identical are."""
        return not self.broken

    def lines(self) -> list[str]:
        """Return the lines of the report for the console."""
        engine = self.replay.env.sim.backend.engine
        lines = [
            f"{self.replay.recording.path}: {self.episodes} episodes of {self.steps} "
            f"steps, replayed by {self.replay.by} on the {engine} engine."
        ]
        lines += [_said(name, tally) for name, tally in self.tallies.items()]
        lines += [f"{name}: not compared, {why}" for name, why in self.left_out.items()]
        return [*lines, self._verdict(engine)]

    def _compare(
        self, name: str, number: int, value: torch.Tensor, expected: torch.Tensor
    ) -> bool:
        tally = self.tallies.setdefault(name, QuantityTally())
        tally.rows += len(value)
        ours, theirs = (each.reshape(len(value), -1) for each in (value, expected))
        if value.is_floating_point():
            equal = (ours == theirs) | (ours.isnan() & theirs.isnan())
            gaps = (ours.double() - theirs.double()).abs().nan_to_num(nan=torch.inf)
            gaps = torch.where(equal, 0.0, gaps)
        else:
            equal = ours == theirs
            gaps = (~equal).double()
        wrong = (~equal.all(dim=1)).nonzero()[:, 0].tolist()
        if not wrong:
            return True
        tally.unequal += len(wrong)
        tally.largest = max(tally.largest, float(gaps.max()))
        tally.first = tally.first or (number, wrong[0])
        return False

    def _verdict(self, engine: str) -> str:
        if self.broken:
            listed = ", ".join(str(number) for number in self.broken[:8])
            more = len(self.broken) - 8
            return (
                f"NOT EXACT: episodes {listed}"
                + (f" and {more} more" if more > 0 else "")
                + " should be bit-identical, but differ. Check that task, "
                "configuration and version are the same."
            )
        if self.claimed == self.episodes:
            what = " in the compared quantities" if self.left_out else ""
            return f"All {self.episodes} episodes are exact{what}, bit for bit."
        recorded = self.replay.recording.backend or "an engine that was not recorded"
        return (
            f"{self.claimed} of {self.episodes} episodes had to be exact. A replay is "
            "exact if it starts from a recorded state, and if recording and replay "
            f"use the native engine. This recording used {recorded}, the replay "
            f"{engine}."
        )


def _said(name: str, tally: QuantityTally) -> str:
    if not tally.unequal:
        return f"{name}: equal bit for bit, {tally.rows} of {tally.rows}."
    assert tally.first is not None, "Set with the first difference."
    episode, row = tally.first
    return (
        f"{name}: {tally.unequal} of {tally.rows} differ, by up to "
        f"{tally.largest:.3g}; the first is in row {row} of episode {episode}."
    )


def _why_not(value: torch.Tensor | None, expected: torch.Tensor) -> str:
    if value is None:
        return "because the replay's environment does not have it."
    before, now = tuple(expected.shape), tuple(value.shape)
    return f"because its recorded shape is {before}, and its shape now is {now}."
