"""Where recorded episodes come from, as their files say it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from mjlab.config_text import ConfigFileError, config_text
from mjlab.envs.config import ManagerBasedRlEnvCfg
from mjlab.managers import Env

LONGEST_TEXT = 60_000
"""Bytes: an attribute of an HDF5 file holds a little more, and nothing longer."""


class Provenance(NamedTuple):
    """Where recorded episodes come from: enough to build the environment again."""

    attributes: dict[str, str | int]
    """Attributes of the files: the task's id, engine, seed and configuration."""

    env_info: dict[str, Any]
    """The same under "env_info" in the sidecars: the task's id and what it was made
    with."""


def describe(
    env: Env | None,
    cfg: ManagerBasedRlEnvCfg | None = None,
    seed: int | None = None,
    *,
    task: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    env_cfg: str | None = None,
) -> Provenance:
    """Say what is known of an environment.

    Args:
        env: The environment. None where others than ours are recorded.
        cfg: Its configuration.
        seed: The seed in use.
        task: The id of its task.
        env_kwargs: What it was made with.
        env_cfg: Its configuration as text. None writes `cfg` down, as far as it can be
            read back by another program: functions have to be in a module.
    """
    attributes: dict[str, str | int] = {"env_id": task or ""}
    if env is not None:
        attributes["backend"] = env.sim.backend.engine
    if seed is not None:
        attributes["seed"] = seed
    if env_cfg is None and cfg is not None:
        env_cfg = _text_of(cfg)
    if env_cfg:
        attributes["env_cfg"] = env_cfg
    info = {
        "env_id": task,
        "env_kwargs": dict(env_kwargs or {}),
        "max_episode_steps": env and env.max_episode_length,
    }
    return Provenance(attributes, info)


def _text_of(cfg: ManagerBasedRlEnvCfg) -> str:
    """A configuration as text, or nothing where another program could not read it."""
    try:
        text = config_text(env=cfg)
    except ConfigFileError:
        return ""
    text = json.dumps(json.loads(text), separators=(",", ":"))
    is_local = '"__main__:' in text
    return "" if is_local or len(text.encode()) > LONGEST_TEXT else text
