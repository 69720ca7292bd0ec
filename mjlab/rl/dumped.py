"""A dump of a run, with the run's configuration, to be replayed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.faults.recording import Recording, load_recording
from mjlab.faults.replay import Replay, build_env, describe
from mjlab.schema import Trust, parse_config


def open_dump(
    place: Path, trusted: Callable[[str | None], Trust]
) -> tuple[Recording, ManagerBasedRlEnvCfg]:
    """A world of a dump, and the environment of its run.

    Args:
        place: A dump's folder, or the file of a world in it.
        trusted: What a file of a task may name, by the task's id.
    """
    recording = load_recording(place)
    where = str(recording.path / "config.json")
    trust = trusted(recording.record.get("task"))
    configs: dict[str, Any] = parse_config(recording.config_text, trust, where=where)
    return recording, configs["env"]


def replay(cfg: ManagerBasedRlEnvCfg, recording: Recording) -> tuple[Replay, list[str]]:
    """The world at the first recorded step, and what is to be said of its fault."""
    again = Replay(build_env(cfg, recording), recording)
    return again, describe(recording, again.run())
