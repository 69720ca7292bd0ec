"""`mjlab exam` with an adapter: table, figures, page and messages."""

import json
from pathlib import Path

import pytest

from mjlab.cli import exam
from mjlab.cli.answers import UsageError
from tests.tools.architecture import ROOT
from tests.worlds.export_runs import save_linear

ADAPTER = '''
import numpy as np

from mjlab.exam import CommandCfg


class Standing:
    """Holds the stance."""

    def __init__(self, path, exam):
        self.command = CommandCfg(speed=0.4)
        self.owned = np.arange(len(exam.joints)) < 15
        self.kp, self.kd = np.full(29, 100.0), np.full(29, 3.0)
        self.stance = np.array(exam.stance)

    def reset(self, runs):
        pass

    def act(self, seen):
        return np.tile(self.stance, (len(seen.active), 1))

    def described(self):
        return {"note": path_note}


path_note = "holds the stance"
'''


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    """Return arguments of an exam with a policy that falls soon."""
    adapter, policy = tmp_path / "standing.py", tmp_path / "policy.bin"
    adapter.write_text(ADAPTER, "utf-8")
    policy.write_bytes(b"")
    words = [str(policy), "--adapter", f"{adapter}:Standing", "--runs", "3"]
    return [*words, "--no-films"]


def test_equal_calls_write_equal_files(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for folder in ("one", "two"):
        exam.main([*line, "--to", str(tmp_path / folder)])
        files.append((tmp_path / folder / "exam.json").read_bytes())
    assert files[0] == files[1]
    whole = json.loads(files[0])
    runs = whole["levels"]["C"]["runs"]
    assert [run["run"] for run in runs] == [0, 1, 2]
    assert whole["settings"]["speed"] == 0.4
    assert whole["settings"]["note"] == "holds the stance"
    # The policy does not balance: all robots fall after 1 to 3 s.
    assert all(not run["completed"] and run["survival"] < 5.0 for run in runs)
    shown = capsys.readouterr().out
    assert "completed %" in shown and "speed: 0.4" in shown
    page = (tmp_path / "one" / "exam.html").read_text("utf-8")
    assert "Falls at level C" in page and "Force comes from" in page


def test_adapter_from_the_docs_takes_the_exam(tmp_path: Path) -> None:
    page = (ROOT / "docs/howto/exam.md").read_text("utf-8")
    (tmp_path / "mine.py").write_text(page.split("```python\n")[1].split("```")[0])
    policy = tmp_path / "policy.onnx"
    save_linear(policy, 82, 15)
    words = ["--adapter", f"{tmp_path / 'mine.py'}:Adapter", "--runs", "1"]
    exam.main([str(policy), *words, "--no-films", "--to", str(tmp_path)])
    found = json.loads((tmp_path / "exam.json").read_text("utf-8"))
    assert found["settings"]["note"] == "arms are read"
    assert found["settings"]["speed"] == 0.9
    (run,) = found["levels"]["C"]["runs"]
    assert 0.5 < run["survival"] < 5.0  # It holds the stance, and falls.


def test_first_run_and_levels_are_chosen(line: list[str], tmp_path: Path) -> None:
    words = ["--first-run", "600", "--levels", "B", "A", "--to", str(tmp_path)]
    exam.main([*line, *words])
    levels = json.loads((tmp_path / "exam.json").read_text("utf-8"))["levels"]
    assert list(levels) == ["B", "A"]
    assert [run["run"] for run in levels["A"]["runs"]] == [600, 601, 602]
    assert levels["A"]["runs"][0]["punches"] == []


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        ("other.py", "must be FILE.py:CLASS"),
        ("nowhere.py:Standing", "nowhere.py does not exist"),
    ],
)
def test_an_adapter_that_cannot_be_loaded_is_reported(
    line: list[str], adapter: str, message: str
) -> None:
    line[2] = adapter
    with pytest.raises(UsageError, match=message):
        exam.main(line)


def test_unknown_class_of_an_adapter_lists_its_classes(line: list[str]) -> None:
    line[2] = line[2].replace(":Standing", ":Standin")
    with pytest.raises(UsageError, match="Standing"):
        exam.main(line)
