"""A lock around Warp's compiler, so that workers compile each module once between them.

Without it, two workers that need the kernels of one model at the same time both compile
them, and one of the two results is thrown away.
"""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import Any


def lock_compiler() -> None:
    """Let a worker wait while another compiles the module that it needs."""
    from warp._src.context import Module

    compile_module = Module._compile

    def compile_once(
        self: Module,
        device: Any = None,
        output_dir: str | None = None,
        *args: Any,
        **options: Any,
    ) -> bool:
        if output_dir is None or os.path.isdir(output_dir):
            return compile_module(self, device, output_dir, *args, **options)
        name = f"{Path(output_dir).name}.{os.getuid()}.lock"
        with (Path(tempfile.gettempdir()) / name).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return compile_module(self, device, output_dir, *args, **options)

    Module._compile = compile_once
