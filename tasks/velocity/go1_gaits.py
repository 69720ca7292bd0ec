"""Velocity task of the Unitree Go1 with a choice of gaits: trot, pace and gallop."""

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg, RewardTermCfg
from mjlab.rl import PpoAgentCfg
from mjlab.tasks.velocity import rl
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.gait_choice import (
    GaitChoiceCfg,
    chosen_gait_contact,
    foot_clocks,
)
from mjlab.tasks.velocity.go1 import TROT, go1_observations, go1_rewards
from mjlab.tasks.velocity.go1_flat import VelocityGo1FlatCfg
from mjlab.tasks.velocity.scene import FEET_CONTACT

GAIT = "gait"
"""Name of the command that chooses the gait."""

GAITS: dict[str, tuple[float, float, float, float]] = {
    "trot": (0.5, 0.0, 0.0, 0.5),
    "pace": (0.5, 0.0, 0.5, 0.0),
    "gallop": (0.4, 0.5, 0.9, 0.0),
}
"""Phases of FR, FL, RR and RL, in strides. In a trot diagonal feet step together, in a
pace the feet of a side; in a gallop the hind feet, one shortly after the other, and
half a stride later the front feet."""


def _params() -> dict[str, object]:
    return {
        "command_name": walking.COMMAND,
        "gait_name": GAIT,
        "clock": TROT,
        "sensor_name": FEET_CONTACT,
    }


def go1_gaits_observations() -> dict[str, ObservationGroupCfg]:
    """Return the observations of `Velocity-Go1-Flat`, with a clock for each foot."""
    groups = go1_observations(rough=False)
    for group in groups.values():
        del group.terms["gait_clock"]
        group.terms["foot_clocks"] = ObservationTermCfg(
            func=foot_clocks, params=_params()
        )
    return groups


def go1_gaits_rewards() -> dict[str, RewardTermCfg]:
    """Return the rewards of `Velocity-Go1-Flat`, with the contacts of the gait.

    The contact reward has a large weight, and the penalty on roll and pitch rates a
    small one. With weights of 2 and -0.05 the velocity errors are smaller, but feet
    land up to 0.4 strides from the phases of pace and gallop.
    """
    terms = go1_rewards(rough=False)
    terms["gait_contact"] = RewardTermCfg(
        func=chosen_gait_contact, weight=6.0, params=_params()
    )
    terms["body_ang_vel"].weight = -0.01
    return terms


class VelocityGo1GaitsCfg(VelocityGo1FlatCfg):
    """Unitree Go1 tracks velocity commands on flat ground, and trots, paces or gallops.

    A second command chooses the gait, which can change while the robot walks.
    """

    commands = {
        **walking.commands(),
        GAIT: GaitChoiceCfg(resampling_time_range=(4.0, 8.0), gaits=GAITS),
    }
    observations = {**go1_gaits_observations()}
    rewards = {**go1_gaits_rewards()}


def go1_gaits_rl() -> PpoAgentCfg:
    """Return PPO settings that train a Go1 with three gaits in 5 million steps."""
    agent = rl.go1_flat_rl()
    agent.max_iterations = 800
    return agent
