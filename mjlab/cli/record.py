"""`record`: record episodes of a policy to a file."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import choose_device, with_worlds_for
from mjlab.cli.line import TaskOptions, read_line
from mjlab.cli.sources import Policies, find_source
from mjlab.cli.tasks import RunOptions
from mjlab.settings.bounds import at_least
from mjlab.threads import prepare_threads, torch_threads

prepare_threads()


@dataclass(kw_only=True)
class RecordOptions(TaskOptions, RunOptions):
    """Record episodes of a task.

    Episodes run as in training and go to an HDF5 file that replay.py and clone.py read.
    """

    program = "record.py"
    examples = (
        "latest --episodes 100",
        "Lift-Yam-IK --policy script --keep succeeded --out demos.h5",
        "Velocity-Go1-Flat --policy random --env.episode-length-s 2.0",
    )

    place: Positional[str | None] = None
    """A task (its newest run), a run's folder, a checkpoint, an ONNX file, or 'latest',
    which is the default."""

    episodes: Annotated[int, at_least(1)] = 16
    """Episodes to run."""

    keep: Literal["all", "succeeded", "failed"] = "all"
    """Episodes to write, by the task's success in their last step."""

    out: Path | None = None
    """File to write, such as demos.h5. Default: recordings/TASK_POLICY.h5."""

    policy: Policies = "trained"
    """Actions: the trained policy, the task's scripted controller (script; some tasks
    have one), zeros, or random actions."""

    groups: tuple[str, ...] | None = None
    """Observation groups to write. Default: all."""

    seed: int = 0
    """Seed of the first world; world i uses seed + i."""

    best: bool = False
    """Use the best checkpoint of a run instead of its newest."""

    device: str | None = None
    """Where to simulate, such as "cpu". Default: a GPU if available."""


def main(arguments: Sequence[str]) -> None:
    """Record the episodes."""
    line = read_line(RecordOptions, arguments)
    options = line.options
    source = find_source(
        options.place,
        task=options.task_id(),
        policy=options.policy,
        as_trained=True,
        logs=options.logs,
        accept_changes=options.accept_changes,
    )
    cfg = line.apply({"env": source.env})["env"]
    path = find_out(options, source.task)
    from mjlab.cli.recorded import record
    from mjlab.envs import ManagerBasedRlEnv

    device = choose_device(options.device, cfg)
    if not line.sets("env.scene.num_envs"):
        cfg = with_worlds_for(cfg, options.episodes, device=device)
    cfg = dataclasses.replace(cfg, seed=options.seed, recorders={})
    env = ManagerBasedRlEnv(cfg, device=device, task=source.task)
    policy = source.make_policy(env, seed=options.seed, best=options.best)
    with torch_threads(1):
        written = record(
            env,
            policy,
            path,
            episodes=options.episodes,
            keep=options.keep,
            groups=options.groups,
            about=source.title,
        )
    print(f"Wrote {written} of {options.episodes} episodes of {source.title} to {path}")


def find_out(options: RecordOptions, task: str | None) -> Path:
    """Return the path of the new file."""
    path = options.out or Path("recordings", f"{task or 'policy'}_{options.policy}.h5")
    if path.suffix != ".h5":
        raise UsageError(f"--out {path} must end in .h5.")
    for taken in (path, path.with_suffix(".parts")):
        if taken.exists():
            raise UsageError(f"{taken} already exists: choose another file with --out.")
    return path
