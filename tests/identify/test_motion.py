"""Excitation motions stay in their ranges, and the forecast of intervals holds."""

import numpy as np
import pytest

from mjlab.identify import Robot, Twin, candidates, propose
from mjlab.identify.text import forecast
from mjlab.registry import load_task


def test_a_motion_starts_and_ends_at_rest_within_its_reach(sysid):
    robot = Robot.of(load_task("Velocity-Go1-Flat").env(), joints=("FR_.*",))
    unknowns = candidates(robot, robot.joints, kinds=("friction",))
    log = propose(robot, unknowns, seconds=3.0, share=0.5, tries=1).log
    assert list(log.targets) == list(robot.joints)
    for joint, values in log.targets.items():
        named = robot.model.joint(f"robot/{joint}")
        low, high = named.range
        start = robot.qpos[named.qposadr[0]]
        assert values[0] == pytest.approx(start) and values[-1] == pytest.approx(start)
        assert values.min() >= start - 0.5 * (start - low) - 1e-9
        assert values.max() <= start + 0.5 * (high - start) + 1e-9
        assert np.ptp(values) > 0.2 * (high - low)


def test_the_forecast_is_the_interval_of_the_nominal_robot(sysid, shoulder, identified):
    from mjlab.identify import Fit

    unknowns = candidates(shoulder, shoulder.joints, kinds=("friction", "gain"))
    motion = propose(shoulder, unknowns, seconds=3.0, tries=1)
    nominal = {each.name: each.start for each in unknowns}
    twin = Twin(shoulder, nominal, 0, tuple(unknowns))
    result = Fit(shoulder, [twin.record(motion.log)], unknowns).run()
    for name, half in motion.half.items():
        assert result.of(name).half == pytest.approx(half, rel=0.25)
    assert "±" in forecast(motion, unknowns).splitlines()[1]


def test_more_candidate_motions_do_not_lower_the_information(sysid, shoulder):
    unknowns = candidates(shoulder, shoulder.joints, kinds=("friction", "gain"))
    one = propose(shoulder, unknowns, seconds=2.0, tries=1)
    four = propose(shoulder, unknowns, seconds=2.0, tries=4)
    assert four.score <= one.score and four.tried == 4
