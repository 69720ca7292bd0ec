"""A file names what is declared, and nothing is called while it is read."""

import dataclasses
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mjlab.mdp import joint_vel, reset_joints_by_offset
from mjlab.registry import trusted
from mjlab.schema import ConfigFileError, Trust, config_text, from_data, parse_config
from mjlab.settings import Config
from mjlab.spec import load_spec
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from scripts import replay
from tests.tools.nameable import LIST, nameable, names


def partial(name: str, *args: Any, **keywords: Any) -> dict[str, Any]:
    return {"$partial": name, "args": list(args), "keywords": keywords}


def exploit(marker: Path) -> dict[str, Any]:
    """A model that, when it is made, has git run a command."""
    command = f"alias.x=!touch {marker}"
    return partial("mjlab.rl.run_folder:_run_git", {"$path": "."}, "-c", command, "x")


def cartpole_with(source: Any) -> str:
    """The configuration of a cartpole with another model, as text."""
    data = json.loads(config_text(env=CartpoleBalanceCfg()))
    data["env"]["scene"]["entities"]["cartpole"]["source"] = source
    return json.dumps(data)


def build(env_cfg: Any) -> None:
    load_spec(env_cfg.scene.entities["cartpole"].source)


def test_a_run_that_would_have_git_run_a_command_is_refused(tmp_path: Path) -> None:
    marker = tmp_path / "pwned"
    text = cartpole_with(exploit(marker))
    with pytest.raises(ConfigFileError, match="_run_git"):
        build(parse_config(text, trusted("Cartpole-Balance"))["env"])
    assert not marker.exists()


def test_a_recording_that_would_have_git_run_a_command_is_refused(
    tmp_path: Path,
) -> None:
    marker = tmp_path / "pwned"
    text = cartpole_with(exploit(marker))
    recording: Any = SimpleNamespace(
        path=tmp_path / "x.h5", env_cfg=text, env_id="Cartpole-Balance"
    )
    with pytest.raises(replay.UsageError, match="_run_git"):
        build(replay.written_config(recording))
    assert not marker.exists()


@pytest.mark.parametrize(
    "attack",
    [
        {"$callable": "os:system"},
        partial("subprocess:run"),
        {"$type": "subprocess:Popen", "args": "true"},
        {"$enum": "antigravity:fly", "name": "x"},
        {"$path": "x", "package": "antigravity"},
        # Through a trusted module to what it imports.
        {"$callable": "mjlab.rl.run_folder:subprocess.run"},
        {"$callable": "mjlab.rl.run_folder:subprocess"},
        {"$callable": "mjlab.rl.distributed:os.execve"},
        {"$type": "mjlab.rl.run_folder:subprocess.Popen", "args": "true"},
        # What writes, deletes, loads or starts something.
        partial("mjlab.files:write_text", {"$path": "x"}, "y"),
        partial("mjlab.rl.shipping:ship", None, {"$path": "x"}),
        partial("mjlab.rl:ship", None, {"$path": "x"}),
        partial("mjlab.tasks.muscle.mjcf:main"),
        partial("mjlab.rl.checkpoint:load_model", {"$path": "x"}),
        partial("mjlab.cli.new_task:write_package", {"$path": "x"}, "y"),
        {"$callable": "mjlab.tasks.muscle.mjcf:main"},
        {"$type": "mjlab.rl.distributed:relaunch", "gpus": []},
        {"$type": "mjlab.rl.run_folder:RunFolder", "path": "x"},
        # Private, or no name at all.
        {"$callable": "mjlab.rl.run_folder:_run_git"},
        {"$callable": "mjlab.schema.names:importlib.import_module"},
        {"$callable": "mjlab.mdp:joint_vel.__globals__"},
        {"$callable": "mjlab.mdp:__builtins__"},
        {"$callable": "mjlab.mdp"},
        {"$callable": ":"},
        {"$callable": 3},
        {"$callable": None},
        {"$type": ["mjlab.scene:SceneCfg"]},
        # A method of a configuration.
        {"$callable": "mjlab.managers:RewardTermCfg.__init__"},
    ],
    ids=str,
)
def test_what_is_not_declared_is_refused(attack: Any) -> None:
    for trust in (Trust(), trusted(), trusted("Cartpole-Balance")):
        with pytest.raises(ConfigFileError):
            parse_config(json.dumps({"env": {"inner": attack}}), trust)
    assert "antigravity" not in sys.modules


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return nameable()


def test_what_a_file_can_reach_is_the_list_that_was_looked_through(
    found: dict[str, Any], record_property: Any
) -> None:
    record_property("nameable", len(found))
    listed = LIST.read_text("utf-8").splitlines()
    assert list(found) == listed, "python -m tests.tools.nameable writes it"


def test_of_every_function_of_ours_only_listed_ones_can_be_bound(
    found: dict[str, Any],
) -> None:
    """Every name of every module, as a term or a model and with arguments bound."""
    allowed = {id(value) for value in found.values()}
    refused = 0
    for name, value in names():
        if not callable(value) or id(value) in allowed:
            continue
        refused += 1
        for attack in ({"$callable": name}, partial(name, "x")):
            with pytest.raises(ConfigFileError):
                from_data(attack)
    assert refused > 3000


def test_reading_calls_only_constructors_that_dataclasses_made(
    found: dict[str, Any],
) -> None:
    for name, value in found.items():
        if dataclasses.is_dataclass(value):
            assert "__post_init__" not in dir(value), name
            file = sys.modules[value.__module__].__file__
            assert value.__init__.__code__.co_filename != file, name
            # The one of ours looks at names, and makes nothing of its own.
            assert value.__new__ in (object.__new__, Config.__new__), name


@pytest.mark.parametrize(
    "attack",
    [
        partial("mjlab.mdp:joint_vel", {"a": 1}),
        partial("mjlab.mdp:joint_vel", env={"a": 1}),
        partial("mjlab.mdp:reset_joints_by_offset", cfg=None),
    ],
    ids=str,
)
def test_a_file_cannot_bind_the_environment_of_a_term(attack: Any) -> None:
    with pytest.raises(ConfigFileError, match="binds the environment of"):
        from_data(attack)


def test_a_file_can_bind_the_parameters_of_a_term_and_arguments_of_a_model() -> None:
    bound = from_data(partial("mjlab.mdp:joint_vel", biased=True))
    assert bound.func is joint_vel and bound.keywords == {"biased": True}
    model = from_data(
        partial("mjlab.tasks.robots.skin:load_with_skin", {"$path": "a.xml"}, "go1")
    )
    assert model.args == (Path("a.xml"), "go1")
    event = from_data({"$callable": "mjlab.mdp:reset_joints_by_offset"})
    assert event is reset_joints_by_offset


def test_a_configuration_that_a_module_of_ours_only_imported_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreign = dataclasses.make_dataclass("ForeignCfg", ["x"], kw_only=True)
    monkeypatch.setattr(foreign, "__module__", "elsewhere.config")
    monkeypatch.setattr("mjlab.mdp.ForeignCfg", foreign, raising=False)
    with pytest.raises(ConfigFileError, match="this is none of them"):
        from_data({"$type": "mjlab.mdp:ForeignCfg", "x": 1})


# --- A task of one's own --------------------------------------------------------------

OWN = """
from dataclasses import dataclass, field
from mjlab.managers import RewardTermCfg
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.registry import Task

def steady(env, scale=1.0):
    return scale * env.action_manager.action[:, 0]

def _quiet(env):
    return 0.0 * env.action_manager.action[:, 0]

def unused(env):
    return env.action_manager.action[:, 0]

def rewards():
    return {
        "steady": RewardTermCfg(func=steady, weight=1.0),
        "quiet": RewardTermCfg(func=_quiet, weight=1.0),
    }

@dataclass(kw_only=True)
class OwnCfg(CartpoleBalanceCfg):
    rewards: dict = field(default_factory=rewards)

TASK = Task(env=OwnCfg, play=OwnCfg)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A task with plain functions, as installed."""
    (tmp_path / "own_package.py").write_text(OWN)
    info = tmp_path / "own-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: own\nVersion: 1.0\n")
    points = "[mjlab.tasks]\nOwn-Task = own_package:TASK\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_package", raising=False)
    import own_package  # pyright: ignore[reportMissingImports]

    return own_package


def test_a_plain_function_is_read_with_the_task_that_holds_it(own: Any) -> None:
    text = config_text(env=own.OwnCfg())
    back = parse_config(text, trusted("Own-Task"))["env"]
    assert back.rewards["steady"].func is own.steady
    assert back.rewards["quiet"].func is own._quiet


def test_without_its_task_the_message_says_which_task_to_load(own: Any) -> None:
    text = config_text(env=own.OwnCfg())
    said = r"own_package:steady'.*read only with its task: 'Own-Task'\."
    with pytest.raises(ConfigFileError, match=said):
        parse_config(text, trusted())


def test_what_its_task_does_not_hold_is_refused(own: Any) -> None:
    text = config_text(env=own.OwnCfg()).replace(":steady", ":unused")
    with pytest.raises(ConfigFileError, match="what its task 'Own-Task' holds; this"):
        parse_config(text, trusted("Own-Task"))


def test_a_plain_function_that_a_task_holds_cannot_be_given_arguments(own: Any) -> None:
    attack = partial("own_package:steady", scale=2.0)
    with pytest.raises(ConfigFileError, match="Mark the function with"):
        from_data(attack, trusted("Own-Task"))


def test_a_function_of_a_package_without_a_task_says_what_to_do() -> None:
    with pytest.raises(ConfigFileError, match="trust the package 'tests' as well"):
        from_data({"$callable": f"{__name__}:{exploit.__name__}"})
    trust = Trust(("mjlab", "tests"))
    with pytest.raises(ConfigFileError, match="has to be registered"):
        from_data({"$callable": f"{__name__}:{exploit.__name__}"}, trust)


def test_a_task_that_is_not_installed_leaves_what_is_declared() -> None:
    text = config_text(env=CartpoleBalanceCfg())
    assert parse_config(text, trusted("No-Such-Task"))["env"] == CartpoleBalanceCfg()
