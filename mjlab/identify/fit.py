"""Estimate parameters with 95 % intervals, and detect undetermined parameters."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mjlab.identify.logs import Log
from mjlab.identify.parameters import Candidate
from mjlab.identify.problem import Problem
from mjlab.identify.robot import Robot

UNDETERMINED = 0.25
"""A parameter is undetermined if its interval is wider than this fraction of the range
that it had before the data."""

_RELATED = 0.8
"""Correlation above which two estimates are reported as related."""

_DIFFERENCE = 1e-5
"""Step of finite differences, in the solver's units."""

_FIRST_ITERATIONS = 5
"""Maximum iterations of the first fit, which only estimates the noise."""

_FLOOR = 1e-9


@dataclass(frozen=True)
class Estimate:
    """Estimated value and 95 % interval of one parameter."""

    candidate: Candidate
    """The parameter."""

    value: float
    """Estimated value, in the parameter's unit."""

    half: float
    """Half-width of the 95 % interval, in the same unit."""

    related: tuple[str, ...] = ()
    """Up to three parameters with strongly correlated estimates, strongest first."""

    @property
    def low(self) -> float:
        """Lower end of the interval, within the parameter's range."""
        return max(self.value - self.half, self.candidate.low)

    @property
    def high(self) -> float:
        """Upper end of the interval, within the parameter's range."""
        return min(self.value + self.half, self.candidate.high)

    @property
    def determined(self) -> bool:
        """Whether the logs determine the parameter."""
        reach = 0.5 * (self.candidate.high - self.candidate.low)
        return self.half < UNDETERMINED * reach


@dataclass(frozen=True)
class FitResult:
    """Estimates of all parameters, and the residuals that remain."""

    estimates: tuple[Estimate, ...]
    """One estimate per parameter."""

    noise: dict[str, float]
    """Root mean square residual of each signal, by name such as "joint1.pos"."""

    correlation: float
    """Correlation time of the residuals, in rows; 1 for white noise. The intervals are
    wider by its square root."""

    def of(self, name: str) -> Estimate:
        """Return the estimate of a parameter by its name."""
        return next(each for each in self.estimates if each.candidate.name == name)

    @property
    def undetermined(self) -> list[Estimate]:
        """Estimates that the logs do not determine."""
        return [each for each in self.estimates if not each.determined]


class Fit:
    """Fit of parameters to logs.

    `mujoco.sysid` solves the least-squares problem and computes the intervals. The
    first fit weights each signal by the inverse of its standard deviation. The second
    fit weights each signal by the inverse of its noise, which is the residual of the
    first fit.
    """

    def __init__(
        self,
        robot: Robot,
        logs: Sequence[Log],
        unknowns: Sequence[Candidate],
    ) -> None:
        """Prepare the fit.

        Args:
            robot: Robot with its nominal parameters.
            logs: Logs of the robot.
            unknowns: Parameters to estimate.
        """
        self.problem = Problem(robot, logs, unknowns)
        self.x = self.problem.parameters.as_vector()
        """Current parameters in the solver's units, shape (parameters,)."""

    def run(self, *, iterations: int = 40) -> FitResult:
        """Estimate the parameters.

        Args:
            iterations: Maximum iterations of the second fit.
        """
        problem = self.problem
        parts = [measured for _, _, measured in problem.signals(self.x)]
        size = np.concatenate(parts).std(axis=0)
        problem.weights = 30.0 / np.maximum(size, _FLOOR)
        self._solve(_FIRST_ITERATIONS)
        problem.weights = 1.0 / np.maximum(self.noise(), _FLOOR)
        jacobian = self._solve(iterations)
        return self._result(jacobian)

    def noise(self) -> np.ndarray:
        """Return the root mean square residual of each column, shape (columns,)."""
        differences = np.concatenate(self.differences())
        return np.sqrt(np.mean(differences**2, axis=0))

    def differences(self) -> list[np.ndarray]:
        """Return measured minus predicted values of each log, shape (rows, columns)."""
        return [
            measured - predicted
            for _, predicted, measured in self.problem.signals(self.x)
        ]

    def _solve(self, iterations: int) -> np.ndarray:
        """Solve from the current parameters; return the Jacobian at the solution."""
        problem = self.problem
        problem.parameters.update_from_vector(self.x)
        _, found = problem.sysid.optimize(
            problem.parameters,
            problem.residual,
            verbose=False,
            max_iters=iterations,
            x_scale="jac",
            eps=_DIFFERENCE,
            xtol=1e-3,
            # `verbose=False` does not silence the solver of MuJoCo 4.0.
            output=io.StringIO(),
        )
        self.x = found.x.ravel()
        return found.jac

    def _result(self, jacobian: np.ndarray) -> FitResult:
        problem = self.problem
        residuals, _, _ = problem.residual(self.x, problem.parameters.copy())
        covariance, half = problem.sysid.calculate_intervals(residuals, jacobian)
        widening = correlation_factor(self.differences())
        widths = half * np.sqrt(widening) * problem.scales
        values = self.x * problem.scales
        related = _related(covariance, [each.name for each in problem.unknowns])
        estimates = [
            Estimate(candidate, float(value), float(width), names)
            for candidate, value, width, names in zip(
                problem.unknowns, values, widths, related, strict=True
            )
        ]
        noise = dict(
            zip([c.name for c in problem.columns], self.noise().tolist(), strict=True)
        )
        return FitResult(tuple(estimates), noise, widening)


def expected_half_widths(problem: Problem) -> np.ndarray:
    """Return the half-widths of the 95 % intervals that are expected from a log.

    The problem is linearised at the start values of the parameters.

    Args:
        problem: Problem whose weights are the inverse of the expected noise.
    """
    fit_x = problem.parameters.as_vector()
    jacobian = jacobian_at(problem, fit_x)
    information = jacobian.T @ jacobian
    return 1.96 * np.sqrt(np.diag(np.linalg.inv(information))) * problem.scales


def jacobian_at(problem: Problem, x: np.ndarray) -> np.ndarray:
    """Return the Jacobian of the residuals at `x`, shape (residuals, parameters)."""
    from mujoco import minimize

    params = problem.parameters.copy()
    low, high = problem.parameters.get_bounds()

    def residual(x: np.ndarray) -> np.ndarray:
        return np.concatenate(problem.residual(x, params)[0])

    column = x[:, None]
    found = residual(column)
    bounds = [low[:, None], high[:, None]]
    eps = np.float64(_DIFFERENCE)
    return minimize.jacobian_fd(residual, column, found, eps, 0, bounds)[0]


def correlation_factor(differences: Sequence[np.ndarray]) -> float:
    """Return the factor by which correlated residuals increase variances, at least 1.

    It is the integrated autocorrelation time in rows, averaged over columns. The
    autocorrelation is summed up to its first negative value.

    Args:
        differences: Residuals of each log, shape (rows, columns).
    """
    times = []
    for block in differences:
        for column in (block - block.mean(axis=0)).T:
            size = len(column)
            power = np.abs(np.fft.rfft(column, 2 * size)) ** 2
            products = np.fft.irfft(power)[:size]
            if products[0] <= 0.0:
                continue
            correlation = products / products[0]
            ends = np.flatnonzero(correlation < 0.0)
            stop = ends[0] if ends.size else size
            times.append(1.0 + 2.0 * correlation[1:stop].sum())
    return max(1.0, float(np.mean(times))) if times else 1.0


def _related(covariance: np.ndarray, names: Sequence[str]) -> list[tuple[str, ...]]:
    deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = np.abs(covariance / np.outer(deviation, deviation))
    found = []
    for index in range(len(names)):
        others = np.argsort(-correlation[index])
        found.append(
            tuple(
                names[other]
                for other in others
                if other != index and correlation[index, other] > _RELATED
            )[:3]
        )
    return found
