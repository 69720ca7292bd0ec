"""Cost of a step with different objects per world, compared with one object.

    python bench/variants.py
    python bench/variants.py --engine warp --num-envs 64

Five objects: a box, a sphere, a capsule, a mesh, and a cabinet of two joints. The first
four share a tree (fast path); with the cabinet there are two (general path). All scenes
throw the same objects from the same states and are stepped in alternating blocks.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import mujoco
import torch

from bench.record import save
from mjlab.entity import EntityCfg, InitialStateCfg
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from mjlab.terrain import TerrainCfg
from mjlab.views import VariantsCfg

SHAPES = {
    "box": 'type="box" size=".05 .06 .07" mass=".3"',
    "sphere": 'type="sphere" size=".06" mass=".2"',
    "capsule": 'type="capsule" size=".03 .05" mass=".25"',
    "mesh": 'type="mesh" mesh="wedge" density="700"',
}
FREE = """<mujoco><asset><mesh name="wedge" vertex="-.05 -.05 -.03 .06 -.05 -.03
  .06 .05 -.03 -.05 .05 -.03 0 0 .08"/></asset><worldbody><body name="{name}">
  <freejoint/><geom {shape}/></body></worldbody></mujoco>"""
CABINET = """<mujoco><worldbody><body name="case">
  <geom type="box" size=".1 .02 .15" pos="0 .1 0"/>
  <body name="door" pos=".1 0 0"><joint axis="0 0 1" range="-1.5 1.5" damping=".05"/>
    <geom type="box" size=".1 .01 .14" pos="-.1 0 0" mass=".5"/></body>
  <body name="drawer" pos="0 -.05 -.05">
    <joint type="slide" axis="0 1 0" range="-.2 0" damping=".3" frictionloss=".1"/>
    <geom type="box" size=".08 .02 .03" mass=".4"/></body>
  </body></worldbody></mujoco>"""


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--engine", choices=["native", "warp"], default="native")
    parser.add_argument("--blocks", type=int, default=41, help="rounds of blocks")
    parser.add_argument("--steps", type=int, default=50, help="steps of a block")
    parser.add_argument("--threads", type=int, default=None, help="engine threads")
    args = parser.parse_args()

    everything = objects()
    free = {name: cfg for name, cfg in everything.items() if name in SHAPES}
    entities: dict[str, EntityCfg | VariantsCfg] = {
        **everything,
        "fast": in_turns(free, args.num_envs),
        "general": in_turns(everything, args.num_envs),
    }
    scenes = {name: scene(cfg, args) for name, cfg in entities.items()}
    with torch_threads(1):
        times = measure(scenes, args.blocks, args.steps)
    report(args, times, list(free), list(everything))


def objects() -> dict[str, EntityCfg]:
    """The five objects."""
    start = InitialStateCfg(pos=(0.0, 0.0, 0.2))
    sources = {name: FREE.format(name=name, shape=s) for name, s in SHAPES.items()}
    return {
        name: EntityCfg(source=mujoco.MjSpec.from_string(xml), init_state=start)
        for name, xml in (*sources.items(), ("cabinet", CABINET))
    }


def in_turns(options: dict[str, EntityCfg], num_envs: int) -> VariantsCfg:
    """Assign each option to the same number of worlds, for comparison with the mean."""
    names = list(options)
    listed = tuple(names[world % len(names)] for world in range(num_envs))
    return VariantsCfg(options=options, assignment=listed)


def scene(entity: EntityCfg | VariantsCfg, args: argparse.Namespace) -> Scene:
    """Return a scene with a plane and one entity."""
    cfg = SceneCfg(
        num_envs=args.num_envs, terrain=TerrainCfg(), entities={"object": entity}
    )
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    sim_cfg = SimulationCfg(
        backend=args.engine,
        num_threads=args.threads,
        mujoco=MujocoCfg(timestep=0.005),
    )
    built = build_scene(cfg)
    sim = Simulation(
        compile_model(built.spec, sim_cfg),
        args.num_envs,
        sim_cfg,
        device=device if args.engine == "warp" else "cpu",
    )
    return Scene(cfg, built, sim, WorldRng(args.num_envs, 0, sim.device))


def throw(scene: Scene, seed: int) -> None:
    """Place objects in the air with random velocities; inactive parts stay at rest."""
    everyone = torch.ones(scene.num_envs, dtype=torch.bool, device=scene.sim.device)
    random = torch.Generator().manual_seed(seed)
    scene.sim.reset()
    for number, entity in enumerate(scene.entities.values()):
        used = everyone
        if scene.variants:
            used = scene.variants["object"].which == number
        entity.reset_to_default(everyone)
        turn = torch.randn(scene.num_envs, 6, generator=random).to(used.device)
        joints = torch.randn(scene.num_envs, 2, generator=random).to(used.device)
        if not entity.is_fixed_base:
            entity.write_root_velocity_w(used, turn)
        if entity.num_joints:
            entity.write_joint_vel(used, 3.0 * joints[:, : entity.num_joints])
    scene.sim.forward()


def measure(
    scenes: dict[str, Scene], blocks: int, steps: int
) -> dict[str, list[float]]:
    """Return seconds per step of each scene, by block."""
    times: dict[str, list[float]] = {name: [] for name in scenes}
    for block in range(blocks + 1):
        order = list(scenes)
        shift = block % len(order)
        for name in (*order[shift:], *order[:shift]):
            throw(scenes[name], block)
            synchronize(scenes[name])
            start = time.perf_counter()
            for _ in range(steps):
                scenes[name].sim.step()
            synchronize(scenes[name])
            if block:  # The first round is warm-up.
                times[name].append((time.perf_counter() - start) / steps)
    return times


def synchronize(scene: Scene) -> None:
    """Wait until the device has finished."""
    if scene.sim.device.type == "cuda":
        torch.cuda.synchronize()


def report(
    args: argparse.Namespace,
    times: dict[str, list[float]],
    free: list[str],
    everything: list[str],
) -> None:
    """Print the figures and save them."""
    figures = {
        "engine": args.engine,
        "num_envs": args.num_envs,
        "threads": args.threads,
        "blocks": args.blocks,
        "steps_per_block": args.steps,
        "torch_threads": 1,
        "us_per_step": {n: 1e6 * statistics.median(t) for n, t in times.items()},
    }
    spread: dict[str, list[float]] = {}
    # Relative to the mean of the single-object scenes in the same round. The fast path
    # has no cabinet, but is compared with the mean of all five as well.
    ratios = {
        "fast_to_its_four": paired(times, "fast", free),
        "fast_to_all_five": paired(times, "fast", everything),
        "general_to_all_five": paired(times, "general", everything),
    }
    for name, values in ratios.items():
        quarters = statistics.quantiles(values, n=4)
        figures[name] = statistics.median(values)
        spread[name] = [quarters[0], quarters[2]]
        print(
            f"{name}: {figures[name]:.3f} (quartiles {quarters[0]:.3f} to "
            f"{quarters[2]:.3f})"
        )
    figures["quartiles"] = spread
    suffix = "" if args.engine == "native" else f"_{args.engine}"
    print(f"saved {save(f'variants{suffix}', figures)}")


def paired(times: dict[str, list[float]], name: str, alone: list[str]) -> list[float]:
    """Return the ratio of a scene to the mean of the single-object scenes, by round."""
    return [
        own / statistics.fmean(times[other][block] for other in alone)
        for block, own in enumerate(times[name])
    ]


if __name__ == "__main__":
    main()
