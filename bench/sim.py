"""Physics rates of this project compared with the bare engine, in alternating blocks.

    python bench/sim.py --robot g1 --num-envs 256
    python bench/sim.py --robot g1 --num-envs 4096 --engine warp

Both run the same steps of the same worlds in one process, so that other load on the
machine affects both alike. `--engine` selects native MuJoCo or MuJoCo Warp.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import mujoco
import numpy as np
import torch
from mujoco import batch as mj_batch

from bench.record import save
from mjlab.cli.progress import tell_progress
from mjlab.cli.speed import resident_bytes
from mjlab.scene import SceneCfg, build_scene
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, Stage, compile_model
from mjlab.tasks.robots import g1, go1
from mjlab.terrain import TerrainCfg

FIELDS = "xpos xquat cvel site_xpos subtree_com sensordata actuator_force qacc".split()
"""Derived fields that a locomotion task reads, bound on both sides."""

Block = Callable[[], None]


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--robot", choices=["g1", "go1"], default="g1")
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--engine", choices=["native", "warp"], default="native")
    parser.add_argument("--blocks", type=int, default=15, help="pairs of blocks")
    parser.add_argument("--steps", type=int, default=20, help="steps of a block")
    args = parser.parse_args()

    cfg = SimulationCfg(
        backend=args.engine,
        mujoco=MujocoCfg(timestep=0.005, iterations=10, ls_iterations=20),
    )
    model = robot_model(args.robot, cfg)
    before = resident_bytes()
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    sim = Simulation(
        model, args.num_envs, cfg, device=device if args.engine == "warp" else "cpu"
    )
    start_standing(sim)
    for _ in range(5):  # A world's memory becomes resident when contacts first use it.
        sim.step()
    memory = resident_bytes() - before
    bare = bare_native(sim) if args.engine == "native" else bare_warp(sim)
    with torch_threads(1):
        ours, theirs = measure(sim, bare, args.blocks, args.steps)
    report(args, sim, ours, theirs, memory)


def robot_model(robot: str, cfg: SimulationCfg) -> mujoco.MjModel:
    """Return the compiled model of a robot on a plane."""
    entity = {"g1": g1.g1_cfg, "go1": go1.go1_cfg}[robot]()
    scene = SceneCfg(terrain=TerrainCfg(), entities={"robot": entity})
    return compile_model(build_scene(scene).spec, cfg)


def start_standing(sim: Simulation) -> None:
    """Set every world to the initial state, with its joint targets as controls."""
    key = sim.mj_model.key(0)
    sim.data.qpos.copy_(
        torch.from_numpy(key.qpos).to(sim.device).expand_as(sim.data.qpos)
    )
    sim.data.ctrl.copy_(
        torch.from_numpy(key.ctrl).to(sim.device).expand_as(sim.data.ctrl)
    )
    for name in FIELDS:
        getattr(sim.data, name)
    sim.forward(Stage.ACCELERATION)


def bare_native(sim: Simulation) -> tuple[Block, Block]:
    """Return functions that step and synchronise a batch with the same bound fields."""
    batch = mj_batch.Batch(sim.mj_model, sim.num_envs, persistent=True)
    batch.reset(keyframe=0)
    for name in FIELDS:
        batch.bind(name)
    controls = batch.bind("ctrl")
    source = sim.data.ctrl.numpy()

    def step() -> None:
        np.copyto(controls, source)
        batch.step()

    return step, lambda: None


def bare_warp(sim: Simulation) -> tuple[Block, Block]:
    """Return functions that step MuJoCo Warp in a graph, and synchronise the device."""
    import mujoco_warp as mjw
    import warp as wp

    device = str(sim.device)
    sizes = sim.engine.sizes
    with wp.ScopedDevice(device):
        model = mjw.put_model(sim.mj_model)
        model.opt.warn_overflow = 0
        data = mjw.make_data(
            sim.mj_model,
            sim.num_envs,
            nconmax=sizes.nconmax,
            njmax=sizes.njmax,
            njmax_nnz=sizes.njmax_nnz,
            nccdmax=sizes.nccdmax,
        )
        for name in ("qpos", "ctrl"):
            target = wp.to_torch(getattr(data, name))
            target.copy_(getattr(sim.data, name))
        mjw.step(model, data)
        with wp.ScopedCapture(device) as capture:
            mjw.step(model, data)

    def sync() -> None:
        wp.synchronize_device(device)

    graph = capture.graph
    assert graph is not None
    return lambda: wp.capture_launch(graph), sync


def measure(
    sim: Simulation, bare: tuple[Block, Block], blocks: int, steps: int
) -> tuple[list[float], list[float]]:
    """Return seconds per step of this project and of the bare engine, by block."""
    random = torch.Generator(device=sim.device).manual_seed(0)
    standing = sim.data.ctrl.clone()
    step_bare, sync = bare
    ours: list[float] = []
    theirs: list[float] = []
    tell = tell_progress("physics", "block", every=1)
    for block in range(blocks + 1):
        noise = torch.randn(standing.shape, generator=random, device=sim.device)
        sim.data.ctrl.copy_(standing + 0.2 * noise)
        pairs = [(ours, sim.step), (theirs, step_bare)]
        for times, step in pairs if block % 2 else reversed(pairs):
            sync()
            start = time.perf_counter()
            for _ in range(steps):
                step()
            sync()
            if block:  # The first pair warms up.
                times.append((time.perf_counter() - start) / steps)
        tell(block, blocks)
    return ours, theirs


def report(
    args: argparse.Namespace,
    sim: Simulation,
    ours: list[float],
    theirs: list[float],
    memory: int,
) -> None:
    """Print the figures and save them."""
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    figures = {
        "robot": args.robot,
        "engine": args.engine,
        "device": str(sim.device),
        "num_envs": args.num_envs,
        "blocks": args.blocks,
        "steps_per_block": args.steps,
        "torch_threads": 1,
        "steps_per_s": args.num_envs / statistics.median(ours),
        "bare_steps_per_s": args.num_envs / statistics.median(theirs),
        "share_of_bare": statistics.median(ratios),
        "share_of_bare_spread": [min(ratios), max(ratios)],
        "resident_bytes_per_world": memory / args.num_envs,
    }
    name = f"sim_{args.engine}_{args.robot}_{args.num_envs}"
    path = save(name, figures)
    print(
        f"{args.robot} x {args.num_envs} on {args.engine} ({sim.device}): "
        f"{figures['steps_per_s']:,.0f} steps/s, bare engine "
        f"{figures['bare_steps_per_s']:,.0f}; ratio "
        f"{figures['share_of_bare']:.3f} (blocks {min(ratios):.3f} to "
        f"{max(ratios):.3f}); {memory / args.num_envs / 2**20:.2f} MB RSS per world"
    )
    print(f"saved {path}")


if __name__ == "__main__":
    main()
