"""Height map of static ground, for rays that point down.

MuJoCo tests each ray against every geom of a scene, which on generated terrain takes
most of a step. A ray that points down needs only the few geoms below it. The map lists
these geoms for each cell of a grid, and computes their heights by a formula.
"""

import math
from collections.abc import Collection
from typing import NamedTuple, Self

import mujoco
import numpy as np
from mujoco import batch as mj_batch

from mjlab.sensor.ground_cells import Cells, Solid

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_FIELD = int(mujoco.mjtGeom.mjGEOM_HFIELD)
_BOX = int(mujoco.mjtGeom.mjGEOM_BOX)

_GEOM_FIELDS = "type bodyid dataid matid pos quat size rgba".split()


class Below(NamedTuple):
    """Highest surface at each point (x, y)."""

    height: np.ndarray
    """Height of the surface in the world, m, -inf if there is none."""

    geom: np.ndarray
    """Id of the surface's geom, -1 if there is none."""

    normal: np.ndarray
    """Surface normal, zero if there is none, shape (points, 3)."""


class GroundMap:
    """Height map of the upper surfaces of static geoms."""

    def __init__(
        self, model: mujoco.MjModel, geoms: list[int], poses: mujoco.MjData
    ) -> None:
        """Build the map from geoms already checked by `GroundMap.of`."""
        self.bodies = frozenset(int(model.geom_bodyid[geom]) for geom in geoms)
        """Bodies of the ground geoms."""
        shown = [geom for geom in geoms if is_visible(model, geom)]
        endless = [geom for geom in shown if _is_endless(model, geom)]
        heights = [float(poses.geom_xpos[geom, 2]) for geom in endless]
        # Of several infinite planes, a ray from above can hit only the highest.
        self._level = max(heights, default=-math.inf)
        self._level_geom = endless[int(np.argmax(heights))] if endless else -1
        solids = [_solid(model, poses, geom) for geom in shown if geom not in endless]
        self._fields = _HeightFields(model, solids)
        self._take_sizes(solids)
        self._cells = Cells(solids, self._level)
        self._watched = _watched_fields(model, geoms)

    @classmethod
    def of(cls, model: mujoco.MjModel, groups: Collection[int]) -> Self | None:
        """Return the map of all geoms of `groups`, or None if it cannot represent them.

        All geoms must be static, and the visible ones must be horizontal boxes, height
        fields or planes; any rotation about z is allowed. Flexes are not supported.
        """
        geoms = [i for i in range(model.ngeom) if int(model.geom_group[i]) in groups]
        poses = mujoco.MjData(model)
        mujoco.mj_kinematics(model, poses)
        for geom in geoms:
            if not _stands_still(model, int(model.geom_bodyid[geom])):
                return None
            if is_visible(model, geom) and not _is_level(model, poses, geom):
                return None
        return cls(model, geoms, poses) if geoms and model.nflex == 0 else None

    def differs(self, batch: mj_batch.Batch) -> np.ndarray:
        """Mask of worlds whose ground differs from the model's, shape (worlds,)."""
        differs = np.zeros(batch.nsim, bool)
        for name, rows, value in self._watched:
            live = batch.expanded(name)
            if live is not None:
                unequal = live[:, rows] != value
                differs |= unequal.reshape(batch.nsim, -1).any(axis=1)
        return differs

    def below(self, x: np.ndarray, y: np.ndarray) -> Below:
        """Return the highest surface at each point, float64, shape (points,)."""
        stacks = self._cells.stacks_at(x, y)
        # Cells covered by one flat solid need no comparison.
        winner = self._cells.alone[stacks]
        highest = self._top[winner]
        slope = np.zeros((2, *x.shape))
        rows = np.flatnonzero(self._cells.is_mixed[stacks])
        if rows.size:
            found = self._compare(stacks[rows], x[rows], y[rows])
            winner[rows], highest[rows], slope[:, rows] = found
        return self._describe(highest, winner, slope)

    def _compare(
        self, stacks: np.ndarray, x: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the highest solid at each point; return its index, height and slope."""
        winner = np.full(x.shape, -1, np.int32)
        highest = np.full(x.shape, self._level)
        slope = np.zeros((2, *x.shape))
        rows = np.arange(x.size)
        for column in self._cells.columns:
            solid = column[stacks[rows]]
            rows, solid = rows[solid >= 0], solid[solid >= 0]
            if rows.size == 0:
                break  # Stacks are filled from the first column on.
            u, v = self._local(solid, x[rows], y[rows])
            top, rise = self._fields.surface(solid, u, v, self._top[solid])
            inside = (np.abs(u) <= self._half_u[solid]) & (
                np.abs(v) <= self._half_v[solid]
            )
            better = inside & (top > highest[rows])
            chosen = rows[better]
            winner[chosen], highest[chosen] = solid[better], top[better]
            slope[:, chosen] = rise[:, better]
        return winner, highest, slope

    def _local(
        self, solid: np.ndarray, x: np.ndarray, y: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Transform points to the frames of their solids."""
        x, y = x - self._x[solid], y - self._y[solid]
        if not self._is_turned:
            return x, y
        cos, sin = self._cos[solid], self._sin[solid]
        return cos * x + sin * y, cos * y - sin * x

    def _describe(
        self, height: np.ndarray, winner: np.ndarray, slope: np.ndarray
    ) -> Below:
        normal = np.zeros((*winner.shape, 3))
        normal[:, 2] = height > -np.inf
        rows = np.flatnonzero(slope.any(axis=0))
        rise_u, rise_v = slope[:, rows]
        cos, sin = self._cos[winner[rows]], self._sin[winner[rows]]
        length = np.sqrt(1.0 + rise_u * rise_u + rise_v * rise_v)
        normal[rows, 0] = (sin * rise_v - cos * rise_u) / length
        normal[rows, 1] = (-sin * rise_u - cos * rise_v) / length
        normal[rows, 2] = 1.0 / length
        return Below(height, self._geom[winner], normal)

    def _take_sizes(self, solids: list[Solid]) -> None:
        """Store poses and sizes of all solids in arrays; the infinite plane is last."""
        self._x, self._y = np.array([*(s.center for s in solids), (0.0, 0.0)]).T.copy()
        turns = np.array([*(s.turn for s in solids), (1.0, 0.0)])
        self._cos, self._sin = turns.T.copy()
        self._is_turned = bool((turns != (1.0, 0.0)).any())
        halves = np.array([*(s.half for s in solids), (0.0, 0.0)])
        self._half_u, self._half_v = halves.T.copy()
        self._top = np.array([*(s.lowest for s in solids), self._level])
        self._geom = np.array([*(s.geom for s in solids), self._level_geom], np.int32)


class _HeightFields:
    """Surfaces of all height fields, split into the same triangles as in MuJoCo."""

    def __init__(self, model: mujoco.MjModel, solids: list[Solid]) -> None:
        """Copy the heights of all height fields."""
        geoms = np.array([solid.geom for solid in solids], int)
        is_field = model.geom_type[geoms] == _FIELD
        fields = model.geom_dataid[geoms][is_field]
        # Index of each solid among the height fields, -1 for other solids.
        self._place = np.full(len(solids), -1)
        self._place[is_field] = np.arange(len(fields))
        self._columns = model.hfield_ncol[fields].astype(np.int64)
        self._rows = model.hfield_nrow[fields].astype(np.int64)
        self._first = model.hfield_adr[fields].astype(np.int64)
        self._half_u, self._half_v, self._tall, _ = model.hfield_size[fields].T.copy()
        self._cell_u = 2.0 * self._half_u / (self._columns - 1)
        self._cell_v = 2.0 * self._half_v / (self._rows - 1)
        self._data = model.hfield_data.astype(np.float64)

    def surface(
        self, solid: np.ndarray, u: np.ndarray, v: np.ndarray, base: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return height and slope of each solid's surface at local coordinates.

        Solids other than height fields are flat, at the height of their base.
        """
        slope = np.zeros((2, *u.shape))
        place = self._place[solid]
        rows = np.flatnonzero(place >= 0)
        if rows.size == 0:
            return base, slope
        height = base.copy()
        rise, slope[:, rows] = self._triangle(place[rows], u[rows], v[rows])
        height[rows] += rise
        return height, slope

    def _triangle(
        self, place: np.ndarray, u: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Height above the base, and slope. Cells are split from (0, 0) to (1, 1)."""
        columns, cell_u, cell_v = (
            values[place] for values in (self._columns, self._cell_u, self._cell_v)
        )
        u, v = (u + self._half_u[place]) / cell_u, (v + self._half_v[place]) / cell_v
        column = np.clip(u.astype(np.int64), 0, columns - 2)
        row = np.clip(v.astype(np.int64), 0, self._rows[place] - 2)
        u, v = u - column, v - row
        first = self._first[place] + row * columns + column
        is_right = u >= v
        corner = self._data[np.where(is_right, first + 1, first + columns)]
        low, high = self._data[first], self._data[first + columns + 1]
        one, other = corner - low, high - corner
        along_u = np.where(is_right, one, other)
        along_v = np.where(is_right, other, one)
        tall = self._tall[place]
        slope = (tall * along_u / cell_u, tall * along_v / cell_v)
        return tall * (low + u * along_u + v * along_v), slope


def is_visible(model: mujoco.MjModel, geom: int) -> bool:
    """True if rays can hit a geom. MuJoCo's rays ignore fully transparent geoms."""
    material = int(model.geom_matid[geom])
    color = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
    return bool(color[3] != 0.0)


def _stands_still(model: mujoco.MjModel, body: int) -> bool:
    """True if neither the body nor an ancestor has a joint or is a mocap body."""
    while body > 0:
        if model.body_jntnum[body] > 0 or model.body_mocapid[body] >= 0:
            return False
        body = int(model.body_parentid[body])
    return True


def _is_level(model: mujoco.MjModel, poses: mujoco.MjData, geom: int) -> bool:
    kind = int(model.geom_type[geom])
    if kind == _PLANE and len(set(model.geom_size[geom, :2] > 0.0)) > 1:
        return False  # The plane is infinite along one axis only.
    is_known = kind in (_PLANE, _FIELD, _BOX)
    return is_known and float(poses.geom_xmat[geom, 8]) > 1.0 - 1e-12


def _is_endless(model: mujoco.MjModel, geom: int) -> bool:
    if int(model.geom_type[geom]) != _PLANE:
        return False
    return bool((model.geom_size[geom, :2] <= 0.0).all())


def _solid(model: mujoco.MjModel, poses: mujoco.MjData, geom: int) -> Solid:
    x, y, z = (float(value) for value in poses.geom_xpos[geom])
    kind, rise = int(model.geom_type[geom]), 0.0
    half = [float(value) for value in model.geom_size[geom]]
    if kind == _FIELD:
        field = int(model.geom_dataid[geom])
        half = [float(value) for value in model.hfield_size[field]]
        first = int(model.hfield_adr[field])
        count = int(model.hfield_nrow[field] * model.hfield_ncol[field])
        rise = half[2] * float(model.hfield_data[first : first + count].max())
    base = z + half[2] if kind == _BOX else z
    cos, sin = (float(value) for value in poses.geom_xmat[geom, [0, 3]])
    return Solid(geom, (x, y), (cos, sin), (half[0], half[1]), base, base + rise)


def _watched_fields(
    model: mujoco.MjModel, geoms: list[int]
) -> list[tuple[str, list[int] | slice, np.ndarray]]:
    """Model fields that the map depends on, with their rows and compiled values."""
    bodies = {int(model.geom_bodyid[geom]) for geom in geoms}
    for body in tuple(bodies):
        while body > 0:
            body = int(model.body_parentid[body])
            bodies.add(body)
    rows: dict[str, list[int] | slice] = {"geom_group": slice(None)}
    rows |= {f"geom_{field}": geoms for field in _GEOM_FIELDS}
    rows |= {f"body_{field}": sorted(bodies) for field in ("pos", "quat", "mocapid")}
    materials = sorted({int(i) for i in model.geom_matid[geoms]} - {-1})
    if materials:
        rows["mat_rgba"] = materials
    rows = {name: _as_slice(ids) for name, ids in rows.items()}
    return [(name, ids, getattr(model, name)[ids].copy()) for name, ids in rows.items()]


def _as_slice(ids: list[int] | slice) -> list[int] | slice:
    """Return consecutive rows as a slice, which reads them without a copy."""
    if isinstance(ids, slice) or ids != list(range(ids[0], ids[0] + len(ids))):
        return ids
    return slice(ids[0], ids[0] + len(ids))
