"""Learning with different numbers of worlds: PPO and an off-policy learner.

    python bench/cartpole_learning.py --quick
    python bench/cartpole_learning.py

More worlds give more samples per second. PPO uses all transitions of a rollout as one
    batch, so with a fixed number of minibatches, more worlds mean fewer optimiser steps
    for the same samples. Two arms test whether this explains poorer learning: a fixed
    number of minibatches, and a fixed size. An off-policy learner, whose optimiser
    steps are proportional to samples, is a third arm. Runs are compared at equal
    samples and at equal seconds of acting and learning. Results are saved after each
    run, so the same command resumes an interrupted study.
"""

import argparse
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import RESULTS
from bench.study.curves import Budget, Curve, Learner, run
from bench.study.learning_report import report
from bench.study.ppo import EPOCHS, FIXED, HORIZON, SIZE, PpoLearner
from bench.study.progress import Progress
from bench.study.replay import ActingHere, ActingUnderRay, ReplayLearner
from bench.study.store import Store
from mjlab.cli.answers import UsageError, run_program
from mjlab.names import UnknownNameError, suggest

COUNTS = (8, 32, 128, 512, 2048, 8192)
LEARNERS = {
    "ppo-fixed": f"PPO, {FIXED} minibatches",
    "ppo-scaled": f"PPO, minibatches of {SIZE}",
    "replay": "recurrent double DQN with prioritised replay",
    "sb3-dqn": "DQN of Stable-Baselines3",
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
    )
    found.add_argument("--counts", type=int, nargs="+", help="numbers of worlds")
    found.add_argument("--seeds", type=int, nargs="+", help="three by default")
    found.add_argument(
        "--learners", nargs="+", metavar="NAME", help="learners to train"
    )
    found.add_argument("--samples", type=int, help="point of comparison")
    found.add_argument("--seconds", type=float, help="point of comparison")
    found.add_argument("--longest", type=float, help="seconds after which a run ends")
    found.add_argument("--acting", choices=("auto", "ray", "here"), default="auto")
    found.add_argument("--threads", type=int, default=1, help="torch threads")
    found.add_argument("--quick", action="store_true", help="short test run")
    found.add_argument("--fresh", action="store_true", help="replace earlier results")
    found.add_argument("--out", type=Path, help="folder for JSON, charts and page")
    return found


def main(arguments: Sequence[str]) -> None:
    """Train the missing runs, and print conclusions."""
    args = parser().parse_args(arguments)
    budget = budget_of(args)
    counts = sorted(set(args.counts or ((8, 128) if args.quick else COUNTS)))
    seeds = sorted(set(args.seeds or ((0,) if args.quick else (0, 1, 2))))
    check(args, counts)
    absent = absent_learners()
    names = choose(args.learners, absent)
    under_ray = acts_under_ray(args.acting)
    out = args.out or RESULTS / ("cartpole_quick" if args.quick else "cartpole")
    settings = {
        "samples": budget.samples,
        "seconds": budget.seconds,
        "longest": budget.longest,
        "acting": (ActingUnderRay if under_ray else ActingHere).how,
        "threads": args.threads,
        "horizon": HORIZON,
        "epochs": EPOCHS,
        "minibatches": FIXED,
        "minibatch_size": SIZE,
    }
    store = Store(out / "learning.json", settings, fresh=args.fresh)
    if store.resumed:
        print(f"{store.resumed} runs already exist in {store.path}.")
    store.record["absent"] = {
        name: why for name, why in absent.items() if name not in names
    }
    # Seed by seed, so that other load on the machine affects all numbers of worlds.
    todo = [(n, count, seed) for seed in seeds for count in counts for n in names]
    progress = Progress(len(todo))
    with torch_threads(args.threads):
        for name, count, seed in todo:
            key = f"{name}/{count}/{seed}"
            if key in store.results:
                progress.done(key, measured=False)
                continue
            progress.show(key)
            curve = run(maker(name, count, seed, under_ray), budget, seed)
            store.add(key, asdict(curve))
            progress.done(f"{key}: {said(curve)}")
    progress.close()
    print(report(store, LEARNERS, out))


def budget_of(args: argparse.Namespace) -> Budget:
    """Samples and seconds of a run."""
    samples = args.samples or (2**14 if args.quick else 2**19)
    seconds = args.seconds or (2.0 if args.quick else 20.0)
    longest = args.longest or 4.0 * seconds
    if samples < 1 or not 0 < seconds <= longest:
        raise UsageError(
            f"--samples {samples}, --seconds {seconds:g}, --longest {longest:g}: "
            "samples have to be 1 or more, and seconds above 0 and at most `longest`."
        )
    return Budget(samples, seconds, longest)


def check(args: argparse.Namespace, counts: Sequence[int]) -> None:
    """Raise for invalid options."""
    for count in counts:
        if count < 1:
            raise UsageError(
                f"--counts {count}: the number of worlds has to be 1 or more."
            )
    if args.threads < 1:
        raise UsageError(f"--threads {args.threads} has to be 1 or more.")


def absent_learners() -> dict[str, str]:
    """Return the learners that are not installed, with the reason."""
    found = {}
    for package in ("stable_baselines3", "gymnasium"):
        if importlib.util.find_spec(package) is None:
            found["sb3-dqn"] = f"{package} is not installed"
    return found


def choose(wanted: list[str] | None, absent: dict[str, str]) -> list[str]:
    """Select learners; raise for unknown and missing ones."""
    for name in wanted or ():
        if name not in LEARNERS:
            hint = suggest(name, list(LEARNERS))
            raise UnknownNameError(f"There is no learner {name!r}. {hint}")
        if name in absent:
            raise UsageError(f"--learners {name}: {absent[name]}.")
    # The DQN of Stable-Baselines3 is used only without the other off-policy learner.
    return wanted or [name for name in LEARNERS if name != "sb3-dqn"]


def acts_under_ray(acting: str) -> bool:
    """Return whether Ray processes act for the off-policy learner."""
    installed = importlib.util.find_spec("ray") is not None
    if acting == "ray" and not installed:
        raise UsageError("--acting ray: ray is not installed. Use --acting here.")
    return installed if acting == "auto" else acting == "ray"


def maker(name: str, count: int, seed: int, under_ray: bool) -> Callable[[], Learner]:
    """Return the factory of a learner."""

    def make() -> Learner:
        torch.manual_seed(seed)
        if name == "sb3-dqn":
            from bench.study.sb3_dqn import StableDqnLearner

            return StableDqnLearner(count, seed)
        if name == "replay":
            return ReplayLearner(count, seed, under_ray=under_ray)
        return PpoLearner(count, seed, scaled=name == "ppo-scaled")

    return make


def said(curve: Curve) -> str:
    """Return a summary of a run."""
    return (
        f"{curve.samples[-1]:,} samples and {curve.updates[-1]:,} updates in "
        f"{curve.seconds[-1]:.0f} s, score {curve.scores[-1]:.0f}, best "
        f"{max(curve.scores):.0f}"
    )


if __name__ == "__main__":
    sys.exit(run_program(main))
