"""Validation of names that are read from a file and become part of a path."""

from pathlib import Path, PureWindowsPath

import pytest

from mjlab.safe_names import check_name, name_fault, plain_name

SAFE = ["walk", "Velocity-G1", "mesh (1).stl", "é", "a..b", "trial-000", "-a", "~a"]
UNSAFE = ["", ".", "..", ".bashrc", "a/b", "/a", "a\\b", "C:", "C:a", "a\0", "a\n"]
UNSAFE += ["*", "a?", "[a]:", "a|b", "a.", "a ", "\u202ea", "\ud800", "a" * 201]


@pytest.mark.parametrize("name", SAFE)
def test_an_ordinary_name_is_safe(name: str) -> None:
    assert name_fault(name) is None
    assert check_name(name, "It says", ValueError) == name
    assert PureWindowsPath(name).parts == (name,)


@pytest.mark.parametrize("name", [*UNSAFE, None, 7, b"walk", ["walk"]])
def test_name_with_path_elements_is_refused(name: object) -> None:
    with pytest.raises(KeyError, match=r"It says .*not a safe file name"):
        check_name(name, "It says", KeyError)


def test_the_error_of_a_long_name_is_short() -> None:
    with pytest.raises(ValueError) as error:
        check_name("a" * 10_000, "It says", ValueError)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("text", [*SAFE, *UNSAFE, "../../a", "é" * 500, "a b", "..."])
def test_a_plain_name_is_safe_and_one_file_in_a_folder(
    text: str, tmp_path: Path
) -> None:
    name = plain_name(text)
    assert name_fault(name) is None
    (tmp_path / name).write_text("")
    assert [file.name for file in tmp_path.iterdir()] == [name]
