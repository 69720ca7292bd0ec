"""Notebooks run from top to bottom, and are stored without machine paths."""

import ast
import json
import time
from pathlib import Path

import pytest

from tests.tools.notebook import (
    NOTEBOOKS,
    ROLLOUT,
    TUTORIAL,
    code_of,
    execute,
    kept,
    outputs_of,
)

SECONDS = 600
"""From top to bottom, on two cores that do nothing else."""


def tutorial():
    return json.loads(TUTORIAL.read_text("utf-8"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_cells_are_python_in_the_order_in_which_they_were_run(file):
    notebook = json.loads(file.read_text("utf-8"))
    for code in code_of(notebook):
        ast.parse(code)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    counts = [cell["execution_count"] for cell in cells]
    assert counts == [*range(1, len(cells) + 1)]
    assert all(out["output_type"] != "error" for out in outputs_of(notebook))


def test_no_data_about_a_machine_is_stored():
    for file in NOTEBOOKS:
        notebook = json.loads(file.read_text("utf-8"))
        assert kept(notebook) == notebook
    notebook = tutorial()
    (cell,) = [
        c
        for c in notebook["cells"]
        if "from mjlab.cli.training" in "".join(c["source"])
    ]
    planted = {"output_type": "stream", "name": "stdout"}
    planted["text"] = [f"Run folder: {Path('/', 'home', 'somebody', 'logs', 'x')}.\n"]
    cell["outputs"].append(planted)
    index = notebook["cells"].index(cell)
    line = kept(notebook)["cells"][index]["outputs"][-1]["text"][-1]
    assert "somebody" not in line and "logs" not in line


@pytest.mark.slow
def test_notebook_runs_from_top_to_bottom(tmp_path, record_property, renderer_works):
    begin = time.perf_counter()
    done = execute(TUTORIAL, tmp_path)
    seconds = time.perf_counter() - begin
    record_property("summary", f"docs/tutorial.ipynb: {seconds:.0f} s")
    said = "".join(
        "".join(out.get("text", out.get("data", {}).get("text/html", "")))
        for out in outputs_of(done)
    )
    assert "120 of 120 iterations" in said
    assert "Maximum differences in" in said
    assert "<video" in said
    names = {file.name for file in (tmp_path / "work").iterdir()}
    assert {"learning.svg", "swing.mp4", "pendulum.onnx", "mjlab_runner.py"} <= names


def test_the_rollout_notebook_has_ten_lines_and_ends_with_a_picture():
    notebook = json.loads(ROLLOUT.read_text("utf-8"))
    lines = [line for code in code_of(notebook) for line in code.splitlines() if line]
    assert len(lines) <= 10
    assert "image/svg+xml" in outputs_of(notebook)[-1]["data"]


@pytest.mark.slow
def test_the_rollout_notebook_shows_a_film_and_a_chart(tmp_path, renderer_works):
    *_, film, chart = outputs_of(execute(ROLLOUT, tmp_path))
    assert "data:video/mp4;base64," in "".join(film["data"]["text/html"])
    assert "track_linear_velocity" in "".join(chart["data"]["image/svg+xml"])
    assert (tmp_path / "work" / "walk.mp4").is_file()
