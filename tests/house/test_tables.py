"""Generated tables of the documentation."""

import json
import re
import sys

from mujoco import batch

from mjlab.sim.warp_fields import VARIABLE_FIELDS
from tests.tools.architecture import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import render_learning
import tables


def test_contract_table_has_every_key_of_the_schema():
    schema = json.loads((ROOT / "mjlab/export/contract.schema.json").read_text())
    page = tables.contract()
    for kind in (schema, *schema["$defs"].values()):
        assert all(f"| `{key}`" in page for key in kind["properties"])


def test_table_of_fields_has_the_fields_of_both_engines():
    page = tables.fields_of_both_engines()
    fields = VARIABLE_FIELDS & batch.MODEL_FIELDS
    assert "body_mass" in fields and "opt.gravity" in fields
    assert all(page.count(f"`{name}`") == 1 for name in fields)


def test_public_names_are_re_exports_and_definitions_of_a_package():
    assert {"make", "TorchVectorEnv"} <= {*tables.public_names("mjlab.gym")}
    assert "body_quat" in tables.public_names("mjlab.mdp.randomize")
    assert "Any" not in tables.public_names("mjlab.gym")


def test_results_become_tables_with_their_conditions():
    machine = dict(processor="P", cores=2, gpu="H200")
    where = {"date": "2026-01-31T00:00:00", "versions": {"mujoco": "4.0.0"}}
    where["machine"] = machine
    mode = dict(step_ms=8.25, physics_ms=7.5, env_steps_per_s=992970.0)
    point = {"num_envs": 8192, "fused": mode | {"memory_mb": 2048.0}}
    point["eager"] = {"missing": "no room"}
    task = dict(env_steps_per_s=4567.8, bare_env_steps_per_s=6000.0)
    task |= dict(share_of_bare=0.7613, share_of_bare_spread=[0.7, 0.8])
    task |= dict(operations_per_step=312, host_reads_per_step=0)
    found = {
        "gpu": where | {"checks": {"velocity": {"G1": [point]}}},
        "velocity": where | {"num_envs": 256, "threads": 2, "tasks": {"G1": task}},
    }
    page = tables.performance(found)
    for row in (
        "| G1 | 8,192 | fused | 8.25 ms | 7.50 ms | 992,970 | 2,048 MB |",
        "| G1 | 256 | 2 | 4,568 | 6,000 | 0.76 (0.70 to 0.80) | 312 | 0 | 0 |",
        "| `gpu.json` | 2026-01-31 | P, 2 cores, H200 | mujoco 4.0.0 |",
    ):
        assert row in page
    assert "Cartpole" not in page


def test_exam_scores_are_sorted_by_level_and_score():
    def scores(completed: float) -> dict[str, object]:
        one = dict(mean=completed, low=completed - 0.1, high=completed + 0.1)
        keys = [key for key, *_ in tables.EXAM_COLUMNS.values()]
        none = dict(mean=None, low=None, high=None)
        return {"scores": {"runs": 64, **dict.fromkeys(keys, none), "completed": one}}

    machine = dict(processor="P", cores=2, gpu=None)
    where = {"date": "2026-01-31T00:00:00", "versions": {}, "machine": machine}
    good = where | {"policy": "good", "robot": "r.xml", "levels": {"C": scores(0.9)}}
    bad = where | {"policy": "bad, model_1.pt", "robot": "r.xml"}
    bad["levels"] = {"A": scores(1.0), "C": scores(0.25)}
    found = {"one": good, "two": bad}
    rows = re.findall(r"\| (\w+) \| ([A-C]) \| 64 \| (\d+) \(", tables.exams(found))
    assert rows == [("bad", "A", "100"), ("good", "C", "90"), ("bad", "C", "25")]


def test_learning_curves_of_the_pages_are_those_of_the_recorded_runs():
    pictures = render_learning.made()
    assert len(pictures) == 8
    for name, text in pictures.items():
        kept = (render_learning.IMAGES / f"{name}.svg").read_text("utf-8")
        drawn = lines_of(text)
        assert len(drawn) >= 3 and drawn == lines_of(kept), name


def lines_of(svg: str) -> list[str]:
    """The paths of the curves and axes of a picture."""
    return re.findall(r' d="([^"]+)"', svg)
