"""Rewrites stored results of the project: `python -m tests.golden.make`.

    python -m tests.golden.make --only policies
    python -m tests.golden.make --only values --cases native/Velocity-G1

Each part is a separate file, so that a diff shows which results have changed.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tests.conftest  # noqa: F401  Before torch: how its threads wait.
from tests.golden.policies import TRAINED, policy_actions
from tests.golden.runs import CASES, observe

DATA = Path(__file__).parent / "data"


PARTS: dict[str, tuple[list[str], Callable[[str], Any]]] = {
    "values": (CASES, observe),
    "policies": (list(TRAINED), policy_actions),
}
"""Cases of each part, and the function that computes one."""


def recorded(part: str) -> dict[str, Any]:
    """Return the stored results of a part, by case."""
    return json.loads((DATA / f"{part}.json").read_text("utf-8"))


def written(record: dict[str, Any]) -> str:
    """Return JSON with one line per entry, so that a diff names the entry."""
    cases = []
    for case, found in record.items():
        if isinstance(found, dict):
            parts = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()]
            body = "{\n  " + ",\n  ".join(parts) + "\n }"
        else:
            body = json.dumps(found, indent=2)[:-1] + " ]"
        cases.append(f" {json.dumps(case)}: {body}")
    return "{\n" + ",\n".join(cases) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite parts, or some of their cases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    known = sorted({case for cases, _ in PARTS.values() for case in cases})
    parser.add_argument(
        "--cases", nargs="+", choices=known, metavar="CASE", help="default: all"
    )
    args = parser.parse_args(arguments)
    for part in args.only:
        cases, look = PARTS[part]
        chosen = [case for case in cases if not args.cases or case in args.cases]
        kept = recorded(part) if args.cases else {}
        found = kept | {case: look(case) for case in chosen}
        record = {case: found[case] for case in cases if case in found}
        (DATA / f"{part}.json").write_text(written(record), "utf-8")
        print(f"{part}: {', '.join(chosen)}", flush=True)


if __name__ == "__main__":
    main()
