"""Findings from synthetic figures: direction and size of their advice."""

from typing import Any

import pytest

from mjlab.doctor import Diagnosis
from mjlab.doctor.training import Course, examine_training
from mjlab.runs.metrics import Metrics, Series
from tests.tools.flat import flat_settings

ITERATIONS = list(range(1, 41))


def course(figures: dict[str, list[float]], **config: Any) -> Course:
    series = {name: Series(name, ITERATIONS, [*v]) for name, v in figures.items()}
    return Course(Metrics(series, ITERATIONS, [], 0), flat_settings(**config))


def found(kind: str, given: Course) -> Diagnosis:
    (one,) = [one for one in examine_training(given) if one.kind == kind]
    return one


def test_advice_for_a_reward_that_favours_falling_is_a_tenth_of_its_weight() -> None:
    lengths = [62.0 - 53.4 * min(i, 30) / 30 for i in range(40)]
    figures = {
        "Train/mean_episode_length": lengths,
        "Train/mean_step_reward": [-0.06] * 40,
        "Episode_Reward/action_rate_l2": [-5.8] * 40,
        "Episode_Reward/joint_limits": [-0.4] * 40,
    }
    weights = {"action_rate_l2": {"weight": -0.1}, "joint_limits": {"weight": -2.0}}
    one = found("ending_pays", course(figures, env={"rewards": weights}))
    assert one.settings == {"env.rewards.action-rate-l2.weight": "-0.01"}


@pytest.mark.parametrize(
    ("function", "weight", "advised"),
    [("action_rate_l2", 0.5, "-0.5"), ("track_velocity", -2.0, "2")],
)
def test_a_weight_of_the_wrong_sign_is_advised_the_other_sign(
    function: str, weight: float, advised: str
) -> None:
    term = {"weight": weight, "func": f"{function}"}
    rewards = {"term": term}
    one = found("sign", course({}, env={"rewards": rewards}))
    assert one.settings == {"env.rewards.term.weight": advised}


def test_advice_scales_the_entropy_coefficient_by_a_tenth_or_ten() -> None:
    agent = {"algorithm": {"entropy_coef": 0.02}}
    grown = {"Policy/mean_std": [1.0 + 0.1 * i for i in range(40)]}
    one = found("noise_explodes", course(grown, agent=agent))
    assert one.settings == {"agent.algorithm.entropy-coef": "0.002"}
    gone = {
        "Policy/mean_std": [max(0.01, 1.0 - 0.1 * i) for i in range(40)],
        "Train/mean_step_reward": [0.1] * 40,
    }
    one = found("noise_gone", course(gone, agent=agent))
    assert one.settings == {"agent.algorithm.entropy-coef": "0.2"}
    one = found("noise_gone", course(gone, agent={"algorithm": {"entropy_coef": 0.0}}))
    assert one.settings == {"agent.algorithm.entropy-coef": "0.01"}


def test_short_episodes_are_judged_in_control_steps() -> None:
    """Ten seconds at 0.005 s with a decimation of 4 are 500 control steps."""
    env = {
        "episode_length_s": 10.0,
        "decimation": 4,
        "sim": {"mujoco": {"timestep": 0.005}},
        "terminations": {"fell": {}, "time_out": {"time_out": True}},
    }
    ended = {
        "Episode_Termination/fell": [0.95] * 40,
        "Episode_Termination/time_out": [0.95] * 40,
    }
    one = found(
        "one_end", course({"Train/mean_episode_length": [249.0] * 40} | ended, env=env)
    )
    assert "fell ended 95% of the episodes, after 249 of 500 steps" in one.what
    longer = course({"Train/mean_episode_length": [251.0] * 40} | ended, env=env)
    assert not [o for o in examine_training(longer) if o.kind == "one_end"]
