"""Methods and attributes of mjlab 1.6 that `port` replaces."""

import inspect
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from mjlab import actuator, entity, envs, managers, mdp, scene, sensor, sim
from mjlab.entity.index import Elements
from mjlab.motion import MotionCommand
from mjlab.scene.scene import Ground
from mjlab.settings.mjlab_1_6 import LEFT_OUT, MJLAB
from tests.tools.mjlab_comparison import USED, compare_members, members_of, stored

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

import tables

OURS = (
    *vars(actuator).values(),
    *vars(entity).values(),
    *vars(envs).values(),
    *vars(managers).values(),
    *vars(mdp).values(),
    *vars(sensor).values(),
    *vars(sim).values(),
    entity.EntityData,
    scene.Scene,
    Ground,
    MotionCommand,
    Elements,
)


METHODS = [
    name
    for name in stored()["Entity"]
    if re.fullmatch(r"(write_.*_to_sim|set_.*_target)", name)
    and name != "write_data_to_sim"
]
"""Writers and targets of an entity."""

IS_SAFE = {
    "env_origins": "the origins for drawing, which terms do not need",
}
"""Members with another meaning here, with the reason why they are replaced."""


@cache
def ours() -> set[str]:
    return set().union(*map(members_of, OURS))


ALONE = [name for name in MJLAB.members if "." not in name]
"""Members that are replaced for any owner."""


@pytest.mark.parametrize("name", ALONE)
def test_a_replaced_member_is_one_of_mjlab(name: str) -> None:
    assert any(name in fields for fields in stored().values())


@pytest.mark.parametrize("name", ALONE)
def test_replaced_member_does_not_exist_here(name: str) -> None:
    assert name not in ours() or name in IS_SAFE


@pytest.mark.parametrize("name", MJLAB.members)
def test_a_replacement_exists_or_a_note_says_what_to_do(name: str) -> None:
    row = MJLAB.members[name]
    assert row.ours or row.note
    assert set(filter(None, row.ours.split("."))) <= ours()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_users_call_is_here_with_the_same_parameters(name: str) -> None:
    """The stored signatures are those of mjlab 1.6.0."""
    parameters = list(inspect.signature(getattr(entity.Entity, name)).parameters)
    theirs = re.findall(r"[(,] ?(\w+)", stored()["Entity"][name])
    assert parameters == theirs


@pytest.mark.parametrize("name", USED)
def test_each_member_exists_is_replaced_or_has_a_reason(name: str) -> None:
    """A method is here if mjlab's positional arguments mean the same."""
    assert [
        each for each, why in compare_members(name).left_out.items() if not why
    ] == []


def test_each_reason_is_needed() -> None:
    needed = {
        key
        for name in USED
        for each in compare_members(name).left_out
        for key in (f"{name}.{each}", f"*.{each}")
    }
    assert LEFT_OUT.keys() - needed == set()


def test_the_page_has_each_class_with_its_members() -> None:
    page = tables.mjlab_members()
    for name in USED:
        assert page.count(f"\n| `{name}` |") == 1
    assert (
        "`is_mocap`: use `index.mocap_body_id` (is None without a mocap body)" in page
    )
