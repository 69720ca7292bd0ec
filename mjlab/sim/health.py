"""Health counters per world: diverged states and buffer overflows."""

from dataclasses import dataclass

import mujoco
import torch

from mjlab.sim.engine import Engine, Use


@dataclass(frozen=True)
class HealthReport:
    """Counts since the simulation was built, read from the device."""

    nonfinite: int
    """Number of diverged worlds found by `Health.check`."""

    overflow: dict[str, int]
    """Number of buffer overflows by kind, summed over worlds."""

    advice: tuple[str, ...]
    """Setting to change, for each kind of overflow that occurred."""

    @property
    def ok(self) -> bool:
        """True if no world diverged and no buffer overflowed."""
        return self.nonfinite == 0 and not any(self.overflow.values())


class Health:
    """Detects diverged worlds, and collects the engine's overflow counts.

    A world has diverged if an element of its state or control is NaN, infinite, or
    larger in magnitude than MuJoCo's limit `mjMAXVAL` (1e10), or if a velocity is
    larger than `max_velocity`. If MuJoCo finds such a value within a step (in the
    accelerations or controls), the engine sets the state to NaN, so it is detected too.
    """

    def __init__(self, engine: Engine, max_velocity: float = mujoco.mjMAXVAL) -> None:
        self._engine = engine
        # Velocities are multiplied by this factor, so that `mjMAXVAL` is the limit for
        # all elements.
        self._speed_factor = mujoco.mjMAXVAL / max_velocity
        self.nonfinite = torch.zeros(
            engine.num_envs, dtype=torch.int64, device=engine.device
        )
        """Number of times that each world diverged, shape (num_envs,)."""

    def find_nonfinite(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """Return the worlds whose state or control diverged, shape (num_envs,), bool.

        Does not synchronise with the device.
        """
        fields = [self._engine.data(name) for name in ("qpos", "act", "ctrl")]
        fields.append(self._engine.data("qvel") * self._speed_factor)
        # The norm of a row with NaN is NaN, so the comparison is False and the row
        # counts as diverged.
        size = torch.linalg.vector_norm(torch.cat(fields, 1), ord=torch.inf, dim=1)
        return torch.logical_not(size <= mujoco.mjMAXVAL, out=out)

    def check(self, out: torch.Tensor | None = None) -> None:
        """Detect diverged worlds, as `find_nonfinite` does, and count them."""
        self.nonfinite += self.find_nonfinite(out)

    def overflow(self) -> dict[str, torch.Tensor]:
        """Return overflow counts by kind, each of shape (num_envs,)."""
        return self._engine.overflow()

    def read(self) -> HealthReport:
        """Read all counters. Synchronises with the device."""
        overflow = {k: int(v.sum()) for k, v in self.overflow().items()}
        advice = tuple(self._engine.advice(k) for k, n in overflow.items() if n)
        return HealthReport(int(self.nonfinite.sum()), overflow, advice)

    def use(self) -> dict[str, Use]:
        """Return the maximum use by kind of buffer. Synchronises with the device."""
        return self._engine.use()
