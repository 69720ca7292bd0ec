"""Provenance of recorded episodes, as their files say it."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from mjlab.envs.config import ManagerBasedRlEnvCfg
from mjlab.managers import Env
from mjlab.managers.recorder import Provenance
from mjlab.schema import ConfigFileError, config_text

LONGEST_TEXT = 60_000
"""Bytes: an attribute of an HDF5 file holds a little more, and nothing longer."""


class Described(Env, Protocol):
    """An environment that knows what it was made of."""

    cfg: ManagerBasedRlEnvCfg
    """Its configuration."""

    seed: int
    """The seed in use."""

    task: str | None
    """The id that its task is registered by."""


def describe(
    env: Described | None,
    *,
    env_id: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    env_cfg: str | None = None,
) -> Provenance:
    """Say what is known of an environment.

    Args:
        env: The environment. None where others than ours are recorded.
        env_id: The task's id. None takes the one that the environment was made by.
        env_kwargs: What it was made with.
        env_cfg: Its configuration as text. None writes it down, as far as it can be
            read back by another program: functions have to be in a module.
    """
    attributes: dict[str, str | int] = {}
    if env is not None:
        env_id = env_id or env.task
        env_cfg = _text_of(env.cfg) if env_cfg is None else env_cfg
        attributes = {"backend": env.sim.backend.engine, "seed": env.seed}
    attributes["env_id"] = env_id or ""
    if env_cfg:
        attributes["env_cfg"] = env_cfg
    info = {
        "env_id": env_id,
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
