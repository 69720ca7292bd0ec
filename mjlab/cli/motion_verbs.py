"""Subcommands of `motion`: read, make, check, draw and write motions."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from mjlab.cli.answers import UsageError
from mjlab.cli.motion_options import (
    BlendOptions,
    CheckOptions,
    CutOptions,
    ImportOptions,
    ListMotionsOptions,
    MakeOptions,
    MirrorOptions,
    RecordMotionOptions,
    ShowOptions,
    SimulateOptions,
)
from mjlab.cli.progress import tell_progress
from mjlab.motion import Motion, MotionRobot, find_motions, load_motion, save_motion
from mjlab.motion.mirror import mirrored
from mjlab.motion.tools.bvh import read_bvh
from mjlab.motion.tools.checks import check_motion, estimate_contacts
from mjlab.motion.tools.clips import g1 as clips
from mjlab.motion.tools.clips.random import GRID, random_motion
from mjlab.motion.tools.edit import blended
from mjlab.motion.tools.importers import read_csv, read_npz
from mjlab.motion.tools.retarget import HumanoidParts, retargeted
from mjlab.motion.tools.simulate import simulated
from mjlab.names import find_name, suggest
from mjlab.safe_names import plain_name
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.tracking.clips import G1_CLIPS

T = TypeVar("T")

FAILED = 1
"""Exit code if a motion fails its checks."""

ROBOTS = {robot.name: robot for robot in (G1, GO1)}
"""Robots by name."""


def import_file(options: ImportOptions) -> None:
    """Read a file of another format and write a motion file."""
    path = _need(options.file, "FILE")
    out = options.out or Path(f"{path.stem}.npz")
    if out.resolve() == path.resolve():
        raise UsageError(f"{path} would be overwritten. Name a new file with --out.")
    facts = _robot(options.robot)
    robot = MotionRobot(facts.entity_cfg(), facts.name)
    motion = _read(path, robot, facts, options)
    given = {
        key: value
        for key in ("source", "licence", "authors")
        if (value := getattr(options, key)) is not None
    }
    motion = replace(motion, info=replace(motion.info, **given))
    motion = robot.completed(motion.resampled(options.fps))
    if motion.contacts is None:
        motion = _with_contacts(motion, facts)
    out = save_motion(motion, out)
    _say(f"{out}: {_summary(motion)}")
    _say(_report(motion, robot, facts)[0])


def make(options: MakeOptions) -> None:
    """Generate shipped clips from their descriptions, or random motions."""
    if options.random:
        _make_random(options)
        return
    names = list(clips.SKETCHES)
    if options.clip is not None:
        names = [names[find_name(options.clip, names, what="clip")]]
    cfg = G1.entity_cfg()
    robot = MotionRobot(cfg, G1.name)
    for name in names:
        motion = clips.make_clip(name, robot, tell_progress(name))
        carried = simulated(motion, cfg, robot).feasibility
        motion = replace(motion, feasibility=carried)
        out = save_motion(motion, options.out / f"{name}.npz", bare=True)
        _say(f"{out}: {_summary(motion)}")


def _make_random(options: MakeOptions) -> None:
    """Generate random motions that pass the checks of `motion check`."""
    robot = MotionRobot(G1.entity_cfg(), G1.name)
    seed, made = options.seed, 0
    while made < options.random:
        name = f"random_{seed:03d}"
        tell, describe = tell_progress(name), random_motion(seed)
        motion = clips.make_clip(name, robot, tell, describe=describe, grid=GRID)
        failed = [each for each in check_motion(motion, robot) if not each.passes]
        if failed:
            _say(f"{name}: skipped. {failed[0]}")
        else:
            out = save_motion(motion, options.out / f"{name}.npz", bare=True)
            _say(f"{out}: {_summary(motion)}")
            made += 1
        seed += 1


def record(options: RecordMotionOptions) -> None:
    """Record the rollout of a trained policy."""
    from mjlab.cli.motion_record import recorded

    motion = recorded(str(_need(options.run, "RUN")), options, ROBOTS)
    facts = ROBOTS[motion.info.robot]
    robot = MotionRobot(facts.entity_cfg(), facts.name)
    motion = _with_contacts(robot.completed(motion), facts)
    out = save_motion(motion, options.out or Path(f"{plain_name(motion.name)}.npz"))
    _say(f"{out}: {_summary(motion)}")
    _say(_report(motion, robot, facts)[0])


def simulate(options: SimulateOptions) -> None:
    """Simulate a motion with the robot's motors, and write the result."""
    path = _need(options.file, "FILE")
    motion = load_motion(path)
    facts = _robot(options.robot or motion.info.robot, path)
    cfg = facts.entity_cfg()
    robot = MotionRobot(cfg, facts.name)
    found = simulated(motion, cfg, robot, tell_progress(path.name))
    found = _with_contacts(robot.completed(found), facts)
    _save_like(path, found, options.out)
    _say(f"  {found.info.log[-2]}")
    _say(_report(found, robot, facts)[0])


def check(options: CheckOptions) -> None:
    """Check motions; exit with `FAILED` if one fails."""
    passes = True
    robots: dict[str, MotionRobot] = {}
    for path in find_motions([_need(options.place, "PLACE")]):
        motion = load_motion(path)
        facts = _robot(options.robot or motion.info.robot, path)
        if facts.name not in robots:
            robots[facts.name] = MotionRobot(facts.entity_cfg(), facts.name)
        text, ok = _report(motion, robots[facts.name], facts)
        passes &= ok
        _say(f"{path}: {_summary(motion)}\n{text}")
    if not passes:
        raise SystemExit(FAILED)


def show(options: ShowOptions) -> None:
    """Show a motion in a browser, or write a video or charts."""
    from mjlab.cli.motion_pictures import watch, write_film, write_plots

    path = _need(options.file, "FILE")
    motion = load_motion(path)
    facts = _robot(options.robot or motion.info.robot, path)
    if options.film is None and options.plots is None:
        return watch(path, facts, options.port, options.steps)
    robot = MotionRobot(facts.entity_cfg(), facts.name)
    motion = robot.completed(motion)
    if options.plots is not None:
        _say(f"Wrote {write_plots(motion, robot, facts, options.plots)}.")
    if options.film is not None:
        size = (options.width, options.height)
        frames = write_film(motion, facts, options.film, size)
        _say(f"Wrote {options.film}: {frames} frames.")


def mirror(options: MirrorOptions) -> None:
    """Write the mirror image of a motion."""
    path = _need(options.file, "FILE")
    motion = load_motion(path)
    facts = _robot(options.robot or motion.info.robot, path)
    if facts.mirror is None:
        raise UsageError(
            f"{facts.name} has no left-right symmetry, so its motions cannot be "
            "mirrored."
        )
    _save_like(path, mirrored(motion, facts.mirror), options.out)


def cut(options: CutOptions) -> None:
    """Write a range of a motion's frames as a new motion."""
    path = _need(options.file, "FILE")
    motion = load_motion(path)
    if options.frames is None:
        raise UsageError(
            "--frames is missing: pass --frames FIRST LAST, from 0 to "
            f"{motion.num_frames}."
        )
    first, last = options.frames
    part = replace(motion.frames(first, last), name=f"{motion.name}_cut")
    _save_like(path, part, options.out)


def blend(options: BlendOptions) -> None:
    """Write two motions one after the other."""
    path = _need(options.file, "FILE")
    if options.then is None:
        raise UsageError(
            "--then is missing: name the motion that follows with --then FILE."
        )
    both = blended(load_motion(path), load_motion(options.then), options.seconds)
    _save_like(path, both, options.out)


def list_motions(options: ListMotionsOptions) -> None:
    """List the motions of a folder."""
    place = options.folder or G1_CLIPS
    motions = [load_motion(path) for path in find_motions([place])]
    width = max(len(motion.name) for motion in motions)
    for motion in motions:
        _say(f"{motion.name:<{width}}  {_summary(motion)}")


def _read(
    path: Path, robot: MotionRobot, facts: Robot, options: ImportOptions
) -> Motion:
    joints = _order(options.joints, robot.joint_names)
    bodies = _order(options.bodies, robot.body_names)
    if path.suffix == ".csv":
        return read_csv(
            path,
            robot,
            fps=options.rate,
            joint_names=joints,
            quat=options.quat,
            rows=options.rows,
        )
    if path.suffix == ".bvh":
        return _read_person(path, robot, facts, options)
    return read_npz(path, robot, joint_names=joints, body_names=bodies)


def _read_person(
    path: Path, robot: MotionRobot, facts: Robot, options: ImportOptions
) -> Motion:
    if not facts.landmarks:
        raise UsageError(
            f"{path} is a motion of a person, and {facts.name} has no matching limbs."
        )
    parts = HumanoidParts(
        base=facts.base_body, torso=facts.torso_body, landmarks=facts.landmarks
    )
    told = tell_progress(path.name)
    return retargeted(read_bvh(path), robot, parts, path.stem, options.fps, told)


def _with_contacts(motion: Motion, facts: Robot) -> Motion:
    labels = estimate_contacts(motion, facts.foot_bodies)
    info = motion.info.logged("contacts estimated from height and speed of the feet")
    return replace(motion, contact_names=facts.foot_bodies, contacts=labels, info=info)


def _order(
    given: tuple[str, ...] | None, of_model: tuple[str, ...]
) -> tuple[str, ...] | None:
    return of_model if given == ("model",) else given


def _report(motion: Motion, robot: MotionRobot, facts: Robot) -> tuple[str, bool]:
    limits = facts.speed_limits(robot.joint_names)
    figures = check_motion(motion, robot, limits)
    lines = [f"  {figure}" for figure in figures]
    carried = motion.feasibility
    if carried is not None:
        most, mean = carried.max(), carried.mean()
        lines.append(
            f"  assistive wrench: at most {most:.0%} of the weight, {mean:.0%} on "
            "average"
        )
    return "\n".join(lines), all(figure.passes for figure in figures)


def _robot(name: str, path: Path | None = None) -> Robot:
    if not name and path is not None:
        raise UsageError(
            f"{path} does not name its robot: add --robot with one of "
            f"{', '.join(ROBOTS)}."
        )
    if name not in ROBOTS:
        hint = suggest(name, list(ROBOTS))
        raise UsageError(f"Unknown robot {name!r}. {hint}")
    return ROBOTS[name]


def _summary(motion: Motion) -> str:
    info = motion.info
    known = [info.robot, info.source, info.licence]
    said = ", ".join(text for text in known if text)
    return f"{motion.duration:.1f} s at {motion.fps:g} fps, {said or 'origin unknown'}"


def _save_like(path: Path, motion: Motion, out: Path | None) -> None:
    """Write a motion that is derived from the motion at `path`."""
    written = save_motion(motion, out or path.with_name(f"{motion.name}.npz"))
    _say(f"{written}: {_summary(motion)}")


def _need(given: T | None, what: str) -> T:
    if given is None:
        raise UsageError(f"{what} is missing: motion.py SUBCOMMAND {what}.")
    return given


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
