"""`verify`: check an exported policy, or a policy of another project."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line

EQUAL, DEPARTS, UNREADABLE, OPEN = 0, 1, 2, 3
"""Exit codes for no mismatch, a mismatch, an unreadable file, and an open question."""

Form = Literal["mjlab", "isaaclab", "playground", "legged-gym"]


@dataclass(kw_only=True)
class VerifyOptions(Options):
    """Check a policy file against its recording, a robot model, or a log.

    For a policy that `export` wrote: replays the recorded first steps in plain MuJoCo,
    and reports the first mismatch, its size and the most likely reason: order, sign,
    quaternions, degrees, default offset, scale, delay, gains, frame, lever arm, mass,
    friction or gravity. With --log, checks the runner's log from a robot.

    For a policy of another project, --as names its format: mjlab (metadata of the ONNX
    file), isaaclab (deploy.yaml and optionally env.yaml), playground, or legged-gym.
    The files are compared with each other and with --robot, then with the states in
    --recording or --log, and --simulate lets the robot walk. What the evidence cannot
    decide is reported as undetermined.

    The exit code is 0 if everything matches, 1 for a mismatch, 2 for an unreadable
    file, 3 if something is undetermined.
    """

    program = "verify.py"
    examples = (
        "policy.onnx",
        "policy.onnx --robot robot.xml",
        "policy.onnx --log steps.jsonl",
        "policy.onnx --as isaaclab --config deploy.yaml --robot g1.xml",
        "policy.onnx --as playground --robot scene.xml --recording states.npz",
    )

    file: Positional[Path | None] = None
    """The ONNX file."""

    as_: Form | None = None
    """Format of a policy of another project."""

    config: tuple[Path, ...] = ()
    """Configuration files of the other project's policy, such as deploy.yaml."""

    robot: Path | None = None
    """MJCF model of a robot, used instead of the scene in the file."""

    recording: Path | None = None
    """Recorded states with observations and actions, NPZ or lines of JSON."""

    log: Path | None = None
    """Log that the runner wrote on a robot, checked against the contract."""

    simulate: bool = False
    """Walk the robot of --robot in simulation, with the contract of --as and with other
    interpretations of that contract."""


def main(arguments: Sequence[str]) -> None:
    """Verify the file, and exit with the exit code."""
    options = read_line(VerifyOptions, arguments).options
    file = options.file
    if file is None:
        raise UsageError("FILE is missing: name an ONNX file, such as policy.onnx.")
    if file.suffix == "" and not file.exists():
        raise UsageError(
            f"{file} is not an exported file. Export it first: mjlab export {file}"
        )
    others = (options.robot, options.log, options.recording)
    for path in (file, *others, *options.config):
        if path is not None and not path.is_file():
            raise UsageError(f"File {path} does not exist.")
    from mjlab.export.runner.policy import ContractError

    try:
        text, code = (own if options.as_ is None else foreign)(file, options)
    except ContractError as error:
        sys.stderr.write(f"error: {str(error).rstrip('.')}\n")
        sys.exit(UNREADABLE)
    print(text)
    sys.exit(code)


def own(file: Path, options: VerifyOptions) -> tuple[str, int]:
    """Verify a policy that `export` wrote; return the verdict and the exit code."""
    from mjlab.export.verify import verify, verify_log

    for name in ("config", "recording", "simulate"):
        if getattr(options, name):
            raise UsageError(
                f"--{name} is for policies of other projects: add --as FORMAT."
            )
    if options.robot is not None and options.log is not None:
        raise UsageError("--robot and --log exclude each other: run verify twice.")
    verdict = (
        verify(file, options.robot)
        if options.log is None
        else verify_log(file, options.log)
    )
    return verdict.text, DEPARTS if verdict.departures else EQUAL


def foreign(file: Path, options: VerifyOptions) -> tuple[str, int]:
    """Verify a policy of another project; return the verdict and the exit code."""
    from mjlab.cli.progress import tell_progress
    from mjlab.export.foreign import verify_foreign

    verdict = verify_foreign(
        file,
        options.as_ or "",
        options.config,
        robot=options.robot,
        recording=options.recording,
        log=options.log,
        simulate=options.simulate,
        progress=tell_progress("simulation", "walk", every=1),
    )
    codes = {"ok": EQUAL, "mismatch": DEPARTS, "undetermined": OPEN}
    return verdict.text, codes[verdict.state]
