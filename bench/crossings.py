"""Crossings of stairs, blocks and gaps by walking policies.

    python bench/crossings.py Velocity-Go1-Stairs Velocity-Go1-Sight --episodes 100
    python bench/crossings.py Velocity-Go1-Sight --variations

Each episode starts at the centre of a tile of terrain with another random seed than in
training, 25 rows, and the same proportion of each tile type. The command is to walk in
a random direction. The episode ends at the edge of the tile (success), after a fall, or
after 20 s. Sensor noise, delays, pushes and friction are randomised as in training.
`--variations` repeats the measurement with other image delays, noise and holes, and
with the camera displaced and turned.
"""

import argparse
import copy
import dataclasses
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.blind_go1 import BlindGo1Cfg, blind_rl
from bench.record import save
from mjlab.envs import ManagerBasedRlEnv, Rollout
from mjlab.managers import (
    EventTermCfg,
    OutcomeTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.managers.managed_env import ManagedEnv
from mjlab.mdp import randomize
from mjlab.rl import load_policy
from mjlab.runs import find
from mjlab.spec import CameraCfg
from mjlab.tasks.velocity.go1_sight import EYE
from mjlab.tensors.buffers import DelayCfg

SEED = 20261129
"""Seed of the terrain and of the episodes."""

DIFFICULTIES = (0.5, 0.9)
"""Difficulty of the first and last row; 1 is the last row of training."""

EDGE = 3.6
"""Distance from the tile's centre, along x or y, at which it is crossed, m."""


def main() -> None:
    """Measure the policies, print success rates and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("places", nargs="+", help="tasks, runs or checkpoints")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--variations", action="store_true", help="vary the images")
    parser.add_argument("--name", default="crossings", help="name of the results file")
    args = parser.parse_args()
    found = []
    for place in args.places:
        chosen = (
            VARIATIONS if args.variations else {"as trained": VARIATIONS["as trained"]}
        )
        for name, change in chosen.items():
            row = measure(place, args.episodes, change)
            found.append({"images": name, **row})
            kinds = "  ".join(
                f"{kind} {one['crossed']}/{one['episodes']}"
                for kind, one in row["tiles"].items()
            )
            print(f"{place} ({name}): {kinds}  falls {row['falls']}", flush=True)
    about = {"seed": SEED, "difficulties": DIFFICULTIES, "episodes": args.episodes}
    print(f"saved {save(args.name, about | {'policies': found})}")


def measure(place: str, episodes: int, change: Callable[[Any], None]) -> dict[str, Any]:
    """Return crossings by kind of tile, and falls."""
    at = find(place)
    control = {"env": BlindGo1Cfg(), "agent": blind_rl()}
    configs = at.run.configs(control if at.run.task == "blind_go1" else None)
    checkpoint = at.choose_checkpoint()
    cfg = exam_of(configs["env"], episodes)
    change(cfg)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    policy = load_policy(checkpoint, env, configs["agent"])
    ended = {name: torch.zeros(episodes, dtype=torch.bool) for name in _OUTCOMES}
    with torch_threads(1):
        rollout = Rollout(env, policy, seed=SEED)
        policy.reset()
        for _ in range(env.max_episode_length):
            stepped = rollout.step()
            for name, flags in ended.items():
                flags |= env.outcome_manager.now(name) & stepped
    ground = env.scene.ground
    assert ground is not None
    kinds = [ground.terrain.column_kinds[i] for i in ground.columns.tolist()]
    tiles: dict[str, dict[str, int]] = {}
    for kind in ["all", *sorted(set(kinds))]:
        own = torch.tensor([kind in ("all", each) for each in kinds])
        tiles[kind] = {
            "episodes": int(own.sum()),
            "crossed": int((ended["success"] & own).sum()),
            "falls": int((ended["fail"] & own).sum()),
        }
    return {
        "run": at.run.info() | {"checkpoint": checkpoint.name},
        "tiles": tiles,
        "falls": tiles["all"]["falls"],
    }


def exam_of(cfg: Any, episodes: int) -> Any:
    """Return a configuration with new terrain, and episodes that end at the edge."""
    cfg = copy.deepcopy(cfg)
    cfg.seed, cfg.scene.num_envs = SEED, episodes
    terrain = cfg.scene.terrain
    kinds = {
        name: dataclasses.replace(kind, proportion=1.0)
        for name, kind in terrain.generator.sub_terrains.items()
    }
    terrain.generator = dataclasses.replace(
        terrain.generator,
        sub_terrains=kinds,
        seed=SEED,
        num_rows=25,
        difficulty_range=DIFFICULTIES,
    )
    terrain.max_init_terrain_level = None
    cfg.curriculum = {}
    cfg.commands["twist"].rel_standing_envs = 0.0
    cfg.terminations["crossed"] = TerminationTermCfg(func=crossed, time_out=True)
    cfg.outcomes = {**cfg.outcomes, "success": OutcomeTermCfg(func=crossed)}
    return cfg


def crossed(env: ManagedEnv) -> torch.Tensor:
    """Return True for robots at the edge of their tile."""
    place = env.scene.entity("robot").data.root_pos_w[:, :2]
    away = (place - env.scene.spawn_origins[:, :2]).abs().amax(dim=1)
    return away > EDGE


def _images(**params: Any) -> Callable[[Any], None]:
    def change(cfg: Any) -> None:
        cfg.observations["camera"].terms["depth"].params |= params

    return change


def _delay(low: int, high: int) -> Callable[[Any], None]:
    def change(cfg: Any) -> None:
        images = cfg.observations["camera"].terms["depth"]
        images.delay = DelayCfg(min_lag=low, max_lag=high, hold_prob=1.0)

    return change


def _camera(metres: float, degrees: float) -> Callable[[Any], None]:
    """Displace and turn each robot's camera, along and about each axis."""
    where = SceneEntityCfg("robot", camera_names=(EYE,))
    draws = {
        "eye_pos": (randomize.cam_pos, metres),
        "eye_quat": (randomize.cam_quat, math.radians(degrees)),
    }

    def change(cfg: Any) -> None:
        # Only cameras of an entity can be randomised.
        (eye,) = (each for each in cfg.scene.sensors if each.name == EYE)
        others = [each for each in cfg.scene.sensors if each.name != EYE]
        camera = CameraCfg(
            name=EYE, body=eye.parent.name, fovy=eye.fovy, pos=eye.pos, quat=eye.quat
        )
        robot = cfg.scene.entities["robot"]
        robot.cameras = (*robot.cameras, camera)
        eye = dataclasses.replace(eye, camera=f"robot/{EYE}", parent=None, fovy=None)
        cfg.scene.sensors = (*others, eye)
        for name, (term, by) in draws.items():
            params = {"asset_cfg": where, "ranges": (-by, by)}
            event = EventTermCfg(func=term, mode="startup", params=params)
            cfg.events = {**cfg.events, name: event}

    return change


VARIATIONS: dict[str, Callable[[Any], None]] = {
    "as trained": lambda cfg: None,
    "no delay": _delay(0, 0),
    "delay of 100 to 200 ms": _delay(5, 10),
    "no noise, no holes": _images(noise=0.0, holes=0.0),
    "noise of 5 %": _images(noise=0.05),
    "holes in 20 %": _images(holes=0.2),
    "no reading": _images(holes=1.0),
    "camera up to 1 cm and 2° off": _camera(0.01, 2.0),
    "camera up to 2 cm and 5° off": _camera(0.02, 5.0),
}
"""Changes of a configuration, by name."""

_OUTCOMES = ("success", "fail")


if __name__ == "__main__":
    main()
