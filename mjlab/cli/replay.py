"""`replay`: replay recorded episodes, and write them in other formats."""

import contextlib
import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import check_device, with_worlds
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.registry import entries, load_task
from mjlab.render import prepare_gl
from mjlab.settings.bounds import at_least
from mjlab.task_file import typed_task
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
    from mjlab.recording.reader import Recording
    from mjlab.replay.replay import Replay, Watch
    from mjlab.replay.replay_report import ReplayReport
    from mjlab.replay.replayed_file import ReplayedFile

NOT_EXACT = 1
"""Exit code if episodes that must be reproduced exactly differ."""

MOST_WORLDS = 16
"""Maximum number of worlds by default."""

MOST_PICTURES = 9
"""Maximum number of worlds in one video."""

MOST_FPS = 60.0
"""Highest frame rate of a video."""


@dataclass(kw_only=True)
class ReplayOptions(TaskOptions):
    """Replay recorded episodes.

    Compares the replay with the record value by value. Can write a video, or the
    episodes with other observations or in the formats of other libraries. The exit code
    is 1 if values differ that must be equal bit for bit.
    """

    program = "replay.py"
    examples = (
        "recordings/a.h5",
        "recordings/a.h5 --episodes 0 3 --video out.mp4",
        "recordings/a.h5 --by states --save new.h5 --groups critic",
        "recordings/a.h5 --robomimic demos.hdf5",
    )

    recording: Positional[Path | None] = None
    """Recording to replay, such as recordings/a.h5."""

    episodes: tuple[int, ...] | None = None
    """Indices of the episodes. Default: all."""

    by: Literal["actions", "states"] = "actions"
    """Apply only the actions, from the recorded initial state; or also set the recorded
    state after each step."""

    num_envs: Annotated[int | None, at_least(1)] = None
    """Episodes replayed in parallel. Default: all, up to 16."""

    video: Path | None = None
    """Video file to write, such as out.mp4. Needs no display."""

    save: Path | None = None
    """Recording to write, with the same episodes and the observations of the replay,
    such as new.h5."""

    robomimic: Path | None = None
    """File for the episodes in robomimic's layout, such as demos.hdf5."""

    lerobot: Path | None = None
    """Folder for the episodes as a LeRobot dataset, such as demos."""

    groups: tuple[str, ...] | None = None
    """Observation groups to write to these files. Default: all."""

    task: str | None = None
    """Task id, if the recording does not name its task."""

    seed: int | None = None
    """Seed of the environment, if the recording does not contain it: the terrain
    depends on it."""

    accept_changes: bool = False
    """Replay a recording whose task has changed, with the task's current version."""

    backend: Literal["auto", "native", "warp"] | None = None
    """Physics engine. Default: the engine of the recording."""

    device: str | None = None
    """Where to simulate, such as "cpu". Default: a device that suits the engine."""


def main(arguments: Sequence[str]) -> None:
    """Replay the episodes, and compare them with the record."""
    line = read_line(ReplayOptions, arguments)
    options = line.options
    if options.recording is None:
        raise UsageError("RECORDING is missing: name a file, such as recordings/a.h5.")
    prepare_gl()
    from mjlab.recording.reader import Recording

    with Recording(options.recording) as recording:
        config = line.apply({"env": find_config(recording, options)})
        account = replay(recording, config["env"], line)
    print("\n".join(account.lines()))
    if not account.is_as_claimed:
        raise SystemExit(NOT_EXACT)


def find_config(
    recording: "Recording", options: ReplayOptions
) -> "ManagerBasedRlEnvCfg":
    """Return the configuration stored in a recording, or the configuration of a task.

    The task is the argument of --task, or the task that the recording names.
    """
    if recording.env_cfg and options.task is None:
        return written_config(recording, accept_changes=options.accept_changes)
    name = typed_task(options.task) if options.task else recording.env_id
    if name is None:
        raise UsageError(
            f"{recording.path} does not name its task: add --task with one of "
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
    """Return the configuration that is stored in a recording."""
    from mjlab.names import UnknownNameError
    from mjlab.runs.settings import read_task
    from mjlab.settings.file import SettingsFileError

    try:
        where, text = str(recording.path), recording.env_cfg
        return read_task(text, where, accept_changes=accept_changes)["env"]
    except (SettingsFileError, UnknownNameError) as error:
        task = recording.env_id or "TASK"
        raise UsageError(
            f"The configuration in the recording cannot be loaded: {error} Pass "
            f"--task {task} to use the task's own configuration."
        ) from error


def build(
    recording: "Recording", cfg: "ManagerBasedRlEnvCfg", options: ReplayOptions
) -> "ManagerBasedRlEnv":
    """Build the environment with the recording's seed and engine, or the user's."""
    from mjlab.envs import ManagerBasedRlEnv

    chosen = len(recording if options.episodes is None else options.episodes)
    number = options.num_envs or max(1, min(MOST_WORLDS, chosen))
    seeds = (options.seed, recording.seed, cfg.seed)
    seed = next((seed for seed in seeds if seed is not None), None)
    terrain = cfg.scene.terrain
    if seed is None and terrain is not None and terrain.kind == "generator":
        raise UsageError(
            f"{recording.path} does not contain the seed of its terrain: add --seed."
        )
    backend: Any = options.backend or recording.backend or cfg.sim.backend
    cfg = dataclasses.replace(
        with_worlds(cfg, number),
        seed=seed,
        sim=dataclasses.replace(cfg.sim, backend=backend),
        recorders={},
    )
    return ManagerBasedRlEnv(cfg, check_device(options.device))


def replay(
    recording: "Recording", cfg: "ManagerBasedRlEnvCfg", line: Line[ReplayOptions]
) -> "ReplayReport":
    """Replay the episodes, and write videos and files."""
    from mjlab.replay.replay import Replay
    from mjlab.replay.replay_report import ReplayReport

    options = line.options
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
        file = stack.enter_context(writing(again, options))
        for replayed in again.run(options.episodes):
            account.add(replayed)
            if file is not None:
                file.add(replayed)
    env.close()
    return account


def changes_observations(line: Line[ReplayOptions]) -> bool:
    """True if the command line requests observations that were not recorded."""
    names = [setting.name for setting in line.settings]
    names += [f"env.{name.removeprefix('env.')}" for name in line.options.disable]
    return any(name.startswith("env.observations") for name in names)


@contextlib.contextmanager
def writing(again: "Replay", options: ReplayOptions) -> "Iterator[ReplayedFile | None]":
    """Yield the output recording; convert it at the end, delete it after an error."""
    from mjlab.recording import Recording
    from mjlab.replay.lerobot import LeRobotFolder
    from mjlab.replay.replayed_file import ReplayedFile
    from mjlab.replay.robomimic import RobomimicFile

    converters: list[RobomimicFile | LeRobotFolder] = []
    if options.robomimic is not None:
        converters.append(RobomimicFile(options.robomimic))
    if options.lerobot is not None:
        converters.append(LeRobotFolder(options.lerobot))
    if options.save is None and not converters:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.save or Path(folder, "replayed.h5")
        file = ReplayedFile(path, again, groups=options.groups)
        try:
            yield file
        except BaseException:
            file.drop()
            raise
        file.close()
        with Recording(path) as recording:
            for converter in converters:
                converter.write(recording)
    for written in (options.save, *(converter.path for converter in converters)):
        if written is not None:
            print(f"Wrote {written}.")


@contextlib.contextmanager
def filming(env: "ManagerBasedRlEnv", path: Path | None) -> "Iterator[Watch]":
    """Render the states of a replay into a video; do nothing without a path."""
    if path is None:
        yield lambda batch, step: None
        return
    from mjlab.render import WorldVideo

    rate = 1.0 / env.step_dt
    every = max(1, math.ceil(rate / MOST_FPS - 1e-9))
    worlds = range(min(env.num_envs, MOST_PICTURES))
    view = env.cfg.viewer
    with WorldVideo(
        path, rate / every, env.sim, env.scene, view, worlds=worlds
    ) as film:

        def draw(batch: Sequence[Any], step: int) -> None:
            if step % every == 0:
                film.add(lines=caption(batch, step))

        yield draw
    print(f"Wrote {path}: {film.num_frames} frames.")


def caption(batch: Sequence[Any], step: int) -> Callable[[int], list[str]]:
    """Return a function that returns the text lines of a world's image."""

    def lines(world: int) -> list[str]:
        if world >= len(batch):
            return ["no episode"]
        episode = batch[world]
        is_over = ", over" if step > episode.length else ""
        shown = min(step, episode.length)
        return [f"episode {episode.number}", f"step {shown}{is_over}"]

    return lines
