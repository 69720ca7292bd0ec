"""Mutation testing: plant faults one at a time in a copy of the project, and run tests.

    python tests/mutants/run.py --sample 20      # a sample that changes every day
    python tests/mutants/run.py --all            # all, with the detection rate by room
    python tests/mutants/run.py sim-0 hand-3     # only these
    python tests/mutants/run.py --against ../before --sample 40 --seed 33

`--against` compares two checkouts: each fault whose lines exist in both is planted in
each, and the fast tests of its room run there. Ids restrict the comparison to these
faults. `--only here` or `--only there` runs one half of the comparison.

Each line of `mutants.jsonl` is a fault: the lines before and after, and the test files
to run. `killed_by` is the test that detected the fault; it runs first in later runs.
`equivalent` is the reason why no test can detect the fault. `--save` writes results to
that file. The exit code is 1 if a room detects less than 95% (with `--all`), or if a
fault that was detected before is no longer detected.
"""

import argparse
import contextlib
import fcntl
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).with_name("mutants.jsonl")
PASS_SHARE = 0.95
TEST_S, FAULT_S = 300, 900
"""Seconds after which a test hangs, which notices a fault, and a fault is left."""

Fault = dict[str, Any]


def read_faults(data: Path = DATA) -> list[Fault]:
    """Return all faults."""
    return [json.loads(line) for line in data.read_text().splitlines()]


def room_of(fault: Fault) -> str:
    """Return the room of a fault."""
    parts = fault["file"].split("/")
    return parts[1] if len(parts) > 2 else "mjlab"


def room_tests(fault: Fault, project: Path) -> list[str]:
    """Return the tests of the room that a fault is in."""
    room = "tasks" if fault["file"].startswith("tasks/") else room_of(fault)
    if room == "mjlab" or room.endswith(".py"):
        return sorted(str(p.relative_to(project)) for p in project.glob("tests/*.py"))
    return [f"tests/{room}"]


def planted(fault: Fault, source: str) -> str | None:
    """Return the file's text with its fault, or None if the lines no longer exist."""
    if source.count(fault["old"]) != 1:
        return None
    return source.replace(fault["old"], fault["new"])


def copy_project(folder: Path, root: Path = ROOT) -> Path:
    """Copy tracked and new files of a checkout to a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for name in listed:
        source, target = root / name, folder / name
        if source.is_file() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    # A repository, as it is one here: runs say of what commit they are.
    author = ("-c", "user.name=mutants", "-c", "user.email=mutants@example.org")
    for words in (("init",), ("add", "--all"), (*author, "commit", "-m", "a copy")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


class Failures:
    """Plugin that stores failed tests, one line each, and ends a hanging test."""

    def __init__(self, result: Path) -> None:
        self.result = result

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Start the timer of a test."""
        self.result.with_suffix(".now").write_text(nodeid)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TEST_S)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Store a failure."""
        if report.failed:
            with self.result.open("a") as file:
                file.write(f"{report.nodeid}\n")
        if report.skipped:
            self.result.with_suffix(".skipped").touch()

    pytest_collectreport = pytest_runtest_logreport


def run_tests(
    project: Path,
    tests: list[str],
    result: Path,
    *,
    all_of_them: bool = False,
    only_fast: bool = False,
    without: Iterable[str] = (),
) -> list[str]:
    """Run tests in a forked process; return the first failure, or all of them.

    The parent process has already imported third-party packages, which saves time. A
    slow test that is named runs, unless `only_fast`. Tests in `without` are skipped.
    """
    for file in (result, *map(result.with_suffix, (".now", ".skipped"))):
        file.unlink(missing_ok=True)
    sys.stdout.flush()
    if (child := os.fork()) == 0:
        os.setsid()
        os.chdir(project)
        os.environ["PYTHONPATH"] = str(project)
        sys.path[:] = [str(project), *(p for p in sys.path if p != str(ROOT))]
        # The copy's are meant, where this is run as a module of the project's.
        for name in [n for n in sys.modules if n.partition(".")[0] == "tests"]:
            del sys.modules[name]
        with result.with_suffix(".log").open("w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        import pytest

        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        options += [] if all_of_them else ["-x"]
        is_named = any("::" in test for test in tests)
        options += ["-m", "not gpu"] if is_named and not only_fast else []
        # A file that cannot be imported fails as a whole.
        options += [
            f"--{'deselect' if '::' in test else 'ignore'}={test}" for test in without
        ]
        base = f"--basetemp={result.with_suffix('.tmp')}"
        code = pytest.main([*options, base, *tests], plugins=[Failures(result)])
        os._exit(int(code))
    limit = FAULT_S + 10.0 * len(tests) * all_of_them
    ends, code = time.monotonic() + limit, None
    while code is None and time.monotonic() < ends:
        time.sleep(0.05)
        ended, status = os.waitpid(child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if ended else None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if code is None:
        os.waitpid(child, 0)
        return ["?"]
    if result.exists():
        return result.read_text().splitlines()
    if code in (0, 5):
        return []
    # Ended by a signal, its alarm's or a crash's, or with what pytest could not say:
    # of all of them those that were not come to are not known to pass.
    now = result.with_suffix(".now")
    last = now.read_text() if now.exists() else tests[0]
    return tests if all_of_them else [last]


class Judge:
    """Copy of the project in which faults are planted one after the other."""

    def __init__(
        self, folder: Path, files: int | None = None, root: Path = ROOT
    ) -> None:
        self._files = files
        self.project = copy_project(folder / "project", root)
        self._result = folder / "result"
        self.unsound: set[str] = set()

    def _failing(self, fault: Fault, tests: list[str], **options: Any) -> list[str]:
        path = self.project / fault["file"]
        source = path.read_text()
        text = planted(fault, source)
        assert text is not None
        self._write(path, text)
        try:
            return run_tests(self.project, tests, self._result, **options)
        finally:
            self._write(path, source)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        # Python knows a compiled file by seconds and size, which may be the same.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def failing_without(self, tests: list[str]) -> list[str]:
        """Return the tests that fail without any fault, which detect nothing."""
        if not tests:
            return []
        return run_tests(self.project, tests, self._result, all_of_them=True)

    def found_by(self, fault: Fault) -> str:
        """Return the fast test of the fault's room that fails with it, or "".

        "?" means that the time limit was exceeded. The test that found the fault before
        is run first.
        """
        tests = room_tests(fault, self.project)
        orders = [tests]
        known = fault.get("killed_by", "")
        file, _, name = known.partition("::")
        is_here = any(file == test or file.startswith(f"{test}/") for test in tests)
        path = self.project / file
        if is_here and path.is_file() and name.split("[")[0] in path.read_text():
            orders.insert(0, [known])
        for order in orders:
            failed = self._failing(fault, order, only_fast=True, without=self.unsound)
            if failed:
                return failed[0]
        return ""

    def judge(self, fault: Fault) -> str:
        """Return killed, survived, equivalent, stale (lines changed) or unclear."""
        if planted(fault, (self.project / fault["file"]).read_text()) is None:
            return "stale"
        if "equivalent" in fault:
            return "equivalent"
        known = fault.get("killed_by")
        failed = self._failing(fault, [known]) if known else []
        # Without a renderer, say, nothing is known of it here.
        is_skipped = known and self._result.with_suffix(".skipped").exists()
        if not failed:
            failed = self._failing(fault, fault["tests"][: self._files])
        if not failed and is_skipped:
            return "unclear"
        if not failed:
            fault.pop("killed_by", None)
            return "survived"
        if failed == ["?"]:
            return "unclear"
        fault["killed_by"] = failed[0]
        return "killed"


def score(judged: dict[str, list[str]]) -> bool:
    """Print the detection rate by room; return whether all are above the limit."""
    good = True
    for room, results in sorted(judged.items()):
        killed, alive = results.count("killed"), results.count("survived")
        share = killed / (killed + alive) if killed + alive else 1.0
        rest = {n: results.count(n) for n in ("equivalent", "unclear", "stale")}
        said = ", ".join(f"{count} {name}" for name, count in rest.items() if count)
        of = f"{killed:3} of {killed + alive:3} killed  {share:4.0%}"
        print(f"{room:12} {of}  {said}")
        good &= share >= PASS_SHARE
    return good


def save(faults: list[Fault]) -> None:
    """Write the results of faults, and keep those that were not run."""
    found = {fault["id"]: fault for fault in faults}
    with DATA.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known = [json.loads(line) for line in file]
        file.seek(0)
        file.writelines(json.dumps(found.get(one["id"], one)) + "\n" for one in known)
        file.truncate()


def choose(arguments: argparse.Namespace) -> list[Fault]:
    """Return the requested faults."""
    # In any order, so that a run that is ended has seen something of every room.
    faults = random.Random(0).sample(known := read_faults(), len(known))
    if arguments.ids:
        return [fault for fault in faults if fault["id"] in arguments.ids]
    if arguments.new:
        return [f for f in faults if "killed_by" not in f and "equivalent" not in f]
    if arguments.all:
        return faults
    day = int(time.time() // 86_400) if arguments.seed is None else arguments.seed
    return random.Random(day).sample(faults, arguments.sample)


def stands_in(fault: Fault, project: Path) -> bool:
    """Return whether a checkout contains the lines of a fault."""
    path = project / fault["file"]
    return path.is_file() and planted(fault, path.read_text()) is not None


def compare(arguments: argparse.Namespace) -> int:
    """Print, for each fault, the test of its room that finds it in each checkout."""
    roots = {"there": Path(arguments.against).resolve(), "here": ROOT}
    faults = [
        fault
        for fault in read_faults()
        if "equivalent" not in fault
        and all(stands_in(fault, root) for root in roots.values())
        and (not arguments.ids or fault["id"] in arguments.ids)
    ]
    if not arguments.ids:
        chosen = random.Random(arguments.seed).sample(faults, arguments.sample)
        faults = sorted(chosen, key=lambda fault: fault["id"])
    found: dict[str, dict[str, str]] = {}
    for place in (arguments.only,) if arguments.only else roots:
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge(Path(folder), root=roots[place])
            # Its own faults name its own tests.
            own = read_faults(roots[place] / DATA.relative_to(ROOT))
            killers = {f["id"]: f["killed_by"] for f in own if "killed_by" in f}
            known = [f | {"killed_by": killers.get(f["id"], "")} for f in faults]
            found[place] = tests = find_all(judge, known)
        many, late = sum(map(bool, tests.values())), [*tests.values()].count("?")
        for name, test in tests.items():
            print(f"{place:5} {name:40} {test or 'not found'}")
        print(f"{place}: {many - late} of {len(tests)} found, {late} not in time")
    missed = [sum(not test for test in tests.values()) for tests in found.values()]
    return int(len(missed) == 2 and missed[1] > missed[0])


def find_all(judge: Judge, faults: list[Fault]) -> dict[str, str]:
    """Return the test that finds each fault; a test that always fails finds none."""
    found: dict[str, str] = {}
    waiting = faults
    while waiting:
        for fault in waiting:
            began = time.monotonic()
            found[fault["id"]] = test = judge.found_by(fault)
            took = time.monotonic() - began
            print(f"  {fault['id']}: {test or 'not found'}, {took:.0f} s", flush=True)
        tests = {found[fault["id"]] for fault in waiting} - {"", "?"} - judge.unsound
        unsound = set(judge.failing_without(sorted(tests)))
        # One at a time, if any fail: a test that hangs ends the others with it.
        unsound = {test for test in tests if unsound and judge.failing_without([test])}
        judge.unsound |= unsound
        waiting = [fault for fault in waiting if found[fault["id"]] in unsound]
    return found


def main() -> int:
    """Judge faults and print the score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ids", nargs="*", help="ids of faults")
    parser.add_argument("--sample", type=int, default=20, help="how many are drawn")
    parser.add_argument("--seed", type=int, help="of the sample; the day if not given")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--new", action="store_true", help="those not killed so far")
    parser.add_argument("--minutes", type=float, help="after which none is begun")
    parser.add_argument("--files", type=int, help="test files tried; all if not given")
    parser.add_argument("--save", action="store_true", help="write what was found")
    parser.add_argument("--against", help="another checkout, to compare with this one")
    parser.add_argument("--only", choices=("here", "there"), help="half of it")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    # First: it chooses MuJoCo's renderer, which cannot change after the import, and
    # without which tests of pictures are skipped.
    __import__("tests.conftest")
    for name in ("torch", "mujoco", "tensordict", "rsl_rl", "h5py", "hypothesis"):
        __import__(name)
    if arguments.against is not None:
        return compare(arguments)
    faults, results = choose(arguments), {}
    noticed = {fault["id"] for fault in faults if "killed_by" in fault}
    ends = time.monotonic() + 60.0 * (arguments.minutes or math.inf)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder), arguments.files)
        for number, fault in enumerate(faults, start=1):
            if (began := time.monotonic()) > ends:
                break
            results[fault["id"]] = result = judge.judge(fault)
            by = fault.get("killed_by", "") if result == "killed" else ""
            took = f"{time.monotonic() - began:.0f} s"
            print(f"[{number}/{len(faults)}] {fault['id']}: {result} {took} {by}")
            if arguments.save:
                save([fault])
        if len(results) < len(faults):
            print(f"time is up: {len(faults) - len(results)} were not reached")
        faults = faults[: len(results)]
        killers = {fault["killed_by"] for fault in faults if "killed_by" in fault}
        unsound = set(judge.failing_without(sorted(killers)))
    judged = defaultdict(list)
    for fault in faults:
        is_sound = fault.get("killed_by") not in unsound
        judged[room_of(fault)].append(results[fault["id"]] if is_sound else "unclear")
    good = score(judged)
    lost = sorted(each for each in noticed if results.get(each) == "survived")
    print("".join(f"{each} is noticed no longer\n" for each in lost), end="")
    return int(bool(lost) or (arguments.all and not good))


if __name__ == "__main__":
    sys.exit(main())
