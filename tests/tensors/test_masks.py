"""Masked writes, compared with NumPy's boolean assignment."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mjlab.tensors.masks import fill_where, ids_to_mask, write_where


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(0, 2))
def test_a_masked_write_equals_numpy_boolean_assignment(chosen, extra_dims):
    mask = torch.tensor(chosen)
    shape = (len(chosen), 3, 2)[: 1 + extra_dims]
    dest = torch.randn(shape)
    value = torch.randn(shape)
    expected = dest.numpy().copy()
    expected[mask.numpy()] = value.numpy()[mask.numpy()]
    write_where(dest, mask, value)
    np.testing.assert_array_equal(dest.numpy(), expected)


def test_worlds_outside_the_mask_are_bit_identical_with_nan_values():
    dest = torch.tensor([[1.0, -0.0], [torch.nan, 2.0]])
    write_where(dest, torch.tensor([False, False]), torch.full((2, 2), torch.nan))
    assert dest.view(torch.int32).tolist() == (
        torch.tensor([[1.0, -0.0], [torch.nan, 2.0]]).view(torch.int32).tolist()
    )


def test_a_write_passes_through_a_strided_view_into_its_tensor():
    qpos = torch.zeros(3, 7)
    write_where(qpos[:, 3:5], torch.tensor([True, False, True]), torch.tensor([1.0, 2]))
    assert qpos[:, 3:5].tolist() == [[1, 2], [0, 0], [1, 2]]
    assert qpos.sum() == 6


def test_one_row_is_written_to_every_chosen_world():
    dest = torch.zeros(3, 3)
    write_where(dest, torch.tensor([True, False, True]), torch.tensor([1.0, 2.0, 3.0]))
    assert dest.tolist() == [[1, 2, 3], [0, 0, 0], [1, 2, 3]]


@pytest.mark.parametrize("value", [7, torch.tensor(7)])
def test_a_scalar_is_written_to_integers(value):
    dest = torch.zeros(2, dtype=torch.int64)
    write_where(dest, torch.tensor([False, True]), value)
    assert dest.tolist() == [0, 7]


def test_a_float_value_does_not_fit_integers():
    with pytest.raises(TypeError, match="float32 value cannot be written"):
        write_where(
            torch.zeros(1, dtype=torch.int64), torch.tensor([True]), torch.ones(1)
        )


def test_a_value_larger_than_its_destination_is_an_error():
    with pytest.raises(RuntimeError):
        write_where(torch.zeros(1, 2), torch.tensor([True]), torch.ones(3, 2))


@pytest.mark.parametrize("mask", [torch.tensor([True]), torch.tensor([1, 0])])
def test_a_mask_of_the_wrong_shape_or_type_is_an_error(mask):
    with pytest.raises(ValueError, match=r"has to be bool of shape \(2,\)"):
        fill_where(torch.zeros(2, 3), mask, 1.0)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (None, [True, True, True, True]),
        ([], [False, False, False, False]),
        ([1, 3, 1], [False, True, False, True]),
        (torch.tensor([2]), [False, False, True, False]),
        (slice(0, None, 2), [True, False, True, False]),
    ],
)
def test_ids_become_a_mask(ids, expected):
    assert ids_to_mask(ids, 4, "cpu").tolist() == expected


@pytest.mark.parametrize("world", [-1, 4])
def test_an_id_that_does_not_exist_is_an_error(world):
    with pytest.raises(IndexError, match=f"World {world} does not exist; indices"):
        ids_to_mask([0, world], 4, "cpu")


def test_a_bool_tensor_is_not_taken_for_ids():
    with pytest.raises(TypeError, match="already a mask"):
        ids_to_mask(torch.tensor([True, False]), 2, "cpu")
