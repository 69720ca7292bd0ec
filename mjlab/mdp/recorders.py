"""Records of episodes: terms for `cfg.recorders`."""

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermError
from mjlab.mdp.lookup import ROBOT
from mjlab.names import suggest
from mjlab.scene import Selection


def raw_actions(env: ManagedEnv, term: str | None = None) -> torch.Tensor:
    """Return the action as it was given, shape (num_envs, numbers), for "post_step".

    Args:
        env: The environment.
        term: The action term whose part is meant. None takes all, side by side.
    """
    if term is None:
        return env.action_manager.action
    return env.action_manager.term(term).raw_action


def processed_actions(env: ManagedEnv, term: str) -> torch.Tensor:
    """Return what an action term has made of its part of the action, for "post_step".

    Args:
        env: The environment.
        term: The action term.
    """
    state = env.action_manager.term(term).state()
    if "processed_action" not in state:
        raise TermError(
            f"The action term {term!r} has no processed action. It has "
            f"{', '.join(state) or 'no state'}; raw_actions records what it is given."
        )
    return state["processed_action"]


def observation_group(
    env: ManagedEnv, group: str = "actor"
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Return the observation that the action of the step follows from, for "pre_step".

    Args:
        env: The environment.
        group: The group.
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
    """Return the positions and velocities of the chosen joints, for "state".

    Args:
        env: The environment.
        asset_cfg: The entity, and its joints.
    """
    data = asset_cfg.entity.data
    joints = asset_cfg.joint_ids
    return {"pos": data.joint_pos[:, joints], "vel": data.joint_vel[:, joints]}


def root_states(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return position, quaternion wxyz, linear and angular velocity, for "state".

    Of the root link in the world, m, m/s and rad/s, shape (num_envs, 13).
    """
    return asset_cfg.entity.data.root_state_w


def entity_states(env: ManagedEnv) -> dict[str, torch.Tensor]:
    """Return root state, joint positions and velocities of every entity, by its name.

    For "post_reset", which makes it the state that an episode begins with, or "state".
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
    """Return all that a world goes on from, for "post_reset" under the name "start".

    With it, and with `raw_actions` as "actions", `scripts/replay.py` does the episodes
    again.
    """
    return env.get_state_rows()
