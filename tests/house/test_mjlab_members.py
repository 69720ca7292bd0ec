"""Methods and attributes of mjlab 1.6 that `port` replaces."""

import inspect
import re
from functools import cache
from typing import Any

import pytest

from mjlab import actuator, entity, envs, managers, mdp, sensor, sim
from mjlab.cli.porting.mjlab_members import ENV_MEMBERS, MEMBERS
from tests.house.test_mjlab_fields import stored

OURS = (
    *vars(actuator).values(),
    *vars(entity).values(),
    *vars(envs).values(),
    *vars(managers).values(),
    *vars(mdp).values(),
    *vars(sensor).values(),
    *vars(sim).values(),
    entity.EntityData,
)


def members(value: Any) -> set[str]:
    """Return names of members of a class, and of attributes that its code sets."""
    if not inspect.isclass(value) or not value.__module__.startswith("mjlab"):
        return set()
    fields = getattr(value, "__dataclass_fields__", {})
    set_by_code = re.findall(r"self\.([a-z]\w*)", inspect.getsource(value))
    return {*dir(value), *fields, *set_by_code}


@cache
def ours() -> set[str]:
    return set().union(*map(members, OURS))


@pytest.mark.parametrize("name", [*MEMBERS, *ENV_MEMBERS])
def test_a_replaced_member_is_one_of_mjlab(name: str) -> None:
    assert any(name in fields for fields in stored().values())


@pytest.mark.parametrize("name", MEMBERS)
def test_a_replaced_member_is_none_of_ours(name: str) -> None:
    assert name not in ours()


@pytest.mark.parametrize("row", [*MEMBERS.values(), *ENV_MEMBERS.values()])
def test_a_replacement_exists_or_a_note_explains_the_alternative(
    row: tuple[str, str],
) -> None:
    replacement, note = row
    assert replacement or note
    assert set(filter(None, replacement.split("."))) <= ours()
