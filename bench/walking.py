"""Walking as told: errors of velocity, and falls, for fixed commands.

    python bench/walking.py Velocity-Go1-Flat
    python bench/walking.py logs/Velocity-G1-Flat/latest --episodes 128 --best

Each command is held for episodes of 10 s, in worlds as in training: noisy sensors,
pushes, friction and masses that differ. Beside it stands the same robot with actions of
zero. The first second, in which the robot starts from rest, does not count towards
errors. The error of an episode is the distance of its mean velocity, in the robot's own
frame, from the command; the momentary error, which pushes and gait add to, stands
beside it.
"""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import save
from mjlab.cli.runs import find_run
from mjlab.envs import (
    ManagerBasedRlEnv,
    ManagerBasedRlEnvCfg,
    Policy,
    Rollout,
    ZeroPolicy,
)
from mjlab.mdp import UniformVelocityCommand, UniformVelocityCommandCfg
from mjlab.rl import RunFolder, load_policy
from mjlab.rl.checkpoint import find_checkpoint

COMMANDS = {
    "forward 0.5": (0.5, 0.0, 0.0),
    "forward 1.0": (1.0, 0.0, 0.0),
    "backward 0.5": (-0.5, 0.0, 0.0),
    "backward 1.0": (-1.0, 0.0, 0.0),
    "left 0.5": (0.0, 0.5, 0.0),
    "right 0.5": (0.0, -0.5, 0.0),
    "turn left 0.5": (0.0, 0.0, 0.5),
    "turn right 0.5": (0.0, 0.0, -0.5),
}
"""Forward and left, m/s, and yaw rate, rad/s."""

MOST_LINEAR = 0.25
"""Largest error that counts as walking as told, m/s."""

MOST_TURNING = 0.3
"""Largest error that counts as turning as told, rad/s."""

MOST_FALLS = 0.1
"""Largest share of episodes that end in a fall."""

EPISODE_S = 10.0
START_S = 1.0


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", help="a task, a run's folder, or latest")
    parser.add_argument("--episodes", type=int, default=64, help="for each command")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--best", action="store_true", help="the best checkpoint")
    parser.add_argument("--name", default=None, help="of the file of results")
    args = parser.parse_args()
    run = find_run(args.place, Path("logs"))
    task = run.info()["task"]
    walk = Walk(run, args.episodes, args.seed, best=args.best)
    rows = {name: walk.measure(command) for name, command in COMMANDS.items()}
    show(rows)
    passed = all(row["trained"]["as_told"] for row in rows.values())
    print(f"{task} {'walks as told' if passed else 'DOES NOT WALK AS TOLD'}.")
    figures = {
        "task": task,
        "run": run.info() | {"checkpoint": walk.checkpoint},
        "trained_s": walk.trained_seconds,
        "episodes_per_command": args.episodes,
        "episode_s": EPISODE_S,
        "limits": {
            "linear": MOST_LINEAR,
            "turning": MOST_TURNING,
            "falls": MOST_FALLS,
        },
        "commands": rows,
        "as_told": passed,
    }
    name = args.name or f"walking_{task.removeprefix('Velocity-').lower()}"
    print(f"saved {save(name.replace('-', '_'), figures)}")


class Walk:
    """A policy in worlds that are told where to go."""

    def __init__(self, run: RunFolder, worlds: int, seed: int, *, best: bool) -> None:
        configs = run.configs()
        agent = configs["agent"]
        path = find_checkpoint(run.path, best=best)
        self.checkpoint = path.name
        self.trained_seconds = seconds_of(run, path)
        self._seed = seed
        self._env = ManagerBasedRlEnv(told(configs["env"], worlds, seed), device="cpu")
        self._policy = load_policy(path, self._env, agent)
        command = self._env.command_manager.term("twist")
        assert isinstance(command, UniformVelocityCommand)
        self._command = command

    def measure(self, command: tuple[float, float, float]) -> dict[str, Any]:
        """Errors and falls of the policy, and of a robot that only stands."""
        for name, value in zip(
            ("lin_vel_x", "lin_vel_y", "ang_vel_z"), command, strict=True
        ):
            self._command.ranges[name].fill_(value)
        return {
            "command": command,
            "trained": self._roll(command, self._policy),
            "standing": self._roll(command, ZeroPolicy(self._env)),
        }

    def _roll(
        self, command: tuple[float, float, float], policy: Policy
    ) -> dict[str, Any]:
        env, wanted = self._env, torch.tensor(command)
        data = env.scene.entity("robot").data
        total = torch.zeros(env.num_envs, 3, dtype=torch.float64)
        off = torch.zeros(env.num_envs, 2, dtype=torch.float64)
        count = torch.zeros(env.num_envs, 1, dtype=torch.float64)
        fell = torch.zeros(env.num_envs, dtype=torch.bool)
        with torch_threads(1):
            rollout = Rollout(env, policy, seed=self._seed)
            policy.reset()
            steps = round(EPISODE_S / env.step_dt)
            for step, stepped in enumerate(rollout.steps(steps)):
                fell |= stepped & env.termination_manager.terminated
                if step * env.step_dt < START_S:
                    continue
                velocity = torch.cat(
                    [data.root_lin_vel_b[:, :2], data.root_ang_vel_b[:, 2:]], dim=1
                )
                here = rollout.running.unsqueeze(1)
                total += torch.where(here, velocity, 0.0)
                error = velocity - wanted
                linear = torch.linalg.vector_norm(error[:, :2], dim=1)
                off += torch.where(here, torch.stack([linear, error[:, 2].abs()], 1), 0)
                count += here
        seen = count.squeeze(1) > 0
        mean = total[seen] / count[seen]
        error = mean - wanted
        linear = float(torch.linalg.vector_norm(error[:, :2], dim=1).mean())
        turning = float(error[:, 2].abs().mean())
        falls = float(fell.double().mean())
        momentary = (off[seen] / count[seen]).mean(0).tolist()
        return {
            "linear_error": linear,
            "turning_error": turning,
            "momentary_linear_error": momentary[0],
            "momentary_turning_error": momentary[1],
            "mean_velocity": mean.mean(0).tolist(),
            "falls": falls,
            "as_told": linear < MOST_LINEAR
            and turning < MOST_TURNING
            and falls < MOST_FALLS,
        }


def told(cfg: ManagerBasedRlEnvCfg, worlds: int, seed: int) -> ManagerBasedRlEnvCfg:
    """The task as it was trained, with a command that does not change."""
    command = cfg.commands["twist"]
    assert isinstance(command, UniformVelocityCommandCfg)
    command = dataclasses.replace(
        command,
        resampling_time_range=(10 * EPISODE_S, 10 * EPISODE_S),
        rel_standing_envs=0.0,
        rel_heading_envs=0.0,
        rel_forward_envs=0.0,
        heading_command=False,
    )
    return dataclasses.replace(
        cfg,
        scene=dataclasses.replace(cfg.scene, num_envs=worlds),
        commands={**cfg.commands, "twist": command},
        curriculum={},
        episode_length_s=2 * EPISODE_S,
        seed=seed,
    )


def seconds_of(run: RunFolder, checkpoint: Path) -> float | None:
    """Time that training had taken when a checkpoint was written, s."""
    manifest = json.loads(checkpoint.with_suffix(".json").read_text("utf-8"))
    for line in (run.path / "metrics.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["iteration"] >= manifest["iteration"]:
            return row["Perf/seconds"]
    return None


def show(rows: dict[str, dict[str, Any]]) -> None:
    """Print a table."""
    print("                     trained                    standing")
    print("command          m/s    rad/s   falls      m/s    rad/s   falls")
    for name, row in rows.items():
        cells = [
            f"{row[who]['linear_error']:6.3f}  {row[who]['turning_error']:6.3f}  "
            f"{row[who]['falls']:6.1%}"
            for who in ("trained", "standing")
        ]
        mark = "" if row["trained"]["as_told"] else "  not as told"
        print(f"{name:15s} {cells[0]}   {cells[1]}{mark}")


if __name__ == "__main__":
    main()
