"""What all sensors of a simulation that look at the world share."""

from collections.abc import Collection, Sequence

import mujoco

from mjlab.sensor.ray_pool import RayCastData, RayPool, RaySpec
from mjlab.sensor.render_native import NativeSight
from mjlab.sensor.vision import CameraView, EngineSight, Eye, Images, SightError
from mjlab.sim import Simulation
from mjlab.sim.native_engine import NativeEngine


class Sight:
    """The engine's way of looking, and the rays of all sensors.

    On Warp there is one search tree and one rendering for all that see the same geoms,
    instead of one each.
    """

    def __init__(
        self,
        sim: Simulation,
        cameras: Sequence[CameraView] = (),
        casters: Sequence[RaySpec] = (),
    ) -> None:
        """Prepare for everything that will look.

        Args:
            sim: The simulation.
            cameras: All cameras that will be added.
            casters: The rays of all sensors that will ask for theirs.
        """
        groups = [spec.geom_groups for spec in casters]
        self._engine = _engine_sight(sim, cameras, groups)
        self.notes = self._engine.notes
        """What a user of its cameras should know."""
        self._pools: dict[str, RayPool] = {}
        # The native engine finds the ground below by a shorter way.
        kinds = [(tuple(sorted(s.geom_groups)), s.points_down) for s in casters]
        for kind in dict.fromkeys(kinds):
            alike = [s for s, k in zip(casters, kinds, strict=True) if k == kind]
            pool = RayPool(alike, sim, self._engine.add_rays)
            sim.add_sense_pass(pool)
            self._pools |= {spec.sensor: pool for spec in alike}

    def rays(self, sensor: str) -> RayCastData:
        """What the rays of a sensor meet, live."""
        if sensor not in self._pools:
            raise SightError(f"The rays of sensor {sensor!r} were not announced.")
        return self._pools[sensor].data(sensor)

    def add_camera(self, view: CameraView, images: Images) -> Eye:
        """Return what draws a camera into `images`."""
        return self._engine.add_camera(view, images)


def _engine_sight(
    sim: Simulation,
    cameras: Sequence[CameraView],
    ray_groups: Collection[tuple[int, ...]],
) -> EngineSight:
    """Make the engine's way of looking, for everything that will look.

    Args:
        sim: The simulation.
        cameras: All cameras that will be added.
        ray_groups: The geom groups of each set of rays that will be added.
    """
    for groups in (*ray_groups, *(camera.geom_groups for camera in cameras)):
        _require_visible(sim.mj_model, groups)
    if isinstance(sim.engine, NativeEngine):
        return NativeSight(sim.engine, cameras)
    # Imported only here, so that the native engine works where Warp is not wanted.
    from mjlab.sensor.render_warp import WarpSight

    return WarpSight(sim, cameras, ray_groups)


def _require_visible(model: mujoco.MjModel, groups: tuple[int, ...]) -> None:
    outside = [group for group in groups if not 0 <= group < mujoco.mjNGROUP]
    if outside or not groups:
        raise SightError(
            f"geom_groups={groups} has to name groups from 0 to {mujoco.mjNGROUP - 1}."
        )
    present = sorted({int(group) for group in model.geom_group})
    if not set(groups) & set(present):
        raise SightError(
            f"geom_groups={groups} shows nothing: the geoms of the scene are in groups "
            f"{present}."
        )
