"""A recorded world, done again on the native engine, and looked into while it runs."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.runner import StepObserver
from mjlab.faults.naming import element_name
from mjlab.faults.recording import DumpError, Recording
from mjlab.sim.fields import STATE_FIELDS, Stage

STATE: tuple[str, ...] = ("qpos", "qvel", "act", "ctrl")
"""Fields that are looked into, and compared with what was recorded."""


@dataclass(frozen=True)
class Finding:
    """A number that is not finite, where the one before was."""

    step: int
    """The recorded step."""

    moment: str
    """When in the step."""

    what: str
    """Which number of which part, and its value."""

    def __str__(self) -> str:
        return f"Step {self.step}, {self.moment}: {self.what}."


@dataclass(frozen=True, kw_only=True)
class Account:
    """What came of doing the recorded steps again."""

    findings: tuple[Finding, ...]
    """Where numbers were not finite, the first of each step."""

    equal: int
    """Steps from the first on that begin as they were recorded, bit for bit."""

    differences: dict[str, float]
    """Largest difference from the record, by field, over all steps in which both are
    finite."""

    worst: tuple[str, int] | None
    """Field and step of the first difference, None if there is none."""


def replay_cfg(cfg: ManagerBasedRlEnvCfg, recording: Recording) -> ManagerBasedRlEnvCfg:
    """The run's environment for one world on the native engine."""
    return dataclasses.replace(
        cfg,
        scene=dataclasses.replace(cfg.scene, num_envs=1),
        sim=dataclasses.replace(cfg.sim, backend="native"),
        seed=recording.record["seed"],
        mode="auto",
    )


def build_env(cfg: ManagerBasedRlEnvCfg, recording: Recording) -> ManagerBasedRlEnv:
    """The world, built as it was in its run: by its number among all worlds."""
    number = recording.about["global_world"]
    return ManagerBasedRlEnv(
        replay_cfg(cfg, recording), device="cpu", first_world=number
    )


class Replay:
    """Does recorded steps again, as a policy that acts as was recorded.

    After the last one it goes back to the first.
    """

    def __init__(self, env: ManagerBasedRlEnv, recording: Recording) -> None:
        """Take an environment of `build_env`."""
        self.env = env
        """The world."""
        self.recording = recording
        """What was recorded."""
        self.step = 0
        """The recorded step that comes next."""
        self._actions = torch.from_numpy(recording.steps["action"]).unsqueeze(1)
        width = env.action_manager.total_action_dim
        if self._actions.shape[1:] != (1, width):
            raise DumpError(
                f"{recording.path} has actions of {self._actions.shape[2]} numbers, "
                f"and its configuration builds {width}: the task has "
                "changed since."
            )
        self._start = _start_state(env, recording)

    def __call__(self, observations: Any) -> torch.Tensor:
        """The recorded action, shape (1, total_action_dim)."""
        if self.step == self.recording.length:
            self.step = 0
        if self.step == 0:
            self.restart()
        self.step += 1
        return self._actions[self.step - 1]

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: what was recorded goes on after an episode's end."""

    def restart(self) -> None:
        """Put the world into the state before the first step."""
        self.env.set_state(self._start)
        self.step = 0

    def run(self) -> Account:
        """Do all steps unseen, look for what went wrong, and compare."""
        self.restart()
        look = _Look(self.env)
        differences: dict[str, float] = dict.fromkeys(STATE, 0.0)
        equal, worst = 0, None
        self.env.observers.append(look)
        try:
            for step in range(self.recording.length):
                differs = self._compare(step, differences)
                if differs is None and worst is None:
                    equal += 1
                elif worst is None:
                    assert differs is not None
                    worst = (differs, step)
                look.step = step
                with torch.no_grad():
                    self.env.step(self(None))
        finally:
            self.env.observers.remove(look)
        self.restart()
        return Account(
            findings=tuple(look.findings),
            equal=equal,
            differences=differences,
            worst=worst,
        )

    def _compare(self, step: int, differences: dict[str, float]) -> str | None:
        """Note how far the world is from the record; the first field that differs."""
        found = None
        for name in STATE:
            here = self.env.sim.engine.data(name)[0].numpy()
            there = self.recording.steps[name][step]
            if np.array_equal(here, there, equal_nan=True):
                continue
            found = found or name
            with np.errstate(invalid="ignore"):
                gaps = np.abs(here.astype(np.float64) - there)
            finite = gaps[np.isfinite(gaps)]
            differences[name] = max(differences[name], *finite, 0.0)
        return found


class _Look(StepObserver):
    """Looks into a world's numbers several times in a step."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        self._env = env
        self.step = 0
        """The recorded step that is under way."""
        self._physics = 0
        self.findings: list[Finding] = []

    def before_step(self) -> None:
        self._physics = 0
        self._state("when it begins, so that something wrote it in the step before")

    def after_phase(self, phase: str) -> None:
        looks = {
            "set_targets": self._after_action,
            "physics_step": self._after_physics,
            "judge": self._after_rewards,
        }
        if phase in looks:
            looks[phase]()

    def _after_action(self) -> None:
        bad = _bad(self._env.action_manager.action[0])
        if bad is not None:
            self._find("before physics", f"number {bad[0]} of the action is {bad[1]}")

    def _after_physics(self) -> None:
        self._physics += 1
        of = f"{self._physics} of {self._env.cfg.decimation}"
        self._state(f"after physics step {of}")

    def _after_rewards(self) -> None:
        rewards = self._env.reward_manager
        if not rewards.terms:
            return
        bad = _bad(rewards.values[0])
        if bad is not None:
            name = rewards.active_terms[bad[0]]
            self._find("in the rewards", f"reward term {name!r} is {bad[1]}")

    def _state(self, moment: str) -> None:
        sim = self._env.sim
        for name in ("qvel", "qpos", "act", "ctrl"):
            values = sim.engine.data(name)[0]
            bad = _bad(values)
            if bad is None:
                continue
            part = element_name(sim.mj_model, name, bad[0])
            many = int((~values.isfinite()).sum())
            more = f", and {many - 1} more of {len(values)}" if many > 1 else ""
            self._find(moment, f"{name}[{bad[0]}] ({part}) is {bad[1]}{more}")
            return

    def _find(self, moment: str, what: str) -> None:
        """Keep the first finding of a step; what follows comes from it."""
        if not self.findings or self.findings[-1].step < self.step:
            self.findings.append(Finding(self.step, moment, what))


def describe(recording: Recording, account: Account) -> list[str]:
    """What a user is told of a replay."""
    record = recording.record
    lines = [
        f"{recording.path}: {record['what']}, in iteration {record['iteration']}, on "
        f"{record['when']}.",
        f"World {recording.world} of {record['num_envs']} on {record['engine']}, "
        f"{recording.length} steps from step {recording.start} of its run on, done "
        "again on the native engine.",
    ]
    lines += _comparison(recording, account)
    lines += [str(finding) for finding in account.findings]
    if not account.findings:
        lines.append("All numbers are finite in the replay.")
    for fault in recording.about["faults"]:
        step = fault["step"]
        when = "in one of these steps" if step is None else f"in step {step}"
        lines.append(f"Recorded: {fault['kind']}, {when}.")
    lines += record["advice"]
    if recording.others:
        lines.append(f"Also kept, to be named instead: {', '.join(recording.others)}.")
    return lines


def _comparison(recording: Recording, account: Account) -> list[str]:
    if account.worst is None:
        return [f"All {account.equal} steps begin as they were recorded, bit for bit."]
    field, step = account.worst
    gaps = ", ".join(
        f"{name} {gap:.3g}" for name, gap in account.differences.items() if gap
    )
    return [
        f"Steps begin as they were recorded, bit for bit, in {account.equal} of "
        f"{recording.length}; {field} is the first to differ, in step {step}. Largest "
        f"differences: {gaps or 'in numbers that are not finite'}."
    ]


# The state to start from.


def _start_state(
    env: ManagerBasedRlEnv, recording: Recording
) -> dict[str, torch.Tensor]:
    """The recorded state, in the layout of an environment with one world."""
    state = {
        name: _fitting(name, tensor, recording)
        for name, tensor in env.state.live().items()
    }
    if recording.record["engine"] == "native":
        physics = {k: v for k, v in recording.rows.items() if k.startswith("sim.")}
    else:
        physics = _native_physics(env, recording.rows)
    return state | {
        name: torch.from_numpy(a) if isinstance(a, np.ndarray) else a
        for name, a in physics.items()
    }


def _fitting(name: str, live: torch.Tensor, recording: Recording) -> torch.Tensor:
    """A recorded tensor, this world's part or the whole, whichever fits."""
    for kept in (recording.rows, recording.wholes):
        if name in kept and kept[name].shape == tuple(live.shape):
            return torch.from_numpy(kept[name])
    raise DumpError(
        f"{recording.path} has no {name!r} of shape {tuple(live.shape)}: the task has "
        "changed since."
    )


def _native_physics(
    env: ManagerBasedRlEnv, rows: Mapping[str, np.ndarray]
) -> dict[str, torch.Tensor]:
    """The state of the native engine with what another engine recorded."""
    engine = env.sim.engine
    fields = [k.removeprefix("sim.model.") for k in rows if k.startswith("sim.model.")]
    env.sim.expand(*(name for name in fields if name in engine.variable_fields))
    for name in fields:
        live = engine.model(name)
        if live is not None:
            values = torch.from_numpy(rows[f"sim.model.{name}"])
            live.copy_(values.reshape(live.shape))
    for name in STATE_FIELDS:
        values = rows.get(f"sim.data.{name}")
        if values is not None:
            live = engine.data(name)
            live.copy_(torch.from_numpy(values).reshape(live.shape))
    env.sim.forward(Stage.ACCELERATION)
    return {f"sim.{name}": tensor for name, tensor in env.sim.snapshot().items()}


def _bad(values: torch.Tensor) -> tuple[int, float] | None:
    """The first number that is not finite, with its value."""
    places = (~values.isfinite()).nonzero().flatten().tolist()
    return (places[0], float(values[places[0]])) if places else None
