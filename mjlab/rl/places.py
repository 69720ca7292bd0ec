"""Where runs are. Nothing here needs torch, so that looking one up is quick."""

from pathlib import Path

from mjlab.names import UnknownNameError, suggest

LATEST = "latest"
"""Name of the link to the newest run."""


def find_run(place: str | Path, root: Path = Path("logs")) -> Path:
    """The folder of the run that a user means.

    Args:
        place: A run's folder, a task's folder or a folder of runs, each of which
            stands for its newest run, a file in a run's folder, "latest",
            "<task>/latest", or "<task>".
        root: Folder of all runs, for names that are no path.
    """
    for start in (Path(place), Path(root) / place):
        for folder in (start, start / LATEST, *start.parents[:2]):
            if (folder / "run.json").is_file():
                return folder.resolve()
    root = Path(root)
    known = [task.name for task in root.iterdir()] if root.is_dir() else []
    hint = suggest(str(place), known) if known else f"There are no runs in {root}."
    raise UnknownNameError(f"There is no run {str(place)!r}. {hint}")
