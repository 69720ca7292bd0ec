"""`doctor`: diagnose why a training run does not learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional

from mjlab.cli.line import read_line
from mjlab.cli.tasks import RunOptions
from mjlab.driver import unused_gpu
from mjlab.settings.bounds import at_least
from mjlab.threads import prepare_threads

prepare_threads()


@dataclass(kw_only=True)
class DoctorOptions(RunOptions):
    """Diagnose why a training run does not learn.

    Lists findings and remedies, the most certain first, from the run's metrics, its
    newest checkpoint and a short rollout. Training may still be running. The report
    shows the findings too. If an NVIDIA driver is installed but cannot be used, the
    first line gives the reason.
    """

    program = "doctor.py"
    examples = ("latest", "Velocity-G1-Flat --try 20")

    run: Positional[str] = "latest"
    """A run's folder, a task (its newest run), or 'latest'."""

    try_: Annotated[int, at_least(0)] = 0
    """Train this many iterations with and without the first remedy that is a setting,
    both from the same checkpoint, and compare."""


def main(arguments: Sequence[str]) -> None:
    """Print the findings, and try a remedy with --try."""
    options = read_line(DoctorOptions, arguments).options
    unused = unused_gpu()
    if unused:  # Printed before the run is read, which fails if there is none yet.
        print(f"The GPU is not used: {unused}.", flush=True)
    from mjlab.cli.examine import examine, first_to_try, try_remedy
    from mjlab.doctor import listing, save

    run = options.find(options.run).run
    configs = run.configs(accept_changes=options.accept_changes)
    findings, looked_at = examine(run, configs)
    print(listing(findings, looked_at))
    if not run.is_shipped:
        save(run.path, findings, looked_at)
    if options.try_:
        chosen = first_to_try(findings)
        print(f"\nTrying {chosen.options}", flush=True)
        print(try_remedy(run, configs, chosen, options.try_))
