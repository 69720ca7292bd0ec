"""Table, things, contacts and physics of manipulation."""

from mjlab.entity import EntityCfg
from mjlab.envs import ViewerCfg
from mjlab.scene import ContactPairCfg, SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.manipulation.mdp import FINGERS
from mjlab.tasks.manipulation.objects import table_cfg
from mjlab.tasks.robots.yam import yam_cfg
from mjlab.views import VariantsCfg

TIMESTEP = 0.01
"""Duration of a physics step, in s; half of it lifts no cube more."""

DECIMATION = 4
"""Physics steps in a step: the policy acts 25 times a second."""

OBJECT = "object"
"""Name of the thing that is lifted."""


def scene(things: dict[str, EntityCfg | VariantsCfg]) -> SceneCfg:
    """Return the arm at a table with things on it.

    A controller below the position loops holds the arm's weight. Their soft gains would
    let it sag by some 10 degrees.

    Args:
        things: What lies on the table, by name. Whether fingers touch the one called
            `object` is measured.
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
    """Return physics at 100 Hz, with friction that holds what is gripped."""
    return SimulationCfg(
        mujoco=MujocoCfg(
            timestep=TIMESTEP,
            cone="elliptic",
            impratio=10.0,
            iterations=10,
            ls_iterations=20,
        ),
        nconmax=55,
        njmax=600,
    )


def viewer() -> ViewerCfg:
    """Return a view of the table from the side."""
    return ViewerCfg(
        lookat=(0.25, 0.0, 0.12), distance=1.1, azimuth=140.0, elevation=-20.0
    )
