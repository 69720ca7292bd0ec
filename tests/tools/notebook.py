"""Executes notebooks: `python -m tests.tools.notebook` writes their outputs.

With the names of notebooks as arguments, such as `rollout`, it executes only these.

`make` does not install Jupyter, so it has a separate environment, from which the kernel
imports this project and its dependencies.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from mjlab.provenance import without_places
from tests.tools.architecture import ROOT
from tests.tools.installed import make_venv, run

TUTORIAL = ROOT / "docs/tutorial.ipynb"
ROLLOUT = ROOT / "docs/examples/rollout.ipynb"
NOTEBOOKS = (TUTORIAL, ROLLOUT)
SECONDS = 1500
"""Maximum duration of a cell on a busy machine."""


def execute(notebook: Path, folder: Path) -> dict[str, Any]:
    """Execute a notebook from top to bottom in an empty folder; return it.

    An error in a cell raises, with the cell and its traceback.
    """
    bin = make_venv(folder / "jupyter", "nbclient", "ipykernel")
    work = folder / "work"
    work.mkdir()
    copy = work / notebook.name
    shutil.copy(notebook, copy)
    packages = Path(torch.__file__).parents[1]
    environ = os.environ | {
        "PYTHONPATH": f"{ROOT}:{packages}",
        "OMP_NUM_THREADS": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        # The user's own kernel would use another Python.
        "JUPYTER_PATH": str(folder / "jupyter/share/jupyter"),
        "HOME": str(folder),
    }
    run(
        *(bin / "jupyter-execute", "--inplace", f"--timeout={SECONDS}", copy),
        cwd=work,
        env=environ,
    )
    return json.loads(copy.read_text("utf-8"))


def code_of(notebook: dict[str, Any]) -> list[str]:
    """Return the text of each code cell."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in cells]


def outputs_of(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all outputs of the cells."""
    return [out for cell in notebook["cells"] for out in cell.get("outputs", ())]


def kept(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook for storage: without machine data and videos."""
    metadata = {**notebook["metadata"], "language_info": {"name": "python"}}
    cells = [{**cell, "metadata": {}} for cell in notebook["cells"]]
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = _joined([_plain(out) for out in cell["outputs"]])
    return {**notebook, "metadata": metadata, "cells": cells}


def _plain(out: dict[str, Any]) -> dict[str, Any]:
    """Return an output without paths, and as text where rich created HTML."""
    data = {k: _lines("".join(text)) for k, text in out.get("data", {}).items()}
    page = "".join(data.pop("text/html", ()))
    if "text" in out:
        return {**out, "text": _lines("".join(out["text"]))}
    if out["output_type"] == "display_data" and "<pre" in page:
        said = "".join(data["text/plain"])
        return {"name": "stdout", "output_type": "stream", "text": _lines(said)}
    return {**out, "data": data, "metadata": {}}


def _lines(text: str) -> list[str]:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return [without_places(line) for line in plain.splitlines(keepends=True)]


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return outputs with consecutive printed lines joined."""
    found: list[dict[str, Any]] = []
    for out in outputs:
        before = found[-1] if found else {}
        if out["output_type"] == "stream" and before.get("name") == out["name"]:
            found[-1] = {**before, "text": [*before["text"], *out["text"]]}
        else:
            found.append(out)
    return found


def main(names: Sequence[str]) -> None:
    """Execute notebooks, and store their outputs."""
    for notebook in NOTEBOOKS:
        if names and notebook.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = kept(execute(notebook, Path(folder)))
        text = json.dumps(done, indent=1, ensure_ascii=False)
        notebook.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
