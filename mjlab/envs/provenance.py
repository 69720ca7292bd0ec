"""Provenance of recorded episodes, as stored in their files."""

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
"""Maximum length of `env_cfg` in bytes; the limit of an HDF5 attribute is higher."""


class Described(Env, Protocol):
    """Interface of an environment that stores its configuration, seed and task id."""

    cfg: ManagerBasedRlEnvCfg
    """Configuration of the environment."""

    seed: int
    """Random seed that the environment uses."""

    task: str | None
    """Id of the registered task."""


def describe(
    env: Described | None,
    *,
    env_id: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    env_cfg: str | None = None,
) -> Provenance:
    """Return the provenance of an environment.

    Args:
        env: The environment. None for recordings of other environments.
        env_id: Id of the task. None uses the id that the environment was built with.
        env_kwargs: Arguments that the environment was built with.
        env_cfg: Task and settings as text. None generates the text if the task is
            known.
    """
    attributes: dict[str, str | int | float] = {}
    if env is not None:
        env_id = env_id or env.task
        env_cfg = _text_of(env, env_id) if env_cfg is None else env_cfg
        attributes = {"backend": env.sim.backend.engine, "seed": env.seed}
        attributes["step_dt"] = env.step_dt
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
    """Return the task and settings as text, or "" if this is impossible or too long.

    The environment's own task id has precedence over Gymnasium's.
    """
    task = env.task or env_id
    if task is None:
        return ""
    try:
        # Recorders write the episodes; a replay does not need them.
        cfg = dataclasses.replace(env.cfg, recorders={})
        text = task_text(task, {"env": cfg}, has_to_fit=False)
    except SettingsFileError:
        return ""
    text = json.dumps(json.loads(text), separators=(",", ":"))
    return "" if len(text.encode()) > LONGEST_TEXT else text
