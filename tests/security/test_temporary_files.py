"""Links and files planted at the path of a new file."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab import files
from mjlab.files import CannotWriteError, folder_beside, write_text
from mjlab.recording import RecordingCfg, merge
from mjlab.recording.layout import recording_layout
from mjlab.recording.recorder import Recorder
from mjlab.render import Video
from mjlab.replay.lerobot import LeRobotFolder
from mjlab.replay.replayed_file import ReplayedFile
from mjlab.rl import PpoAgentCfg
from mjlab.runs import Run
from tests.recording.test_files import a_file, add, an_episode
from tests.recording.test_power_cut import Replayed
from tests.worlds.rl_runs import env_cfg

SECRET = b"not to be replaced"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "victim"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that others can also write to."""
    path = tmp_path / "shared"
    path.mkdir()
    return path


def write_recording(path: Path) -> None:
    file = a_file(path)
    add(file, an_episode(0, 4))
    file.leave()
    assert merge(path)


def write_video(path: Path) -> None:
    with Video(path, 10.0) as film:
        film.add(np.zeros((16, 16, 3), np.uint8))


def write_replayed(path: Path) -> None:
    replay: Any = Replayed(path.with_name("old.h5"))
    ReplayedFile(path, replay).close()


def write_by_a_process(path: Path) -> None:
    cfg = RecordingCfg(folder=str(path.parent), name=path.stem)
    about: dict[str, Any] = {"attributes": {}, "about": {"source_type": "test"}}
    layout = recording_layout([], [])
    Recorder(cfg, 1, torch.device("cpu"), layout, **about).close()


WRITERS: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "text": ("a.txt", "a.txt.{pid}.tmp", lambda path: write_text(path, "new")),
    "recording": ("a.h5", "a.h5.tmp", write_recording),
    "probe": ("a.h5", "a.tmp", write_by_a_process),
    "video": ("a.mp4", ".a.part.mp4", write_video),
    "replayed": ("a.h5", "a.h5.tmp", write_replayed),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_link_planted_at_a_temporary_name_is_not_followed(kind, shared, victim):
    """Names of earlier versions were predictable."""
    name, planted, write = WRITERS[kind]
    link = shared / planted.format(pid=os.getpid())
    link.symlink_to(victim)
    write(shared / name)
    assert victim.read_bytes() == SECRET
    assert link.is_symlink()
    assert (shared / name).is_file() and not (shared / name).is_symlink()


def test_link_at_the_temporary_name_is_refused(shared, victim, monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    (shared / f"a.txt.{'0' * 16}.tmp").symlink_to(victim)
    with pytest.raises(CannotWriteError, match="file exists"):
        write_text(shared / "a.txt", "new")
    with pytest.raises(FileExistsError), folder_beside(shared / "a.txt"):
        pass
    assert victim.read_bytes() == SECRET


def test_temporary_names_are_unique(shared, monkeypatch):
    """64 random bits: among 1,000 names, two are equal once in 10^13 times."""
    names = {files.temporary_beside(shared / "a.txt").name for _ in range(1000)}
    assert len(names) == 1000
    assert all(name.startswith("a.txt.") and name.endswith(".tmp") for name in names)


def test_a_link_that_has_the_name_itself_is_replaced_and_not_followed(shared, victim):
    (shared / "a.txt").symlink_to(victim)
    write_text(shared / "a.txt", "new")
    assert victim.read_bytes() == SECRET
    assert (shared / "a.txt").read_text() == "new"


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_a_file_has_the_permissions_of_any_new_file(mask, shared):
    before = os.umask(mask)
    try:
        write_text(shared / "a.txt", "new")
        (shared / "b.txt").write_text("new")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((shared / n).stat().st_mode) for n in ("a.txt", "b.txt")]
    assert modes == [0o666 & ~mask] * 2


def test_a_failed_write_leaves_no_file(shared, monkeypatch):
    def fails(handle: int) -> None:
        raise OSError("The disk is broken.")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="broken"):
        write_text(shared / "a.txt", "new")
    assert list(shared.iterdir()) == []


def test_user_folder_is_not_mistaken_for_an_unfinished_dataset(shared):
    pytest.importorskip("pyarrow")
    (shared / "demos.tmp").mkdir()
    (shared / "demos.tmp" / "thesis.tex").write_text("years")
    LeRobotFolder(shared / "demos")
    assert (shared / "demos.tmp" / "thesis.tex").read_text() == "years"


def test_the_link_to_the_newest_run_replaces_no_other_file(tmp_path):
    planted = tmp_path / f".latest.{os.getpid()}"
    planted.write_bytes(SECRET)
    configs = {"env": env_cfg(), "agent": PpoAgentCfg()}
    run = Run.create(tmp_path, "A-Task", configs=configs, seed=3)
    run.point_latest()
    assert planted.read_bytes() == SECRET
    assert (tmp_path / "latest").resolve() == run.path.resolve()
