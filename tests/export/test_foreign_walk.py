"""Other readings of a contract, and verdicts of a simulation."""

from dataclasses import replace

import numpy as np
import pytest

from mjlab.export.foreign import closed_loop
from mjlab.export.foreign.alternatives import (
    alternatives,
    breadth_first,
    reordered,
)
from mjlab.export.foreign.closed_loop import check_walk
from mjlab.export.foreign.walk import Walk, walk
from tests.export.test_foreign_graph import read

GOOD = Walk(None, (0.5, 0.0), 0.5)
FALL = Walk(0.8, (0.0, 0.0), 0.5)


@pytest.fixture
def policy(tmp_path):
    interface, robot, _ = read(tmp_path, "isaaclab")
    return interface, robot


def gravity_scale(interface) -> float:
    (term,) = [term for term in interface.terms if term.source == "gravity"]
    return float(np.ravel(term.scale)[0])


def test_joints_level_by_level_are_those_of_isaac_lab(policy):
    _, robot = policy
    wanted = ("left_hip", "right_hip", "left_knee", "right_knee")
    assert breadth_first(robot) == wanted


def test_reordered_contract_keeps_the_gains_of_each_joint(policy):
    interface, robot = policy
    other = reordered(interface, robot.joints)
    gains = [dict(zip(f.joints, f.stiffness, strict=True)) for f in (interface, other)]
    assert gains[0] == gains[1]
    # Positions in the file now belong to other joints.
    assert other.joints == robot.joints and other.acted == robot.joints
    assert other.default.tolist() == interface.default.tolist()


def test_each_alternative_differs_from_the_contract_once(policy):
    interface, robot = policy
    found = list(alternatives(interface, robot))
    places = {each.place for each in found}
    assert {"joints", "gains", "history order", "history start", "delay"} <= places
    assert {"projected_gravity", "action scale", "last action"} <= places
    assert len({(each.place, each.said) for each in found}) == len(found)
    assert [each.late for each in found if each.place == "delay"] == [1]


def test_failing_alternative_is_excluded_and_walking_one_is_undetermined(
    policy, monkeypatch
):
    interface, robot = policy

    def only_gravity_matters(other, robot, *, late=0):
        return GOOD if gravity_scale(other) == 1.0 else FALL

    monkeypatch.setattr(closed_loop, "walk", only_gravity_matters)
    found = check_walk(interface, robot)
    by_place = {}
    for each in found:
        by_place.setdefault(each.place, set()).add(each.state)
    assert by_place["walk"] == {"ok"}
    assert by_place["projected_gravity"] == {"ok"}
    assert by_place["history order"] == {"undetermined"}


def test_alternative_that_walks_is_reported_as_the_mistake(policy, monkeypatch):
    interface, robot = policy
    wrong = interface.with_term("projected_gravity", scale=-1.0)

    def needs_gravity_down(other, robot, *, late=0):
        return GOOD if gravity_scale(other) == 1.0 else FALL

    monkeypatch.setattr(closed_loop, "walk", needs_gravity_down)
    found = check_walk(wrong, robot)
    assert [(each.place, each.state) for each in found] == [
        ("walk", "mismatch"),
        ("projected_gravity", "mismatch"),
    ]
    assert "falls after 0.8 s" in found[0].said


def test_unexplained_fall_is_a_mismatch(policy, monkeypatch):
    interface, robot = policy
    monkeypatch.setattr(closed_loop, "walk", lambda *args, late=0: FALL)
    (found,) = check_walk(interface, robot)
    assert found.state == "mismatch"
    assert "no single change of the contract explains it" in found.said


def test_robot_without_a_useful_policy_does_not_walk(policy):
    interface, robot = policy
    limp = replace(interface, action_scale=np.zeros(4))
    found = walk(limp, robot)
    assert not found.is_good
