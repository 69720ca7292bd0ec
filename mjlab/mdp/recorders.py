"""Recorder terms, for `cfg.recorders`."""

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermError
from mjlab.mdp.lookup import ROBOT
from mjlab.names import suggest
from mjlab.scene import Selection


def raw_actions(env: ManagedEnv, term: str | None = None) -> torch.Tensor:
    """Return the raw action, shape (num_envs, action_dim).

    Use with when="post_step".

    Args:
        env: The environment.
        term: Name of an action term, to return only its part of the action. None
            returns the whole action.
    """
    if term is None:
        return env.action_manager.action
    return env.action_manager.term(term).raw_action


def processed_actions(env: ManagedEnv, term: str) -> torch.Tensor:
    """Return the processed action of an action term, shape (num_envs, action_dim).

    Use with when="post_step".

    Args:
        env: The environment.
        term: The action term.
    """
    state = env.action_manager.term(term).state()
    if "processed_action" not in state:
        raise TermError(
            f"Action term {term!r} has no processed action. Its state has: "
            f"{', '.join(state) or 'nothing'}. Use raw_actions to record its input."
        )
    return state["processed_action"]


def observation_group(
    env: ManagedEnv, group: str = "actor"
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Return the current observations of a group.

    With when="pre_step", these are the observations that the policy receives.

    Args:
        env: The environment.
        group: Name of the observation group.
    """
    groups = env.observation_manager.output
    if group not in groups:
        raise TermError(
            f"There is no observation group {group!r}. {suggest(group, list(groups))}"
        )
    return groups[group]


def joint_states(
    env: ManagedEnv, asset_cfg: Selection = ROBOT
) -> dict[str, torch.Tensor]:
    """Return the positions and velocities of the chosen joints.

    Use with when="state".

    Args:
        env: The environment.
        asset_cfg: The entity, and its joints.
    """
    data = asset_cfg.entity.data
    joints = asset_cfg.joint_ids
    return {"pos": data.joint_pos[:, joints], "vel": data.joint_vel[:, joints]}


def root_states(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return position, quaternion wxyz, linear and angular velocity of the root link.

    The values are in the world frame, m, m/s and rad/s, shape (num_envs, 13). Use with
    when="state".
    """
    return asset_cfg.entity.data.root_state_w


def entity_states(env: ManagedEnv) -> dict[str, torch.Tensor]:
    """Return root state, joint positions and velocities by entity name.

    Use with when="post_reset" to record the initial state of an episode, or with
    when="state" to record all states.
    """
    return {
        name: torch.cat(
            (
                entity.data.root_state_w,
                entity.data.joint_pos,
                entity.data.joint_vel,
            ),
            dim=1,
        )
        for name, entity in env.scene.entities.items()
    }


def world_states(env: ManagedEnv) -> dict[str, torch.Tensor]:
    """Return the complete state of each world.

    Declare this term as "start" with when="post_reset", and `raw_actions` as "actions":
    `scripts/replay.py` can then replay the episodes.
    """
    return env.get_state_rows()
