"""Estimates, intervals and undetermined parameters, against a twin."""

import numpy as np
import pytest

from mjlab.identify import Fit, Twin, candidates, propose
from mjlab.identify.fit import correlation_factor
from mjlab.identify.text import advice, quality, table


def test_true_values_are_near_the_estimates_and_intervals_are_small(identified):
    twin, result = identified
    for kind in ("joint1.friction", "joint1.damping", "joint1.gain"):
        estimate, true = result.of(kind), twin.hidden[kind]
        assert abs(estimate.value - true) < 1.6 * estimate.half
        assert estimate.half < 0.15 * true
    delay = result.of("delay")
    assert abs(delay.value - twin.hidden["delay"]) < 5e-4
    assert result.noise["joint1.pos"] == pytest.approx(5e-4, rel=0.2)
    assert result.noise["joint1.vel"] == pytest.approx(2e-2, rel=0.2)
    assert result.correlation < 3.0


def test_a_torque_limit_that_is_never_reached_is_not_determined(sysid, shoulder):
    unknowns = candidates(shoulder, shoulder.joints, kinds=("gain", "effort_limit"))
    motion = propose(shoulder, unknowns, seconds=3.0, share=0.05, tries=1)
    twin = Twin.draw(shoulder, unknowns, 1)
    result = Fit(shoulder, [twin.record(motion.log)], unknowns).run()
    names = [each.candidate.name for each in result.undetermined]
    assert names == ["joint1.effort_limit"]
    assert "joint1.effort_limit: the motor did not saturate" in advice(result)
    assert table(result).splitlines()[-1].endswith("not determined")


def test_an_unknown_armature_hides_the_gain_of_a_joint_without_gravity(sysid, shoulder):
    """A common factor of all forces and the inertia does not change the motion."""
    kinds = ("friction", "damping", "gain")
    known = candidates(shoulder, shoulder.joints, kinds=kinds)
    unknown = candidates(shoulder, shoulder.joints, kinds=("armature", *kinds))
    motion = propose(shoulder, known, seconds=3.0, tries=1)
    log = Twin.draw(shoulder, known, 2).record(motion.log)
    sharp = Fit(shoulder, [log], known).run().of("joint1.gain")
    wide = Fit(shoulder, [log], unknown).run().of("joint1.gain")
    assert sharp.determined and not wide.determined
    assert wide.half > 5.0 * sharp.half
    assert {"joint1.friction", "joint1.armature"} <= {*wide.related}


def test_correlated_residuals_widen_intervals():
    rng = np.random.default_rng(0)
    white = rng.standard_normal((4000, 2))
    assert correlation_factor([white]) < 1.15
    smooth = np.zeros_like(white)
    for row in range(1, len(white)):  # Its factor is (1 + 0.8) / (1 - 0.8) = 9.
        smooth[row] = 0.8 * smooth[row - 1] + white[row]
    assert correlation_factor([smooth]) == pytest.approx(9.0, rel=0.3)


def test_a_model_that_misses_part_of_the_motion_is_reported(identified):
    _, result = identified
    assert "Residuals are correlated" not in quality(result, 0.01)
    bad = type(result)(result.estimates, result.noise, 12.0)
    assert "correlated over 0.12 s" in quality(bad, 0.01)
