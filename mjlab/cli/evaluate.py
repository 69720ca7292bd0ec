"""`evaluate`: measure a policy over many seeded episodes."""

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import choose_device, with_worlds_for
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.cli.tasks import RunOptions
from mjlab.runs import Found, Run
from mjlab.settings.bounds import at_least
from mjlab.threads import prepare_threads, torch_threads
from mjlab.watched import watched

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, Policy
    from mjlab.envs.rollout import EpisodeResult


GAIT_ROBOTS = 4
"""Robots per command for the gait measurement in an undisturbed world."""

GAIT_EPISODES = 52
"""Maximum number of episodes for the gait measurement as trained, over all commands."""

MOST_FAILURES = 10
"""Maximum number of gait measures that are listed as failed; an untrained policy fails
in most. The report's page lists all."""


@dataclass(kw_only=True)
class EvaluateOptions(TaskOptions, RunOptions):
    """Measure a policy over many episodes.

    Runs episodes with the configuration of the run, or of an ONNX file, and shows
    return, length, falls, success and logged metrics, and the gait of a walking policy.
    --json writes them to a file.
    """

    program = "evaluate.py"
    examples = (
        "latest",
        "Velocity-G1-Flat --best --episodes 1000",
        "logs/Velocity-G1-Flat/latest/checkpoints/model_000100.pt",
        "latest --policy zero --env.commands.twist.ranges.lin-vel-x 1.0 1.0",
    )

    configs = ("env", "agent")

    run: Positional[str] = "latest"
    """A run's folder, a checkpoint, an ONNX file, a task (its newest run), or
    'latest'."""

    episodes: Annotated[int, at_least(1)] = 100
    """Episodes to run."""

    seed: int = 0
    """Seed of the first episode; episode i uses seed + i."""

    policy: Literal["trained", "zero", "random"] = "trained"
    """Actions: the trained policy without noise, zeros, or normal noise."""

    best: bool = False
    """Use the best checkpoint of the run instead of its newest."""

    gait: bool = True
    """Also measure the gait of a walking task's policy."""

    device: str | None = None
    """Where to simulate, such as "cpu" or "cuda:1". Default: a GPU if available."""

    json: Path | None = None
    """JSON file for the results. Default: evaluation.json in the folder of your run,
    none for an ONNX file or a policy that ships with a task."""


@dataclass(frozen=True)
class EvaluationFigures:
    """Results of an evaluation: episodes, motion tracking and gait."""

    episodes: "list[EpisodeResult]"
    """Results of the episodes."""

    clips: dict[str, Any]
    """Tracking metrics by motion clip."""

    gait: dict[str, Any]
    """Gait measures by world and command."""


def main(arguments: Sequence[str]) -> None:
    """Run the episodes and show the results."""
    line = read_line(EvaluateOptions, arguments)
    options = line.options
    place = options.find(options.run)
    if place.file is not None:
        evaluate_file(line, place.file)
        return
    run = place.run
    configs = read_configs(line, run)
    with closing(build_env(line, configs["env"])) as env:
        policy, source = find_policy(line, place, env, configs["agent"])
        episodes, clips = roll(line, env, policy)
    gait = measure_gait(
        line,
        configs["env"],
        lambda env: find_policy(line, place, env, configs["agent"])[0],
    )
    # Written to the run's folder, because the run's report shows it.
    own = None if run.is_shipped else run.path / "evaluation.json"
    found = EvaluationFigures(episodes, clips, gait)
    report(line, run.task, own, source, found)


def evaluate_file(line: Line[EvaluateOptions], path: Path) -> None:
    """Evaluate an ONNX file in its task, with the training configuration."""
    from mjlab.export import FilePolicy, open_file

    if line.options.policy != "trained":
        raise UsageError(f"{path} is already a policy: leave out --policy.")
    file, env_cfg = open_file(path, as_trained=True)
    env_cfg = from_the_first_frame(env_cfg)
    configs = line.apply({"env": env_cfg})
    with closing(build_env(line, configs["env"])) as env:
        episodes, clips = roll(line, env, FilePolicy(env, file))
    gait = measure_gait(line, configs["env"], lambda env: FilePolicy(env, file))
    found = EvaluationFigures(episodes, clips, gait)
    report(line, file.task, None, str(path), found)


def read_configs(line: Line[EvaluateOptions], run: Run) -> dict[str, Any]:
    """Return the run's configurations with the user's settings."""
    configs = run.configs(accept_changes=line.options.accept_changes)
    configs["env"] = from_the_first_frame(configs["env"])
    if not line.sets_recorders:
        configs["env"] = dataclasses.replace(configs["env"], recorders={})
    return line.apply(configs)


def from_the_first_frame(env_cfg: Any) -> Any:
    """Return the settings that play clips undisturbed, from their first frame.

    Applies to motion tracking tasks. Other configurations are returned unchanged.
    """
    from mjlab.motion.evaluation import follows_clips

    return watched(env_cfg) if follows_clips(env_cfg) else env_cfg


def build_env(line: Line[EvaluateOptions], env_cfg: Any) -> "ManagerBasedRlEnv":
    """Build one world per episode, at most as many as suit the machine."""
    from mjlab.envs import ManagerBasedRlEnv

    options = line.options
    device = choose_device(options.device, env_cfg)
    if not line.sets("env.scene.num_envs"):
        env_cfg = with_worlds_for(env_cfg, options.episodes, device=device)
    env_cfg = dataclasses.replace(env_cfg, seed=options.seed)
    env = ManagerBasedRlEnv(env_cfg, device=device)
    env.reset()
    return env


def find_policy(
    line: Line[EvaluateOptions], place: Found, env: "ManagerBasedRlEnv", agent: Any
) -> tuple["Policy", str]:
    """Return the policy, and a description of its source."""
    from mjlab.envs import RandomPolicy, ZeroPolicy
    from mjlab.rl.policy import load_policy

    chosen = line.options.policy
    if chosen == "zero":
        return ZeroPolicy(env), chosen
    if chosen == "random":
        clip = agent.clip_actions
        return RandomPolicy(env, distribution="normal", clip=clip), chosen
    path = place.choose_checkpoint(best=line.options.best)
    return load_policy(path, env, agent), str(path)


def roll(
    line: Line[EvaluateOptions], env: "ManagerBasedRlEnv", policy: "Policy"
) -> "tuple[list[EpisodeResult], dict[str, Any]]":
    """Run the episodes. Physics uses all processors, so PyTorch runs with one thread.

    Returns:
        The results of the episodes, and tracking metrics by motion clip.
    """
    from mjlab.envs.rollout import run_episodes
    from mjlab.motion.evaluation import TrackingMeter, follows_clips

    number, seed = line.options.episodes, line.options.seed
    meter = TrackingMeter(env, policy) if follows_clips(env.cfg) else None
    with torch_threads(1):
        found = run_episodes(env, meter or policy, number=number, seed=seed)
    return found, meter.figures(found) if meter is not None else {}


def measure_gait(
    line: Line[EvaluateOptions],
    env_cfg: Any,
    load: "Callable[[ManagerBasedRlEnv], Policy]",
) -> dict[str, Any]:
    """Measure the gait of a walking policy, by world and command.

    Empty with --no-gait, for other policies, or if the robot's legs are not supported.
    """
    from mjlab.gait.walk import GaitError, gait_of, legs_of, need_legs

    chosen = line.options.gait and line.options.policy == "trained"
    if not chosen or legs_of(env_cfg) is None:
        return {}
    try:
        need_legs(env_cfg)
    except GaitError as error:
        print(f"Gait not measured: {error}")
        return {}
    print("Measuring the gait (skip with --no-gait).", flush=True)
    return gait_of(
        env_cfg,
        load,
        robots=GAIT_ROBOTS,
        episodes=min(line.options.episodes, GAIT_EPISODES),
        seed=line.options.seed,
        device=choose_device(line.options.device, env_cfg),
    )


def gait_text(worlds: dict[str, Any]) -> str:
    """Return the gait table, the errors under each command, and the verdict."""
    from mjlab.gait.limits import failures
    from mjlab.gait.table import (
        gait_rows,
        gait_tables,
        legend,
        text,
        tracking_table,
        verdict,
    )

    parts = [
        "Gait, quiet (undisturbed) and as trained (with noise, pushes and "
        "randomisation):",
        *map(text, gait_tables(gait_rows(worlds))),
        legend(),
        f"Tracking errors and falls:\n{text(tracking_table(worlds))}",
        verdict(failures(worlds), most=MOST_FAILURES),
    ]
    return "\n" + "\n\n".join(parts)


def report(
    line: Line[EvaluateOptions],
    task: str,
    own: Path | None,
    source: str,
    found: EvaluationFigures,
) -> None:
    """Print the tables, and write the results to --json or to `own`."""
    from mjlab.cli.episodes import save, summary, table
    from mjlab.motion import evaluation

    episodes, clips = found.episodes, found.clips
    path = line.options.json or own
    about = {
        "task": task,
        "policy": source,
        "settings": {s.name: list(s.values) for s in line.settings},
        "disabled": list(line.options.disable),
        "seed": line.options.seed,
        **({"clips": clips} if clips else {}),
        **({"gait": found.gait} if found.gait else {}),
    }
    figures = summary(episodes)
    print(f"{len(episodes)} episodes of {about['task']} with {source}")
    print(table(figures))
    if clips:
        print(evaluation.table(clips))
    if found.gait:
        print(gait_text(found.gait))
    if path is not None:
        save(path, about, episodes)
        print(f"Written to {path}")
