"""Watches a policy: `python scripts/play.py latest`, or with `--video out.mp4`."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Line, Program, UsageError, read_line, run_program
from mjlab.cli.help import reference
from mjlab.cli.sources import Actors, Source, find_source
from mjlab.registry import entries
from mjlab.render import prepare_gl
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy
    from mjlab.viewer import Player, PolicyMenu

SECONDS = 10.0
"""What is shown where nothing else ends it, s."""

WORLDS_IN_BROWSER = 9
"""Worlds in the browser, where the user says nothing."""

MOST_PICTURES = 9
"""Worlds side by side in a video."""


@dataclass(kw_only=True)
class Options:
    """Options of `play.py`."""

    policy: Actors = "trained"
    """What acts: the trained policy, a hand-written controller (script; some tasks ship
    one), zeros, random actions, or teleop: drag the target in the browser (tasks with
    inverse kinematics)."""

    task: str | None = None
    """A task, instead of PLACE."""

    viewer: Literal["web", "native", "none"] | None = None
    """Where to watch: in a browser of this machine, in MuJoCo's window, or not at all.
    Default: the browser, or no viewer when --video is given."""

    video: Path | None = None
    """File to write a video to, such as out.mp4. It needs no display."""

    export: bool | Path = False
    """Write the policy to an ONNX file, in this folder or in the run's. Nothing is
    shown then, unless --viewer or --video says so."""

    dump: Path | None = None
    """Replay a fault that a run kept in its folder `dumps`: the dump's folder, or the
    file of one of its worlds."""

    steps: int | None = None
    """Steps to take. Default: until stopped, or 10 s for a video."""

    seconds: float | None = None
    """The same as --steps, in seconds of the world's time."""

    commands: Literal["scheduled", "random"] | None = None
    """Velocity commands: a schedule (forward, turn, sideways, stop), or drawn as in
    training. Default: scheduled for videos and `mjlab demo`, else random."""

    size: tuple[int, int] | None = None
    """Width and height of a video in pixels, such as 640,360. Default: 1280,720.
    Several worlds share it. --env.viewer.width and .height are those of one world."""

    num_envs: int | None = None
    """Worlds. Default: 9 in the browser (teleop: 1), else 1. A video shows up to 9."""

    speed: float = 1.0
    """How fast time passes in viewers, as a multiple of real time."""

    port: int = 8080
    """Where the browser's page is, or the next port that is free."""

    open: bool = False
    """Show the page in the browser of this machine."""

    seed: int = 0
    """Random seed."""

    device: str | None = None
    """Where to simulate, such as "cpu". Default: a GPU if available."""

    best: bool = False
    """Whether to take a run's best checkpoint rather than its newest."""

    as_trained: bool = False
    """Whether to keep noise, pushes and the end of episodes as in training."""

    accept_changes: bool = False
    """Open a run whose task has changed since in more than values: the task counts as
    it is now."""

    logs: Path = Path("logs")
    """Folder of all runs."""


PROGRAM = Program(
    name="play.py",
    summary=(
        "Watch a policy. PLACE is a task, of which the newest run is taken, a run's "
        "folder, a checkpoint, an ONNX file, or 'latest', which is the default. A run "
        "is played with its own configuration, an ONNX file as it says of itself."
    ),
    subject="[PLACE]",
    options=Options,
    configs=("env",),
    examples=(
        "latest",
        "latest --video out.mp4 --num-envs 4",
        "Velocity-G1 --policy random --viewer native",
        "latest --export",
        "logs/Velocity-G1/2026-01-31_12-00-00 --best --env.viewer.distance 2.0",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Find it, build it, show it."""
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    options: Options = line.options
    if line.subject is not None and options.task is not None:
        own = " An ONNX file names its task." if line.subject.endswith(".onnx") else ""
        raise UsageError(
            f"Name {line.subject!r} or --task {options.task}, not both.{own}"
        )
    viewer = options.viewer or ("none" if options.video else "web")
    check(options, viewer)
    if viewer != "native":
        prepare_gl()
    if options.dump is not None:
        return replay(line, options.dump, viewer)
    place = line.subject or options.task
    if options.export is not False and str(place).endswith(".onnx"):
        raise UsageError(f"{place} is a policy in a file already: leave out --export.")
    source = find_source(
        place,
        policy=options.policy,
        as_trained=options.as_trained,
        logs=options.logs,
        records=line.sets_recorders,
        accept_changes=options.accept_changes,
    )
    cfg = source.env
    if options.policy == "teleop" and not options.as_trained:
        cfg = dataclasses.replace(cfg, episode_length_s=1e9)  # A hand takes its time.
    configs = apply({"env": cfg}, line.settings, line.disabled)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    if options.num_envs is None and line.sets("env.scene.num_envs"):
        number = configs["env"].scene.num_envs
        options = dataclasses.replace(options, num_envs=number)
    if options.export is not False:
        export(source, configs["env"], options)
        if options.viewer is None and options.video is None:
            return
    options = dataclasses.replace(options, size=size_of_world(line, configs["env"]))
    env = build(configs["env"], options, viewer)
    policy = source.make_policy(env, seed=options.seed, best=options.best)
    show(source.title, env, policy, options, viewer, menu(source, env, options))


def menu(
    source: Source, env: "ManagerBasedRlEnv", options: Options
) -> "PolicyMenu | None":
    """Checkpoints to choose from, of a policy that was trained."""
    if source.agent is None or source.place is None:
        return None
    from mjlab.cli.watching import list_checkpoints

    return list_checkpoints(source.place, env, source.agent, best=options.best)


def size_of_world(line: Line, cfg: "ManagerBasedRlEnvCfg") -> tuple[int, int]:
    """Size of the picture of one world, so that several worlds share a video's size."""
    options: Options = line.options
    width, height = options.size or (cfg.viewer.width, cfg.viewer.height)
    sets = ("env.viewer.width", "env.viewer.height")
    if options.size is None and any(line.sets(path) for path in sets):
        return width, height
    from mjlab.render.offscreen import grid

    rows, columns, gap = grid(min(options.num_envs or 1, MOST_PICTURES))
    return (width + gap) // columns - gap, (height + gap) // rows - gap


def check(options: Options, viewer: str) -> None:
    """Refuse what cannot work before anything is built."""
    for name in ("steps", "num_envs"):
        value = getattr(options, name)
        if value is not None and value < 1:
            flag = name.replace("_", "-")
            raise UsageError(f"--{flag} {value}: it has to be 1 or more.")
    for name in ("speed", "seconds"):
        value = getattr(options, name)
        if value is not None and not value > 0.0:
            raise UsageError(f"--{name} {value}: it has to be above 0.")
    if options.steps is not None and options.seconds is not None:
        raise UsageError("--steps and --seconds both say how long: take one of them.")
    if options.policy == "teleop" and viewer != "web":
        raise UsageError("--policy teleop needs the buttons of --viewer web.")
    if options.video is not None and viewer != "none":
        raise UsageError(f"--video goes without --viewer {viewer}: nobody can watch.")
    if viewer == "native":
        from mjlab.viewer.native import require_display

        require_display()


def export(source: Source, cfg: "ManagerBasedRlEnvCfg", options: Options) -> None:
    """Write the policy to an ONNX file, and say so."""
    from mjlab.cli.runs import write_file
    from mjlab.rl import RunFolder
    from mjlab.rl.checkpoint import find_checkpoint

    if source.agent is None or source.place is None:
        raise UsageError("--export needs a policy that was trained.")
    exported = write_file(
        RunFolder.find(source.place, options.logs),
        {"env": cfg, "agent": source.agent},
        logs=options.logs,
        to=options.export if isinstance(options.export, Path) else None,
        checkpoint=find_checkpoint(source.place, best=options.best),
    )
    print(exported.summary)


def build(
    cfg: "ManagerBasedRlEnvCfg", options: Options, viewer: str
) -> "ManagerBasedRlEnv":
    """The worlds."""
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl import Ranks

    is_crowd = viewer == "web" and options.policy != "teleop"
    number = options.num_envs or (WORLDS_IN_BROWSER if is_crowd else 1)
    scene = dataclasses.replace(cfg.scene, num_envs=number)
    cfg = dataclasses.replace(cfg, scene=scene, seed=options.seed)
    if options.size is not None:
        width, height = options.size
        view = dataclasses.replace(cfg.viewer, width=width, height=height)
        cfg = dataclasses.replace(cfg, viewer=view)
    device = options.device
    if device is None and cfg.sim.backend == "warp":
        # What was trained on Warp's CPU device plays there, as it was trained there.
        device = Ranks().device()
    return ManagerBasedRlEnv(cfg, device)


def show(
    title: str,
    env: "ManagerBasedRlEnv",
    policy: "Policy",
    options: Options,
    viewer: str,
    policies: "PolicyMenu | None" = None,
) -> None:
    """Show it where it was asked for, with `policies` to choose from."""
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
        print(f"Mean reward of a step, over {steps} steps: {rewards:.5f}.")
    env.close()


def replay(line: Line, place: Path, viewer: str) -> None:
    """Do the steps of a dump again, say what went wrong, and show them."""
    from mjlab.replay.dump_replay import DumpReplay, build_env, open_dump

    world, cfg = open_dump(place, accept_changes=line.options.accept_changes)
    cfg = apply({"env": cfg}, line.settings, line.disabled)["env"]
    again = DumpReplay(build_env(cfg, world), world)
    print(*again.run().lines(world), sep="\n", flush=True)
    options: Options = dataclasses.replace(line.options, commands="random")
    if viewer != "web" and options.steps is options.seconds is None:
        options = dataclasses.replace(options, steps=world.length)
    show(place.name, again.env, again, options, viewer)


def write_video(player: "Player", path: Path, steps: int, title: str) -> None:
    """Write a video, and say so."""
    from mjlab.cli.motion_options import tell_progress
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
    """Do steps unseen, and return the mean reward of one."""
    total = 0.0
    for _ in range(steps):
        player.step()
        total += float(player.reward.mean())
    return total / steps


if __name__ == "__main__":
    sys.exit(run_program(main))
