"""Settings of a run as a task and leaves: complete, compared, and without code."""

import copy
import dataclasses
import enum
import json
import math
import sys
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from mjlab import mdp
from mjlab.managers import RewardTermCfg, SceneEntityCfg
from mjlab.names import UnknownNameError
from mjlab.registry import entries, load_task
from mjlab.rl import CloningAgentCfg, PpoAgentCfg, RnnModelCfg
from mjlab.runs.settings import read_task, task_text
from mjlab.settings.file import (
    Settings,
    SettingsFileError,
    build,
    check_savable,
    parse_settings,
    read_out,
    settings_text,
)
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.worlds.synthetic import SyntheticCfg

SMOOTH = "env.rewards.smooth"


class Colour(enum.Enum):
    RED = 1


@dataclass(kw_only=True)
class InnerCfg:
    number: float = 1.0
    shape: tuple[int, ...] = (1, 2)


@dataclass(kw_only=True)
class OuterCfg:
    name: str = "a"
    kind: Literal["one", "two"] = "one"
    inner: InnerCfg | None = field(default_factory=InnerCfg)
    terms: dict[str, InnerCfg | None] = field(default_factory=dict)
    pair: tuple[float, float] = (0.0, 1.0)
    maybe: int | None = None
    colour: Colour = Colour.RED
    anything: Any = None


def cartpole() -> dict[str, Any]:
    return {"env": CartpoleBalanceCfg()}


def saved(**changes: Any) -> Settings:
    """Contents of a cartpole's file, with other values."""
    found = read_out(cartpole())
    return Settings(found.values | changes, found.names)


def through_text(settings: Settings) -> Settings:
    return parse_settings(settings_text("Some-Task", settings), "a run")[1]


# --- Whole ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", sorted(entries()))
def test_every_task_is_restored_from_its_file(task: str) -> None:
    entry = load_task(task)
    on_cpu = None if entry.on_cpu is None else entry.on_cpu.rl
    for agent in filter(None, (entry.rl, on_cpu)):
        configs = {"env": entry.env(), "agent": agent()}
        assert read_task(task_text(task, configs), "a run") == configs


@pytest.mark.parametrize("task", sorted(entries()))
def test_every_play_task_is_restored_with_disabled_terms(
    task: str,
) -> None:
    watched = load_task(task).play()
    again = read_task(task_text(task, {"env": watched}), "a recording")["env"]
    before, after = read_out({"env": watched}), read_out({"env": again})
    assert after.names == before.names
    new = after.values.keys() - before.values.keys()
    assert {after.values[path] for path in new} <= {None}
    emptied = before.values.keys() - after.values.keys()
    assert all(before.values[path] == {} for path in emptied)


def test_environment_with_every_feature_is_restored_from_its_file() -> None:
    configs = {"env": SyntheticCfg(), "agent": PpoAgentCfg()}
    text = settings_text("Some-Task", read_out(configs))
    task = {"env": SyntheticCfg(), "agent": PpoAgentCfg()}
    assert read_task(text, "a run", task=task) == configs


def test_values_that_differ_from_the_task_are_those_of_the_file() -> None:
    cfg = CartpoleBalanceCfg(episode_length_s=math.inf, seed=7)
    cfg.scene.num_envs = 3
    term = cfg.rewards["smooth"]
    assert term is not None
    term.weight = -2.5
    again = build(cartpole(), through_text(check_savable(cartpole(), {"env": cfg})))
    assert again == {"env": cfg} and again != cartpole()


def test_disabled_term_is_none_in_the_file() -> None:
    removed, emptied = CartpoleBalanceCfg(), CartpoleBalanceCfg()
    del removed.rewards["smooth"]
    emptied.rewards["smooth"] = None
    for cfg in (removed, emptied):
        found = check_savable(cartpole(), {"env": cfg})
        assert found.values[SMOOTH] is None
        assert not [p for p in found.values if p.startswith(f"{SMOOTH}.")]
        again = build(cartpole(), through_text(found))["env"]
        assert again.rewards == emptied.rewards


def test_a_model_is_chosen_by_the_name_of_its_class() -> None:
    agent = PpoAgentCfg(actor=RnnModelCfg(rnn_hidden_dim=24))
    task = {"agent": PpoAgentCfg()}
    assert build(task, through_text(read_out({"agent": agent}))) == {"agent": agent}


def test_an_agent_of_another_class_is_restored_with_its_class() -> None:
    agent = CloningAgentCfg(max_iterations=7)
    text = task_text("Cartpole-Balance", {"env": CartpoleBalanceCfg(), "agent": agent})
    assert read_task(text, "a run")["agent"] == agent
    data = json.loads(text)
    data["names"]["agent"] = "CartpoleBalanceCfg"
    said = "agent: CartpoleBalanceCfg in the file, CartpoleAgentCfg in the current task"
    with pytest.raises(SettingsFileError, match=said):
        read_task(json.dumps(data), "a run")


# --- Differences ----------------------------------------------------------------------


def without_smooth(cfg: CartpoleBalanceCfg) -> None:
    del cfg.rewards["smooth"]


def with_alive(cfg: CartpoleBalanceCfg) -> None:
    cfg.rewards["alive"] = RewardTermCfg(func=mdp.is_alive, weight=1.0)


def renamed(cfg: CartpoleBalanceCfg) -> None:
    term = cfg.rewards["smooth"]
    assert term is not None
    term.func = mdp.joint_acc_l2


CHANGES: dict[Any, str] = {
    without_smooth: f"{SMOOTH}: in the file, but not in the current task.",
    with_alive: (
        "env.rewards.alive: nothing in the file, RewardTermCfg in the current task"
    ),
    renamed: (
        f"{SMOOTH}.func: smooth_reward in the file, joint_acc_l2 in the current task."
    ),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_task_that_has_changed_is_refused_with_both_sides(change: Any) -> None:
    task = cartpole()
    change(task["env"])
    with pytest.raises(SettingsFileError) as caught:
        build(task, saved(**{"env.seed": 5}))
    assert CHANGES[change] in str(caught.value)
    assert "--accept-changes" in str(caught.value) and "\n" not in str(caught.value)
    accepted = build(task, saved(**{"env.seed": 5}), accept_changes=True)
    assert accepted == {"env": dataclasses.replace(task["env"], seed=5)}


def test_a_field_that_is_newer_than_the_file_has_its_default() -> None:
    older = saved(**{"env.seed": 5})
    del older.values["env.episode_length_s"]
    cfg = build(cartpole(), older)["env"]
    assert cfg == CartpoleBalanceCfg(seed=5)


@pytest.mark.parametrize("change", [with_alive, renamed])
def test_a_configuration_that_differs_by_more_than_values_is_not_saved(
    change: Any,
) -> None:
    cfg = CartpoleBalanceCfg()
    change(cfg)
    with pytest.raises(SettingsFileError, match="a configuration class") as found:
        task_text("Cartpole-Balance", {"env": cfg})
    assert "\n" not in str(found.value)


def test_a_value_that_no_file_can_hold_is_named_by_its_path() -> None:
    with pytest.raises(SettingsFileError, match=r"^env\.anything is a object"):
        read_out({"env": OuterCfg(anything=object())})


def test_a_file_of_an_uninstalled_task_is_reported() -> None:
    text = settings_text("Cartpole-Balanse", read_out(cartpole()))
    with pytest.raises(UnknownNameError) as caught:
        read_task(text, "a run")
    assert str(caught.value).startswith(
        "a run uses task 'Cartpole-Balanse', which is not installed."
    )


def test_a_file_with_other_configurations_than_a_task_has_is_refused() -> None:
    attack = saved(**{"evil.x": 1})
    text = settings_text("Cartpole-Balance", attack)
    with pytest.raises(SettingsFileError, match=r"^a run: .* has no 'evil'\."):
        read_task(text, "a run", accept_changes=True)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("x.name", 3, "x.name is 3 (int); it has to be str."),
        ("x.kind", "three", "x.kind is 'three' (str); it has to be 'one' or 'two'."),
        ("x.pair", [1.0], "x.pair is (1.0,) (tuple); it has to be tuple["),
        ("x.pair", [1.0, "b"], "x.pair[1] is 'b' (str); it has to be float."),
        ("x.maybe", True, "x.maybe is True (bool); it has to be int or None."),
        ("x.inner", {"number": 1.0}, "x.inner is {'number': 1.0} (dict); it has to"),
        ("x.inner.shape", [1, "x"], "x.inner.shape[1] is 'x' (str)"),
        ("x.terms.a", 1, "x.terms.a is 1 (int); it has to be InnerCfg or None."),
        ("x.colour", {"$enum": "BLUE"}, "x.colour: 'BLUE'"),
        ("x.anything", {"$oops": 1}, "x.anything has the unknown tag '$oops'."),
        ("x.nme", 1, "x.nme: in the file, but not in the current task."),
        ("x.n\nme", 1, r"'x.n\nme': in the file, but not in the current task."),
    ],
)
def test_a_mistake_in_a_file_is_named_by_its_path(
    path: str, value: Any, said: str
) -> None:
    task = {"x": OuterCfg(terms={"a": InnerCfg()})}
    found = read_out(task)
    if value is None or path in ("x.inner", "x.terms.a"):
        found.names.pop(path)
        inside = [p for p in found.values if p.startswith(f"{path}.")]
        for each in inside:
            del found.values[each]
    with pytest.raises(SettingsFileError) as caught:
        build(task, Settings(found.values | {path: value}, found.names))
    assert said in str(caught.value)


def test_a_class_with_a_line_break_in_its_name_is_refused_in_one_line() -> None:
    task = {"x": OuterCfg(terms={"a": InnerCfg()})}
    found = read_out(task)
    names = found.names | {"x.inner": "Inner\nCfg"}
    with pytest.raises(SettingsFileError) as caught:
        build(task, Settings(found.values, names))
    assert r"x.inner: 'Inner\nCfg' in the file, InnerCfg in" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "3", '{"task": "A"}', '{"task": 1, "values": {}, "names": {}}'),
        '{"task": "A", "values": {}, "names": {"env": 3}}',
        "[" * 100_000,
    ],
)
def test_a_text_that_is_no_settings_file_is_refused(text: str) -> None:
    with pytest.raises(SettingsFileError, match="a run"):
        parse_settings(text, "a run")


# --- Attacks --------------------------------------------------------------------------

CODE = (
    *("os:system", "subprocess:run", "mjlab.rl.shipping:ship", "antigravity:fly"),
    *("os.system", "system", "__import__", "Run", "", "mjlab.mdp:joint_vel"),
)
FUNCTION = f"{SMOOTH}.func"
SOURCE = "env.scene.entities.cartpole.source"


def read_without_imports(settings: Settings) -> dict[str, Any]:
    """Read a file twice; no module may be imported, and no named code called."""
    before = set(sys.modules)
    task = cartpole()
    kept = copy.deepcopy(read_out(task).names)
    with pytest.raises(SettingsFileError):
        build(task, settings)
    try:
        found = build(task, settings, accept_changes=True)
        assert read_out(found).names == kept
    finally:
        assert set(sys.modules) == before
    return found


@pytest.mark.parametrize("name", CODE)
@pytest.mark.parametrize("path", [FUNCTION, SOURCE, SMOOTH, "env.scene", "env.seed"])
def test_a_code_name_in_a_file_counts_as_a_difference_without_effect(
    path: str, name: str
) -> None:
    attack = saved()
    attack.names[path] = name
    attack.values.pop(path, None)
    found = read_without_imports(attack)
    assert found == cartpole()


@pytest.mark.parametrize("name", ["SceneCfg", "CartpoleSwingupCfg", "PpoAgentCfg"])
@pytest.mark.parametrize("path", [SMOOTH, "env", "env.scene.entities.cartpole"])
def test_a_class_not_allowed_by_the_field_is_ignored(path: str, name: str) -> None:
    attack = saved()
    attack.names[path] = name
    assert read_without_imports(attack) == cartpole()


@pytest.mark.parametrize(
    "value", ["os:system", {"$path": "/etc/passwd"}, {"$callable": "os:system"}, 3, []]
)
def test_value_cannot_replace_a_function(value: Any) -> None:
    attack = saved(**{FUNCTION: value})
    del attack.names[FUNCTION]
    assert read_without_imports(attack) == cartpole()


@pytest.mark.parametrize(
    "value",
    [
        {"$callable": "os:system"},
        {"$type": "subprocess:Popen", "args": "true"},
        {"$partial": "subprocess:run", "args": [], "keywords": {}},
        {"$enum": "antigravity:fly"},
        {"$path": "x", "package": "antigravity"},
        {"$path": "../../x", "package": "mjlab"},
        {"$path": "/etc/passwd", "package": "mjlab"},
        {"$path": "x", "package": ["mjlab"]},
        {"$path": 3},
        {"$float": "__import__('os')"},
        {"$float": "1.0", "more": 2},
        {"$tensor": [1.0], "dtype": "load"},
        {"$array": [1.0], "dtype": "O8 or so"},
        {"$range": [0, 1, 0]},
        {"$set": [{"a": 1}]},
        {"$dict": [1]},
        {"$dict": [[{"a": 1}, 2]]},
    ],
    ids=str,
)
def test_a_tag_that_is_unknown_or_wrong_is_refused(value: Any) -> None:
    before = set(sys.modules)
    task = {"x": OuterCfg()}
    found = read_out(task)
    attack = Settings(found.values | {"x.anything": value}, found.names)
    for accepts in (False, True):
        with pytest.raises(SettingsFileError, match=r"^x\.anything"):
            build(task, attack, accept_changes=accepts)
    assert set(sys.modules) == before


@pytest.mark.parametrize("depth", [300, 900, 5_000])
def test_a_value_that_is_nested_deeply_is_refused_in_one_line(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    with pytest.raises(SettingsFileError) as caught:
        build(cartpole(), saved(**{"env.seed": value}))
    assert "\n" not in str(caught.value)


def test_terms_that_the_task_does_not_have_are_not_made() -> None:
    attack = saved(**{"env.rewards.mine.weight": 1.0, "env.events.mine.mode": "reset"})
    for kind in ("rewards", "events"):
        attack.names[f"env.{kind}.mine"] = "RewardTermCfg"
        attack.names[f"env.{kind}.mine.func"] = "os:system"
    assert read_without_imports(attack) == cartpole()


def test_a_selection_keeps_its_class() -> None:
    task = {"x": OuterCfg(anything=SceneEntityCfg("robot"))}
    found = read_out(task)
    found.values["x.anything.joint_names"] = ["a"]
    selected = build(task, found)["x"].anything
    assert selected == SceneEntityCfg("robot", joint_names=("a",))
