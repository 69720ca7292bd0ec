"""Configuration of a task for play."""

from pathlib import Path

import pytest

from mjlab.cli.sources import find_source
from mjlab.registry import load_task


@pytest.mark.parametrize("policy", ["zero", "random"])
def test_a_task_is_watched_in_its_play_configuration_unless_as_trained(
    policy: str, tmp_path: Path
) -> None:
    task = load_task("Velocity-Go1-Flat")
    kept = {"as_trained": True, "watched": False}
    for name, as_trained in kept.items():
        source = find_source(
            "Velocity-Go1-Flat",
            policy=policy,  # type: ignore[arg-type]
            as_trained=as_trained,
            logs=tmp_path,
        )
        wanted, other = task.env(), task.play()
        if not as_trained:
            wanted, other = other, wanted
        assert source.env.episode_length_s == wanted.episode_length_s, name
        assert source.env.episode_length_s != other.episode_length_s, name
        assert source.agent is None and source.task == "Velocity-Go1-Flat"
