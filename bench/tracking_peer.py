"""Motion tracking compared with mjlab 1.6 after the same number of steps.

    python -m venv ../peer && ../peer/bin/pip install torch==2.13.0 mjlab==1.6.0
    python bench/tracking_peer.py ../peer/bin/python --steps 600000

For each clip, trains Tracking-G1 and mjlab's Mjlab-Tracking-Flat-Unitree-G1 with their
default settings, 256 worlds and one seed. Then 20 episodes start at the first frame of
the clip, without noise, pushes and randomisation ("quiet") or with them ("as trained").
Both projects have the same termination thresholds. Success and errors are defined as in
bench/tracker.py. A second call with more steps continues both trainings. To compare
their times, run on one core, with `taskset`. Writes bench/results/tracking_peer.json.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TASK, PEER_TASK = "Tracking-G1", "Mjlab-Tracking-Flat-Unitree-G1"
CLIPS = ("wave", "walk", "squat")
WORLDS, STEPS_PER_ITERATION, SEED, EPISODES = 256, 24, 1, 20
CONDITIONS = ("quiet", "as trained")
SAVE_EVERY = 10
"""Iterations between checkpoints."""


def main() -> None:
    """Train and evaluate both projects on each clip, and save the figures."""
    sys.path.insert(0, str(ROOT))
    from bench.record import save
    from mjlab.tasks.tracking.clips import G1_CLIPS

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", help="interpreter with mjlab 1.6")
    parser.add_argument("--clips", nargs="+", default=CLIPS)
    parser.add_argument("--steps", type=float, default=2e6, help="steps of all worlds")
    parser.add_argument("--folder", type=Path, default=Path("tracking_peer"))
    args = parser.parse_args()
    iterations = round(args.steps / (WORLDS * STEPS_PER_ITERATION))
    steps = iterations * WORLDS * STEPS_PER_ITERATION
    figures: dict[str, Any] = {"steps": steps, "worlds": WORLDS, "seed": SEED}
    for name in args.clips:
        clip = G1_CLIPS / f"{name}.npz"
        folder = args.folder.resolve() / name
        folder.mkdir(parents=True, exist_ok=True)
        found = {
            "this": train_here(clip, folder, iterations),
            "mjlab": train_there(args.python, clip, folder, iterations),
        }
        figures["clips"] = measured(steps) | {name: found}
        for project, row in found.items():
            print(f"{name}, {project}: {json.dumps(row)}", flush=True)
        print(f"saved {save('tracking_peer', figures)}", flush=True)


def measured(steps: int) -> dict[str, Any]:
    """Return the saved figures of all clips, if they have the same number of steps."""
    from bench.record import RESULTS

    path = RESULTS / "tracking_peer.json"
    if not path.exists():
        return {}
    saved = json.loads(path.read_text("utf-8"))
    return saved["clips"] if saved["steps"] == steps else {}


# This project.


def train_here(clip: Path, folder: Path, iterations: int) -> dict[str, Any]:
    """Train this project's task, or continue its training, and evaluate it."""
    from bench.tracker import measure
    from mjlab.runs import find

    logs = folder / "logs"
    command = [sys.executable, str(ROOT / "scripts" / "train.py"), TASK]
    command += ["--logs", str(logs), "--device", "cpu", "--agent.max-iterations"]
    command += [str(iterations)]
    if logs.exists():
        command += ["--resume", "latest"]
    else:
        command += ["--seed", str(SEED), "--env.scene.num-envs", str(WORLDS)]
        command += ["--env.commands.motion.clips", str(clip)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    at = find(TASK, logs)
    configs, checkpoint = at.run.configs(), at.choose_checkpoint()
    last = (at.run.path / "metrics.jsonl").read_text("utf-8").splitlines()[-1]
    seconds = json.loads(last)["Perf/seconds"]
    return {"minutes": round(seconds / 60, 1)} | {
        condition: measure(clip, condition, configs, checkpoint, EPISODES)
        for condition in CONDITIONS
    }


def write_clip(clip: Path, path: Path) -> tuple[str, ...]:
    """Write mjlab's motion file, and return the names of its joints and bodies.

    Body frames are the same in the G1 models of both projects.
    """
    import numpy as np

    from mjlab.motion.files import load_motion
    from mjlab.motion.robot import MotionRobot
    from mjlab.tasks.robots.g1 import G1

    motion = MotionRobot(G1.entity_cfg()).completed(load_motion(clip))
    names = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
    names += ("body_lin_vel_w", "body_ang_vel_w")
    arrays = {name: getattr(motion, name) for name in names}
    np.savez(path, fps=[motion.fps], **arrays)
    return (*motion.joint_names, *motion.body_names)


def train_there(
    python: str, clip: Path, folder: Path, iterations: int
) -> dict[str, Any]:
    """Train mjlab's task in its interpreter, or continue its training; evaluate it."""
    names = write_clip(clip, folder / "mjlab.npz")
    settings = {"folder": str(folder), "iterations": iterations, "names": names}
    ended = subprocess.run(
        [python, __file__, "--mjlab", json.dumps(settings)],
        env=os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": ""},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(ended.stdout)


# mjlab. The remaining functions run in its interpreter, without this project.


def run_mjlab(settings: dict[str, Any]) -> dict[str, Any]:
    """Train mjlab's task from its newest checkpoint, and evaluate it."""
    import torch

    importlib.import_module("mjlab.tasks")  # Registers the tasks.
    registry = importlib.import_module("mjlab.tasks.registry")
    agent = registry.load_rl_cfg(PEER_TASK)
    agent.seed, agent.logger, agent.save_interval = SEED, "tensorboard", SAVE_EVERY
    runner_cls = registry.load_runner_cls(PEER_TASK)
    torch.set_num_threads(1)
    folder = Path(settings["folder"])
    clip, logs = folder / "mjlab.npz", folder / "mjlab"
    logs.mkdir(exist_ok=True)

    def configuration(worlds: int, *, play: bool = False) -> Any:
        cfg = registry.load_env_cfg(PEER_TASK, play=play)
        cfg.scene.num_envs, cfg.seed = worlds, SEED
        cfg.commands["motion"].motion_file = str(clip)
        return cfg

    def environment(cfg: Any) -> Any:
        made = importlib.import_module("mjlab.envs").ManagerBasedRlEnv(cfg, "cpu")
        wrapper = importlib.import_module("mjlab.rl").RslRlVecEnvWrapper
        return wrapper(made, clip_actions=agent.clip_actions)

    env = environment(configuration(WORLDS))
    robot = env.unwrapped.scene["robot"]
    if [*robot.joint_names, *robot.body_names] != settings["names"]:
        sys.exit("The joints or bodies of the two G1 models have different orders.")
    runner = runner_cls(env, asdict(agent), str(logs), "cpu")
    saved = sorted(logs.glob("model_*.pt"), key=lambda path: int(path.stem[6:]))
    if saved:
        runner.load(str(saved[-1]))
    done = env.unwrapped.common_step_counter // STEPS_PER_ITERATION
    times = folder / "mjlab_seconds.txt"
    begin = time.monotonic()
    if done < settings["iterations"]:
        try:
            runner.learn(settings["iterations"] - done, init_at_random_ep_len=True)
        finally:
            with times.open("a") as file:
                file.write(f"{time.monotonic() - begin}\n")
    env.close()
    seconds = sum(map(float, times.read_text().split()))
    figures: dict[str, Any] = {"minutes": round(seconds / 60, 1)}
    for condition in CONDITIONS:
        cfg = configuration(EPISODES, play=condition == "quiet")
        cfg.commands["motion"].sampling_mode = "start"
        cfg.episode_length_s = 1e9
        if condition == "quiet":
            cfg.commands["motion"].joint_position_range = (0.0, 0.0)
            cfg.events = {}
        env = environment(cfg)
        acting = runner_cls(env, asdict(agent), None, "cpu")
        acting.alg.get_policy().load_state_dict(runner.alg.get_policy().state_dict())
        figures[condition] = errors(env, acting.get_inference_policy(device="cpu"))
        env.close()
    return figures


def errors(env: Any, policy: Any) -> dict[str, float]:
    """Return success rate and mean errors of mjlab's policy, as in bench/tracker.py."""
    import torch

    base = env.unwrapped
    command = base.command_manager.get_term("motion")
    sums = importlib.import_module("tracking_errors").TrackingErrors()
    alive = torch.ones(base.num_envs, dtype=torch.bool)
    observations = env.get_observations()
    last = command.motion.time_step_total  # Then the command wraps around.
    for _ in range(last - 1):
        # env.step advances the command to the next frame, so read the reference first.
        reference = command.body_pos_w.clone()
        anchor = command.anchor_pos_w.clone(), command.anchor_quat_w.clone()
        with torch.inference_mode():
            observations, _, _, _ = env.step(policy(observations))
        alive &= ~base.termination_manager.terminated
        if not alive.any():
            break
        aligned = realigned(command, anchor, reference)
        sums.add(command.robot_body_pos_w, reference, aligned, alive)
    frames = base.num_envs * command.body_pos_w.shape[1] * (last - 1)
    return {"success": float(alive.double().mean()), **sums.means(frames)}


def realigned(command: Any, anchor: tuple[Any, Any], reference: Any) -> Any:
    """Align reference positions with the robot's heading and horizontal position."""
    import torch

    peer = importlib.import_module(type(command).__module__)
    position, quaternion = anchor
    difference = peer.quat_mul(command.robot_anchor_quat_w, peer.quat_inv(quaternion))
    turn = peer.yaw_quat(difference)
    turns = turn[:, None].expand(-1, reference.shape[1], -1)
    robot = command.robot_anchor_pos_w
    shift = torch.cat((robot[:, :2], position[:, 2:]), dim=1)
    return peer.quat_apply(turns, reference - position[:, None]) + shift[:, None]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--mjlab"]:
        sys.path.append(str(ROOT / "bench"))
        answer = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # Libraries print to standard error.
        found = run_mjlab(json.loads(sys.argv[2]))
        print(json.dumps(found), file=answer, flush=True)
    else:
        main()
