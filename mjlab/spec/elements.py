"""Elements of a compiled model: kinds, names, and rows."""

import mujoco
import numpy as np

_OBJ = mujoco.mjtObj
_ENUM = {"jnt": "joint", "cam": "camera", "mat": "material", "tex": "texture"}
KINDS = {
    kind: getattr(_OBJ, f"mjOBJ_{_ENUM.get(kind, kind).upper()}")
    for kind in (
        "body jnt geom site cam light flex mesh mat tex hfield tendon actuator sensor "
        "numeric text tuple pair exclude"
    ).split()
} | {"eq": _OBJ.mjOBJ_EQUALITY}
"""Element kinds by the prefix of their fields, as in `nbody` and `body_mass`."""


def names_of(model: mujoco.MjModel, kind: str) -> list[str]:
    """Return the names of all elements of a kind; "" for elements without a name."""
    count = getattr(model, f"n{kind}")
    return [mujoco.mj_id2name(model, KINDS[kind], i) or "" for i in range(count)]


def places_of(model: mujoco.MjModel, kind: str, prefix: str) -> dict[str, int]:
    """Return the ids of elements with a name prefix, by the rest of the name."""
    return {
        name.removeprefix(prefix): row
        for row, name in enumerate(names_of(model, kind))
        if name and name.startswith(prefix)
    }


def rows_of_runs(starts: np.ndarray, lengths: np.ndarray | int) -> np.ndarray:
    """Return all rows of consecutive ranges, range after range."""
    lengths = np.broadcast_to(lengths, starts.shape)
    before = np.repeat(lengths.cumsum() - lengths, lengths)
    return np.repeat(starts, lengths) + np.arange(len(before)) - before
