"""Import of `mujoco.sysid`, which is empty without its own dependencies."""

import importlib.util

NEEDS = ("absl", "colorama", "matplotlib", "plotly", "scipy", "tabulate", "yaml")
"""Modules without which MuJoCo 4.0 imports `mujoco.sysid` as an empty module."""


def missing_modules() -> list[str]:
    """Return the modules that `mujoco.sysid` needs and that are not installed."""
    return [name for name in NEEDS if importlib.util.find_spec(name) is None]
