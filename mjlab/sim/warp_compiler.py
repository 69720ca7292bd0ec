"""Compile Warp kernels for CUDA on machines without a GPU.

Two modules of the broad phase depend on the number of worlds: they contain the number
of rows of per-world fields as a constant (mujoco-warp 4.0.0).
"""

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from unittest import mock

import warp as wp

from mjlab.warp_start import start_warp

PROCESSORS = 132
"""Number of multiprocessors of the assumed device, which bounds launch sizes."""


class CompileError(RuntimeError):
    """Raised if a kernel does not compile for the architecture."""


@dataclass
class Compiler:
    """Compiler for a CUDA architecture. Replaces launches by compilations."""

    arch: int
    """Architecture number, such as 90 for Hopper."""
    say: Callable[[str], None]
    """Function that is called with a line of text for each compiled module."""
    new: int = 0
    """Number of compiled modules."""
    seen: set[str] = field(default_factory=set)
    """Identifiers of all modules, which are also their folder names."""

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
            return  # Warp loads no module for an empty launch.
        if kernel.is_generic:
            types = kernel.infer_argument_types([*inputs, *outputs])
            kernel = kernel._add_normalized_overload(types)
        self.compile(kernel.module, block_dim if block_dim and block_dim > 0 else 256)

    def suggest(self, kernel: Any, device: Any = None) -> tuple[int, int]:
        """Suggest a block size, and compile the module with its default block size."""
        self.compile(kernel.module, kernel.module.options["block_dim"])
        return 128, 2 * PROCESSORS

    def compile(self, module: Any, block_dim: int) -> None:
        """Compile a module unless it is cached.

        The name and folder of a compiled module are Warp's hash of its code, of the
        kernels that it has so far, and of the block size. `Module.compile` leaves the
        block size out of the hash, so this method calls `Module._compile`.
        """
        identifier = module.get_module_identifier(block_dim)
        if identifier in self.seen:
            return
        self.seen.add(identifier)
        options = module.resolved_options[block_dim]
        begin = time.perf_counter()
        try:
            is_new = module._compile(output_arch=self.arch, options=options)
        # NVRTC raises a plain Exception; code generation raises many types.
        except Exception as error:
            raise CompileError(f"{module.name}: {error}") from error
        if is_new:
            self.new += 1
            seconds = time.perf_counter() - begin
            self.say(f"  {seconds:5.1f} s  {module.name}, blocks of {block_dim}")

    @classmethod
    def for_architecture(cls, name: str, say: Callable[[str], None]) -> Self:
        """Return the compiler for an architecture such as "sm_90"."""
        wp.config.log_level = wp.LOG_WARNING
        start_warp()
        runtime = wp._src.context.runtime  # pyright: ignore[reportAttributeAccessIssue]
        archs = sorted(runtime.nvrtc_supported_archs)
        known = {f"sm_{number}": number for number in archs}
        if name not in known:
            raise CompileError(
                f"Target {name!r} is unknown. Valid: {', '.join(known)}."
            )
        return cls(known[name], say)

    def compile_file(self, name: str) -> None:
        """Compile the kernels of a Python module for launches of the default size."""
        importlib.import_module(name)
        self.compile(wp.get_module(name), 256)

    @contextmanager
    def instead_of_launches(self) -> Iterator[None]:
        """Make MuJoCo Warp treat the CPU device as CUDA, and compile on launches."""
        context = wp._src.context  # pyright: ignore[reportAttributeAccessIssue]
        real = wp.get_device

        class Device:
            """CPU device that reports CUDA, so MuJoCo Warp runs its code for GPUs."""

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
