"""Ground, sensors and physics of the velocity tasks."""

from mjlab.envs import ViewerCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import (
    ContactMatch,
    ContactSensorCfg,
    GridPatternCfg,
    ObjRef,
    RayCastSensorCfg,
    SensorCfg,
)
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.velocity.foot_height import FootHeightSensorCfg
from mjlab.terrain import TerrainCfg, rough_terrains

DECIMATION = 4
FEET_CONTACT = "feet_contact"
FOOT_HEIGHT = "foot_height"
TERRAIN_SCAN = "terrain_scan"
SCAN_DISTANCE = 5.0
"""Maximum depth of the terrain scan below the robot, and its scale in observations,
m."""


def scene(
    robot: Robot,
    *,
    rough: bool,
    sensors: tuple[SensorCfg, ...],
    scan_resolution: float = 0.1,
) -> SceneCfg:
    """Return the robot on generated terrain or on a plane, with sensors.

    Args:
        robot: The robot.
        rough: Generate terrain, with a height scan.
        sensors: Further sensors.
        scan_resolution: Distance between rays of the height scan, m.
    """
    ground: tuple[SensorCfg, ...] = ()
    if rough:
        ground = (terrain_scan(robot, scan_resolution), foot_height(robot))
    return SceneCfg(
        terrain=rough_terrain() if rough else TerrainCfg(),
        entities={"robot": robot.entity_cfg()},
        sensors=(*sensors, *ground),
        extent=2.0,
    )


def rough_terrain() -> TerrainCfg:
    """Return terrain with increasing difficulty; worlds start on the easier half."""
    return TerrainCfg(
        kind="generator",
        generator=rough_terrains(curriculum=True),
        max_init_terrain_level=5,
    )


def feet_contact(feet: ContactMatch) -> ContactSensorCfg:
    """Return a sensor that measures the ground contact and air time of each foot."""
    return ContactSensorCfg(
        name=FEET_CONTACT,
        primary=feet,
        secondary=ContactMatch(mode="body", pattern="terrain"),
        fields=("found", "force"),
        reduce="netforce",
        track_air_time=True,
        history_length=DECIMATION,
    )


def self_contact(robot: Robot) -> ContactSensorCfg:
    """Return a sensor that measures the strongest self-contact per physics step."""
    whole = ContactMatch(mode="subtree", pattern=robot.base_body, entity="robot")
    return ContactSensorCfg(
        name="self_contact",
        primary=whole,
        secondary=whole,
        fields=("force",),
        reduce="maxforce",
        history_length=DECIMATION,
    )


def terrain_scan(robot: Robot, resolution: float) -> RayCastSensorCfg:
    """Return a grid of downward rays around the robot, 1.6 m long and 1 m wide.

    The rays start 3 m above the robot, to detect ground that is higher than the robot.
    """
    above = 3.0
    return RayCastSensorCfg(
        name=TERRAIN_SCAN,
        frame=ObjRef(type="xbody", name=robot.base_body, entity="robot"),
        pattern=GridPatternCfg(size=(1.6, 1.0), resolution=resolution),
        ray_alignment="yaw",
        start_offset=(0.0, 0.0, above),
        max_distance=above + SCAN_DISTANCE,
        include_geom_groups=(0,),
    )


def foot_height(robot: Robot) -> FootHeightSensorCfg:
    """Return a sensor that measures the height of each foot above the ground."""
    sites = [
        ObjRef(type="site", name=site, entity="robot") for site in robot.foot_sites
    ]
    return FootHeightSensorCfg(name=FOOT_HEIGHT, frame=tuple(sites))


def simulation(*, rough: bool, nconmax: int, njmax: int) -> SimulationCfg:
    """Return physics at 200 Hz.

    Island discovery is disabled: a robot is one constraint island anyway.

    Args:
        rough: Whether the scene has height fields, which need larger collision buffers.
        nconmax: Average number of contacts per world, for MuJoCo Warp's buffers.
        njmax: Maximum number of constraint rows per world, for MuJoCo Warp's buffers.
    """
    return SimulationCfg(
        mujoco=MujocoCfg(
            timestep=0.005,
            disableflags=("island",),
            iterations=10,
            ls_iterations=20,
            ccd_iterations=500 if rough else 50,
        ),
        nconmax=nconmax,
        njmax=njmax,
        contact_sensor_maxmatch=500 if rough else 64,
    )


def viewer(robot: Robot) -> ViewerCfg:
    """Return a camera that follows the robot's torso."""
    return ViewerCfg(
        entity="robot",
        body=robot.torso_body,
        elevation=-12.0,
        azimuth=235.0,
    )
