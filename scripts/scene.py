"""Writes a task's scene as MJCF: `python scripts/scene.py Velocity-Go1-Flat`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Program, UsageError, read_line, run_program
from mjlab.cli.help import reference
from mjlab.registry import entries, find_entry, load_task
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class Options:
    """Options of `scene.py`."""

    out: Path | None = None
    """New folder, or new zip file, to write to. Default: scene_TASK in this folder."""


PROGRAM = Program(
    name="scene.py",
    summary="Write the scene of a task as MJCF, with ground, robots, sensors and the "
    "files that they need, into a folder that MuJoCo's own viewer opens: "
    "python -m mujoco.viewer --mjcf=FOLDER/scene.xml",
    subject="TASK",
    options=Options,
    configs=("env",),
    examples=("Velocity-Go1-Flat", "Velocity-G1 --out rough.zip --env.seed 3"),
)


def main(arguments: Sequence[str]) -> None:
    """Write it."""
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    if line.subject is None:
        known = ", ".join(entries())
        raise UsageError(f"Name a task first: scene.py TASK [options]. Tasks: {known}.")
    entry = find_entry(line.subject)
    prepare_threads()
    configs = apply({"env": load_task(entry.id).env()}, line.settings, line.disabled)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    from mjlab.envs.build import load
    from mjlab.sim.compile import apply_options

    out: Path = line.options.out or Path(f"scene_{entry.id}")
    loaded = load(configs["env"])
    apply_options(loaded.built.spec, configs["env"].sim.mujoco)
    loaded.built.write(out, zip=out.suffix == ".zip")
    model = loaded.model
    bodies = model.nbody - 1  # The world is none.
    print(f"Wrote {out}: {bodies} bodies, {model.njnt} joints, {model.nu} actuators.")


if __name__ == "__main__":
    sys.exit(run_program(main))
