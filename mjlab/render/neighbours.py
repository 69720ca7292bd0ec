"""Neighbouring worlds, drawn beside the displayed world."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.render.muscles import color_muscles
from mjlab.scene import Scene
from mjlab.sim import Simulation

_MOVABLE = mujoco.mjtCatBit.mjCAT_DYNAMIC.value


@dataclass(frozen=True, eq=False)
class Neighbour:
    """Copies of the model and state of a neighbouring world, and its offset."""

    model: mujoco.MjModel
    data: mujoco.MjData
    offset: np.ndarray
    """Offset of this world's origin from the displayed world's origin, m, (3,)."""

    def put_into(self, scene: mujoco.MjvScene, option: mujoco.MjvOption) -> None:
        """Add the movable bodies of this world to MuJoCo's scene."""
        first = scene.ngeom
        mujoco.mjv_addGeoms(
            self.model, self.data, option, mujoco.MjvPerturb(), _MOVABLE, scene
        )
        for geom in scene.geoms[first : scene.ngeom]:
            geom.pos += self.offset


class Neighbourhood:
    """The worlds nearest to a world, on the grid or the terrain."""

    def __init__(self, sim: Simulation, scene: Scene, world: int, number: int) -> None:
        """Select the worlds.

        The selection does not change, even if a curriculum moves worlds on the terrain.

        Args:
            sim: The simulation.
            scene: Its scene.
            world: The displayed world.
            number: Maximum number of neighbours.
        """
        self._sim, self._scene, self._world = sim, scene, world
        origins = scene.env_origins.cpu().numpy()
        distances = np.linalg.norm(origins - origins[world], axis=1)
        nearest = np.argsort(distances, kind="stable")
        self.worlds = tuple(nearest[nearest != world][:number].tolist())
        """Indices of the neighbours, the nearest first."""

    def take(self) -> list[Neighbour]:
        """Return copies of the neighbouring worlds' current states."""
        if not self.worlds:
            return []
        offsets = grid_offsets(self._scene, self._world)
        engine = self._sim.engine
        neighbours = []
        for world in self.worlds:
            model, data = engine.mj_model_of(world), engine.mj_data_of(world)
            color_muscles(model, data)
            neighbours.append(Neighbour(model, data, offsets[world]))
        return neighbours


def grid_offsets(scene: Scene, world: int) -> np.ndarray:
    """Return drawing offsets of all worlds relative to one, shape (num_envs, 3), m.

    On a plane all worlds share one origin, and are drawn on a grid. On terrain their
    origins already differ, so offsets are 0.
    """
    places = (scene.env_origins - scene.spawn_origins).cpu().numpy()
    return (places - places[world]).astype(np.float64)
