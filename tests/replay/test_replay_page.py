"""Programs of docs/howto/replay.md, on a recording of four episodes."""

import re
from pathlib import Path

import h5py
import pytest

from tests.house.test_commands import record
from tests.tools.architecture import ROOT

PAGE = (ROOT / "docs/howto/replay.md").read_text("utf-8")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the programs find recordings/a.h5."""
    record(tmp_path / "recordings")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(library: str) -> None:
    names: dict[str, object] = {}
    for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        if library == "robomimic" or "LeRobot" in program:
            exec("from mjlab.recording import Recording", names)
            exec(program, names)
        if library == "robomimic":
            return


def test_a_recording_becomes_a_file_of_robomimic(recorded):
    run("robomimic")
    with h5py.File(recorded / "demos.hdf5") as file:
        demos = file["data"]
        assert demos["demo_3/actions"].shape == (5, 1)
        assert demos.attrs["total"] == 4 * 5 + 4  # Four more episodes had one step.


def test_a_recording_becomes_a_dataset_of_lerobot(recorded):
    pytest.importorskip("pyarrow")
    run("lerobot")
    assert (recorded / "demos/meta/info.json").is_file()
