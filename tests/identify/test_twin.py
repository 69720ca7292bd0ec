"""A twin moves like the task's model with its hidden parameters."""

import numpy as np

from mjlab.identify import Log, Twin, candidates
from mjlab.identify.twin import POSITION_NOISE, VELOCITY_NOISE


def step_of(shoulder, twin: Twin, repeat: int = 0) -> Log:
    times = 0.01 * np.arange(100)
    targets = {"joint1": np.where(times < 0.3, 0.0, 0.5)}
    return twin.record(Log(times, targets, targets, {}, {}), repeat=repeat)


def test_a_delay_shifts_the_log(shoulder):
    delay = candidates(shoulder, shoulder.joints, kinds=("delay",))
    late = Twin(shoulder, {"delay": 0.05}, 0, tuple(delay))
    now = Twin(shoulder, {"delay": 0.0}, 0, tuple(delay))
    early_log, late_log = step_of(shoulder, now), step_of(shoulder, late)
    difference = late_log.pos["joint1"][5:] - early_log.pos["joint1"][:-5]
    assert np.abs(difference).max() < 6.0 * np.sqrt(2.0) * POSITION_NOISE
    assert np.abs(early_log.pos["joint1"] - late_log.pos["joint1"]).max() > 0.02


def test_draws_repeat_and_differ_by_seed(shoulder):
    unknowns = candidates(shoulder, shoulder.joints)
    one, same, other = (Twin.draw(shoulder, unknowns, seed) for seed in (1, 1, 2))
    assert one.hidden == same.hidden
    assert all(one.hidden[name] != other.hidden[name] for name in one.hidden)
    for unknown in unknowns:
        assert unknown.low <= one.hidden[unknown.name] <= unknown.high
    log, again = step_of(shoulder, one), step_of(shoulder, one, repeat=1)
    for signal, size in (("pos", POSITION_NOISE), ("vel", VELOCITY_NOISE)):
        noise = (log.signal(signal)["joint1"] - again.signal(signal)["joint1"]).std()
        assert 0.7 < noise / (np.sqrt(2.0) * size) < 1.3
