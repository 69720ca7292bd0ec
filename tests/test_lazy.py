"""Names that packages import on first use."""

import importlib
from types import ModuleType

import pytest

from mjlab.lazy import modules_by_name

PACKAGES = ("export", "gym", "muscle", "recording", "render", "replay", "rl")


@pytest.mark.parametrize("name", PACKAGES)
def test_lazy_names_are_the_objects_of_their_modules(name):
    package = importlib.import_module(f"mjlab.{name}")
    listed = modules_by_name(str(package.__file__))
    assert listed
    for _ in range(2):
        for each, module in listed.items():
            found = getattr(package, each)
            assert not isinstance(found, ModuleType)
            assert found is getattr(importlib.import_module(module), each)


def test_an_unknown_name_is_an_attribute_error():
    package = importlib.import_module("mjlab.rl")
    with pytest.raises(AttributeError, match=r"'mjlab\.rl' has no attribute 'Trainer'"):
        _ = package.Trainer


def test_only_imports_for_type_checkers_are_listed(tmp_path):
    file = tmp_path / "__init__.py"
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from a.b import C as C, D as D\n"
        "if True:\n    from a.b import E\n"
    )
    assert modules_by_name(str(file)) == {"C": "a.b", "D": "a.b"}
