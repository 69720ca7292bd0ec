"""`scene`: write the scene of a task as MJCF."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.line import TaskOptions, read_line
from mjlab.cli.tasks import need_task
from mjlab.registry import load_task
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class SceneOptions(TaskOptions):
    """Write the scene of a task as MJCF.

    Includes terrain, robots, sensors and their asset files. MuJoCo's viewer opens it:
    python -m mujoco.viewer --mjcf=FOLDER/scene.xml
    """

    program = "scene.py"
    examples = (
        "Velocity-Go1-Flat",
        "Velocity-G1 --out rough.zip --env.seed 3",
    )

    task: Positional[str | None] = None
    """Task id, such as Velocity-Go1-Flat."""

    out: Path | None = None
    """New folder, or new zip file, to write to. Default: scene_TASK in this folder."""


def main(arguments: Sequence[str]) -> None:
    """Write the scene of the task as MJCF."""
    line = read_line(SceneOptions, arguments)
    entry = need_task(line.options.task, line.options.program)
    prepare_threads()
    cfg = line.apply({"env": load_task(entry.id).env()})["env"]
    from mjlab.envs.build import load
    from mjlab.sim.compile import apply_options

    out = line.options.out or Path(f"scene_{entry.id}")
    loaded = load(cfg)
    apply_options(loaded.built.spec, cfg.sim.mujoco)
    loaded.built.write(out, zip=out.suffix == ".zip")
    model = loaded.model
    bodies = model.nbody - 1  # Without the world body.
    print(f"Wrote {out}: {bodies} bodies, {model.njnt} joints, {model.nu} actuators.")
