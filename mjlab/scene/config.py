"""What a user says about a scene."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated

import mujoco

from mjlab.entity import EntityCfg
from mjlab.scene.per_world import PerWorldSpec
from mjlab.sensor import SensorCfg
from mjlab.settings import Config
from mjlab.settings.bounds import above, at_least
from mjlab.spec import SpecSource
from mjlab.terrain import TerrainCfg


class PerWorldEntityCfg(Config, ABC):
    """An entity that is another object in each world.

    It stands where an `EntityCfg` may stand. `mjlab.views.VariantsCfg` is one.
    """

    @abstractmethod
    def check(self, name: str, num_envs: int) -> None:
        """Raise for what has no meaning, before anything is built."""

    @abstractmethod
    def build(self, name: str, scene: "SceneCfg") -> PerWorldSpec:
        """Build what stands for the entity in a scene."""


class ContactPairCfg(Config):
    """Things between which the contact force is measured.

    A name without a slash is that of an entity, or of a body of the scene itself:
    `world` for a plane, `terrain`. One with a slash is that of a body, as `robot/hand`.
    """

    first: str | tuple[str, ...]
    """Patterns of names. Each match is paired with each match of `second`."""

    second: str | tuple[str, ...] | None = None
    """Patterns of names. None measures the force from all that touches the first."""


class SceneCfg(Config):
    """Ground, entities and sensors of every world."""

    num_envs: Annotated[int, at_least(1)] = 1
    """Number of worlds."""

    env_spacing: Annotated[float, at_least(0)] = 2.0
    """Distance between worlds when they are drawn side by side, in metres. Physics
    knows nothing of it."""

    terrain: TerrainCfg | None = None
    """The ground. None leaves it out."""

    source: SpecSource | None = None
    """A model file that the scene is made from as it stands. Its root bodies are
    entities, by their names or those under which `entities` has them; its elements keep
    their names."""

    entities: dict[str, EntityCfg | PerWorldEntityCfg] = {}
    """Robots, objects and fixtures by name. An element `foot` of the entity `robot` is
    called `robot/foot` in the compiled model."""

    sensors: tuple[SensorCfg, ...] = ()
    """Sensors that are added to those of the entities' own files."""

    contact_pairs: tuple[ContactPairCfg, ...] = ()
    """Things whose contact force `views.of(scene)` can be asked for. Each
    pair is one contact sensor."""

    extent: Annotated[float | None, above(0)] = None
    """Size of what cameras of viewers should see, in metres. None leaves it to MuJoCo,
    or takes the size of a tile on generated terrain."""

    spec_fn: Callable[[mujoco.MjSpec], None] | None = None
    """Last changes to the scene before it is compiled."""
