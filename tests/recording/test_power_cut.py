"""Replacements and deletions happen after the new file is on disk, for all writers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mjlab.cli.episodes import save
from mjlab.envs.rollout import EpisodeResult
from mjlab.files import write_text
from mjlab.recording import Recording, RecordingCfg, merge
from mjlab.recording.config import files_of
from mjlab.render import Video
from mjlab.replay.replayed_file import ReplayedFile
from mjlab.replay.robomimic import RobomimicFile
from mjlab.report.page import REPORT, write_report
from mjlab.rl import ship
from mjlab.runs import Run
from tests.recording.test_files import a_file, add, an_episode
from tests.replay.test_flight_recorder import break_again, broken_cfg, make
from tests.tasks.test_shipped import TRAINED
from tests.tools.power_cut import Disk


def test_checker_detects_early_renames_and_deletions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    assert disk.unsynced(tmp_path) == ["new", "old"]
    (tmp_path / "new").rename(tmp_path / "named")
    (tmp_path / "old").unlink()
    assert disk.faults == [
        "new is renamed before it is on disk",
        f"{tmp_path / 'old'} is deleted before named is on disk",
    ]
    write_text(tmp_path / "named", "newer")
    assert (disk.unsynced(tmp_path), len(disk.faults)) == ([], 2)


def test_a_recording_and_its_merge_lose_no_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    path = tmp_path / "run.h5"
    file = a_file(path)
    add(file, an_episode(0, 4), an_episode(1, 5))
    assert disk.unsynced(tmp_path) == []
    file.leave()
    assert merge(path)
    assert disk.unsynced(tmp_path) == disk.faults == []
    assert disk.renames >= 4 and disk.deletions >= 2


def test_a_dump_has_its_name_when_all_of_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, _, _ = make(broken_cfg(), tmp_path)
    disk = Disk(monkeypatch)
    break_again(env, 1)
    assert len(list(tmp_path.glob("*.h5"))) == 1
    assert disk.unsynced(tmp_path) == disk.faults == []


def test_pages_run_files_and_evaluations_are_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = Run(TRAINED["Cartpole-Balance"])
    disk = Disk(monkeypatch)
    run = ship(shipped, tmp_path / "logs" / "task" / "run")
    write_report(run.path)
    run.update(status="finished")
    run.reopen(3, "{}")
    episode = EpisodeResult(
        seed=0,
        total=1.0,
        steps=5,
        seconds=0.1,
        fell=False,
        ended_by=("time_out",),
        success_once=None,
        success_at_end=None,
        figures={},
    )
    save(run.path / "evaluation.json", {}, [episode])
    assert (run.path / REPORT).is_file()
    assert disk.unsynced(run.path) == disk.faults == []
    kept = (run.path / "config_until_000003.json").read_text()
    assert kept == (shipped.path / "config.json").read_text()


def test_a_new_version_of_a_shipped_run_is_on_disk_before_the_old_one_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(TRAINED["Cartpole-Balance"])
    to = tmp_path / "trained"
    disk = Disk(monkeypatch)
    ship(run, to)
    ship(run, to)
    assert disk.unsynced(tmp_path) == disk.faults == []
    assert disk.deletions >= 5
    assert [each.name for each in tmp_path.iterdir()] == ["trained"]


def test_a_film_has_its_name_when_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    with Video(tmp_path / "walk.mp4", 10.0) as film:
        film.add(np.zeros((16, 16, 3), np.uint8))
    assert [each.name for each in tmp_path.iterdir()] == ["walk.mp4"]
    assert disk.unsynced(tmp_path) == disk.faults == []


class Replayed:
    """Parts of a replay that a file needs when it is opened and closed."""

    def __init__(self, path: Path) -> None:
        groups = {"groups": {"actor": None}}
        manager = type("O", (), groups)
        self.env = type("Env", (), {"observation_manager": manager, "step_dt": 0.02})
        about = {"path": path, "about": {}, "attributes": {}, "env_kwargs": {}}
        self.recording = type("R", (), about | {"env_id": "a"})
        self.by = "test"


def test_a_replayed_file_has_its_name_when_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed: Any = Replayed(tmp_path / "old.h5")
    file = ReplayedFile(tmp_path / "new.h5", replayed)
    disk = Disk(monkeypatch)
    file.close()
    assert disk.renames >= 1
    assert disk.unsynced(tmp_path) == disk.faults == []


def test_a_converted_file_has_its_name_when_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source").mkdir()
    file = a_file(tmp_path / "source" / "run.h5")
    arrays, attributes = an_episode(0, 4)
    flags = {name: np.zeros(4, bool) for name in ("terminated", "truncated")}
    arrays |= {"actions": np.zeros((4, 1)), "env_states/a": np.zeros((5, 3))}
    add(file, (arrays | flags, attributes))
    file.finish()
    disk = Disk(monkeypatch)
    with Recording(file.path) as recording:
        RobomimicFile(tmp_path / "out" / "demos.hdf5").write(recording)
    assert disk.renames >= 1
    assert disk.unsynced(tmp_path / "out") == disk.faults == []


# --- Deletion -----------------------------------------------------------------------


def test_a_folder_that_ship_did_not_make_is_refused_and_stays(tmp_path: Path) -> None:
    run = Run(TRAINED["Cartpole-Balance"])
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years")
    with pytest.raises(
        ValueError, match=r"mine is not replaced: .*thesis\.tex does not"
    ):
        ship(run, mine)
    with pytest.raises(ValueError, match=r"thesis\.tex is not replaced"):
        ship(run, mine / "thesis.tex")
    assert (mine / "thesis.tex").read_text() == "years"
    assert ship(run, tmp_path / "new").info() == run.info()


def test_a_folder_of_parts_with_anything_else_in_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    mine = tmp_path / "run.parts" / "thesis.tex"
    mine.parent.mkdir()
    mine.write_text("years")
    with pytest.raises(RuntimeError, match=r"run\.parts is not deleted: 'thesis\.tex'"):
        a_file(path)
    assert mine.read_text() == "years"
    mine.unlink()
    said: list[str] = []
    file = a_file(path, said)
    add(file, an_episode(0, 4))
    mine.write_text("years")
    file.finish()
    assert mine.read_text() == "years"
    assert len(said) == 1 and "'thesis.tex' in it is not part" in said[0]


def test_a_name_is_in_use_if_any_of_its_files_exists(tmp_path: Path) -> None:
    (tmp_path / "walk.json").write_text(json.dumps({"mine": True}))
    cfg = RecordingCfg(folder=str(tmp_path), name="walk")
    assert files_of(cfg)["all"].name == "walk_2.h5"
