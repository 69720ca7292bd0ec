"""Run exams of several policies at several levels, and save the results by policy.

    python bench/exams.py Velocity-G1 Velocity-G1-Flat --model exam.xml
    python bench/exams.py policies/falcon/g1_29dof.json --levels B C --runs 32

A policy is named as in `mjlab exam`, or is the JSON file of a policy of another project
for the adapter `exam_pack.py`. Writes bench/results/exam/NAME.json after each level,
with scores, causes of falls, and survival by run. Levels that are already in the file,
for the same run ids and robot, are skipped.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

from bench.record import RESULTS, save
from mjlab.cli.exam import ExamOptions, candidate, settings_of
from mjlab.exam import LEVELS, build_robot, conduct
from mjlab.exam.scores import as_json, table
from mjlab.gait.table import text
from mjlab.safe_names import plain_name

PACK = Path(__file__).parent / "exam_pack.py"


def main() -> None:
    """Run the exams, print and save the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policies", nargs="+", help="as for mjlab exam, or JSON files")
    parser.add_argument("--levels", nargs="+", choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--first-run", type=int, default=0)
    parser.add_argument("--model", type=Path, help="MJCF file of the robot")
    parser.add_argument("--logs", type=Path, default=ExamOptions.logs)
    parser.add_argument("--name", help="name of the results file, for one policy")
    args = parser.parse_args()
    for words in args.policies:
        examine(words, args)


def examine(words: str, args: argparse.Namespace) -> None:
    """Run the levels of one policy."""
    is_foreign = words.endswith(".json")
    options = ExamOptions(
        policy=words,
        adapter=f"{PACK}:PackPolicy" if is_foreign else None,
        runs=args.runs,
        first_run=args.first_run,
        logs=args.logs,
    )
    runs = range(args.first_run, args.first_run + args.runs)
    with candidate(options) as found:
        robot = build_robot(found.exam, args.model)
        name = f"exam/{args.name or plain_name(found.name.partition(',')[0])}"
        about = {
            "exam": found.exam.name,
            "policy": found.name,
            "robot": robot.exam.robot.name if args.model is None else args.model.name,
            "first_run": args.first_run,
            "number_of_runs": args.runs,
            "settings": settings_of(found.policy),
        }
        levels = kept(RESULTS / f"{name}.json", about)
        for letter in args.levels:
            if letter in levels:
                continue
            results = conduct(robot, LEVELS[letter], found.policy, runs)
            figures = as_json([results])[letter]
            survival = [round(run.survival, 2) for run in results.runs]
            levels[letter] = {
                "scores": figures["scores"],
                "falls": figures["falls"],
                "survival_s": survival,
            }
            in_order = {key: levels[key] for key in LEVELS if key in levels}
            path = save(name, about | {"levels": in_order})
            print(f"{found.name}\n{text(table([results]))}\n{path}", flush=True)


def kept(path: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Return the stored levels if the file has the same exam settings, else {}."""
    if not path.exists():
        return {}
    record = json.loads(path.read_text("utf-8"))
    same = json.loads(json.dumps(about))
    if any(record.get(key) != value for key, value in same.items()):
        return {}
    return record["levels"]


if __name__ == "__main__":
    main()
