"""The codemod of task files: lists, rewritten snippets, and the command."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mjlab.cli.porting.changes import Change
from mjlab.cli.porting.codemod import Ported, port_file
from mjlab.cli.porting.folder import Porting
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles

ROOT = Path(__file__).resolve().parents[2]
FILES = Path(__file__).with_name("ported")
NAMES = ("cartpole_of_isaaclab", "go1_of_mjlab")


def ported(text: str) -> Ported:
    source = ForeignFile(Path("task.py"), Path("task.py"), "task", text)
    return port_file(source, ForeignFiles((source,)))


def new(text: str) -> str:
    """The rewritten text, without lines that only import."""
    lines = ported(text).text.splitlines()
    return "\n".join(
        line for line in lines if not line.startswith(("from ", "import "))
    )


def imports(text: str) -> set[str]:
    lines = ported(text).text.splitlines()
    return {line for line in lines if line.startswith(("from ", "import "))}


def changes(text: str) -> list[tuple[int, str, str]]:
    return [(c.line, c.theirs, c.ours) for c in ported(text).changes]


def listing(name: str) -> str:
    text = (FILES / f"{name}.py.txt").read_text("utf-8")
    source = ForeignFile(Path(f"{name}.py"), Path(f"{name}.py"), name, text)
    sources = ForeignFiles((source,))
    return Porting(source.path, (port_file(source, sources),)).listing() + "\n"


def port(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "scripts/port.py"), *words]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True)


# --- The command ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_each_line_to_change_is_named_with_what_it_becomes(name):
    """`python -m tests.cli.test_port` writes the lists anew; read them then."""
    assert listing(name) == (FILES / f"{name}.txt").read_text("utf-8")


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


def test_a_folder_is_written_anew_with_its_other_files(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "__init__.py").write_text("")
    (theirs / "env.py").write_text("from mjlab.terrains import TerrainEntityCfg\n")
    (theirs / "robot.xml").write_text("<mujoco/>")
    done = port("theirs", "--to", "mine", cwd=tmp_path)
    assert done.stdout == "2 files, 1 line replaced by 1, 0 comments `# TODO(port):`.\n"
    written = (tmp_path / "mine/env.py").read_text()
    assert written == "from mjlab.terrain import TerrainCfg\n"
    assert (tmp_path / "mine/robot.xml").read_text() == "<mujoco/>"
    assert "terrains" in (theirs / "env.py").read_text()
    done = port("theirs", "--to", "mine", cwd=tmp_path)
    assert done.returncode == 2 and "mine exists already" in done.stderr


def test_a_file_is_rewritten_in_place_or_shown_as_a_diff(tmp_path):
    path = tmp_path / "env.py"
    path.write_text("from mjlab.terrains import TerrainEntityCfg\n")
    done = port("env.py", "--diff", cwd=tmp_path)
    assert "-from mjlab.terrains import TerrainEntityCfg\n+from mjlab" in done.stdout
    assert "terrains" in path.read_text()
    assert port("env.py", "--write", cwd=tmp_path).returncode == 0
    assert path.read_text() == "from mjlab.terrain import TerrainCfg\n"


def test_missing_source_is_refused(tmp_path):
    (tmp_path / "task.py").write_text("def (:\n")
    for words, said in (
        ([], "name a Python file or a folder, such as their_env_cfg.py."),
        (["other.py"], "other.py does not exist."),
        (["task.py"], "task.py is not valid Python: invalid syntax (<unknown>, line"),
        (["task.py", "--diff", "--write"], "exclude each other: give one."),
    ):
        done = port(*words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr


def test_without_libcst_one_line_says_what_to_install(tmp_path):
    (tmp_path / "task.py").write_text("")
    (tmp_path / "run.py").write_text(
        "import importlib.util, sys\n"
        "find = (have := importlib.util).find_spec\n"
        "have.find_spec = lambda n, *a: None if n == 'libcst' else find(n, *a)\n"
        "from mjlab.cli.main import run\n"
        "sys.argv = ['port.py', 'task.py']\n"
        "sys.exit(run('port'))\n"
    )
    line = [sys.executable, "run.py"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert (
        'port needs libcst, which is not installed: pip install "mjlab' in done.stderr
    )


# --- Names ----------------------------------------------------------------------------


def test_file_without_differences_is_not_changed():
    text = (
        "from mjlab.envs import ManagerBasedRlEnvCfg\n"
        "from mjlab.managers import RewardTermCfg\n"
        "import numpy as np\n"
        "from .mdp import upright\n"
        "term = RewardTermCfg( func = upright,weight=np.pi )  # As it was.\n"
    )
    assert ported(text).text == text and changes(text) == []


def test_names_and_aliases_are_renamed_where_they_are_used():
    text = (
        "from mjlab.entity import EntityArticulationInfoCfg, EntityCfg as Cfg\n"
        "from mjlab.viewer import ViewerConfig as View\n"
        "EntityArticulationInfoCfg(actuators=()), Cfg, View\n"
        "other.EntityArticulationInfoCfg\n"
    )
    assert imports(text) == {
        "from mjlab.entity import ArticulationCfg, EntityCfg as Cfg",
        "from mjlab.envs import ViewerCfg as View",
    }
    assert new(text) == (
        "ArticulationCfg(actuators=()), Cfg, View\nother.EntityArticulationInfoCfg"
    )


def test_terms_of_one_module_can_come_from_two_packages():
    text = (
        "from mjlab.tasks.velocity import mdp\n"
        "f = [mdp.joint_vel_l2, mdp.time_out, mdp.feet_slip, mdp.dr.dof_damping]\n"
    )
    assert new(text) == (
        "f = [mdp.joint_vel_l2, mdp.time_out, velocity_mdp.feet_slip, "
        "randomize.joint_damping]"
    )
    assert imports(text) == {
        "from mjlab import mdp",
        "from mjlab.mdp import randomize",
        "from mjlab.tasks.velocity import mdp as velocity_mdp",
    }


def test_an_unknown_name_gets_a_comment():
    text = "from mjlab.envs.mdp import not_there\nnot_there()\n"
    assert new(text).splitlines() == [
        "# TODO(port): mjlab.envs.mdp.not_there: unknown name.",
        "not_there()",
    ]


def test_imports_of_the_projects_own_modules_become_relative(tmp_path):
    package = tmp_path / "mjlab/tasks/hop"
    for folder in (tmp_path / "mjlab", tmp_path / "mjlab/tasks", package):
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text("")
    (package / "mdp.py").write_text("from mjlab.envs.mdp import *\ndef hop(env): ...\n")
    (package / "env.py").write_text(
        "from mjlab.tasks.hop import mdp\n"
        "from mjlab.tasks.hop.mdp import hop\n"
        "mdp.hop, mdp.time_out, hop\n"
    )
    files = {f.source.path.name: f.text for f in Porting.of(package).files}
    assert files["env.py"] == (
        "from . import mdp\nfrom .mdp import hop\nmdp.hop, mdp.time_out, hop\n"
    )
    assert files["mdp.py"].startswith("from mjlab.mdp import *\n")


def test_an_import_from_a_package_above_has_one_dot_more_a_level(tmp_path):
    package = tmp_path / "mjlab/tasks/hop"
    (package / "high").mkdir(parents=True)
    for folder in (tmp_path / "mjlab", package.parent, package, package / "high"):
        (folder / "__init__.py").write_text("")
    (package / "mdp.py").write_text("def hop(env): ...\n")
    (package / "high/env.py").write_text("from mjlab.tasks.hop.mdp import hop\nhop\n")
    files = {f.source.path.name: f.text for f in Porting.of(package).files}
    assert files["env.py"] == "from ..mdp import hop\nhop\n"


def test_functions_of_mathematics_keep_their_value_with_other_arguments():
    """Each expression is compared with the formula of mjlab 1.6, written out here."""
    import torch

    from mjlab.tensors import math as ours

    text = (
        "from mjlab.utils.lab_api.math import (\n"
        "  quat_from_angle_axis, quat_apply_yaw, saturate, unscale_transform,\n"
        "  scale_transform, sample_uniform, default_orientation)\n"
        "turn = quat_from_angle_axis(angle, axis=axis)\n"
        "yawed = quat_apply_yaw(quat, vec)\n"
        "cut = saturate(vec, -0.5, upper=0.5)\n"
        "wide = unscale_transform(vec, -2.0, 4.0)\n"
        "back = scale_transform(wide, -2.0, 4.0)\n"
        "some = sample_uniform(1.0, 2.0, (5, 3), device='cpu')\n"
        "unit = default_orientation(2, 'cpu')\n"
    )
    angle, vec = torch.tensor([0.5]), torch.tensor([[0.3, -0.9, 0.6]])
    axis = torch.tensor([[0.0, 0.0, 1.0]])
    quat = ours.quat_from_euler_xyz(torch.zeros(1), torch.tensor([0.4]), angle)
    space: dict[str, Any] = {"angle": angle, "axis": axis, "vec": vec, "quat": quat}
    exec(ported(text).text, space)
    close = torch.testing.assert_close
    close(
        space["turn"],
        torch.tensor([[0.5, 0, 0, 0.5]])
        .div(2)
        .cos()
        .mul(torch.tensor([[1.0, 0, 0, 0]]))
        + torch.tensor([[0, 0, 0, 0.25]]).sin(),
    )
    close(space["yawed"], ours.quat_rotate(space["turn"], vec))
    close(space["cut"], torch.tensor([[0.3, -0.5, 0.5]]))
    close(space["wide"], 1.0 + 3.0 * vec)
    close(space["back"], vec)
    assert space["some"].shape == (5, 3)
    assert ((space["some"] >= 1) & (space["some"] < 2)).all()
    assert space["unit"].tolist() == [[1, 0, 0, 0]] * 2


# --- Fields and members ---------------------------------------------------------------


def test_a_field_that_is_also_ours_elsewhere_is_renamed_by_its_class():
    text = (
        "from mjlab.entity import EntityCfg\n"
        "from mjlab.scene import SceneCfg\n"
        "from mjlab.viewer import ViewerConfig\n"
        "ViewerConfig(entity_name='robot', reward_bar_max_terms=1)\n"
        "cfg.viewer.env_idx = 1\n"
        "EntityCfg(spec_fn=f)\n"
        "SceneCfg(spec_fn=add_light)\n"
        "cfg.scene.terrain.terrain_generator.num_rows = 5\n"
        "cfg.viewer.reward_bar_max_terms = 2\n"
        "other(entity_name='robot')\n"
    )
    assert new(text).splitlines() == [
        "ViewerCfg(entity='robot')",
        "cfg.viewer.world = 1",
        "EntityCfg(source=f)",
        "SceneCfg(spec_fn=add_light)",
        "cfg.scene.terrain.generator.num_rows = 5",
        "other(entity_name='robot')",
    ]


def test_several_fields_become_one_record():
    text = (
        "from mjlab.actuator import BuiltinPositionActuatorCfg as Motor\n"
        "from mjlab.rl import RslRlOnPolicyRunnerCfg as Runner\n"
        "Motor(delay_min_lag=1, delay_max_lag=2, stiffness=3.0)\n"
        "Runner(save_interval=100, experiment_name='a')\n"
    )
    assert new(text).splitlines() == [
        "Motor(delay=DelayCfg(min_lag=1, max_lag=2), stiffness=3.0)",
        "Runner(checkpoint=CheckpointCfg(every=100))",
    ]
    assert "from mjlab.tensors import DelayCfg" in imports(text)


def test_a_field_without_a_counterpart_leaves_a_comment_with_its_value():
    text = (
        "from mjlab.envs import ManagerBasedRlEnvCfg\n"
        "def make():\n"
        "  return ManagerBasedRlEnvCfg(auto_reset=False, decimation=4)\n"
    )
    assert new(text).splitlines() == [
        "def make():",
        "  # TODO(port): auto_reset=False: call `env.choose_resets('never')`.",
        "  return ManagerBasedRlEnvCfg(decimation=4)",
    ]


def test_an_immutable_reference_is_replaced():
    text = (
        "from mjlab.sensor import RayCastSensorCfg\n"
        "def aim(sensor: RayCastSensorCfg):\n"
        "  sensor.frame.name = 'pelvis'\n"
    )
    assert new(text).splitlines()[1] == (
        "  sensor.frame = replace(sensor.frame, name='pelvis')"
    )
    assert "from dataclasses import replace" in imports(text)


def test_members_are_renamed_unless_the_project_defines_them():
    text = (
        "from mjlab.envs import ManagerBasedRlEnv\n"
        "def term(env: ManagerBasedRlEnv):\n"
        "  ids = robot.indexing.geom_ids\n"
        "  env.obs_buf, robot.data.joint_torques, env.scene.terrain.terrain_levels\n"
        "  cfg.scene.terrain, env.scene.env_origins, env.get_observations()\n"
        "  return sensor.data.distances >= 0\n"
        "class Own:\n"
        "  def __init__(self): self.reset_buf = 1\n"
        "own.reset_buf\n"
    )
    assert new(text).splitlines() == [
        "def term(env: ManagerBasedRlEnv):",
        "  ids = robot.index.geoms.ids",
        "  env.observation_manager.output, robot.data.qfrc_actuator, "
        "env.scene.ground.levels",
        "  cfg.scene.terrain, env.scene.spawn_origins, env.observation_manager.output",
        "  return sensor.data.hit",
        "class Own:",
        "  def __init__(self): self.reset_buf = 1",
        "own.reset_buf",
    ]


# --- Classes --------------------------------------------------------------------------


def test_members_of_an_annotated_variable_are_those_of_its_class():
    text = (
        "from mjlab.entity import Entity\n"
        "def f(env, cfg):\n"
        "  robot: Entity = env.scene['robot']\n"
        "  if robot.is_articulated:\n"
        "    return robot.num_sites, robot.geom_names, cfg.geom_names\n"
    )
    assert "if bool(robot.num_joints):" in new(text)
    kept = "len(robot.index.sites), robot.index.geoms.names, cfg.geom_names"
    assert kept in new(text)


def test_a_projects_own_class_keeps_its_members(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "commands.py").write_text(
        "from mjlab.managers import CommandTerm\n"
        "class MotionCommand(CommandTerm):\n"
        "  robot = None\n"
    )
    (tmp_path / "metrics.py").write_text(
        "from mjlab.tasks.tracking.mdp import MotionCommand as Theirs\n"
        "from .commands import MotionCommand\n"
        "def f(own: MotionCommand, theirs: Theirs):\n"
        "  return own.time_steps, theirs.time_steps\n"
    )
    *_, metrics = Porting.of(tmp_path).files
    assert "return own.time_steps, theirs.frame" in metrics.text


def test_a_class_term_gets_the_base_class_and_keeps_its_constructor():
    text = (
        "from mjlab.envs import ManagerBasedRlEnv\n"
        "class rate:\n"
        "  def __init__(self, cfg, env):\n"
        "    self.last = 0\n"
        "  def __call__(self, env, std):\n"
        "    self.last = env.x\n"
    )
    assert new(text).splitlines()[:4] == [
        "# TODO(port): rate: return `self.last` in `state()`, and write in place.",
        "class rate(ManagerTermBase):",
        "  def __init__(self, cfg, env):",
        "    super().__init__(cfg, env)",
    ]


def test_a_command_keeps_its_methods_with_world_indices():
    text = (
        "from mjlab.managers.command_manager import CommandTerm, CommandTermCfg\n"
        "class Aim(CommandTerm):\n"
        "  def _resample_command(self, env_ids): ...\n"
        "  def reset(self, env_ids):\n"
        "    return super().reset(env_ids)\n"
        "class AimCfg(CommandTermCfg):\n"
        "  def build(self, env): return Aim(self, env)\n"
        "terms: dict[str, CommandTermCfg]\n"
    )
    lines = new(text).splitlines()
    assert lines[1] == "class Aim(IndexedCommandTerm):"
    assert lines[3:6] == [
        "  def reset_ids(self, env_ids):",
        "    return super().reset_ids(env_ids)",
        "class AimCfg(IndexedCommandTermCfg):",
    ]
    assert lines[-1] == "terms: dict[str, CommandTermCfg]"
    assert "from mjlab.managers import CommandTermCfg" in imports(text)


def test_model_fields_of_an_event_become_an_attribute():
    text = (
        "from mjlab.managers.event_manager import RecomputeLevel\n"
        "from mjlab.managers.event_manager import requires_model_fields\n"
        "@requires_model_fields('body_mass', recompute=RecomputeLevel.set_const)\n"
        "def heavier(env, env_ids, factor): ...\n"
    )
    assert ported(text).text == (
        "def heavier(env, env_ids, factor): ...\n"
        "heavier.model_fields = ('body_mass',)\n"
    )


def test_a_registered_task_becomes_an_entry_point():
    text = (
        "from mjlab.tasks.registry import register_mjlab_task\n"
        "from .env import make\n"
        "from .rl import Runner, ppo\n"
        "register_mjlab_task(\n"
        "  task_id='My-Task', env_cfg=make(), play_env_cfg=make(play=True),\n"
        "  rl_cfg=ppo(), runner_cls=Runner)\n"
    )
    found = ported(text)
    assert found.tasks == {"My-Task": "task:MY_TASK"}
    assert "MY_TASK = Task(\n    env=make,\n" in found.text
    assert "    play=lambda: make(play=True),\n    rl=ppo,\n)" in found.text
    assert (
        "import ppo\n" in found.text and "TODO(port): runner_cls=Runner" in found.text
    )


def test_an_isaac_lab_file_is_rewritten_too():
    text = (
        "import isaaclab.envs.mdp as mdp\n"
        "from isaaclab.envs import ManagerBasedRLEnvCfg\n"
        "mdp.base_pos_z, mdp.joint_vel_l2, ManagerBasedRLEnvCfg\n"
    )
    assert new(text) == "mdp.base_height, mdp.joint_vel_l2, ManagerBasedRlEnvCfg"


def test_calls_that_synchronise_with_the_device_are_listed():
    text = "import mjlab.mdp\ndef term(env):\n    return env.x.nonzero()\n"
    assert Change(3, ".nonzero()", "no counterpart", NOTE) in ported(text).changes


NOTE = "synchronises with the device: use a mask, and `torch.where`"


if __name__ == "__main__":
    for name in NAMES:
        (FILES / f"{name}.txt").write_text(listing(name), "utf-8")
