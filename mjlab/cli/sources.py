"""Find the policy and the environment of a task, run, checkpoint or ONNX file."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mjlab.cli.answers import UsageError
from mjlab.registry import entries, load_task
from mjlab.runs import Found, find
from mjlab.task_file import typed_task
from mjlab.watched import watched

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy
    from mjlab.export import OnnxPolicy
    from mjlab.rl import AgentCfg

Policies = Literal["trained", "script", "zero", "random"]
"""Sources of actions."""

Actors = Policies | Literal["teleop"]
"""Sources of actions in a viewer."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Policy and the environment in which it runs."""

    title: str
    """Description for the user."""

    task: str | None
    """Task id, if known."""

    env: "ManagerBasedRlEnvCfg"
    """Configuration of the environment."""

    policy: Actors = "trained"
    """Source of the actions."""

    agent: "AgentCfg | None" = None
    """Configuration of the policy's training. None for a policy without training."""

    place: Path | None = None
    """Path of the policy's checkpoint."""

    file: "OnnxPolicy | None" = None
    """The ONNX policy, if the source is an ONNX file."""

    def make_policy(
        self, env: "ManagerBasedRlEnv", *, seed: int, best: bool
    ) -> "Policy":
        """Return the policy.

        Args:
            env: The worlds.
            seed: Seed of random actions.
            best: Use a run's best checkpoint instead of its newest.
        """
        from mjlab.envs import RandomPolicy, ZeroPolicy

        if self.file is not None:
            from mjlab.export import FilePolicy

            return FilePolicy(env, self.file)
        if self.agent is not None and self.place is not None:
            from mjlab.rl import load_policy

            return load_policy(self.place, env, self.agent, best=best)
        if self.policy == "script":
            return find_script(self.task)(env)
        if self.policy == "zero":
            return ZeroPolicy(env)
        if self.policy == "teleop":
            from mjlab.viewer import TeleopPolicy

            return TeleopPolicy(env)
        return RandomPolicy(env, seed=seed)


def find_source(
    place: str | None,
    *,
    task: str | None = None,
    policy: Actors,
    as_trained: bool,
    logs: Path,
    records: bool = False,
    accept_changes: bool = False,
) -> Source:
    """Find policy and environment of a task, a run, a checkpoint or an ONNX file.

    Args:
        place: Argument of the user. None selects the newest run.
        task: Id of the task to search runs of. None searches all.
        policy: Source of the actions.
        as_trained: Use the training configuration instead of the one for play.
        logs: Folder of all runs.
        records: Keep the run's recorders, which write files, as in training.
        accept_changes: Open a run whose task has changed.
    """
    named = task if place is None else typed_task(place)
    if policy != "trained":
        if named is not None and named in entries():
            if policy == "script":
                find_script(named)
            chosen = load_task(named)
            env = chosen.env() if as_trained else chosen.play()
            title = f"{named}, {_ACTIONS[policy]}"
            return Source(title=title, task=named, env=env, policy=policy)
        if named is None:
            known = ", ".join(entries())
            raise UsageError(f"--policy {policy} needs a task. Tasks: {known}.")
    advice = ", or watch the task with --policy random"
    found = find(named or "latest", logs, task=task, advice=advice)
    if found.file is not None:
        return _of_file(found.file, policy, as_trained)
    return _of_run(found, policy, as_trained, records, accept_changes)


_ACTIONS = {
    "script": "scripted actions",
    "zero": "zero actions",
    "random": "random actions",
    "teleop": "teleoperated",
}


def find_script(task: str | None) -> "Callable[[Any], Policy]":
    """Return the factory of a task's scripted controller."""
    script = load_task(task).script if task in entries() else None
    if script is None:
        raise UsageError(
            f"{task or 'The policy'} has no scripted controller (Task.script): pass "
            "--policy trained, zero or random."
        )
    return script


def _of_file(place: Path, policy: Actors, as_trained: bool) -> Source:
    """Return the source of an ONNX file: its policy, and the task that it drives."""
    from mjlab.export import open_file

    if policy != "trained":
        raise UsageError(f"{place} is already a policy: leave out --policy.")
    file, env = open_file(place, as_trained=as_trained)
    return Source(title=f"{place}, {file.task}", task=file.task, env=env, file=file)


def _of_run(
    found: Found,
    policy: Actors,
    as_trained: bool,
    records: bool,
    accept_changes: bool,
) -> Source:
    """Return the source of a run or checkpoint, with the run's configuration."""
    run = found.run
    task = run.task
    configs = run.configs(accept_changes=accept_changes)
    title = found.title
    env = configs["env"] if as_trained else watched(configs["env"])
    if not records:
        env = dataclasses.replace(env, recorders={})
    if policy != "trained":
        title = f"{title}, {_ACTIONS[policy]}"
        return Source(title=title, task=task, env=env, policy=policy)
    return Source(
        title=title, task=task, env=env, agent=configs["agent"], place=found.place
    )
