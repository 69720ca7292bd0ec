"""Statistics and numbers of a LeRobot dataset, compared with NumPy on all rows."""

from typing import Any

import numpy as np
import pytest
import torch

from mjlab.replay.lerobot import LeRobotFolder, _stats


def folder(**parts: Any) -> LeRobotFolder:
    made = object.__new__(LeRobotFolder)
    vars(made).update(parts)
    return made


def test_statistics_of_all_episodes_are_those_of_all_rows() -> None:
    random = np.random.default_rng(0)
    episodes = [
        random.normal(mean, 1.0 + abs(mean), (count, 3))
        for mean, count in ((0.0, 10), (5.0, 40), (-3.0, 25))
    ]
    told = [
        {f"stats/action/{kind}": value for kind, value in _stats(rows).items()}
        for rows in episodes
    ]
    found = folder(_episodes=told)._merged("stats/action")
    rows = np.concatenate(episodes)
    for kind in ("min", "max", "mean", "std"):
        wanted = getattr(rows, kind)(axis=0).tolist()
        assert found[kind] == pytest.approx(wanted, rel=1e-9), kind
    assert found["count"] == [75]


def test_rows_are_numbered_through_all_episodes_and_within_their_own() -> None:
    made = folder(_episodes=[{}, {}], _steps=7)
    values = {
        "rewards": torch.zeros(3),
        "terminated": torch.tensor([False, False, True]),
        "truncated": torch.tensor([False, False, False]),
    }
    methods = {
        "length": 3,
        "observations": lambda self: {"actor": torch.zeros(4, 2)},
        "actions": lambda self: torch.zeros(3, 1),
        "read": lambda self, name: values[name],
        "__contains__": lambda self, name: name in values,
    }
    episode: Any = type("Episode", (), methods)()
    rows = made._rows(episode, 0.02)
    assert rows["index"].tolist() == [7, 8, 9]
    assert rows["frame_index"].tolist() == [0, 1, 2]
    assert rows["episode_index"].tolist() == [2, 2, 2]
    assert rows["timestamp"].tolist() == pytest.approx([0.0, 0.02, 0.04])
    assert rows["next.done"].tolist() == [False, False, True]
    assert rows["observation.state"].shape == (3, 2)
