"""Names of mjlab 1.6 and Isaac Lab, each with a row, and every name of ours there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

from generator.porting import ISAAC_LAB, MJLAB, OTHERWISE, names_part

from tests.tools.dotted_names import found

PACKAGES = {**MJLAB, **ISAAC_LAB}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_without_a_row_is_the_same_here(package):
    their = PACKAGES[package]
    same = [name for name in their.names.split() if name not in OTHERWISE]
    assert [name for name in same if found(f"{their.ours}.{name}") is None] == []


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_a_row_calls_ours_is_there(name):
    ours, differs = OTHERWISE[name]
    assert ours or differs
    assert not ours or found(ours) is not None, ours


def test_every_row_is_of_a_name_that_is_theirs_and_says_something():
    names = {name for their in PACKAGES.values() for name in their.names.split()}
    assert OTHERWISE.keys() <= names
    idle = {
        name
        for their in PACKAGES.values()
        for name in their.names.split()
        if OTHERWISE.get(name) == (f"{their.ours}.{name}", "")
    }
    assert idle == set()


def test_no_name_is_given_twice_in_a_package():
    for their in PACKAGES.values():
        names = their.names.split()
        assert len(names) == len(set(names))


def test_pages_hold_every_name():
    for which, packages in (("mjlab", MJLAB), ("isaaclab", ISAAC_LAB)):
        page = names_part(which)
        for their in packages.values():
            assert all(f"`{name}`" in page for name in their.names.split())


def test_a_name_that_is_not_ours_is_not_found():
    assert found("mjlab.mdp.reward_weight") is None
    assert found("mjlab.entity.EntityData.root_pos") is None
