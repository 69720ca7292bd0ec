"""Names and numbers of recordings, and episodes that are given up, by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mjlab.recording import RecordingCfg
from mjlab.recording import writer as writer_module
from mjlab.recording.config import files_of
from mjlab.recording.layout import CONTROL, Ending, Layout, RecordedField
from mjlab.recording.reader import _numbers
from mjlab.recording.writer import Cutter


@pytest.mark.parametrize("suffix", [".h5", ".json", ".jsonl", ".parts"])
def test_a_name_is_taken_by_any_file_of_a_recording_alone(
    suffix: str, tmp_path: Path
) -> None:
    cfg = RecordingCfg(folder=str(tmp_path), name="walk")
    assert files_of(cfg)["all"].name == "walk.h5"
    (tmp_path / f"walk{suffix}").touch()
    assert files_of(cfg)["all"].name == "walk_2.h5"
    (tmp_path / f"walk_2{suffix}").touch()
    assert files_of(cfg)["all"].name == "walk_3.h5"
    apart = RecordingCfg(folder=str(tmp_path), name="run", export="separate")
    (tmp_path / f"run_failed{suffix}").touch()
    assert files_of(apart)["succeeded"].name == "run_2_succeeded.h5"


def test_episodes_are_in_the_order_of_their_numbers() -> None:
    names = [f"traj_{number}" for number in (10, 2, 0, 1, 11, 9)]
    assert _numbers([*names, "other", "traj_x"]) == [0, 1, 2, 9, 10, 11]


def test_episodes_without_a_step_are_not_written_at_the_end() -> None:
    """Of three worlds, one has made a step, one none, and one has not begun."""
    layout = Layout([RecordedField(name, (), "uint8") for name in CONTROL])
    stream = np.zeros((2, 3, layout.row_bytes), np.uint8)
    stream[0, :2, 2] = 1
    stream[1, 0, 0] = 1
    beginnings, shared = np.zeros((2, 1), np.uint8), np.zeros((2, 1), np.uint8)
    for keep, worlds in ((True, [0]), (False, [])):
        cutter = Cutter(3, layout)
        assert cutter.cut(stream, beginnings, shared) == []
        assert [each.world for each in cutter.finish(keep=keep)] == worlds
    assert Ending.GOES_ON == 0


@pytest.mark.parametrize(
    ("order", "keep"), [("close keep", True), ("close drop", False)]
)
def test_a_writer_that_is_told_to_drop_what_goes_on_drops_it(
    order: str, keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []

    class Writer:
        def __init__(self, *args: Any) -> None:
            pass

        def close(self, *, keep: bool) -> None:
            closed.append(keep)

    class Plan:
        class sizes:
            specs = staticmethod(dict)

    orders: list[Any] = [Plan(), order]

    class Connection:
        def poll(self, timeout: float) -> bool:
            return True

        def recv(self) -> Any:
            return orders.pop(0)

    monkeypatch.setattr(writer_module, "StreamWriter", Writer)
    monkeypatch.setattr(writer_module, "SharedArrays", lambda specs, file: None)
    writer_module.serve(Connection(), 0, lambda **message: None)  # type: ignore[arg-type]
    assert closed == [keep]
