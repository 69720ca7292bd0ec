"""Uniform messages for missing extras."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import mjlab.viewer
from mjlab.export.reader import require_installed
from mjlab.extras import install, missing
from mjlab.recording.hdf5 import require_h5py
from mjlab.render.video import Video
from mjlab.replay import lerobot
from mjlab.runs.wandb import import_wandb

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def view() -> object:
    return mjlab.viewer.WebViewer


CASES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "viser": ("viewer", lambda folder: view()),
    "imageio_ffmpeg": ("video", lambda folder: Video(folder / "a.mp4", 50.0)),
    "h5py": ("gym", lambda folder: require_h5py()),
    "onnxruntime": ("export", lambda folder: require_installed()),
    "wandb": ("wandb", lambda folder: import_wandb()),
    "pyarrow": ("lerobot", lambda folder: lerobot._require("pyarrow")),
}


@pytest.mark.parametrize("package", CASES)
def test_an_extra_that_is_missing_is_named_in_one_form(package, tmp_path, monkeypatch):
    extra, use = CASES[package]
    monkeypatch.delitem(sys.modules, "mjlab.viewer.web", raising=False)
    monkeypatch.delitem(sys.modules, "mjlab.viewer.local_server", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == package else name
    )
    with pytest.raises(Exception) as caught:
        use(tmp_path)
    found = re.fullmatch(
        r"[A-Z].+ needs .+, which (?:is|are) not installed: "
        r'pip install "mjlab-fused\[([\w-]+)\]"\.',
        str(caught.value),
    )
    assert found is not None, str(caught.value)
    assert found[1] == extra
    brought = [Requirement(each) for each in PROJECT["optional-dependencies"][extra]]
    assert package.replace("_", "-") in {one.name for one in brought}


def test_the_number_of_packages_agrees_with_the_verb():
    assert ", which is not installed: " in missing("A video", "ffmpeg", "video")
    assert ", which are not installed: " in missing("A file", "a and b", "export")


@pytest.mark.parametrize(
    ("folder", "settings", "expected"),
    [
        ("venv", "home = /usr/bin\n", 'pip install "mjlab-fused[video]"'),
        ("venv", "home = a\nuv = 0.9.1\n", 'uv pip install "mjlab-fused[video]"'),
        ("archive-v0/x", "uv = 0.9.1\n", 'uvx --from "PACKAGE[video]" mjlab'),
    ],
)
def test_an_environment_of_uv_is_not_sent_to_pip(
    tmp_path, monkeypatch, folder, settings, expected
):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "pyvenv.cfg").write_text(settings)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / folder))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert install("video") == expected


def test_a_sweep_without_optuna_names_its_extra_in_the_same_form(tmp_path):
    code = (
        "import importlib.util, sys; found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, p=None: None if n == 'optuna' "
        "else found(n, p)\n"
        "from mjlab.cli.sweep import main; from mjlab.cli import run_program\n"
        "tune = ['--tune', 'agent.algorithm.learning-rate:log:1e-5..1e-3']\n"
        "sys.exit(run_program(main, ['Cartpole-Balance', *tune]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stderr == (
        "error: A sweep by optuna needs optuna, which is not installed: "
        'pip install "mjlab-fused[sweep]".\n'
    )
