"""`warm`: compile tasks' CUDA kernels in advance, without a GPU.

Each task is built and stepped once in a separate process, in which each kernel launch
compiles the kernel for CUDA instead of running it. The output folder is a Warp kernel
cache; another machine uses it if `WARP_CACHE_PATH` is set to it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import choose_worlds
from mjlab.cli.line import Options, read_line
from mjlab.registry import entries, find_entry, load_task
from mjlab.settings.bounds import at_least
from mjlab.task_file import typed_task
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnvCfg
    from mjlab.sim.warp_compiler import Compiler

OWN = (
    "mjlab.random.kernels",
    "mjlab.mdp.randomize.principal_kernel",
    "mjlab.muscle.kernels",
    "mjlab.tasks.cartpole.classic.step_kernel",
)
"""Modules whose kernels are launched only for tensors on a CUDA device. They are
compiled for Warp's default block size. The classic cartpole can be configured to use
another block size."""

CARRIED = ("*.cubin", "*.meta")
"""Files of a cache that another machine needs: about half of its size."""


@dataclass(kw_only=True)
class WarmOptions(Options):
    """Compile the CUDA kernels of tasks without a GPU.

    Another machine uses the resulting cache through WARP_CACHE_PATH.
    """

    program = "warm_kernels.py"
    examples = (
        "Velocity-G1-Flat",
        "Velocity-G1 Velocity-Go1 --arch sm_80",
        "all",
    )

    tasks: Positional[tuple[str, ...]] = ()
    """Task ids, or all."""

    arch: str = "sm_90"
    """Compute capability of the GPU: sm_80 for an A100, sm_90 for an H100 or H200."""

    cache: Path = Path("kernels")
    """Folder of the cache; kernels are added to it."""

    num_envs: Annotated[int | None, at_least(1)] = None
    """Number of worlds on the other machine. Default: as in training on a GPU."""

    in_process: bool = False
    """Compile one task in this process, into the cache set in Warp's environment
    variables."""

    @classmethod
    def closing(cls) -> str:
        """Return the names of all tasks."""
        return f"tasks:\n{', '.join(entries())}"


def compile_kernels(cfg: "ManagerBasedRlEnvCfg", arch: str) -> "Compiler":
    """Compile all kernels launched while the environment is built, stepped and reset.

    `cfg` must have the same number of worlds as the training run, because some kernels
    contain it as a constant.
    """
    import torch

    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.sim.warp_compiler import Compiler
    from mjlab.sim.warp_rows import RowPrograms

    compiler = Compiler.for_architecture(arch, lambda text: print(text, flush=True))
    for name in OWN:
        compiler.compile_file(name)
    cfg.sim.backend, cfg.sim.graphs, cfg.mode = "warp", False, "eager"
    cfg.seed = 0
    with compiler.instead_of_launches():
        env = ManagerBasedRlEnv(cfg, device="cpu")
        size = env.num_envs, env.action_manager.total_action_dim
        env.reset()
        env.step(torch.zeros(size))
        # When a step is captured as one CUDA graph, its row-wise torch operations run
        # as generated kernels. Compile these as well.
        rows = RowPrograms(env.num_envs, env.device)
        with rows.in_use():
            env.program.advance()
        rows.compile_ahead(compiler.compile)
        env.reset(mask=torch.arange(env.num_envs) < 1)
        env.close()
    return compiler


def main(arguments: Sequence[str]) -> None:
    """Compile the kernels of each task in a separate process."""
    options = read_line(WarmOptions, arguments).options
    named = list(options.tasks)
    if not named:
        raise UsageError("TASK is missing: warm_kernels.py TASK ..., or all.")
    tasks = list(entries()) if named == ["all"] else named
    tasks = [find_entry(typed_task(task)).id for task in tasks]
    if options.in_process:
        if len(tasks) > 1:
            raise UsageError(f"--in-process compiles one task, not {len(tasks)}.")
        compile_task(tasks[0], options.arch, options.num_envs)
        return
    own = [sys.executable, "-m", "mjlab", "warm"]
    settings = ["--in-process", "--arch", options.arch]
    settings += ["--num-envs", str(options.num_envs)] if options.num_envs else []
    path = os.environ | {"WARP_CACHE_PATH": str(options.cache.resolve())}
    failed = [
        task
        for task in tasks
        if subprocess.run([*own, task, *settings], env=path).returncode
    ]
    files = [file for kind in CARRIED for file in options.cache.rglob(kind)]
    size = sum(file.stat().st_size for file in files)
    print(
        f"{options.cache}: {size / 2**20:.1f} MiB of kernels for {options.arch} in "
        f"{' and '.join(CARRIED)}. The other machine needs only these files."
    )
    if failed:
        raise SystemExit(f"Failed to compile: {', '.join(failed)}.")


def compile_task(task: str, arch: str, worlds: int | None) -> None:
    """Compile a task's kernels; print their number and the time."""
    from mjlab.sim.warp_compiler import CompileError

    begin = time.perf_counter()
    cfg = load_task(task).env()
    suits = choose_worlds(cfg.scene.num_envs, on_gpu=True, cores=1).number
    cfg.scene.num_envs = worlds or suits
    print(f"{task}, {cfg.scene.num_envs} worlds", flush=True)
    try:
        compiler = compile_kernels(cfg, arch)
    except CompileError as error:
        raise UsageError(f"{task}: {error}") from error
    seconds = time.perf_counter() - begin
    print(
        f"{task}: {len(compiler.seen)} modules, {compiler.new} of them compiled, "
        f"{seconds:.0f} s",
        flush=True,
    )
