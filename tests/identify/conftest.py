"""Skips tests that need `mujoco.sysid`, and shares an identified twin."""

import pytest

from mjlab.identify import (
    Fit,
    FitResult,
    Robot,
    Twin,
    candidates,
    missing_modules,
    propose,
)
from mjlab.registry import load_task

KINDS = ("friction", "damping", "gain", "delay")
"""Kinds that a joint without gravity determines if its inertia is known."""


@pytest.fixture(scope="session")
def sysid():
    """Skip without the packages that `mujoco.sysid` imports."""
    if missing_modules():
        pytest.skip(f"mujoco.sysid needs {', '.join(missing_modules())}")


@pytest.fixture(scope="session")
def shoulder() -> Robot:
    """The YAM arm whose first joint moves."""
    return Robot.of(load_task("Reach-Yam").env(), joints=("joint1",))


@pytest.fixture(scope="session")
def identified(sysid, shoulder) -> tuple[Twin, FitResult]:
    """A twin of the first joint, and its identification from one log."""
    unknowns = candidates(shoulder, shoulder.joints, kinds=KINDS)
    motion = propose(shoulder, unknowns, seconds=4.0, share=0.3, tries=2)
    twin = Twin.draw(shoulder, unknowns, 5)
    return twin, Fit(shoulder, [twin.record(motion.log)], unknowns).run()
