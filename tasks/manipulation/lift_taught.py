"""Lifting learned by imitation of a scripted controller."""

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.tasks.manipulation.lift import LiftYamCfg
from mjlab.tasks.manipulation.reach import observations
from mjlab.tasks.manipulation.script import scripted_joint_targets


def taught_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return the observations of the lifting task, plus the script's actions.

    The group "expert" contains the actions, which the student imitates.
    """
    script = ObservationTermCfg(func=scripted_joint_targets)
    groups = observations(with_object=True)
    return {**groups, "expert": ObservationGroupCfg(terms={"script": script})}


class LiftYamTaughtCfg(LiftYamCfg):
    """Lift a cube. The policy imitates a script in the states that it visits."""

    observations = taught_observations()
