"""`play`: watch a policy."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional

from mjlab.cli import mjlab_options
from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import choose_device, with_worlds
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.cli.sources import Actors, Source, find_source
from mjlab.cli.tasks import RunOptions
from mjlab.render import prepare_gl
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.settings.bounds import above, at_least
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy
    from mjlab.viewer import Player, PolicyMenu

SECONDS = 10.0
"""Length of a video or of a run without a viewer, in seconds."""

WORLDS_IN_BROWSER = 9
"""Worlds in the browser by default."""

MOST_PICTURES = 9
"""Maximum number of worlds in one video."""


@dataclass(kw_only=True)
class PlayOptions(TaskOptions, RunOptions):
    """Watch a policy, in a browser, a window or a video.

    A run or an ONNX file is played with its own settings.
    """

    program = "play.py"
    of_mjlab = mjlab_options.PLAY
    examples = (
        "latest",
        "latest --video out.mp4 --num-envs 4",
        "Velocity-G1 --policy random --viewer native",
        "logs/Velocity-G1/2026-01-31_12-00-00 --best --env.viewer.distance 2.0",
    )

    place: Positional[str | None] = None
    """A task (its newest run), a run's folder, a checkpoint, an ONNX file, or 'latest'
    (the default)."""

    policy: Actors = "trained"
    """Actions: the trained policy, the task's scripted controller (script; some tasks
    have one), zeros, random actions, or teleop: drag the target in the browser (tasks
    with inverse kinematics)."""

    viewer: Literal["web", "native", "none"] | None = None
    """Where to watch: in the browser, in MuJoCo's window, or not at all. Default: the
    browser, or no viewer when --video is given."""

    video: Path | None = None
    """Video file to write, such as out.mp4. Needs no display."""

    dump: Path | None = None
    """Dump file to replay, from a run's folder `dumps`."""

    dump_world: int | None = None
    """Index of the world in the dump. Default: the world with the first fault."""

    steps: Annotated[int | None, at_least(1)] = None
    """Environment steps to run. Default: until stopped, or 10 s for a video."""

    seconds: Annotated[float | None, above(0)] = None
    """Same as --steps, in seconds of simulated time."""

    commands: Literal["scheduled", "random"] | None = None
    """Velocity commands: a schedule (forward, turn, sideways, stop), or drawn as in
    training. Default: scheduled for videos and `mjlab demo`, else random."""

    size: tuple[int, int] | None = None
    """Width and height of a video in pixels, such as 640 360. Default: 1280 720.
    Several worlds are tiled in it; --env.viewer.width and .height size each tile."""

    num_envs: Annotated[int | None, at_least(1)] = None
    """Number of worlds. Default: 9 in the browser (teleop: 1), else 1. A video shows up
    to 9."""

    speed: Annotated[float, above(0)] = 1.0
    """Playback speed in viewers, as a multiple of real time."""

    port: int = 8080
    """Port of the browser's page; the next free one if it is taken."""

    open: bool = False
    """Open the page in the default browser."""

    seed: int = 0
    """Random seed."""

    device: str | None = None
    """Where to simulate, such as "cpu". Default: a GPU if available."""

    best: bool = False
    """Use the best checkpoint of a run instead of its newest."""

    as_trained: bool = False
    """Keep observation noise, pushes and terminations as in training."""


def main(arguments: Sequence[str]) -> None:
    """Load the policy, build its environment, and show it."""
    line = read_line(PlayOptions, arguments)
    options = line.options
    viewer = options.viewer or ("none" if options.video else "web")
    check(options, viewer)
    if viewer != "native":
        prepare_gl()
    task = options.task_id()
    if options.dump is not None:
        return replay(line, options.dump, viewer)
    source = find_source(
        options.place,
        task=task,
        policy=options.policy,
        as_trained=options.as_trained,
        logs=options.logs,
        records=line.sets_recorders,
        accept_changes=options.accept_changes,
    )
    if source.place is not None:
        played = find_checkpoint(source.place, best=options.best)
        source = dataclasses.replace(source, place=played)
    cfg = source.env
    if options.policy == "teleop" and not options.as_trained:
        cfg = dataclasses.replace(cfg, episode_length_s=1e9)  # No time limit.
    cfg = line.apply({"env": cfg})["env"]
    if options.num_envs is None and line.sets("env.scene.num_envs"):
        options = dataclasses.replace(options, num_envs=cfg.scene.num_envs)
    options = dataclasses.replace(options, size=size_of_world(line, cfg))
    env = build(cfg, options, viewer)
    policy = source.make_policy(env, seed=options.seed, best=options.best)
    show(source.title, env, policy, options, viewer, menu(source, env))


def menu(source: Source, env: "ManagerBasedRlEnv") -> "PolicyMenu | None":
    """Return the selectable checkpoints; None for a policy without checkpoints."""
    if source.agent is None or source.place is None:
        return None
    from mjlab.cli.watching import list_checkpoints

    return list_checkpoints(source.place, env, source.agent)


def size_of_world(
    line: Line[PlayOptions], cfg: "ManagerBasedRlEnvCfg"
) -> tuple[int, int]:
    """Return width and height of a world's tile, so that the tiles fill the video."""
    options = line.options
    width, height = options.size or (cfg.viewer.width, cfg.viewer.height)
    sets = ("env.viewer.width", "env.viewer.height")
    if options.size is None and any(line.sets(path) for path in sets):
        return width, height
    from mjlab.render.offscreen import grid

    rows, columns, gap = grid(min(options.num_envs or 1, MOST_PICTURES))
    return (width + gap) // columns - gap, (height + gap) // rows - gap


def check(options: PlayOptions, viewer: str) -> None:
    """Raise for options that exclude each other, before anything is built."""
    if options.steps is not None and options.seconds is not None:
        raise UsageError("--steps and --seconds exclude each other: pass one of them.")
    if options.policy == "teleop" and viewer != "web":
        raise UsageError("--policy teleop needs the controls of --viewer web.")
    if options.video is not None and viewer != "none":
        raise UsageError(f"--video cannot be combined with --viewer {viewer}.")
    if viewer == "native":
        from mjlab.viewer.native import require_display

        require_display()


def build(
    cfg: "ManagerBasedRlEnvCfg", options: PlayOptions, viewer: str
) -> "ManagerBasedRlEnv":
    """Build the environment, with the number of worlds that suits the viewer."""
    from mjlab.envs import ManagerBasedRlEnv

    is_crowd = viewer == "web" and options.policy != "teleop"
    number = options.num_envs or (WORLDS_IN_BROWSER if is_crowd else 1)
    cfg = dataclasses.replace(with_worlds(cfg, number), seed=options.seed)
    if options.size is not None:
        width, height = options.size
        view = dataclasses.replace(cfg.viewer, width=width, height=height)
        cfg = dataclasses.replace(cfg, viewer=view)
    return ManagerBasedRlEnv(cfg, choose_device(options.device, cfg))


def show(
    title: str,
    env: "ManagerBasedRlEnv",
    policy: "Policy",
    options: PlayOptions,
    viewer: str,
    policies: "PolicyMenu | None" = None,
) -> None:
    """Run the policy in a viewer, record a video, or print the mean reward."""
    from mjlab.viewer import Player

    is_shown = options.video is not None and options.commands is None
    player = Player(
        env,
        policy,
        seed=options.seed,
        speed=options.speed,
        scheduled=is_shown or options.commands == "scheduled",
    )
    steps, seconds = options.steps, options.seconds
    if viewer == "none" and steps is None:
        seconds = SECONDS if seconds is None else seconds
    if seconds is not None:
        steps = max(1, round(seconds / env.step_dt))
    worlds = "1 world" if env.num_envs == 1 else f"{env.num_envs} worlds"
    print(f"{title}: {worlds}, seed {options.seed}.", flush=True)
    if options.video is not None:
        write_video(player, options.video, steps or 1, title)
    elif viewer == "web":
        from mjlab.cli.watching import watch_in_browser

        page = {"port": options.port, "opens": options.open, "steps": steps}
        watch_in_browser(player, title, policies=policies, **page)
    elif viewer == "native":
        watch_in_window(player, steps)
    else:
        rewards = run(player, steps or 1)
        print(f"Mean reward per step, over {steps} steps: {rewards:.5f}.")
    env.close()


def replay(line: Line[PlayOptions], place: Path, viewer: str) -> None:
    """Replay a dump, print its fault, and show it."""
    from mjlab.replay.dump_replay import DumpReplay, build_env, open_dump

    options = line.options
    world, cfg = open_dump(
        place, options.dump_world, accept_changes=options.accept_changes
    )
    cfg = line.apply({"env": cfg})["env"]
    again = DumpReplay(build_env(cfg, world), world)
    print(*again.run().lines(world), sep="\n", flush=True)
    options = dataclasses.replace(options, commands="random")
    if viewer != "web" and options.steps is options.seconds is None:
        options = dataclasses.replace(options, steps=world.length)
    show(place.name, again.env, again, options, viewer)


def write_video(player: "Player", path: Path, steps: int, title: str) -> None:
    """Write a video, and print its path."""
    from mjlab.cli.progress import tell_progress
    from mjlab.viewer import record_video

    worlds = range(min(player.env.num_envs, MOST_PICTURES))
    if len(worlds) == 1:
        worlds = None
    tell = tell_progress(str(path))
    frames = record_video(player, path, steps, title=title, worlds=worlds, tell=tell)
    seconds = steps * player.env.step_dt
    print(f"Wrote {path}: {frames} frames, {seconds:.1f} s.")


def watch_in_window(player: "Player", steps: int | None) -> None:
    """Show a window until it is closed."""
    from mjlab.viewer import NativeViewer
    from mjlab.viewer.native import KEYS

    print(f"Keys: {KEYS}.", flush=True)
    NativeViewer(player).run(steps)


def run(player: "Player", steps: int) -> float:
    """Run steps without a viewer, and return the mean reward per step."""
    total = 0.0
    for _ in range(steps):
        player.step()
        total += float(player.reward.mean())
    return total / steps
