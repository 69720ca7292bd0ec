"""Punches: short forces on random bodies, with an adaptive level per world."""

from collections.abc import Mapping
from typing import NamedTuple

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.event import steps_of
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp.lookup import chosen
from mjlab.names import resolve_values
from mjlab.scene import SceneEntityCfg
from mjlab.tasks.velocity.support import supporting_hand
from mjlab.tensors.masks import fill_where, write_where
from mjlab.tensors.math import normalize, quat_rotate, quat_rotate_inverse

Range = tuple[float, float]


class Levels(NamedTuple):
    """Parameters of the punch level of a world, a fraction of the full force."""

    start: float
    """Level at the start of training."""

    rise: float
    """Increase after a punch, if the robot does not fall before the next punch."""

    fall: float
    """Decrease per fall."""

    least: float
    """Smallest level."""

    most: float
    """Largest level."""


class punch_bodies(ManagerTermBase):
    """Event term that punches one random body at a time, with a level per world.

    A punch is a force near the body's centre of mass. It is constant in the body's
    axes, so it turns with the body, as in the exam. Use the term with `mode="step"`. It
    writes the external wrench of all bodies of the entity.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params, device = cfg.params, env.device
        selection = chosen(params, env)
        self.entity = selection.entity
        """Entity that receives the punches."""
        names = selection.body_names
        often = resolve_values(params.get("often", {}), names, what="body")
        places = [
            self.entity.body_names.index(name)
            for name, times in zip(names, often, strict=True)
            for _ in range(int(times or 1))
        ]
        self._bodies = torch.tensor(places, device=device)
        self._levels = _checked(Levels(**params["levels"]))
        self._duration, longest = steps_of((params["duration_s"],) * 2, env.step_dt)
        assert longest == self._duration
        self._shortest, longest = steps_of(params["cooldown_s"], env.step_dt)
        self._choices = longest + 1 - self._shortest
        self._calm, self._episode = params.get("calm", 0.0), env.max_episode_length
        ints = {"dtype": torch.int64, "device": device}
        self._stream = params.get("stream", "event")
        self.level = torch.full((env.num_envs,), self._levels.start, device=device)
        """Fraction of the full force in each world, shape (num_envs,), live."""
        self.wrench = torch.zeros(env.num_envs, 6, device=device)
        """Force, N, and torque about the body's centre of mass, N m, in body axes,
        shape (num_envs, 6)."""
        self.body = torch.zeros(env.num_envs, **ints)
        """Index of the punched body among the entity's bodies, shape (num_envs,)."""
        self.steps_left = torch.zeros(env.num_envs, **ints)
        """Remaining steps of the current punch, or steps until the next punch, shape
        (num_envs,)."""
        self.is_punching = torch.zeros(env.num_envs, dtype=torch.bool, device=device)
        """Worlds with a punch in the next step, shape (num_envs,), bool."""
        self._was_punched = torch.zeros_like(self.is_punching)
        self.reset(torch.ones_like(self.is_punching))

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        force: float,
        share: Range,
        lever_m: float,
        duration_s: float,
        cooldown_s: Range,
        levels: dict[str, float],
        asset_cfg: SceneEntityCfg,
        calm: float = 0.0,
        often: Mapping[str, int] | None = None,
        stream: str = "event",
    ) -> None:
        """Update levels and timers in the worlds in `mask`, and write the wrenches.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            force: Full force, N.
            share: Range of a random factor. The force of a punch is `force` times this
                factor times the level.
            lever_m: Largest distance of the force from the centre of mass, along each
                axis of the body, m.
            duration_s: Duration of a punch, s, rounded to whole steps.
            cooldown_s: Time from the end of a punch to the next punch, s.
            levels: Parameters of the level, by the fields of `Levels`.
            asset_cfg: The bodies.
            calm: Fraction of episodes without punches.
            often: Relative frequencies of bodies by name pattern, 1 for other bodies.
            stream: Name of the random stream; the event manager sets one.
        """
        self.steps_left.sub_(mask.long())
        due = (self.steps_left <= 0) & mask
        begins = due & ~self.is_punching
        self._update_levels(env, mask, begins)
        self.is_punching.logical_xor_(due)
        cooldown = self._draw_cooldown(f"{stream}/time")
        steps = torch.where(self.is_punching, self._duration, cooldown)
        write_where(self.steps_left, due, steps)
        write_where(self.wrench, begins, self._draw_wrench(force, share, lever_m))
        body = env.rng.integers(0, len(self._bodies), (), f"{stream}/body")
        write_where(self.body, begins, self._bodies[body])
        self._apply(mask)

    def reset(self, mask: torch.Tensor) -> None:
        """Start the worlds in `mask` in cooldown. Levels do not change."""
        fill_where(self.is_punching, mask, False)
        fill_where(self._was_punched, mask, False)
        fill_where(self.wrench, mask, 0.0)
        is_calm = self._env.rng.draw(f"{self._stream}/calm", ()) < self._calm
        cooldown = self._draw_cooldown(f"{self._stream}/reset")
        cooldown.masked_fill_(is_calm, self._episode + 1)
        write_where(self.steps_left, mask, cooldown)

    def state(self) -> dict[str, torch.Tensor]:
        return {
            "level": self.level,
            "wrench": self.wrench,
            "body": self.body,
            "steps_left": self.steps_left,
            "is_punching": self.is_punching,
            "was_punched": self._was_punched,
        }

    def _update_levels(
        self, env: ManagedEnv, mask: torch.Tensor, begins: torch.Tensor
    ) -> None:
        rules = self._levels
        fell = env.termination_manager.terminated & mask
        stood = begins & self._was_punched & ~fell
        self.level.add_(stood, alpha=rules.rise).add_(fell, alpha=-rules.fall)
        self.level.clamp_(rules.least, rules.most)
        self._was_punched.logical_or_(begins)

    def wrench_w(self) -> torch.Tensor:
        """Return the last punch's force and torque in world axes, (num_envs, 6)."""
        place = self.body.view(-1, 1, 1).expand(-1, 1, 4)
        quat = self.entity.data.body_quat_w.gather(1, place)
        return quat_rotate(quat, self.wrench.view(-1, 2, 3)).flatten(1)

    def _draw_cooldown(self, stream: str) -> torch.Tensor:
        unit = self._env.rng.draw(stream, ())
        return (unit * self._choices).long().add_(self._shortest)

    def _draw_wrench(self, force: float, share: Range, lever_m: float) -> torch.Tensor:
        rng, stream = self._env.rng, self._stream
        direction = normalize(rng.normal(0.0, 1.0, (3,), f"{stream}/direction"))
        factor = rng.uniform(*share, (), f"{stream}/size") * self.level
        lever = rng.uniform(-lever_m, lever_m, (3,), f"{stream}/lever")
        push = direction * (force * factor).unsqueeze(1)
        return torch.cat((push, torch.linalg.cross(lever, push)), dim=1)

    def _apply(self, mask: torch.Tensor) -> None:
        """Write the wrenches of all bodies; zero for bodies without a punch."""
        entity = self.entity
        wrench = self.wrench_w() * self.is_punching.unsqueeze(1)
        each = wrench.new_zeros(len(wrench), entity.num_bodies, 6)
        each.scatter_(1, self.body.view(-1, 1, 1).expand(-1, 1, 6), wrench.unsqueeze(1))
        entity.write_external_wrench(mask, each[..., :3], each[..., 3:])


class supporting_hand_with_punches(supporting_hand):
    """Assistance whose wrench is added to the wrench of punches.

    Declare it after the event `punch_bodies`, which writes all wrenches in each step.
    """

    def _write(
        self, mask: torch.Tensor, force: torch.Tensor, torque: torch.Tensor
    ) -> None:
        self._robot.add_external_wrench(mask, force, torque, self._bodies)


def punches_of(env: ManagedEnv, event: str) -> punch_bodies | None:
    """Return the punch term of an event, or None if the event does not exist."""
    bound = env.event_manager.terms.get(event)
    if bound is None:
        return None
    if not isinstance(bound.instance, punch_bodies):
        raise TermError(
            f"event={event!r} is not an event whose func is `punch_bodies`."
        )
    return bound.instance


def punch_level(env: ManagedEnv, event: str) -> torch.Tensor:
    """Return the level of punches, a fraction of the full force, (num_envs,)."""
    punches = punches_of(env, event)
    if punches is None:
        raise TermError(f"There is no event {event!r} with `punch_bodies`.")
    return punches.level


class punch_state(ManagerTermBase):
    """Current punch (a short push of one body), for a critic, shape (num_envs, 9).

    Columns: force (/500 N) and torque about the root (/250 N m) in the root frame,
    fraction of the full force that this world receives, remaining time of the punch
    (/0.1 s), and time until the next punch (s, at most 3). All are 0 in play, where the
    task has no punches.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._punches = punches_of(env, cfg.params["event"])
        self._none = torch.zeros(env.num_envs, 9, device=env.device)

    def __call__(self, env: ManagedEnv, event: str) -> torch.Tensor:
        """Return the state.

        Args:
            env: The environment.
            event: Name of the event with `punch_bodies`.
        """
        punches = self._punches
        if punches is None:
            return self._none
        data = punches.entity.data
        active = punches.is_punching.unsqueeze(1)
        force, torque = (punches.wrench_w() * active).split(3, dim=1)
        place = punches.body.view(-1, 1, 1).expand(-1, 1, 3)
        centre = data.body_com_pos_w.gather(1, place).squeeze(1)
        torque = torque + torch.linalg.cross(centre - data.root_pos_w, force)
        left = punches.steps_left.unsqueeze(1) * env.step_dt
        return torch.cat(
            (
                quat_rotate_inverse(data.root_quat_w, force) / 500.0,
                quat_rotate_inverse(data.root_quat_w, torque) / 250.0,
                punches.level.unsqueeze(1),
                left * active / 0.1,
                (left * ~active).clamp(max=3.0),
            ),
            dim=1,
        )


def _checked(levels: Levels) -> Levels:
    if not 0.0 <= levels.least <= levels.start <= levels.most:
        raise TermError(
            f"levels={levels._asdict()}: it needs 0 <= least <= start <= most."
        )
    if min(levels.rise, levels.fall) < 0.0:
        raise TermError(
            f"levels={levels._asdict()}: rise and fall have to be 0 or more."
        )
    return levels
