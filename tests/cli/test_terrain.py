"""`terrain.py`: pictures of terrain kinds, and messages."""

import numpy as np
import pytest
from PIL import Image

from mjlab.cli import run_program
from mjlab.cli.terrain import find_kinds, main


def picture(tmp_path, *line: str) -> np.ndarray:
    path = tmp_path / "out.png"
    assert run_program(main, [*line, "--file", str(path), "--size", "160,80"]) == 0
    return np.asarray(Image.open(path)).astype(int)


def test_a_terrain_kind_is_drawn_and_differs_from_the_others(
    renderer_works, tmp_path, capsys
):
    stairs = picture(tmp_path, "open_stairs", "--rows", "2")
    assert stairs.shape == (80, 160, 3)
    assert capsys.readouterr().out == f"Wrote {tmp_path / 'out.png'}.\n"
    flat = picture(tmp_path, "flat", "--rows", "2")
    assert np.mean(np.abs(stairs - flat).max(axis=2) > 20) > 0.1
    assert np.array_equal(stairs, picture(tmp_path, "open_stairs", "--rows", "2"))


def test_without_a_kind_all_kinds_are_listed(capsys):
    assert run_program(main, []) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) == len(find_kinds()) == 21
    assert "\nnarrow_beams          Beams over a pit, along x and y, that lead" in said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("open_stair", r"Unknown kind of terrain 'open_stair'\. .*'open_stairs'"),
        ("flat --rows 0", r"--rows is 0; it has to be 1 or more"),
    ],
)
def test_an_undrawable_terrain_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        main(line.split())
