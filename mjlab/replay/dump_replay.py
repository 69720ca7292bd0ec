"""Replay a dumped environment on the native engine, and search for the fault."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.runner import StepObserver
from mjlab.envs.state import StateError, world_row
from mjlab.replay.dumps import DumpedWorld, DumpError, load_dump
from mjlab.replay.flight_recorder import STATE
from mjlab.replay.replay import start_row
from mjlab.runs.settings import read_task
from mjlab.sim.fields import STATE_FIELDS, Stage

Arrays = Mapping[str, np.ndarray]

_LARGEST = torch.finfo(torch.float32).max


def open_dump(
    path: Path, world: int | None = None, *, accept_changes: bool = False
) -> tuple[DumpedWorld, ManagerBasedRlEnvCfg]:
    """Return a world of a dump, and the configuration of its training environment.

    Args:
        path: Dump file.
        world: Index of the world in its run. None selects the world with the first
            fault.
        accept_changes: Use the current task where terms or classes differ, instead of
            raising an error.
    """
    dumped = load_dump(path, world)
    text = str(dumped.attributes["env_cfg"])
    configs = read_task(text, str(path), accept_changes=accept_changes)
    return dumped, configs["env"].for_training()


def build_env(cfg: ManagerBasedRlEnvCfg, world: DumpedWorld) -> ManagerBasedRlEnv:
    """Build an environment with only this world, on the native engine.

    The world has the same index as in the run, so that it draws the same random
    numbers.
    """
    cfg = dataclasses.replace(
        cfg,
        scene=dataclasses.replace(cfg.scene, num_envs=1),
        sim=dataclasses.replace(cfg.sim, backend="native"),
        seed=world.attributes["seed"],
        recorders={},
        mode="auto",
    )
    first_world = world.attributes["global_world"]
    return ManagerBasedRlEnv(cfg, device="cpu", first_world=first_world)


@dataclass(frozen=True)
class Finding:
    """Value in a replayed step that is not finite, or exceeds MuJoCo's limit."""

    step: int
    """Index of the recorded step."""

    moment: str
    """Phase of the step, such as "after physics step 2 of 4"."""

    what: str
    """Element with its joint, body or actuator, and its value."""

    def __str__(self) -> str:
        return f"Step {self.step}, {self.moment}: {self.what}."


@dataclass(kw_only=True)
class DumpReport:
    """Differences of the replay from the dump, and the faults that the replay found."""

    findings: list[Finding] = field(default_factory=list)
    """First non-finite or diverged value of each step that has one."""

    equal: int = 0
    """Number of steps, before the first difference, that start bit-identically to the
    dump."""

    differences: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(STATE, 0.0)
    )
    """Maximum difference from the dump by field, over finite values."""

    worst: tuple[str, int] | None = None
    """Field and step of the first difference, None if the replay is bit-identical."""

    def compare(self, step: int, here: Arrays, there: Arrays) -> None:
        """Compare the state before a step with the recorded state.

        Args:
            step: Index of the step.
            here: Fields in the replay.
            there: Recorded fields.
        """
        for name in STATE:
            if np.array_equal(here[name], there[name], equal_nan=True):
                continue
            self.worst = self.worst or (name, step)
            with np.errstate(invalid="ignore"):
                gaps = np.abs(here[name].astype(np.float64) - there[name])
            gaps = gaps[np.isfinite(gaps)]
            self.differences[name] = max(self.differences[name], *gaps, 0.0)
        self.equal += self.worst is None

    def lines(self, world: DumpedWorld) -> Iterator[str]:
        """Yield the lines of the report for the console."""
        about = world.about
        yield (
            f"{world.path}: {about['what']}, in iteration {about['iteration']}, on "
            f"{about['when']}."
        )
        yield (
            f"World {world.attributes['world']} of {about['num_envs']} on "
            f"{world.attributes['backend']}: {world.length} steps, starting at step "
            f"{about['first_step']} of its run, replayed on the native engine."
        )
        yield self._comparison(world.length)
        yield from map(str, self.findings)
        if not self.findings:
            yield "The replay found no diverged or non-finite value."
        for fault in world.faults:
            step = fault["step"]
            when = "in one of these steps" if step is None else f"in step {step}"
            yield f"Recorded: {fault['kind']}, {when}."
        yield from about["advice"]
        others = [each for each in world.worlds if each != world.attributes["world"]]
        if others:
            listed = ", ".join(map(str, others))
            yield f"Also stored, for --dump-world: {listed}."

    def _comparison(self, length: int) -> str:
        if self.worst is None:
            return f"All {self.equal} steps start bit-identically to the recording."
        name, step = self.worst
        gaps = ", ".join(f"{k} {gap:.3g}" for k, gap in self.differences.items() if gap)
        return (
            f"{self.equal} of {length} steps start bit-identically to the recording; "
            f"the first difference is in {name}, in step {step}. Largest differences: "
            f"{gaps or 'in non-finite values'}."
        )


class DumpReplay:
    """Policy that returns the recorded actions in a loop.

    At the start of each loop, the environment is set to the recorded state.
    """

    def __init__(self, env: ManagerBasedRlEnv, world: DumpedWorld) -> None:
        """Prepare the replay.

        Args:
            env: Environment of `build_env`.
            world: Dump of the world.

        Raises:
            DumpError: If the task has changed since the dump.
        """
        self.env = env
        """Environment with one world."""
        self.world = world
        """Dump of the world."""
        self.step = 0
        """Index of the next recorded step."""
        self._actions = torch.from_numpy(world.steps["actions"]).unsqueeze(1)
        width = env.action_manager.total_action_dim
        if self._actions.shape[1:] != (1, width):
            raise DumpError(
                f"{world.path} has {self._actions.shape[2]} numbers per action, but "
                f"its configuration needs {width}. The task has changed since the dump."
            )
        self._start = _start_state(env, world)

    def __call__(self, observations: Any) -> torch.Tensor:
        """Return the next recorded action, shape (1, total_action_dim)."""
        if self.step == self.world.length:
            self.step = 0
        if self.step == 0:
            self.restart()
        self.step += 1
        return self._actions[self.step - 1]

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: the recorded steps continue across ends of episodes."""

    def restart(self) -> None:
        """Set the environment to the state before the first recorded step."""
        self.env.set_state(self._start)
        self.step = 0

    def run(self) -> DumpReport:
        """Replay all steps; search for faults, and compare states with the dump."""
        self.restart()
        report = DumpReport()
        search = _NonfiniteSearch(self.env, report.findings)
        self.env.observers.append(search)
        engine = self.env.sim.engine
        try:
            for step in range(self.world.length):
                here = {name: engine.data(name)[0].numpy() for name in STATE}
                there = {name: self.world.steps[name][step] for name in STATE}
                report.compare(step, here, there)
                search.step = step
                with torch.no_grad():
                    self.env.step(self(None))
        finally:
            self.env.observers.remove(search)
        self.restart()
        return report


class _NonfiniteSearch(StepObserver):
    """Finds values that are not finite, or exceed MuJoCo's limit for states."""

    def __init__(self, env: ManagerBasedRlEnv, findings: list[Finding]) -> None:
        self._env = env
        self._findings = findings
        self.step = 0
        """Index of the current recorded step."""
        self._physics = 0

    def before_step(self) -> None:
        self._physics = 0
        self._state("at its start, so it was written in the previous step")

    def after_phase(self, phase: str) -> None:
        if phase == "set_targets":
            bad = _bad(self._env.action_manager.action[0])
            if bad is not None:
                what = f"number {bad[0]} of the action is {bad[1]}"
                self._find("before physics", what)
        elif phase == "physics_step":
            self._physics += 1
            of = f"{self._physics} of {self._env.cfg.decimation}"
            self._state(f"after physics step {of}")
        elif phase == "evaluate" and self._env.reward_manager.terms:
            rewards = self._env.reward_manager
            bad = _bad(rewards.values[0])
            if bad is not None:
                name = rewards.active_terms[bad[0]]
                self._find("in the rewards", f"reward term {name!r} is {bad[1]}")

    def _state(self, moment: str) -> None:
        sim = self._env.sim
        for name in ("qvel", "qpos", "act", "ctrl"):
            values = sim.engine.data(name)[0]
            bad = _bad(values, mujoco.mjMAXVAL)
            if bad is None:
                continue
            part = element_name(sim.mj_model, name, bad[0])
            many = int((~(values.abs() <= mujoco.mjMAXVAL)).sum())
            more = f", and {many - 1} more of {len(values)}" if many > 1 else ""
            self._find(moment, f"{name}[{bad[0]}] ({part}) is {bad[1]}{more}")
            return

    def _find(self, moment: str, what: str) -> None:
        """Store a finding, unless the step has an earlier one, which is its cause."""
        if not self._findings or self._findings[-1].step < self.step:
            self._findings.append(Finding(self.step, moment, what))


def _bad(values: torch.Tensor, limit: float = _LARGEST) -> tuple[int, float] | None:
    """Return index and value of the first element that is NaN or beyond the limit."""
    places = (~(values.abs() <= limit)).nonzero().flatten().tolist()
    return (places[0], float(values[places[0]])) if places else None


def element_name(model: mujoco.MjModel, name: str, index: int) -> str:
    """Name the joint or actuator of a state element, such as "body 'a', joint 'b'".

    Args:
        model: Compiled model.
        name: State vector: "qpos", "qvel", "act" or "ctrl".
        index: Index in the vector.
    """
    if name in ("qpos", "qvel"):
        last = (model.jnt_qposadr <= index).nonzero()[0]
        joint = int(last[-1] if name == "qpos" else model.dof_jntid[index])
        body = f"body {model.body(int(model.jnt_bodyid[joint])).name!r}"
        named = model.joint(joint).name
        return f"{body}, joint {named!r}" if named else body
    if name == "ctrl":
        actuator = int((model.actuator_ctrladr <= index).nonzero()[0][-1])
        return f"actuator {model.actuator(actuator).name!r}"
    for actuator in range(model.nactuator):
        start, count = model.actuator_actadr[actuator], model.actuator_actnum[actuator]
        if start <= index < start + count:
            return f"actuator {model.actuator(actuator).name!r}"
    return f"number {index}"


# --- Initial state --------------------------------------------------------------------


def _start_state(env: ManagerBasedRlEnv, world: DumpedWorld) -> dict[str, torch.Tensor]:
    """Return the recorded initial state, converted for the environment's engine."""
    is_same_engine = world.attributes["backend"] == env.sim.backend.engine
    own = world_row(env.get_state(), 0)
    foreign = () if is_same_engine else ("sim.",)
    try:
        env.put_rows({0: start_row(world.start, own, foreign)}, shared=True)
    except StateError as error:
        raise DumpError(
            f"{world.path}: the task has changed since the dump. {error}"
        ) from error
    if not is_same_engine:
        _convert_physics(env, world.start)
    return env.get_state()


def _convert_physics(env: ManagerBasedRlEnv, row: Mapping[str, torch.Tensor]) -> None:
    """Write physics fields that another engine recorded, and compute derived fields."""
    engine = env.sim.engine
    fields = [k.removeprefix("sim.model.") for k in row if k.startswith("sim.model.")]
    env.sim.expand(*(name for name in fields if name in engine.variable_fields))
    places = {f"sim.model.{name}": engine.model(name) for name in fields}
    places |= {f"sim.data.{name}": engine.data(name) for name in STATE_FIELDS}
    for path, live in places.items():
        if live is not None and path in row:
            live.copy_(row[path].reshape(live.shape))
    env.sim.forward(Stage.ACCELERATION)
