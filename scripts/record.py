"""Records episodes of a policy: `python scripts/record.py latest --out demos.h5`."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Program, UsageError, read_line, run_program
from mjlab.cli.hardware import choose_worlds, processors
from mjlab.cli.help import reference
from mjlab.cli.sources import Policies, find_source
from mjlab.registry import entries
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads, torch_threads

prepare_threads()


@dataclass(kw_only=True)
class Options:
    """Options of `record.py`."""

    episodes: int = 16
    """Episodes to run."""

    keep: Literal["all", "succeeded", "failed"] = "all"
    """Those that are written, by the task's outcome in their last step."""

    out: Path | None = None
    """File to write, such as demos.h5. Default: recordings/TASK_POLICY.h5."""

    policy: Policies = "trained"
    """What acts: the policy that was trained, the controller by hand that some tasks
    bring, zeros, or random numbers."""

    groups: tuple[str, ...] | None = None
    """Observation groups to write. Default: all."""

    seed: int = 0
    """Seed of the first world; each of the others has the next."""

    best: bool = False
    """Whether to take a run's best checkpoint rather than its newest."""

    device: str | None = None
    """Where to simulate, such as "cpu". Default: a GPU if available."""

    accept_changes: bool = False
    """Open a run whose task has changed since in more than values: the task counts as
    it is now."""

    logs: Path = Path("logs")
    """Folder of all runs."""


PROGRAM = Program(
    name="record.py",
    summary=(
        "Record episodes, as in training, to an HDF5 file that replay.py and clone.py "
        "read. PLACE is a task, of which the newest run is taken, a run's "
        "folder, a checkpoint, an ONNX file, or 'latest', which is the default."
    ),
    subject="[PLACE]",
    options=Options,
    configs=("env",),
    examples=(
        "latest --episodes 100",
        "Lift-Yam-IK --policy script --keep succeeded --out demos.h5",
        "Velocity-Go1-Flat --policy random --env.episode-length-s 2.0",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Record."""
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    options: Options = line.options
    if options.episodes < 1:
        raise UsageError(f"--episodes {options.episodes}: it has to be 1 or more.")
    source = find_source(
        line.subject,
        policy=options.policy,
        as_trained=True,
        logs=options.logs,
        accept_changes=options.accept_changes,
    )
    configs = apply({"env": source.env}, line.settings, line.disabled)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    path = find_out(options, source.task)
    from mjlab.cli.recorded import record
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl import Ranks

    cfg = configs["env"]
    on_host = options.device is None and cfg.sim.backend == "native"
    device = Ranks().device("cpu" if on_host else options.device)
    number = cfg.scene.num_envs
    if not line.sets("env.scene.num_envs"):
        suits = choose_worlds(
            1, on_gpu=device != "cpu", cores=processors(), backend=cfg.sim.backend
        )
        number = min(options.episodes, suits.number)
    cfg = dataclasses.replace(
        cfg,
        seed=options.seed,
        scene=dataclasses.replace(cfg.scene, num_envs=number),
        recorders={},
    )
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


def find_out(options: Options, task: str | None) -> Path:
    """The file to write, which must not be there."""
    path = options.out or Path("recordings", f"{task or 'policy'}_{options.policy}.h5")
    if path.suffix != ".h5":
        raise UsageError(f"--out {path}: its name has to end in .h5.")
    for taken in (path, path.with_suffix(".parts")):
        if taken.exists():
            raise UsageError(f"{taken} is there already: --out names another file.")
    return path


if __name__ == "__main__":
    sys.exit(run_program(main))
