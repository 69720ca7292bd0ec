"""Find faults in the training metrics of a run (`metrics.jsonl`)."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from mjlab.doctor.finding import SURE, Diagnosis
from mjlab.runs.metrics import Metrics
from mjlab.settings.file import Settings

LEAST = 12
"""Minimum number of iterations for findings about trends."""

JUDGED_SHARE, JUDGED_MOST = 0.25, 200
"""Fraction of the planned iterations, and maximum number of iterations, before which
findings in `PREMATURE` are suppressed.

When the shipped walking policies were trained from scratch, the command tracking reward
reached 40 % of its final value after 54 iterations (Velocity-Go1-Flat, 14 % of the run)
and 140 iterations (Velocity-G1-Flat, 23 %).
"""

PREMATURE = frozenset(
    {
        *("stands_still", "command_not_followed", "lies"),
        *("one_end", "dead_term", "value_loss"),
    }
)
"""Kinds of findings that are normal early in training."""

RATE_BOUNDS = (1e-5, 1e-2)
"""Lower and upper bound of RSL-RL's adaptive learning rate."""

_COST = re.compile(r".*(_l1|_l2|_limits|_cost|_slip|_effort|collisions?|penalty)")
_GAIN = re.compile(r"(track_|upright|alive|smooth_reward).*")


@dataclass(frozen=True)
class Course:
    """Training metrics and settings of a run."""

    metrics: Metrics
    """Training metrics of the run."""

    config: Settings
    """Settings of environment and agent, from `config.json`."""

    planned: int = 0
    """Number of iterations in the task's default settings; 0 if unknown."""

    @property
    def whole(self) -> int:
        """Number of iterations of a complete training run; 0 if unknown."""
        return max(self.planned, self.setting("agent.max_iterations") or 0)

    @property
    def judged_from(self) -> int:
        """First iteration at which findings in `PREMATURE` are reported."""
        return math.ceil(min(JUDGED_SHARE * self.whole, JUDGED_MOST))

    @property
    def early(self) -> bool:
        """Whether the run has not reached `judged_from`."""
        return max(self.metrics.iterations, default=0) < self.judged_from

    @property
    def long(self) -> bool:
        """Whether there are enough iterations for findings about trends."""
        return len(self.metrics.iterations) >= LEAST

    def quarter(self, name: str, number: int) -> float | None:
        """Return the mean of a metric over one quarter of its finite values.

        None if there are fewer than four values.

        Args:
            name: Name of the metric.
            number: Index of the quarter, 0 to 3.
        """
        series = self.metrics.series.get(name)
        values = [] if series is None else series.finite
        if len(values) < 4:
            return None
        size = len(values) / 4
        return fmean(values[int(number * size) : int((number + 1) * size)])

    def first(self, name: str) -> float | None:
        """Return the first finite value of a metric."""
        series = self.metrics.series.get(name)
        return series.finite[0] if series is not None and series.finite else None

    def setting(self, path: str) -> Any:
        """Return a value of the configuration; None if it is missing."""
        return self.config.values.get(path)

    def weights(self) -> dict[str, float]:
        """Return the non-zero reward weights, by term."""
        terms = self.config.terms("env.rewards")
        found = {name: self.setting(f"env.rewards.{name}.weight") for name in terms}
        return {name: float(w) for name, w in found.items() if w}

    def rates(self, number: int = 3) -> dict[str, float]:
        """Return the mean of each weighted reward term over a quarter, per second."""
        found = {
            name: self.quarter(f"Episode_Reward/{name}", number)
            for name in self.weights()
        }
        return {name: value for name, value in found.items() if value is not None}

    def function(self, kind: str, name: str) -> str:
        """Return the name of a term's function; "" if unknown."""
        path = self.config.names.get(f"env.{kind}.{name}.func", "")
        return path.rpartition(".")[2]


def examine_training(course: Course) -> list[Diagnosis]:
    """Run all checks of training metrics; return the findings."""
    return judged(course, [one for check in _CHECKS for one in check(course)])


def judged(course: Course, found: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Remove findings in `PREMATURE` if the run is early."""
    return [one for one in found if not (course.early and one.kind in PREMATURE)]


def too_early(course: Course) -> list[Diagnosis]:
    """Return a "too_early" finding if the run is early."""
    if not course.early:
        return []
    done = max(course.metrics.iterations, default=0)
    first = course.judged_from
    again = f"run the doctor again after iteration {first}"
    if (course.setting("agent.max_iterations") or 0) < first:
        again = f"continue with --resume latest --agent.max-iterations {course.whole}"
    return [
        Diagnosis(
            kind="too_early",
            certainty=SURE,
            what=f"Too early to judge: {done} of {course.whole} iterations.",
            advice=(
                f"{again}. In the first {first} iterations, policies that learn well "
                "also fall, stand still or earn no reward."
            ),
        )
    ]


def _option(*path: str) -> str:
    return ".".join(path).replace("_", "-")


def _ending_pays(course: Course) -> Iterator[Diagnosis]:
    """Find rewards that are so negative that short episodes have the best return."""
    lengths = course.metrics.series.get("Train/mean_episode_length")
    reward = course.quarter("Train/mean_step_reward", 3)
    if lengths is None or len(lengths.finite) < LEAST or reward is None:
        return
    values = lengths.finite
    smooth = [fmean(values[i : i + 4]) for i in range(len(values) - 3)]
    peak, last = max(smooth), smooth[-1]
    if last > 0.5 * peak or reward >= 0.0:
        return
    rates = course.rates()
    costs = {name: rate for name, rate in rates.items() if rate < 0.0}
    worst = min(costs, key=lambda name: costs[name], default=None)
    advice = "add a positive reward per step, or start with less action noise."
    settings: dict[str, str] = {}
    if worst is not None:
        weight = course.weights()[worst]
        advice = (
            f"reduce the weight of {worst}, the largest cost; or start with less "
            "action noise, such as agent.actor.distribution-cfg.init-std 0.4."
        )
        settings = {_option("env", "rewards", worst, "weight"): f"{weight / 10:g}"}
    yield Diagnosis(
        kind="ending_pays",
        certainty=0.97,
        what=(
            f"Ending early gives the best return: episodes shrank from {peak:.3g} to "
            f"{last:.3g} steps, and the reward per step is {reward:.3g}."
        ),
        advice=advice,
        settings=settings,
    )


def _dead_terms(course: Course) -> Iterator[Diagnosis]:
    """Find rewards that are 0 in all episodes."""
    if not course.long:
        return
    for name in course.weights():
        series = course.metrics.series.get(f"Episode_Reward/{name}")
        if series is None or not series.finite or any(series.finite):
            continue
        yield Diagnosis(
            kind="dead_term",
            certainty=0.92,
            what=f"The reward {name} was 0 in every episode of "
            f"{len(series.finite)} iterations.",
            advice=(
                "check its parameters, such as a threshold that is never reached or "
                "a sensor without data; or remove the term."
            ),
        )


def _drowning_terms(course: Course) -> Iterator[Diagnosis]:
    """Find a reward that is more than ten times as large as all others together."""
    rates = course.rates()
    if not course.long or len(rates) < 2:
        return
    name = max(rates, key=lambda n: abs(rates[n]))
    rest = sum(abs(rate) for other, rate in rates.items() if other != name)
    if abs(rates[name]) <= 10.0 * rest or rest == 0.0:
        return
    weight = course.weights()[name] * rest / abs(rates[name])
    yield Diagnosis(
        kind="drowning_term",
        certainty=0.8,
        what=(
            f"The reward {name} dominates: it is {rates[name]:+.3g} per second, while "
            f"the absolute values of the other {len(rates) - 1} sum to {rest:.3g}."
        ),
        advice="reduce its weight, so that it is as large as all others together.",
        settings={_option("env", "rewards", name, "weight"): f"{weight:.2g}"},
    )


def _signs(course: Course) -> Iterator[Diagnosis]:
    """Find penalties with positive weights and rewards with negative weights.

    The names of the functions distinguish penalties from rewards.
    """
    for name, weight in course.weights().items():
        function = course.function("rewards", name)
        is_cost = _COST.fullmatch(function) is not None
        if not (is_cost if weight > 0.0 else _GAIN.fullmatch(function)):
            continue
        what = (
            "a penalty with a positive weight"
            if is_cost
            else ("a reward with a negative weight")
        )
        yield Diagnosis(
            kind="sign",
            certainty=0.75,
            what=f"The term {name} is {what}: {function} with weight {weight:g}.",
            advice="change the sign of its weight.",
            settings={_option("env", "rewards", name, "weight"): f"{-weight:g}"},
        )


def _noise(course: Course) -> Iterator[Diagnosis]:
    """Find action noise that grows, or vanishes before the policy has learned."""
    name = "Policy/mean_std"
    begin, end = course.first(name), course.quarter(name, 3)
    if not course.long or begin is None or end is None:
        return
    entropy = course.setting("agent.algorithm.entropy_coef") or 0.0
    option = _option("agent", "algorithm", "entropy_coef")
    if end > 2.0 * begin:
        yield Diagnosis(
            kind="noise_explodes",
            certainty=0.93,
            what=f"The action noise grows: its std rose from {begin:.3g} to {end:.3g}.",
            advice="reduce the entropy coefficient.",
            settings={option: f"{entropy / 10:g}"},
        )
    early = course.quarter("Train/mean_step_reward", 0)
    late = course.quarter("Train/mean_step_reward", 3)
    if early is None or late is None:
        return
    if end < 0.05 and late - early < 0.1 * abs(early):
        yield Diagnosis(
            kind="noise_gone",
            certainty=0.85,
            what=(
                f"The action noise has vanished (std {end:.2g}), but the reward per "
                f"step has not grown: {early:.3g} at the start, {late:.3g} at the end."
            ),
            advice=(
                "start with more noise (agent.actor.distribution-cfg.init-std 1.0), "
                "and a larger entropy coefficient."
            ),
            settings={option: f"{max(10 * entropy, 0.01):g}"},
        )


def _learning_rate(course: Course) -> Iterator[Diagnosis]:
    """Find an adaptive learning rate that `desired_kl` drives to a bound."""
    series = course.metrics.series.get("Policy/learning_rate")
    adaptive = course.setting("agent.algorithm.schedule") == "adaptive"
    if not course.long or series is None or not adaptive:
        return
    values = series.finite[-max(len(series.finite) // 2, 1) :]
    low, high = RATE_BOUNDS
    limit = course.setting("agent.algorithm.desired_kl") or 0.01
    option = _option("agent", "algorithm", "desired_kl")
    for bound, held, factor, said in (
        (low, [v <= 1.01 * low for v in values], 2.0, "a larger step"),
        (high, [v >= 0.99 * high for v in values], 0.5, "a smaller one"),
    ):
        share = fmean(held)
        if share < 0.6:
            continue
        side = "lower" if bound == low else "upper"
        yield Diagnosis(
            kind="rate_at_bound",
            certainty=0.7,
            what=(
                f"The learning rate was at its {side} bound {bound:g} in {share:.0%} "
                f"of the last {len(values)} iterations, because of desired_kl "
                f"{limit:g}."
            ),
            advice=f"allow {said} of the policy, or change the batch size.",
            settings={option: f"{limit * factor:g}"},
        )


def _value_loss(course: Course) -> Iterator[Diagnosis]:
    """Find a critic whose error is as large as the returns that it predicts."""
    loss = course.quarter("Loss/value", 3)
    reward = course.quarter("Train/mean_step_reward", 3)
    length = course.quarter("Train/mean_episode_length", 3)
    gamma = course.setting("agent.algorithm.gamma")
    if not course.long or loss is None or reward is None or length is None:
        return
    # Targets of an untrained critic are returns within a rollout. On average, they
    # cover half of its steps.
    rollout = course.setting("agent.num_steps_per_env") or 24
    horizon = min(1.0 / max(1.0 - (gamma or 0.99), 1e-6), length, 0.5 * rollout)
    scale = (reward * horizon) ** 2
    begin = course.quarter("Loss/value", 0)
    if scale == 0.0 or begin is None or loss < 0.3 * scale or loss < 0.5 * begin:
        return
    coef = course.setting("agent.algorithm.value_loss_coef")
    settings = {} if coef else {_option("agent", "algorithm", "value_loss_coef"): "1.0"}
    yield Diagnosis(
        kind="value_loss",
        certainty=0.75,
        what=(
            f"The critic has not learned: its loss went from {begin:.3g} to "
            f"{loss:.3g}, and the square of typical returns, about "
            f"{reward * horizon:.3g}, is {scale:.3g}."
        ),
        advice=(
            "check value_loss_coef, the scale of rewards, and the critic's "
            "observations."
        ),
        settings=settings,
    )


def _one_end(course: Course) -> Iterator[Diagnosis]:
    """Find a termination that ends nearly all episodes early."""
    length = course.quarter("Train/mean_episode_length", 3)
    most = _episode_steps(course)
    if not course.long or length is None or most is None or length > 0.5 * most:
        return
    for name in course.config.terms("env.terminations"):
        share = course.quarter(f"Episode_Termination/{name}", 3)
        is_time_out = course.setting(f"env.terminations.{name}.time_out")
        if is_time_out or share is None or share < 0.9:
            continue
        yield Diagnosis(
            kind="one_end",
            certainty=0.65,
            what=f"{name} ended {share:.0%} of the episodes, after {length:.3g} of "
            f"{most} steps.",
            advice=(
                "check whether its condition holds from the start: watch the policy "
                "with play.py latest --as-trained."
            ),
        )


def _episode_steps(course: Course) -> int | None:
    seconds = course.setting("env.episode_length_s")
    step = course.setting("env.sim.mujoco.timestep")
    decimation = course.setting("env.decimation")
    if not seconds or not step or not decimation:
        return None
    return round(seconds / (step * decimation))


def _health(course: Course) -> Iterator[Diagnosis]:
    """Find non-finite states, and overflows of contact or constraint buffers."""
    lost = sum(_values(course, "Health/nonfinite"))
    if lost:
        prefix = "Health/nonfinite/"
        by_term = {
            name.removeprefix(prefix): sum(_values(course, name))
            for name in course.metrics.series
            if name.startswith(prefix)
        }
        named = ", ".join(f"{n} {v:g}" for n, v in by_term.items() if v)
        yield Diagnosis(
            kind="nonfinite",
            certainty=1.0,
            what=f"{lost:g} environment steps were not finite"
            + (f": {named}." if named else "."),
            advice=(
                "replay a dump: play.py --dump RUN/dumps/... If no term is named, "
                "physics itself diverged: use a shorter timestep, or weaker "
                "actuators."
            ),
        )
    overflow = max(_values(course, "Health/overflow"), default=0.0)
    if overflow:
        yield Diagnosis(
            kind="overflow",
            certainty=0.95,
            what=(
                f"The buffers of contacts or constraints overflowed {overflow:g} times."
            ),
            advice="increase env.sim.nconmax and env.sim.njmax.",
        )


def _values(course: Course, name: str) -> list[float]:
    series = course.metrics.series.get(name)
    return [] if series is None else series.finite


_CHECKS: tuple[Callable[[Course], Iterator[Diagnosis]], ...] = (
    _ending_pays,
    _dead_terms,
    _drowning_terms,
    _signs,
    _noise,
    _learning_rate,
    _value_loss,
    _one_end,
    _health,
)
