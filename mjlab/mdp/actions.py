"""Actions on joints, tendons and sites: what a policy's numbers mean to actuators."""

from abc import ABC

import torch

from mjlab.managers.action import ActionTerm
from mjlab.managers.env import Env
from mjlab.mdp.driven import DrivenAction, DrivenActionCfg, Patterns

Range = tuple[float, float]


class AffineActionCfg(DrivenActionCfg):
    """An action that is scaled, offset and clipped: one number a target."""

    scale: float | dict[str, float] = 1.0
    """Factor of the action, or factors by pattern; 1 where no pattern covers a name."""

    offset: float | dict[str, float] = 0.0
    """Summand of the scaled action, or summands by pattern; 0 where none covers
    a name."""

    clip: Range | dict[str, Range] | None = None
    """Smallest and largest value after scale and offset, or ranges by pattern. None
    leaves the value as it is."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return AffineAction(name, self, env)


class AffineAction(DrivenAction):
    """Sets targets to the scaled and offset action."""

    def __init__(self, name: str, cfg: AffineActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.scale = self._values(cfg.scale, 1.0, "scale")
        """Factor of each number of the action, shape (action_dim,)."""
        self.offset = self._values(cfg.offset, 0.0, "offset")
        """Summand of each, shape (action_dim,)."""
        self.clip: tuple[torch.Tensor, torch.Tensor] | None = None
        """Smallest and largest values, each of shape (action_dim,)."""
        if cfg.clip is not None:
            self.clip = self._bounds(cfg.clip)

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets for the whole step."""
        self._scale_and_clip(actions, self.offset)
        self._columns.write_all(self._field, self.processed_action)

    def _scale_and_clip(self, actions: torch.Tensor, offset: torch.Tensor) -> None:
        processed = self.processed_action
        torch.addcmul(offset, actions, self.scale, out=processed)
        if self.clip is not None:
            torch.clamp(processed, *self.clip, out=processed)

    def _bounds(
        self, clip: Range | dict[str, Range]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        by_name = clip if isinstance(clip, dict) else {".*": clip}
        for pattern, (low, high) in by_name.items():
            if not low <= high:
                raise ValueError(f"clip of {pattern!r} is {(low, high)}: inverted.")
        lows = self._values({k: v[0] for k, v in by_name.items()}, -torch.inf, "clip")
        highs = self._values({k: v[1] for k, v in by_name.items()}, torch.inf, "clip")
        return lows, highs


# Joints.


class JointPositionActionCfg(AffineActionCfg):
    """Positions of joints, as their encoders tell them."""

    joint_names: Patterns = None
    """Hinge and slide joints. None takes all that an actuator drives by position."""

    use_default_offset: bool = True
    """Adds the default positions, so that an action of zero is the default
    pose. `offset` comes on top."""

    transmission = "joint"
    command = "position"

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return JointPositionAction(name, self, env)


class JointPositionAction(AffineAction):
    """Sets position targets.

    A policy sees positions with the bias of the encoders, so its targets have it too,
    and the joint is sent to the target less the bias.
    """

    def __init__(self, name: str, cfg: JointPositionActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._use_default = cfg.use_default_offset
        self._has_offset = bool((self.offset != 0.0).any())

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets for the whole step."""
        self._scale_and_clip(actions, self.summand())
        bias = self._columns.read(self.entity.data.encoder_bias)
        if self._columns.run is None:
            self._columns.write_all(self._field, self.processed_action - bias)
        else:
            place = self._columns.read(self._field)
            torch.sub(self.processed_action, bias, out=place)

    def summand(self) -> torch.Tensor:
        """Return what is added to the scaled action, (action_dim,) or one a world."""
        if not self._use_default:
            return self.offset
        # Default positions may be randomised while training, so they are read anew.
        default = self._columns.read(self.entity.data.default_joint_pos)
        return default + self.offset if self._has_offset else default


class RelativeJointPositionActionCfg(AffineActionCfg):
    """Positions of joints, relative to where they are."""

    joint_names: Patterns = None
    """Hinge and slide joints. None takes all that an actuator drives by position."""

    hold: bool = False
    """Keeps the target at the distance from where the joint was when the step
    began. Otherwise it moves along with the joint in each physics step, so that a
    constant action pulls all the time."""

    transmission = "joint"
    command = "position"

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return RelativeJointPositionAction(name, self, env)


class RelativeJointPositionAction(AffineAction):
    """Sets position targets at a distance from the present positions.

    The bias of an encoder is in the position and in the target, so it cancels.
    """

    def __init__(
        self, name: str, cfg: RelativeJointPositionActionCfg, env: Env
    ) -> None:
        super().__init__(name, cfg, env)
        self._hold = cfg.hold

    def process_actions(self, actions: torch.Tensor) -> None:
        """Take the distance of this step."""
        self._scale_and_clip(actions, self.offset)
        if self._hold:
            self._set_targets()

    def apply_actions(self) -> None:
        """Move the targets along with the joints."""
        if not self._hold:
            self._set_targets()

    def _set_targets(self) -> None:
        position = self._columns.read(self.entity.data.joint_pos)
        self._columns.write_all(self._field, position + self.processed_action)


class JointVelocityActionCfg(AffineActionCfg):
    """Velocities of joints, in rad/s or m/s."""

    joint_names: Patterns = None
    """Joints. None takes all that an actuator drives by velocity."""

    transmission = "joint"
    command = "velocity"


class JointEffortActionCfg(AffineActionCfg):
    """Efforts at joints, in the unit of their actuators' control."""

    joint_names: Patterns = None
    """Joints. None takes all that an actuator drives by effort."""

    transmission = "joint"
    command = "effort"


# Grippers.


class BinaryActionCfg(DrivenActionCfg, ABC):
    """One number that opens (zero or more) or closes (less) several joints."""

    joint_names: Patterns = None
    """Joints. None takes all that an actuator drives by this command."""

    open_command: float | dict[str, float]
    """Target of each joint when open, or targets by pattern, one for every joint."""

    close_command: float | dict[str, float]
    """Target of each joint when closed."""

    transmission = "joint"

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return BinaryAction(name, self, env)


class BinaryJointPositionActionCfg(BinaryActionCfg):
    """Opens or closes joints by their positions."""

    command = "position"


class BinaryJointVelocityActionCfg(BinaryActionCfg):
    """Opens or closes joints by their velocities."""

    command = "velocity"


class BinaryJointEffortActionCfg(BinaryActionCfg):
    """Opens or closes joints by their efforts."""

    command = "effort"


class BinaryAction(DrivenAction):
    """Sets targets to one of two values."""

    def __init__(self, name: str, cfg: BinaryActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._open = self._complete(cfg.open_command, "open_command")
        self._close = self._complete(cfg.close_command, "close_command")

    @property
    def action_dim(self) -> int:
        """One number."""
        return 1

    def process_actions(self, actions: torch.Tensor) -> None:
        """Open or close for the whole step."""
        processed = self.processed_action
        torch.where(actions < 0.0, self._close, self._open, out=processed)
        # A comparison with NaN would hide it.
        processed.add_(actions * 0.0)
        self._columns.write_all(self._field, processed)

    def _complete(self, given: float | dict[str, float], field: str) -> torch.Tensor:
        values = self._values(given, torch.nan, field)
        missing = values.isnan().tolist()
        if any(missing):
            name = self.target_names[missing.index(True)]
            raise ValueError(f"{field} has no value for the joint {name!r}.")
        return values


# Tendons and sites.


class TendonActionCfg(AffineActionCfg, ABC):
    """An action on tendons."""

    tendon_names: Patterns = None
    """Tendons. None takes all that an actuator drives by this command."""

    transmission = "tendon"


class TendonLengthActionCfg(TendonActionCfg):
    """Lengths of tendons, in metres."""

    command = "position"


class TendonVelocityActionCfg(TendonActionCfg):
    """Rates of the lengths of tendons, in m/s."""

    command = "velocity"


class TendonEffortActionCfg(TendonActionCfg):
    """Efforts of tendons: newtons for a motor, excitation for a muscle."""

    command = "effort"


class SiteEffortActionCfg(AffineActionCfg):
    """Efforts at sites, in the unit of their actuators' control."""

    site_names: Patterns = None
    """Sites. None takes all that an actuator drives."""

    transmission = "site"
    command = "effort"
