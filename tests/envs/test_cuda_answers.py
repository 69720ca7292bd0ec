"""Values read after a replay, compared with a twin.

A replay runs no Python, so cached values must be invalidated after it. Readable values
are found in the objects, and caching functions in the source.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from tests.tools.cuda_stand_in import StandInError, stand_in
from tests.tools.cuda_twins import actions_of, build, config
from tests.tools.keepers import keepers_in, keepers_of
from tests.tools.questions import answers, entered, questions

NUM_ENVS, STEPS, LENGTH = 4, 300, 40
TASKS = (
    "Velocity-G1-Flat",  # Contacts, air times, a sampled command.
    "Velocity-Go1",  # Rays, foot heights.
    "Tracking-G1",  # A motion, whose comparison is cached for several terms.
    "Muscle-Walk-W18",
    "Lift-Yam-Depth",  # A camera.
)
ROOMS = ("entity", "sensor", "scene", "views", "muscle", "motion", "managers", "mdp")
OTHERS = {
    "mjlab.managers.term.BoundTerm.live": "makes a parameter a tensor, when built",
    "mjlab.motion.evaluation.TrackingMeter.__call__": "follows an evaluation",
    "mjlab.muscle.original.MuscleLearner.learn": "belongs to a learner",
    "mjlab.tasks.velocity.env.VelocityCfg.play": "makes a configuration",
}
"""Caching functions that no environment can read, with the reason."""

FOUND = keepers_of([*(f"mjlab/{room}" for room in ROOMS), "tasks"])
KEEPERS = [keeper for keeper in FOUND if str(keeper) not in OTHERS]
ASKED: dict[str, set[str]] = {}
"""Functions that ran when all values of a task's environment were read."""


def make(name: str, mode: str) -> ManagerBasedRlEnv:
    cfg = config(name, NUM_ENVS, LENGTH)
    for command in cfg.commands.values():
        if command is not None:
            command.debug_vis = True
    env = build(cfg, mode)
    env.reset(seed=3)
    return env


@dataclass
class Found:
    """Comparison of the values of a pair of environments."""

    ran: set[str]
    """Functions that ran when all values were read."""
    wrong: Counter[str] = field(default_factory=Counter)
    """Steps after which a value differed, by name."""
    count: int = 0
    """Number of values."""


def compare(fused: ManagerBasedRlEnv, eager: ManagerBasedRlEnv, steps: int) -> Found:
    """Take the same steps in both, and compare values after each.

    A third of the values is read after each step, so no value always follows a read
    that refreshes it.
    """
    random = torch.Generator().manual_seed(0)
    with fused.sim.reads.allow_late(), eager.sim.reads.allow_late():
        with entered() as ran:
            of_eager = questions(eager, KEEPERS)
            answers(of_eager)
        of_fused = questions(fused, KEEPERS)
        answers(of_fused)  # A read can run the solver again.
    assert of_fused.keys() == of_eager.keys()
    found = Found(ran)
    for step in range(steps):
        action = actions_of(fused, random)
        mask = torch.rand(NUM_ENVS, generator=random).to("cuda:0") < 0.3
        for env in (fused, eager):
            env.step(action)
            if step % 7 == 3:
                env.reset(mask=mask)
        chosen = torch.rand(len(of_fused), generator=random) < 0.34
        paths = [p for p, is_asked in zip(of_fused, chosen, strict=True) if is_asked]
        with fused.sim.reads.allow_late(), eager.sim.reads.allow_late():
            ours = answers({path: of_fused[path] for path in paths})
            theirs = answers({path: of_eager[path] for path in paths})
        found.wrong.update(path for path in paths if ours[path] != theirs[path])
        found.count += len(paths)
    return found


def twins(
    name: str, use: Callable[[ManagerBasedRlEnv, ManagerBasedRlEnv], Found]
) -> Found:
    """Use a pair of environments, one fused and one eager, on the device."""
    try:
        with stand_in():
            return use(make(name, "fused"), make(name, "segmented"))
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_reads_after_a_replay_equal_those_of_a_twin_environment(
    name: str, record_property: Any
) -> None:
    found = twins(name, lambda fused, eager: compare(fused, eager, STEPS))
    ASKED[name] = found.ran
    record_property("summary", f"{name}: {found.count} answers after {STEPS} replays")
    assert found.count > 50 * STEPS
    assert found.wrong == {}


@pytest.mark.slow
def test_every_cached_function_is_covered_by_one_of_the_tasks() -> None:
    if ASKED.keys() != set(TASKS):
        pytest.skip("not all tasks were asked in this process")
    ran = set().union(*ASKED.values())
    assert {str(keeper) for keeper in KEEPERS} - ran == set()


def test_no_function_is_excepted_that_is_not_there() -> None:
    assert OTHERS.keys() <= {str(keeper) for keeper in FOUND}


class Kept:
    """Joint positions, cached at the first read."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        self._env = env
        self._place: torch.Tensor | None = None

    @property
    def place(self) -> torch.Tensor:
        if self._place is None:
            self._place = self._env.sim.data.qpos.clone()
        return self._place

    def forget(self) -> None:
        self._place = None


@pytest.mark.slow
def test_a_stale_cache_is_detected() -> None:
    def plant(fused: Any, eager: Any) -> Found:
        for env in (fused, eager):
            env.planted = Kept(env)
        eager.scene.on_change.append(eager.planted.forget)
        fused.scene.on_change.append(list)  # Does nothing.
        return compare(fused, eager, 8)

    assert set(twins("Cartpole-Balance", plant).wrong) == {"env.planted.place"}


@pytest.mark.slow
def test_a_scene_not_notified_of_a_replay_is_detected() -> None:
    def plant(fused: Any, eager: Any) -> Found:
        eager.scene.invalidate = eager.scene.invalidate
        fused.scene.invalidate = list  # Does nothing.
        return compare(fused, eager, 30)  # Each value is read in a third of the steps.

    wrong = " ".join(twins("Velocity-G1-Flat", plant).wrong)
    for part in ("entities[robot].data.", "is_in_contact()", "views.", "marks"):
        assert part in wrong


SOURCE = """
class Thing:
    @cached_property
    def kept(self): return 1
    def late(self):
        if self._x is None:
            self._x = 1
        return self._x
    def early(self):
        if self._x is not None:
            return self._x
        self._x = 1
        return self._x
    def either(self):
        self._x = self._x or 1
        return self._x
    def by_key(self, key):
        if key not in self.all.known:
            self.all.known[key] = 1
        return self.all.known[key]
    def through(self): return self._kept()
    def _kept(self):
        if self._is_old:
            self._x, self._is_old = 1, False
        return self._x
    def moves_on(self):
        if self._x:
            self._y = 1
        return self._y
    def acts(self):
        if self._x:
            self._x = 1
"""


def test_functions_with_caches_are_found_in_the_source() -> None:
    found = {keeper.name: keeper.callers for keeper in keepers_in(SOURCE, "m")}
    own = {name: (name,) for name in ("kept", "late", "early", "either", "by_key")}
    assert found == own | {"_kept": ("through",)}
