"""Settings of the test session that must hold before torch or mujoco is imported."""

import ctypes
import os
import sys

import pytest
from hypothesis import settings


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
# the bare physics rate against 0.93 to 1.02 with these (docs/decisions.md).
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
_choose_gl_backend()

# A test shares its cores with others, so a slow example says nothing; the same examples
# come every time, so that a failure in CI is a failure here.
settings.register_profile("mjlab", deadline=None, derandomize=True)
settings.load_profile("mjlab")


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded under `summary`, above the closing line."""
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for name, text in report.user_properties:
                if name == "summary":
                    terminalreporter.write_line(text)
