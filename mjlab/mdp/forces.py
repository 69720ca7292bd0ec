"""Forces on bodies from outside: lasting ones, and blows."""

from collections.abc import Mapping

import torch

from mjlab.managers.event import steps_of
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen
from mjlab.mdp.randomize.distributions import Choice, Range, Sampler, with_all_axes
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.masks import fill_where, write_where

Box = Mapping[str, Range]
"""Ranges by axis: "x", "y", "z". One that is left out is 0."""

_AXES = ("x", "y", "z")


class apply_external_force_torque(ManagerTermBase):
    """Pushes bodies with random forces and torques, until it happens again."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        selection = chosen(cfg.params, env)
        self._entity, self._ids = selection.entity, selection.body_ids
        self._shape = (env.num_envs, 2, len(selection.body_names), 3)
        targets = []
        for name in ("force_range", "torque_range"):
            choice = Choice(
                names=selection.body_names,
                num_axes=3,
                what="body",
                label=name,
                axis_names=_AXES,
            )
            targets += choice.resolve(with_all_axes(cfg.params[name], _AXES))
        self._sampler = Sampler(targets, type(self).__name__, env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        force_range: Range | Box,
        torque_range: Range | Box,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Draw forces and torques and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            force_range: Of each component of the force at the centre of mass, N: one
                range, or ranges by "x", "y", "z".
            torque_range: Of each component of the torque, N m, likewise.
            asset_cfg: The bodies.
            stream: Name of the random numbers; the event manager gives one.
        """
        self._push(mask, self._draw(stream))

    def _draw(self, stream: str) -> torch.Tensor:
        """Return forces, then torques, shape (num_envs, 2, bodies, 3)."""
        return self._sampler.draw(self._env.rng, stream).view(self._shape)

    def _push(self, mask: torch.Tensor, wrench: torch.Tensor) -> None:
        force, torque = wrench.unbind(dim=1)
        self._entity.write_external_wrench(mask, force, torque, self._ids)


class apply_body_impulse(apply_external_force_torque):
    """Pushes bodies for a short time, again and again; for `mode="step"`."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        step_dt, device = env.step_dt, env.device
        # In the order of `_pushing`: without a push, then with one.
        steps = []
        for name in ("cooldown_s", "duration_s"):
            low, high = cfg.params[name]
            if not 0.0 <= low <= high:
                raise ValueError(
                    f"{name}={(low, high)} has to be ascending and not negative."
                )
            steps.append(steps_of((low, high), step_dt))
        self._lows = torch.tensor([low for low, _ in steps], device=device)
        self._choices = torch.tensor(
            [high - low + 1.0 for low, high in steps], device=device
        )
        # Shape (num_envs,): whether bodies are being pushed, and for how many steps
        # more they are, or are not.
        self._pushing = torch.zeros(env.num_envs, dtype=torch.bool, device=device)
        self._steps_left = torch.zeros(env.num_envs, dtype=torch.int64, device=device)
        self._stream = cfg.params.get("stream", "event")
        self.reset(torch.ones(env.num_envs, dtype=torch.bool, device=device))

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        force_range: Range | Box,
        torque_range: Range | Box,
        duration_s: Range,
        cooldown_s: Range,
        asset_cfg: SceneEntityCfg = ROBOT,
        stream: str = "event",
    ) -> None:
        """Let a step pass; begin and end pushes that are due.

        Args:
            env: The environment.
            mask: The worlds in which the step passes, shape (num_envs,), bool.
            force_range: Of each component of the force at the centre of mass, N: one
                range, or ranges by "x", "y", "z".
            torque_range: Of each component of the torque, N m, likewise.
            duration_s: How long a push lasts, s, rounded to whole steps.
            cooldown_s: How long it is between pushes, s, rounded to whole steps.
            asset_cfg: The bodies; each has a force of its own.
            stream: Name of the random numbers; the event manager gives one.
        """
        self._steps_left.sub_(mask.long())
        due = (self._steps_left <= 0).logical_and_(mask)
        self._pushing.logical_xor_(due)
        write_where(self._steps_left, due, self._draw_steps(f"{stream}/time"))
        self._push(due, self._draw(stream).mul_(self._pushing.view(-1, 1, 1, 1)))

    def reset(self, mask: torch.Tensor) -> None:
        """Begin the worlds of `mask` without a push, which resets clear anyway."""
        fill_where(self._pushing, mask, False)
        write_where(self._steps_left, mask, self._draw_steps(f"{self._stream}/reset"))

    def state(self) -> dict[str, torch.Tensor]:
        """Return which worlds are pushed, and for how long."""
        return {"pushing": self._pushing, "steps_left": self._steps_left}

    def _draw_steps(self, stream: str) -> torch.Tensor:
        """Return how long what `_pushing` says lasts, in steps, shape (num_envs,)."""
        phase = self._pushing.long()
        unit = self._env.rng.draw(stream, ())
        return unit.mul_(self._choices[phase]).long().add_(self._lows[phase])
