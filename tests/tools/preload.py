"""C libraries that tests preload, to record or fail system calls."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def build_library(source: Path, to: Path) -> Path:
    """Compile a library into a folder, or skip with the reason.

    Args:
        source: The file in C.
        to: The folder.
    """
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip(f"{source.name} needs Linux, the GNU C library and a C compiler.")
    library = to / f"{source.stem}.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run([compiler, *flags, "-o", library, source, "-ldl"], check=True)
    return library
