"""Rays on the native engine: through a map of the ground, or through MuJoCo."""

from collections.abc import Collection

import mujoco
import numpy as np
from mujoco import batch as mj_batch

from mjlab.sensor.ground_map import GroundMap
from mjlab.sensor.vision import Rays


class NativeRays:
    """Casts one set of rays in all worlds."""

    def __init__(
        self, batch: mj_batch.Batch, model: mujoco.MjModel, rays: Rays
    ) -> None:
        """Draw a map of the ground, if the rays can do with one."""
        self._batch = batch
        self._groups = group_flags(rays.geom_groups)
        self._excluded = np.asarray(rays.excluded_bodies, np.int32)
        self._starts = rays.starts.numpy()
        self._directions = rays.directions.numpy()
        outputs = (rays.distance, rays.geom, rays.normal)
        self._outputs = [output.numpy() for output in outputs]
        self._map = _map_for(model, rays)

    def cast(self) -> None:
        """Write where the rays end."""
        if self._map is None:
            self._ask_mujoco(slice(None))
            return
        x, y, z = (self._starts[..., i].astype(np.float64) for i in range(3))
        below = self._map.below(x.ravel(), y.ravel())
        height = below.height.reshape(z.shape)
        distance, geom, normal = self._outputs
        with np.errstate(invalid="ignore"):  # A world may be at NaN.
            np.copyto(distance, z - height, casting="same_kind")
        distance[~np.isfinite(distance)] = -1.0
        np.copyto(geom, below.geom.reshape(z.shape))
        np.copyto(normal, below.normal.reshape(normal.shape), casting="same_kind")
        # The map knows upper surfaces only, and those of the model.
        others = (z < height).any(axis=1) | self._map.differs(self._batch)
        if others.any():
            self._ask_mujoco(np.flatnonzero(others))

    def _ask_mujoco(self, worlds: np.ndarray | slice) -> None:
        """Have MuJoCo cast the rays of some worlds against every geom.

        It computes the kinematics of these worlds anew, and their next step starts
        afresh instead of continuing from `forward()`. State and derived fields are
        untouched.
        """
        results = self._batch.ray(
            self._starts[worlds],
            self._directions[worlds],
            self._groups,
            bodyexclude=self._excluded,
            ids=None if isinstance(worlds, slice) else worlds,
            normal=True,
        )
        for output, result in zip(self._outputs, results, strict=True):
            output[worlds] = result


def group_flags(groups: Collection[int]) -> np.ndarray:
    """MuJoCo's way of saying which geom groups are meant."""
    flags = np.zeros(mujoco.mjNGROUP, np.uint8)
    flags[list(groups)] = 1
    return flags


def _map_for(model: mujoco.MjModel, rays: Rays) -> GroundMap | None:
    """The map of what the rays can meet, where they point down on still ground."""
    ground = GroundMap.of(model, rays.geom_groups) if rays.points_down else None
    if ground is None or ground.bodies & set(rays.excluded_bodies):
        return None
    return ground
