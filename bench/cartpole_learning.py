"""Compare PPO and an off-policy learner with different numbers of worlds.

    python bench/cartpole_learning.py --quick
    python bench/cartpole_learning.py --learners ppo-fixed --counts 8 128 --seeds 0

This is the second part of `cartpole_study.py`.
More worlds give more samples per second. PPO uses all transitions of a rollout as one
batch, so with a fixed number of minibatches more worlds mean fewer optimiser steps for
the same samples. Two arms test whether this explains poorer learning: a fixed number of
minibatches, and minibatches of a fixed size. A third learner samples from a replay
buffer; its optimiser steps are proportional to the samples. Runs are compared at equal
samples and at equal seconds of acting and learning. Results are saved after each run,
so the same command resumes an interrupted study.
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

from bench.study.curves import Budget, Curve, Learner, run
from bench.study.learning_report import report
from bench.study.ppo import EPOCHS, FIXED, HORIZON, SIZE, PpoLearner
from bench.study.replay import ActingHere, ActingUnderRay, ReplayLearner
from bench.study.store import Store, folders, show_progress, study_parser
from mjlab.cli.answers import UsageError, run_program
from mjlab.names import UnknownNameError, suggest

COUNTS = (8, 32, 128, 512, 2048, 8192)
LEARNERS = {
    "ppo-fixed": f"PPO, {FIXED} minibatches",
    "ppo-scaled": f"PPO, minibatches of {SIZE}",
    "replay": "recurrent double DQN with prioritised replay",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = study_parser(__doc__)
    found.add_argument("--counts", type=int, nargs="+", help="numbers of worlds")
    found.add_argument("--seeds", type=int, nargs="+", help="random seeds; default: 3")
    found.add_argument(
        "--learners", nargs="+", metavar="NAME", help="learners to train"
    )
    found.add_argument("--samples", type=int, help="samples at which to compare runs")
    found.add_argument("--seconds", type=float, help="time at which to compare runs, s")
    found.add_argument("--longest", type=float, help="seconds after which a run ends")
    found.add_argument("--acting", choices=("auto", "ray", "here"), default="auto")
    found.add_argument("--threads", type=int, default=1, help="threads of torch")
    return found


def main(arguments: Sequence[str]) -> None:
    """Train the missing runs, and print conclusions."""
    args = parser().parse_args(arguments)
    budget = budget_of(args)
    counts = sorted(set(args.counts or ((8, 128) if args.quick else COUNTS)))
    seeds = sorted(set(args.seeds or ((0,) if args.quick else (0, 1, 2))))
    check(args, counts)
    names = choose(args.learners)
    under_ray = acts_under_ray(args.acting)
    out, charts = folders(args)
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
    # Seeds are the outer loop, so that background load affects all world counts alike.
    todo = [(n, count, seed) for seed in seeds for count in counts for n in names]
    with torch_threads(args.threads):
        for name, count, seed in todo:
            key = f"{name}/{count}/{seed}"
            if key not in store.results:
                curve = run(maker(name, count, seed, under_ray), budget, seed)
                store.add(key, asdict(curve))
                show_progress(f"{key}: {said(curve)}")
    print(report(store, LEARNERS, out, charts))


def budget_of(args: argparse.Namespace) -> Budget:
    """Return the limit of samples and seconds of a run."""
    samples = args.samples or (2**14 if args.quick else 2**19)
    seconds = args.seconds or (2.0 if args.quick else 20.0)
    longest = args.longest or 4.0 * seconds
    if samples < 1 or not 0 < seconds <= longest:
        raise UsageError(
            f"--samples {samples}, --seconds {seconds:g}, --longest {longest:g}: "
            "--samples must be 1 or more, --seconds above 0 and at most --longest."
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


def choose(wanted: list[str] | None) -> list[str]:
    """Return the learners of --learners, or all; an unknown name is an error."""
    for name in wanted or ():
        if name not in LEARNERS:
            hint = suggest(name, list(LEARNERS))
            raise UnknownNameError(f"There is no learner {name!r}. {hint}")
    return wanted or list(LEARNERS)


def acts_under_ray(acting: str) -> bool:
    """True if Ray processes act for the off-policy learner."""
    installed = importlib.util.find_spec("ray") is not None
    if acting == "ray" and not installed:
        raise UsageError("--acting ray: ray is not installed. Use --acting here.")
    return installed if acting == "auto" else acting == "ray"


def maker(name: str, count: int, seed: int, under_ray: bool) -> Callable[[], Learner]:
    """Return the factory of a learner."""

    def make() -> Learner:
        torch.manual_seed(seed)
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
