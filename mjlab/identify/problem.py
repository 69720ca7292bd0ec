"""Residuals between a robot's logs and its simulation, for `mujoco.sysid`."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjlab.identify.logs import IdentifyError, Log
from mjlab.identify.parameters import Candidate
from mjlab.identify.robot import Robot

LONGEST_STEP = 0.005
"""Largest physics timestep of the identification, s."""

SETTLE = 0.3
"""Time at the start of each log that is excluded from the residuals, s, because the
initial velocity and earlier targets are unknown."""

_SENSORS = {
    "pos": mujoco.mjtSensor.mjSENS_JOINTPOS,
    "vel": mujoco.mjtSensor.mjSENS_JOINTVEL,
    "torque": mujoco.mjtSensor.mjSENS_JOINTACTFRC,
}


@dataclass(frozen=True)
class Column:
    """Measured signal of one joint."""

    joint: str
    """Name of the joint."""

    signal: str
    """"pos", "vel" or "torque"."""

    @property
    def name(self) -> str:
        """Name of the sensor in the model."""
        return f"{self.joint}.{self.signal}"


class Problem:
    """Least-squares problem between logs and simulations with unknown parameters."""

    def __init__(
        self,
        robot: Robot,
        logs: Sequence[Log],
        unknowns: Sequence[Candidate],
    ) -> None:
        """Prepare the model, and one sequence of `mujoco.sysid` per log.

        Args:
            robot: Robot with its nominal parameters.
            logs: Logs of the robot, all with the same signals.
            unknowns: Parameters to estimate.
        """
        self.sysid: Any = importlib.import_module("mujoco.sysid")
        self.unknowns = list(unknowns)
        self.columns = _columns(logs)
        self.weights = np.ones(len(self.columns))
        """Inverse of the standard deviation of each column's noise."""
        self._delayed = next((u for u in unknowns if u.kind == "delay"), None)
        self._lag = max((motor.delay for motor in robot.motors), default=0.0)
        self._longest_delay = self._lag if not self._delayed else self._delayed.high
        self._prefix = robot.prefix
        self._step = step_for(logs)
        spec = _with_sensors(robot, self.columns, self._step)
        sequences = self.sysid.ModelSequences(
            robot.entity,
            spec,
            [f"log {index}" for index in range(len(logs))],
            [self._start(robot, spec, log) for log in logs],
            [self._control(robot, log) for log in logs],
            [self._measured(spec, log) for log in logs],
        )
        self.parameters = self.sysid.ParameterDict()
        for each in self.unknowns:
            self.parameters.add(each.as_parameter(self.sysid))
        self._residual = self.sysid.build_residual_fn(
            models_sequences=[sequences],
            modify_residual=self._compare,
            # Resampling would interpolate the controls, which are stepwise constant.
            resample_true=False,
        )
        low, high = self.parameters.get_bounds()
        self._centre, self._spread = self.parameters.as_vector(), 0.5 * (high - low)

    @property
    def scales(self) -> np.ndarray:
        """Value of one solver unit of each parameter, shape (parameters,)."""
        return np.array([each.scale for each in self.unknowns])

    def residual(self, x: np.ndarray, params: Any, **more: Any) -> Any:
        """Return the residuals of all logs, and of the parameters from their start.

        The second part is a weak prior, which keeps undetermined parameters near their
        start: a deviation of half the range counts like one standard deviation of one
        measurement.

        Args:
            x: Parameters in the solver's units, shape (n,) or (n, columns).
            params: The `ParameterDict` that the solver updates.
            more: Options of the residual function of `mujoco.sysid`.

        Returns:
            Residuals, predictions and measurements, as `mujoco.sysid` expects.
        """
        found, predicted, measured = self._residual(x, params, **more)
        away = (x.T - self._centre) / self._spread
        return [*found, away.T], predicted, measured

    def signals(self, x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Simulate each log; return times (s), predicted and measured columns."""
        _, predicted, measured = self._residual(x, self.parameters.copy())
        return [
            (p[0].times, p[0].data, m[0].data)
            for p, m in zip(predicted, measured, strict=True)
        ]

    # Inputs of `mujoco.sysid`.

    def _start(self, robot: Robot, spec: mujoco.MjSpec, log: Log) -> np.ndarray:
        model = spec.compile()
        qpos, qvel = robot.qpos.copy(), np.zeros(model.nv)
        for joint, values in log.pos.items():
            qpos[model.joint(robot.prefix + joint).qposadr[0]] = values[0]
        for joint, values in log.vel.items():
            qvel[model.joint(robot.prefix + joint).dofadr[0]] = values[0]
        return self.sysid.create_initial_state(model, qpos, qvel)

    def _control(self, robot: Robot, log: Log) -> Any:
        """Return the controls at each physics step, shape (steps, actuators).

        They do not include the estimated delay; `_compare` shifts the predictions.
        """
        count = int(np.ceil(log.times[-1] / self._step)) + 2
        grid = self._step * np.arange(count)
        controls = robot.controls(log.targets, len(log.times))
        nearest = grid + 0.5 * self._step
        last = np.searchsorted(log.times, nearest, side="right") - 1
        return self.sysid.TimeSeries(grid, controls[last])

    def _measured(self, spec: mujoco.MjSpec, log: Log) -> Any:
        data = np.stack([log.signal(c.signal)[c.joint] for c in self.columns], axis=1)
        return self.sysid.TimeSeries.from_names(log.times, data, spec.compile())

    # Callbacks of `mujoco.sysid`.

    def _delay(self, params: Any) -> float:
        if self._delayed is None:
            return self._lag
        return float(params[self._delayed.name].value[0]) * self._delayed.scale

    def _compare(
        self,
        params: Any,
        predicted: Any,
        measured: Any,
        model: mujoco.MjModel,
        return_pred_all: bool,
        *,
        state: np.ndarray,
        **others: Any,
    ) -> tuple[np.ndarray, Any, Any]:
        """Return weighted differences at the log's times, predictions, measurements.

        The delay is applied to the simulated measurements instead of the commands. Both
        are equivalent for a robot that starts at rest.
        """
        times, delay = measured.times, self._delay(params)
        used = times >= SETTLE + self._longest_delay
        expected = self._expected(predicted, model, state, times[used] - delay)
        kept = self.sysid.TimeSeries(
            times[used], measured.data[used], measured.signal_mapping
        )
        difference = self.sysid.weighted_diff(expected, kept.data, model, self.weights)
        shown = self.sysid.TimeSeries(times[used], expected, measured.signal_mapping)
        return difference, shown, kept

    def _expected(
        self, predicted: Any, model: mujoco.MjModel, state: np.ndarray, at: np.ndarray
    ) -> np.ndarray:
        """Interpolate the simulated columns at given times, shape (times, columns).

        Positions and velocities are interpolated with cubic Hermite splines.
        """
        splines = importlib.import_module("scipy.interpolate")
        times, found = state[:, 0], []
        for column in self.columns:
            joint = model.joint(self._prefix + column.joint)
            if column.signal == "torque":
                # `mujoco.sysid` of MuJoCo 4.0 gives sensor values from the start of a
                # step the time of its end.
                values = predicted.data[:, model.sensor(column.name).adr[0]]
                found.append(np.interp(at, times - self._step, values))
                continue
            pos = state[:, 1 + joint.qposadr[0]]
            vel = state[:, 1 + model.nq + joint.dofadr[0]]
            spline = splines.CubicHermiteSpline(times, pos, vel)
            found.append(spline(at, nu=int(column.signal == "vel")))
        return np.stack(found, axis=1)


def step_for(logs: Sequence[Log]) -> float:
    """Return the physics timestep, s: the logs' median period divided by an integer."""
    period = float(np.median(np.concatenate([np.diff(log.times) for log in logs])))
    return period / max(1, int(np.ceil(period / LONGEST_STEP - 1e-6)))


def _columns(logs: Sequence[Log]) -> list[Column]:
    columns = [
        Column(joint, signal) for signal in _SENSORS for joint in logs[0].signal(signal)
    ]
    for index, log in enumerate(logs[1:], 2):
        for column in columns:
            if column.joint not in log.signal(column.signal):
                raise IdentifyError(
                    f"Log {index} has no {column.name}, which log 1 has: all logs need "
                    "the same signals."
                )
    return columns


def _with_sensors(
    robot: Robot, columns: Sequence[Column], step: float
) -> mujoco.MjSpec:
    """Return a copy of the robot's spec with one sensor per column."""
    spec = robot.spec.copy()
    spec.option.timestep = step
    # Finite differences of rollouts need a tightly converged constraint solver.
    spec.option.tolerance, spec.option.iterations = 1e-12, 50
    # An implicit integrator would act like an additional armature of step * damping.
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for column in columns:
        spec.add_sensor(
            name=column.name,
            type=_SENSORS[column.signal],
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=robot.prefix + column.joint,
        )
    return spec
