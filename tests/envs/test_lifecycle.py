"""Order and number of all calls, from build to step."""

import copy
from collections.abc import Iterator
from itertools import groupby
from typing import Any, ClassVar

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.manual import STEP as STEP_PHASES
from mjlab.envs.physics import Together
from mjlab.envs.runner import StepObserver
from mjlab.managers import (
    CurriculumTermCfg,
    EventTermCfg,
    ManagerTermBase,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.mdp import UniformVectorCommandCfg
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.tools.operations import counted_operations


class Journal:
    """Journal of recording terms."""

    lines: ClassVar[list[str]] = []


class Recording(ManagerTermBase):
    """Term that records every call."""

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
    recorded(env.sim, "finish_step", "sim.step")
    recorded(env.scene.entity("cartpole"), "apply", "entity.apply")
    recorded(env.scene, "update", "scene.update")
    recorded(env.scene, "refresh", "scene.refresh")
    recorded(env.scene, "reset", "scene.reset")
    recorded(env.action_manager, "process_action", "process_action")
    recorded(env.action_manager, "apply_action", "apply_action")
    recorded(env.command_manager, "compute", "command")
    recorded(env.command_manager, "reset", "reset command")


ACT = ["apply_action", "entity.apply"]
SUBSTEP = ["sim.step", "scene.update", "substep metric"]

STEP = [
    "process_action",
    *ACT,  # Once, because position targets are constant within a step.
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


# --- Automatic resets -----------------------------------------------------------------

PHYSICS = ["apply_action", "sim.step", "termination", "reward"]
RESET = ["sim.reset", "reset event", "reset reward"]
OBSERVE = ["interval event", "sim.forward", "sim.sense", "observation"]
OBSERVE_RESET = [call for call in OBSERVE if call != "interval event"]


@pytest.mark.parametrize(
    "choice, expected",
    [
        ({}, [*PHYSICS, "curriculum", *RESET, *OBSERVE]),
        (
            {"final_obs": True},
            [*PHYSICS, *OBSERVE, "curriculum", *RESET, *OBSERVE_RESET],
        ),
        (
            {"when": "next_step"},
            ["curriculum", "sim.reset", *PHYSICS, *RESET, *OBSERVE],
        ),
        ({"when": "never"}, [*PHYSICS, *OBSERVE]),
    ],
)
def test_automatic_resets_follow_the_order_of_their_mode(
    choice: dict[str, Any],
    expected: list[str],
    journal: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cfg = recorded_cfg()
    cfg.decimation = 1
    env = ManagerBasedRlEnv(cfg)
    env.choose_resets(**choice)
    env.reset()
    env.episode_length_buf.fill_(env.max_episode_length - 1)
    env.step(torch.zeros(2, 1))
    env.episode_length_buf.fill_(env.max_episode_length - 1)
    record_verbs(env, monkeypatch)
    journal.clear()
    env.step(torch.zeros(2, 1))
    # `sim.finish_step` after a reset is a complete `sim.step`, recorded twice.
    calls = [call for call, _ in groupby(journal) if call in expected]
    assert calls == expected


def test_observers_are_called_for_every_phase_and_physics_step() -> None:
    cfg = recorded_cfg()
    del cfg.metrics["substep"]
    env, twin = ManagerBasedRlEnv(cfg), ManagerBasedRlEnv(cfg)
    assert isinstance(env.program.physics, Together)
    seen: list[tuple[str, float]] = []

    class Watcher(StepObserver):
        def after_phase(self, phase: str) -> None:
            seen.append((phase, float(env.sim.data.time[0])))

    env.observers.append(Watcher())
    action = torch.full((2, 1), 0.3)
    for each in (env, twin):
        each.reset(seed=1)
        each.step(action)
    physics = ["apply_targets", "physics_step"] * 3
    assert [phase for phase, _ in seen] == [
        *STEP_PHASES[:2],
        *physics,
        *STEP_PHASES[4:],
    ]
    times = [time for phase, time in seen if phase == "physics_step"]
    assert times == pytest.approx([env.physics_dt * n for n in (1, 2, 3)])
    assert torch.equal(env.sim.data.qpos, twin.sim.data.qpos)
    env.observers.clear()
    env.step(action)
    assert len(seen) == len(physics) + 6, "hooks end with their step"


def test_managers_without_terms_compute_nothing() -> None:
    env = ManagerBasedRlEnv(CartpoleBalanceCfg(seed=3))
    env.reset()
    m, mask = env.managers, torch.ones(env.num_envs, dtype=torch.bool)
    idle = (m.command, m.curriculum, m.metrics, m.recorder)
    assert not any(manager.terms for manager in idle)
    with counted_operations() as operations:
        m.recorder.pre_step()
        m.curriculum.compute(mask)
        m.metrics.compute_substep()
        m.metrics.compute()
        m.recorder.post_step(mask)
        m.recorder.pre_reset()
        for manager in idle:
            manager.reset(mask)
        m.command.write_state(0.0)
        m.command.compute(0.0)
        m.recorder.record()
    assert not operations
