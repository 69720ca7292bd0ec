"""Writers of figures: JSON lines, TensorBoard and Weights & Biases."""

import importlib
import json
import logging

import pytest

from mjlab.rl import LoggingCfg
from mjlab.rl.logging import JsonlWriter, read_rows, writing
from tests.worlds.rl_runs import agent_cfg, make_loop


def test_figures_go_to_jsonl_and_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with writing(tmp_path, LoggingCfg(), config={}) as writers:
        loop = make_loop(agent_cfg(2), writers=writers)
        loop.run()
    lines = read_rows(tmp_path / "metrics.jsonl")
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    scalars = events.Scalars("Loss/value")
    assert [scalar.step for scalar in scalars] == [1, 2]
    assert scalars[1].value == pytest.approx(lines[1]["Loss/value"])
    assert lines[1]["Loss/value"] == loop.figures["Loss/value"]


def test_without_tensorboard_the_installation_is_suggested_and_training_continues(
    tmp_path, monkeypatch, caplog
):
    hide(monkeypatch, "torch.utils.tensorboard")
    with (
        caplog.at_level(logging.WARNING),
        writing(tmp_path, LoggingCfg(), config={}) as writers,
    ):
        assert len(writers) == 1
    assert "pip install tensorboard" in caplog.text


def hide(monkeypatch, name):
    original = importlib.import_module

    def without(wanted, *args):
        if wanted == name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(wanted, *args)

    monkeypatch.setattr(importlib, "import_module", without)


def test_a_number_that_is_not_finite_is_null_in_jsonl(tmp_path):
    writer = JsonlWriter(tmp_path / "metrics.jsonl")
    writer.write(1, {"a": float("nan"), "b": 2.0})
    line = (tmp_path / "metrics.jsonl").read_text()
    assert line.endswith("\n")
    strict = json.loads(line, parse_constant=lambda name: pytest.fail(name))
    assert strict == {"iteration": 1, "a": None, "b": 2.0}


def test_all_log_writers_are_closed_if_one_fails(tmp_path, monkeypatch):
    closed = []

    class Failing:
        def __init__(self, folder: object, **more: object) -> None: ...

        def write(self, iteration: int, figures: object) -> None: ...

        def close(self, *, failed: bool = False) -> None:
            closed.append(("tensorboard", failed))
            raise OSError("disk full")

    monkeypatch.setattr("mjlab.rl.logging.TensorboardWriter", Failing)
    close = JsonlWriter.close
    monkeypatch.setattr(
        JsonlWriter,
        "close",
        lambda self, *, failed=False: closed.append(("jsonl", failed)) or close(self),
    )
    with (
        pytest.raises(OSError, match="disk full"),
        writing(tmp_path, LoggingCfg(), config={}),
    ):
        pass
    assert closed == [("tensorboard", False), ("jsonl", True)]
    # If one cannot be opened, none of the others stays open.
    closed.clear()
    monkeypatch.setattr("mjlab.rl.logging.WandbWriter", lambda *args: 1 / 0)
    with (
        pytest.raises(OSError, match="disk full"),
        writing(tmp_path, LoggingCfg(wandb=True), config={}),
    ):
        pass
    assert closed == [("tensorboard", True), ("jsonl", True)]
