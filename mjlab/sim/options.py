"""Read MuJoCo's options from a spec or model, with the names of `MujocoCfg`."""

from typing import Any

import mujoco
import numpy as np

CHOICES: dict[str, tuple[Any, str]] = {
    "integrator": (mujoco.mjtIntegrator, "mjINT_"),
    "cone": (mujoco.mjtCone, "mjCONE_"),
    "jacobian": (mujoco.mjtJacobian, "mjJAC_"),
    "solver": (mujoco.mjtSolver, "mjSOL_"),
}
"""Options whose value is a MuJoCo enum: the enum, and the prefix of its names."""

OPTIONS = (
    "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance "
    "sleep_tolerance gravity wind magnetic density viscosity o_margin o_solref "
    "o_solimp o_friction integrator cone jacobian solver iterations ls_iterations "
    "noslip_iterations ccd_iterations sdf_iterations sdf_initpoints"
).split()
"""Options other than flags, in the bit order of `MjsAuthored.option` (mujoco 4.0.0)."""

_FLAGS = {
    "disableflags": (mujoco.mjtDisableBit, "mjDSBL_"),
    "enableflags": (mujoco.mjtEnableBit, "mjENBL_"),
}
_GROUPS = 31


def flag_names(kind: str) -> dict[str, int]:
    """Return the bits of "disableflags" or "enableflags" by lower-case name."""
    enum, prefix = _FLAGS[kind]
    return {
        name.removeprefix(prefix).lower(): int(bit)
        for name, bit in enum.__members__.items()
        if name.startswith(prefix)
    }


def read_options(option: Any) -> dict[str, Any]:
    """Return all options of a spec or a model, as arguments of `MujocoCfg`."""
    values = {name: getattr(option, name) for name in OPTIONS}
    for name, value in values.items():
        if name in CHOICES:
            enum, prefix = CHOICES[name]
            values[name] = enum(value).name.removeprefix(prefix).lower()
        elif isinstance(value, np.ndarray):
            values[name] = tuple(value.tolist())
    for kind in _FLAGS:
        bits = getattr(option, kind)
        names = flag_names(kind).items()
        values[kind] = tuple(name for name, bit in names if bits & bit)
    groups = range(_GROUPS)
    values["disable_actuator_groups"] = tuple(
        group for group in groups if option.disableactuator & 1 << group
    )
    return values


def authored_options(spec: mujoco.MjSpec) -> dict[str, Any]:
    """Return the options that a file sets, or that were changed in `spec`."""
    values, plain = read_options(spec.option), read_options(mujoco.MjSpec().option)
    said = {name for bit, name in enumerate(OPTIONS) if spec.authored.option & 1 << bit}
    changed = {name for name, value in values.items() if value != plain[name]}
    return {name: value for name, value in values.items() if name in said | changed}
