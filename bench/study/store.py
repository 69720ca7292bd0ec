"""Results that are saved immediately, so that an interrupted study can be resumed."""

import argparse
import datetime
import json
import os
import sys
from pathlib import Path
from typing import Any

from bench.record import RESULTS, machine, versions
from mjlab.cli.answers import UsageError

BUSY = 0.25
"""Load per core above which a machine counts as busy."""

IMAGES = Path(__file__).resolve().parents[2] / "docs/images/cartpole"


def study_parser(text: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that both parts of the cartpole study share."""
    found = argparse.ArgumentParser(description=(text or "").partition("\n")[0])
    found.add_argument("--quick", action="store_true", help="few and short points")
    found.add_argument("--fresh", action="store_true", help="discard earlier results")
    found.add_argument("--out", type=Path, help="folder for JSON, tables and charts")
    return found


def folders(args: argparse.Namespace) -> tuple[Path, Path]:
    """Return the folder of results and the folder of charts."""
    if args.out or args.quick:
        out = args.out or RESULTS / "cartpole_quick"
        return out, out
    return RESULTS / "cartpole", IMAGES


def show_progress(text: str) -> None:
    """Print a line of progress to the error output."""
    print(text, file=sys.stderr, flush=True)


class Store:
    """JSON file of results by key, with the settings that they depend on."""

    def __init__(self, path: Path, settings: dict[str, Any], *, fresh: bool) -> None:
        """Open or create the file.

        Args:
            path: The file. Its folder is created.
            settings: Settings that results depend on. A file with other settings is an
                error.
            fresh: Replace an existing file.
        """
        self.path = path
        self.resumed = 0
        """Number of results that already existed."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.record: dict[str, Any] = {
            "date": _now(),
            "machine": machine(),
            "versions": versions(),
            "load_average": round(os.getloadavg()[0], 1),
            "settings": settings,
            "results": {},
        }
        """Contents of the file."""
        if path.exists() and not fresh:
            self._resume(settings)

    @property
    def results(self) -> dict[str, Any]:
        """Results by key, live."""
        return self.record["results"]

    def add(self, key: str, value: Any) -> None:
        """Store a result, and write the file."""
        self.results[key] = value
        self.save()

    def save(self) -> None:
        """Write the file atomically."""
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        temporary.write_text(json.dumps(self.record, indent=1) + "\n", "utf-8")
        os.replace(temporary, self.path)

    def about_machine(self) -> str:
        """Return machine, date and load of the measurements."""
        machine, load = self.record["machine"], self.record["load_average"]
        told = (
            f"Measured on {machine['processor']} ({machine['cores']} cores, GPU: "
            f"{machine['gpu'] or 'none'}), {self.record['date']}."
        )
        if load > BUSY * machine["cores"]:
            told += (
                f" The machine was busy (load average {load:g} on "
                f"{machine['cores']} cores at the start): rates are lower than on an "
                "idle machine, and ratios are more reliable."
            )
        return told

    def _resume(self, settings: dict[str, Any]) -> None:
        try:
            found = json.loads(self.path.read_text("utf-8"))
            before, results = found["settings"], found["results"]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{self.path} is not a file of results ({type(error).__name__}: "
                f"{error}). --fresh replaces it."
            ) from error
        same = json.loads(json.dumps(settings))
        if found.get("machine") != json.loads(json.dumps(machine())):
            raise UsageError(
                f"{self.path} was measured on another machine. --fresh replaces it, "
                "and --out selects another folder."
            )
        changed = [k for k in {**before, **same} if before.get(k) != same.get(k)]
        if changed:
            listed = ", ".join(
                f"{name} was {before.get(name)!r} and is {same.get(name)!r}"
                for name in sorted(changed)
            )
            raise UsageError(
                f"{self.path} was measured with other settings: {listed}. --fresh "
                "replaces it, and --out selects another folder."
            )
        self.resumed = len(results)
        self.record = found | {"resumed": [*found.get("resumed", []), _now()]}


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
