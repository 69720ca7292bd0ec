"""Configuration of an entity: model, edits, actuators and initial state."""

from mjlab.actuator import ActuatorCfg
from mjlab.settings import Config
from mjlab.spec import (
    CameraCfg,
    CollisionCfg,
    GeomCfg,
    LightCfg,
    MaterialCfg,
    MeshCfg,
    SpecSource,
    TextureCfg,
)

Triple = tuple[float, float, float]
Quat = tuple[float, float, float, float]


class InitialStateCfg(Config):
    """Initial state of an entity. A field that is None keeps the model's value.

    The model's values come from a keyframe, or, without a keyframe, from the reference
    pose (`qpos0`) at rest.
    """

    keyframe: str | int | None = None
    """Keyframe of the model, by name or index. None uses the first keyframe, if any."""

    pos: Triple | None = None
    """Position of the base in the world, in metres."""

    rot: Quat | None = None
    """Orientation of the base in the world, wxyz."""

    lin_vel: Triple | None = None
    """Velocity of the base's origin in the world, in m/s. Floating base only."""

    ang_vel: Triple | None = None
    """Angular velocity of the base in world axes, in rad/s. Floating base only."""

    joint_pos: dict[str, float | Quat] | None = None
    """Joint positions by name pattern, in metres or radians; a quaternion (wxyz) for a
    ball joint."""

    joint_vel: dict[str, float | Triple] | None = None
    """Joint velocities by name pattern, in m/s or rad/s; for a ball joint the angular
    velocity in the frame of its body."""


class ArticulationCfg(Config):
    """Actuators and soft limits of an entity's joints, tendons and sites."""

    actuators: tuple[ActuatorCfg, ...] = ()
    """Actuators to add, or existing actuators of the model to use."""

    soft_joint_pos_limit_factor: float = 1.0
    """Soft limits as a fraction of each joint's range, about its centre."""


class EntityCfg(Config):
    """Configuration of a robot or an object.

    Edits are applied in the order textures, materials, meshes, collisions, geoms,
    lights, cameras.
    """

    InitialStateCfg = InitialStateCfg

    source: SpecSource
    """The model: an MJCF or URDF file, an MjSpec, or a function that returns an MjSpec.
    The source is never changed."""

    root: str | None = None
    """Root body of the entity, for a file with several root bodies; `entities_from`
    sets it. The rest of the scene is added to the model of such a file: the file's
    elements keep their names, and elements that connect several root bodies are
    kept."""

    floating_base: bool = False
    """Add a free joint to the root body of a model that has none. A URDF file cannot
    declare a floating base."""

    init_state: InitialStateCfg = InitialStateCfg()
    """Initial state of episodes."""

    articulation: ArticulationCfg = ArticulationCfg()
    """Actuators and soft limits."""

    textures: tuple[TextureCfg, ...] = ()
    """Textures to add."""

    materials: tuple[MaterialCfg, ...] = ()
    """Materials to add."""

    meshes: tuple[MeshCfg, ...] = ()
    """Compiler settings of meshes to change."""

    collisions: tuple[CollisionCfg, ...] = ()
    """Collision settings of geoms."""

    geoms: tuple[GeomCfg, ...] = ()
    """Changes to single parameters of geoms."""

    lights: tuple[LightCfg, ...] = ()
    """Lights to add."""

    cameras: tuple[CameraCfg, ...] = ()
    """Cameras to add."""
