"""Table, objects, contacts and physics of the manipulation tasks."""

from mjlab.entity import EntityCfg
from mjlab.envs import ViewerCfg
from mjlab.scene import ContactPairCfg, SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.manipulation.mdp import FINGERS
from mjlab.tasks.manipulation.objects import table_cfg
from mjlab.tasks.robots.yam import yam_cfg
from mjlab.views import VariantsCfg

TIMESTEP = 0.01
"""Physics time step, in s. Halving it does not increase the success rate."""

DECIMATION = 4
"""Physics steps per environment step: the policy runs at 25 Hz."""

OBJECT = "object"
"""Name of the lifted object."""


def scene(things: dict[str, EntityCfg | VariantsCfg]) -> SceneCfg:
    """Return the arm at a table with objects on it.

    The arm's weight is compensated in addition to position control. Without gravity
    compensation, the low gains would let the arm sag by about 10 degrees.

    Args:
        things: Objects on the table, by name. Contacts between the fingers and the
            entity `object` are measured.
    """
    robot = yam_cfg(gravity_compensation=True)
    pair = ContactPairCfg(first=FINGERS, second=OBJECT)
    return SceneCfg(
        num_envs=4096,
        env_spacing=1.5,
        entities={"robot": robot, "table": table_cfg(), **things},
        contact_pairs=(pair,) if OBJECT in things else (),
        extent=1.0,
    )


def simulation() -> SimulationCfg:
    """Return physics at 100 Hz, with friction settings for stable grasps."""
    return SimulationCfg(
        mujoco=MujocoCfg(
            timestep=TIMESTEP,
            cone="elliptic",
            impratio=10.0,
            iterations=10,
            ls_iterations=20,
            ccd_iterations=35,
        ),
        nconmax=55,
        njmax=600,
    )


def viewer() -> ViewerCfg:
    """Return a view of the table from the side."""
    return ViewerCfg(
        lookat=(0.25, 0.0, 0.12), distance=1.1, azimuth=140.0, elevation=-20.0
    )
