"""File writers, for tests that kill them or let each system call fail."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from mjlab.export import OnnxPolicy, write
from mjlab.recording import Recording, merge, read_index
from mjlab.report.page import REPORT, write_report
from mjlab.rl import Ranks, ship
from mjlab.rl.checkpoint import load_model, save_best, save_checkpoint
from mjlab.runs import Checkpoints, Run
from mjlab.runs.checkpoints import find_checkpoint, read_manifest
from tests.fuzz.test_fuzz import a_policy
from tests.recording.test_files import a_file, add, an_episode
from tests.tasks.test_shipped import TRAINED


class Writer(NamedTuple):
    """A writer of a file, and a reader of its contents."""

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
    """First save of a run, in a new folder."""
    checkpoints = Checkpoints(folder / "run" / "checkpoints")

    def write_one() -> None:
        save_checkpoint(checkpoints, 1, {"learner": {}}, {"world": 1}, Ranks())

    def read() -> Any:
        found = checkpoints.newest()
        return found and load_model(found)["learner"]

    return Writer(write_one, read)


def replace_best(folder: Path) -> Writer:
    """Replace the best checkpoint and its manifest."""
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


def episodes_in(path: Path) -> Any:
    with Recording(path) as recording:
        found = [episode.read("rewards")[:1].tolist() for episode in recording]
    steps = [entry["elapsed_steps"] for entry in read_index(path)["episodes"]]
    # Parts have the episodes without steps, which a merge omits.
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
        rewards, steps = episodes_in(path)
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

    return Writer(lambda: merge(path), lambda: episodes_in(path))


def ship_run(folder: Path) -> Writer:
    to = folder / "trained" / "Task"
    old, new = (Run(TRAINED[f"Cartpole-{n}"]) for n in ("Balance", "Swingup"))

    def read() -> Any:
        # A cut between two renames leaves the old one aside, where `ship` finds it.
        places = [to] if to.exists() else list(to.parent.glob("Task.*.old"))
        assert len(places) == 1
        model = load_model(find_checkpoint(places[0]))
        lines = (places[0] / "metrics.jsonl").read_text().splitlines()
        steps = [len(json.loads(line)) for line in lines]
        configs = list(Run(places[0]).configs())
        return Run(places[0]).task, model["progress"], configs, steps

    ship(old, to)
    # Building a task allocates more than the calls that can fail are counted to.
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
