"""Lifting, learned from the controller by hand."""

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.tasks.manipulation.lift import LiftYamCfg
from mjlab.tasks.manipulation.reach import observations
from mjlab.tasks.manipulation.script import scripted_joint_targets


def taught_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return those of lifting, and what the script would do."""
    script = ObservationTermCfg(func=scripted_joint_targets)
    groups = observations(with_object=True)
    return {**groups, "expert": ObservationGroupCfg(terms={"script": script})}


class LiftYamTaughtCfg(LiftYamCfg):
    """The same task with a teacher: a policy imitates the script where it errs."""

    observations = taught_observations()
