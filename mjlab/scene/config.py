"""Configuration of a scene."""

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
    """Configuration of an entity that can be a different object in each world.

    Use it in place of an `EntityCfg`. `mjlab.views.VariantsCfg` is an example.
    """

    @abstractmethod
    def check(self, name: str, num_envs: int) -> None:
        """Raise if the configuration is invalid, before anything is built."""

    @abstractmethod
    def build(self, name: str, scene: "SceneCfg") -> PerWorldSpec:
        """Build the specs of the entity's members in a scene."""


class ContactPairCfg(Config):
    """Bodies or entities between which the contact force is measured.

    A name without a slash means an entity, or a body of the scene itself: `terrain`, or
    `world` for a plane. A name with a slash means a body, such as `robot/hand`.
    """

    first: str | tuple[str, ...]
    """Patterns of names. Each match is paired with each match of `second`."""

    second: str | tuple[str, ...] | None = None
    """Patterns of names. None measures the contacts of `first` with anything."""


class SceneCfg(Config):
    """Configuration of a scene: ground, entities and sensors of every world."""

    num_envs: Annotated[int, at_least(1)] = 1
    """Number of worlds."""

    env_spacing: Annotated[float, at_least(0)] = 2.0
    """Distance between worlds that are drawn side by side, in metres. It does not
    affect physics."""

    terrain: TerrainCfg | None = None
    """The ground. None adds no ground."""

    source: SpecSource | None = None
    """Model file that is the base of the scene. Each root body is an entity, named like
    the body or as in `entities`. Elements of the file keep their names."""

    entities: dict[str, EntityCfg | PerWorldEntityCfg] = {}
    """Robots, objects and fixtures by name. An element `foot` of the entity `robot` is
    called `robot/foot` in the compiled model."""

    sensors: tuple[SensorCfg, ...] = ()
    """Sensors in addition to the sensors of the entities' own files."""

    contact_pairs: tuple[ContactPairCfg, ...] = ()
    """Pairs whose contact force is available from `views.of(scene)`. Each pair is one
    contact sensor."""

    extent: Annotated[float | None, above(0)] = None
    """Extent of the model for viewers' cameras, in metres. None uses MuJoCo's value, or
    the size of a tile on generated terrain."""

    spec_fn: Callable[[mujoco.MjSpec], None] | None = None
    """Function that edits the scene's spec, as the last step before compilation."""
