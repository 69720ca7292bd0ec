"""Task files of mjlab 1.6.0, ported with the changes listed in the documentation.

The files are downloaded from the package index and read as text; that package is not
imported. All imports are replaced, fields are renamed as listed by `port`, and
everything else is unchanged except for the changes below.
"""

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from mjlab.cli.porting.reading import FIELDS_OF, read_task
from mjlab.envs import ManagerBasedRlEnv
from mjlab.settings.mjlab_fields import REPLACED
from tests.tools.architecture import ROOT

WHEEL = "mjlab==1.6.0"
CARTPOLE = ("cartpole/cartpole_env_cfg.py",)
GO1 = ("velocity/velocity_env_cfg.py", "velocity/config/go1/env_cfgs.py")

IMPORTS = """
from mjlab.actuator import XmlActuatorCfg
from mjlab.entity import ArticulationCfg as EntityArticulationInfoCfg, Entity, EntityCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs import ViewerCfg as ViewerConfig, mdp as envs_mdp
from mjlab.envs.mdp import dr, JointEffortActionCfg, JointPositionActionCfg
from mjlab.envs.mdp import joint_pos_rel, joint_vel_rel, reset_joints_by_offset
from mjlab.envs.mdp import time_out
from mjlab.managers import ActionTermCfg, CommandTermCfg, CurriculumTermCfg
from mjlab.managers import EventTermCfg, MetricsTermCfg, ObservationGroupCfg
from mjlab.managers import ObservationTermCfg, RewardTermCfg, SceneEntityCfg
from mjlab.managers import TerminationTermCfg
from mjlab.mdp import UniformVelocityCommandCfg
from mjlab.rl import RslRlModelCfg, RslRlOnPolicyRunnerCfg, RslRlPpoAlgorithmCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch, ContactSensorCfg, GridPatternCfg, ObjRef
from mjlab.sensor import RayCastSensorCfg, RingPatternCfg, TerrainHeightSensorCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.robots.go1 import ACTION_SCALE as GO1_ACTION_SCALE
from mjlab.tasks.robots.go1 import go1_cfg as get_go1_robot_cfg
from mjlab.tasks.velocity.terrains import ROUGH_TERRAINS_CFG
from mjlab.tensors import UniformNoiseCfg as Unoise
from mjlab.terrain import TerrainCfg as TerrainEntityCfg
"""
RENAMED = {name for rows in (*FIELDS_OF.values(), *REPLACED.values()) for name in rows}
"""Fields with a row in `port`."""

MDP = "from mjlab.mdp import *\nfrom mjlab.tasks.velocity.mdp import *\n"
"""A user's file `mdp.py`."""


@dataclass(frozen=True)
class Change:
    """A required change of the text."""

    said: str
    """Its description on the page."""

    theirs: str
    """Pattern of the old text."""

    ours: str = ""
    """The new text."""

    which: int = 0
    """Which of several matches to change."""

    answer: str = "has no attribute"
    """Error without the change."""

    def span(self, text: str) -> tuple[int, int, str]:
        """Position of the change, and the new text."""
        found = list(re.finditer(self.theirs, text, re.MULTILINE))[self.which]
        return found.start(), found.end(), self.ours


ORIGIN = Change("origin_type", r"^ *origin_type=.*\n")
OF_CARTPOLE = (
    ORIGIN,
    Change("experiment_name", r"^ *experiment_name=.*\n", answer="'experiment_name'"),
    Change("save_interval", r"^ *save_interval=.*\n", answer="'save_interval'"),
)
VIS = Change("debug_vis", r"^ *debug_vis=.*\n", answer="no field 'debug_vis'")
OF_GO1 = (
    ORIGIN,
    VIS,
    replace(VIS, which=1),
    Change("viz", r"^    viz=.*\n(?:      .*\n)*    \),\n"),
    Change(
        "ray_alignment", r"^ *ray_alignment=.*\n", which=1, answer="'ray_alignment'"
    ),
    Change(
        "sensor.frame.name",
        r"sensor\.frame\.name = .*",
        'sensor.frame = ObjRef(type="body", name="trunk", entity="robot")',
        answer="cannot assign to field 'name'",
    ),
    Change(
        "thresholds",
        r'"walking_threshold": .*\n.*"running_threshold": .*',
        '"speeds": (0.05, 1.5),',
        answer="no parameter '(running|walking)_threshold'",
    ),
    Change(
        "history_length=4",
        r"track_air_time=True,",
        "track_air_time=True, history_length=4,",
        answer="has no history of 'force'",
    ),
    Change("num_cols", r"num_cols = 5", "num_cols = 7", answer="must be at least 7"),
    Change(
        "randomize_terrain",
        r"generator = None$",
        'generator = None; cfg.events.pop("randomize_terrain", None)',
        answer="randomize_terrain needs generated terrain",
    ),
)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of their tasks."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*pip, "--disable-pip-version-check", "--dest", str(folder), WHEEL],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"{WHEEL} could not be fetched: {done.stderr[-200:]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        wanted = [f"mjlab/tasks/{name}" for name in (*CARTPOLE, *GO1)]
        archive.extractall(folder, [*wanted, "mjlab/tasks/cartpole/cartpole.xml"])
    return folder / "mjlab/tasks"


def without_imports(text: str) -> str:
    """A file without the imports of its project."""
    lines = text.splitlines(keepends=True)
    for node in reversed(ast.parse(text).body):
        is_ours = isinstance(node, ast.ImportFrom) and (
            node.level or str(node.module).startswith("mjlab")
        )
        if is_ours or isinstance(node, ast.If):  # Imports for type checkers.
            del lines[node.lineno - 1 : node.end_lineno]
    return "".join(lines)


def with_our_fields(text: str) -> tuple[str, int]:
    """A file with fields renamed as by `port`, and the number of changed lines."""
    lines = text.splitlines(keepends=True)
    found = [c for c in read_task(text).changes if c.theirs in RENAMED]
    changes = [c for c in found if c.ours.isidentifier()]
    for change in changes:
        at = change.line - 1
        lines[at] = re.sub(rf"\b{change.theirs}\b", change.ours, lines[at])
    return "".join(lines), len({change.line for change in changes})


def ported(tasks: Path, files: Sequence[str], changes: Sequence[Change]) -> ModuleType:
    """A module of mjlab with our imports and some changes."""
    texts = [with_our_fields((tasks / file).read_text("utf-8"))[0] for file in files]
    text = "\n".join(map(without_imports, texts))
    for start, end, ours in sorted((c.span(text) for c in changes), reverse=True):
        text = text[:start] + ours + text[end:]
    module = ModuleType("ported")
    module.__file__ = str(tasks / files[0])
    sys.modules["ported"] = module  # Where dataclasses and annotations look up names.
    mdp = ModuleType("mdp")
    exec(MDP, vars(mdp))
    exec(IMPORTS, vars(module))
    vars(module)["mdp"] = mdp
    exec(compile(text, "ported", "exec"), vars(module))
    return module


def run_all(module: ModuleType) -> None:
    """Build and step each task of a module, for training and play."""
    for name in [name for name in vars(module) if name.endswith("_env_cfg")]:
        if name.startswith("make_") or name.startswith("_"):
            continue
        for play in (False, True):
            cfg = vars(module)[name](play=play)
            cfg.scene.num_envs, cfg.seed = 2, 0
            env = ManagerBasedRlEnv(cfg)
            env.reset()
            env.step(torch.zeros(2, env.action_manager.total_action_dim))
            env.close()


def test_the_page_counts_these_changes_and_gives_a_reason_for_each() -> None:
    page = (ROOT / "docs/howto/coming_from_mjlab.md").read_text("utf-8")
    part = page.split("## Two ported tasks")[1].split("## All names")[0]
    counts = re.search(r"That is (\d+) lines and (\d+);", part)
    assert counts is not None
    assert counts.groups() == (str(len(OF_CARTPOLE)), str(len(OF_GO1)))
    assert len(OF_CARTPOLE) <= 5 and len(OF_GO1) <= 12
    rows = [line.split("|")[2:4] for line in part.splitlines() if "|" in line][2:]
    for change in (*OF_CARTPOLE, *OF_GO1):
        reasons = [why.strip() for what, why in rows if change.said in what]
        assert reasons and all(reasons), change.said
    named = " ".join(change.said for change in (*OF_CARTPOLE, *OF_GO1))
    for what, _ in rows:
        assert any(word in what for word in named.split()), what


@pytest.mark.slow
def test_the_page_counts_the_lines_whose_fields_port_renames(tasks: Path) -> None:
    page = (ROOT / "docs/howto/coming_from_mjlab.md").read_text("utf-8")
    counts = re.search(r"fields that `port` renames: (\d+) lines and (\d+)", page)
    assert counts is not None
    found = [
        sum(with_our_fields((tasks / file).read_text("utf-8"))[1] for file in files)
        for files in (CARTPOLE, GO1)
    ]
    assert [int(count) for count in counts.groups()] == found


@pytest.mark.slow
def test_their_cartpole_runs_with_its_changes(tasks: Path) -> None:
    module: Any = ported(tasks, CARTPOLE, OF_CARTPOLE)
    run_all(module)
    assert module.cartpole_ppo_runner_cfg().actor.distribution_cfg.init_std == 1.0


@pytest.mark.slow
def test_their_walking_go1_runs_with_its_changes(tasks: Path) -> None:
    run_all(ported(tasks, GO1, OF_GO1))


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(OF_CARTPOLE)))
def test_every_change_of_the_cartpole_is_needed(tasks: Path, index: int) -> None:
    fewer = OF_CARTPOLE[:index] + OF_CARTPOLE[index + 1 :]
    with pytest.raises(Exception, match=OF_CARTPOLE[index].answer):
        module: Any = ported(tasks, CARTPOLE, fewer)
        run_all(module)
        module.cartpole_ppo_runner_cfg()


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(OF_GO1)))
def test_every_change_of_the_go1_is_needed(tasks: Path, index: int) -> None:
    fewer = OF_GO1[:index] + OF_GO1[index + 1 :]
    with pytest.raises(Exception, match=OF_GO1[index].answer):
        run_all(ported(tasks, GO1, fewer))
