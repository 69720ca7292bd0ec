"""Files that are written whole or not at all."""

import math
from pathlib import Path

import pytest

from mjlab.files import finite, folder_beside, move_durably


def test_a_folder_whose_writing_fails_leaves_nothing_beside_its_place(
    tmp_path: Path,
) -> None:
    place = tmp_path / "runs" / "one"
    with pytest.raises(RuntimeError, match="half"), folder_beside(place) as unfinished:
        (unfinished / "half").write_text("x")
        raise RuntimeError("half")
    assert list((tmp_path / "runs").iterdir()) == []
    with folder_beside(place) as unfinished:
        (unfinished / "whole").write_text("x")
        move_durably(unfinished, place)
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["one"]
    assert (place / "whole").read_text() == "x"


def test_numbers_that_are_not_finite_become_none_in_json_data() -> None:
    data = {"a": (1.0, math.nan), "b": [{"c": -math.inf}, "x", None, 3, True]}
    wanted = {"a": [1.0, None], "b": [{"c": None}, "x", None, 3, True]}
    assert finite(data) == wanted
