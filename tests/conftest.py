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

# A test shares its cores with others, so a slow example says nothing; the same examples
# come every time, so that a failure in CI is a failure here.
settings.register_profile("mjlab", deadline=None, derandomize=True)
settings.load_profile("mjlab")

if "PYTEST_XDIST_WORKER" in os.environ:
    lock_compiler()


@pytest.fixture(scope="session")
def renderer_works() -> None:
    """Skip a test that draws where no OpenGL context can be made, with the reason."""
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
    """How much of it was taken when dead environments were last cleared away, in GB."""

    taken = 0.0

    @staticmethod
    def present() -> float:
        pages = int(_PAGES.read_text().split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


def pytest_collection_finish() -> None:
    """Have the collector leave alone what was imported, so that it is quick."""
    from mjlab.opengl import load_triton

    load_triton()
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish() -> None:
    """Clear dead environments away once they have reserved 2 GB.

    An environment and its terms hold each other, so only Python's collector frees them.
    It counts objects and not megabytes: 57 GB of address space were reserved in a run
    of all tests, since MuJoCo reserves 15 MB for each world of a G1 that it hardly
    uses, and a process of that size can no longer fork.
    """
    if not _PAGES.exists() or _AddressSpace.present() < _AddressSpace.taken:
        return
    gc.collect()
    _AddressSpace.taken = _AddressSpace.present() + _GROWTH_GB


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded under `summary`, above the closing line."""
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for name, text in report.user_properties:
                if name == "summary":
                    terminalreporter.write_line(text)
