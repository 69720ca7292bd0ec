"""Damaged files are read, or refused in one line, without a traceback or a hang.

Data with a checksum are read unchanged, or not at all.
"""

import itertools
import json
import random
import shutil
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from mjlab.entity import EntityCfg, build_entity
from mjlab.export import OnnxPolicy
from mjlab.export.graph import onnx_model, traced
from mjlab.export.reader import to_text
from mjlab.export.runner.policy import CONTRACT, FORMAT, NO_CHECKSUM, with_checksum
from mjlab.motion import Motion, load_motion, save_motion
from mjlab.recording.reader import Recording
from mjlab.report.page import render
from mjlab.rl import Ranks
from mjlab.rl.checkpoint import load_model, save_checkpoint
from mjlab.runs import Checkpoints, Run
from mjlab.runs.checkpoints import find_fault
from mjlab.tasks.robots.cartpole import CARTPOLE_XML
from tests.fuzz.mutate import damaged_bytes, damaged_json, damaged_lines
from tests.recording.test_files import a_file, add, an_episode
from tests.tasks.test_shipped import TRAINED

COUNT = 100
MANY = 5000
LIMIT_S = 10.0
"""Time after which a reader counts as hung, in seconds."""

Damage = Callable[[bytes, random.Random], bytes]


class HangError(BaseException):
    """Reader that hangs."""


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
    """Return whether an error is a project error, one line, and names the file."""
    is_ours = type(error).__module__.startswith("mjlab.")
    return is_ours and file.stem in str(error) and "\n" not in str(error).strip()


def fuzz(
    file: Path,
    damage: Damage,
    read: Callable[[], Any],
    bears_sum: bool,
    refuses: bool,
    *,
    count: int,
    seed: int,
) -> None:
    """Damage a file many times; fail at the first wrong reaction.

    Args:
        file: The file.
        damage: Damages it.
        read: Reads it, and returns the data with a checksum.
        bears_sum: Whether the data must equal the written data.
        refuses: Whether damage is refused, and not only reported.
        count: Number of times.
        seed: Seed of the damage.
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
    assert not refuses or refused > count / 10, (
        f"Only {refused} of {count} were noticed."
    )


class Format(NamedTuple):
    """File of a format, its damage, and its reader."""

    file: Path
    damage: Damage
    read: Callable[[], Any]
    bears_sum: bool = False
    refuses: bool = True
    """Whether damage is refused, and not only reported."""


def run_json(folder: Path) -> Format:
    run = folder / "run"
    shutil.copytree(TRAINED["Cartpole-Balance"], run)
    # The page shows these, and the damage is not in them.
    lines = (run / "metrics.jsonl").read_text().splitlines()[:3]
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")

    def read() -> None:
        assert isinstance(Run(run).task, str)
        render(run)

    return Format(run / "run.json", damaged_json, read)


def metrics(folder: Path) -> Format:
    run = run_json(folder).file.parent
    text = (TRAINED["Cartpole-Balance"] / "metrics.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()[:3]]
    kept = [dict(itertools.islice(line.items(), 6)) for line in lines]
    text = "".join(json.dumps(line) + "\n" for line in kept)
    (run / "metrics.jsonl").write_text(text)
    return Format(
        run / "metrics.jsonl", damaged_lines, lambda: render(run), refuses=False
    )


def config(folder: Path) -> Format:
    path = folder / "config.json"
    shutil.copy(TRAINED["Cartpole-Balance"] / "config.json", path)

    return Format(path, damaged_json, lambda: Run(folder).configs())


def motion(folder: Path) -> Format:
    swing = np.linspace(0.0, 1.0, 20)[:, None] * [1.0, -1.0]
    still = np.tile([1.0, 0.0, 0.0, 0.0], (20, 1))
    names = {"root_body": "base", "joint_names": ("hip", "knee")}
    turning = Motion.from_root("turn", 50.0, still[:, 1:], still, swing, **names)
    path = save_motion(turning, folder / "turn.npz", bare=True)

    def read() -> Any:
        found = load_motion(path)
        return found.fps, found.joint_pos.tolist(), found.body_pos_w.tolist()

    return Format(path, damaged_bytes, read, True)


def mjcf(folder: Path) -> Format:
    path = folder / "robot.xml"
    path.write_text(CARTPOLE_XML.read_text())

    def read() -> None:
        build_entity(EntityCfg(source=path), "robot")

    return Format(path, damaged_bytes, read)


def a_policy(folder: Path) -> tuple[Path, Any, dict[str, Any]]:
    """File of a sum, its model without a checksum, and its contract."""

    def step(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        seen = given["x"] + given["state_sum"]
        return {"action": seen * torch.tensor([1.0, 2.0, 3.0]), "next_sum": seen}

    examples = {name: torch.zeros(3) for name in ("x", "state_sum")}
    sizes = {"shape": [3], "dtype": "float32"}
    contract = {
        "format": FORMAT,
        "checksum": NO_CHECKSUM,
        "robot": "robot",
        "rates": {"control_dt": 0.02},
        "entities": {"robot": {}},
        "inputs": [{"name": "x", "meaning": "a position", **sizes}],
        "states": [{"name": "state_sum", "next": "next_sum", "initial": 0.0, **sizes}],
        "outputs": [{"name": "action", **sizes}],
        "actions": [],
    }
    path = folder / "policy.onnx"
    texts = {CONTRACT: to_text(contract)}
    model = onnx_model(traced(step, examples), examples, texts)
    path.write_bytes(with_checksum(model.SerializeToString())[0])
    return path, model, contract


def onnx(folder: Path) -> Format:
    path, *_ = a_policy(folder)

    def read() -> Any:
        policy = OnnxPolicy(path)
        answers = [policy({"x": [1.0, 2.0, 3.0]}) for _ in range(2)]
        return policy.contract, [answer["action"].tolist() for answer in answers]

    return Format(path, damaged_bytes, read, True)


def _bits(value: Any) -> Any:
    """Return a checkpoint in a form that can be compared bit by bit."""
    if isinstance(value, dict):
        return {key: _bits(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, torch.Tensor) else value


def checkpoint(folder: Path) -> Format:
    model = {"learner": {"weights": torch.arange(60.0).view(3, 20)}, "progress": 3}
    path = save_checkpoint(Checkpoints(folder), 1, model, {"world": 1}, Ranks())
    return Format(path, damaged_bytes, lambda: _bits(load_model(path)), True)


def manifest(folder: Path) -> Format:
    path = checkpoint(folder).file

    def read() -> Any:
        find_fault(path)
        return _bits(load_model(path))

    return Format(path.with_suffix(".json"), damaged_json, read, True)


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


def recording(folder: Path) -> Format:
    file = a_file(folder / "run.h5")
    add(file, an_episode(0, 4), an_episode(1, 700))
    file.finish()
    return Format(file.path, damaged_bytes, lambda: _recorded(file.path), True)


FORMATS = (
    *(run_json, metrics, config, checkpoint, manifest),
    *(recording, motion, mjcf, onnx),
)


@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_damage_is_refused_in_one_line(make: Any, tmp_path: Path) -> None:
    fuzz(*make(tmp_path), count=COUNT, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_heavy_damage_is_refused_in_one_line(
    make: Any, seed: int, tmp_path: Path
) -> None:
    fuzz(*make(tmp_path), count=MANY, seed=seed)
