"""CUDA kernels, compiled without a device."""

import importlib
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
import warp as wp

from mjlab.cli.warm import CARRIED, OWN, compile_kernels, compile_task, main
from mjlab.envs import ManagerBasedRlEnv
from mjlab.sensor import CameraSensorCfg
from mjlab.sim import warp_rows
from mjlab.sim.warp_compiler import CompileError, Compiler
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from tests.tools.architecture import ROOT
from tests.tools.cuda_stand_in import StandInError, stand_in

context: Any = wp._src.context  # pyright: ignore[reportAttributeAccessIssue]
ELF, CUDA = b"\x7fELF", 190
"""Header of ELF files, and CUDA's machine number in it (EM_CUDA)."""


@wp.func_native("return no_such_name;")
def broken() -> int: ...  # pyright: ignore[reportReturnType]


@wp.kernel(enable_backward=False, module="unique")
def write(out: wp.array[int]) -> None:
    out[wp.tid()] = broken()  # pyright: ignore[reportIndexIssue]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wp.init()
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return tmp_path


def test_kernel_compile_error_shows_the_compiler_output(
    cache: Path,
) -> None:
    compiler = Compiler(90, print)
    out = wp.zeros(4, dtype=int, device="cpu")
    with compiler.instead_of_launches():
        wp.launch(write, 0, [out])
        with pytest.raises(CompileError, match="write"):
            wp.launch(write, 4, [out])
    assert not list(cache.rglob("*.cubin"))


def test_compiled_machine_code_matches_the_architecture_and_has_all_kernels(
    cache: Path,
) -> None:
    name = "mjlab.tasks.cartpole.classic.step_kernel"
    importlib.import_module(name)
    compiler = Compiler(90, print)
    compiler.compile(wp.get_module(name), 256)
    (file,) = cache.rglob("*.cubin")
    code = file.read_bytes()
    assert code.startswith(ELF)
    assert struct.unpack("<H", code[18:20]) == (CUDA,)
    assert code[49] == 90  # In the flags, since CUDA 13.
    assert b"_step_" in code and b"_reset_" in code
    again = Compiler(90, print)
    again.compile(wp.get_module(name), 256)
    assert (compiler.new, again.new) == (1, 0)


def test_every_file_with_kernels_is_compiled() -> None:
    files = [p for room in ("mjlab", "tasks") for p in (ROOT / room).rglob("*.py")]
    found = {p.resolve() for p in files if "@wp.kernel" in p.read_text("utf-8")}
    own = {Path(str(importlib.import_module(name).__file__)).resolve() for name in OWN}
    by_each_verb = ROOT / "mjlab/sim/kernels.py"  # Also launched on the CPU device.
    of_cpus = ROOT / "mjlab/render/ray_kernels.py"  # Only launched on CUDA.
    assert found == own | {by_each_verb, of_cpus}


def test_an_unsupported_architecture_is_refused_with_the_supported_ones() -> None:
    with pytest.raises(CompileError, match=r"'sm_12' is unknown\. Valid: .*sm_90"):
        compile_kernels(CartpoleBalanceCfg(), "sm_12")


@pytest.mark.slow
def test_a_camera_and_rays_include_the_kernels_of_the_renderer() -> None:
    cfg = CartpoleBalanceCfg()
    cfg.scene.num_envs = 2
    cfg.scene.sensors = (CameraSensorCfg(name="eye", width=8, height=8),)
    with mock.patch.object(context.Module, "_compile", return_value=False):
        seen = " ".join(compile_kernels(cfg, "sm_90").seen)
    assert "_render_megakernel" in seen and "bvh" in seen
    assert "principal_kernel" in seen and "muscle.kernels" in seen


@pytest.mark.slow
def test_copied_kernel_cache_needs_no_compiler(tmp_path: Path) -> None:
    program = (
        "import importlib, warp as wp; from mjlab.cli.warm import OWN;"
        "from mjlab.sim.warp_compiler import Compiler;"
        "importlib.import_module(OWN[-1]); compiler = Compiler(90, lambda text: None);"
        "compiler.compile(wp.get_module(OWN[-1]), 256); print(compiler.new)"
    )
    there, here = tmp_path / "there", tmp_path / "here"
    said = []
    for folder in (there, here):
        path = os.environ | {"WARP_CACHE_PATH": str(folder)}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=ROOT, env=path, stdout=subprocess.PIPE)
        said.append(done.stdout.decode().splitlines()[-1])
        for kind in CARRIED if folder == there else ():
            for file in there.rglob(kind):
                place = here / file.relative_to(there)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
    assert said == ["1", "0"]
    assert list(there.rglob("*.cu")) and not list(here.rglob("*.cu"))


@pytest.mark.slow
def test_all_kernels_of_a_step_on_the_stand_in_are_compiled(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with mock.patch.object(context.Module, "_compile", return_value=False):
        compile_task("Cartpole-Balance", "sm_90", 8)
    assert "Cartpole-Balance: " in capsys.readouterr().out
    compiled: set[str] = set()
    launched: set[str] = set()

    def note(launch: Any) -> Any:
        def call(kernel: Any, dim: Any, *args: Any, **kwargs: Any) -> Any:
            if np.prod(dim):
                launched.add(kernel.module.name)
            return launch(kernel, dim, *args, **kwargs)

        return call

    cfg = CartpoleBalanceCfg(seed=0)
    cfg.scene.num_envs, cfg.sim.backend = 8, "warp"
    try:
        with stand_in(), mock.patch.object(wp, "launch", note(wp.launch)):
            env = ManagerBasedRlEnv(cfg, device="cuda:0")
            env.reset()
            env.step(torch.zeros(8, 1, device="cuda:0"))
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")
    cfg.mode = "auto"
    with mock.patch.object(context.Module, "_compile", return_value=False):
        compiled = {i[3:-8] for i in compile_kernels(cfg, "sm_90").seen}
    assert len(launched) > 20
    assert launched - compiled == set()


@pytest.mark.slow
def test_row_kernels_compiled_ahead_are_those_of_a_recorded_step() -> None:
    cfg = CartpoleBalanceCfg(seed=0)
    cfg.scene.num_envs, cfg.sim.backend = 8, "warp"
    recorded: list[tuple[str, ...]] = []
    ahead: list[tuple[str, ...]] = []
    make = warp_rows._module

    def compiled(texts: tuple[str, ...], device: torch.device) -> dict[str, bool]:
        recorded.append(texts)
        return dict.fromkeys(texts, True)

    def module(texts: tuple[str, ...]) -> Any:
        ahead.append(texts)
        return make(texts)

    try:
        with stand_in(), mock.patch.object(warp_rows, "_compiled", compiled):
            ManagerBasedRlEnv(cfg, device="cuda:0")
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")
    with (
        mock.patch.object(context.Module, "_compile", return_value=False),
        mock.patch.object(warp_rows, "_module", module),
    ):
        seen = compile_kernels(cfg, "sm_90").seen
    # Later runs of the warm-up record nothing new.
    assert [texts for texts in recorded if texts] == ahead
    assert [name for name in seen if "mjlab.rows" in name]


def test_a_task_that_does_not_compile_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # `false` represents a process that ended with an error.
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(SystemExit, match="Failed to compile: Cartpole-Balance"):
        main(["Cartpole-Balance", "--cache", str(tmp_path)])
