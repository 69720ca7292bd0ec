"""What recorded files say of the environment that they come from."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mjlab.schema import ConfigFileError, config_text

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv

LONGEST_TEXT = 60_000
"""Bytes: an attribute of an HDF5 file holds a little more, and nothing longer."""


class Origin(NamedTuple):
    """Where recorded episodes come from: enough to build the environment again."""

    attributes: dict[str, str | int]
    """Attributes of the files: the task's id, engine, seed and configuration."""

    env_info: dict[str, Any]
    """The same under "env_info" in the sidecars: the task's id and what it was made
    with."""


def origin_of(
    env: "ManagerBasedRlEnv | None",
    *,
    env_id: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    env_cfg: str | None = None,
) -> Origin:
    """Say what is known of an environment.

    Args:
        env: The environment. None where others than ours are recorded.
        env_id: The task's id. None takes the one that the environment was made by.
        env_kwargs: What it was made with.
        env_cfg: Its configuration as text. None writes it down, as far as it can be
            read back by another program: functions have to be in a module.
    """
    if env is not None:
        env_id = env_id or env.task
        env_cfg = _text_of(env) if env_cfg is None else env_cfg
    attributes: dict[str, str | int] = {"env_id": env_id or ""}
    if env is not None:
        attributes["backend"] = env.sim.backend.engine
        attributes["seed"] = env.seed
    if env_cfg:
        attributes["env_cfg"] = env_cfg
    info = {
        "env_id": env_id,
        "env_kwargs": dict(env_kwargs or {}),
        "max_episode_steps": env and env.max_episode_length,
    }
    return Origin(attributes, info)


def _text_of(env: "ManagerBasedRlEnv") -> str:
    """The configuration, or nothing where another program could not read it."""
    try:
        text = config_text(env=env.cfg)
    except ConfigFileError:
        return ""
    text = json.dumps(json.loads(text), separators=(",", ":"))
    is_local = '"__main__:' in text
    return "" if is_local or len(text.encode()) > LONGEST_TEXT else text
