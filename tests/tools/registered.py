"""Tasks of tests, registered by an entry point like an installed package."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def registered(folder: Path, **tasks: str) -> Iterator[None]:
    """Register tasks within the block.

    Args:
        folder: An empty folder for the package's metadata.
        tasks: `module:attribute` of each task, by its id with "_" for "-".
    """
    info = folder / "tests-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: tests\nVersion: 1.0\n")
    points = [f"{id.replace('_', '-')} = {place}" for id, place in tasks.items()]
    (info / "entry_points.txt").write_text("\n".join(["[mjlab.tasks]", *points, ""]))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield
