"""`bench/paired.py`: two checkouts, stepped in alternation."""

import subprocess
from pathlib import Path

import pytest

from bench.paired import commit_of, compare, described, median_rank, ratio_figures
from tests.tools.architecture import ROOT

SYNTHETIC = """
from dataclasses import dataclass
from mjlab.tasks.cartpole import CartpoleBalanceCfg

@dataclass(kw_only=True)
class SyntheticCfg(CartpoleBalanceCfg):
    decimation: int = {decimation}
"""


def checkout(folder: Path, decimation: int) -> Path:
    """This project, with a task of a given number of physics steps."""
    (folder / "tests/worlds").mkdir(parents=True)
    for name in ("mjlab",):
        (folder / name).symlink_to(ROOT / name)
    for package in ("tests", "tests/worlds"):
        (folder / package / "__init__.py").touch()
    (folder / "tests/worlds/synthetic.py").write_text(
        SYNTHETIC.format(decimation=decimation)
    )
    return folder


@pytest.mark.slow
def test_each_side_runs_the_code_of_its_own_checkout(tmp_path: Path) -> None:
    """Fifty physics steps take longer than one under any load."""
    quick, slow = checkout(tmp_path / "quick", 1), checkout(tmp_path / "slow", 50)
    found = compare(quick, slow, "synthetic:64", pairs=3, steps=5, threads=1)
    for name in ("speed", "speed_by_processor_time"):
        assert len(found[name]["pairs"]) == 3
        assert max(found[name]["pairs"]) < 0.5
    assert found["after_step_ms"] > 2.0 * found["before_step_ms"] > 0.0
    assert "synthetic:64: 0." in described("synthetic:64", found)


@pytest.mark.slow
def test_the_timed_update_uses_a_batch_of_all_worlds() -> None:
    few, many = (
        compare(ROOT, ROOT, f"Velocity-Go1-Flat:{worlds}:update", pairs=2, steps=1)
        for worlds in (4, 1024)
    )
    for side in ("before_step_ms", "after_step_ms"):
        assert many[side] > 2.0 * few[side] > 0.0


def test_checkout_that_imports_foreign_code_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match=r"A worker process ended with code 1\."):
        compare(tmp_path, tmp_path, "Cartpole-Balance:4", pairs=1, steps=1)
    assert f"not from {tmp_path}" in capfd.readouterr().err


def test_malformed_point_is_refused() -> None:
    with pytest.raises(ValueError, match="'Velocity-Go1:4:updates' has to be TASK:"):
        compare(ROOT, ROOT, "Velocity-Go1:4:updates", pairs=1, steps=1)


# Values of the published table of the sign test's intervals, e.g. Conover (1999), A3.
@pytest.mark.parametrize(
    ("number", "rank"), [(5, 1), (6, 1), (9, 2), (10, 2), (15, 4), (20, 6), (30, 10)]
)
def test_the_interval_of_a_median_matches_the_sign_test(number, rank) -> None:
    assert median_rank(number) == rank


def test_ratios_are_summarised_by_median_and_ranked_bounds() -> None:
    shuffled = [1.0 + 0.01 * ((7 * i) % 10) for i in range(10)]
    found = ratio_figures(shuffled)
    assert found["median"] == pytest.approx(1.045)
    assert found["interval"] == pytest.approx([1.01, 1.08])
    assert found["pairs"] == shuffled


def test_a_commit_is_shown_and_changes_are_reported(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    git("init")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-mx")
    commit = git("rev-parse", "HEAD")
    assert len(commit) == 40
    assert commit_of(tmp_path) == {"commit": commit, "changed": False}
    (tmp_path / "new.py").touch()
    assert commit_of(tmp_path) == {"commit": commit, "changed": True}
