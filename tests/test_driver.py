"""An NVIDIA driver that is too old is named in one line."""

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mjlab import driver
from mjlab.cli import doctor, train
from mjlab.sim.backend import BackendError, resolve_backend
from mjlab.workers.placement import PlacementError, find_placement
from tests.tools.architecture import ROOT

OLD = (
    "the NVIDIA driver supports CUDA 12.4, and CUDA 13.0 is needed: install driver 580 "
    "or newer"
)


@pytest.fixture
def cuda_12(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver of CUDA 12.4, and a PyTorch for CUDA 13, which sees no device."""
    install(monkeypatch, 12040)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def install(monkeypatch: pytest.MonkeyPatch, version: int, error: int = 0) -> None:
    """Replace the driver's library by one that reports a version or an error."""

    def report(number: Any) -> int:
        number._obj.value = version
        return error

    load, library = ctypes.CDLL, SimpleNamespace(cuDriverGetVersion=report)
    monkeypatch.setattr(
        ctypes, "CDLL", lambda name: library if name == "libcuda.so.1" else load(name)
    )


def test_an_old_driver_is_named_with_the_one_to_install(cuda_12: None) -> None:
    assert driver.old_driver() == driver.unused_gpu() == driver.no_cuda() == OLD


def test_a_new_driver_or_none_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    for version in (13000, 13010, 14000):
        install(monkeypatch, version)
        assert driver.unused_gpu() == ""
    install(monkeypatch, 12040, error=3)
    assert driver.driver_cuda() is None

    def missing(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert driver.driver_cuda() is None
    assert driver.unused_gpu() == ""


def test_a_build_without_cuda_is_named_if_there_is_a_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, 13000)
    monkeypatch.setattr(torch.version, "cuda", None)
    assert driver.unused_gpu().endswith("was built without CUDA")


def test_the_engine_and_the_placement_name_an_old_driver(
    cuda_12: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(PlacementError, match=OLD):
        find_placement("gpu")
    # PyTorch for CUDA 12 sees the device, Warp does not.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    chosen = resolve_backend("auto")
    assert (chosen.engine, chosen.reason) == ("native", f"backend='auto': {OLD}")
    assert caplog.messages == [f"The GPU is not used: {OLD}."]
    for name, device in (("warp", None), ("auto", "cuda:0")):
        with pytest.raises(BackendError, match=OLD):
            resolve_backend(name, device)  # pyright: ignore[reportArgumentType]


def test_the_doctor_names_an_old_driver_before_there_is_a_run(
    cuda_12: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exception, match="no run"):
        doctor.main(["latest", "--logs", str(tmp_path)])
    assert capsys.readouterr().out == f"The GPU is not used: {OLD}.\n"


@pytest.mark.parametrize(
    ("options", "is_named"), [((), True), (("--device", "cpu"), False)]
)
def test_training_on_a_cpu_names_an_old_driver_unless_a_cpu_is_asked_for(
    cuda_12: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: tuple[str, ...],
    is_named: bool,
) -> None:
    shown: list[str] = []

    class Stop(Exception):
        pass

    def stop(*configs: Any, notes: list[str], **settings: Any) -> None:
        shown.extend(notes)
        raise Stop

    monkeypatch.setattr("mjlab.cli.training.train", stop)
    with pytest.raises(Stop):
        train.main(["Cartpole-Balance", "--logs", str(tmp_path), *options])
    assert (f"The GPU is not used: {OLD}." in shown) == is_named


def test_warp_and_torch_need_the_stated_version() -> None:
    import warp as wp

    wp.init()
    runtime: Any = wp._src.context.runtime  # pyright: ignore[reportAttributeAccessIssue]
    of_torch = torch.version.cuda
    assert runtime.min_driver_version == driver.CUDA
    if of_torch is not None:
        assert int(of_torch.partition(".")[0]) == driver.CUDA[0]


def test_readme_and_docker_state_the_driver() -> None:
    for name in ("README.md", "docker/cuda.Dockerfile"):
        assert f"driver {driver.DRIVER} or newer" in (ROOT / name).read_text("utf-8")
