"""Finds the run that a user means; where there is none, the one that ships."""

from pathlib import Path

from mjlab.registry import entries, load_task

from mjlab.names import UnknownNameError
from mjlab.rl import RunFolder


def find_run(place: str | Path, logs: Path) -> RunFolder:
    """The run that a user means, or the one that ships with the task of that name.

    Args:
        place: As `RunFolder.find` takes it.
        logs: Folder of all runs.
    """
    try:
        return RunFolder.find(place, logs)
    except UnknownNameError:
        task = str(place).removesuffix("/latest")
        trained = load_task(task).trained if task in entries() else None
        if trained is None:
            raise
        print(
            f"There is no run of {task} in {logs}: this is the policy that ships with "
            "it.",
            flush=True,
        )
        return RunFolder(trained)


def ships(run: RunFolder) -> bool:
    """Whether a run came with a task, so that nothing is to be written into it."""
    task = run.info()["task"]
    trained = load_task(task).trained if task in entries() else None
    return trained is not None and trained.resolve() == run.path.resolve()
