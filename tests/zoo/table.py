"""Write docs/reference/foreign_models.md: `python -m tests.zoo.table`."""

import logging
from importlib.metadata import version
from pathlib import Path

import mujoco
import numpy as np

from tests.zoo import zoo

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/foreign_models.md"
STEPS = 200

HEAD = """# Foreign models

<!-- Made by `python -m tests.zoo.table`. -->

Unmodified models of {versions}, each in a scene with the options of its file
(`MujocoCfg.from_file`): 4 worlds and {steps} steps with random controls on the native
engine, compared with MuJoCo {mujoco} stepping the file alone. "Equal" means equal to
the last bit of float64. If a file does not select dense or sparse Jacobians, both sides
use this engine's choice (sparse above 32 degrees of freedom; MuJoCo alone would switch
at 60), because the two forms round differently. Files with several roots are whole
scenes (`SceneCfg(source=file)`).

MuJoCo can read {readable} of {total} files, and {equal} of these are equal.
`tests/zoo` also tests resets, defaults, writers, snapshots, per-world values and
contacts of each file, and of the models of this project.

| File | Roots | {steps} steps |
| --- | --- | --- |
"""


def row(file: str) -> tuple[str, str]:
    """Return the row of a file, and its result: "unreadable", "equal" or "close"."""
    if reason := zoo.unreadable(file):
        return f"| `{file}` | | MuJoCo cannot read it: {reason} |", "unreadable"
    world = zoo.worlds(file)
    data = [mujoco.MjData(world.file) for _ in range(zoo.NUM_ENVS)]
    world.state(data)
    worst = 0.0
    for _ in range(STEPS):
        world.step(data, [world.file] * zoo.NUM_ENVS)
        found = world.sim.engine.batch.qpos
        apart = [
            np.abs(found[i] - each.qpos).max(initial=0.0) for i, each in enumerate(data)
        ]
        worst = max(worst, *apart)
    said = "equal" if worst == 0.0 else f"at most {worst:.0e} apart"
    return f"| `{file}` | {zoo.roots(file)} | {said} |", said.split(" ")[0]


def main() -> None:
    logging.disable(logging.CRITICAL)
    rows = []
    for file in zoo.files():
        rows.append(row(file))
        print(rows[-1][0], flush=True)
    results = [result for _, result in rows]
    head = HEAD.format(
        versions=", ".join(f"{name} {version(name)}" for name in zoo.PACKAGES),
        mujoco=mujoco.__version__,
        steps=STEPS,
        total=len(rows),
        readable=len(rows) - results.count("unreadable"),
        equal=results.count("equal"),
    )
    PAGE.write_text(head + "\n".join(line for line, _ in rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
