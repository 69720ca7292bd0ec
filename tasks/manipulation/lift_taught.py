"""Lifting learned by imitation of a scripted controller."""

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.tasks.manipulation.lift import LiftYamCfg
from mjlab.tasks.manipulation.reach import observations
from mjlab.tasks.manipulation.script import scripted_joint_targets


def taught_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return the observations of lifting, and the actions of the script."""
    script = ObservationTermCfg(func=scripted_joint_targets)
    groups = observations(with_object=True)
    return {**groups, "expert": ObservationGroupCfg(terms={"script": script})}


class LiftYamTaughtCfg(LiftYamCfg):
    """Lift a cube, taught by a script that labels the states the policy visits."""

    observations = taught_observations()
