"""Values that come back from a file as they went in."""

from typing import Any

import numpy as np
import pytest

from mjlab.schema.read import from_data
from mjlab.schema.write import to_data


@pytest.mark.parametrize(
    "value", [range(7), range(2, 9), range(9, 2, -3), slice(1, 8, 2), slice(None, 4)]
)
def test_a_range_and_a_slice_keep_their_step(value: Any) -> None:
    assert from_data(to_data(value)) == value


@pytest.mark.parametrize("kind", ["float32", "float64", "int8", "uint16", "bool"])
def test_an_array_keeps_its_kind_of_number(kind: str) -> None:
    value = np.array([[0, 1], [1, 0]], kind)
    found = from_data(to_data(value))
    assert found.dtype == value.dtype and np.array_equal(found, value)
