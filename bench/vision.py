"""Rendering time of many small worlds: MuJoCo's renderer compared with ray casting.

    MUJOCO_GL=egl python bench/vision.py
    MUJOCO_GL=egl python bench/vision.py --scenes gallery --rounds 9

All methods render the same depth images of the same worlds, in alternation: the
renderer, one world at a time (`full`), `Batch.ray` of `mujoco.batch`, `mj_multiRay`
in threads, and the kernels of `RayRendererCfg` (`rays`), which render all requested
image types. For the first three, only the call itself is timed, without processing
of its results.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import mujoco
import numpy as np
import torch

from bench.record import save
from mjlab.random import WorldRng
from mjlab.render import RayRendererCfg
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sensor import CameraSensorCfg, ObjRef, PinholePatternCfg, bind_sensors
from mjlab.sim import Simulation, SimulationCfg, compile_model
from mjlab.tasks.manipulation import LiftYamCfg
from mjlab.tasks.velocity import G1
from tests.worlds.gallery import XML as GALLERY

EYES = {
    "gallery": CameraSensorCfg(name="eye", camera="eye"),
    "lift": CameraSensorCfg(name="eye", camera="robot/camera_d405"),
    "rough": CameraSensorCfg(
        name="eye",
        parent=ObjRef(type="body", name="torso_link", entity="robot"),
        pos=(0.1, 0.0, 0.4),
        quat=(0.6, 0.38, -0.38, -0.6),
        fovy=70.0,
    ),
}


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scenes", nargs="+", choices=EYES, default=list(EYES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, default=32, help="width and height, pixels")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worlds", type=int, nargs="*", default=[16, 64, 256, 1024])
    args = parser.parse_args()
    figures: dict[str, Any] = {"settings": vars(args)}
    with torch_threads(1):
        for name in args.scenes:
            figures[name] = compare(name, args)
            print(name, figures[name])
        figures["by_worlds"] = growth(args)
        print("ms by worlds", figures["by_worlds"])
    print(save("vision", figures))


def compare(name: str, args: argparse.Namespace) -> dict[str, float]:
    """Return the median time of each method in ms, measured in alternation."""
    ways = {}
    for way, renderer in (("full", None), ("rays", RayRendererCfg())):
        sim, sensors = worlds(name, args.num_envs, args, renderer)
        ways[way] = drawing(sim, sensors["eye"])
    sim, _ = worlds(name, args.num_envs, args, RayRendererCfg())
    ways |= mujoco_rays(sim, args)
    times: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(args.rounds + 1):
        for way, draw in ways.items():
            start = time.perf_counter()
            draw()
            if turn:  # The first round is warm-up.
                times[way].append(1e3 * (time.perf_counter() - start))
    median = {way: statistics.median(each) for way, each in times.items()}
    pairs = zip(times["full"], times["rays"], strict=True)
    ratio = statistics.median(full / rays for full, rays in pairs)
    return median | {"full_by_rays": ratio, "geoms": float(sim.mj_model.ngeom)}


def growth(args: argparse.Namespace) -> dict[int, float]:
    """Return the minimum time of ray casting in ms, by number of gallery worlds."""
    found = {}
    for count in args.worlds:
        sim, sensors = worlds("gallery", count, args, RayRendererCfg())
        draw, times = drawing(sim, sensors["eye"]), []
        for _ in range(args.rounds + 1):
            start = time.perf_counter()
            draw()
            times.append(1e3 * (time.perf_counter() - start))
        found[count] = min(times)
    return found


def worlds(
    name: str, count: int, args: argparse.Namespace, renderer: RayRendererCfg | None
) -> tuple[Simulation, Any]:
    """Return worlds in their initial state, and their camera."""
    eye = replace(
        EYES[name],
        width=args.size,
        height=args.size,
        data_types=("depth",),
        use_textures=False,
        renderer=renderer,
    )
    if name == "gallery":
        spec = mujoco.MjSpec.from_string(GALLERY)
        eye.edit_spec(spec)
        cfg = SimulationCfg(backend="native", num_threads=args.threads)
        sim = Simulation(compile_model(spec, cfg), count, cfg, device="cpu")
        sensors = bind_sensors([eye], sim)
    else:
        task: Any = LiftYamCfg() if name == "lift" else G1.env()
        sim, sensors = of_task(task.scene, task.sim, eye, count, args)
    sim.forward()
    sim.sense()
    return sim, sensors


def of_task(
    scene: SceneCfg,
    cfg: SimulationCfg,
    eye: CameraSensorCfg,
    count: int,
    args: argparse.Namespace,
) -> tuple[Simulation, Any]:
    """Return a task's worlds with only the camera sensor."""
    scene = replace(scene, num_envs=count, sensors=(eye,))
    cfg = replace(cfg, backend="native", num_threads=args.threads)
    built = build_scene(scene)
    sim = Simulation(compile_model(built.spec, cfg), count, cfg, device="cpu")
    return sim, Scene(scene, built, sim, WorldRng(count, 0, sim.device)).sensors


def drawing(sim: Simulation, sensor: Any) -> Callable[[], None]:
    """Return a function that renders all worlds."""
    everyone = torch.ones(sim.num_envs, dtype=torch.bool)

    def draw() -> None:
        sensor.reset(everyone)
        sim.sense()

    return draw


def mujoco_rays(
    sim: Simulation, args: argparse.Namespace
) -> dict[str, Callable[[], object]]:
    """Return functions that cast one ray per pixel with MuJoCo."""
    batch, model = sim.engine.batch, sim.mj_model
    assert batch is not None
    _, local = PinholePatternCfg(width=args.size, height=args.size).rays()
    camera = model.ncam - 1
    starts = sim.data.cam_xpos[:, camera, None].numpy().astype(np.float64)
    axes = sim.data.cam_xmat[:, camera].numpy().astype(np.float64)
    rays = np.ascontiguousarray(np.einsum("nij,rj->nri", axes, local))
    groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
    every = [batch.get_data(world) for world in range(sim.num_envs)]
    pool = ThreadPoolExecutor(args.threads)
    shape = (len(local),)

    def world(index: int) -> None:
        mujoco.mj_multiRay(
            model,
            every[index],
            starts[index, 0],
            rays[index].ravel(),
            groups,
            1,
            -1,
            np.zeros(shape, np.int32),
            np.zeros(shape),
            None,
            len(local),
            mujoco.mjMAXVAL,
        )

    return {
        "batch_ray": lambda: batch.ray(starts, rays, groups),
        "multi_ray": lambda: list(pool.map(world, range(sim.num_envs))),
    }


if __name__ == "__main__":
    main()
