"""`port`: differences listed for two files in the style of other projects."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from mjlab.cli.porting.reading import FIELDS, FIELDS_OF, UNKNOWN, read_task
from mjlab.entity import EntityCfg
from mjlab.envs import ViewerCfg
from mjlab.rl import PpoAgentCfg  # noqa: F401 - its fields are looked at.
from mjlab.settings import Config
from mjlab.terrain import TerrainCfg

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(__file__).with_name("ported")
NAMES = ("cartpole_of_isaaclab", "go1_of_mjlab")


def source(name: str) -> str:
    return (FILES / f"{name}.py.txt").read_text("utf-8")


def port(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "scripts/port.py"), *words]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("name", NAMES)
def test_each_line_to_change_is_shown_with_its_replacement(name):
    """`python -m tests.cli.test_port` rewrites the lists; check them afterwards."""
    expected = (FILES / f"{name}.txt").read_text("utf-8")
    assert read_task(source(name)).text(f"{name}.py") + "\n" == expected


def test_the_reported_lines_contain_the_code_to_change():
    for name in NAMES:
        lines = source(name).splitlines()
        for change in read_task(source(name)).changes:
            word = change.theirs.rpartition(".")[2].removesuffix("()")
            assert word in "\n".join(lines[change.line - 1 : change.line + 3])


def test_the_program_prints_the_list_and_does_not_run_the_file(tmp_path):
    (tmp_path / "task.py").write_text(
        "import mjlab.terrains\nfrom mjlab.scene import SceneCfg\nraise SystemExit(3)\n"
    )
    done = port("task.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "task.py:1: mjlab.terrains -> mjlab.terrain\n"
        "1 line to change, 0 names unknown.\n"
    )


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "task.py").write_text("def (:\n")
    for words, said in (
        ([], "name a Python file, such as their_env_cfg.py."),
        (["other.py"], "File other.py does not exist."),
        (["task.py"], "task.py is not valid Python: invalid syntax (<unknown>, line"),
    ):
        done = port(*words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr


def changes(text: str) -> list[tuple[int, str, str]]:
    return [(c.line, c.theirs, c.ours) for c in read_task(text).changes]


def test_unchanged_names_are_not_listed():
    text = (
        "from mjlab.envs import ManagerBasedRlEnvCfg, mdp\n"
        "from mjlab.envs.mdp import dr, time_out\n"
        "from mjlab.managers import RewardTermCfg\n"
        "import numpy as np\n"
        "from .mdp import upright\n"
        "term = RewardTermCfg(func=mdp.joint_vel_l2, weight=np.pi)\n"
        "time_out, upright, dr.body_mass, ManagerBasedRlEnvCfg\n"
    )
    assert changes(text) == []


def test_names_are_followed_through_aliases_and_dotted_modules():
    text = (
        "import isaaclab.envs.mdp\n"
        "from mjlab.entity import EntityArticulationInfoCfg as Info\n"
        "isaaclab.envs.mdp.base_pos_z\n"
        "Info()\n"
        "other.base_pos_z\n"
        "from mjlab.tasks.velocity.mdp import *\n"
    )
    assert changes(text) == [
        (1, "isaaclab.envs.mdp", "mjlab.mdp"),
        (2, "mjlab.entity.EntityArticulationInfoCfg", "mjlab.entity.ArticulationCfg"),
        (3, "isaaclab.envs.mdp.base_pos_z", "mjlab.mdp.base_height"),
        (6, "mjlab.tasks.velocity.mdp", "your own file `mdp.py`"),
    ]


def test_host_synchronisation_is_reported_only_in_terms():
    text = "def term(env):\n    return env.x.nonzero()\ndef other(x):\n    x.item()\n"
    assert changes(text) == [(2, ".nonzero()", "no counterpart")]


def test_a_field_is_found_where_it_is_set():
    text = "cfg.viewer.origin_type = 1\nf(save_interval=2)\nx = {'prim_path': 3}\n"
    text += "def reset(env, env_ids): ...\nprint(cfg.origin_type)\n"
    found = [(line, name) for line, name, _ in changes(text)]
    assert found == [
        (1, "origin_type"),
        (2, "save_interval"),
        (3, "prim_path"),
        (4, "env_ids"),
    ]


def test_a_field_that_is_also_ours_elsewhere_is_found_by_its_owner():
    text = (
        "from mjlab.viewer import ViewerConfig as View\n"
        "from mjlab.entity import EntityCfg\n"
        "View(entity_name='robot', body_name='torso')\n"
        "cfg.viewer.env_idx = 1\n"
        "EntityCfg(spec_fn=robot_spec)\n"
        "SceneCfg(spec_fn=add_light)\n"
        "UniformVelocityCommandCfg(entity_name='robot')\n"
        "CommandTermCfg(asset_name='robot')\n"
        "cfg.scene.terrain.terrain_generator.num_rows = 5\n"
    )
    fields = [row for row in changes(text) if "." not in row[1] and row[1] != "View"]
    assert fields == [
        (3, "body_name", "body"),
        (3, "entity_name", "entity"),
        (4, "env_idx", "world"),
        (5, "spec_fn", "source"),
        (8, "asset_name", "entity_name"),
        (9, "terrain_generator", "generator"),
    ]


def test_a_field_without_a_counterpart_is_named_with_its_replacement():
    text = (
        "from mjlab.actuator import BuiltinPositionActuatorCfg as Motor\n"
        "from mjlab.envs import ManagerBasedRlEnvCfg\n"
        "from mjlab.sensor import CameraSensorCfg\n"
        "from mjlab.rl import RslRlOnPolicyRunnerCfg\n"
        "Motor(target_names_expr=('.*',), delay_max_lag=2)\n"
        "ManagerBasedRlEnvCfg(auto_reset=False, decimation=4)\n"
        "CameraSensorCfg(name='eye', camera_name='head', orthographic=True)\n"
        "RslRlOnPolicyRunnerCfg(run_name='a', max_iterations=5)\n"
        "other(camera_name='head')\n"
    )
    assert [row for row in changes(text) if row[0] > 4] == [
        (5, "delay_max_lag", "delay"),
        (6, "auto_reset", "no counterpart"),
        (7, "camera_name", "camera"),
        (7, "orthographic", "no counterpart"),
        (8, "run_name", "no counterpart"),
    ]


def test_a_method_of_theirs_is_named_with_its_replacement():
    text = (
        "robot.write_joint_state_to_sim(pos, vel, env_ids=ids)\n"
        "robot.data.joint_torques, env.obs_buf, self._env.extras, other.extras\n"
    )
    assert changes(text) == [
        (1, ".write_joint_state_to_sim", "write_joint_state"),
        (1, "env_ids", "mask"),
        (2, ".extras", "take_log"),
        (2, ".joint_torques", "qfrc_actuator"),
        (2, ".obs_buf", "observation_manager.output"),
    ]


def test_each_field_by_owner_is_a_field_of_our_class():
    ours = {"EntityCfg": EntityCfg, "terrain": TerrainCfg}
    for owner, rows in FIELDS_OF.items():
        fields = fields_of(ours.get(owner, ViewerCfg))
        assert not fields & rows.keys()
        assert {name for name, _ in rows.values()} <= fields


def test_renamed_fields_exist_here_and_their_old_names_do_not():
    fields = set().union(*map(fields_of, subclasses(Config)))
    assert not fields & FIELDS.keys()
    named = {ours for ours, _ in FIELDS.values() if " " not in ours}
    assert named - {"mask", "speeds"} <= fields
    assert UNKNOWN not in named


def subclasses(kind: type) -> set[type]:
    below = {kind for each in kind.__subclasses__() for kind in subclasses(each)}
    return {kind, *below}


def fields_of(kind: type) -> set[str]:
    return {name for each in kind.__mro__ for name in inspect.get_annotations(each)}


if __name__ == "__main__":
    for name in NAMES:
        text = read_task(source(name)).text(f"{name}.py")
        (FILES / f"{name}.txt").write_text(text + "\n", "utf-8")
