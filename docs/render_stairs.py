"""Draw `docs/images/stairs.png`: Velocity-Go1-Stairs on each kind of tile.

    python docs/render_stairs.py
    python docs/render_stairs.py --film stairs.mp4

Above, the robot after some seconds; below, the newest depth image of the camera of
Velocity-Go1-Sight, with noise and holes. `--film` also saves a video of these worlds.
"""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

import numpy as np
from PIL import Image

from bench.crossings import exam_of
from mjlab.envs import ManagerBasedRlEnv, Rollout
from mjlab.render import Offscreen, Video
from mjlab.rl import load_policy
from mjlab.runs import find
from mjlab.tasks.velocity.go1_sight import eye, sight_observations

WIDTH, HEIGHT = 480, 320
DIFFICULTY = 0.7
SECONDS = 2.6
SCALE = WIDTH // 32


def main() -> None:
    """Let the policy walk, and save the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--policy", default="Velocity-Go1-Stairs")
    parser.add_argument("--film", type=Path, default=None, help="video to save")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--picture", type=Path, default=None, help="default: docs")
    args = parser.parse_args()
    at = find(args.policy)
    configs = at.run.configs()
    env = ManagerBasedRlEnv(scene_of(configs["env"]), device="cpu")
    rollout = Rollout(
        env, load_policy(at.choose_checkpoint(), env, configs["agent"]), seed=3
    )
    chosen = one_of_each(env)
    view = dataclasses.replace(
        env.cfg.viewer, width=WIDTH, height=HEIGHT, distance=1.9, elevation=-20.0
    )
    steps = round(args.seconds / env.step_dt)
    film = Video(args.film, 25) if args.film else None
    with Offscreen(env.sim, env.scene, view, worlds=chosen) as canvas:
        for step in range(steps):
            rollout.step()
            if film is not None and step % 2 == 0:
                film.add(stacked(canvas, rollout, chosen))
        picture = stacked(canvas, rollout, chosen)
    if film is not None:
        film.close()
    path = args.picture or Path(__file__).parent / "images" / "stairs.png"
    Image.fromarray(picture).save(path, optimize=True)
    print(path)


def scene_of(cfg: Any) -> Any:
    """Return new terrain of one difficulty, a camera, and commands of 0.7 m/s."""
    cfg = exam_of(cfg, 32)
    if "camera" not in cfg.observations:
        cfg.scene.sensors = (*cfg.scene.sensors, eye())
        cfg.observations["camera"] = sight_observations()["camera"]
    generator = cfg.scene.terrain.generator
    cfg.scene.terrain.generator = dataclasses.replace(
        generator, num_rows=1, difficulty_range=(DIFFICULTY, DIFFICULTY)
    )
    cfg.commands["twist"].ranges.lin_vel_x = (0.7, 0.7)
    cfg.terminations["crossed"] = None
    cfg.outcomes = {}
    return cfg


def one_of_each(env: ManagerBasedRlEnv) -> list[int]:
    """Return the first world of each kind of tile."""
    ground = env.scene.ground
    assert ground is not None
    kinds = [ground.terrain.column_kinds[i] for i in ground.columns.tolist()]
    return [kinds.index(kind) for kind in dict.fromkeys(ground.terrain.column_kinds)]


def stacked(canvas: Offscreen, rollout: Rollout, worlds: list[int]) -> np.ndarray:
    """Return the worlds side by side, each above its newest depth image."""
    seen: Any = rollout.observations["camera"]
    columns = []
    for world, picture in zip(worlds, canvas.pictures(), strict=True):
        depth = np.kron(seen[world, -1].numpy(), np.ones((SCALE, SCALE), np.uint8))
        columns.append(np.vstack((picture, np.repeat(depth[..., None], 3, axis=-1))))
    return np.hstack(columns)


if __name__ == "__main__":
    main()
