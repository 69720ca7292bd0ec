"""Train with identified ranges and with the task's defaults, and test on the robot.

    python bench/identify_training.py Reach-Yam --draws 0 1 2
    python bench/identify_training.py Reach-Yam --iterations 5 --episodes 8

A draw is a simulated robot with hidden parameters. One log of it is identified, and one
policy is trained with the task that `mjlab identify --out` writes, another with the
task as it is, both with the same seed. A third one is trained with the true
parameters, as the best possible result. All are tested on the robot with its true
parameters, without noise. The JSON has the mean of each metric over the episodes.
"""

import argparse
import contextlib
import dataclasses
import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

from bench.record import save
from bench.walking import rounded
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.rollout import run_episodes
from mjlab.identify import Fit, FitResult, Robot, Twin, candidates, propose, task_file
from mjlab.registry import Task, load_task
from mjlab.rl import RslRlVecEnv, TrainingLoop
from mjlab.rl.distributed import Ranks
from mjlab.rl.learners import Learner
from mjlab.watched import watched


def main() -> None:
    """Identify, train and test each robot; print and save the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("task")
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the log")
    parser.add_argument("--iterations", type=int, default=60, help="of each training")
    parser.add_argument("--episodes", type=int, default=256, help="of each test")
    parser.add_argument("--name", default="identify_training", help="results file")
    args = parser.parse_args()
    figures = vars(args) | {"robots": []}
    for draw in args.draws:
        figures["robots"].append(compare(draw, args))
        path = save(args.name, {k: v for k, v in figures.items() if k != "name"})
        print(f"saved {path}")


def compare(draw: int, args: argparse.Namespace) -> dict[str, Any]:
    """Return hidden parameters, estimates, and the metrics of the three policies."""
    task = load_task(args.task)
    cfg = task.env()
    robot = Robot.of(cfg)
    unknowns = candidates(robot, robot.joints)
    motion = propose(robot, unknowns, seconds=args.seconds).log
    twin = Twin.draw(robot, unknowns, draw)
    result = Fit(robot, [twin.record(motion)], unknowns).run()
    tasks = {
        "default": task,
        "identified": written(args.task, type(cfg), robot, result),
        "true": written(args.task, type(cfg), robot, exact(result, twin)),
    }
    found: dict[str, Any] = {"draw": draw, "hidden": rounded(twin.hidden)}
    found["estimates"] = {
        each.candidate.name: rounded([each.low, each.high])
        for each in result.estimates
        if each.determined
    }
    for name, trained in tasks.items():
        found[name] = rounded(test(trained, tasks["true"], draw, args))
        print(f"draw {draw}, {name}: {found[name]}", flush=True)
    return found


def exact(result: FitResult, twin: Twin) -> FitResult:
    """Return a result with the true values and intervals of width zero."""
    true = [
        dataclasses.replace(each, value=twin.hidden[each.candidate.name], half=0.0)
        for each in result.estimates
    ]
    return dataclasses.replace(result, estimates=tuple(true))


def written(task: str, base: type, robot: Robot, result: FitResult) -> Task:
    """Return the task of the file that `mjlab identify --out` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.py"
        text = task_file(task, base, robot, result, logs=["log.csv"])
        path.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location("measured", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module.TASK


def test(task: Task, true: Task, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Train with one task, and return the mean metrics of episodes in another."""
    assert task.on_cpu is not None
    agent = (task.on_cpu.rl or task.rl)()
    agent.max_iterations, agent.evaluation.every = args.iterations, 0
    training = task.env()
    training.scene.num_envs, training.seed = task.on_cpu.num_envs, seed
    env = ManagerBasedRlEnv(training, device="cpu")
    with contextlib.closing(env):
        loop = TrainingLoop(env, agent)
        loop.run()
        weights = loop.learner.policy.state_dict()
    testing = watched(true.env())
    testing.scene.num_envs, testing.seed = args.episodes, 1000
    env = ManagerBasedRlEnv(testing, device="cpu")
    with contextlib.closing(env), torch_threads(1):
        learner = Learner(RslRlVecEnv(env, groups=["actor", "critic"]), agent, Ranks())
        learner.policy.load_state_dict(weights)
        learner.inference.follow(learner.policy)
        episodes = run_episodes(env, learner.inference, number=args.episodes, seed=1000)
    names = episodes[0].figures
    return {
        "return": sum(each.total for each in episodes) / len(episodes),
        **{
            name: sum(each.figures[name] for each in episodes) / len(episodes)
            for name in names
            if name.startswith("Metrics/")
        },
    }


if __name__ == "__main__":
    main()
