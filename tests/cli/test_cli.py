"""Command line: parsing, messages, and start-up time."""

import copy
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from mjlab.cli import evaluate, new, train
from mjlab.cli import list as list_verb
from mjlab.cli.answers import Answer, UsageError, run_program
from mjlab.cli.hardware import choose_worlds
from mjlab.cli.help import field_texts, reference
from mjlab.cli.line import read_line
from mjlab.cli.list import find_summary
from mjlab.cli.training import next_commands, record_film
from mjlab.entity import EntityCfg, build_entity
from mjlab.motion.tools.bvh import read_bvh
from mjlab.names import suggest
from mjlab.registry import find_entry, load_task
from mjlab.rl import BetaCfg, MlpModelCfg, PpoAgentCfg, RndCfg, RnnModelCfg
from mjlab.runs import Run, RunError, find
from mjlab.settings.change import Setting, apply, find_part
from mjlab.settings.tree import SettingError
from mjlab.tasks.cartpole import CartpoleAgentCfg, CartpoleBalanceCfg
from mjlab.tasks.velocity import VelocityG1FlatCfg

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(file.stem for file in (ROOT / "scripts").glob("[!_]*.py"))
TASK = "Cartpole-Balance"
WITHOUT_TORCH = """
import runpy, sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "warp", "mujoco", "mujoco_warp", "rsl_rl"):
            raise ImportError(name)
sys.meta_path.insert(0, Refused())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def settings(text: str) -> list[Setting]:
    line = read_line(train.TrainOptions, ["T", *text.split()])
    return list(line.settings)


def cartpole(text: str, disabled: tuple[str, ...] = ()):
    configs = {"env": CartpoleBalanceCfg(), "agent": CartpoleAgentCfg()}
    return apply(configs, settings(text), disabled)


# --- Start-up without slow imports
# ------------------------------------------------------


def blocked(*command: str) -> tuple[subprocess.CompletedProcess, float]:
    """Run a script that cannot import torch; return it and its processor time."""
    return timed("-c", WITHOUT_TORCH, *command)


def timed(*words: str) -> tuple[subprocess.CompletedProcess, float]:
    """Run Python; return the process and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture(scope="module")
def immediately() -> float:
    """0.5 s, or more on a slow machine, by the time of importing the command line."""
    return max(0.5, 5.0 * min(timed("-c", "import tyro")[1] for _ in range(3)))


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_appears_immediately_without_torch(script, immediately):
    done, seconds = blocked(f"scripts/{script}.py", "--help")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"usage: {script}.py")
    assert len(lines) < 80
    assert max(map(len, lines)) < 120
    assert seconds < immediately


def test_tasks_are_listed_immediately_without_torch(immediately):
    done, seconds = blocked("scripts/list_tasks.py")
    assert done.returncode == 0, done.stderr
    row = r"^Velocity-G1 +mjlab-fused  Unitree G1 follows velocity commands"
    assert re.search(row, done.stdout, re.MULTILINE)
    assert seconds < immediately


def test_an_unknown_task_is_reported_without_torch(immediately):
    done, seconds = blocked("scripts/train.py", "Velocity-G2")
    assert done.returncode == 2
    assert "no task 'Velocity-G2'. Valid names, nearest first: 'Velocity-G1'" in (
        done.stderr
    )
    assert seconds < immediately


# --- Wrong command lines -------------------------------------------------------------

WRONG = {
    "": "TASK is missing: train.py TASK [options]. Tasks: Cartpole-Balance, ",
    "Cartpole-Balanse": "There is no task 'Cartpole-Balanse'. Valid names, nearest "
    "first: 'Cartpole-Balance', ",
    "--evn.decimation 4": "Unknown option '--evn.decimation'. Settings of the task "
    "start with --env. or --agent.",
    "--seed one": "--seed takes a whole number, not 'one'.",
    "--workers 0": "--workers is 0; it has to be 1 or more.",
    "--device gpu": '--device cannot be \'gpu\'. Valid: "cpu", "cuda", '
    '"cuda:0", "cuda:1" and so on.',
    "--gpus 99": "There is no GPU 99. Valid: ",
    "--resume latest --logs /nowhere": "There is no run of 'Cartpole-Balance' in "
    "/nowhere. Train one with train.py Cartpole-Balance.",
    "--help-config env.rewrds": "--help-config env.rewrds: env has no part "
    "'rewrds'. Valid names, nearest first: 'rewards', ",
    "--env.decimatoin 4": "--env.decimatoin: env has no part 'decimatoin'. "
    "Valid names, nearest first: 'decimation', ",
    "--env.decimation four": "--env.decimation takes a whole number, not "
    "'four'. It is 5 now.",
    "--env.decimation.x 4": "--env.decimation.x: env.decimation is 5, which has "
    "no part 'x'.",
    "--env.decimation 0": "env.decimation is 0; it has to be 1 or more.",
    "--env.final-obs maybe": "--env.final-obs takes True or False, not 'maybe'. "
    "It is False now.",
    "--env.sim.backend wrap": "--env.sim.backend cannot be 'wrap'. Valid names, "
    "nearest first: 'warp', 'auto', 'native'.",
    "--env.sim.mujoco.gravity 0 0": "--env.sim.mujoco.gravity takes 3 numbers, "
    "not '0 0'. It is (0.0, 0.0, -9.81) now.",
    "--env.sim.mujoco.disableflags": "--env.sim.mujoco.disableflags needs a value: "
    "words. Write '()' for none.",
    "--env.rewards x": "--env.rewards is set by its parts: --env.rewards.PART.",
    "--env.rewards.smooth 1": "--env.rewards.smooth cannot be '1'. Valid names: "
    "'RewardTermCfg'. To change a part of it, write "
    "--env.rewards.smooth.PART.",
    "--env.rewards.smooth.func f": "--env.rewards.smooth.func cannot be set on "
    "the command line: it is smooth_reward. Subclass the configuration instead.",
    "--disable rewards.smoth": "--disable rewards.smoth: env.rewards has no part "
    "'smoth'. Valid names, nearest first: 'smooth'.",
    "--disable decimation": "--disable decimation: this part cannot be disabled. "
    "Valid: a term, such as rewards.NAME, or a part that can be None.",
    "--agent.actor Rnn": "--agent.actor cannot be 'Rnn'. Valid names, nearest first: ",
    "--agent.algorithm.rnd-cfg.weight 1": "--agent.algorithm.rnd-cfg.weight: "
    "agent.algorithm.rnd_cfg is None, so that it has no part 'weight'. It can be "
    "RndCfg.",
    "--agent.algorithm.num-mini-batches 7 --env.scene.num-envs 8": "agent."
    "algorithm.num_mini_batches=7 does not divide the 256 samples of an iteration.",
    "--agent.obs-groups.actor actr": "agent.obs_groups['actor'] names 'actr', but the "
    "environment has no such observation group. Valid names, nearest first: 'actor', "
    "'critic'.",
    "--agent.max-iterations -1": "agent.max_iterations is -1; it has to be 0 or more.",
}


@pytest.mark.parametrize("line", WRONG)
def test_an_invalid_command_line_prints_one_message_and_writes_no_files(
    line, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = [TASK, *line.split()] if line.startswith("--") else line.split()
    assert run_program(train.main, arguments) == 2
    said, complaint = capsys.readouterr()
    answer = WRONG[line]
    whole = f"error: {answer}\n"
    assert (
        complaint == whole
        if answer.endswith(".")
        else (complaint.startswith(f"error: {answer}") and complaint.count("\n") == 1)
    )
    assert said == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "setting"),
    [("--max-iterations", "--agent.max-iterations"), ("--decimation=2", "--env.decim")],
)
def test_a_setting_without_its_configuration_is_an_error_with_its_path(option, setting):
    with pytest.raises(UsageError, match=rf"a setting of the task: type {setting}"):
        read_line(train.TrainOptions, ["Cartpole-Balance", option, "3"])


BOXES = {
    "Cartpole-Balance extra": "Unrecognized options: extra",
    "--sed 1": "--seed INT",
    "--inti-from latest": "--init-from TEXT",
    "--num-evs 16": "--num-envs INT",
    "--seed": "Missing value for argument '--seed'",
    "--logs a b": "Unrecognized options: b",
    "--video yes": "Unrecognized options: yes",
}


@pytest.mark.parametrize("line", BOXES)
def test_an_invalid_option_prints_one_box_and_writes_no_files(
    line, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = [TASK, *line.split()] if line.startswith("--") else line.split()
    with pytest.raises(SystemExit) as ended:
        train.main(arguments)
    assert ended.value.code == 2
    said, complaint = capsys.readouterr()
    assert said == "" and complaint.count("full helptext") == 1
    assert BOXES[line] in complaint
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_the_program_keeps_its_traceback():
    def broken(arguments):
        raise ValueError("not one of ours")

    with pytest.raises(ValueError, match="not one of ours"):
        run_program(broken, [])


def test_a_traceback_is_printed_on_request(monkeypatch):
    with pytest.raises(UsageError):
        run_program(train.main, ["--traceback"])
    monkeypatch.setenv("MJLAB_TRACEBACK", "1")
    with pytest.raises(UsageError):
        run_program(train.main, [])


UNWORDED: dict[str, Callable[[], object]] = {
    "a name that is not there": lambda: {}["nothing"],
    "a number of Python's": lambda: int("ten"),
    "an error in a library": lambda: np.zeros(3).reshape(2),
    "a line of the library that fails": lambda: suggest("a", None),  # type: ignore
}


@pytest.mark.parametrize("fault", UNWORDED)
def test_messages_are_more_than_the_text_of_a_python_exception(fault):
    with pytest.raises(Exception):  # noqa: B017
        run_program(lambda arguments: UNWORDED[fault](), [])


WORDED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a value of Python's kinds": (
        lambda folder: build_entity(EntityCfg(source=folder), "a/b"),
        "'a/b' is not a valid entity name: use a non-empty name without '/'.",
    ),
    "a file that is not there": (
        lambda folder: (folder / "gone.txt").read_text(),
        "No such file or directory: '{folder}/gone.txt'.",
    ),
    "a folder in place of a file": (
        lambda folder: folder.read_text(),
        "Is a directory: '{folder}'.",
    ),
    "a model that does not compile": (
        lambda folder: build_entity(EntityCfg(source=massless(folder)), "toy"),
        "MuJoCo cannot compile 'toy': Error: mass and inertia of moving bodies must be "
        "larger than mjMINVAL Element name 'body_1', id 1, line 1. This error occurred "
        "while building the entity 'toy' from '{folder}/robot.xml'.",
    ),
    "a text that is none": (
        lambda folder: read_bvh(noise(folder)),
        "{folder}/noise.bvh is damaged: 'utf-8' codec can't decode byte 0xff in "
        "position 0: invalid start byte. Write or copy it again.",
    ),
}


def massless(folder: Path) -> Path:
    path = folder / "robot.xml"
    path.write_text("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    return path


def noise(folder: Path) -> Path:
    path = folder / "noise.bvh"
    path.write_bytes(b"\xff\xfe")
    return path


@pytest.mark.parametrize("fault", WORDED)
def test_every_user_error_is_one_line(fault, tmp_path, capsys):
    work, said = WORDED[fault]
    assert run_program(lambda arguments: work(tmp_path), []) == 2
    assert capsys.readouterr().err == f"error: {said.format(folder=tmp_path)}\n"


# --- Right command lines -------------------------------------------------------------


def test_settings_give_the_same_values_as_python():
    found = cartpole(
        "--env.decimation 4 --env.scene.num_envs=7 --env.sim.mujoco.gravity 0 0 -1.6 "
        "--env.rewards.smooth.weight -2.0 --env.final-obs --env.sim.backend native "
        "--env.events.reset_hinge.params.position-range -1 0.5 --env.seed 5 "
        "--agent.algorithm.learning-rate 5e-4 --agent.actor.hidden-dims 32 16 "
        "--agent.critic.hidden-dims (8,) --agent.stop.max-seconds 60 "
        "--agent.obs-groups.critic actor critic --env.sim.mujoco.disableflags ()"
    )
    env, agent = CartpoleBalanceCfg(), CartpoleAgentCfg()
    env.decimation, env.scene.num_envs, env.seed, env.final_obs = 4, 7, 5, True
    env.sim.mujoco.gravity, env.sim.mujoco.disableflags = (0.0, 0.0, -1.6), ()
    env.sim.backend = "native"
    env.rewards["smooth"].weight = -2.0
    env.events["reset_hinge"].params["position_range"] = (-1.0, 0.5)
    agent.algorithm.learning_rate, agent.stop.max_seconds = 5e-4, 60.0
    agent.actor.hidden_dims, agent.critic.hidden_dims = (32, 16), (8,)
    agent.obs_groups["critic"] = ("actor", "critic")
    assert found == {"env": env, "agent": agent}


def test_the_given_configuration_is_not_modified():
    configs = {"env": CartpoleBalanceCfg(), "agent": CartpoleAgentCfg()}
    before = copy.deepcopy(configs)
    line = (
        "--env.scene.entities.cartpole.init-state.pos 1 2 3 --agent.actor RnnModelCfg"
    )
    found = apply(configs, settings(line), ["rewards.smooth"])
    assert found != configs
    assert configs == before


def test_a_term_that_two_groups_share_changes_only_in_one():
    name = "observations.actor.terms.velocity"
    env = cartpole(f"--env.{name}.history-length 3")["env"]
    assert env.observations["actor"].terms["velocity"].history_length == 3
    assert env.observations["critic"].terms["velocity"].history_length == 0


def test_disabled_terms_are_none_with_and_without_the_name_of_the_configuration():
    line = read_line(
        train.TrainOptions,
        ["T", "--disable", "rewards.smooth", "env.terminations.time-out"],
    )
    env = cartpole("", line.options.disable)["env"]
    assert env.rewards == {"smooth": None}
    assert env.terminations == {"time_out": None}


def test_parameter_with_a_default_can_be_set():
    env = VelocityG1FlatCfg()
    assert "command_threshold" not in env.rewards["foot_slip"].params
    name = "--env.rewards.foot-slip.params.command-threshold"
    found = apply({"env": env}, settings(f"{name} 0.25"))["env"]
    assert found.rewards["foot_slip"].params["command_threshold"] == 0.25
    (changed,) = [n for n in env.rewards if env.rewards[n] != found.rewards[n]]
    assert changed == "foot_slip"


def test_an_element_of_a_tuple_is_found_by_its_name():
    env = VelocityG1FlatCfg()
    line = settings("--env.scene.sensors.feet_contact.num-slots 3")
    found = apply({"env": env}, line)["env"]
    slots = {s.name: s.num_slots for s in found.scene.sensors}
    assert slots["feet_contact"] == 3
    assert slots["self_contact"] == env.scene.sensors[1].num_slots


def test_a_network_changes_its_type_and_keeps_the_common_fields():
    agent = cartpole(
        "--agent.actor RnnModelCfg --agent.actor.rnn-type gru "
        "--agent.actor.distribution-cfg BetaCfg --agent.algorithm.rnd-cfg RndCfg "
        "--agent.algorithm.rnd-cfg.weight 0.5"
    )["agent"]
    assert agent.actor == RnnModelCfg(
        hidden_dims=(64, 64), rnn_type="gru", distribution_cfg=BetaCfg()
    )
    assert agent.algorithm.rnd_cfg == RndCfg(weight=0.5)
    back = apply({"agent": agent}, settings("--agent.algorithm.rnd-cfg None"))
    assert back["agent"].algorithm.rnd_cfg is None
    assert type(agent.critic) is MlpModelCfg


@dataclass(kw_only=True)
class Ordered:
    """Configuration that validates its own fields."""

    low: float = 0.0
    """The lower bound."""

    high: float = 1.0

    table: dict[str, float] = field(default_factory=lambda: {".*_hip.*": 0.1, "a": 1.0})
    """Numbers by
    pattern."""

    def __post_init__(self):
        if self.low >= self.high:
            raise ValueError(f"low={self.low} has to be below high={self.high}.")


def test_dependent_settings_can_be_given_in_any_order():
    for line in ("--env.low 5 --env.high 6", "--env.high 6 --env.low 5"):
        assert apply({"env": Ordered()}, settings(line))["env"].low == 5.0
    with pytest.raises(SettingError, match=r"env: low=5.0 has to be below high=1.0."):
        apply({"env": Ordered()}, settings("--env.low 5"))


def test_keys_with_dots_and_whole_dictionaries_can_be_given():
    env = apply({"env": Ordered()}, settings("--env.table..*_hip.* 0.3"))["env"]
    assert env.table == {".*_hip.*": 0.3, "a": 1.0}
    line = [Setting("env.table", ["{'.*knee': 0.2}"])]
    assert apply({"env": Ordered()}, line)["env"].table == {".*knee": 0.2}


def test_commas_separate_numbers_but_not_words():
    options = read_line(train.TrainOptions, ["T", "--gpus", "0,1"]).options
    assert options.gpus == (0, 1)
    mujoco = cartpole("--env.sim.mujoco.disableflags a,b")["env"].sim.mujoco
    assert mujoco.disableflags == ("a,b",)


def test_empty_command_line_gives_the_defaults():
    line = read_line(train.TrainOptions, [])
    assert line.options == train.TrainOptions() and line.settings == ()


# --- What explains -------------------------------------------------------------------


def test_docstrings_below_fields_are_found():
    assert field_texts(Ordered) == {
        "low": "The lower bound.",
        "table": "Numbers by pattern.",
    }
    assert field_texts(PpoAgentCfg)["max_iterations"] == "Iterations of the whole run."


def test_the_reference_shows_options_with_kind_value_and_text():
    text = reference({"agent": PpoAgentCfg()}, "agent.checkpoint")
    assert text.startswith(
        "agent.checkpoint is a CheckpointCfg.\n"
        "  --agent.checkpoint.every\n"
        "      Iterations between checkpoints. The last iteration is saved in any "
        "case.\n"
        "      a whole number. Now: 50\n"
    )


def typed(value) -> list[str]:
    """Return a value as text on the command line."""
    if isinstance(value, tuple | list):
        return [text for item in value for text in typed(item)] or ["()"]
    return [value.name if isinstance(value, Enum) else str(value)]


def listed(value):
    """Return a value with lists replaced by tuples."""
    if isinstance(value, dict):
        return {key: listed(item) for key, item in value.items()}
    return [listed(x) for x in value] if isinstance(value, tuple | list) else value


def is_nested(value) -> bool:
    """Return whether a flat row of values is ambiguous."""
    return isinstance(value, dict | tuple | list) and any(
        isinstance(item, tuple | list) for item in value
    )


@pytest.mark.parametrize("name", ["Velocity-G1", "Velocity-Go1-Flat", TASK])
def test_every_option_of_the_reference_accepts_its_own_value(name):
    task = load_task(name)
    configs = {"env": task.env(), "agent": task.rl()}
    lines = "\n".join(reference(configs, part) for part in configs).splitlines()
    options = [line.strip()[2:] for line in lines if line.startswith("  --")]
    assert len(options) > 200
    before = {name: find_part(configs, name).value for name in options}
    line = [
        Setting(name, [repr(value)] if is_nested(value) else typed(value))
        for name, value in before.items()
    ]
    found = apply(configs, line)
    after = {name: find_part(found, name).value for name in options}
    # A list in a configuration can come back as a tuple, which is equivalent.
    changed = [n for n in options if listed(after[n]) != listed(before[n])]
    assert changed == []


def test_the_summary_of_a_task_is_read_without_importing_it(tmp_path, monkeypatch):
    package = tmp_path / "outside_tasks"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "walk.py").write_text("WALK = Task(env=1, summary='Walks.')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_summary("outside_tasks.walk:WALK") == "Walks."
    assert find_summary("outside_tasks.walk:RUN") == ""
    assert find_summary("outside_tasks.gone:WALK") == ""
    assert find_summary("nowhere_at_all:WALK") == ""


def test_every_task_that_ships_has_its_summary_in_the_list(capsys):
    assert run_program(list_verb.main, []) == 0
    rows = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    shipped = project["entry-points"]["mjlab.tasks"].keys() - {"0-guard"}
    listed = {row[0]: row[2:] for row in rows if row[1] == "mjlab-fused"}
    assert listed == {task: [load_task(task).summary] for task in shipped}
    assert all(summary.endswith(".") for (summary,) in listed.values())


def plug_in(folder: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    """Install a distribution, found before ours, whose module cannot be imported."""
    (folder / "broken_plugin.py").write_text("import no_such_module\n")
    info = folder / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: broken-plugin\nVersion: 1.0\n")
    points = f"[mjlab.tasks]\n{task} = broken_plugin:TASK\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(folder))


def test_plugin_cannot_replace_a_built_in_task(tmp_path, monkeypatch):
    plug_in(tmp_path, monkeypatch, "Velocity-G1")
    assert find_entry("Velocity-G1").origin == "mjlab-fused"
    assert load_task("Velocity-G1").summary


def test_check_lists_a_broken_plugin_with_its_reason(tmp_path, monkeypatch, capsys):
    plug_in(tmp_path, monkeypatch, "Broken-Walk")
    assert run_program(list_verb.main, ["broken"]) == 0
    assert capsys.readouterr().out == "Broken-Walk  broken-plugin\n"
    assert run_program(list_verb.main, ["broken", "--check"]) == 2
    said, complaint = capsys.readouterr()
    assert "Broken-Walk  broken-plugin  BROKEN: " in said
    assert "No module named 'no_such_module'" in said
    assert complaint == "error: 1 of 1 tasks are broken.\n"


# --- The machine ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "on_gpu", "cores", "backend", "number"),
    [
        (1, False, 2, "auto", 256),
        (1, False, 16, "native", 2048),
        (4096, False, 2, "auto", 256),
        (64, False, 2, "auto", 64),
        (1, False, 2, "warp", 8),
        (1, True, 2, "auto", 4096),
        (8192, True, 2, "warp", 8192),
    ],
)
def test_the_number_of_worlds_suits_the_machine(wanted, on_gpu, cores, backend, number):
    found = choose_worlds(wanted, on_gpu=on_gpu, cores=cores, backend=backend)
    assert found.number == number
    assert str(number) in found.reason


def test_a_task_with_a_cpu_setting_shows_its_number_of_worlds():
    found = choose_worlds(1, on_gpu=False, cores=2, on_cpu=2048)
    assert found.number == 2048 and "2048 worlds" in found.reason
    assert choose_worlds(1, on_gpu=True, cores=2, on_cpu=2048).number == 4096
    on_warp = choose_worlds(1, on_gpu=False, cores=2, backend="warp", on_cpu=2048)
    assert on_warp.number == 8


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ("", "256, 128, 64"),
        ("--env.sim.backend native", "256, 128, 64"),
        ("--device cpu", "256, 128, 64"),
        ("--device cuda:0", "512, 256, 128"),
        ("--gpus 0 1", "512, 256, 128"),
    ],
)
def test_settings_of_the_learner_suit_the_device(line, hidden, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    arguments = f"Velocity-Go1 {line} --help-config agent.actor.hidden-dims"
    with pytest.raises(Answer, match=hidden):
        train.main(arguments.split())


# --- From the command line to the run
# --------------------------------------------------

SMALL = (
    "--env.scene.num-envs 8 --env.episode-length-s 1.0 --agent.num-steps-per-env 4 "
    "--agent.evaluation.every 0 --agent.logging.tensorboard False --seed 3"
).split()


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """Runs of two iterations."""
    root = tmp_path_factory.mktemp("logs")
    line = [TASK, *SMALL, "--agent.max-iterations", "2", "--logs", str(root)]
    assert run_program(train.main, [*line, "--env.rewards.smooth.weight", "2"]) == 0
    return root


def test_training_writes_a_run_with_the_requested_settings(logs):
    run = logs / TASK / "latest"
    info = json.loads((run / "run.json").read_text())
    assert (info["status"], info["task"], info["seed"]) == ("finished", TASK, 3)
    lines = (run / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2]
    config = json.loads((run / "config.json").read_text())
    assert config["values"]["env.rewards.smooth.weight"] == 2.0
    assert (run / "checkpoints" / "model_000002.pt").exists()


def test_a_run_resumes_where_it_stopped(logs, capsys):
    more = ["--agent.max-iterations", "3", "--logs", str(logs)]
    # Without a task, the task of the run is resumed.
    assert run_program(train.main, ["--resume", "latest", *more]) == 0
    run = logs / TASK / "latest"
    lines = (run / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2, 3]
    said = capsys.readouterr().out
    assert "Done: 3 of 3 iterations.\nNext:\n" in said
    there = run.resolve()
    for program in (
        f"play.py {there}",
        f"report.py {there} --open",
        f"doctor.py {there}",
    ):
        assert f"python scripts/{program}\n" in said


def test_a_stopped_run_prints_the_command_that_continues_it(logs):
    run = find(TASK, logs).run
    said = next_commands(run, stopped=True).splitlines()
    assert said[:2] == [
        "Next:",
        f"  continue           python scripts/train.py {TASK} --resume {run.path}",
    ]
    assert said[2:] == next_commands(run).splitlines()[1:]


def test_folder_without_runs_is_not_suggested(tmp_path):
    (tmp_path / "sweeps").mkdir()
    with pytest.raises(RunError) as refusal:
        find("sweeps", tmp_path)
    assert "Valid names" not in str(refusal.value)


@pytest.mark.slow
def test_report_contains_the_training_video(logs, tmp_path, capsys):
    shutil.copytree(logs, tmp_path / "logs")
    more = ["--agent.max-iterations", "3", "--logs", str(tmp_path / "logs"), "--video"]
    assert run_program(train.main, [TASK, "--resume", "latest", *more]) == 0
    run = (tmp_path / "logs" / TASK / "latest").resolve()
    assert f"Video: {run / 'videos' / 'policy.mp4'}\n" in capsys.readouterr().out
    # An MP4 file starts with the box "ftyp".
    assert (run / "videos" / "policy.mp4").read_bytes()[4:8] == b"ftyp"
    assert "data:video/mp4;base64," in (run / "report.html").read_text()


@pytest.mark.slow
def test_failed_video_recording_gives_one_line(tmp_path):
    (tmp_path / "run.json").write_text('{"task": "Cartpole-Balance"}')
    said = record_film(Run(tmp_path))
    assert said.startswith("No video was recorded. ")
    assert "config.json" in said and "\n" not in said


def test_a_run_of_another_task_is_refused(logs, capsys):
    line = ["Cartpole-Swingup", "--resume", f"{TASK}/latest", "--logs", str(logs)]
    assert run_program(train.main, line) == 2
    assert "is a run of 'Cartpole-Balance', not of 'Cartpole-Swingup'" in (
        capsys.readouterr().err
    )


def figures(logs: Path, *more: str) -> dict:
    path = logs / "figures.json"
    line = [TASK, "--logs", str(logs), "--json", str(path), "--seed", "7", *more]
    assert run_program(evaluate.main, line) == 0
    return json.loads(path.read_text())


def test_evaluation_equals_a_manual_rollout(logs, capsys):
    import torch

    from mjlab.envs import ManagerBasedRlEnv

    found = figures(logs, "--episodes", "3", "--policy", "zero")
    cfg = CartpoleBalanceCfg(episode_length_s=1.0)
    cfg.rewards["smooth"].weight = 2.0
    cfg.scene.num_envs = 1
    for episode, run in enumerate(found["runs"]):
        env = ManagerBasedRlEnv(cfg, device="cpu")
        env.reset(seed=7 + episode)
        total = sum(float(env.step(torch.zeros(1, 1))[1][0]) for _ in range(20))
        assert run["seed"] == 7 + episode
        assert (run["steps"], run["ended_by"]) == (20, ["time_out"])
        assert run["total"] == pytest.approx(total, abs=1e-6)
        env.close()
    totals = [run["total"] for run in found["runs"]]
    assert len(set(totals)) == 3
    assert found["summary"]["return"]["mean"] == pytest.approx(sum(totals) / 3)
    assert found["summary"]["falls"] == 0.0
    assert "ended by" in capsys.readouterr().out


def test_evaluation_episodes_do_not_depend_on_the_number_of_worlds(logs):
    wide = figures(logs, "--episodes", "5", "--policy", "zero")
    narrow = figures(
        logs, "--episodes", "5", "--policy", "zero", "--env.scene.num-envs", "2"
    )
    assert wide["runs"] == narrow["runs"]


def test_falls_are_terminations_before_the_time_limit(logs, capsys):
    """A pole that starts within the bound leaves it under a constant push."""
    line = ["--episodes", "4", "--policy", "random", "--env.episode-length-s", "0.5"]
    line += ["--disable", "outcomes.success", "--disable", "outcomes.fail"]
    found = figures(logs, *line)
    assert [run["steps"] for run in found["runs"]] == [10] * 4
    assert found["summary"]["success_once"] is None
    assert "not defined by the task" in capsys.readouterr().out


def test_a_program_without_configurations_takes_no_settings():
    with pytest.raises(UsageError, match=r"Unknown option '--env.decimation'"):
        read_line(list_verb.ListOptions, ["--env.decimation", "4"])


def test_a_new_task_passes_the_test_that_it_comes_with(tmp_path, capsys):
    line = ["Pole-On-Ice", "--like", TASK, "--folder", str(tmp_path)]
    assert run_program(new.main, line) == 0
    assert run_program(new.main, line) == 2
    assert "already exists; nothing was written" in capsys.readouterr().err
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / "pole_on_ice",
        env=os.environ | {"PYTHONPATH": f"{ROOT}:."},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "I,F", "."]
    sorted_ = subprocess.run(
        ruff, cwd=tmp_path / "pole_on_ice", capture_output=True, text=True
    )
    assert sorted_.returncode == 0, sorted_.stdout


@pytest.mark.parametrize("name", ["Pole On", "../up", "", "a--b"])
def test_a_name_that_cannot_be_a_package_is_refused(name, tmp_path, capsys):
    line = [name, "--like", TASK, "--folder", str(tmp_path)]
    assert run_program(new.main, line) == 2
    assert "is not a valid task name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_new_task_from_a_file_is_refused_with_advice(tmp_path, capsys):
    line = ["Pole-On-Ice", "--like", "pole.py:PoleCfg", "--folder", str(tmp_path)]
    assert run_program(new.main, line) == 2
    said = capsys.readouterr().err
    assert "not the file pole.py:PoleCfg. Subclass its class in another file" in said
    assert list(tmp_path.iterdir()) == []


def test_optional_number_does_not_accept_the_text_none():
    for words in (["--num-envs", "x"], ["--num-envs", "None"]):
        with pytest.raises(SettingError) as caught:
            read_line(train.TrainOptions, words)
        assert (
            str(caught.value) == f"--num-envs takes a whole number, not {words[1]!r}."
        )
