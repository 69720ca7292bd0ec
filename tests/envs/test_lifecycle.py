"""The order and the number of all calls, from build to step."""

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs import step as step_page
from mjlab.envs.step import StepProgram
from mjlab.managers import (
    CurriculumTermCfg,
    EventTermCfg,
    ManagerTermBase,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RecorderTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.mdp import UniformVectorCommandCfg
from mjlab.tasks.cartpole import CartpoleBalanceCfg


class Journal:
    """Journal that recording terms write."""

    lines: ClassVar[list[str]] = []


class Recording(ManagerTermBase):
    """A term that writes down every call."""

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__(cfg, env)
        self.label = cfg.params["label"]
        Journal.lines.append(f"build {self.label}")

    def reset(self, mask: torch.Tensor) -> None:
        Journal.lines.append(f"reset {self.label}")


class RecordingValue(Recording):
    def __call__(self, env: Any, label: str) -> torch.Tensor:
        Journal.lines.append(label)
        return torch.zeros(env.num_envs)


class RecordingObservation(Recording):
    def __call__(self, env: Any, label: str) -> torch.Tensor:
        Journal.lines.append(label)
        return torch.zeros(env.num_envs, 1)


class RecordingFlag(Recording):
    def __call__(self, env: Any, label: str) -> torch.Tensor:
        Journal.lines.append(label)
        return env.episode_length_buf >= env.max_episode_length


class RecordingEvent(Recording):
    def __call__(self, env: Any, mask: torch.Tensor, label: str) -> None:
        Journal.lines.append(label)


class RecordingCurriculum(Recording):
    def __call__(self, env: Any, mask: torch.Tensor, label: str) -> None:
        Journal.lines.append(label)


def recorded_cfg() -> ManagerBasedRlEnvCfg:
    cfg = CartpoleBalanceCfg(seed=3)
    cfg.scene.num_envs = 2
    cfg.decimation = 3
    cfg.episode_length_s = 5 * 3 * cfg.sim.mujoco.timestep
    term = {"func": RecordingValue}
    cfg.rewards["mark"] = RewardTermCfg(weight=1.0, params={"label": "reward"}, **term)
    cfg.metrics = {
        "mark": MetricsTermCfg(params={"label": "metric"}, **term),
        "substep": MetricsTermCfg(
            params={"label": "substep metric"}, per_substep=True, **term
        ),
    }
    cfg.terminations["mark"] = TerminationTermCfg(
        func=RecordingFlag, params={"label": "termination"}
    )
    cfg.observations["mark"] = ObservationGroupCfg(
        terms={
            "mark": ObservationTermCfg(
                func=RecordingObservation, params={"label": "observation"}
            )
        }
    )
    for mode in ("startup", "reset", "interval", "step"):
        interval = {"interval_range_s": (0.01, 0.01)} if mode == "interval" else {}
        cfg.events[f"mark_{mode}"] = EventTermCfg(
            func=RecordingEvent,
            mode=mode,
            params={"label": f"{mode} event"},
            **interval,
        )
    cfg.commands["mark"] = UniformVectorCommandCfg(
        resampling_time_range=(1e9, 1e9), ranges=[(0.0, 1.0)]
    )
    cfg.curriculum = {
        "mark": CurriculumTermCfg(
            func=RecordingCurriculum, params={"label": "curriculum"}
        )
    }
    return cfg


def record_verbs(env: ManagerBasedRlEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded(owner: Any, name: str, label: str) -> None:
        original = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            Journal.lines.append(label)
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    for verb in ("step", "forward", "reset", "sense"):
        recorded(env.sim, verb, f"sim.{verb}")
    recorded(env.scene, "apply", "scene.apply")
    recorded(env.scene, "update", "scene.update")
    recorded(env.scene, "refresh", "scene.refresh")
    recorded(env.scene, "reset", "scene.reset")
    recorded(env.action_manager, "process_action", "process_action")
    recorded(env.action_manager, "apply_action", "apply_action")
    recorded(env.command_manager, "compute", "command")
    recorded(env.command_manager, "reset", "reset command")


SUBSTEP = ["apply_action", "scene.apply", "sim.step", "scene.update", "substep metric"]

STEP = [
    "process_action",
    *SUBSTEP * 3,
    "termination",
    "reward",
    "metric",
    "step event",
    "curriculum",
    "sim.reset",
    "scene.reset",
    "reset event",
    "reset observation",
    "reset reward",
    "reset metric",
    "reset substep metric",
    "reset curriculum",
    "reset command",
    *[f"reset {mode} event" for mode in ("startup", "reset", "interval", "step")],
    "reset termination",
    "interval event",
    "sim.forward",
    "scene.refresh",
    "command",
    "sim.sense",
    "observation",
]


@pytest.fixture
def journal() -> Iterator[list[str]]:
    Journal.lines.clear()
    yield Journal.lines
    Journal.lines.clear()


def test_every_term_is_built_once(journal: list[str]) -> None:
    ManagerBasedRlEnv(recorded_cfg())
    built = [line for line in journal if line.startswith("build ")]
    assert sorted(built) == sorted(set(built))
    assert len(built) == 10


def test_a_step_makes_its_calls_in_the_documented_order(
    journal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = ManagerBasedRlEnv(recorded_cfg())
    env.reset()
    record_verbs(env, monkeypatch)
    journal.clear()
    env.step(torch.zeros(2, 1))
    assert journal == STEP


def test_a_step_in_which_worlds_end_makes_the_same_calls(
    journal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = ManagerBasedRlEnv(recorded_cfg())
    env.reset()
    record_verbs(env, monkeypatch)
    for step in range(6):
        journal.clear()
        _, _, terminated, truncated, _ = env.step(torch.zeros(2, 1))
        assert journal == STEP
        assert bool((terminated | truncated).all()) == (step == 4)


def test_reset_makes_the_calls_of_a_step_from_the_curriculum_on(
    journal: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = ManagerBasedRlEnv(recorded_cfg())
    record_verbs(env, monkeypatch)
    journal.clear()
    env.reset()
    expected = [line for line in STEP[STEP.index("curriculum") :]]
    expected.remove("interval event")
    assert journal == expected


def test_the_config_is_never_written_to(journal: list[str]) -> None:
    cfg = recorded_cfg()
    before = copy.deepcopy(cfg)
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    for _ in range(50):
        env.step(torch.zeros(2, 1))
    assert cfg == before


# --- The page and the calls -----------------------------------------------------------


class Page:
    """The calls of `StepProgram.advance` as its text says them, for one environment."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        source = textwrap.dedent(inspect.getsource(StepProgram.advance))
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        program = env.program
        self.names: dict[str, Any] = {"self": program, "env": env, "resume": True}
        self.names |= {"m": env.managers, "resets": program.resets}
        self.calls: list[str] = []
        self.owners: dict[str, tuple[Any, str]] = {}
        # The first statement only gives these names.
        self.read(function.body[2:])

    def read(self, statements: list[ast.stmt]) -> None:
        for node in statements:
            if isinstance(node, ast.If):
                self.read(node.body if self.value(node.test) else node.orelse)
            elif isinstance(node, ast.For):
                assert isinstance(node.target, ast.Name)
                for value in self.value(node.iter):
                    self.names[node.target.id] = value
                    self.read(node.body)
            elif isinstance(node, ast.With):
                self.read(node.body)
            else:
                self.note(node)

    def value(self, node: ast.expr) -> Any:
        return eval(ast.unparse(node), {"range": range}, self.names)

    def note(self, statement: ast.stmt) -> None:
        """Write down what is called in a statement, the inner calls first."""
        found = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
        for call in reversed(found):
            if isinstance(call.func, ast.Attribute):
                label = ast.unparse(call.func)
                self.calls.append(label)
                self.owners[label] = (self.value(call.func.value), call.func.attr)


def everything() -> ManagerBasedRlEnv:
    cfg = recorded_cfg()
    cfg.outcomes["success"] = OutcomeTermCfg(
        func=RecordingFlag, params={"label": "outcome"}
    )
    cfg.recorders["seen"] = RecorderTermCfg(
        func=RecordingValue, params={"label": "recorder"}
    )
    cfg.recording.export = "none"
    return ManagerBasedRlEnv(cfg)


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"final_obs": True},
        {"ignore_terminations": True},
        {"when": "next_step"},
        {"when": "never"},
    ],
)
def test_calls_of_a_step_come_in_the_order_of_the_page(
    choice: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = everything()
    env.choose_resets(**choice)
    env.reset()
    page = Page(env)
    made: list[str] = []

    def recorded(label: str, original: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_code is StepProgram.advance.__code__:
                made.append(label)
            return original(*args, **kwargs)

        return call

    for label, (owner, name) in page.owners.items():
        if not isinstance(owner, torch.Tensor):
            call = recorded(label, getattr(owner, name))
            monkeypatch.setattr(owner, name, call)
    env.step(torch.zeros(2, 1))
    counters = [label for label in page.calls if label.endswith(".add_")]
    assert counters == ["env.step_counts.add_"]
    assert made == [label for label in page.calls if label not in counters]
    assert len(made) > 25


def test_the_whole_program_of_a_step_is_on_one_page() -> None:
    assert inspect.getsource(step_page).count("\n") <= 160


def test_a_manager_without_terms_leaves_the_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = ManagerBasedRlEnv(CartpoleBalanceCfg(seed=3))
    env.reset()
    idle = [manager for manager in env.managers if not manager.terms]
    kinds = {type(manager).__name__ for manager in idle}
    assert kinds == {
        "CommandManager",
        "CurriculumManager",
        "MetricsManager",
        "RecorderManager",
    }
    for manager in idle:
        for verb in ("compute", "reset", "record", "pre_step", "compute_substep"):
            if hasattr(manager, verb):
                monkeypatch.setattr(manager, verb, None)
    env.step(torch.zeros(env.num_envs, 1))
