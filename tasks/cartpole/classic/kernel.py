"""The classic cartpole as one kernel a step, on a CUDA device or on the CPU."""

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
    """Worlds that are stepped, ended, reset and drawn by one launch.

    With the seed of `TensorCartpoles` they live through the same episodes, bit by bit.
    """

    def __init__(
        self, cfg: ClassicCartpoleCfg, device: torch.device | str = "cpu"
    ) -> None:
        """Allocate, compile, and begin the first episodes."""
        # Warp is imported by whoever wants these worlds, and by nobody else.
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
            threads_per_block=cfg.threads_per_block,
        )
        self.reset()

    def set_state(self, state: torch.Tensor, steps: torch.Tensor | None = None) -> None:
        """Put all worlds into a state; see `ClassicWorlds.set_state`."""
        super().set_state(state, steps)
        if self._over is not None:
            self._over.zero_()

    def record(self, steps: int) -> "RecordedSteps":
        """Prepare several steps that run as one: a CUDA graph, or a loop on the CPU.

        Args:
            steps: How many.
        """
        if steps < 1:
            raise ClassicCartpoleError(f"steps={steps} has to be 1 or more.")
        return RecordedSteps(self, steps)

    def _reset(self, mask: torch.Tensor) -> None:
        self._kernel.reset(mask)

    def _step(self, actions: torch.Tensor) -> None:
        self._kernel.step(actions if actions.is_contiguous() else actions.contiguous())


class RecordedSteps:
    """A number of steps of all worlds, run as one from actions that lie ready."""

    def __init__(self, worlds: KernelCartpoles, steps: int) -> None:
        from mjlab.tasks.cartpole.classic.step_kernel import KernelRollout

        self.rollout: KernelRollout = KernelRollout.of(
            steps, worlds.num_envs, worlds.device
        )
        """The actions, to be written before a run, and what came of them."""
        self._worlds = worlds
        self._recording = worlds._kernel.record(self.rollout)

    def run(self) -> "KernelRollout":
        """Do the steps; what comes of them is overwritten by the next run."""
        self._recording.run()
        return self.rollout

    def last(self) -> Step[torch.Tensor]:
        """Return what the last step gave back, live."""
        rollout = self.rollout
        return Step(
            rollout.observations[-1],
            rollout.reward[-1],
            rollout.terminated[-1],
            rollout.truncated[-1],
            {},
        )
