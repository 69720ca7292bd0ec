"""Configurations with a counterpart in mjlab 1.6: fields, defaults and replacements.

`tests/house/data/mjlab_1_6.json` has the fields and members of mjlab 1.6.0. With
MJLAB_PEER_PYTHON, the Python of an environment with mjlab 1.6, it is compared with the
package itself. `python -m tests.house.test_mjlab_fields` writes it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mjlab.settings.mjlab_1_6 import DEFAULTS, MEANINGS, MJLAB
from tests.tools import mjlab_peer
from tests.tools.dotted_names import found
from tests.tools.mjlab_comparison import (
    STORED,
    compare_fields,
    compared,
    names,
    stored,
    translated,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))

import tables

PEER = os.environ.get("MJLAB_PEER_PYTHON")

CLASSES = {name: rows for name, rows in MJLAB.fields.items() if name[0].isupper()}
"""Rows of fields; the others are of parameters of functions."""


def test_the_stored_file_has_each_class_of_the_table() -> None:
    no_classes = {"EventMode", "VecEnvObs", "VecEnvStepReturn", "MujocoSimulation"}
    constants = {name for name in names() if name.isupper()}
    assert set(names()) - stored().keys() == no_classes | constants


@pytest.mark.parametrize("name", list(compared()))
def test_fields_and_defaults_are_those_of_mjlab_or_have_a_row(name: str) -> None:
    assert [
        field for field, why in compare_fields(name).differs.items() if not why
    ] == []


@pytest.mark.parametrize("table", [CLASSES, DEFAULTS], ids=["replaced", "defaults"])
def test_each_table_row_is_an_mjlab_field_that_differs(table: dict[str, Any]) -> None:
    needed: set[tuple[str, str]] = set()
    for name, ours in compared().items():
        own = mjlab_peer.fields_of(ours)
        for field, default in stored()[name].items():
            differs = field not in own or translated(default) != own[field]
            for base in ours.__mro__ if differs else ():
                needed.add((base.__name__, field))
    rows = {(cls, field) for cls, fields in table.items() for field in fields}
    assert rows - needed == set()


def test_the_page_has_each_class_with_its_differences() -> None:
    page = tables.mjlab_fields().splitlines()
    for name in compared():
        rows = [line for line in page if line.startswith(f"| `{name}`")]
        assert len(rows) == 1
        assert all(f"`{field}`" in rows[0] for field in compare_fields(name).differs)
    assert any(
        line.startswith("| `IdealPdActuatorCfg`")
        and "`effort_limit`: `inf`, here `None`: None also means no limit" in line
        for line in page
    )


def test_each_field_with_another_meaning_has_the_same_name_in_both() -> None:
    theirs = {ours.__name__: stored()[name] for name, ours in compared().items()}
    theirs["RayCastData"] = stored()["RayCastData"]
    ours = {cls.__name__: cls for cls in compared().values()}
    for cls, meanings in MEANINGS.items():
        assert meanings.keys() <= theirs[cls].keys()
        if cls in ours:
            assert meanings.keys() <= mjlab_peer.fields_of(ours[cls]).keys()


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
