"""Checkpoint files, found by their manifests; written here without torch."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mjlab.runs import CheckpointError, Checkpoints
from mjlab.runs.checkpoints import find_checkpoint, find_fault, read_manifest


def write(folder: Path, name: str) -> Path:
    """Write the files of a checkpoint, with a manifest as the format describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{name}.pt": b"networks of " + name.encode(), f"{name}.rank0.pt": b"w"}
    for file, data in files.items():
        (folder / file).write_bytes(data)
    sums = {file: hashlib.sha256(data).hexdigest() for file, data in files.items()}
    manifest = {"format": 2, "iteration": 1, "files": sums}
    (folder / f"{name}.json").write_text(json.dumps(manifest))
    return folder / f"{name}.pt"


def test_a_checkpoint_is_found_by_its_file_its_folder_and_its_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "checkpoints"
    older, path = write(folder, "model_000001"), write(folder, "model_000010")
    best = write(folder, "best")
    assert find_checkpoint(older) == older
    assert find_checkpoint(folder) == path
    assert find_checkpoint(tmp_path) == path
    assert find_checkpoint(tmp_path, best=True) == best
    best.write_bytes(b"torn")
    assert find_checkpoint(tmp_path, best=True) == path
    with pytest.raises(CheckpointError, match="No complete checkpoint"):
        find_checkpoint(tmp_path / "nowhere")


def test_iterations_are_sorted_by_number_and_best_comes_last(tmp_path: Path) -> None:
    for name in ("best", "model_1000000", "model_000002", "model_000100"):
        write(tmp_path, name)
    (tmp_path / "model_000300.pt").touch()  # Without a manifest.
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.iterations() == [1000000, 100, 2]
    names = ["model_1000000", "model_000100", "model_000002", "best"]
    assert checkpoints.names() == names
    assert Checkpoints(tmp_path / "nowhere").names() == []


def test_prune_keeps_the_newest_and_sweep_deletes_unfinished_files(
    tmp_path: Path,
) -> None:
    for number in range(1, 6):
        write(tmp_path, f"model_{number:06d}")
    Checkpoints(tmp_path, keep=0).prune()
    assert Checkpoints(tmp_path).iterations() == [5, 4, 3, 2, 1]
    Checkpoints(tmp_path, keep=2).prune()
    left = {file.name.partition(".")[0] for file in tmp_path.iterdir()}
    assert left == {"model_000005", "model_000004"}
    (tmp_path / "model_000006.pt.0123.tmp").touch()
    Checkpoints(tmp_path).sweep()
    assert not list(tmp_path.glob("*.tmp"))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [truncate, os.unlink])
@pytest.mark.parametrize("ending", [".pt", ".rank0.pt", ".json"])
def test_the_newest_undamaged_checkpoint_is_chosen(
    tmp_path: Path,
    ending: str,
    damage: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, second = write(tmp_path, "model_000001"), write(tmp_path, "model_000002")
    assert Checkpoints(tmp_path).newest() == second
    assert not caplog.messages
    damage(second.with_suffix(ending))
    assert find_fault(second) is not None
    assert Checkpoints(tmp_path).newest() == first
    # Without a manifest, a checkpoint is unfinished, which needs no message.
    unfinished = damage is os.unlink and ending == ".json"
    assert len(caplog.messages) == (0 if unfinished else 1)
    for said in caplog.messages:
        assert "model_000002" in said and said.endswith("Using model_000001.pt.")


def test_a_manifest_that_names_files_elsewhere_reaches_none(tmp_path: Path) -> None:
    path = write(tmp_path / "checkpoints", "model_000001")
    secret = tmp_path / "secret"
    secret.write_text("x")
    manifest = json.loads(path.with_suffix(".json").read_text())
    manifest["files"]["../secret"] = hashlib.sha256(b"x").hexdigest()
    path.with_suffix(".json").write_text(json.dumps(manifest))
    assert find_fault(path) == "../secret is missing"
    assert Checkpoints(path.parent).newest() is None


def test_the_manifest_of_a_file_that_just_arrived_counts(tmp_path: Path) -> None:
    best = write(tmp_path, "best")
    old = read_manifest(best)
    new = {"files": {"best.pt": hashlib.sha256(b"new").hexdigest()}}
    coming = {"format": 2, "iteration": 7} | new
    best.with_suffix(".next.json").write_text(json.dumps(coming))
    assert read_manifest(best) == old
    best.write_bytes(b"new")
    assert read_manifest(best) == coming
    assert find_fault(best) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"files": [1]}'])
def test_a_damaged_manifest_is_a_fault_and_an_error_in_one_line(
    tmp_path: Path, text: str
) -> None:
    path = write(tmp_path, "model_000001")
    path.with_suffix(".json").write_text(text)
    assert find_fault(path) == f"the manifest of {path.name} is damaged"
    with pytest.raises(CheckpointError, match=r"model_000001\.json") as caught:
        read_manifest(path)
    assert "\n" not in str(caught.value)
