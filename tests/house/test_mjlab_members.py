"""Methods and attributes of mjlab 1.6 that `port` replaces."""

import inspect
import re
from functools import cache
from typing import Any

import pytest

from mjlab import actuator, entity, envs, managers, mdp, scene, sensor, sim
from mjlab.scene.scene import Ground
from mjlab.settings.mjlab_1_6 import MJLAB
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
    scene.Scene,
    Ground,
)


def members(value: Any) -> set[str]:
    """Return names of members of a class, and of attributes that its code sets."""
    if not inspect.isclass(value) or not value.__module__.startswith("mjlab"):
        return set()
    fields = getattr(value, "__dataclass_fields__", {})
    set_by_code = re.findall(r"self\.([a-z]\w*)", inspect.getsource(value))
    return {*dir(value), *fields, *set_by_code}


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
    return set().union(*map(members, OURS))


ALONE = [name for name in MJLAB.members if "." not in name]
"""Members that are replaced for any owner."""


@pytest.mark.parametrize("name", ALONE)
def test_a_replaced_member_is_one_of_mjlab(name: str) -> None:
    assert any(name in fields for fields in stored().values())


@pytest.mark.parametrize("name", ALONE)
def test_a_replaced_member_is_none_of_ours(name: str) -> None:
    assert name not in ours() or name in IS_SAFE


@pytest.mark.parametrize("name", MJLAB.members)
def test_a_replacement_exists_or_a_note_says_what_to_do(name: str) -> None:
    replacement, note = MJLAB.members[name]
    assert replacement or note
    assert set(filter(None, replacement.split("."))) <= ours()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_users_call_is_here_with_the_same_parameters(name: str) -> None:
    """The stored signatures are those of mjlab 1.6.0."""
    parameters = list(inspect.signature(getattr(entity.Entity, name)).parameters)
    theirs = re.findall(r"[(,] ?(\w+)", stored()["Entity"][name])
    assert parameters == theirs
