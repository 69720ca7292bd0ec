"""What all sensors of a simulation that look at the world share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mjlab.sensor.ray_pool import RayCastData, RayPool, points_down
from mjlab.sensor.render import CameraView, Eye, Images, SightError, engine_sight
from mjlab.sim import Simulation

if TYPE_CHECKING:
    from mjlab.sensor.rays import RayCastSensorCfg


class Sight:
    """The engine's way of looking, and the rays of all sensors.

    On Warp there is one search tree and one rendering for all that see the same geoms,
    instead of one each.
    """

    def __init__(
        self,
        sim: Simulation,
        cameras: Sequence[CameraView] = (),
        casters: Sequence["RayCastSensorCfg"] = (),
    ) -> None:
        """Prepare for everything that will look.

        Args:
            sim: The simulation.
            cameras: All cameras that will be added.
            casters: All sensors whose rays will be asked for.
        """
        groups = [cfg.geom_groups for cfg in casters]
        self._engine = engine_sight(sim, cameras, groups)
        self.notes = self._engine.notes
        """What a user of its cameras should know."""
        self._pools: dict[str, RayPool] = {}
        # The native engine finds the ground below by a shorter way.
        kinds = [(tuple(sorted(cfg.geom_groups)), points_down(cfg)) for cfg in casters]
        for kind in dict.fromkeys(kinds):
            alike = [c for c, k in zip(casters, kinds, strict=True) if k == kind]
            pool = RayPool(alike, sim, self._engine.add_rays)
            sim.add_sense_pass(pool)
            self._pools |= {cfg.name: pool for cfg in alike}

    def rays(self, sensor: str) -> RayCastData:
        """What the rays of a sensor meet, live."""
        if sensor not in self._pools:
            raise SightError(f"The rays of sensor {sensor!r} were not announced.")
        return self._pools[sensor].data(sensor)

    def add_camera(self, view: CameraView, images: Images) -> Eye:
        """Return what draws a camera into `images`."""
        return self._engine.add_camera(view, images)
