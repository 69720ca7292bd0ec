"""Configurations in files: complete, and unable to have anything done."""

import enum
import functools
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
import torch

from mjlab.managers import RewardTermCfg, SceneEntityCfg
from mjlab.registry import entries, load_task
from mjlab.rl import ConfigFileError, PpoAgentCfg, load_config, save_config
from mjlab.schema import Trust, from_data, to_data
from mjlab.tasks.robots.robot import ROBOTS_DIR
from tests.worlds.synthetic import SyntheticCfg

HERE = Trust(("mjlab", "tests"))


class Colour(enum.Enum):
    RED = 1


class Name(enum.StrEnum):
    FIRST = "first"


class Point(NamedTuple):
    x: float
    y: float = 0.0


def double(x, factor=2.0):
    return x * factor


@dataclass(kw_only=True)
class InnerCfg:
    number: float = 1.0
    shape: tuple[int, ...] = (1, 2)


@dataclass(kw_only=True)
class OuterCfg:
    name: str = "a"
    kind: Literal["one", "two"] = "one"
    inner: InnerCfg | None = field(default_factory=InnerCfg)
    terms: dict[str, InnerCfg | None] = field(default_factory=dict)
    pair: tuple[float, float] = (0.0, 1.0)
    maybe: int | None = None
    anything: Any = None


VALUES = [
    None,
    True,
    3,
    1.5,
    "text",
    (1, (2.0, "b")),
    [1, [2]],
    {1, 2},
    frozenset({1}),
    {"a": 1, "$b": 2},
    {3: "x", (1, 2): None},
    slice(1, None, 2),
    range(1, 9, 2),
    Path("/somewhere/else"),
    ROBOTS_DIR / "go1.xml",
    Colour.RED,
    Name.FIRST,
    Point(1.0, 2.0),
    double,
    InnerCfg.__init__,
    InnerCfg,
    math.inf,
    -math.inf,
    SceneEntityCfg("robot", joint_names=(".*_hip",)),
]


@pytest.mark.parametrize("value", VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_a_value_comes_back_as_it_was(value):
    back = from_data(json.loads(json.dumps(to_data(value))), Trust(None))
    assert type(back) is type(value)
    assert back == value


def test_what_has_no_equality_comes_back_as_it_was():
    values = (
        torch.tensor([[1, 2]], dtype=torch.int32),
        np.array([1.5, 2.5], dtype=np.float32),
        functools.partial(double, factor=3.0),
        math.nan,
    )
    text = json.dumps(to_data(values), allow_nan=False)
    tensor, array, partial, nan = from_data(json.loads(text), Trust(None))
    assert torch.equal(tensor, values[0]) and tensor.dtype == torch.int32
    assert np.array_equal(array, values[1]) and array.dtype == np.float32
    assert partial(2.0) == 6.0
    assert math.isnan(nan)


@pytest.mark.parametrize("task", sorted(entries()))
def test_every_registered_task_round_trips(tmp_path, task):
    entry = load_task(task)
    parts = {"env": entry.env(), "play": entry.play()}
    if entry.rl is not None:
        parts["agent"] = entry.rl()
    save_config(tmp_path / "config.json", **parts)
    back = load_config(tmp_path / "config.json")
    assert {k: type(v) for k, v in back.items()} == {
        k: type(v) for k, v in parts.items()
    }
    assert to_data(back) == to_data(parts)
    assert back == parts or task in UNEQUAL


UNEQUAL: set[str] = set()
"""Tasks that hold a tensor or a partial function, which Python cannot compare."""


def test_a_task_with_every_feature_and_the_default_agent_round_trip(tmp_path):
    parts = {"env": SyntheticCfg(), "agent": PpoAgentCfg()}
    save_config(tmp_path / "config.json", **parts)
    back = load_config(tmp_path / "config.json", HERE)
    assert to_data(back) == to_data(parts)
    assert back["env"].rewards.keys() == parts["env"].rewards.keys()


# --- Mistakes in a file ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nme": 1}, "config.nme is unknown: OuterCfg has no field 'nme'. Valid"),
        ({"name": 3}, "config.name is 3 (int); it has to be str."),
        (
            {"kind": "three"},
            "config.kind is 'three' (str); it has to be 'one' or 'two'.",
        ),
        ({"pair": [1.0]}, "config.pair is (1.0,) (tuple); it has to be tuple["),
        ({"pair": [1.0, "b"]}, "config.pair[1] is 'b' (str); it has to be float."),
        ({"maybe": "x"}, "config.maybe is 'x' (str); it has to be int or None."),
        ({"maybe": True}, "config.maybe is True (bool); it has to be int or None."),
        ({"terms": {"a": 1}}, "config.terms['a'] is 1 (int); it has to be InnerCfg or"),
        ({"anything": {"$oops": 1}}, "config.anything has the unknown tag '$oops'"),
    ],
)
def test_a_mistake_is_named_by_its_path(change, said):
    data = to_data(OuterCfg()) | change
    with pytest.raises(ConfigFileError) as caught:
        from_data(data, HERE)
    assert said in str(caught.value)


def test_a_mistake_deep_inside_is_named_by_its_whole_path():
    data = to_data({"env": OuterCfg(terms={"foot": InnerCfg()})})
    data["env"]["terms"]["foot"]["shape"] = [1, "x"]
    with pytest.raises(ConfigFileError, match=r"config\['env'\]\.terms\['foot'\]\.sh"):
        from_data(data, HERE)


def test_a_field_that_a_file_lacks_has_its_default():
    data = to_data(OuterCfg(name="b"))
    del data["pair"]
    assert from_data(data, HERE) == OuterCfg(name="b")


def test_a_wrong_type_is_found_when_a_file_is_written(tmp_path):
    with pytest.raises(ConfigFileError, match=r"config\['env'\].name is 1 \(int\)"):
        save_config(tmp_path / "config.json", env=OuterCfg(name=1))  # pyright: ignore
    assert not (tmp_path / "config.json").exists()


@pytest.mark.parametrize(
    ("value", "said"),
    [(lambda: 1, "not within a function or as a lambda"), (object(), "cannot be writ")],
)
def test_what_a_file_cannot_hold_is_named_by_its_path(value, said):
    reward = RewardTermCfg(func=value, weight=1.0)
    with pytest.raises(ConfigFileError) as caught:
        to_data({"rewards": {"x": reward}})
    assert str(caught.value).startswith("config['rewards']['x'].func is ")
    assert said in str(caught.value)
