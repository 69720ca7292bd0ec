"""Does recorded episodes again: `python scripts/replay.py recordings/a.h5`."""

import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Line, Program, UsageError, read_line, run_program
from mjlab.cli.help import reference
from mjlab.registry import entries, load_task
from mjlab.render import prepare_gl
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
    from mjlab.recording.reader import Recording
    from mjlab.replay.replay import Replay, Watch
    from mjlab.replay.replay_report import ReplayReport

NOT_EXACT = 1
"""Exit code where episodes that had to be exact are not."""

MOST_WORLDS = 16
"""Worlds, where the user says nothing."""

MOST_PICTURES = 9
"""Worlds side by side in a video."""

MOST_FPS = 60.0
"""Frames in a second that are worth drawing."""


@dataclass(kw_only=True)
class Options:
    """Options of `replay.py`."""

    episodes: tuple[int, ...] | None = None
    """Numbers of the episodes. Default: all."""

    by: Literal["actions", "states"] = "actions"
    """What is forced: the actions, from the recorded beginning on; or also the state
    after each step."""

    num_envs: int | None = None
    """Episodes replayed at once. Default: all, up to 16."""

    video: Path | None = None
    """File to write a video to, such as out.mp4. It needs no display."""

    save: Path | None = None
    """File for the same episodes with the observations of this time, such as new.h5."""

    robomimic: Path | None = None
    """File for the episodes in robomimic's layout, such as demos.hdf5."""

    lerobot: Path | None = None
    """Folder for the episodes as a dataset of LeRobot, such as demos."""

    groups: tuple[str, ...] | None = None
    """Observation groups to write to these files. Default: all."""

    task: str | None = None
    """The task, where the recording does not name it."""

    seed: int | None = None
    """Seed of the environment, where the recording does not say it: terrain follows
    from it."""

    accept_changes: bool = False
    """Replay a recording whose task has changed since in more than values: the task
    counts as it is now."""

    backend: Literal["auto", "native", "warp"] | None = None
    """The engine. Default: that of the recording."""

    device: str | None = None
    """Where to simulate, such as "cpu". Default: what suits the engine."""


PROGRAM = Program(
    name="replay.py",
    summary=(
        "Do recorded episodes again, compare them with their record number by number, "
        "draw them, or write them with other observations. Ends with code 1 if what "
        "has to be equal bit for bit is not."
    ),
    subject="RECORDING",
    options=Options,
    configs=("env",),
    examples=(
        "recordings/a.h5",
        "recordings/a.h5 --episodes 0 3 --video out.mp4",
        "recordings/a.h5 --by states --save new.h5 --groups critic",
        "recordings/a.h5 --robomimic demos.hdf5",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Replay."""
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    options: Options = line.options
    if line.subject is None:
        raise UsageError("Name a RECORDING, such as recordings/a.h5.")
    if options.num_envs is not None and options.num_envs < 1:
        raise UsageError(f"--num-envs {options.num_envs}: it has to be 1 or more.")
    prepare_gl()
    from mjlab.recording.reader import Recording

    with Recording(line.subject) as recording:
        config = {"env": find_config(recording, options)}
        config = apply(config, line.settings, line.disabled)
        if line.reference is not None:
            raise Answer(reference(config, line.reference))
        account = replay(recording, config["env"], line)
    print("\n".join(account.lines()))
    if not account.is_as_claimed:
        raise SystemExit(NOT_EXACT)


def find_config(recording: "Recording", options: Options) -> "ManagerBasedRlEnvCfg":
    """The environment that was recorded, by its configuration or by its task."""
    if recording.env_cfg and options.task is None:
        return written_config(recording, accept_changes=options.accept_changes)
    name = options.task or recording.env_id
    if name is None:
        raise UsageError(
            f"{recording.path} does not say what it is of: name the --task, one of "
            f"{', '.join(entries())}."
        )
    from mjlab.gym.build import task_of

    task, made = load_task(task_of(name)), recording.env_kwargs
    cfg = task.play() if made.get("play") else task.env()
    steps = made.get("max_episode_steps")
    if steps is not None:
        cfg.episode_length_s = steps * cfg.decimation * cfg.sim.mujoco.timestep
    return cfg


def written_config(
    recording: "Recording", *, accept_changes: bool = False
) -> "ManagerBasedRlEnvCfg":
    """The configuration that a recording brings along."""
    from mjlab.names import UnknownNameError
    from mjlab.settings.file import SettingsFileError
    from mjlab.task_file import read_task

    try:
        where, text = str(recording.path), recording.env_cfg
        return read_task(text, where, accept_changes=accept_changes)["env"]
    except (SettingsFileError, UnknownNameError) as error:
        task = recording.env_id or "TASK"
        raise UsageError(
            f"The configuration of the recording cannot be read: {error} With "
            f"--task {task}, the task's own configuration is taken instead."
        ) from error


def build(
    recording: "Recording", cfg: "ManagerBasedRlEnvCfg", options: Options
) -> "ManagerBasedRlEnv":
    """The worlds."""
    from mjlab.envs import ManagerBasedRlEnv

    chosen = len(recording if options.episodes is None else options.episodes)
    number = options.num_envs or max(1, min(MOST_WORLDS, chosen))
    seeds = (options.seed, recording.seed, cfg.seed)
    seed = next((seed for seed in seeds if seed is not None), None)
    terrain = cfg.scene.terrain
    if seed is None and terrain is not None and terrain.kind == "generator":
        raise UsageError(
            f"{recording.path} does not say which seed its terrain was made with: give "
            "it as --seed."
        )
    backend: Any = options.backend or recording.backend or cfg.sim.backend
    cfg = dataclasses.replace(
        cfg,
        seed=seed,
        scene=dataclasses.replace(cfg.scene, num_envs=number),
        sim=dataclasses.replace(cfg.sim, backend=backend),
        recorders={},
    )
    return ManagerBasedRlEnv(cfg, options.device)


def replay(
    recording: "Recording", cfg: "ManagerBasedRlEnvCfg", line: Line
) -> "ReplayReport":
    """Do the episodes again; draw and write them as asked for."""
    from mjlab.replay.replay import Replay
    from mjlab.replay.replay_report import ReplayReport

    options: Options = line.options
    env = build(recording, cfg, options)
    with contextlib.ExitStack() as stack:
        watch = stack.enter_context(filming(env, options.video))
        again = Replay(
            env,
            recording,
            by=options.by,
            other_observations=changes_observations(line),
            watch=watch,
        )
        account = ReplayReport(again)
        files = stack.enter_context(writing(again, options))
        for replayed in again.run(options.episodes):
            account.add(replayed)
            for file in files:
                file.add(replayed)
    env.close()
    return account


def changes_observations(line: Line) -> bool:
    """Return whether the line asks for observations that were not recorded."""
    names = [setting.name for setting in line.settings]
    names += [f"env.{name.removeprefix('env.')}" for name in line.disabled]
    return any(name.startswith("env.observations") for name in names)


@contextlib.contextmanager
def writing(again: "Replay", options: Options) -> Iterator[list[Any]]:
    """The files that are asked for; they are there if all goes well."""
    from mjlab.replay.lerobot import LeRobotFolder
    from mjlab.replay.replay_files import ReplayedFile, RobomimicFile

    kinds: list[tuple[Any, Path | None]] = [
        (ReplayedFile, options.save),
        (RobomimicFile, options.robomimic),
        (LeRobotFolder, options.lerobot),
    ]
    files = [
        kind(path, again, groups=options.groups)
        for kind, path in kinds
        if path is not None
    ]
    try:
        yield files
    except BaseException:
        for file in files:
            file.drop()
        raise
    for file in files:
        file.close()
        print(f"Wrote {file.path}.")


@contextlib.contextmanager
def filming(env: "ManagerBasedRlEnv", path: Path | None) -> "Iterator[Watch]":
    """Draw the states of a replay into a video; nothing without a path."""
    if path is None:
        yield lambda batch, step: None
        return
    from mjlab.render import Film

    rate = 1.0 / env.step_dt
    every = max(1, math.ceil(rate / MOST_FPS - 1e-9))
    worlds = range(min(env.num_envs, MOST_PICTURES))
    view = env.cfg.viewer
    with Film(path, rate / every, env.sim, env.scene, view, worlds=worlds) as film:

        def draw(batch: Sequence[Any], step: int) -> None:
            if step % every == 0:
                film.add(lines=caption(batch, step))

        yield draw
    print(f"Wrote {path}: {film.num_frames} frames.")


def caption(batch: Sequence[Any], step: int) -> Callable[[int], list[str]]:
    """The text of each picture."""

    def lines(world: int) -> list[str]:
        if world >= len(batch):
            return ["no episode"]
        episode = batch[world]
        is_over = ", over" if step > episode.length else ""
        shown = min(step, episode.length)
        return [f"episode {episode.number}", f"step {shown}{is_over}"]

    return lines


if __name__ == "__main__":
    sys.exit(run_program(main))
