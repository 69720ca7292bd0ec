"""Compile an MjSpec with the options of a configuration into an MjModel."""

import copy
import re
from collections.abc import Collection
from typing import get_args, get_type_hints

import mujoco

from mjlab.mujoco_log import compile_spec
from mjlab.names import suggest
from mjlab.sim.config import MujocoCfg, SimulationCfg
from mjlab.sim.options import CHOICES, OPTIONS, flag_names

# Flags that MuJoCo Warp 4.0.0 does not have in its EnableBit and DisableBit;
# tests/sim/test_errors.py compares them with Warp's messages.
_WARP_IGNORES_ENABLED = {"override", "fwdinv", "diagexact", "ipc", "speculative"}
_WARP_IGNORES_DISABLED = {"midphase", "autoreset"}
_INERTIAL_FRAME = {"body_ipos", "body_iquat"}


class OptionError(ValueError):
    """Raised for an option that MuJoCo or the chosen engine does not support."""


def compile_model(
    spec: mujoco.MjSpec, cfg: SimulationCfg, vary: Collection[str] = ()
) -> mujoco.MjModel:
    """Compile a copy of `spec` with the options of `cfg`.

    Args:
        spec: The scene, which is not modified.
        cfg: The options.
        vary: Model fields that will vary per world. MuJoCo uses shortcuts for bodies
            whose inertial frame is the body frame, so a varying inertial frame must be
            known before compilation.
    """
    spec = spec.copy()
    apply_options(spec, cfg.mujoco)
    if cfg.mujoco.memory is not None:
        spec.memory = _bytes(cfg.mujoco.memory)
    if _INERTIAL_FRAME & set(vary):
        for body in spec.bodies[1:]:
            body.simple = False
    return compile_spec(spec)


def apply_options(spec: mujoco.MjSpec, cfg: MujocoCfg) -> None:
    """Write the options of `cfg` into `spec`."""
    option = spec.option
    if not cfg.timestep > 0.0:
        raise OptionError(f"mujoco.timestep={cfg.timestep} has to be positive.")
    for name in [option for option in OPTIONS if option not in CHOICES]:
        value = getattr(cfg, name)
        if isinstance(value, int | float) and value < 0 and name != "o_margin":
            raise OptionError(f"mujoco.{name}={value} has to be 0 or more.")
        setattr(option, name, value)
    for name, (enum, prefix) in CHOICES.items():
        value, choices = getattr(cfg, name), get_args(get_type_hints(MujocoCfg)[name])
        if value not in choices:
            hint = suggest(str(value), choices)
            raise OptionError(f"mujoco.{name}={value!r} is unknown. {hint}")
        setattr(option, name, getattr(enum, prefix + value.upper()))
    option.disableflags = flag_bits("disableflags", cfg.disableflags)
    option.enableflags = flag_bits("enableflags", cfg.enableflags)
    option.disableactuator = sum(1 << group for group in cfg.disable_actuator_groups)


def flag_bits(kind: str, flags: tuple[str, ...]) -> int:
    """Combine named flags into a bit mask."""
    valid = flag_names(kind)
    bits = 0
    for flag in flags:
        if flag not in valid:
            hint = suggest(flag, list(valid))
            raise OptionError(f"mujoco.{kind} has an unknown flag, {flag!r}. {hint}")
        bits |= valid[flag]
    return bits


def native_model(model: mujoco.MjModel, cfg: SimulationCfg) -> mujoco.MjModel:
    """Return a copy of `model` with the settings of the native engine.

    Disables MuJoCo's automatic reset of non-finite states, which would hide a diverged
    world from the framework. A `jacobian` of "auto" becomes sparse above 32 degrees of
    freedom. MuJoCo's own "auto" stays dense up to 60, and a humanoid then takes 1.2
    times as long per step.
    """
    model = copy.copy(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    if model.opt.jacobian == mujoco.mjtJacobian.mjJAC_AUTO:
        forms = {"auto": model.nv > 32, "dense": False, "sparse": True}
        if (form := cfg.native_jacobian) not in forms:
            hint = suggest(form, forms)
            raise OptionError(f"sim.native_jacobian={form!r} is unknown. {hint}")
        model.opt.jacobian = int(forms[form])
    return model


def require_warp_support(model: mujoco.MjModel) -> None:
    """Raise for options that MuJoCo Warp rejects or silently ignores."""
    option = model.opt
    problems = []
    if option.solver == mujoco.mjtSolver.mjSOL_PGS:
        problems.append("mujoco.solver='pgs' (use 'newton' or 'cg')")
    discrete = option.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    if discrete and option.noslip_iterations > 0:
        problems.append("mujoco.noslip_iterations with integrator='discrete'")
    if option.disableactuator:
        problems.append("mujoco.disable_actuator_groups")
    problems += [
        f"mujoco.{kind}={name!r}"
        for kind, flags, ignored in (
            ("enableflags", option.enableflags, _WARP_IGNORES_ENABLED),
            ("disableflags", option.disableflags, _WARP_IGNORES_DISABLED),
        )
        for name, bit in flag_names(kind).items()
        if flags & bit and name in ignored
    ]
    if problems:
        raise OptionError(
            "MuJoCo Warp does not support "
            + ", ".join(problems)
            + ". Change the option, or use backend='native'."
        )


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if match is None:
        raise OptionError(
            f"mujoco.memory={text!r} is not a size. Use a whole number with K, M or G, "
            "such as '512K', '2M' or '1G'."
        )
    scale = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[match.group(2)]
    return int(match.group(1)) * scale
