"""The cartpole study: throughput, and learning with different numbers of worlds.

    python bench/cartpole_study.py --quick        # both parts
    python bench/cartpole_study.py
    python bench/cartpole_study.py throughput --only kernel gym-vector --counts 1024
    python bench/cartpole_study.py learning --learners ppo-fixed --seeds 0

Results, tables and charts go to `bench/results/cartpole` and `docs/images/cartpole`,
or to the folder of --out. An interrupted study is resumed by the same command.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import cartpole_learning, cartpole_scaling
from bench.study.store import study_parser
from mjlab.cli.answers import run_program

PARTS = {"throughput": cartpole_scaling.main, "learning": cartpole_learning.main}


def main(arguments: Sequence[str]) -> None:
    """Run one part with its own options, or both with the options they share."""
    if arguments and arguments[0] in PARTS:
        PARTS[arguments[0]](arguments[1:])
        return
    study_parser(__doc__).parse_args(arguments)
    for part in PARTS.values():
        part(arguments)


if __name__ == "__main__":
    sys.exit(run_program(main))
