"""Actions relative to a clip: a zero action targets the clip's joint positions."""

from typing import cast

import torch

from mjlab.managers import ActionTerm, ManagedEnv
from mjlab.managers.env import Env
from mjlab.mdp import JointPositionAction, JointPositionActionCfg
from mjlab.motion.command import motion_command
from mjlab.tensors.columns import Columns


class MotionActionCfg(JointPositionActionCfg):
    """Joint position targets relative to the clip's frame at the end of the step.

    The policy only has to learn corrections, such as balance, not the clip itself.
    """

    use_default_offset = False

    command_name: str = "motion"
    """Name of the motion command."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return MotionAction(name, self, env)


class MotionAction(JointPositionAction):
    """Joint position action with the clip's joint positions as offset."""

    def __init__(self, name: str, cfg: MotionActionCfg, env: Env) -> None:
        if cfg.use_default_offset:
            raise ValueError(
                f"Action {name!r} has use_default_offset=True, but its targets are "
                "relative to the clip. Use JointPositionActionCfg for the default pose."
            )
        super().__init__(name, cfg, env)
        # Commands are bound before actions.
        self.motion = motion_command(cast(ManagedEnv, env), cfg.command_name)
        """The motion command, with the current frame."""
        if self.motion.entity is not self.entity:
            raise ValueError(
                f"Action {name!r} has entity_name={cfg.entity_name!r}, but command "
                f"{cfg.command_name!r} has {self.motion.cfg.entity_name!r}."
            )
        columns = [self.entity.joint_names.index(n) for n in self.target_names]
        self._joints = Columns.of(columns, env.device)

    def summand(self) -> torch.Tensor:
        """Return the offset of the scaled action, shape (num_envs, action_dim)."""
        reference = self._joints.read(self.motion.joint_pos)
        return reference + self.offset if self._has_offset else reference
