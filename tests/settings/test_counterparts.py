"""Counterparts of names of other frameworks, in words."""

import pytest

from mjlab.settings.counterparts import Replacement


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (Replacement("lin_vel"), "use `lin_vel`"),
        (Replacement("lin_vel", "in m/s"), "use `lin_vel` (in m/s)"),
        (Replacement("count", value="len(...)"), "use `count` (`len(...)`)"),
        (Replacement("", "set by the scene", omit=True), "omit it: set by the scene"),
    ],
)
def test_a_counterpart_is_said_with_its_note(row: Replacement, text: str) -> None:
    assert row.text() == text
