"""Lock around Warp's compiler, so that test workers compile each module only once.

Otherwise two workers that need the same kernels at the same time both compile them.
"""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import Any


def lock_compiler() -> None:
    """Wait while another worker compiles the needed module."""
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
