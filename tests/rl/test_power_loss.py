"""Power loss at any time: finished data are not lost, incomplete data are not accepted.

Each writer runs once while its disk calls are recorded. A disk model gives the possible
states after a power cut at each call; each state is created, and read by the project's
readers. They must find the old or the new state, and after the writer has finished the
new state.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from mjlab import files
from mjlab.export import OnnxPolicy, write
from mjlab.recording import Recording, merge, read_index
from mjlab.recording import files as recording_files
from mjlab.report.page import REPORT, write_report
from mjlab.rl import Ranks, ship
from mjlab.rl.checkpoint import load_model, save_best, save_checkpoint
from mjlab.runs import Checkpoints, Run
from mjlab.runs.checkpoints import find_checkpoint, read_manifest
from tests.fuzz.test_fuzz import a_policy
from tests.recording.test_files import a_file, add, an_episode
from tests.rl.test_killed_writers import ran_alone
from tests.tasks.test_shipped import TRAINED
from tests.tools.power_loss import (
    SOURCE,
    Call,
    ModelDisk,
    Tree,
    after_power_cuts,
    lay_out,
    read_log,
    read_tree,
    recording_disk,
)
from tests.tools.preload import build_library

# --- The model, and shared functions of the writers -----------------------------------

NEW = b"new and longer"

WRITE = """
import sys
from pathlib import Path
from mjlab import files
from tests.tools.power_loss import recording_disk
folder = Path(sys.argv[1])
{plant}
with recording_disk(folder, Path(sys.argv[2])):
    {work}
"""

WORKS = {
    "write_atomic": (
        "files.write_atomic(folder / 'a', lambda file: file.write(b'new and longer'))",
        {"a": b"old"},
        {"a": NEW},
    ),
    "write_text in a new folder": (
        "files.write_text(folder / 'new' / 'er' / 'a', 'new and longer')",
        {},
        {"new": None, "new/er": None, "new/er/a": NEW},
    ),
    "folder_beside": (
        "with files.folder_beside(folder / 'in' / 'b') as draft:\n"
        "        (draft / 'c').write_bytes(b'new and longer')\n"
        "        files.move_durably(draft, folder / 'in' / 'b')",
        {},
        {"in": None, "in/b": None, "in/b/c": NEW},
    ),
    "append_text": (
        "files.append_text(folder / 'a', 'new and longer')",
        {"a": b"old"},
        {"a": b"old" + NEW},
    ),
}

PLANTS = {
    "no sync of the file": "sync = files.sync\n"
    "files.sync = lambda path: path.is_dir() and sync(path)",
    "no sync of the folder": "sync = files.sync\n"
    "files.sync = lambda path: path.is_dir() or sync(path)",
}


def cuts(
    folder: Path, recorder: Path, work: str, plant: str = ""
) -> tuple[list[Tree], list[Tree]]:
    """Return the possible states of a folder after work of a separate process."""
    before, log = read_tree(folder), folder.with_suffix(".log")
    code = WRITE.format(work=work, plant=plant)
    preloaded = os.environ | {"LD_PRELOAD": str(recorder)}
    subprocess.run([sys.executable, "-c", code, folder, log], env=preloaded, check=True)
    return after_power_cuts(before, read_log(log), read_tree(folder))


def named(trees: list[Tree]) -> list[Tree]:
    """Return trees without files that are being written, which can be incomplete."""
    return [
        {path: data for path, data in tree.items() if files.TEMPORARY not in path}
        for tree in trees
    ]


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(SOURCE, tmp_path_factory.mktemp("recorder"))


def left(*calls: Call) -> list[Tree]:
    """Return the possible states of an existing file `a` after calls, by the model."""
    disk = ModelDisk({"a": b"old"})
    for call in calls:
        disk.call(call)
    found = {str(tree): tree for tree in disk.after_power_cut()}
    return [found[key] for key in sorted(found)]


def test_unsynced_data_may_be_lost_in_any_part() -> None:
    write, sync = Call("write", "a", "", 3, b"+new"), Call("sync", "a", "", 0, b"")
    assert left() == [{"a": b"old"}]
    outcomes = [b"old", b"old+n", b"old+new", b"old\0\0\0\0"]
    assert left(write) == [{"a": data} for data in outcomes]
    assert left(write, sync) == [{"a": b"old+new"}]
    shorter = Call("truncate", "a", "", 1, b"")
    assert {"a": b"o"} in left(shorter) and {"a": b"old"} in left(shorter)


def test_names_may_be_lost_in_any_order_and_a_folder_with_all_that_is_in_it() -> None:
    rename = Call("rename", "a", "b", 0, b"")
    folder, file = (
        Call(*each, "", 0, b"") for each in (("mkdir", "c"), ("create", "c/d"))
    )
    synced = Call("sync", "c", "", 0, b""), Call("sync", ".", "", 0, b"")
    assert left(rename) == [{"a": b"old"}, {"b": b"old"}]
    assert left(rename, synced[1]) == [{"b": b"old"}]
    assert {"a": b"old", "c": None} in left(folder, file, synced[1])
    assert left(folder, file, synced[0]) == [
        {"a": b"old", "c": None, "c/d": b""},
        {"a": b"old"},
    ]
    assert {"a": b"old"} in left(folder, rename)
    assert {"b": b"old", "c": None} in left(folder, rename)
    assert {"b": b"old"} in left(folder, rename) and len(left(folder, rename)) == 4


def test_a_call_that_was_missed_is_noticed() -> None:
    with pytest.raises(AssertionError, match=r"missed what became of \['b'\]"):
        after_power_cuts({"a": b"old"}, [], {"a": b"old", "b": b"new"})


@pytest.mark.parametrize("name", WORKS)
def test_a_file_or_folder_is_complete_after_a_power_cut_at_any_time(
    name: str, tmp_path: Path, recorder: Path
) -> None:
    work, before, after = WORKS[name]
    folder = tmp_path / "disk"
    folder.mkdir()
    lay_out(folder, before)
    at_any, at_end = cuts(folder, recorder, work)
    assert named(at_end) == [after]
    if name != "append_text":  # An added line can be partly written.
        contents = [list(filter(None, tree.values())) for tree in named(at_any)]
        old = list(before.values())
        assert all(content in (old, [NEW]) for content in contents)
        assert old in contents
    assert len(at_any) > 3


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", WORKS)
def test_a_sync_that_is_left_out_is_noticed(
    name: str, plant: str, tmp_path: Path, recorder: Path
) -> None:
    work, before, after = WORKS[name]
    folder = tmp_path / "disk"
    folder.mkdir()
    lay_out(folder, before)
    _, at_end = cuts(folder, recorder, work, PLANTS[plant])
    # A line is added to a file whose name is on disk.
    needs_none = (name, plant) == ("append_text", "no sync of the folder")
    assert (named(at_end) == [after]) is needs_none


# --- The five writers -----------------------------------------------------------------


class Writer(NamedTuple):
    """A write, and the result of a reader."""

    write: Callable[[], object]
    read: Callable[[], Any]


def save(folder: Path) -> Writer:
    checkpoints = Checkpoints(folder / "checkpoints", keep=1)

    def write_one(number: int) -> None:
        weights = torch.full((1000,), float(number))
        model = {"learner": {"weights": weights}, "progress": number}
        save_checkpoint(checkpoints, number, model, {"world": number}, Ranks())

    def read() -> Any:
        found = checkpoints.newest()
        assert found is not None
        weights = load_model(found)["learner"]["weights"]
        assert weights.unique().tolist() == [float(found.stem[-3:])]
        return found.name

    write_one(1)
    return Writer(lambda: write_one(2), read)


def first_save(folder: Path) -> Writer:
    """The first of a run: no earlier one exists, and its folder is new."""
    checkpoints = Checkpoints(folder / "run" / "checkpoints")

    def write_one() -> None:
        save_checkpoint(checkpoints, 1, {"learner": {}}, {"world": 1}, Ranks())

    def read() -> Any:
        found = checkpoints.newest()
        return found and load_model(found)["learner"]

    return Writer(write_one, read)


def replace_best(folder: Path) -> Writer:
    """One file replaces another, and its manifest the other's."""
    checkpoints = Checkpoints(folder / "checkpoints")

    def write_one(number: int) -> None:
        weights = torch.full((1000,), float(number))
        model = {"learner": {"weights": weights}, "progress": number}
        save_best(checkpoints, number, model, score=number / 10)

    def read() -> Any:
        found = checkpoints.best()
        assert found is not None and checkpoints.names() == ["best"]
        manifest = read_manifest(found)
        assert manifest is not None
        number = manifest["iteration"]
        assert manifest["score"] == number / 10
        assert load_model(found)["learner"]["weights"].unique().tolist() == [number]
        return number

    write_one(1)
    return Writer(lambda: write_one(2), read)


def first_save_best(folder: Path) -> Writer:
    checkpoints = Checkpoints(folder / "run" / "checkpoints")

    def read() -> Any:
        found = checkpoints.best()
        return found and load_model(found)["progress"]

    return Writer(
        lambda: save_best(checkpoints, 1, {"learner": {}, "progress": 1}, None), read
    )


def _episodes(path: Path) -> Any:
    with Recording(path) as recording:
        found = [episode.read("rewards")[:1].tolist() for episode in recording]
    steps = [entry["elapsed_steps"] for entry in read_index(path)["episodes"]]
    # Parts contain episodes without steps, which a merge omits.
    return [each for each in found if each], [each for each in steps if each]


def record(folder: Path) -> Writer:
    path = folder / "new" / "run.h5"

    def write_file() -> None:
        file = a_file(path)
        add(file, an_episode(0, 4))
        add(file, an_episode(1, 5), an_episode(2, 6))
        file.leave()

    def read() -> Any:
        if not any(path.with_suffix(".parts").glob("????????.h5")):
            return None
        rewards, steps = _episodes(path)
        assert rewards == [[0.0], [100.0], [200.0]][: len(rewards)]
        assert steps == [4, 5, 6][: len(rewards)]
        return len(rewards)

    return Writer(write_file, read)


def merge_parts(folder: Path) -> Writer:
    path = folder / "run.h5"
    file = a_file(path)
    for world, steps in enumerate((4, 5, 6)):
        add(file, an_episode(world, steps))
        add(file, an_episode(world, 0))
    file.leave()

    return Writer(lambda: merge(path), lambda: _episodes(path))


def ship_run(folder: Path) -> Writer:
    to = folder / "trained" / "Task"
    old, new = (Run(TRAINED[f"Cartpole-{n}"]) for n in ("Balance", "Swingup"))

    def read() -> Any:
        # A cut between two renames leaves the old one under another name, which `ship`
        # finds.
        places = [to] if to.exists() else list(to.parent.glob("Task.*.old"))
        assert len(places) == 1
        model = load_model(find_checkpoint(places[0]))
        lines = (places[0] / "metrics.jsonl").read_text().splitlines()
        steps = [len(json.loads(line)) for line in lines]
        configs = list(Run(places[0]).configs())
        return Run(places[0]).task, model["progress"], configs, steps

    ship(old, to)
    # Building a task allocates more than the counted calls.
    agent = new.configs()["agent"]
    return Writer(lambda: ship(new, to, agent=agent), read)


def first_ship(folder: Path) -> Writer:
    run, to = Run(TRAINED["Cartpole-Balance"]), folder / "trained" / "Task"

    def read() -> Any:
        if not to.exists():
            return None
        return Run(to).info(), load_model(find_checkpoint(to))["progress"]

    agent = run.configs()["agent"]
    return Writer(lambda: ship(run, to, agent=agent), read)


def export(folder: Path) -> Writer:
    path, model, contract = a_policy(folder)

    def write_file(meaning: str) -> None:
        contract["inputs"][0]["meaning"] = meaning
        del model.metadata_props[:]
        entry = model.metadata_props.add()
        entry.key, entry.value = write.CONTRACT, write.to_text(contract)
        write._write(path, model, dict(contract), lambda file: 0.0, 1.0)

    def read() -> Any:
        beside = json.loads(path.with_suffix(".contract.json").read_text())
        assert beside["inputs"][0]["meaning"] in ("old", "new")
        return OnnxPolicy(path).contract["inputs"][0]["meaning"]

    write_file("old")
    return Writer(lambda: write_file("new"), read)


def report(folder: Path) -> Writer:
    run = folder / "run"
    shutil.copytree(TRAINED["Cartpole-Balance"], run)
    lines = (run / "metrics.jsonl").read_text().splitlines()
    (run / "metrics.jsonl").write_text("\n".join(lines[:3]) + "\n")
    write_report(run)
    (run / "metrics.jsonl").write_text("\n".join(lines[:9]) + "\n")

    def read() -> Any:
        text = (run / REPORT).read_text()
        assert text.rstrip().endswith("</html>")
        return text.count("<svg"), text.split("</header>")[0].count(">")

    return Writer(lambda: write_report(run), read)


WRITERS = [
    *(save, first_save, replace_best, first_save_best, record, merge_parts),
    *(ship_run, first_ship, export, report),
]


def losses(
    make: Callable[[Path], Writer], folder: Path, *, most: int = 5
) -> tuple[int, list[str]]:
    """Record a writer; return the number of outcomes, and their losses."""
    folder.mkdir()
    writer = make(folder)
    before, found_before = read_tree(folder), writer.read()
    log = folder.with_suffix(".log")
    with recording_disk(folder, log):
        writer.write()
    after, found_after = read_tree(folder), writer.read()
    at_any, at_end = after_power_cuts(before, read_log(log), after)
    lost: list[str] = []
    for tree in at_any:
        valid = [found_after]
        if tree not in at_end:
            # The recording was readable with no episode, and with the first one, too.
            valid += [found_before, *((0, 1) if make is record else ())]
        lay_out(folder, tree)
        for when in ("after the cut", "when it was written again"):
            try:
                found = writer.read()
                if found not in valid:
                    lost.append(f"{when}: found {found} in {sorted(tree)}")
                writer.write()
            except Exception as error:
                lost.append(f"{when}: {type(error).__name__}: {error}")
                break
            valid = [found_after]
        if len(lost) >= most:
            break
    return len(at_any), lost


@pytest.mark.slow
@pytest.mark.parametrize("make", WRITERS, ids=lambda make: make.__name__)
def test_a_power_cut_at_any_moment_loses_no_data(
    make: Any,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    recorder: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    if ran_alone(request, LD_PRELOAD=str(recorder)):
        return
    number, lost = losses(make, tmp_path / "whole")
    assert not lost, "\n".join(lost)
    assert number > 5
    record_property("summary", f"{make.__name__}: {number} outcomes of power cuts")
    # Without file syncs, losses must be detected.
    sync = files.sync
    monkeypatch.setattr(files, "sync", lambda path: path.is_dir() and sync(path))
    assert losses(make, tmp_path / "planted", most=1)[1]


@pytest.mark.slow
def test_a_merge_that_deletes_parts_before_its_file_is_on_disk_is_noticed(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    recorder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if ran_alone(request, LD_PRELOAD=str(recorder)):
        return
    monkeypatch.setattr(recording_files, "move_durably", os.replace)
    assert losses(merge_parts, tmp_path / "planted", most=1)[1]
