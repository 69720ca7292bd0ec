"""Names and patterns, compared with manual results."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mjlab.names import (
    AmbiguousNameError,
    InvalidPatternError,
    UnknownNameError,
    find_name,
    match_names,
    resolve_values,
    suggest,
)

JOINTS = ["left_hip", "left_knee", "right_hip", "right_knee"]


def test_a_pattern_matches_whole_names_only():
    assert match_names("left_hip", [*JOINTS, "left_hip_yaw"], what="joint") == [0]


def test_indices_follow_the_order_of_the_names_by_default():
    assert match_names(["right_.*", ".*_hip"], JOINTS, what="joint") == [0, 2, 3]


def test_indices_follow_the_order_of_the_patterns_on_request():
    patterns = ["right_.*", ".*_hip"]
    found = match_names(patterns, JOINTS, what="joint", preserve_order=True)
    assert found == [2, 3, 0]


def test_a_name_matched_twice_is_listed_once():
    assert match_names([".*", "left_hip"], JOINTS, what="joint") == [0, 1, 2, 3]


def test_an_empty_list_of_patterns_has_no_matches():
    assert match_names([], JOINTS, what="joint") == []


@given(st.lists(st.text("ab_", min_size=1, max_size=4), min_size=1, unique=True))
def test_escaped_names_find_themselves(names):
    patterns = [re.escape(name) for name in reversed(names)]
    found = match_names(patterns, names, what="joint", preserve_order=True)
    assert found == list(reversed(range(len(names))))


def test_an_unmatched_pattern_is_an_error_with_kind_owner_and_nearest_name():
    with pytest.raises(UnknownNameError) as error:
        match_names(["left_hip", "left_kne"], JOINTS, what="joint", owner="robot")
    assert str(error.value) == (
        "No joint of 'robot' matches 'left_kne'. Valid names, nearest first: "
        "'left_knee', 'left_hip', 'right_knee', 'right_hip'."
    )


def test_an_error_shortens_a_long_list_of_names():
    names = [f"joint_{index}" for index in range(100)]
    text = suggest("joint_42", names)
    assert text.startswith("Valid names, nearest first: 'joint_42'")
    assert text.endswith(" and 92 more.")


def test_dissimilar_names_are_not_suggested():
    names = ["name", "seed", "device", "resume"]
    assert suggest("xyz", names) == ("Valid names: 'name', 'seed', 'device', 'resume'.")
    assert suggest("xyz", names, otherwise="See --help.") == "See --help."
    # The dashes of options do not count as similarity.
    options = [f"--{name}" for name in (*names, "disable")]
    assert suggest("--wandb", options, otherwise="See --help.") == "See --help."
    assert suggest("--sed", options, otherwise="no").startswith(
        "Valid names, nearest first: '--seed'"
    )


def test_a_part_of_a_name_is_near_it():
    text = suggest("g1", ["Lift-Yam", "Velocity-G1-Flat"], otherwise="no")
    assert text.startswith("Valid names, nearest first: 'Velocity-G1-Flat'")


def test_suggestions_for_a_pattern_ignore_its_operators():
    text = suggest(r".*_(knee|kneee)\b", JOINTS)
    assert text.index("left_knee") < text.index("left_hip")


def test_an_error_reports_an_empty_list_of_names():
    with pytest.raises(UnknownNameError, match="There are none"):
        match_names("foot", [], what="site")


def test_an_error_shows_how_to_escape_a_name_that_is_not_its_own_pattern():
    with pytest.raises(UnknownNameError, match=re.escape(r"Write it as 'a\\+b'")):
        match_names("a+b", ["a+b"], what="geom")


def test_an_invalid_regular_expression_is_named():
    with pytest.raises(InvalidPatternError, match=r"joint pattern 'a\(' of 'robot'"):
        match_names("a(", JOINTS, what="joint", owner="robot")


def test_find_name_takes_a_name_and_no_pattern():
    assert find_name("a+b", ["x", "a+b"], what="geom") == 1
    with pytest.raises(UnknownNameError, match=r"no joint '\.\*' of 'robot'"):
        find_name(".*", JOINTS, what="joint", owner="robot")


def test_one_value_is_given_to_every_name():
    assert resolve_values(2.0, JOINTS, what="joint") == [2.0] * 4


def test_values_are_resolved_by_pattern_and_the_rest_is_none():
    values = {".*_hip": 1.0, "left_knee": 2.0}
    assert resolve_values(values, JOINTS, what="joint") == [1.0, 2.0, 1.0, None]


def test_a_name_matched_by_two_patterns_is_an_error_that_names_both():
    with pytest.raises(AmbiguousNameError) as error:
        resolve_values({".*": 1.0, "left_.*": 2.0}, JOINTS, what="joint")
    assert "'.*' and 'left_.*' both match the joint 'left_hip'" in str(error.value)


def test_an_unmatched_pattern_of_values_is_an_error():
    with pytest.raises(UnknownNameError, match="No joint matches 'arm'"):
        resolve_values({".*": 1.0, "arm": 2.0}, JOINTS, what="joint")


def test_a_name_without_a_required_value_is_an_error_that_names_it():
    with pytest.raises(UnknownNameError, match=r"'left_knee'.*2 of 4.*'\.\*_hip'"):
        resolve_values({".*_hip": 1.0}, JOINTS, what="joint", required=True)
