"""Functions of mjlab 1.6's mathematics keep their values when `port` rewrites calls.

`tests/house/data/mjlab_1_6_math.json` has the values of mjlab 1.6.0. With
MJLAB_PEER_PYTHON they are compared with the package itself.
`python -m tests.house.test_mjlab_math` writes the file.
"""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.cli.porting.codemod import port_file
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles
from mjlab.settings.mjlab_1_6 import MJLAB
from tests.tools import mjlab_math

STORED = Path(__file__).parent / "data" / "mjlab_1_6_math.json"
PEER = os.environ.get("MJLAB_PEER_PYTHON")
MODULE = "mjlab.utils.lab_api.math"

DRAWN = {
    name
    for name in MJLAB.task_packages[MODULE].names.split()
    if name.startswith(("random_", "sample_"))
}


@cache
def stored() -> dict[str, dict[str, Any]]:
    return json.loads(STORED.read_text())


def ported_value(name: str, call: str) -> Any:
    """Return the value of a call, rewritten by `port`."""
    text = f"from {MODULE} import {name}\nfound = {call}\n"
    source = ForeignFile(Path("task.py"), Path("task.py"), "task", text)
    space: dict[str, Any] = {**mjlab_math.arguments(name), "name": name}
    exec(port_file(source, ForeignFiles((source,))).text, space)
    return mjlab_math.plain(space["found"])


def test_each_function_of_the_table_has_a_value() -> None:
    names = set(MJLAB.task_packages[MODULE].names.split())
    assert names - DRAWN == mjlab_math.CASES.keys() == stored().keys()


@pytest.mark.parametrize("name", mjlab_math.CASES)
def test_a_rewritten_call_has_mjlabs_value(name: str) -> None:
    given = mjlab_math.CASES[name]
    assert list(given) == stored()[name]["parameters"][: len(given)]
    words = (", ".join(given), ", ".join(f"{key}={key}" for key in given))
    for arguments in words:
        value = ported_value(name, f"{name}({arguments})")
        for ours, theirs in zip(
            map(torch.tensor, value),
            map(torch.tensor, stored()[name]["value"]),
            strict=True,
        ):
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(PEER is None, reason="MJLAB_PEER_PYTHON is not set")
@pytest.mark.slow
def test_the_stored_values_are_those_of_the_installed_mjlab() -> None:
    assert read_peer() == stored()


def read_peer() -> dict[str, dict[str, Any]]:
    """Return the values of the mjlab in another environment."""
    assert PEER is not None, "Set MJLAB_PEER_PYTHON to the Python of its environment."
    run = [PEER, "-I", mjlab_math.__file__]
    env = {**os.environ, "PYTORCH_JIT": "0"}  # For the signatures.
    done = subprocess.run(run, env=env, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    STORED.write_text(json.dumps(read_peer(), indent=1) + "\n")
