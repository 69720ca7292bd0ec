"""Names of mjlab 1.6 and Isaac Lab, each with a row, and every name of ours there."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

import tables

from mjlab.cli.porting.isaaclab_2_3 import ISAAC_LAB
from mjlab.settings.mjlab_1_6 import MJLAB
from tests.tools.dotted_names import found

PROJECTS = (MJLAB, ISAAC_LAB)
PACKAGES = [(project, name) for project in PROJECTS for name in project.all_packages()]
ROWS = [(project, name) for project in PROJECTS for name in project.otherwise]


@pytest.mark.parametrize(("project", "package"), PACKAGES)
def test_a_name_without_a_row_is_the_same_here(project, package):
    their = project.all_packages()[package]
    same = [name for name in their.names.split() if name not in project.otherwise]
    assert [name for name in same if found(f"{their.ours}.{name}") is None] == []


@pytest.mark.parametrize(("project", "name"), ROWS)
def test_names_in_our_column_exist(project, name):
    row = project.replacement(name)
    assert row.ours or row.note or row.omit
    assert not row.ours or found(row.ours) is not None, row.ours


def test_every_row_has_an_mjlab_name_and_a_description():
    for project in PROJECTS:
        packages = project.all_packages().values()
        names = {name for their in packages for name in their.names.split()}
        assert project.otherwise.keys() <= names
        idle = {
            name
            for their in packages
            for name in their.names.split()
            if project.otherwise.get(name) == (f"{their.ours}.{name}", "")
        }
        assert idle == set()


def test_no_name_is_given_twice_in_a_package():
    for project, package in PACKAGES:
        names = project.all_packages()[package].names.split()
        assert len(names) == len(set(names))


def test_tables_hold_every_name():
    for project in PROJECTS:
        for packages in (project.packages, project.task_packages):
            page = tables.names(project, packages)
            for their in packages.values():
                assert all(f"`{name}`" in page for name in their.names.split())


def test_a_name_that_is_not_ours_is_not_found():
    assert found("mjlab.mdp.reward_weight") is None
    assert found("mjlab.entity.EntityData.root_pos") is None
