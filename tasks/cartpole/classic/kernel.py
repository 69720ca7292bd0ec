"""Classic cartpole with one kernel per step, on a CUDA device or the CPU."""

from typing import TYPE_CHECKING

import torch

from mjlab.envs import Step
from mjlab.tasks.cartpole.classic.equations import (
    ClassicCartpoleCfg,
    ClassicCartpoleError,
)
from mjlab.tasks.cartpole.classic.worlds import ClassicWorlds

if TYPE_CHECKING:
    from mjlab.tasks.cartpole.classic.step_kernel import KernelRollout


class KernelCartpoles(ClassicWorlds):
    """Classic cartpoles, stepped, terminated and reset by one kernel launch.

    With equal seeds, `TensorCartpoles` produces the same episodes, bit for bit.
    """

    def __init__(
        self, cfg: ClassicCartpoleCfg, device: torch.device | str = "cpu"
    ) -> None:
        """Allocate, compile, and start the first episodes."""
        # Warp is imported only when these worlds are created.
        from mjlab.tasks.cartpole.classic.step_kernel import StepKernel

        super().__init__(cfg, device)
        self._over = None
        if not cfg.autoreset:
            self._over = torch.zeros(
                cfg.num_envs, dtype=torch.uint8, device=self.device
            )
        self._kernel = StepKernel(
            self.memory,
            self.rng,
            self._over,
            max_steps=cfg.max_steps,
            semi_implicit=cfg.integrator == "semi_implicit",
            fall_reward=cfg.fall_reward,
            threads_per_block=cfg.threads_per_block,
        )
        self.reset()

    def set_state(self, state: torch.Tensor, steps: torch.Tensor | None = None) -> None:
        """Set the state of all worlds; see `ClassicWorlds.set_state`."""
        super().set_state(state, steps)
        if self._over is not None:
            self._over.zero_()

    def record(self, steps: int) -> "RecordedSteps":
        """Prepare several steps that run together: a CUDA graph, or a loop on the CPU.

        Args:
            steps: Number of steps.
        """
        if steps < 1:
            raise ClassicCartpoleError(f"steps={steps} has to be 1 or more.")
        return RecordedSteps(self, steps)

    def _reset(self, mask: torch.Tensor) -> None:
        self._kernel.reset(mask)

    def _step(self, actions: torch.Tensor) -> None:
        self._kernel.step(actions if actions.is_contiguous() else actions.contiguous())


class RecordedSteps:
    """Several steps of all worlds, run together from prepared actions."""

    def __init__(self, worlds: KernelCartpoles, steps: int) -> None:
        from mjlab.tasks.cartpole.classic.step_kernel import KernelRollout

        self.rollout: KernelRollout = KernelRollout.of(
            steps, worlds.num_envs, worlds.device
        )
        """Actions, which the caller writes before a run, and results of the steps."""
        self._worlds = worlds
        self._recording = worlds._kernel.record(self.rollout)

    def run(self) -> "KernelRollout":
        """Run the steps; the next run overwrites the results."""
        self._recording.run()
        return self.rollout

    def last(self) -> Step[torch.Tensor]:
        """Return the results of the last step, live."""
        rollout = self.rollout
        return Step(
            rollout.observations[-1],
            rollout.reward[-1],
            rollout.terminated[-1],
            rollout.truncated[-1],
            {},
        )
