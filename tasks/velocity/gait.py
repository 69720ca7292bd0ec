"""Stepping gait: a clock, joint targets that follow it, and rewards for its contacts.

The reference gait is a function of clock and command, and can also depend on the
measured base velocity (`JointGait.measured`). Joint targets are the sum of reference
and action. At zero command, the reference is the default pose.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import torch

from mjlab.envs import mdp
from mjlab.managers import ActionTerm, ManagerTermBase
from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg
from mjlab.mdp.lookup import ROBOT, contact_sensor
from mjlab.names import resolve_values
from mjlab.scene import Selection
from mjlab.tasks.robots.legged import Foot
from mjlab.tasks.velocity.commands import moving

ROLES = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
"""Roles of the joints that a gait moves, in the order of its offsets."""

_SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Gait clock of two legs, or two pairs of legs, half a period apart."""

    period: float = 0.8
    """Duration of a stride, s: one step of each leg."""

    duty: float = 0.6
    """Fraction of the period in which a foot is on the ground."""

    push_speed: float = math.inf
    """Horizontal base speed above which the clock also runs at zero command, m/s: a
    standing robot that is pushed takes steps."""

    def phases(self, seconds: torch.Tensor) -> torch.Tensor:
        """Return the phases of the left and the right leg, 0 to 1.

        A leg is in stance from 0 to `duty`, and in swing from there to 1.

        Args:
            seconds: Time since the episode began, shape (num_envs,).

        Returns:
            Shape (num_envs, 2).
        """
        turns = seconds / self.period
        left = turns - turns.floor()
        return torch.stack((left, (left + 0.5).remainder(1.0)), dim=1)


@dataclass(frozen=True, kw_only=True)
class JointGait(Clock):
    """Clock with joint motions, to which actions can be added."""

    columns: ClassVar[int]
    """Number of columns of `offsets`."""

    lead: float = 0.0
    """Time by which joint targets precede the clock, s. It compensates for the lag of
    the motors."""

    aside: float = 1.0
    """Sideways step length of the reference, as a fraction of the commanded one. The
    policy has to add the rest."""

    measured: float = 0.0
    """Weight of the measured base velocity in the step length; the command has the
    remaining weight. The step length then changes less abruptly than the command."""

    room: float = math.inf
    """Maximum decrease of a biped's step width during sideways steps, m. If the step
    length requires more, both feet are placed further out."""

    narrower: float = 0.0
    """Decrease of a biped's step width relative to the stance, m. In sideways steps it
    is smaller, so that the total decrease is at most `room`."""

    def driven(self) -> list[tuple[int, str, float]]:
        """Return the motions of joints: column of `offsets`, joint and factor of each.

        The motions of a joint are added.
        """
        raise NotImplementedError

    def loaded(self) -> list[tuple[int, str, float]]:
        """Return motions of the joint targets only, which compensate for loads."""
        return []

    def offsets(self, phases: torch.Tensor, command: torch.Tensor) -> torch.Tensor:
        """Return the offsets from the default joint positions, before their factors.

        Args:
            phases: Phases of the legs, shape (num_envs, 2).
            command: Forward and left velocity, m/s, and yaw rate, rad/s, shape
                (num_envs, 3).

        Returns:
            Shape (num_envs, columns).
        """
        raise NotImplementedError

    def lift(self, phases: torch.Tensor) -> torch.Tensor:
        """Return how far feet are lifted: 0 in stance, 1 in the middle of a swing.

        The shape is that of `phases`.
        """
        return (math.pi * self._swing(phases)).sin().square()

    def steps(self, phases: torch.Tensor, command: torch.Tensor) -> torch.Tensor:
        """Return how far a command moves feet from their default place.

        A foot moves from 0.5 to -0.5 of a step during stance, and back during swing.
        Swing begins and ends at the speed of stance: feet land without slipping.

        Args:
            phases: Phases of the legs, shape (num_envs, 2).
            command: Forward and left velocity, m/s, and yaw rate, rad/s, shape
                (num_envs, 3).

        Returns:
            Ahead and left, m, and counterclockwise, rad, shape (3, num_envs, 2).
        """
        swing = self._swing(phases)
        stood = (phases / self.duty).clamp(max=1.0)
        slope = 1.0 / self.duty - 1.0
        back = swing.square() * (3.0 - 2.0 * swing)
        back = back - slope * swing * (1.0 - swing) * (1.0 - 2.0 * swing)
        place = 0.5 - stood + back
        stride = self.period * self.duty * command.T.unsqueeze(2)
        ahead, left, turn = place.unsqueeze(0) * stride
        approach = 0.5 * self.period * self.aside * command[:, 1].abs()
        wider = 0.5 * (approach - self.room).clamp(min=-self.narrower)
        left = self.aside * left + torch.stack((wider, -wider), dim=1)
        return torch.stack((ahead, left, turn))

    def _swing(self, phases: torch.Tensor) -> torch.Tensor:
        """Return the progress of the swing, 0 to 1; it is 0 in stance."""
        return ((phases - self.duty) / (1.0 - self.duty)).clamp(0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class LegGait(JointGait):
    """Gait of any number of legs in two groups, half a period apart."""

    columns = 10

    feet: tuple[Foot, ...]
    """The feet, with the motions of their joints."""

    def driven(self) -> list[tuple[int, str, float]]:
        return self._factors(range(4))

    def loaded(self) -> list[tuple[int, str, float]]:
        return self._factors((4,))

    def _factors(self, kinds: Iterable[int]) -> list[tuple[int, str, float]]:
        return [
            (2 * kind + foot.clock, joint, factors[kind])
            for foot in self.feet
            for joint, factors in foot.moves.items()
            for kind in kinds
            if kind < len(factors)
        ]

    def offsets(self, phases: torch.Tensor, command: torch.Tensor) -> torch.Tensor:
        """Return the offsets before their factors.

        The columns are lift, steps ahead and left, turn, and load, each of the first
        and of the second group of legs: shape (num_envs, 10). After touchdown the load
        of a leg rises from 0 to 1 while both groups are in stance; before lift-off it
        returns to 0.
        """
        ahead, left, turn = self.steps(phases, command)
        since_touchdown, to_liftoff = phases, self.duty - phases
        overlap = max(self.duty - 0.5, 0.01)
        load = torch.minimum(since_touchdown, to_liftoff).div(overlap).clamp(0.0, 1.0)
        return torch.cat((self.lift(phases), ahead, left, turn, load), dim=1)


@dataclass(frozen=True, kw_only=True)
class Gait(JointGait):
    """Parameters of a gait of two legs, half a period apart."""

    columns = 12

    knee: float = 0.6
    """Maximum knee flexion in the middle of a swing, rad."""

    hip: float = 0.3
    """Maximum hip flexion in the middle of a swing, rad; the ankle keeps the foot
    level."""

    sway: float = 0.06
    """Maximum hip roll that moves the pelvis over the stance leg, rad."""

    pitch_per_m: float = 1.0 / 0.57
    """Amplitude of hip pitch per metre of forward step length, rad/m."""

    roll_per_m: float = 0.5 / 0.65
    """Amplitude of hip roll per metre of sideways step length, rad/m."""

    def driven(self) -> list[tuple[int, str, float]]:
        joints = [f"{side}_{role}_joint" for role in ROLES for side in _SIDES]
        return [(column, joint, 1.0) for column, joint in enumerate(joints)]

    def offsets(self, phases: torch.Tensor, command: torch.Tensor) -> torch.Tensor:
        """Return the gait's offsets from the default positions, rad.

        The columns are hip pitch, roll and yaw, knee, ankle pitch and roll, each of the
        left and of the right leg: shape (num_envs, 12).
        """
        lift, step = self.lift(phases), self.steps(phases, command)
        ahead, aside = self.pitch_per_m * step[0], self.roll_per_m * step[1]
        roll = aside - self.sway * self._over_left(phases)
        joints = (
            -self.hip * lift - ahead,
            roll,
            step[2],
            self.knee * lift,
            (self.hip - self.knee) * lift + ahead,
            -roll,
        )
        return torch.cat(joints, dim=1)

    def _over_left(self, phases: torch.Tensor) -> torch.Tensor:
        """Return 1 where the base is over the left leg, -1 over the right leg.

        The base is there in the middle of the stance; shape (num_envs, 1).
        """
        middle = phases[:, :1] - 0.5 * self.duty
        return (2.0 * math.pi * middle).cos()


class _Legs:
    """Adds the offsets of a gait to the columns of its joints."""

    def __init__(
        self,
        gait: JointGait,
        names: Sequence[str],
        device: torch.device,
        *,
        loaded: bool = False,
    ) -> None:
        self._factors = torch.zeros(gait.columns, len(names), device=device)
        motions = gait.driven() + (gait.loaded() if loaded else [])
        for column, joint, factor in motions:
            self._factors[column, names.index(joint)] += factor

    def add(
        self, values: torch.Tensor, offsets: torch.Tensor, factor: float = 1.0
    ) -> torch.Tensor:
        """Add a factor times the gait's offsets to values, (num_envs, joints)."""
        return values + factor * (offsets @ self._factors)


def seconds(env: ManagedEnv) -> torch.Tensor:
    """Return the time since the episodes began, s, shape (num_envs,)."""
    return env.episode_length_buf.float() * env.step_dt


def runs(env: ManagedEnv, clock: Clock, command_name: str) -> torch.Tensor:
    """Return 1 where the clock runs, otherwise 0, shape (num_envs,)."""
    commanded = moving(env, command_name)
    if math.isinf(clock.push_speed):
        return commanded
    velocity = env.scene.entity("robot").data.root_lin_vel_b[:, :2]
    pushed = velocity.square().sum(dim=1) > clock.push_speed**2
    return torch.maximum(commanded, pushed.float())


def _offsets(
    env: ManagedEnv, gait: JointGait, command_name: str, lead: float = 0.0
) -> torch.Tensor:
    """Return the gait's offsets, (num_envs, columns); 0 where the clock is stopped."""
    command = env.command_manager.get_command(command_name)
    if gait.measured:
        velocity = env.scene.entity("robot").data.root_lin_vel_b[:, :2]
        planar = command[:, :2].lerp(velocity, gait.measured)
        command = torch.cat((planar, command[:, 2:]), dim=1)
    offsets = gait.offsets(gait.phases(seconds(env) + lead), command)
    return offsets * runs(env, gait, command_name).unsqueeze(1)


def _clock(gait: Clock, seconds: torch.Tensor) -> torch.Tensor:
    turn = 2.0 * math.pi * gait.phases(seconds)[:, 0]
    return torch.stack((turn.sin(), turn.cos()), dim=1)


# Actions and observations.


class GaitActionCfg(mdp.JointPositionActionCfg):
    """Configuration of `GaitAction`: joint position targets relative to a gait."""

    gait: JointGait = Gait()
    """Gait of the legs; the action must include all of their joints."""

    command_name: str = "twist"
    """Name of the velocity command that the gait follows."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        return GaitAction(name, self, env)


class GaitAction(mdp.JointPositionAction):
    """Sets position targets to the joint positions of a gait plus the action."""

    cfg: GaitActionCfg

    def __init__(self, name: str, cfg: GaitActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._gait, self._command_name = cfg.gait, cfg.command_name
        # Commands are created before actions.
        self._commanded = cast(ManagedEnv, env)
        self._legs = _Legs(cfg.gait, self.target_names, env.device, loaded=True)

    def summand(self) -> torch.Tensor:
        """Return the offset that is added to the scaled action, (num_envs, action_dim).

        It is the joint position of the gait, in rad or m.
        """
        gait = self._gait
        offsets = _offsets(self._commanded, gait, self._command_name, gait.lead)
        still = super().summand().expand(self.num_envs, -1)
        return self._legs.add(still, offsets)


def gait_clock(env: ManagedEnv, command_name: str, gait: Clock) -> torch.Tensor:
    """Return sine and cosine of the left leg's phase, 0 where the clock is stopped."""
    return _clock(gait, seconds(env)) * runs(env, gait, command_name).unsqueeze(1)


# Rewards.


class gait_posture(ManagerTermBase):
    """Reward for joint positions near the pose of the gait, 0 to 1.

    The reward is exp(-mean((deviation / width)²)). The widths differ between standing
    and walking.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        names = cfg.params.get("asset_cfg", ROBOT).resolve(env.scene).joint_names
        widths = [
            resolve_values(cfg.params[key], names, what="joint", required=True)
            for key in ("std_standing", "std_walking")
        ]
        std = torch.tensor(widths, dtype=torch.float32, device=env.device)
        # Includes the sign, and the division by the number of joints.
        self._factors = -1.0 / (std.square() * len(names))
        self._legs = _Legs(cfg.params["gait"], names, env.device)

    def __call__(
        self,
        env: ManagedEnv,
        gait: JointGait,
        command_name: str,
        std_standing: Mapping[str, float],
        std_walking: Mapping[str, float],
        asset_cfg: Selection = ROBOT,
    ) -> torch.Tensor:
        """Return the reward; the widths were read at construction."""
        data = asset_cfg.entity.data
        error = (data.joint_pos - data.default_joint_pos)[:, asset_cfg.joint_ids]
        offsets = _offsets(env, gait, command_name)
        error = self._legs.add(error, offsets, -1.0)
        kind = runs(env, gait, command_name).long()
        scaled = error.square() * self._factors.index_select(0, kind)
        return torch.exp(scaled.sum(dim=1))


def gait_contact(
    env: ManagedEnv,
    gait: Clock,
    sensor_name: str,
    command_name: str,
    legs: tuple[int, ...] = (0, 1),
) -> torch.Tensor:
    """Return the fraction of feet whose contact state matches the clock.

    Where the clock is stopped, return 1 if all feet are in contact, otherwise 0: a
    fraction would reward a robot that stands on three of four legs.

    Args:
        env: The environment.
        gait: The gait.
        sensor_name: Contact sensor of the feet.
        command_name: Velocity command.
        legs: For each foot of the sensor, 0 if it steps with the left leg of the clock
            and 1 if with the right.
    """
    down = contact_sensor(env, sensor_name).is_in_contact()
    stands = (gait.phases(seconds(env)) < gait.duty).unbind(dim=1)
    should = torch.stack([stands[leg] for leg in legs], dim=1)
    matching = (down == should).float().mean(dim=1)
    stepping = runs(env, gait, command_name) > 0.0
    return torch.where(stepping, matching, down.all(dim=1).float())
