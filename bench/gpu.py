"""All checks that need a CUDA device.

    python bench/gpu.py --out found --budget 540     # most important checks first
    python bench/gpu.py --out found --only right     # the checks of one part
    python bench/gpu.py --out found --only capture speed.Velocity-Go1-Flat.16384
    python bench/gpu.py --out found --rehearse       # without a GPU: do the checks run?

A check has a name such as `speed.TASK.WORLDS`. Any task and number of worlds is valid,
also if it is not in a part. Each check runs in a separate process group with a time
limit, and this process never uses CUDA, so a crash in one check does not affect the
others. The folder of --out receives a JSON line after each check, the output, and the
table of verdicts, which is also printed at the end. Run no other program on the device,
because times and memory are measured for the whole device. A check fails if its step is
not captured as one CUDA graph.

`mjlab warm` and `bench/gpu_bundle.py` compile kernels in advance. Without such a cache
in WARP_CACHE_PATH, each check has time to compile its own.

--rehearse runs small versions of the checks, once for all tasks and sizes, on the CUDA
stand-in of the tests or on Warp's CPU device. Its figures do not describe a GPU.
"""

import argparse
import contextlib
import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mjlab.names import suggest
from mjlab.registry import entries

TABLE = 12_000
"""Maximum number of characters of the table, for remote calls with limited output."""

END = signal.SIGUSR1
"""Signal that asks a check to print its stack and end."""

COLD = 200.0
"""Additional time limit if kernels have to be compiled, s. The kernels of a G1 on rough
ground compile in 170 s on one core."""

KINDS: dict[str, tuple[float, str]] = {
    "facts": (20, "stand-in"),
    "shared": (20, "cpu"),
    "capture": (20, "stand-in"),
    "bits": (20, "stand-in"),
    "failed_capture": (40, "stand-in"),
    "fused": (40, "stand-in"),
    "two_fused": (40, "stand-in"),
    "between_replays": (40, "stand-in"),
    "isolated": (40, "stand-in"),
    "senses": (40, "stand-in"),
    "engines": (40, "cpu"),
    "tests": (60, "cpu"),
    "verbs": (40, "cpu"),
    "soak": (60, "stand-in"),
    "speed": (60, "stand-in"),
    "joined": (60, "stand-in"),
    "modes": (60, "cpu"),
    "bare": (40, "cpu"),
    "peer": (120, "cpu"),
    "training": (60, "cpu"),
    "muscle": (60, "cpu"),
    "classic": (60, "cpu"),
}
"""Kinds of checks: expected seconds with compiled kernels, and device of a rehearsal.
Checks that the stand-in does not support use Warp's CPU device."""

RIGHT = """
facts shared capture bits failed_capture fused.Velocity-G1-Flat engines.g1.256
isolated.Velocity-G1-Flat tests two_fused.Velocity-G1-Flat
between_replays.Velocity-G1-Flat fused.Velocity-G1 fused.Velocity-Go1-Flat
fused.synthetic senses
""".split()
FAST = """
speed.Velocity-G1-Flat.4096 speed.Velocity-Go1-Flat.4096 bare
peer.Velocity-Go1-Flat.4096 speed.Velocity-G1.4096 joined.Velocity-G1-Flat.4096
training.Velocity-G1-Flat.4096 peer.Velocity-G1-Flat.4096
speed.Velocity-Go1-Flat.8192 speed.Velocity-G1-Flat.8192 soak.Velocity-G1-Flat
modes.Velocity-G1-Flat.4096
""".split()
MORE = """
verbs speed.Cartpole-Balance.4096 speed.Lift-Yam-Depth.1024
speed.Velocity-Go1-Flat.16384 speed.Velocity-Go1-Flat.1024
speed.Velocity-G1-Flat.16384 speed.Velocity-G1-Flat.1024 modes.Velocity-G1.4096
muscle classic
""".split()


@dataclass(frozen=True)
class Check:
    """Definition of a check, passed to its process."""

    name: str
    function: str
    """`module:function` of the check, called with a device, whether to rehearse, and
    the arguments. It returns the findings, with "passed" and a "reason" for a failure.
    """
    arguments: tuple[str | int, ...] = ()
    seconds: float = 40.0
    """Expected duration with compiled kernels.

    The time limit is three times this, plus `COLD` without compiled kernels, or ten
    times this in a rehearsal on an unknown machine.
    """
    device: str = "stand-in"
    """Device in a rehearsal: "stand-in", or "cpu" for checks that the stand-in does not
    support.
    """

    def is_like(self, name: str) -> bool:
        """Return True if a check of another task or size has the same rehearsal."""
        return len(self.arguments) > 1 and name.startswith(f"{self.arguments[0]}.")


@dataclass(frozen=True)
class Verdict:
    """Result of a check."""

    check: str
    verdict: str
    """"passed", "failed", "crashed", "too long" or "skipped"."""
    reason: str
    seconds: float
    result: Any


def all_checks() -> list[Check]:
    """Checks in order of importance: prerequisites of others first, speeds last."""
    return [find_check(name) for names in parts().values() for name in names]


def parts() -> dict[str, list[str]]:
    """Return the names of checks by part, as selected by `--only`.

    The part "tasks" compares recorded with eager steps, in tasks that "right" omits.
    """
    others = [f"fused.{task}" for task in entries() if f"fused.{task}" not in RIGHT]
    return {"right": [*RIGHT], "fast": [*FAST], "more": [*MORE], "tasks": others}


def find_check(name: str) -> Check:
    """Return the check of a name, such as `speed.Velocity-G1-Flat.4096`."""
    kind, *words = name.split(".")
    if kind not in KINDS:
        raise ValueError(f"no check {name!r}. {suggest(kind, list(KINDS))}")
    tasks = [*entries(), "synthetic", "g1", "go1"]
    for word in words:
        if not word.isdecimal() and word not in tasks:
            raise ValueError(f"no task {word!r}. {suggest(word, tasks)}")
    arguments = (kind, *(int(word) if word.isdecimal() else word for word in words))
    seconds, device = KINDS[kind]
    return Check(name, "bench.gpu_checks:run", arguments, seconds, device)


def chosen_checks(names: Sequence[str]) -> list[Check]:
    """Return the checks selected by names of checks or parts; without names, all."""
    if not names:
        return all_checks()
    known = parts()
    return [find_check(n) for name in names for n in known.get(name, [name])]


def main() -> None:
    """Run the checks; print the table of verdicts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for all results")
    parser.add_argument(
        "--budget", type=float, default=540.0, help="total time limit in seconds"
    )
    parser.add_argument(
        "--only",
        nargs="*",
        default=(),
        help="checks, or parts: right, fast, more, tasks",
    )
    parser.add_argument("--rehearse", action="store_true", help="without a GPU")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        run_inside(**json.loads(args.inside))
        return
    if args.out is None:
        parser.error("--out FOLDER: folder for all results")
    try:
        chosen = chosen_checks(args.only)
    except ValueError as error:
        parser.error(str(error))
    ends = run_checks(chosen, args.out, args.budget, rehearse=args.rehearse)
    if any(end.verdict not in ("passed", "skipped") for end in ends):
        raise SystemExit(1)


def run_inside(
    function: str, arguments: list[Any], device: str, answer: str, *, rehearse: bool
) -> None:
    """Run a check in this process, and write its result to a file.

    Nothing is torn down afterwards, because that can hang after a device fault. A check
    that crashes or is asked to end prints its stack first.
    """
    faulthandler.enable()
    faulthandler.register(END, chain=True)
    try:
        module, _, name = function.partition(":")
        run = getattr(importlib.import_module(module), name)
        result = run(device, rehearse, *arguments)
    except Exception as error:  # An exception of any type fails the check.
        traceback.print_exc()
        said = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
        result = {"passed": False, "reason": " ".join(said)}
    part = Path(f"{answer}.part")
    part.write_text(json.dumps(result, default=str))
    part.rename(answer)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def run_checks(
    checks: Sequence[Check], out: Path, budget: float, *, rehearse: bool
) -> list[Verdict]:
    """Run checks while time is left; store and print their results."""
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + budget
    found = []
    with (out / "checks.jsonl").open("a") as lines, (out / "log.txt").open("a") as log:
        for check in checks:
            left = max(0.0, end - time.monotonic())
            needed = check.seconds / (4.0 if rehearse else 1.0)
            same = next((v for v in found if rehearse and check.is_like(v.check)), None)
            if same is not None:  # In a rehearsal all tasks are the same small one.
                reason = f"rehearsed by {same.check}"
                verdict = Verdict(check.name, same.verdict, reason, 0.0, None)
            elif left < needed:
                reason = f"{left:.0f} s of the budget are left, but {needed:.0f} s are"
                verdict = Verdict(check.name, "skipped", f"{reason} needed", 0.0, None)
            else:
                verdict = run_check(check, log, out, left, rehearse=rehearse)
            found.append(verdict)
            lines.write(json.dumps(asdict(verdict)) + "\n")
            lines.flush()
            os.fsync(lines.fileno())
            print(f"{check.name}: {verdict.verdict}", file=sys.stderr, flush=True)
    text = table(found)
    (out / "table.txt").write_text(text)
    print(text, flush=True)
    return found


def run_check(
    check: Check, log: Any, out: Path, left: float, *, rehearse: bool
) -> Verdict:
    """Run one check in a separate process group, which is ended afterwards."""
    answer = out / "answer.json"
    answer.unlink(missing_ok=True)
    told = asdict(check) | {"answer": str(answer), "rehearse": rehearse}
    for name in ("name", "seconds"):
        told.pop(name)
    print(f"--- {check.name}", file=log, flush=True)
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, __file__, "--inside", json.dumps(told)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
        start_new_session=True,
    )
    own = (10.0 if rehearse else 3.0) * check.seconds
    if not rehearse and "WARP_CACHE_PATH" not in os.environ:
        own += COLD
    limit = min(own, left)
    code = None
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.send_signal(END)
    finally:
        end_group(process)
    seconds = time.monotonic() - start
    if code is None:
        whose = "" if own <= left else ", the rest of the budget"
        reason = f"it did not end within {limit:.0f} s{whose}"
        return Verdict(check.name, "too long", reason, seconds, None)
    if not answer.exists():
        how = signal.Signals(-code).name if code < 0 else f"code {code}"
        reason = f"its process ended with {how} and without a result"
        return Verdict(check.name, "crashed", reason, seconds, None)
    result = json.loads(answer.read_text())
    answer.unlink()
    reason = result.pop("reason")
    verdict = "passed" if result.pop("passed") else "failed"
    return Verdict(check.name, verdict, reason, seconds, result)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process group, after time to print its stack.

    A process that hangs in a driver can survive; it is not waited for.
    """
    for _ in range(2):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2.0)
        with contextlib.suppress(ProcessLookupError):  # No process was left.
            os.killpg(process.pid, signal.SIGKILL)


def table(found: Sequence[Verdict]) -> str:
    """Return one line per check, of at most `TABLE` characters in total."""
    counts = {v.verdict: 0 for v in found}
    for verdict in found:
        counts[verdict.verdict] += 1
    summary = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    room = (TABLE - len(summary) - 1) // max(len(found), 1) - 1

    def line(end: Verdict) -> str:
        said = end.reason or figures(end.result)
        text = f"{end.verdict:8} {end.check:30} {end.seconds:5.0f} s  {said}"
        return " ".join(text.splitlines())[: min(room, 400)]

    return "\n".join([*map(line, found), summary])


def figures(result: Any) -> str:
    """Return the figures of a result on one line, without nested ones."""
    short = {name: v for name, v in (result or {}).items() if not isinstance(v, dict)}
    return "  ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in short.items()
    )


if __name__ == "__main__":
    main()
