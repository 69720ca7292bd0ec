"""What is saved knows no file layout: names are those that users import."""

import dataclasses
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mjlab import managers, mdp
from mjlab.actuator import XmlActuatorCfg
from mjlab.managers import RewardTermCfg
from mjlab.mdp import randomize
from mjlab.muscle.mdp import muscle_effort
from mjlab.registry import entries, load_task, trusted
from mjlab.rl import PpoCfg
from mjlab.schema import Trust, from_data, parse_config, to_data
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from tests.tools.nameable import LIST
from tests.tools.rewrite_shipped import renamed, rewrite, shipped

TASKS = VelocityGo1FlatCfg.__module__.removesuffix(".velocity.go1")
"""Import name of the folder of tasks."""


@pytest.mark.parametrize(
    ("value", "name"),
    [
        # As the documentation imports them.
        (RewardTermCfg, "mjlab.managers:RewardTermCfg"),
        (XmlActuatorCfg, "mjlab.actuator:XmlActuatorCfg"),
        (PpoCfg, "mjlab.rl:PpoCfg"),
        (mdp.joint_vel, "mjlab.mdp:joint_vel"),
        (randomize.geom_friction, "mjlab.mdp.randomize:geom_friction"),
        (muscle_effort, "mjlab.muscle.mdp:muscle_effort"),
        (VelocityGo1FlatCfg, f"{TASKS}.velocity:VelocityGo1FlatCfg"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_name_in_a_file_is_the_shortest_public_one(value: Any, name: str) -> None:
    assert to_data(value) == {"$callable": name}
    assert from_data({"$callable": name}) is value


@dataclasses.dataclass(kw_only=True)
class HolderCfg:
    @dataclasses.dataclass(kw_only=True)
    class RangesCfg:
        x: float = 1.0

    ranges: RangesCfg = dataclasses.field(default_factory=RangesCfg)


def test_a_class_within_a_class_has_a_name() -> None:
    data = to_data(HolderCfg())
    assert data["ranges"]["$type"] == f"{__name__}:HolderCfg.RangesCfg"
    assert from_data(data, Trust(("tests",))) == HolderCfg()


LOOSE = {
    # Bases of what is public, which no file holds.
    "mjlab.rl.models.config:PartCfg",
    "mjlab.rl.algorithms.config:ScheduleCfg",
    "mjlab.terrain.boxes:StairsCfg",
    "mjlab.terrain.heightfields:HeightFieldCfg",
    f"{TASKS}.velocity.symmetry:EquivariantModelCfg",
    # Written into the configuration of an exported policy's worlds, which nobody saves.
    "mjlab.mdp.driven:DrivenActionCfg",
    "mjlab.export.drive:ExternalCommandCfg",
    "mjlab.export.drive:ExternalReachCfg",
    # It needs a package that is not there for all.
    f"{TASKS}.muscle.myolegs:myolegs",
}


def test_no_listed_name_is_of_a_file_within_a_package() -> None:
    """Packages and modules called `mdp` are public, and files right below mjlab."""
    loose = set()
    for name in LIST.read_text("utf-8").split():
        module = name.partition(":")[0]
        is_package = "__path__" in vars(importlib.import_module(module))
        if not (is_package or module.endswith(".mdp") or module.count(".") == 1):
            loose.add(name)
    assert loose == LOOSE


@pytest.mark.parametrize("task", sorted(entries()))
def test_a_task_is_written_in_listed_names(task: str) -> None:
    listed = set(LIST.read_text("utf-8").split())
    entry = load_task(task)
    for made in (entry.env(), entry.play(), entry.rl and entry.rl()):
        assert set(names_in(to_data(made))) <= listed


def names_in(data: Any) -> list[str]:
    if isinstance(data, list):
        return [name for item in data for name in names_in(item)]
    if not isinstance(data, dict):
        return []
    tags = ("$type", "$callable", "$partial", "$enum")
    own = [data[tag] for tag in tags if tag in data]
    return own + names_in(list(data.values()))


# --- Files move, and what is saved is read --------------------------------------------


def test_an_old_file_is_read_after_a_class_has_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    term = RewardTermCfg(func=mdp.joint_vel_l2, weight=2.0)
    old = to_data(term)
    file = sys.modules[RewardTermCfg.__module__]
    moved = ModuleType("mjlab.managers.elsewhere")
    monkeypatch.setitem(sys.modules, moved.__name__, moved)
    monkeypatch.setattr(moved, "RewardTermCfg", RewardTermCfg, raising=False)
    monkeypatch.delattr(file, "RewardTermCfg")
    monkeypatch.setattr(RewardTermCfg, "__module__", moved.__name__)
    assert from_data(old) == term
    assert to_data(term) == old
    assert managers.RewardTermCfg is RewardTermCfg


# --- What ships -----------------------------------------------------------------------

FOLDERS = shipped()


@pytest.mark.parametrize("task", sorted(FOLDERS))
def test_what_ships_is_written_in_the_names_of_today(task: str) -> None:
    text = (FOLDERS[task] / "config.json").read_text("utf-8")
    assert set(names_in(json.loads(text))) <= set(LIST.read_text("utf-8").split())
    assert to_data(parse_config(text, trusted(task))) == json.loads(text), (
        "python -m tests.tools.rewrite_shipped writes it"
    )


def test_what_ships_can_be_written_anew_where_a_package_was_renamed(
    tmp_path: Path,
) -> None:
    import shutil

    folder = Path(shutil.copytree(FOLDERS["Cartpole-Balance"], tmp_path / "run"))
    file = folder / "config.json"
    now = file.read_text("utf-8")
    file.write_text(renamed(now, [(TASKS, "once")]))
    assert "once.cartpole" in file.read_text() and f'"{TASKS}' not in file.read_text()
    rewrite("Cartpole-Balance", folder, [("once", TASKS)])
    assert file.read_text("utf-8") == now
