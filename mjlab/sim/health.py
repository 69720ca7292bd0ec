"""What went wrong in which world, counted on the device and read on request."""

from dataclasses import dataclass

import mujoco
import torch

from mjlab.sim.engine import Engine, Use


@dataclass(frozen=True)
class HealthReport:
    """Counts since the simulation was built, read from the device at once."""

    nonfinite: int
    """Times that `Health.check` found a world that diverged."""

    overflow: dict[str, int]
    """Events of missing room by kind, summed over worlds."""

    advice: tuple[str, ...]
    """For each kind that happened, what to set."""

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong."""
        return self.nonfinite == 0 and not any(self.overflow.values())


class Health:
    """Finds worlds that diverged, and collects the engine's overflow counts.

    A world diverged if a number of its state or control is NaN, infinite, or larger
    than MuJoCo's own limit `mjMAXVAL` (1e10). Where MuJoCo finds such a number inside a
    step (an acceleration, a control), the engine sets the state to NaN.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.nonfinite = torch.zeros(
            engine.num_envs, dtype=torch.int64, device=engine.device
        )
        """Times that each world was found to have diverged, shape (num_envs,)."""

    def find_nonfinite(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """Worlds whose state or control diverged, shape (num_envs,), bool.

        Reads nothing back to the host.
        """
        fields = [self._engine.data(name) for name in ("qpos", "qvel", "act", "ctrl")]
        # The norm of a row with NaN is NaN, for which every comparison is False.
        size = torch.linalg.vector_norm(torch.cat(fields, 1), ord=torch.inf, dim=1)
        return torch.logical_not(size <= mujoco.mjMAXVAL, out=out)

    def check(self, out: torch.Tensor | None = None) -> None:
        """Find worlds that diverged, as `find_nonfinite` does, and count them."""
        self.nonfinite += self.find_nonfinite(out)

    def overflow(self) -> dict[str, torch.Tensor]:
        """Return events of missing room by kind, one count or one a world."""
        return self._engine.overflow()

    def read(self) -> HealthReport:
        """Read all counters. This waits for the device."""
        overflow = {k: int(v.sum()) for k, v in self.overflow().items()}
        advice = tuple(self._engine.advice(k) for k, n in overflow.items() if n)
        return HealthReport(int(self.nonfinite.sum()), overflow, advice)

    def use(self) -> dict[str, Use]:
        """The most that was used of each kind of room. This waits for the device."""
        return self._engine.use()
