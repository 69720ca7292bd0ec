"""Files that are written completely or not at all."""

from pathlib import Path

import pytest

from mjlab.files import folder_beside, move_durably


def test_a_folder_whose_writing_fails_leaves_no_files(
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
