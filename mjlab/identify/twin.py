"""Simulated robot with hidden parameters, to rehearse an identification."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.identify.logs import Log
from mjlab.identify.parameters import Candidate
from mjlab.identify.robot import Robot

STEP = 0.001
"""Physics timestep of the simulated robot, s, smaller than in the identification."""

POSITION_NOISE, VELOCITY_NOISE = 5e-4, 2e-2
"""Standard deviation of noise in positions (rad or m) and velocities (rad/s or m/s)."""

_SHARES = {
    "armature": (0.6, 1.6),
    "gain": (0.85, 1.15),
    "effort_limit": (0.6, 1.0),
    "mass": (0.7, 1.5),
}
"""Ranges of hidden values, as multiples of the nominal value."""

_PLACES = {"friction": (0.04, 0.5), "damping": (0.04, 0.5), "delay": (0.06, 0.4)}
"""Ranges of hidden values; 0 is the parameter's lower bound, 1 its upper bound."""

_COM_SHIFT = 0.03


@dataclass(frozen=True)
class Twin:
    """Simulated robot whose parameters differ from the task's model."""

    robot: Robot
    """Robot with its nominal parameters."""

    hidden: dict[str, float]
    """True value of each parameter, by name."""

    seed: int
    """Random seed of the parameters and of the noise."""

    unknowns: tuple[Candidate, ...]
    """Parameters with hidden values."""

    @classmethod
    def draw(cls, robot: Robot, unknowns: Sequence[Candidate], seed: int) -> "Twin":
        """Draw hidden values of the parameters.

        Args:
            robot: Robot with its nominal parameters.
            unknowns: Parameters to draw.
            seed: Random seed.
        """
        rng = np.random.default_rng([seed, 0])
        hidden = {unknown.name: _hidden(unknown, rng) for unknown in unknowns}
        return cls(robot, hidden, seed, tuple(unknowns))

    def record(self, motion: Log, *, repeat: int = 0) -> Log:
        """Simulate a motion; return its log with measurement noise.

        Args:
            motion: Targets over time. The log has the same times.
            repeat: Index of the recording. Recordings differ in their noise.
        """
        model, delay = self._model()
        rng = np.random.default_rng([self.seed, 1, repeat])
        joints = list(motion.targets)
        data = mujoco.MjData(model)
        data.qpos[:] = self.robot.qpos
        for joint in joints:
            place = model.joint(self.robot.prefix + joint).qposadr[0]
            data.qpos[place] = motion.targets[joint][0]
        controls = self.robot.controls(motion.targets, len(motion.times))
        rows = []
        for step in range(round(motion.times[-1] / STEP) + 1):
            now = step * STEP
            if now >= motion.times[len(rows)] - 0.5 * STEP:
                rows.append((data.qpos.copy(), data.qvel.copy()))
                if len(rows) == len(motion.times):
                    break
            row = np.searchsorted(motion.times, now - delay + 1e-9, side="right") - 1
            data.ctrl[:] = controls[max(row, 0)]
            mujoco.mj_step(model, data)
        return self._log(motion, model, rows, rng)

    def _model(self) -> tuple[mujoco.MjModel, float]:
        spec = self.robot.spec.copy()
        spec.option.timestep = STEP
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        for unknown in self.unknowns:
            unknown.write(spec, self.hidden[unknown.name])
        motors = self.robot.motors
        nominal = max((motor.delay for motor in motors), default=0.0)
        return spec.compile(), self.hidden.get("delay", nominal)

    def _log(
        self,
        motion: Log,
        model: mujoco.MjModel,
        rows: Sequence[tuple[np.ndarray, np.ndarray]],
        rng: np.random.Generator,
    ) -> Log:
        pos, vel = (np.array(part) for part in zip(*rows, strict=True))

        def noisy(
            values: np.ndarray, adr: str, deviation: float
        ) -> Mapping[str, np.ndarray]:
            return {
                joint: values[
                    :, getattr(model.joint(self.robot.prefix + joint), adr)[0]
                ]
                + deviation * rng.standard_normal(len(values))
                for joint in self.robot.joints
                if joint in motion.targets or self.robot.motor(joint) is None
            }

        return Log(
            motion.times,
            motion.targets,
            dict(noisy(pos, "qposadr", POSITION_NOISE)),
            dict(noisy(vel, "dofadr", VELOCITY_NOISE)),
            {},
        )


def _hidden(unknown: Candidate, rng: np.random.Generator) -> float:
    if unknown.kind == "com":
        return unknown.nominal + rng.uniform(-_COM_SHIFT, _COM_SHIFT)
    if unknown.kind in _PLACES:
        low, high = _PLACES[unknown.kind]
        value = unknown.low + rng.uniform(low, high) * (unknown.high - unknown.low)
        return STEP * round(value / STEP) if unknown.kind == "delay" else value
    low, high = _SHARES[unknown.kind]
    if unknown.nominal == 0.0:
        return unknown.low + rng.uniform(0.1, 0.5) * (unknown.high - unknown.low)
    return unknown.nominal * rng.uniform(low, high)
