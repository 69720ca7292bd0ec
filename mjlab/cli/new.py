"""`new`: write the package of a new task."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError, as_called
from mjlab.cli.line import Options, read_line
from mjlab.registry import entries, find_entry, load_task
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class NewOptions(Options):
    """Write the package of a new task, with a test.

    The task subclasses the configuration of another task.
    """

    program = "new_task.py"
    examples = (
        "Walk-Backwards",
        "Pole-On-Ice --like Cartpole-Balance --folder ~/work",
    )

    name: Positional[str | None] = None
    """Name of the task, such as Walk-Backwards."""

    like: str = "Velocity-Go1-Flat"
    """Installed task whose configuration the new task subclasses."""

    folder: Path = Path(".")
    """Parent folder of the new package."""


def main(arguments: Sequence[str]) -> None:
    """Write the package of the new task, and print the next commands."""
    options = read_line(NewOptions, arguments).options
    if options.name is None:
        raise UsageError("NAME is missing: new_task.py NAME, such as Walk-Backwards.")
    if options.like.partition(":")[0].endswith(".py"):
        raise UsageError(
            f"--like takes the id of an installed task, not the file {options.like}. "
            "Subclass its class in another file: train.py FILE.py:CLASS."
        )
    find_entry(options.like)
    if options.name in entries():
        raise UsageError(f"Task {options.name!r} already exists. Choose another name.")
    prepare_threads()
    cls = type(load_task(options.like).env())
    pattern = Pattern(
        task=options.like,
        module=cls.__module__,
        cls=cls.__name__,
        has_play=callable(getattr(cls, "play", None)),
    )
    files = write_package(options.folder.expanduser(), options.name, pattern)
    for path in files:
        print(path)
    folder = files[0].parent
    train = f"python scripts/train.py {options.name}"
    print(as_called(f"Next: pip install -e {folder}, then {train}"))


@dataclass(frozen=True)
class Pattern:
    """Existing task from which the new task is derived."""

    task: str
    """Id of the existing task."""

    module: str
    """Module that defines its configuration."""

    cls: str
    """Class name of the configuration."""

    has_play: bool
    """Whether the configuration has a method `play`."""


def write_package(folder: Path, task: str, pattern: Pattern) -> list[Path]:
    """Write the package of a new task, and return its files.

    Args:
        folder: Parent folder of the package.
        task: Id of the new task, such as "Walk-Backwards".
        pattern: The task to start from.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*", task):
        raise UsageError(
            f"{task!r} is not a valid task name. Use letters, digits and single "
            "dashes, such as Walk-Backwards."
        )
    package = task.lower().replace("-", "_")
    top = folder / package
    if top.exists():
        raise UsageError(f"{top} already exists; nothing was written.")
    words = {
        "TASK": task,
        "PACKAGE": package,
        "CLASS": task.replace("-", "") + "Cfg",
        "BASE_TASK": pattern.task,
        "BASE_MODULE": pattern.module,
        "BASE": pattern.cls,
    }
    made = f"lambda: {words['CLASS']}().play()"
    words["PLAY"] = made if pattern.has_play else words["CLASS"]
    files = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"{package}/__init__.py": _INIT,
        f"{package}/env.py": _ENV,
        f"tests/test_{package}.py": _TEST,
    }
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(text, words), "utf-8")
    return [top / name for name in files]


def _filled(text: str, words: dict[str, str]) -> str:
    """Return a template text with the placeholders replaced."""
    for word, name in words.items():
        text = text.replace(f"<{word}>", name)
    return text


_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "<PACKAGE>"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["mjlab-fused"]

[project.entry-points."mjlab.tasks"]
<TASK> = "<PACKAGE>:TASK"

[tool.setuptools.packages.find]
include = ["<PACKAGE>*"]
"""

_README = """\
# <TASK>

A task for mjlab-fused that begins as `<BASE_TASK>`. Change `<PACKAGE>/env.py`.

    pip install -e .
    python -m pytest
    mjlab train <TASK>
"""

_INIT = '''\
"""The task <TASK>."""

from mjlab.registry import Task

from <PACKAGE>.env import <CLASS>, agent

TASK = Task(
    env=<CLASS>,
    play=<PLAY>,
    rl=agent,
    summary="<TASK>: like <BASE_TASK>, with an action penalty.",
)
'''

_ENV = '''\
"""The configuration of <TASK>: its differences from <BASE_TASK>."""

from typing import Any

import torch
from mjlab.managers import RewardTermCfg
from mjlab.registry import load_task
from <BASE_MODULE> import <BASE>


def action_square(env: Any) -> torch.Tensor:
    """Mean square of the action, shape (num_envs,)."""
    return env.action_manager.action.square().mean(dim=-1)


class <CLASS>(<BASE>):
    """Fields set here override defaults of the base class. None disables a term."""

    rewards = {
        **<BASE>.rewards,
        "action_square": RewardTermCfg(func=action_square, weight=-0.01),
    }


def agent() -> Any:
    """Return the learner's settings, the same as for <BASE_TASK>."""
    make = load_task("<BASE_TASK>").rl
    assert make is not None
    return make()
'''

_TEST = '''\
"""<TASK> can be built, stepped and trained."""

import torch
from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl import TrainingLoop

from <PACKAGE> import TASK


def make_env():
    cfg = TASK.env()
    cfg.scene.num_envs = 8
    cfg.seed = 0
    return ManagerBasedRlEnv(cfg, device="cpu")


def test_action_penalty_is_the_mean_square():
    env = make_env()
    env.reset()
    size = env.action_manager.total_action_dim
    env.step(torch.full((8, size), 2.0))
    term = env.cfg.rewards["action_square"].func(env)
    assert torch.equal(term, torch.full((8,), 4.0))


def test_two_iterations_of_training_run():
    agent = TASK.rl()
    agent.max_iterations, agent.num_steps_per_env = 2, 8
    agent.algorithm.num_mini_batches = 2
    agent.evaluation.every = 0
    outcome = TrainingLoop(make_env(), agent).run()
    assert outcome.iteration == 2
'''
