"""Sends a run or a file to Weights & Biases: `python scripts/upload.py latest`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Program, read_line, run_program


@dataclass(kw_only=True)
class Options:
    """Options of `upload.py`."""

    project: str = "mjlab"
    """Project there."""

    entity: str | None = None
    """User or team there. Default: the account's own."""

    mode: Literal["online", "offline"] | None = None
    """Send it now, or keep it on this machine for `wandb sync`. Default:
    wandb's own settings, such as WANDB_MODE, else now."""

    logs: Path = Path("logs")
    """Folder of all runs, and of what wandb keeps."""


PROGRAM = Program(
    name="upload.py",
    summary=(
        "Send a run, a motion, a policy, a film or a recording to Weights & Biases, as "
        "an artifact that programs take for it as wandb:ENTITY/PROJECT/NAME. PLACE is "
        "a file, a folder of motions, a run's folder, a task, of which the newest run "
        "is taken, or 'latest', which is the default."
    ),
    subject="[PLACE]",
    options=Options,
    examples=("latest", "turn.npz --project motions", "walk.mp4 --mode offline"),
)


def main(arguments: Sequence[str]) -> None:
    """Send it."""
    line = read_line(PROGRAM, arguments)
    from mjlab.rl.wandb import artifact_of, open_run

    place = find_place(line.subject or "latest", line.options.logs)
    artifact = artifact_of(place)
    line.options.logs.mkdir(parents=True, exist_ok=True)
    run = open_run(
        line.options.logs,
        project=line.options.project,
        entity=line.options.entity,
        mode=line.options.mode,
        offline="--mode offline",
        name=place.name if artifact.type == "model" else None,
    )
    run.log_artifact(artifact)
    run.finish()
    if run.offline:
        print(f"{place} waits in {run.settings.sync_dir} for `wandb sync`.")
    else:
        print(f"Sent as wandb:{run.entity}/{run.project}/{artifact.name.split(':')[0]}")


def find_place(place: str, logs: Path) -> Path:
    """The file or folder that is meant, or the run of that name."""
    path = Path(place)
    if path.is_file() or (path.is_dir() and not (path / "latest").exists()):
        return path.resolve()
    from mjlab.rl import RunFolder

    return RunFolder.find(place, logs).path


if __name__ == "__main__":
    sys.exit(run_program(main))
