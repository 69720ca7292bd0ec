"""Buffer sizes of contacts and constraints."""

from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco import batch as mj_batch

from mjlab.sim.config import SimulationCfg

_STRUCT = 168 * 1024
"""Size in bytes of an MjData without its buffers (mujoco 4.0.0), mostly solver
statistics."""


@dataclass(frozen=True)
class Sizes:
    """Buffer sizes of MuJoCo Warp's data. None leaves a size to MuJoCo Warp."""

    nconmax: int
    """Contacts per world, on average: all worlds share the buffer."""

    njmax: int
    """Maximum number of constraint rows per world."""

    njmax_nnz: int | None = None
    """Maximum number of non-zeros of the sparse constraint Jacobian per world."""

    nccdmax: int | None = None
    """Convex collision pairs per world, on average: all worlds share the buffer."""


@dataclass(frozen=True)
class Calibration:
    """Buffer use of a random rollout, and the sizes derived from it."""

    most_contacts: int
    """Maximum number of contacts of one world."""

    mean_contacts: float
    """Maximum over time of the mean number of contacts per world."""

    most_rows: int
    """Maximum number of constraint rows of one world."""

    sizes: Sizes
    """Proposed sizes, with a margin above the measured use."""


def calibrate(
    model: mujoco.MjModel, *, num_envs: int = 16, steps: int = 200, seed: int = 0
) -> Calibration:
    """Run a short random rollout and propose sizes.

    The rollout runs on the native engine, whose arena holds all contacts and
    constraints. Worlds start from the first keyframe, if there is one, with random
    velocities and controls, so that standing, stumbling and fallen robots are all
    covered.

    Args:
        model: The compiled model.
        num_envs: Number of worlds of the rollout.
        steps: Number of physics steps of the rollout.
        seed: Random seed.
    """
    batch = mj_batch.Batch(model, num_envs, persistent=True)
    random = np.random.default_rng(seed)
    batch.reset(keyframe=0 if model.nkey else -1)
    batch.bind("qvel")[...] += 0.5 * random.standard_normal((num_envs, model.nv))
    low, high = _control_range(model)
    contacts, rows = batch.bind("ncon"), batch.bind("nefc")
    most_contacts, most_rows, mean_contacts = 0, 0, 0.0
    for step in range(steps):
        if step % 10 == 0:
            batch.bind("ctrl")[...] = random.uniform(low, high, (num_envs, model.nu))
        batch.step()
        most_contacts = max(most_contacts, int(contacts.max()))
        most_rows = max(most_rows, int(rows.max()))
        mean_contacts = max(mean_contacts, float(contacts.mean()))
    # A margin of 50 %, since training reaches poses that a short rollout does not, and
    # nearby pairs of geoms also use the contact buffer.
    sizes = Sizes(
        nconmax=_round_up(max(32, 2 * mean_contacts, 1.5 * most_contacts)),
        njmax=_round_up(max(64, 1.5 * most_rows)),
    )
    return Calibration(most_contacts, mean_contacts, most_rows, sizes)


def data_size(model: mujoco.MjModel, *, steps: int = 100, seed: int = 0) -> int:
    """Estimate the memory in bytes that one MjData actually uses.

    The operating system allocates only the part of the arena that is used. This part is
    measured in a short rollout with random controls, plus a margin of 25 %.
    """
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    random = np.random.default_rng(seed)
    low, high = _control_range(model)
    for step in range(steps):
        if step % 10 == 0:
            data.ctrl[:] = random.uniform(low, high)
        mujoco.mj_step(model, data)
    return _STRUCT + data.nbuffer + int(1.25 * data.maxuse_arena)


def least_data_size(model: mujoco.MjModel) -> int:
    """Return the memory in bytes that one MjData uses before it is first stepped."""
    return _STRUCT + mujoco.MjData(model).nbuffer


def choose_sizes(model: mujoco.MjModel, cfg: SimulationCfg) -> Sizes:
    """Return the sizes of `cfg`, with missing values taken from a calibration."""
    nconmax, njmax = cfg.nconmax, cfg.njmax
    # Warp's own heuristic gives a standing G1 64 constraint rows, but it needs up to
    # 120.
    if nconmax is None or njmax is None:
        proposed = calibrate(model).sizes
        nconmax = proposed.nconmax if nconmax is None else nconmax
        njmax = proposed.njmax if njmax is None else njmax
    return Sizes(nconmax, njmax, cfg.njmax_nnz, cfg.nccdmax)


def _control_range(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return bounds of random controls; controls without limits are bounded to ±1."""
    low, high = -np.ones(model.nu), np.ones(model.nu)
    for actuator in range(model.nactuator):
        adr = int(model.actuator_ctrladr[actuator])
        if model.actuator_ctrllimited[actuator]:
            low[adr], high[adr] = model.actuator_ctrlrange[actuator]
    return low, high


def _round_up(value: float, multiple: int = 8) -> int:
    return int(np.ceil(value / multiple)) * multiple
