"""Configurations with a counterpart in mjlab 1.6: fields, defaults and replacements.

`tests/house/data/mjlab_1_6.json` has the fields and members of mjlab 1.6.0. With
MJLAB_PEER_PYTHON, the Python of an environment with mjlab 1.6, it is compared with the
package itself. `python -m tests.house.test_mjlab_fields` writes it.
"""

import dataclasses
import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mjlab.settings.mjlab_1_6 import DEFAULTS, MEANINGS, MJLAB
from tests.tools import mjlab_peer
from tests.tools.dotted_names import found

STORED = Path(__file__).parent / "data" / "mjlab_1_6.json"
PEER = os.environ.get("MJLAB_PEER_PYTHON")

CLASSES = {name: rows for name, rows in MJLAB.fields.items() if name[0].isupper()}
"""Rows of fields; the others are of parameters of functions."""

NOT_COMPARED = {
    "DcMotorDatasheetParams": "its fields are those of DcMotorActuatorCfg",
    "DcMotorPhysicalParams": "its fields are those of DcMotorActuatorCfg",
}
"""Configurations that are not compared, with the reason."""


def names() -> list[str]:
    """Return the names of mjlab's classes on its reference pages."""
    packages = {**MJLAB.packages, **MJLAB.task_packages}
    listed = {name for package in packages.values() for name in package.names.split()}
    return sorted(name for name in listed if name[0].isupper())


@cache
def stored() -> dict[str, dict[str, str]]:
    return json.loads(STORED.read_text())


def counterpart(name: str) -> Any:
    """Return our class for one of theirs, None if there is none."""
    for package, their in MJLAB.all_packages().items():
        if name in their.names.split():
            row = MJLAB.row(package, name)
            return found(row.ours) if row is not None and row.ours else None
    return None


def compared() -> dict[str, type]:
    """Return our configurations by the name of theirs.

    Kinds of terrain have other names here, and their own fields and defaults.
    """
    pairs = {}
    for name in names():
        ours = counterpart(name)
        is_kind = name.endswith("TerrainCfg") and name != "SubTerrainCfg"
        if not name.endswith("Cfg") and name != "ViewerConfig":
            continue
        if dataclasses.is_dataclass(ours) and not is_kind and name not in NOT_COMPARED:
            assert isinstance(ours, type)
            pairs[name] = ours
    return pairs


def of_bases(ours: type, table: dict[str, dict[str, Any]], field: str) -> Any:
    """Return the row of a field, also from a base class."""
    rows = (table.get(base.__name__, {}).get(field) for base in ours.__mro__)
    return next((row for row in rows if row is not None), None)


def translated(theirs: str) -> str:
    """Return a default with our names of mjlab's classes."""
    for name, _, rest in [theirs.partition("(")]:
        ours = counterpart(name) if rest else None
        if ours is not None:
            return f"{ours.__name__}({rest}"
    return theirs


def differences(name: str) -> list[str]:
    """Return fields of one of their classes that are missing or have another default.

    A field that is required there can have any default here.
    """
    ours = compared()[name]
    fields, lines = mjlab_peer.fields_of(ours), []
    for field, default in stored()[name].items():
        if field not in fields:
            row = MJLAB.field([base.__name__ for base in ours.__mro__], field)
            if row is None:
                lines.append(f"{name}.{field} has no counterpart and no row")
            elif row.ours and row.ours not in fields:
                lines.append(f"{name}.{field}: {ours.__name__} has no {row.ours}")
        elif default != mjlab_peer.REQUIRED and translated(default) != fields[field]:
            row = of_bases(ours, DEFAULTS, field)
            if row is None or row.theirs != default:
                lines.append(f"{name}.{field} is {fields[field]}, not {default}")
    return lines


@pytest.mark.parametrize("name", list(compared()))
def test_fields_and_defaults_are_those_of_mjlab_or_have_a_row(name: str) -> None:
    assert differences(name) == []


@pytest.mark.parametrize("table", [CLASSES, DEFAULTS], ids=["replaced", "defaults"])
def test_each_row_is_of_a_field_of_mjlab_that_differs(table: dict[str, Any]) -> None:
    needed: set[tuple[str, str]] = set()
    for name, ours in compared().items():
        fields = mjlab_peer.fields_of(ours)
        for field, default in stored()[name].items():
            differs = field not in fields or translated(default) != fields[field]
            for base in ours.__mro__ if differs else ():
                needed.add((base.__name__, field))
    rows = {(cls, field) for cls, fields in table.items() for field in fields}
    assert rows - needed == set()


def test_each_field_with_another_meaning_has_the_same_name_in_both() -> None:
    theirs = {ours.__name__: stored()[name] for name, ours in compared().items()}
    theirs["RayCastData"] = stored()["RayCastData"]
    ours = {cls.__name__: cls for cls in compared().values()}
    for cls, fields in MEANINGS.items():
        assert fields.keys() <= theirs[cls].keys()
        if cls in ours:
            assert fields.keys() <= mjlab_peer.fields_of(ours[cls]).keys()


@pytest.mark.parametrize(
    ("cls", "field", "said"),
    [
        ("mjlab.sensor.CameraSensorCfg", "camera_name", "use `camera`"),
        ("mjlab.actuator.PositionActuatorCfg", "delay_hold_prob", "use `delay` ("),
        ("mjlab.rl.PpoAgentCfg", "save_interval", "use `checkpoint` ("),
        ("mjlab.sim.SimulationCfg", "nan_guard", "set `dumps` of the agent"),
    ],
)
def test_the_error_of_an_unknown_field_names_its_replacement(
    cls: str, field: str, said: str
) -> None:
    kind = found(cls)
    assert kind is not None
    message = f"{kind.__name__} has no field '{field}' of mjlab 1.6: {said}"
    with pytest.raises(TypeError) as caught:
        kind(**{field: 1})
    assert str(caught.value).startswith(message)


@pytest.mark.skipif(PEER is None, reason="MJLAB_PEER_PYTHON is not set")
@pytest.mark.slow
def test_the_stored_fields_are_those_of_the_installed_mjlab() -> None:
    assert read_peer() == stored()


def read_peer() -> dict[str, dict[str, str]]:
    """Return the fields and members of the mjlab in another environment."""
    assert PEER is not None, "Set MJLAB_PEER_PYTHON to the Python of its environment."
    command = [PEER, "-I", mjlab_peer.__file__, *names()]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(printed.stdout[printed.stdout.index("{\n") :])


if __name__ == "__main__":
    STORED.write_text(json.dumps(read_peer(), indent=1) + "\n")
