"""Provenance of recorded episodes, as their files say it."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Protocol

from mjlab.envs.config import ManagerBasedRlEnvCfg
from mjlab.managers import Env
from mjlab.managers.recorder import Provenance
from mjlab.runs.settings import task_text
from mjlab.settings.file import SettingsFileError

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
        env_cfg: Its task and settings as text. None writes them, if the task is known.
    """
    attributes: dict[str, str | int] = {}
    if env is not None:
        env_id = env_id or env.task
        env_cfg = _text_of(env, env_id) if env_cfg is None else env_cfg
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


def _text_of(env: Described, env_id: str | None) -> str:
    """Return an environment's task and settings as text, or nothing if they have none.

    A task's own id comes before that of Gymnasium.
    """
    task = env.task or env_id
    if task is None:
        return ""
    try:
        # Recorders write the episodes, and a replay does without them.
        cfg = dataclasses.replace(env.cfg, recorders={})
        text = task_text(task, {"env": cfg}, has_to_fit=False)
    except SettingsFileError:
        return ""
    text = json.dumps(json.loads(text), separators=(",", ":"))
    return "" if len(text.encode()) > LONGEST_TEXT else text
