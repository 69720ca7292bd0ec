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
from mjlab.rl.config_io import from_data, parse_config, to_data
from mjlab.tasks.robots.robot import ROBOTS_DIR
from tests.synthetic import SyntheticCfg

HERE = ("mjlab", "tests")


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
class Inner:
    number: float = 1.0
    shape: tuple[int, ...] = (1, 2)


@dataclass(kw_only=True)
class Outer:
    name: str = "a"
    kind: Literal["one", "two"] = "one"
    inner: Inner | None = field(default_factory=Inner)
    terms: dict[str, Inner | None] = field(default_factory=dict)
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
    Inner.__init__,
    Inner,
    math.inf,
    -math.inf,
    SceneEntityCfg("robot", joint_names=(".*_hip",)),
]


@pytest.mark.parametrize("value", VALUES, ids=[str(i) for i in range(len(VALUES))])
def test_a_value_comes_back_as_it_was(value):
    back = from_data(json.loads(json.dumps(to_data(value))), packages=None)
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
    tensor, array, partial, nan = from_data(json.loads(text), packages=None)
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
    back = load_config(tmp_path / "config.json", packages=HERE)
    assert to_data(back) == to_data(parts)
    assert back["env"].rewards.keys() == parts["env"].rewards.keys()


# --- Mistakes in a file ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nme": 1}, "config.nme is unknown: Outer has no field 'nme'. Valid"),
        ({"name": 3}, "config.name is 3 (int); it has to be str."),
        (
            {"kind": "three"},
            "config.kind is 'three' (str); it has to be 'one' or 'two'.",
        ),
        ({"pair": [1.0]}, "config.pair is (1.0,) (tuple); it has to be tuple["),
        ({"pair": [1.0, "b"]}, "config.pair[1] is 'b' (str); it has to be float."),
        ({"maybe": "x"}, "config.maybe is 'x' (str); it has to be int or None."),
        ({"maybe": True}, "config.maybe is True (bool); it has to be int or None."),
        ({"terms": {"a": 1}}, "config.terms['a'] is 1 (int); it has to be Inner or"),
        ({"anything": {"$oops": 1}}, "config.anything has the unknown tag '$oops'"),
    ],
)
def test_a_mistake_is_named_by_its_path(change, said):
    data = to_data(Outer()) | change
    with pytest.raises(ConfigFileError) as caught:
        from_data(data, packages=HERE)
    assert said in str(caught.value)


def test_a_mistake_deep_inside_is_named_by_its_whole_path():
    data = to_data({"env": Outer(terms={"foot": Inner()})})
    data["env"]["terms"]["foot"]["shape"] = [1, "x"]
    with pytest.raises(ConfigFileError, match=r"config\['env'\]\.terms\['foot'\]\.sh"):
        from_data(data, packages=HERE)


def test_a_field_that_a_file_lacks_has_its_default():
    data = to_data(Outer(name="b"))
    del data["pair"]
    assert from_data(data, packages=HERE) == Outer(name="b")


def test_a_wrong_type_is_found_when_a_file_is_written(tmp_path):
    with pytest.raises(ConfigFileError, match=r"config\['env'\].name is 1 \(int\)"):
        save_config(tmp_path / "config.json", env=Outer(name=1))  # pyright: ignore
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


# --- Attacks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        {"$callable": "os:system"},
        {"$partial": "subprocess:run", "args": [], "keywords": {}},
        {"$type": "subprocess:Popen", "args": "true"},
        {"$enum": "antigravity:fly", "name": "x"},
        # Through a trusted module to what it imports.
        {"$callable": "mjlab.rl.run_folder:subprocess.run"},
        {"$callable": "mjlab.rl.distributed:os.execve"},
        {"$type": "mjlab.rl.run_folder:subprocess.Popen", "args": "true"},
        # A function where a dataclass should be would be called.
        {"$type": "mjlab.rl.distributed:relaunch", "gpus": []},
        {"$path": "x", "package": "antigravity"},
    ],
    ids=str,
)
def test_a_file_cannot_name_what_is_not_ours(attack):
    import sys

    with pytest.raises(ConfigFileError):
        parse_config(json.dumps({"env": {"inner": attack}}))
    assert "antigravity" not in sys.modules


def test_another_package_is_trusted_on_request():
    data = to_data(Outer())
    with pytest.raises(ConfigFileError, match="trust the package 'tests' as well"):
        from_data(data)
    assert from_data(data, packages=HERE) == Outer()
