"""Damaged files are read, or refused in one line: no traceback of ours, no hang.

What bears a checksum is read as it was, or not at all.
"""

import random
import shutil
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.recording.reader import Recording
from mjlab.report.page import render
from mjlab.rl import Checkpoints, Ranks, RunFolder
from mjlab.rl.checkpoint import find_fault, load_model
from tests.fuzz.mutate import damaged_bytes, damaged_json
from tests.recording.test_files import a_file, an_episode
from tests.tasks.test_shipped import TRAINED

COUNT = 300
MANY = 5000
LIMIT_S = 10.0
"""Seconds after which a reader hangs."""

Damage = Callable[[bytes, random.Random], bytes]


class HangError(BaseException):
    """A reader that does not come back."""


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def refused_as_it_should_be(error: Exception, file: Path) -> bool:
    """Whether an error is of the project's kind, one line, and names the file."""
    is_ours = type(error).__module__.startswith("mjlab.")
    return is_ours and file.stem in str(error) and "\n" not in str(error).strip()


def fuzz(
    file: Path,
    damage: Damage,
    read: Callable[[], Any],
    *,
    count: int,
    seed: int,
    bears_sum: bool,
) -> None:
    """Damage a file many times; fail with the first that is answered wrongly.

    Args:
        file: The file.
        damage: Damages it.
        read: Reads it, and returns what a checksum protects.
        count: Times.
        seed: Of the damage.
        bears_sum: Whether what is read has to be what was written.
    """
    chance = random.Random(seed)
    data, good = file.read_bytes(), read()
    refused = 0
    for number in range(count):
        file.write_bytes(damage(data, chance))
        try:
            with time_limit(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = read()
        except Exception as error:
            if not refused_as_it_should_be(error, file):
                raise AssertionError(f"Damage {number} of seed {seed}") from error
            refused += 1
        else:
            same = not bears_sum or found == good
            assert same, f"Damage {number} of seed {seed} is read, and not noticed."
    assert refused > count / 10, f"Only {refused} of {count} were noticed."


def run_json(folder: Path) -> tuple[Path, Damage, Callable[[], Any], bool]:
    run = folder / "run"
    shutil.copytree(TRAINED["Cartpole-Balance"], run)
    # The page draws these, and the damage is not in them.
    lines = (run / "metrics.jsonl").read_text().splitlines()[:3]
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")

    def read() -> None:
        assert isinstance(RunFolder(run).info()["task"], str)
        render(run)

    return run / "run.json", damaged_json, read, False


def _bits(value: Any) -> Any:
    """A checkpoint as what can be compared bit by bit."""
    if isinstance(value, dict):
        return {key: _bits(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, torch.Tensor) else value


def checkpoint(folder: Path) -> tuple[Path, Damage, Callable[[], Any], bool]:
    model = {"learner": {"weights": torch.arange(60.0).view(3, 20)}, "progress": 3}
    path = Checkpoints(folder).save(1, model, {"world": 1}, Ranks())
    return path, damaged_bytes, lambda: _bits(load_model(path)), True


def checkpoint_alone(folder: Path) -> tuple[Path, Damage, Callable[[], Any], bool]:
    path, damage, read, _ = checkpoint(folder)
    path.with_suffix(".json").unlink()
    return path, damage, read, True


def manifest(folder: Path) -> tuple[Path, Damage, Callable[[], Any], bool]:
    path, *_ = checkpoint(folder)

    def read() -> Any:
        find_fault(path)
        return _bits(load_model(path))

    return path.with_suffix(".json"), damaged_json, read, True


def _recorded(path: Path) -> Any:
    with Recording(path) as recording:
        _ = recording.env_id, recording.env_kwargs, recording.env_cfg, recording.about
        _ = recording.seed
        return [
            (
                e.number,
                e.length,
                e.world,
                {name: e.read(name).tolist() for name in e.names},
            )
            for e in recording
        ]


def damaged_recording(data: bytes, chance: random.Random) -> bytes:
    """Other bytes, or a cut, anywhere but in the heap of the attributes' texts.

    HDF5 itself never comes back from that if sizes in it are damaged.
    """
    heap = data.index(b"GCOL")
    size = int.from_bytes(data[heap + 8 : heap + 16], "little")
    copy = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        copy[chance.randrange(len(copy))] = chance.randrange(256)
    copy[heap : heap + size] = data[heap : heap + size]
    is_cut = chance.random() < 0.2
    return bytes(copy[: chance.randrange(len(copy))] if is_cut else copy)


def recording(folder: Path) -> tuple[Path, Damage, Callable[[], Any], bool]:
    file = a_file(folder / "run.h5")
    file.add([an_episode(0, 4), an_episode(1, 700)])
    file.finish(clean=True)
    return file.path, damaged_recording, lambda: _recorded(file.path), True


def sidecar(folder: Path) -> tuple[Path, Damage, Callable[[], Any], bool]:
    path, _, read, _ = recording(folder)
    return path.with_suffix(".json"), damaged_json, read, True


FORMATS = (run_json, checkpoint, checkpoint_alone, manifest, recording, sidecar)


@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_damage_is_refused_in_one_line(make: Any, tmp_path: Path) -> None:
    file, damage, read, bears_sum = make(tmp_path)
    fuzz(file, damage, read, count=COUNT, seed=0, bears_sum=bears_sum)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_much_damage_is_refused_in_one_line(
    make: Any, seed: int, tmp_path: Path
) -> None:
    file, damage, read, bears_sum = make(tmp_path)
    fuzz(file, damage, read, count=MANY, seed=seed, bears_sum=bears_sum)
