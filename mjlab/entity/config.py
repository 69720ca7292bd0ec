"""The parts of an entity: a model, edits of it, actuators and an initial state."""

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
    """The state an entity starts from; None keeps what the model says.

    The model says it with a keyframe, or else with its reference pose at rest.
    """

    keyframe: str | int | None = None
    """Keyframe of the model, by name or index. None takes the first, if there is
    one."""

    pos: Triple | None = None
    """Position of the base in the world, in metres."""

    rot: Quat | None = None
    """Orientation of the base in the world, wxyz."""

    lin_vel: Triple | None = None
    """Velocity of the base's origin in the world, in m/s. For a floating base."""

    ang_vel: Triple | None = None
    """Angular velocity of the base in world axes, in rad/s. For a floating base."""

    joint_pos: dict[str, float | Quat] | None = None
    """Positions by pattern of joint names: in metres or radians, for a ball joint its
    quaternion, wxyz."""

    joint_vel: dict[str, float | Triple] | None = None
    """Velocities by pattern of joint names: in m/s or rad/s, for a ball joint its
    angular velocity in the frame of the joint's body."""


class ArticulationCfg(Config):
    """Actuators and soft limits of an entity's joints, tendons and sites."""

    actuators: tuple[ActuatorCfg, ...] = ()
    """Actuators to add, or to take over from the model."""

    soft_joint_pos_limit_factor: float = 1.0
    """Share of each joint's range, about its centre, that the soft limits leave."""


class EntityCfg(Config):
    """A robot or an object.

    Edits are applied in the order textures, materials, meshes, collisions, geoms,
    lights, cameras.
    """

    InitialStateCfg = InitialStateCfg

    source: SpecSource
    """The model: an MJCF or URDF file, an MjSpec, or a function that returns one. It is
    never changed."""

    root: str | None = None
    """The root body that is meant, in a file that has several. `entities_from` names
    it. Such a file is the ground that the rest of the scene is put on: its elements
    keep their names, and what ties several roots is kept."""

    floating_base: bool = False
    """Give a free joint to the root body of a model that has none. A URDF
    file cannot say that a robot is free to move."""

    init_state: InitialStateCfg = InitialStateCfg()
    """The state that a reset returns to."""

    articulation: ArticulationCfg = ArticulationCfg()
    """Actuators and soft limits."""

    textures: tuple[TextureCfg, ...] = ()
    """Textures to add."""

    materials: tuple[MaterialCfg, ...] = ()
    """Materials to add."""

    meshes: tuple[MeshCfg, ...] = ()
    """Changes to how meshes are compiled."""

    collisions: tuple[CollisionCfg, ...] = ()
    """Geoms that collide, and as what."""

    geoms: tuple[GeomCfg, ...] = ()
    """Changes to single parameters of geoms."""

    lights: tuple[LightCfg, ...] = ()
    """Lights to add."""

    cameras: tuple[CameraCfg, ...] = ()
    """Cameras to add."""
