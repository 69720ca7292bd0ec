"""Environment steps per second compared with mjlab 1.6 (same import name, `mjlab`).

    python -m venv ../peer && ../peer/bin/pip install torch==2.13.0 mjlab==1.6.0
    python bench/peer.py ../peer/bin/python

Each project runs in a separate process, with its own task for the same robot, and waits
while the other project steps. Each pair of blocks gives one ratio, so that the load of
a shared machine cancels. mjlab runs MuJoCo Warp on the CPU; this project runs MuJoCo C.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TASKS = {
    "Cartpole-Balance": "Mjlab-Cartpole-Balance",
    "Velocity-G1-Flat": "Mjlab-Velocity-Flat-Unitree-G1",
    "Velocity-Go1-Flat": "Mjlab-Velocity-Flat-Unitree-Go1",
    "Velocity-G1": "Mjlab-Velocity-Rough-Unitree-G1",
    "Velocity-Go1": "Mjlab-Velocity-Rough-Unitree-Go1",
}
"""Task ids of mjlab, by task id of this project."""

POINTS = (
    "Cartpole-Balance:256",
    "Velocity-Go1-Flat:256",
    "Velocity-G1-Flat:256",
    "Velocity-Go1:256",
    "Velocity-G1:256",
)


class Side:
    """Environment of one project in a process that runs blocks of steps on request."""

    def __init__(
        self,
        task: str,
        num_envs: int,
        device: str,
        *,
        backend: str = "auto",
        python: str = sys.executable,
        site: str | None = None,
    ) -> None:
        """Start the process and build the environment.

        Args:
            task: Task id of this project.
            num_envs: Number of worlds.
            device: Torch device.
            backend: Engine of this project; mjlab ignores it.
            python: Python interpreter with the packages of the project.
            site: Folder that is searched first for packages.
        """
        settings = {"task": task, "num_envs": num_envs, "device": device}
        paths = [site, os.environ.get("PYTHONPATH")]
        path = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self._process = subprocess.Popen(
            [python, __file__, "--side", json.dumps(settings | {"backend": backend})],
            env=os.environ | {"PYTHONSAFEPATH": "1"} | path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.facts = self._answer()
        """Versions, number of physics steps per step, and seconds to build."""

    def step_s(self, steps: int) -> float:
        """Return the seconds per environment step in a block of `steps`."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return self._answer() / steps

    def close(self) -> None:
        """End the process of the project."""
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"A worker process ended with code {self._process.wait()}."
            )
        return json.loads(line)


def run_side(settings: dict[str, Any]) -> None:
    """Build the environment, then run a block for each number on standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Libraries print to standard error, so answers stay separate.
    start = time.perf_counter()
    env = build(**settings)
    env.reset()
    import torch

    torch.set_num_threads(1)
    facts = versions() | {
        "timestep_s": env.cfg.sim.mujoco.timestep,
        "decimation": env.cfg.decimation,
        "build_s": time.perf_counter() - start,
    }
    print(json.dumps(facts), file=answers, flush=True)
    wait = (lambda: None) if settings["device"] == "cpu" else torch.cuda.synchronize
    for line in sys.stdin:
        size = (int(line), env.num_envs, env.action_manager.total_action_dim)
        actions = torch.randn(size, device=settings["device"])
        wait()
        start = time.perf_counter()
        for action in actions:
            env.step(action)
        wait()
        print(time.perf_counter() - start, file=answers, flush=True)


def build(task: str, num_envs: int, device: str, backend: str) -> Any:
    """Return the environment of the project that this interpreter imports."""
    envs = importlib.import_module("mjlab.envs")
    try:
        load_task = importlib.import_module("mjlab.registry").load_task
    except ModuleNotFoundError:
        importlib.import_module("mjlab.tasks")
        cfg = importlib.import_module("mjlab.tasks.registry").load_env_cfg(TASKS[task])
    else:
        cfg = load_task(task).env()
        cfg.sim.backend = backend
        if backend == "warp":
            cfg.sim.nconmax = 256
    cfg.scene.num_envs = num_envs
    return envs.ManagerBasedRlEnv(cfg, device=device)


def versions() -> dict[str, str]:
    """Return the versions of the packages that this interpreter imports."""
    metadata = importlib.import_module("importlib.metadata")
    found = {}
    for package in ("mjlab", "mjlab-fused", "mujoco", "mujoco-warp", "torch"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def compare(python: str, point: str, *, pairs: int) -> dict[str, Any]:
    """Return the steps per second of both projects on a CPU, from pairs of blocks."""
    task, num_envs = point.split(":")
    ours = Side(task, int(num_envs), "cpu", backend="native", site=str(ROOT))
    theirs = Side(task, int(num_envs), "cpu", python=python)
    times = [(ours.step_s(20), theirs.step_s(2)) for _ in range(pairs + 1)][1:]
    for side in (ours, theirs):
        side.close()
    ratios = sorted(b / a for a, b in times)
    return {
        "steps_per_s": int(num_envs) / statistics.median(a for a, _ in times),
        "mjlab_steps_per_s": int(num_envs) / statistics.median(b for _, b in times),
        "times_as_fast": statistics.median(ratios),
        "lowest": ratios[0],
        "highest": ratios[-1],
        "this": ours.facts,
        "mjlab": theirs.facts,
    }


def main() -> None:
    """Compare both projects, print the figures and save them."""
    sys.path.insert(0, str(ROOT))
    from bench.record import save

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", help="interpreter with mjlab 1.6")
    parser.add_argument("--points", nargs="+", default=POINTS, metavar="TASK:WORLDS")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of blocks")
    args = parser.parse_args()
    figures: dict[str, Any] = {"pairs": args.pairs, "load": os.getloadavg()}
    figures["points"] = {}
    for point in args.points:
        found = compare(args.python, point, pairs=args.pairs)
        figures["points"][point] = found
        print(
            f"{point}: {found['steps_per_s']:,.0f} env steps/s, mjlab "
            f"{found['mjlab_steps_per_s']:,.0f}: {found['times_as_fast']:.1f} times "
            f"({found['lowest']:.1f} to {found['highest']:.1f})",
            flush=True,
        )
        print(f"saved {save('peer', figures)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        run_side(json.loads(sys.argv[2]))
    else:
        main()
