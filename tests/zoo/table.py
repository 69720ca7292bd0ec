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

Models of {versions}, as they are, each in a scene with its own options
(`MujocoCfg.from_file`): 4 worlds and {steps} steps with random controls on the native
engine, against MuJoCo {mujoco} stepping the file alone. "Equal" is to the last bit of
float64. Where a file leaves the form of the Jacobian open, both take the engine's
(sparse above 32 degrees of freedom; MuJoCo alone would begin at 60), since forms differ
in rounding. Files of several roots are whole scenes (`SceneCfg(source=file)`).

{readable} of {total} files can be read by MuJoCo, and {equal} of these are equal.
`tests/zoo` also tests resets, defaults, writers, snapshots, values per world and
contacts of each, and of the models of this project.

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
