"""Bounds of numbers, declared on the field."""

from typing import Annotated

import numpy as np
import pytest

from mjlab.settings import Config
from mjlab.settings.bounds import above, at_least, between, bounds_of, check_numbers
from mjlab.settings.tree import SettingError
from mjlab.settings.types import WrongTypeError


class PartCfg(Config):
    share: Annotated[float, between(0, 1)] = 0.5
    sizes: Annotated[tuple[int, ...], at_least(1)] = (1, 2)


class WholeCfg(Config):
    steps: Annotated[int, at_least(1)] = 1
    speed: Annotated[float | None, above(0)] = None
    part: PartCfg = PartCfg()
    parts: dict[str, PartCfg | None] = {}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 0}, "env.steps is 0; it has to be 1 or more."),
        ({"speed": 0.0}, "env.speed is 0.0; it has to be above 0."),
        ({"speed": float("nan")}, "env.speed is nan; it has to be above 0."),
        ({"part": PartCfg(share=1.5)}, "env.part.share is 1.5; it has to be from 0"),
        ({"part": PartCfg(sizes=(3, 0))}, "env.part.sizes[1] is 0; it has to be 1"),
        ({"parts": {"a": PartCfg(share=-1)}}, "env.parts.a.share is -1; it has to"),
        ({"steps": "4"}, "env.steps is '4' (str); it has to be int."),
        ({"steps": None}, "env.steps is None (NoneType); it has to be int."),
        ({"speed": [1.0]}, "env.speed is [1.0] (list); it has to be float or None."),
        ({"part": PartCfg(share="a")}, "env.part.share is 'a' (str); it has to be"),
    ],
)
def test_a_wrong_number_is_named_by_its_path(changes: dict, said: str) -> None:
    with pytest.raises((SettingError, WrongTypeError)) as caught:
        check_numbers(WholeCfg(**changes), "env")
    assert str(caught.value).startswith(said)


def test_the_ends_of_a_bound_belong_to_it_unless_it_is_open() -> None:
    parts = {"a": PartCfg(share=0), "b": PartCfg(share=1), "c": None}
    check_numbers(WholeCfg(steps=1, speed=1e-9, parts=parts), "env")


def test_numbers_of_numpy_are_valid() -> None:
    check_numbers(WholeCfg(steps=np.int64(2), speed=np.float32(0.5)), "env")


def test_a_subclass_has_the_bounds_of_its_base() -> None:
    class OtherCfg(WholeCfg):
        steps = 5

    assert bounds_of(OtherCfg)["steps"] == at_least(1)
    with pytest.raises(SettingError):
        check_numbers(OtherCfg(steps=0), "env")


def test_a_type_known_only_to_type_checkers_hides_no_other_bound() -> None:
    class LateCfg(Config):
        steps: Annotated[int, at_least(1)] = 1
        link: "ImportedForTypeCheckers | None" = None  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    with pytest.raises(SettingError, match=r"env\.steps is 0; it has to be 1 or more"):
        check_numbers(LateCfg(steps=0), "env")
