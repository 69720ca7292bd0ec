"""Settings of the test session that must hold before torch or mujoco is imported."""

import ctypes
import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.tools.kernel_lock import lock_compiler


def _choose_gl_backend() -> None:
    """Select an off-screen renderer that loads; importing mujoco fails with another."""
    if sys.platform != "linux" or "MUJOCO_GL" in os.environ:
        return
    for backend, library in (("egl", "libEGL.so.1"), ("osmesa", "libOSMesa.so.8")):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        os.environ["MUJOCO_GL"] = backend
        return


# Torch's OpenMP threads spin while they wait and starve the physics threads: 0.68 of
# the bare physics rate against 0.93 to 1.02 with these (docs/decisions/0011).
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
_choose_gl_backend()

# Tests share cores, so slow examples are no failure; examples are deterministic, so
# that failures in CI can be repeated.
settings.register_profile("mjlab", deadline=None, derandomize=True)
settings.load_profile("mjlab")

if "PYTEST_XDIST_WORKER" in os.environ:
    lock_compiler()


@pytest.fixture(scope="session")
def renderer_works() -> None:
    """Skip a rendering test without an OpenGL context, with the reason."""
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    try:
        mujoco.Renderer(model, height=8, width=8).close()
    except Exception as error:
        backend = os.environ.get("MUJOCO_GL", "none found")
        pytest.skip(f"MuJoCo cannot draw here (MUJOCO_GL: {backend}): {error}")


_GROWTH_GB = 2.0
_PAGES = Path("/proc/self/statm")


class _AddressSpace:
    """Reserved memory at the last collection of dead environments, in GB."""

    taken = 0.0

    @staticmethod
    def present() -> float:
        pages = int(_PAGES.read_text().split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m gpu`, import only files with GPU tests.

    A GPU machine without a network may lack the packages that other tests import.
    """
    if config.getoption("markexpr") != "gpu":
        return None
    is_folder = collection_path.is_dir()
    files = collection_path.rglob("test_*.py") if is_folder else [collection_path]
    has_gpu_tests = any("mark.gpu" in file.read_text("utf-8") for file in files)
    return None if has_gpu_tests else True


def pytest_collection_finish() -> None:
    """Exclude imported objects from garbage collection, which makes it faster."""
    from mjlab.opengl import load_triton

    load_triton()
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish() -> None:
    """Collect dead environments after they have reserved 2 GB.

    An environment and its terms refer to each other, so only the garbage collector
    frees them, and it counts objects, not memory. MuJoCo reserves 15 MB of mostly
    unused memory per G1 world. Without this, a run of all tests reserved 57 GB of
    address space, and a process of that size cannot fork.
    """
    if not _PAGES.exists() or _AddressSpace.present() < _AddressSpace.taken:
        return
    gc.collect()
    _AddressSpace.taken = _AddressSpace.present() + _GROWTH_GB


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the `summary` records of tests above the closing line."""
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for name, text in report.user_properties:
                if name == "summary":
                    terminalreporter.write_line(text)
