"""`clone`: train a policy to imitate recorded actions."""

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tyro.conf import Positional

from mjlab.cli.answers import BY_SIGNAL, UsageError
from mjlab.cli.hardware import check_device, with_worlds
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.cli.tasks import need_task
from mjlab.registry import load_task
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.rl import AgentCfg, CloningAgentCfg

WORLDS = 16
"""Default number of worlds. They are only used for evaluation."""

ITERATIONS, EVERY = 20, 5
"""Default iterations, and iterations between evaluations."""

NOISE = 0.1
"""Standard deviation of the policy's actions."""


@dataclass(kw_only=True)
class CloneOptions(TaskOptions):
    """Train a policy to imitate recorded actions.

    The result is a run, as train.py writes it. PPO can start from it: train.py TASK
    --init-from latest.
    """

    program = "clone.py"
    examples = (
        "Lift-Yam-IK --demos recordings/demos.h5",
        "Lift-Yam-IK --demos demos.h5 --agent.max-iterations 60",
        "Lift-Yam-IK --help-config agent",
    )

    configs = ("env", "agent")

    task: Positional[str | None] = None
    """Task id, such as Lift-Yam-IK."""

    demos: Path | None = None
    """Recording with actions and the observations of the policy."""

    name: str = "clone"
    """Name of the run, appended to the time in its folder name."""

    seed: int = 0
    """Random seed (same as --env.seed)."""

    device: str | None = None
    """Where to train, such as "cpu" or "cuda:1". Default: a GPU if available."""

    logs: Path = Path("logs")
    """Folder of all runs."""


def main(arguments: Sequence[str]) -> None:
    """Train a policy on recorded actions."""
    line = read_line(CloneOptions, arguments)
    options = line.options
    entry = need_task(options.task, options.program)
    configs = read_configs(line, entry.id)
    if configs["agent"].algorithm.demonstrations is None:
        raise UsageError("Name the recording: --demos recordings/demos.h5.")
    from mjlab.cli.training import train
    from mjlab.rl import Ranks

    run, outcome = train(
        configs["env"],
        configs["agent"],
        task=entry.id,
        name=options.name,
        root=options.logs,
        device=Ranks().device(check_device(options.device)),
    )
    said = "Stopped" if outcome.interrupted else "Done"
    print(f"{said}: {outcome.reason}. The run is in {run.path}")
    if outcome.interrupted:
        raise SystemExit(BY_SIGNAL + outcome.signal)


def read_configs(line: Line[CloneOptions], task_id: str) -> dict[str, Any]:
    """Return the task's environment, and a learner for the task's policy."""
    task = load_task(task_id)
    make = task.rl if task.on_cpu is None else task.on_cpu.rl
    if make is None:
        raise UsageError(f"Task {task_id!r} has no learner configuration.")
    env = dataclasses.replace(with_worlds(task.env(), WORLDS), seed=line.options.seed)
    return line.apply({"env": env, "agent": cloning_agent(make(), line.options.demos)})


def cloning_agent(cfg: "AgentCfg", demos: Path | None) -> "CloningAgentCfg":
    """Return the settings of behaviour cloning for the policy of the task's learner.

    The action noise is small and not learned, so that PPO starts its exploration close
    to the cloned policy.
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
