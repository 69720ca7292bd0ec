"""The checks of `bench/gpu.py`, as far as they run without a GPU."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bench import gpu

ROOT = Path(__file__).resolve().parents[2]


def test_a_difference_is_counted_by_worlds_and_against_the_scale_of_the_tensor():
    expected = torch.tensor([[100.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    value = expected.clone()
    value[1, 1] += 0.09  # Less than a thousandth of 100.
    assert gpu.share_of_rows(value, expected) == 0.0
    value[2] += 0.2
    assert gpu.share_of_rows(value, expected) == 0.25
    value[3, 0] = torch.nan
    assert gpu.share_of_rows(value, expected) == 0.5
    assert gpu.share_of_rows(value, value) == 0.0
    flags = torch.tensor([True, False])
    assert gpu.share_of_rows(flags, ~flags) == 1.0
    rays = torch.tensor([torch.inf, 1.0])
    assert gpu.share_of_rows(rays, rays) == 0.0
    assert gpu.share_of_rows(rays, torch.ones(2)) == 0.5


def test_a_verdict_allows_what_two_eager_runs_differ_by_and_little_more():
    calm, wild = {"qpos": 0.0, "qvel": 0.0}, {"qpos": 0.0, "qvel": 0.1}
    assert gpu.verdict(calm, calm)["passed"]
    assert not gpu.verdict({"qpos": 0.02, "qvel": 0.0}, calm)["passed"]
    assert gpu.verdict({"qpos": 0.0, "qvel": 0.3}, wild)["passed"]
    # That velocities are noisy says nothing of positions.
    assert not gpu.verdict({"qpos": 0.02, "qvel": 0.0}, wild)["passed"]
    assert gpu.verdicts({"a": [{"passed": True}], "b": {"c": {"passed": False}}}) == [
        True,
        False,
    ]


def test_without_a_gpu_the_command_says_how_the_checks_run(capsys, monkeypatch):
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    with pytest.raises(SystemExit, match="--device cpu --quick"):
        gpu.main()
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--device", "cpu", "--only", "speed"])
    with pytest.raises(SystemExit, match=r"no check 'speed'\. Checks: verbs_equal"):
        gpu.main()


@pytest.mark.slow
def test_every_check_runs_on_warps_cpu_device():
    kept = ROOT / "bench" / "results" / "gpu.json"
    before = kept.read_bytes() if kept.exists() else None
    command = [sys.executable, "bench/gpu.py", "--device", "cpu", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    names = gpu.all_checks(gpu.make_plan("cpu", quick=True))
    assert all(f"{name} (" in done.stdout for name in names)
    assert "'fused': {'missing': 'ran segmented:" in done.stdout
    assert "training_steps_per_s" in done.stdout
    # Speeds of a CPU are not kept.
    assert before == (kept.read_bytes() if kept.exists() else None)
