"""Actions about a clip: an action of zero sends the joints where the clip has them."""

from typing import cast

import torch

from mjlab.managers import ActionTerm, ManagedEnv
from mjlab.managers.env import Env
from mjlab.mdp import JointPositionAction, JointPositionActionCfg
from mjlab.motion.command import motion_command
from mjlab.tensors.columns import Columns


class MotionActionCfg(JointPositionActionCfg):
    """Positions of joints about those of the clip, in the frame that the step leads to.

    The policy adds balance, and need not learn the clip itself.
    """

    use_default_offset = False

    command_name: str = "motion"
    """Command whose clips they are."""

    def bind(self, name: str, env: Env) -> ActionTerm:
        """Return the term of one environment."""
        return MotionAction(name, self, env)


class MotionAction(JointPositionAction):
    """Sets position targets to the clip's, plus what the action adds."""

    def __init__(self, name: str, cfg: MotionActionCfg, env: Env) -> None:
        if cfg.use_default_offset:
            raise ValueError(
                f"Action {name!r} has use_default_offset, but its targets are about "
                "the clip. Targets about the default pose: JointPositionActionCfg."
            )
        super().__init__(name, cfg, env)
        # Commands are bound before actions.
        self.motion = motion_command(cast(ManagedEnv, env), cfg.command_name)
        """The command that says which frame it is."""
        if self.motion.entity is not self.entity:
            raise ValueError(
                f"Action {name!r} moves {cfg.entity_name!r}, and the clips of "
                f"{cfg.command_name!r} are of {self.motion.cfg.entity_name!r}."
            )
        columns = [self.entity.joint_names.index(n) for n in self.target_names]
        self._joints = Columns.of(columns, env.device)

    def summand(self) -> torch.Tensor:
        """Return what is added to the scaled action, shape (num_envs, action_dim)."""
        reference = self._joints.read(self.motion.joint_pos)
        return reference + self.offset if self._has_offset else reference
