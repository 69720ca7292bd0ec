"""Terminations of a tracking task, and their outcomes."""

from mjlab.tasks.tracking.terms import terminations


def test_the_end_of_time_and_of_a_clip_are_no_failures_and_all_else_is() -> None:
    terms = terminations(("left_foot", "right_foot"))
    assert {name for name, term in terms.items() if term.time_out} == {
        "time_out",
        "motion_ends",
    }
