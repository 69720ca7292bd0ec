"""`warm`: compile tasks' CUDA kernels ahead, without a GPU.

Each task is built and stepped once in a process of its own, in which a launch compiles
its kernel for CUDA and runs nothing. The folder is a cache of Warp, which another
machine uses through `WARP_CACHE_PATH`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from unittest import mock

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

OWN = (
    "mjlab.random.kernels",
    "mjlab.mdp.randomize.principal_kernel",
    "mjlab.muscle.kernels",
    "mjlab.tasks.cartpole.classic.step_kernel",
)
"""Modules whose kernels are launched for tensors on a CUDA device only. Their launches
are of the default size, and so are those of the classic cartpole unless told."""

PROCESSORS = 132
"""Multiprocessors of the assumed device. It bounds sizes of launches."""


@dataclass(kw_only=True)
class WarmOptions(Options):
    """Compile the CUDA kernels of tasks without a GPU.

    They go into a cache that another machine uses through WARP_CACHE_PATH.
    """

    program = "warm_kernels.py"
    examples = (
        "Velocity-G1-Flat",
        "Velocity-G1 Velocity-Go1 --arch sm_80",
        "all",
    )

    tasks: Positional[tuple[str, ...]] = ()
    """Tasks, or all."""

    arch: str = "sm_90"
    """Compute capability of the GPU: sm_80 for an A100, sm_90 for an H100 or H200."""

    cache: Path = Path("kernels")
    """Folder of the cache; kernels are added to it."""

    num_envs: Annotated[int | None, at_least(1)] = None
    """Number of worlds that will run. Default: as in training on a GPU."""

    in_process: bool = False
    """Compile one task in this process, into the cache of Warp's environment."""

    @classmethod
    def closing(cls) -> str:
        """Return the names of all tasks."""
        return f"tasks: {', '.join(entries())}"


class CompileError(RuntimeError):
    """A kernel that does not compile for the architecture."""


@dataclass
class Compiler:
    """Compiles what is launched for an architecture of CUDA, and runs none of it."""

    arch: int
    """Such as 90 for Hopper."""
    new: int = 0
    """Modules that were compiled."""
    seen: set[str] = field(default_factory=set)
    """Identifiers of all modules, which are also their folders' names."""

    def launch(
        self,
        kernel: Any,
        dim: Any,
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        *args: Any,
        block_dim: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Compile the kernel's module, as a launch on the device would."""
        if not all(dim if isinstance(dim, list | tuple) else [dim]):
            return  # Warp loads nothing for it.
        if kernel.is_generic:
            types = kernel.infer_argument_types([*inputs, *outputs])
            kernel = kernel._add_normalized_overload(types)
        self.compile(kernel.module, block_dim if block_dim and block_dim > 0 else 256)

    def suggest(self, kernel: Any, device: Any = None) -> tuple[int, int]:
        """Suggest a size of blocks, for which Warp loads the module with its own."""
        self.compile(kernel.module, kernel.module.options["block_dim"])
        return 128, 2 * PROCESSORS

    def compile(self, module: Any, block_dim: int) -> None:
        """Compile a module unless the cache has it.

        Its name and folder come from Warp's hash of the code, of all kernels in it so
        far and of the size of blocks. Its own method would hash nothing of the last.
        """
        identifier = module.get_module_identifier(block_dim)
        if identifier in self.seen:
            return
        self.seen.add(identifier)
        options = module.resolved_options[block_dim]
        begin = time.perf_counter()
        try:
            is_new = module._compile(output_arch=self.arch, options=options)
        except Exception as error:  # NVRTC's is a plain one, and codegen's are many.
            raise CompileError(f"{module.name}: {error}") from error
        if is_new:
            self.new += 1
            seconds = time.perf_counter() - begin
            print(
                f"  {seconds:5.1f} s  {module.name}, blocks of {block_dim}", flush=True
            )

    @contextmanager
    def instead_of_launches(self) -> Iterator[None]:
        """Have MuJoCo Warp take the CPU device for one of CUDA, and run nothing."""
        import warp as wp

        context = wp._src.context  # pyright: ignore[reportAttributeAccessIssue]
        real = wp.get_device

        class Device:
            """The CPU device, as MuJoCo Warp's own branches see a GPU."""

            is_cuda, is_cpu, sm_count, arch = True, False, PROCESSORS, self.arch

            def __getattr__(self, name: str) -> Any:
                return getattr(real("cpu"), name)

        def tiled(kernel: Any, dim: Any, *args: Any, **kwargs: Any) -> None:
            self.launch(kernel, dim, *args, **kwargs)

        def get_device(ident: Any = None) -> Any:
            return Device() if ident is None else real(ident)

        def branches(condition: Any, *bodies: Any, **options: Any) -> None:
            names = ("while_body", "on_true", "on_false")
            for body in (*bodies, *(options.pop(name, None) for name in names)):
                if isinstance(body, Callable):
                    body(**options)

        new = {
            "is_conditional_graph_supported": lambda: True,
            "launch": self.launch,
            "launch_tiled": tiled,
            "get_suggested_block_size": self.suggest,
            "capture_while": branches,
            "capture_if": branches,
        }
        with (
            mock.patch.multiple(wp, **new, get_device=get_device),
            mock.patch.multiple(context, **new),
        ):
            yield


def compile_kernels(cfg: "ManagerBasedRlEnvCfg", arch: str) -> Compiler:
    """Compile all that the environment launches when it is built, stepped and reset.

    Some kernels hold the number of worlds, so it has to be the one that will be run.
    """
    import importlib

    import torch
    import warp as wp

    wp.config.log_level = wp.LOG_WARNING
    wp.init()
    from mjlab.envs import ManagerBasedRlEnv

    runtime = wp._src.context.runtime  # pyright: ignore[reportAttributeAccessIssue]
    known = {f"sm_{number}": number for number in sorted(runtime.nvrtc_supported_archs)}
    if arch not in known:
        raise UsageError(f"--arch {arch}: Warp compiles for {', '.join(known)}.")
    compiler = Compiler(known[arch])
    for name in OWN:
        module = wp.get_module(importlib.import_module(name).__name__)
        compiler.compile(module, 256)
    cfg.sim.backend, cfg.sim.graphs, cfg.mode = "warp", False, "eager"
    cfg.seed = 0
    with compiler.instead_of_launches():
        env = ManagerBasedRlEnv(cfg, device="cpu")
        size = env.num_envs, env.action_manager.total_action_dim
        env.reset()
        env.step(torch.zeros(size))
        env.reset(mask=torch.arange(env.num_envs) < 1)
        env.close()
    return compiler


def main(arguments: Sequence[str]) -> None:
    """Compile the kernels of each task in a process of its own."""
    options = read_line(WarmOptions, arguments).options
    named = list(options.tasks)
    if not named:
        raise UsageError("Name a task first, several, or all: warm_kernels.py TASK ...")
    tasks = list(entries()) if named == ["all"] else named
    tasks = [find_entry(typed_task(task)).id for task in tasks]
    if options.in_process:
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
    size = sum(file.stat().st_size for file in options.cache.rglob("*.cubin"))
    print(f"{options.cache}: {size / 2**20:.1f} MiB of kernels for {options.arch}")
    if failed:
        raise SystemExit(f"Not compiled: {', '.join(failed)}.")


def compile_task(task: str, arch: str, worlds: int | None) -> None:
    """Compile a task's kernels; print how many, and how long it took."""
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
