"""A stepping gait: a clock, joint targets that follow it, and rewards for keeping it.

The gait looks at the clock and at the command, never at the robot: balance is what a
policy adds. Where the command asks to stand, there is no gait.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch

from mjlab.envs import mdp
from mjlab.managers import ActionTerm, ManagerTermBase
from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg
from mjlab.mdp.lookup import ROBOT, contact_sensor
from mjlab.names import resolve_values
from mjlab.scene import Selection
from mjlab.tasks.velocity.commands import moving

_JOINTS = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Times of a gait of two legs, or two pairs of legs, half a period apart."""

    period: float = 0.8
    """Duration of a stride, s: one step of each leg."""

    duty: float = 0.6
    """Share of the period in which a foot is on the ground."""

    def phases(self, seconds: torch.Tensor) -> torch.Tensor:
        """Return where the left and the right leg are in their periods, 0 to 1.

        A leg stands from 0 to `duty`, and swings from there to 1.

        Args:
            seconds: Time since the episode began, shape (num_envs,).

        Returns:
            Shape (num_envs, 2).
        """
        turns = seconds / self.period
        left = turns - turns.floor()
        return torch.stack((left, (left + 0.5).remainder(1.0)), dim=1)


@dataclass(frozen=True, kw_only=True)
class Gait(Clock):
    """The numbers of a gait of two legs, half a period apart."""

    knee: float = 0.6
    """Most that a knee bends in the middle of a swing, rad."""

    hip: float = 0.3
    """Most that a hip lifts its leg then, rad; the ankle keeps the foot level."""

    sway: float = 0.06
    """Most that the hips roll the pelvis over the leg that stands, rad."""

    pitch_per_m: float = 1.0 / 0.57
    """Swing of a hip's pitch for a step of 1 m ahead, rad/m."""

    roll_per_m: float = 0.5 / 0.65
    """Swing of a hip's roll for a step of 1 m to the side, rad/m."""

    def offsets(self, phases: torch.Tensor, command: torch.Tensor) -> torch.Tensor:
        """Return what the gait adds to the default positions, rad.

        Args:
            phases: Those of the legs, shape (num_envs, 2).
            command: Velocity ahead and to the left, m/s, and yaw rate, rad/s, shape
                (num_envs, 3).

        Returns:
            Hip pitch, roll and yaw, knee, ankle pitch and roll, each of the left and of
            the right leg: shape (num_envs, 12).
        """
        swing = ((phases - self.duty) / (1.0 - self.duty)).clamp(0.0, 1.0)
        lift = (math.pi * swing).sin().square()
        # A foot goes back from 0.5 to -0.5 of a step while it stands, and then ahead.
        stood = (phases / self.duty).clamp(max=1.0)
        place = 0.5 - stood + swing.square() * (3.0 - 2.0 * swing)
        step = self.period * self.duty * place.unsqueeze(0) * command.T.unsqueeze(2)
        ahead, aside = self.pitch_per_m * step[0], self.roll_per_m * step[1]
        # Over the left leg when that is half way through its stance.
        middle = phases[:, :1] - 0.5 * self.duty
        roll = aside - self.sway * (2.0 * math.pi * middle).cos()
        joints = (
            -self.hip * lift - ahead,
            roll,
            step[2],
            self.knee * lift,
            (self.hip - self.knee) * lift + ahead,
            -roll,
        )
        return torch.cat(joints, dim=1)


def _seconds(env: ManagedEnv) -> torch.Tensor:
    return env.episode_length_buf.float() * env.step_dt


def _offsets(env: ManagedEnv, gait: Gait, command_name: str) -> torch.Tensor:
    """Return the gait's offsets, shape (num_envs, 12); 0 where it is told to stand."""
    command = env.command_manager.get_command(command_name)
    offsets = gait.offsets(gait.phases(_seconds(env)), command)
    return offsets * moving(env, command_name).unsqueeze(1)


def _columns(names: Sequence[str], device: torch.device) -> torch.Tensor:
    """Return where the joints of the offsets are among `names`."""
    wanted = [f"{side}_{joint}_joint" for joint in _JOINTS for side in _SIDES]
    return torch.tensor([names.index(name) for name in wanted], device=device)


def _clock(gait: Clock, seconds: torch.Tensor) -> torch.Tensor:
    turn = 2.0 * math.pi * gait.phases(seconds)[:, 0]
    return torch.stack((turn.sin(), turn.cos()), dim=1)


# What the policy does, and sees.


class GaitActionCfg(mdp.JointPositionActionCfg):
    """Positions of joints about those of a gait."""

    gait: Gait = Gait()
    """The gait of the legs, all of whose joints are among those acted on."""

    command_name: str = "twist"
    """Command of velocity that the gait follows."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return GaitAction(name, self, env)


class GaitAction(mdp.JointPositionAction):
    """Sets position targets to a gait's, plus what the action adds."""

    cfg: GaitActionCfg

    def __init__(self, name: str, cfg: GaitActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._gait, self._command_name = cfg.gait, cfg.command_name
        # Commands are bound before actions.
        self._commanded = cast(ManagedEnv, env)
        self._legs = _columns(self.target_names, env.device)

    def summand(self) -> torch.Tensor:
        """Return what is added to the scaled action, shape (num_envs, action_dim)."""
        offsets = _offsets(self._commanded, self._gait, self._command_name)
        still = super().summand().expand(self.num_envs, -1)
        return still.index_add(1, self._legs, offsets)


def gait_clock(env: ManagedEnv, command_name: str, gait: Clock) -> torch.Tensor:
    """Return sine and cosine of the left leg's phase, 0 where it is told to stand."""
    return _clock(gait, _seconds(env)) * moving(env, command_name).unsqueeze(1)


# What it is rewarded for.


class gait_posture(ManagerTermBase):
    """Closeness of joints to the pose of the gait, 0 to 1.

    exp of the negative mean square of their deviations over a width, which is another
    one where the robot is told to stand.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        names = cfg.params.get("asset_cfg", ROBOT).resolve(env.scene).joint_names
        widths = [
            resolve_values(cfg.params[key], names, what="joint", required=True)
            for key in ("std_standing", "std_walking")
        ]
        std = torch.tensor(widths, dtype=torch.float32, device=env.device)
        # The mean's division and the sign are in it.
        self._factors = -1.0 / (std.square() * len(names))
        self._legs = _columns(names, env.device)

    def __call__(
        self,
        env: ManagedEnv,
        gait: Gait,
        command_name: str,
        std_standing: Mapping[str, float],
        std_walking: Mapping[str, float],
        asset_cfg: Selection = ROBOT,
    ) -> torch.Tensor:
        """Return the reward; the widths were read when it was built."""
        data = asset_cfg.entity.data
        error = (data.joint_pos - data.default_joint_pos)[:, asset_cfg.joint_ids]
        offsets = _offsets(env, gait, command_name)
        error = error.index_add(1, self._legs, offsets, alpha=-1.0)
        kind = moving(env, command_name).long()
        return (error.square() * self._factors.index_select(0, kind)).sum(dim=1).exp_()


def gait_contact(
    env: ManagedEnv,
    gait: Clock,
    sensor_name: str,
    command_name: str,
    legs: tuple[int, ...] = (0, 1),
    free_standing: bool = False,
) -> torch.Tensor:
    """Return the share of feet that stand when they should, and swing when they should.

    Args:
        env: The environment.
        gait: The gait.
        sensor_name: Contact sensor of the feet.
        command_name: Velocity command; where it asks to stand, all feet should stand.
        legs: For each foot of the sensor, 0 if it steps with the left leg of the clock
            and 1 if with the right.
        free_standing: Return 1 at zero command, whatever the feet do, so a step that
            answers a push costs nothing.
    """
    down = contact_sensor(env, sensor_name).is_in_contact()
    stands = (gait.phases(_seconds(env)) < gait.duty).unbind(dim=1)
    should = torch.stack([stands[leg] for leg in legs], dim=1)
    standing = (moving(env, command_name) == 0.0).unsqueeze(1)
    kept = down == (should | standing)
    return (kept | standing if free_standing else kept).float().mean(dim=1)
