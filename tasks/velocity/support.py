"""Assistive wrench that keeps a robot upright, and decreases as the policy learns."""

from typing import NamedTuple

import torch

from mjlab.entity import Entity
from mjlab.managers import ManagerTermBase
from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError


class Hand(NamedTuple):
    """Gains of the assistive wrench at full strength."""

    spring: float
    """Stiffness towards the point above the feet, N/m; the error is limited to 0.3
    m."""

    damper: float
    """Damping towards the commanded velocity, N s/m."""

    tilt: float
    """Torque on pelvis and torso towards upright, N m for a horizontal body."""

    tilt_damper: float
    """Damping of the roll and pitch rates, N m s/rad."""

    lift: float
    """Upward stiffness of a low pelvis, N/m; the error is limited to 0.3 m."""

    height: float
    """Height of the pelvis above the lower foot below which the upward force acts,
    m."""

    def force(
        self,
        position: torch.Tensor,
        velocity: torch.Tensor,
        feet: torch.Tensor,
        wanted: torch.Tensor,
    ) -> torch.Tensor:
        """Return the force on the pelvis in world axes, N, shape (num_envs, 3).

        Args:
            position: Position of the pelvis, m, shape (num_envs, 3).
            velocity: Velocity of the pelvis, m/s, shape (num_envs, 3).
            feet: Positions of the feet, m, shape (num_envs, feet, 3).
            wanted: Commanded velocity, m/s, shape (num_envs, 2).
        """
        off = (position[:, :2] - feet[..., :2].mean(dim=1)).clamp(-0.3, 0.3)
        plane = self.damper * (wanted - velocity[:, :2]) - self.spring * off
        height = position[:, 2:] - feet[..., 2].amin(dim=1, keepdim=True)
        low = (self.height - height).clamp(0.0, 0.3)
        return torch.cat((plane, self.lift * low), dim=1)

    def torque(self, quaternion: torch.Tensor, rate: torch.Tensor) -> torch.Tensor:
        """Return torques that turn bodies upright, N m, shape (num_envs, n, 3).

        A spring on the tilt and a damper on the roll and pitch rates, in world axes.

        Args:
            quaternion: Orientations (w, x, y, z), shape (num_envs, n, 4).
            rate: Angular velocities in world axes, rad/s, shape (num_envs, n, 3).
        """
        w, x, y, z = quaternion.unbind(dim=2)
        # Cross product of the body's vertical axis with the world's.
        up_x, up_y = 2.0 * (x * z + w * y), 2.0 * (y * z - w * x)
        turn = self.tilt * torch.stack((up_y, -up_x), dim=2)
        turn = turn - self.tilt_damper * rate[:, :, :2]
        return torch.nn.functional.pad(turn, (0, 1))


class supporting_hand(ManagerTermBase):
    """Event term: wrench that keeps the pelvis over the feet and the trunk upright.

    Each world has a level, which is a fraction of the full strength. The level starts
    at a random value between 0 and 1, decreases in every step and increases at a fall,
    so that each world stays at the limit of the policy's ability. Use with
    `mode="step"`.
    """

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        params = cfg.params
        self._robot: Entity = env.scene.entity("robot")
        names = list(self._robot.body_names)
        # One body for a robot whose pelvis is its torso.
        bodies = dict.fromkeys((params["pelvis"], params["torso"]))
        held = [names.index(body) for body in bodies]
        feet = [names.index(name) for name in params["feet"]]
        self._bodies = torch.tensor(held, device=env.device)
        self._feet = torch.tensor(feet, device=env.device)
        self.level = env.rng.draw("supporting_hand", (1,))
        """Fraction of the full strength in each world, shape (num_envs, 1), live."""

    def state(self) -> dict[str, torch.Tensor]:
        return {"level": self.level}

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        pelvis: str,
        torso: str,
        feet: tuple[str, ...],
        command_name: str,
        hand: dict[str, float],
        last_steps: float,
        steps_per_fall: float,
    ) -> None:
        """Update the levels, and apply the wrench of the next step.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            pelvis: Body that is kept over the feet, and upright.
            torso: Body above the pelvis that is kept upright.
            feet: Bodies of the feet.
            command_name: Velocity command; the assistance moves with it.
            hand: Gains at level 1, by the fields of `Hand`.
            last_steps: Steps without a fall in which the level decreases from 1 to 0.
            steps_per_fall: Number of steps of decrease that a fall reverses.
        """
        fell = env.termination_manager.terminated.unsqueeze(1)
        self.level.sub_(1.0 / last_steps)
        self.level.add_(fell, alpha=steps_per_fall / last_steps)
        self.level.clamp_(0.0, 1.0)
        self._push(mask, Hand(**hand), env.command_manager.get_command(command_name))

    def _push(self, mask: torch.Tensor, hand: Hand, command: torch.Tensor) -> None:
        data = self._robot.data
        cos, sin = data.heading_w.cos(), data.heading_w.sin()
        ahead, left = command[:, 0], command[:, 1]
        wanted = torch.stack((cos * ahead - sin * left, sin * ahead + cos * left), 1)
        feet = data.body_pos_w[:, self._feet]
        pull = hand.force(data.root_pos_w, data.root_lin_vel_w, feet, wanted)
        torque = hand.torque(
            data.body_quat_w[:, self._bodies], data.body_ang_vel_w[:, self._bodies]
        )
        force = torch.zeros_like(torque)
        force[:, 0] = pull
        share = self.level.unsqueeze(2)
        self._write(mask, force * share, torque * share)

    def _write(
        self, mask: torch.Tensor, force: torch.Tensor, torque: torch.Tensor
    ) -> None:
        self._robot.write_external_wrench(mask, force, torque, self._bodies)


class support_level(ManagerTermBase):
    """Fraction of the full assistance in each world, 0 to 1, shape (num_envs, 1).

    It is 0 if the environment does not have the event, as in play.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        name = cfg.params["event"]
        bound = env.event_manager.terms.get(name)
        hand = None if bound is None else bound.instance
        self._level = torch.zeros(env.num_envs, 1, device=env.device)
        if hand is not None:
            if not isinstance(hand, supporting_hand):
                raise TermError(
                    f"event={name!r} is not an event whose func is `supporting_hand`."
                )
            self._level = hand.level

    def __call__(self, env: ManagedEnv, event: str) -> torch.Tensor:
        """Return the level of each world.

        Args:
            env: The environment.
            event: Name of the event of the assistance.
        """
        return self._level
