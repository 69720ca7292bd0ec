"""Classic cartpole as tensor operations."""

import torch

from mjlab.tasks.cartpole.classic.equations import (
    COS,
    GRAVITY,
    INERTIA,
    INERTIA_COS,
    MAX_ANGLE,
    MAX_POSITION,
    POLE_SHARE,
    PUSH,
    SIN,
    SPREAD,
    STREAM,
    TAU,
    ClassicCartpoleCfg,
)
from mjlab.tasks.cartpole.classic.worlds import ClassicWorlds


class TensorCartpoles(ClassicWorlds):
    """Classic cartpoles, stepped by about sixty torch operations on any device.

    No operation branches on data, so a CUDA graph can capture a step.
    """

    def __init__(
        self, cfg: ClassicCartpoleCfg, device: torch.device | str = "cpu"
    ) -> None:
        """Allocate, and start the first episodes."""
        super().__init__(cfg, device)
        self._right = torch.tensor(PUSH, device=self.device)
        self._left = torch.tensor(-PUSH, device=self.device)
        # One contiguous row per state variable, for faster access than columns of the
        # state.
        self._rows = torch.zeros(4, cfg.num_envs, device=self.device)
        self.reset()

    def _reset(self, mask: torch.Tensor) -> None:
        memory = self.memory
        self.rng.advance(mask)
        starts = self.rng.uniform(-SPREAD, SPREAD, 4, STREAM)
        torch.where(mask[:, None], starts, memory.state, out=memory.state)
        memory.steps.masked_fill_(mask, 0)
        memory.terminated.masked_fill_(mask, False)
        memory.truncated.masked_fill_(mask, False)

    def _step(self, actions: torch.Tensor) -> None:
        memory, cfg = self.memory, self.cfg
        push = torch.where(actions == 1, self._right, self._left)
        self._rows.copy_(memory.state.t())
        rows = moved(self._rows, push, semi_implicit=cfg.integrator != "euler")
        if not cfg.autoreset:
            self._settle(rows)
            return
        memory.steps.add_(1)
        torch.logical_or(
            rows[0].abs() > MAX_POSITION,
            rows[2].abs() > MAX_ANGLE,
            out=memory.terminated,
        )
        torch.ge(memory.steps, cfg.max_steps, out=memory.truncated)
        memory.reward.fill_(1.0).masked_fill_(memory.terminated, cfg.fall_reward)
        if cfg.final_observations:
            memory.final.copy_(rows.t())
        ended = memory.terminated | memory.truncated
        self.rng.advance(ended)
        starts = self.rng.uniform(-SPREAD, SPREAD, 4, STREAM)
        torch.where(ended[:, None], starts, rows.t(), out=memory.state)
        memory.steps.masked_fill_(ended, 0)

    def _settle(self, rows: torch.Tensor) -> None:
        """Store the new state, except in worlds that had already finished."""
        memory = self.memory
        over = memory.terminated | memory.truncated
        goes_on = ~over
        torch.where(over[:, None], memory.state, rows.t(), out=memory.state)
        memory.steps.add_(goes_on)
        fallen = (rows[0].abs() > MAX_POSITION) | (rows[2].abs() > MAX_ANGLE)
        falls = goes_on & fallen
        memory.terminated.logical_or_(falls)
        memory.truncated.logical_or_(goes_on & (memory.steps >= self.cfg.max_steps))
        memory.reward.copy_(goes_on).masked_fill_(falls, self.cfg.fall_reward)
        if self.cfg.final_observations:
            memory.final.copy_(memory.state)


def moved(
    rows: torch.Tensor, push: torch.Tensor, *, semi_implicit: bool
) -> torch.Tensor:
    """Return the state after one step, shape (4, num_envs).

    `step_kernel.py` uses the same operations in the same order.

    Args:
        rows: Position, velocity, angle and angular velocity, shape (4, num_envs).
        push: Force divided by the total mass, shape (num_envs,), m/s².
        semi_implicit: Whether to integrate positions with the new velocities.
    """
    position, velocity, angle, turning = rows
    square = angle * angle
    sin = (square * SIN[2]).add_(SIN[1]).mul_(square).add_(SIN[0]).mul_(square)
    sin.add_(1.0).mul_(angle)
    cos = (square * COS[3]).add_(COS[2]).mul_(square).add_(COS[1]).mul_(square)
    cos.add_(COS[0]).mul_(square).add_(1.0)
    thrust = (turning * turning).mul_(sin).mul_(POLE_SHARE).add_(push)
    inertia = (cos * cos).mul_(INERTIA_COS).add_(INERTIA)
    pole = sin.mul_(GRAVITY).sub_(cos * thrust).div_(inertia)
    cart = thrust.sub_(cos.mul_(pole).mul_(POLE_SHARE))
    new = torch.empty_like(rows)
    torch.add(velocity, cart.mul_(TAU), out=new[1])
    torch.add(turning, pole.mul_(TAU), out=new[3])
    if semi_implicit:
        velocity, turning = new[1], new[3]
    torch.add(position, velocity * TAU, out=new[0])
    torch.add(angle, turning * TAU, out=new[2])
    return new
