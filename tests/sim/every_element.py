"""A model with every element, and a state in which all of them are active."""

from pathlib import Path

import mujoco
import numpy as np

from mjlab.sim import MujocoCfg, SimulationCfg, compile_model
from mjlab.sim.config import BackendName

_PATH = Path(__file__).with_suffix(".xml")

# Bodies held by a joint limit, with the joint's distance beyond it or in its margin.
_PLACED = {"rail": 0.043, "shoulder": 0.27, "elbow": -0.085, "crank": 0.1}

# Constant controls. If the damper's control is clamped, Warp's derivative of its force
# uses the control before the clamp (4.0.0).
_CONTROLS = {"damper": 0.6, "muscle": 0.7, "adhesion": 1.5}


def make_cfg(backend: BackendName) -> SimulationCfg:
    """Options with all features enabled, and a solver that runs to convergence."""
    return SimulationCfg(
        backend=backend,
        num_threads=2,
        nconmax=64,
        njmax=192,
        mujoco=MujocoCfg(
            timestep=0.004,
            cone="elliptic",
            iterations=50,
            ls_iterations=50,
            tolerance=1e-10,
            ls_tolerance=1e-4,
            impratio=1.5,
            gravity=(0.3, -0.2, -9.6),
            wind=(0.4, -0.3, 0.2),
            magnetic=(0.1, -0.5, 0.2),
            density=20.0,
            viscosity=0.3,
        ),
    )


def compile_every_element(vary: tuple[str, ...]) -> mujoco.MjModel:
    """The model, with every feature enabled."""
    spec = mujoco.MjSpec.from_file(str(_PATH))
    return compile_model(spec, make_cfg("native"), vary)


def start_state(model: mujoco.MjModel, *, steps: int = 8) -> mujoco.MjData:
    """A state with history, in which limits, contacts and springs are active.

    Its numbers are exact in float32, so that both engines start from the same state.
    """
    random = np.random.default_rng(3)
    data = mujoco.MjData(model)
    for name, value in _PLACED.items():
        data.joint(name).qpos[:] = value
    half = 0.13
    data.joint("gondola").qpos[:] = (np.cos(half), 0.0, np.sin(half), 0.0)
    data.qvel[:] = 0.05 * random.standard_normal(model.nv)
    data.act[:] = 0.05 * random.uniform(0.5, 1.5, model.na)
    data.userdata[:] = 1.0
    for _ in range(steps):
        data.ctrl[:] = random.uniform(-1.0, 1.0, model.nu)
        for name, value in _CONTROLS.items():
            data.actuator(name).ctrl[:] = value
        mujoco.mj_step(model, data)
    data.xfrc_applied[:] = 0.1 * random.standard_normal(data.xfrc_applied.shape)
    data.qfrc_applied[:] = 0.1 * random.standard_normal(model.nv)
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, state, spec)
    # A new MjData, because the old one keeps energies that are not recomputed.
    fresh = mujoco.MjData(model)
    mujoco.mj_setState(model, fresh, state.astype(np.float32).astype(float), spec)
    return fresh
