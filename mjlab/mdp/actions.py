"""Action terms for joints, tendons and sites: scale, offset and clip of targets."""

from abc import ABC

import torch

from mjlab.managers.action import ActionTerm
from mjlab.managers.env import Env
from mjlab.mdp.driven import DrivenAction, DrivenActionCfg, Patterns
from mjlab.tensors.masks import fill_where

Range = tuple[float, float]


class AffineActionCfg(DrivenActionCfg):
    """Base configuration of actions that set targets to scale * action + offset."""

    scale: float | dict[str, float] = 1.0
    """Factor of the action, or factors by name pattern; 1 for names that match none."""

    offset: float | dict[str, float] = 0.0
    """Offset added after scaling, or offsets by name pattern; 0 for names that match
    none."""

    clip: Range | dict[str, Range] | None = None
    """Bounds after scale and offset, or bounds by pattern. None disables clipping."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        return AffineAction(name, self, env)


class AffineAction(DrivenAction):
    """Action term that sets targets to the scaled and offset action."""

    def __init__(self, name: str, cfg: AffineActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self.scale = self._values(cfg.scale, 1.0, "scale")
        """Factor of each action dimension, shape (action_dim,)."""
        self.offset = self._values(cfg.offset, 0.0, "offset")
        """Offset of each action dimension, shape (action_dim,)."""
        self.clip: tuple[torch.Tensor, torch.Tensor] | None = None
        """Lower and upper bounds, each of shape (action_dim,)."""
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
                raise ValueError(
                    f"clip of {pattern!r} is {(low, high)}; it has to be (low, high) "
                    "with low <= high."
                )
        lows = self._values({k: v[0] for k, v in by_name.items()}, -torch.inf, "clip")
        highs = self._values({k: v[1] for k, v in by_name.items()}, torch.inf, "clip")
        return lows, highs


# Joints.


class JointPositionActionCfg(AffineActionCfg):
    """Action that sets joint position targets, in encoder coordinates (with bias)."""

    joint_names: Patterns = None
    """Hinge and slide joints. None selects all that an actuator drives by position."""

    use_default_offset: bool = True
    """Add the default joint positions, so that an action of zero is the default pose.
    `offset` is added as well."""

    transmission = "joint"
    command = "position"

    def bind(self, name: str, env: Env) -> ActionTerm:
        return JointPositionAction(name, self, env)


class JointTargetAction(AffineAction):
    """Base class of actions that set joint position targets in encoder coordinates.

    Policies observe positions with encoder bias, so their actions include the bias too.
    The term subtracts the bias to get the joint target.
    """

    def _set_targets(self) -> None:
        bias = self._columns.read(self.entity.data.encoder_bias)
        if self._columns.run is None:
            self._columns.write_all(self._field, self.processed_action - bias)
        else:
            place = self._columns.read(self._field)
            torch.sub(self.processed_action, bias, out=place)


class JointPositionAction(JointTargetAction):
    """Action term that sets joint position targets, in encoder coordinates."""

    def __init__(self, name: str, cfg: JointPositionActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._use_default = cfg.use_default_offset
        self._has_offset = bool((self.offset != 0.0).any())

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets for the whole step."""
        self._scale_and_clip(actions, self.summand())
        self._set_targets()

    def summand(self) -> torch.Tensor:
        """Return the total offset, shape (action_dim,) or (num_envs, action_dim)."""
        if not self._use_default:
            return self.offset
        # Read in every step, because default positions can be randomised in training.
        default = self._columns.read(self.entity.data.default_joint_pos)
        return default + self.offset if self._has_offset else default


class JointPositionToLimitsActionCfg(AffineActionCfg):
    """Action that sets joint position targets within the soft joint limits.

    Targets are in encoder coordinates. With `rescale_to_limits`, an action of -1 is the
    lower soft limit, and 1 the upper.
    """

    joint_names: Patterns = None
    """Hinge and slide joints. None selects all that an actuator drives by position."""

    rescale_to_limits: bool = True
    """Clamp the scaled and offset action to [-1, 1], and map it to the soft limits.
    False uses the scaled and offset action as the position target."""

    transmission = "joint"
    command = "position"

    def bind(self, name: str, env: Env) -> ActionTerm:
        return JointPositionToLimitsAction(name, self, env)


class JointPositionToLimitsAction(JointTargetAction):
    """Action term that maps actions to the soft limits of the joints."""

    def __init__(
        self, name: str, cfg: JointPositionToLimitsActionCfg, env: Env
    ) -> None:
        super().__init__(name, cfg, env)
        self._rescales = cfg.rescale_to_limits
        ranges = self._soft_limits()
        is_limited = torch.stack(ranges).isfinite().flatten(0, 1).all(dim=0).tolist()
        if self._rescales and not all(is_limited):
            joint = self.target_names[is_limited.index(False)]
            raise ValueError(
                f"rescale_to_limits is True, but the joint {joint!r} has no limits. "
                "Exclude it by joint_names, or set rescale_to_limits=False."
            )

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets for the whole step."""
        self._rescale(actions)
        self._set_targets()

    def _rescale(self, actions: torch.Tensor) -> None:
        self._scale_and_clip(actions, self.offset)
        if self._rescales:
            processed = self.processed_action.clamp_(-1.0, 1.0)
            low, high = self._soft_limits()
            middle, half = (high + low) * 0.5, (high - low) * 0.5
            torch.addcmul(middle, processed, half, out=processed)

    def _soft_limits(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return lower and upper soft limits, each (num_envs, action_dim)."""
        limits = self._columns.read(self.entity.data.soft_joint_pos_limits)
        return limits[..., 0], limits[..., 1]


class EMAJointPositionToLimitsActionCfg(JointPositionToLimitsActionCfg):
    """Action that sets joint position targets, filtered by a moving average.

    The moving average is exponential: the target is `alpha` times the target of
    `JointPositionToLimitsActionCfg`, plus `1 - alpha` times the last target, clamped to
    the soft limits. In the first step of an episode, the joint position replaces the
    last target.
    """

    alpha: float | dict[str, float] = 1.0
    """Weight of the new target, above 0 and at most 1, or weights by name pattern.
    Names that match no pattern have weight 1, which disables the filter."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        return EMAJointPositionToLimitsAction(name, self, env)


class EMAJointPositionToLimitsAction(JointPositionToLimitsAction):
    """Action term that filters the targets of `JointPositionToLimitsAction`."""

    def __init__(
        self, name: str, cfg: EMAJointPositionToLimitsActionCfg, env: Env
    ) -> None:
        super().__init__(name, cfg, env)
        self.alpha = self._values(cfg.alpha, 1.0, "alpha")
        """Weight of the new target, shape (action_dim,)."""
        if not bool(((self.alpha > 0.0) & (self.alpha <= 1.0)).all()):
            raise ValueError(
                f"alpha is {cfg.alpha}; it has to be above 0 and at most 1."
            )
        self._is_first = torch.ones(env.num_envs, dtype=torch.bool, device=env.device)

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the targets for the whole step."""
        position = self._columns.read(self.entity.data.joint_pos_biased)
        is_first = self._is_first.unsqueeze(1)
        last = torch.where(is_first, position, self.processed_action)
        self._rescale(actions)
        change = self.processed_action - last
        torch.addcmul(last, change, self.alpha, out=self.processed_action)
        low, high = self._soft_limits()
        torch.clamp(self.processed_action, low, high, out=self.processed_action)
        self._is_first.fill_(False)
        self._set_targets()

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the action in the worlds of `mask`."""
        super().reset(mask)
        fill_where(self._is_first, mask, True)

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {"is_first": self._is_first}


class RelativeJointPositionActionCfg(AffineActionCfg):
    """Action that sets joint position targets relative to the current positions."""

    joint_names: Patterns = None
    """Hinge and slide joints. None selects all that an actuator drives by position."""

    hold: bool = False
    """True computes the target once, from the joint position at the beginning of the
    environment step. False computes it before each physics step, from the current
    position, so that a constant action gives a constant position error."""

    transmission = "joint"
    command = "position"

    def bind(self, name: str, env: Env) -> ActionTerm:
        return RelativeJointPositionAction(name, self, env)


class RelativeJointPositionAction(AffineAction):
    """Action term that sets position targets relative to the current positions.

    The encoder bias is part of both position and target, so it cancels.
    """

    def __init__(
        self, name: str, cfg: RelativeJointPositionActionCfg, env: Env
    ) -> None:
        super().__init__(name, cfg, env)
        self._hold = cfg.hold

    def process_actions(self, actions: torch.Tensor) -> None:
        """Compute the displacement of this step from the action."""
        self._scale_and_clip(actions, self.offset)
        if self._hold:
            self._set_targets()

    def apply_actions(self) -> None:
        """Update the targets from the current joint positions."""
        if not self._hold:
            self._set_targets()

    def _set_targets(self) -> None:
        position = self._columns.read(self.entity.data.joint_pos)
        self._columns.write_all(self._field, position + self.processed_action)


class JointVelocityActionCfg(AffineActionCfg):
    """Action that sets joint velocity targets, in rad/s or m/s."""

    joint_names: Patterns = None
    """Joints. None selects all that an actuator drives by velocity."""

    transmission = "joint"
    command = "velocity"


class JointEffortActionCfg(AffineActionCfg):
    """Action that sets joint effort targets, in the unit of the actuators' control."""

    joint_names: Patterns = None
    """Joints. None selects all that an actuator drives by effort."""

    transmission = "joint"
    command = "effort"


# Grippers.


class BinaryActionCfg(DrivenActionCfg, ABC):
    """Binary gripper action: a value >= 0 opens the joints, a value < 0 closes them."""

    joint_names: Patterns = None
    """Joints. None selects all that an actuator drives by this command."""

    open_command: float | dict[str, float]
    """Target of each joint when open, or targets by pattern that cover every joint."""

    close_command: float | dict[str, float]
    """Target of each joint when closed, in the same form as `open_command`."""

    transmission = "joint"

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Create the term for one environment."""
        return BinaryAction(name, self, env)


class BinaryJointPositionActionCfg(BinaryActionCfg):
    """Binary action with joint position targets."""

    command = "position"


class BinaryJointVelocityActionCfg(BinaryActionCfg):
    """Binary action with joint velocity targets."""

    command = "velocity"


class BinaryJointEffortActionCfg(BinaryActionCfg):
    """Binary action with joint effort targets."""

    command = "effort"


class BinaryAction(DrivenAction):
    """Action term that sets targets to one of two values."""

    def __init__(self, name: str, cfg: BinaryActionCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._open = self._complete(cfg.open_command, "open_command")
        self._close = self._complete(cfg.close_command, "close_command")

    @property
    def action_dim(self) -> int:
        """Dimension of the action, 1."""
        return 1

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the open or closed targets for the whole step."""
        processed = self.processed_action
        torch.where(actions < 0.0, self._close, self._open, out=processed)
        # Restore NaN, which the comparison discards.
        processed.add_(actions * 0.0)
        self._columns.write_all(self._field, processed)

    def _complete(self, given: float | dict[str, float], field: str) -> torch.Tensor:
        values = self._values(given, torch.nan, field)
        missing = values.isnan().tolist()
        if any(missing):
            name = self.target_names[missing.index(True)]
            raise ValueError(
                f"{field} has no value for the joint {name!r}. Add a pattern for it."
            )
        return values


# Tendons and sites.


class TendonActionCfg(AffineActionCfg, ABC):
    """Base configuration of tendon actions."""

    tendon_names: Patterns = None
    """Tendons. None selects all that an actuator drives by this command."""

    transmission = "tendon"


class TendonLengthActionCfg(TendonActionCfg):
    """Action that sets tendon length targets, in metres."""

    command = "position"


class TendonVelocityActionCfg(TendonActionCfg):
    """Action that sets tendon velocity targets, in m/s."""

    command = "velocity"


class TendonEffortActionCfg(TendonActionCfg):
    """Action that sets tendon efforts: newtons for a motor, excitation for a muscle."""

    command = "effort"


class SiteEffortActionCfg(AffineActionCfg):
    """Action that sets site effort targets, in the unit of the actuators' control."""

    site_names: Patterns = None
    """Sites. None selects all that an actuator drives."""

    transmission = "site"
    command = "effort"
