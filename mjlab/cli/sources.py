"""A policy and its worlds, from what a user names: a task, a run, a checkpoint."""

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
"""Who can act."""

Actors = Policies | Literal["teleop"]
"""Who can act where somebody watches."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A policy and the worlds to have it act in."""

    title: str
    """What it is, for the user."""

    task: str | None
    """The task, where it is known."""

    env: "ManagerBasedRlEnvCfg"
    """The environment."""

    policy: Actors = "trained"
    """Who acts."""

    agent: "AgentCfg | None" = None
    """How the policy was trained. None where nobody trained it."""

    place: Path | None = None
    """Where its checkpoint is."""

    file: "OnnxPolicy | None" = None
    """The ONNX file that acts, if one does."""

    def make_policy(
        self, env: "ManagerBasedRlEnv", *, seed: int, best: bool
    ) -> "Policy":
        """Return the policy.

        Args:
            env: The worlds.
            seed: Seed of random actions.
            best: Whether to take a run's best checkpoint rather than its newest.
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
    """Find what is to act from a task, a run, a checkpoint or an ONNX file.

    Args:
        place: Words of the user. None is the newest run.
        task: Id of the task, whose runs alone are searched. None searches all.
        policy: Who is to act.
        as_trained: Whether worlds are as in training, or to be watched.
        logs: Folder of all runs.
        records: Whether a run's recorders write files, as in training.
        accept_changes: Whether to open a run whose task has changed.
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
    """Return what makes a task's controller by hand."""
    script = load_task(task).script if task in entries() else None
    if script is None:
        raise UsageError(
            f"{task or 'What is named'} brings no controller by hand (Task.script): "
            "take --policy trained, zero or random."
        )
    return script


def _of_file(place: Path, policy: Actors, as_trained: bool) -> Source:
    """An ONNX file, in its own task, which measures and does what the file says."""
    from mjlab.cli.policy_files import open_file

    if policy != "trained":
        raise UsageError(f"{place} is a policy in a file already: leave out --policy.")
    file, env = open_file(place, as_trained=as_trained)
    return Source(title=f"{place}, {file.task}", task=file.task, env=env, file=file)


def _of_run(
    found: Found,
    policy: Actors,
    as_trained: bool,
    records: bool,
    accept_changes: bool,
) -> Source:
    """A run, or one of its checkpoints, with the run's configuration."""
    run = found.run
    task = run.task
    configs = run.configs(accept_changes=accept_changes)
    # A shipped run's folder is named after its task.
    name = task if run.path.name == task else f"{task}, {run.path.name}"
    title = name if found.checkpoint is None else str(found.checkpoint)
    env = configs["env"] if as_trained else watched(configs["env"])
    if not records:
        env = dataclasses.replace(env, recorders={})
    if policy != "trained":
        title = f"{title}, {_ACTIONS[policy]}"
        return Source(title=title, task=task, env=env, policy=policy)
    return Source(
        title=title, task=task, env=env, agent=configs["agent"], place=found.place
    )
