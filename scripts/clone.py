"""Clones recorded behaviour: `python scripts/clone.py TASK --demos recordings/a.h5`."""

import copy
import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Line, Program, UsageError, read_line, run_program
from mjlab.cli.help import reference
from mjlab.registry import entries, find_entry, load_task
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.rl import AgentCfg, CloningAgentCfg

WORLDS = 16
"""Worlds, where the user says nothing: they are there for figures alone."""

ITERATIONS, EVERY = 20, 5
"""Iterations, where the user says nothing, and between looks at the policy."""

NOISE = 0.1
"""Spread of the policy's actions."""


@dataclass(kw_only=True)
class Options:
    """Options of `clone.py`."""

    demos: Path | None = None
    """The recording, with actions and with what the policy is to see."""

    name: str = "clone"
    """What to call the run, after its time."""

    seed: int = 0
    """Seed of all chance, for --env.seed."""

    device: str | None = None
    """Where to learn, such as "cpu" or "cuda:1". Default: a GPU if available."""

    logs: Path = Path("logs")
    """Folder of all runs."""


PROGRAM = Program(
    name="clone.py",
    summary=(
        "Have the task's policy learn the actions of a recording (behaviour cloning). "
        "The result is a run like those of train.py, which can begin with it: "
        "train.py TASK --init-from latest."
    ),
    subject="TASK",
    options=Options,
    configs=("env", "agent"),
    examples=(
        "Lift-Yam-IK --demos recordings/demos.h5",
        "Lift-Yam-IK --demos demos.h5 --agent.max-iterations 60",
        "Lift-Yam-IK --help-config agent",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Clone."""
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    if line.subject is None:
        known = ", ".join(entries())
        raise UsageError(f"Name a task first: clone.py TASK [options]. Tasks: {known}.")
    entry = find_entry(line.subject)
    configs = read_configs(line, entry.id)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    if configs["agent"].algorithm.demonstrations is None:
        raise UsageError("Name the recording: --demos recordings/demos.h5.")
    from mjlab.cli.train import train
    from mjlab.rl import Ranks

    run, outcome = train(
        configs["env"],
        configs["agent"],
        task=entry.id,
        name=line.options.name,
        root=line.options.logs,
        device=Ranks().device(line.options.device),
    )
    said = "Stopped" if outcome.interrupted else "Done"
    print(f"{said}: {outcome.reason}. The run is in {run.path}")


def read_configs(line: Line, task_id: str) -> dict[str, Any]:
    """The task's worlds, and a learner with the task's policy."""
    task = load_task(task_id)
    make = task.rl if task.on_cpu is None else task.on_cpu.rl
    if make is None:
        raise UsageError(f"The task {task_id!r} has no settings of a learner.")
    env = task.env()
    env = dataclasses.replace(
        env,
        seed=line.options.seed,
        scene=dataclasses.replace(env.scene, num_envs=WORLDS),
    )
    agent = cloning_agent(make(), line.options.demos)
    return apply({"env": env, "agent": agent}, line.settings, line.disabled)


def cloning_agent(cfg: "AgentCfg", demos: Path | None) -> "CloningAgentCfg":
    """Settings that clone into the policy of the task's own settings.

    Its noise is small and not learned: PPO that begins with it explores around what
    was cloned.
    """
    from mjlab.rl import CloningAgentCfg, CloningCfg, GaussianCfg
    from mjlab.rl.learners import network_names

    acting = network_names(cfg)[0]
    actor = copy.deepcopy(getattr(cfg, acting))
    if isinstance(actor.distribution_cfg, GaussianCfg):
        actor.distribution_cfg.init_std = NOISE
    return CloningAgentCfg(
        max_iterations=ITERATIONS,
        obs_groups={"actor": tuple(cfg.obs_groups[acting])},
        clip_actions=cfg.clip_actions,
        checkpoint=dataclasses.replace(cfg.checkpoint, every=EVERY),
        evaluation=dataclasses.replace(cfg.evaluation, every=EVERY),
        logging=cfg.logging,
        actor=actor,
        algorithm=CloningCfg(demonstrations=None if demos is None else str(demos)),
    )


if __name__ == "__main__":
    sys.exit(run_program(main))
