"""`upload`: send a run or a file to Weights & Biases."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from mjlab.cli.line import Options, read_line
from mjlab.runs import find
from mjlab.task_file import typed_task


@dataclass(kw_only=True)
class UploadOptions(Options):
    """Send a run or a file to Weights & Biases.

    A run, a motion, a policy, a video or a recording becomes an artifact that other
    commands open as wandb:ENTITY/PROJECT/NAME.
    """

    program = "upload.py"
    examples = (
        "latest",
        "turn.npz --project motions",
        "walk.mp4 --mode offline",
    )

    place: Positional[str] = "latest"
    """A file, a folder of motions, a run's folder, a task (its newest run), or
    'latest'."""

    project: str = "mjlab"
    """Project on Weights & Biases."""

    entity: str | None = None
    """User or team on Weights & Biases. Default: the account's default."""

    mode: Literal["online", "offline"] | None = None
    """Upload now, or keep it on this machine for `wandb sync`. Default: wandb's own
    settings, such as WANDB_MODE, else online."""

    logs: Path = Path("logs")
    """Folder of all runs, and of wandb's files."""


def main(arguments: Sequence[str]) -> None:
    """Upload the run or file."""
    options = read_line(UploadOptions, arguments).options
    from mjlab.runs.wandb import artifact_of, open_run

    place = find_place(options.place, options.logs)
    artifact = artifact_of(place)
    options.logs.mkdir(parents=True, exist_ok=True)
    run = open_run(
        options.logs,
        project=options.project,
        entity=options.entity,
        mode=options.mode,
        offline="--mode offline",
        name=place.name if artifact.type == "model" else None,
    )
    run.log_artifact(artifact)
    run.finish()
    if run.offline:
        print(
            f"{place} is stored in {run.settings.sync_dir}; upload it with `wandb "
            "sync`."
        )
    else:
        print(f"Sent as wandb:{run.entity}/{run.project}/{artifact.name.split(':')[0]}")


def find_place(place: str, logs: Path) -> Path:
    """Return the path of a file or folder, or of the run of that name."""
    path = Path(place)
    if path.is_file() or (path.is_dir() and not (path / "latest").exists()):
        return path.resolve()
    return find(typed_task(place), logs, shipped=False).run.path
