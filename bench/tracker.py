"""Tracking errors of a G1 policy on training clips and held-out clips.

    python bench/tracker.py Tracking-G1-Clips --episodes 20
    python bench/tracker.py Tracking-G1-Clips --clips crawl.npz --name tracker_crawl

Each episode starts at the first frame of a clip. Noise, pushes and randomisation are
disabled ("quiet") or enabled ("as trained"). An episode succeeds if no tracking error
terminates it before the end of the clip. Errors are means over tracked bodies and over
all frames of the first episode of each world:

- completed: mean fraction of the clip before the end of the episode
- global: position error in the world, mm
- local: position error after aligning heading and horizontal position, mm
- velocity, acceleration: errors of the first and second differences of the positions,
  mm per frame of 20 ms and per frame squared
"""

import argparse
import copy
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.held_out_clips import nearest_clip, write_clips
from bench.record import save
from bench.tracking_errors import NAMES, TrackingErrors
from mjlab.envs import ManagerBasedRlEnv, Rollout
from mjlab.motion.command import MotionCommand
from mjlab.motion.files import load_motion
from mjlab.motion.poses import reanchored
from mjlab.rl import load_policy
from mjlab.runs import find
from mjlab.tasks.tracking.clips import G1_CLIPS, G1_RANDOM_CLIPS

SEED = 11

FIGURES = ("success", *NAMES)


def main() -> None:
    """Measure each clip, print a table and save it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", help="a task, a run's folder or checkpoint")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument(
        "--clips", type=Path, nargs="*", help="measure these motion files instead"
    )
    parser.add_argument("--held-out", type=Path, default=Path("held_out"))
    parser.add_argument("--name", default="tracker", help="name of the results file")
    args = parser.parse_args()
    at = find(args.place)
    configs, checkpoint = at.run.configs(), at.choose_checkpoint()
    shipped = sorted(G1_CLIPS.glob("*.npz"))
    if args.clips:
        sets = {"other": args.clips}
    else:
        sets = {"training": shipped, "held out": write_clips(args.held_out)}
    random = sorted(G1_RANDOM_CLIPS.glob("*.npz"))
    known = [load_motion(path) for path in (*shipped, *random)]
    head = "".join(f"{name:>13}" for name in FIGURES)
    print(f"{'':10}{'':21}{'':12}{head}")
    found = []
    for kind, paths in sets.items():
        for path in paths:
            motion = load_motion(path)
            others = [other for other in known if other.name != motion.name]
            nearest, distance = nearest_clip(motion, others)
            row: dict[str, Any] = {
                "clip": path.stem,
                "set": kind,
                "nearest": nearest,
                "distance": round(distance, 3),
            }
            for condition in ("quiet", "as trained"):
                errors = measure(path, condition, configs, checkpoint, args.episodes)
                row[condition] = errors
                cells = "".join(f"{errors[name]:13.2f}" for name in FIGURES)
                print(f"{kind:10}{path.stem:21}{condition:12}{cells}", flush=True)
            found.append(row)
    for kind in sets:
        for condition in ("quiet", "as trained"):
            good = sum(
                row[condition]["success"] > 0.5 for row in found if row["set"] == kind
            )
            print(f"{kind}, {condition}: {good} of {len(sets[kind])} clips succeed")
    about = {"run": at.run.info() | {"checkpoint": checkpoint.name}, "seed": SEED}
    print(f"saved {save(args.name, about | {'clips': found})}")


def measure(
    clip: Path, condition: str, configs: dict[str, Any], checkpoint: Path, episodes: int
) -> dict[str, float]:
    """Return success rate and mean errors on one clip."""
    cfg = copy.deepcopy(configs["env"])
    if condition == "quiet":
        cfg = cfg.play()
        cfg.events = {}
    command = cfg.commands["motion"]
    command.clips, command.sampling, command.weights = (clip,), "start", {}
    cfg.episode_length_s = 1e9
    cfg.seed, cfg.scene.num_envs = SEED, episodes
    env = ManagerBasedRlEnv(cfg, device="cpu")
    policy = load_policy(checkpoint, env, configs["agent"])
    with torch_threads(1):
        return _errors(Rollout(env, policy, seed=SEED))


def _errors(rollout: Rollout) -> dict[str, float]:
    env = rollout.env
    command = env.command_manager.term("motion")
    assert isinstance(command, MotionCommand)
    rollout.policy.reset()
    success = torch.zeros(env.num_envs, dtype=torch.bool)
    errors = TrackingErrors()
    length = int(command.table.lengths[0])
    for _ in range(length + 1):
        # The step advances the command to the next frame, so read the reference first.
        anchor = (command.anchor_pos_w.clone(), command.anchor_quat_w.clone())
        bodies = (command.body_pos_w.clone(), command.body_quat_w.clone())
        stepped = rollout.step()
        success |= env.outcome_manager.now("success") & stepped
        # Worlds whose episode has ended already start the next one.
        alive = rollout.running
        robot = (command.robot_anchor_pos_w, command.robot_anchor_quat_w)
        aligned = reanchored(robot, anchor, bodies)[0]
        errors.add(command.robot_bodies("body_pos_w"), bodies[0], aligned, alive)
        if not alive.any():
            break
    frames = env.num_envs * command.body_pos_w.shape[1] * length
    return {"success": float(success.double().mean()), **errors.means(frames)}


if __name__ == "__main__":
    main()
