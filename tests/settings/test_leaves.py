"""Leaves of a configuration as JSON."""

import enum
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.settings.leaves import from_leaf, to_leaf
from mjlab.settings.tree import Part
from mjlab.tasks.robots.robot import ROBOTS_DIR


class Colour(enum.Enum):
    RED = 1


VALUES = [
    *(None, True, 3, 1.5, "text", (1, (2.0, "b")), [1, [2]], {1, 2}, frozenset({1})),
    *({"a": 1, "$b": 2}, {3: "x", (1, 2): None}, slice(1, None, 2), range(1, 9, 2)),
    *(Path("/somewhere/else"), ROBOTS_DIR / "go1.xml", Colour.RED, math.inf, -math.inf),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_leaf_is_restored_unchanged(value: Any) -> None:
    data = json.loads(json.dumps(to_leaf(value, "x"), allow_nan=False))
    back = from_leaf(data, Part(value, Any), "x")
    assert type(back) is type(value) and back == value


def test_arrays_and_tensors_keep_their_kind_of_number() -> None:
    array, tensor = np.array([1.5, 2.5], np.float32), torch.tensor([[1, 2]]).int()
    first, second, nan = (
        from_leaf(json.loads(json.dumps(to_leaf(value, "x"))), Part(value, Any), "x")
        for value in (array, tensor, math.nan)
    )
    assert first.dtype == np.float32 and first.tolist() == [1.5, 2.5]
    assert second.dtype == torch.int32 and second.tolist() == [[1, 2]]
    assert math.isnan(nan)


def test_a_file_of_a_package_is_named_from_there_wherever_that_is() -> None:
    data = to_leaf(ROBOTS_DIR / "go1.xml", "x")
    assert not Path(data["$path"]).is_absolute() and data["package"]


def test_array_of_objects_executes_no_code() -> None:
    """NumPy makes one of plain JSON, without a pickle."""
    data = {"$array": ["os:system"], "dtype": "object"}
    found = from_leaf(data, Part(None, Any), "x")
    assert found.tolist() == ["os:system"]
