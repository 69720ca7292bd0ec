"""Check of the dependencies of `mujoco.sysid`."""

import importlib.util

NEEDS = ("absl", "colorama", "matplotlib", "plotly", "scipy", "tabulate", "yaml")
"""Dependencies of `mujoco.sysid`. Without them, MuJoCo 4.0 imports an empty module."""


def missing_modules() -> list[str]:
    """Return the modules that `mujoco.sysid` needs and that are not installed."""
    return [name for name in NEEDS if importlib.util.find_spec(name) is None]
