"""What a user says about a scene."""

from collections.abc import Callable
from dataclasses import dataclass, field

import mujoco

from mjlab.entity import EntityCfg
from mjlab.sensor import SensorCfg
from mjlab.terrain import TerrainCfg


@dataclass(kw_only=True)
class SceneCfg:
    """Ground, entities and sensors of every world."""

    num_envs: int = 1
    """Number of worlds."""

    env_spacing: float = 2.0
    """Distance between worlds when they are drawn side by side, in metres. Physics
    knows nothing of it."""

    terrain: TerrainCfg | None = None
    """The ground. None leaves it out."""

    entities: dict[str, EntityCfg] = field(default_factory=dict)
    """Robots, objects and fixtures by name. An element `foot` of the entity `robot` is
    called `robot/foot` in the compiled model."""

    sensors: tuple[SensorCfg, ...] = ()
    """Sensors that are added to those of the entities' own files."""

    extent: float | None = None
    """Size of what cameras of viewers should see, in metres. None leaves it to MuJoCo,
    or takes the size of a tile on generated terrain."""

    edit_spec: Callable[[mujoco.MjSpec], None] | None = None
    """Last changes to the scene before it is compiled."""
