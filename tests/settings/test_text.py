"""Text that can be parsed in two ways."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mjlab.settings.text import kind_of_text, read_value
from mjlab.settings.tree import Part


@pytest.mark.parametrize(
    ("annotation", "now", "text", "wanted"),
    [
        (str | None, "word", "None", None),
        (str | None, None, "None", None),
        (Path | None, Path("a"), "None", None),
        (str | None, None, "none at all", "none at all"),
        (str, "word", "None", "None"),
        (float | None, 1.0, "None", None),
        (int | float, 1, "2", 2),
        (int | float, 1.0, "2", 2.0),
    ],
)
def test_none_is_text_or_value_depending_on_the_type(
    annotation: Any, now: Any, text: str, wanted: Any
) -> None:
    found = read_value("option", [text], Part(now, annotation))
    assert found == wanted and type(found) is type(wanted)


def test_an_optional_number_in_a_tuple_can_be_typed() -> None:
    annotation = tuple[int | None, ...]
    assert kind_of_text(Part((1, None), annotation)) == annotation
    assert kind_of_text(Part((None,), tuple[Callable[[], int] | None, ...])) is None
