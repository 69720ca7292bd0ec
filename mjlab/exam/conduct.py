"""Simulate the runs of an exam level in blocks, with `mujoco.batch`."""

from collections.abc import Callable

import mujoco
import numpy as np
from mujoco import batch as mj_batch

from mjlab.exam.arms import ArmWalk
from mjlab.exam.command import (
    CommandCfg,
    Reached,
    RelativeTarget,
    command_of,
    relative_target,
)
from mjlab.exam.draws import draw_payloads, draw_punches, draw_route
from mjlab.exam.feet import FootMeter
from mjlab.exam.policy import ExamPolicy, Readings
from mjlab.exam.results import LevelResults, Punch, RunResult, TargetResult
from mjlab.exam.robot import PAYLOAD, ExamRobot
from mjlab.exam.rotations import matrices, yaw_of
from mjlab.exam.rules import Level
from mjlab.mujoco_log import relay_warnings

BLOCK = 128
"""Default number of runs simulated in one block."""

FRAME_STEPS = 2
"""Control steps per recorded frame."""

Progress = Callable[[int, int], None]
"""Callback with the finished and the total number of control steps, over all runs."""


def conduct(
    robot: ExamRobot,
    level: Level,
    policy: ExamPolicy,
    runs: range,
    *,
    threads: int = 0,
    record: bool = False,
    progress: Progress | None = None,
    block: int = BLOCK,
) -> LevelResults:
    """Run a level of an exam.

    Calls with equal arguments give bit-identical results. The last digits of a run can
    change with the number of runs in its block, because networks sum in an order that
    depends on the batch size.

    Args:
        robot: The robot.
        level: The level.
        policy: The policy.
        runs: Run ids.
        threads: Physics threads; 0 uses one per processor.
        record: Record poses for films, 25 frames a second.
        progress: Called after each control step.
        block: Number of runs simulated together.
    """
    results = LevelResults(level.name, [], {})
    steps = robot.exam.steps
    for first in range(0, len(runs), block):
        chosen = runs[first : first + block]
        worlds = _Block(robot, level, policy, chosen, threads, record)
        for step in range(steps):
            if not worlds.step(step):
                break
            if progress is not None:
                done = first * steps + step * len(chosen)
                progress(done, len(runs) * steps)
        results.runs.extend(worlds.finish())
        results.poses.update(worlds.poses())
    if progress is not None:
        progress(len(runs) * steps, len(runs) * steps)
    return results


def hang(robot: ExamRobot) -> tuple[np.ndarray, np.ndarray]:
    """Return MuJoCo's full state and the sensed root state after the crane phase.

    The robot hangs on the crane: before each physics step, its base is set to the crane
    pose at rest, and its joints hold the stance.
    """
    exam = robot.exam
    batch = mj_batch.Batch(robot.model, 1, 1, persistent=True)
    qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
    ctrl = batch.bind("ctrl")
    fixed = np.array((0.0, 0.0, exam.crane_height, 1.0, 0.0, 0.0, 0.0))
    kp, kd = robot.hold_gains
    qpos[:, robot.qpos] = robot.stance
    for _ in range(round(exam.crane_s / exam.physics_s)):
        qpos[:, :7], qvel[:, :6] = fixed, 0.0
        error = robot.stance - qpos[:, robot.qpos]
        ctrl[:] = kp * error - kd * qvel[:, robot.qvel]
        batch.step()
    return batch.state[0].copy(), np.concatenate((fixed, np.zeros(6)))


class _Block:
    """Block of runs that are simulated together."""

    def __init__(
        self,
        robot: ExamRobot,
        level: Level,
        policy: ExamPolicy,
        runs: range,
        threads: int,
        record: bool,
    ) -> None:
        relay_warnings()
        exam, number = robot.exam, len(runs)
        self._robot, self._exam, self._level, self._policy = robot, exam, level, policy
        self._runs = runs
        self._active = np.ones(number, bool)
        self._results = [RunResult(run) for run in runs]
        self._draw(runs)
        self._batch = mj_batch.Batch(robot.model, number, threads, persistent=True)
        state, root = hang(robot)
        self._batch.state[:] = state
        self._qpos, self._qvel = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._ctrl = self._batch.bind("ctrl")
        self._wrench = self._batch.bind("xfrc_applied")
        self._sensors = self._batch.bind("sensordata")
        places = ("xpos", "xmat", "xipos", "xanchor")
        self._places = {name: self._batch.bind(name) for name in places}
        self._batch.forward(stage=int(mujoco.mjtStage.mjSTAGE_VEL))
        self._root = np.tile(root, (number, 1))
        policy.reset(number)
        self._begin(record)

    def _draw(self, runs: range) -> None:
        exam, level = self._exam, self._level
        self._route = draw_route(exam, runs)
        self._punches = draw_punches(exam, runs) if level.punches else None
        self._arms = self._payloads = None
        if level.load and exam.arms is not None:
            self._arms = ArmWalk(self._robot, exam.arms, runs)
        if level.load and exam.payload is not None:
            self._payloads = draw_payloads(exam, runs)

    def _begin(self, record: bool) -> None:
        number, joints = len(self._runs), len(self._exam.joints)
        # Target positions are relative to the base pose in the first control step.
        self._origin = self._qpos[:, :2].copy()
        self._origin_yaw = yaw_of(self._qpos[:, 3:7])
        self._commanded = Reached(number, self._policy.command)
        self._reached = Reached(number, CommandCfg())
        self._was_reached = np.zeros(number, bool)
        self._feet = FootMeter((number, len(self._exam.feet)), self._exam.foot_loads)
        self._foot_height = self._heights()
        self._velocity = self._joints()[1]
        self._acceleration = np.zeros((number, joints))
        self._energy, self._vibration = np.zeros(number), np.zeros(number)
        self._targets = np.tile(self._robot.stance, (number, 1))
        self._frames: list[np.ndarray] | None = [] if record else None
        self._gains = self._all_gains()

    def _all_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Return position and velocity gains, each of shape (joints,).

        Joints that the policy controls have the policy's gains, all others the exam's.
        """
        policy = self._policy
        own = policy.owned.copy()
        if self._arms is not None:
            own[self._arms.joints] = False
        self._own = own
        kp, kd = self._robot.hold_gains
        return np.where(own, policy.kp, kp), np.where(own, policy.kd, kd)

    # Control step.

    def step(self, step: int) -> bool:
        """Take a control step; return False if all runs have ended."""
        target, within = divmod(step, self._exam.target_steps)
        self._end_fallen(step)
        if not self._active.any():
            return False
        if within == 0:
            self._begin_target(target)
        aim = self._aim(target)
        self._commanded.update(aim)
        self._update_reached(aim)
        command = command_of(self._policy.command, aim, self._commanded)
        load = self._load_targets(step)
        self._measure_vibration(step)
        asked = self._policy.act(self._read(step, command, aim, load))
        self._targets = np.where(self._own, asked, load)
        if self._frames is not None and step % FRAME_STEPS == 0:
            self._frames.append(self._qpos.astype(np.float32))
        self._physics(target, within)
        return True

    def _physics(self, target: int, within: int) -> None:
        exam, punches = self._exam, self._exam.punches
        begin = round(punches.begin_s / exam.control_s)
        end = round(punches.end_s / exam.control_s)
        is_punched = self._punches is not None and begin <= within < end
        if self._punches is not None and within == begin:
            self._note_punches(target, within)
        if within == end:
            self._wrench[:] = 0.0
        ids = np.flatnonzero(self._active)
        kp, kd = self._gains
        for substep in range(exam.substeps):
            position, velocity = self._joints()
            torque = kp * (self._targets - position) - kd * velocity
            self._ctrl[:] = torque
            if is_punched:
                self._punch(target)
            if substep == exam.substeps - 1:
                self._root[:, :7] = self._qpos[:, :7]
                self._root[:, 7:] = self._qvel[:, :6]
            self._batch.step(ids, nstep=1, stage=int(mujoco.mjtStage.mjSTAGE_VEL))
            self._measure_feet()
            if substep == 0:
                power = np.abs(torque * self._joints()[1]).sum(axis=1)
                self._energy += np.where(self._active, power * exam.control_s, 0.0)

    def _joints(self) -> tuple[np.ndarray, np.ndarray]:
        return self._qpos[:, self._robot.qpos], self._qvel[:, self._robot.qvel]

    def _load_targets(self, step: int) -> np.ndarray:
        targets = np.tile(self._robot.stance, (len(self._runs), 1))
        if self._arms is not None:
            targets[:, self._arms.joints] = self._arms.targets(step, self._active)
        return targets

    def _read(
        self, step: int, command: np.ndarray, aim: RelativeTarget, load: np.ndarray
    ) -> Readings:
        joint_pos, joint_vel = self._joints()
        quat, velocity = self._root[:, 3:7], self._root[:, 7:]
        place, turned = self._robot.imu
        down = matrices(quat) @ turned
        spin = velocity[:, 3:]
        # Velocity of the site in the axes of the base, then in the axes of the site.
        linear = np.einsum("rji,rj->ri", matrices(quat), velocity[:, :3])
        linear = linear + np.cross(spin, place)
        return Readings(
            step=step,
            active=self._active.copy(),
            joint_pos=joint_pos,
            joint_vel=joint_vel,
            root_pos=self._root[:, :3].copy(),
            root_quat=quat.copy(),
            root_velocity=velocity.copy(),
            gyro=spin @ turned,
            lin_vel=linear @ turned,
            gravity=-down[:, 2],
            command=command,
            target=aim,
            load_targets=load,
        )

    # Targets.

    def _aim(self, target: int) -> RelativeTarget:
        cos, sin = np.cos(self._origin_yaw), np.sin(self._origin_yaw)
        x, y = self._route.places[:, target].T
        turned = np.stack((cos * x - sin * y, sin * x + cos * y), axis=1)
        heading = self._origin_yaw + self._route.headings[:, target]
        yaw = yaw_of(self._qpos[:, 3:7])
        return relative_target(self._qpos[:, :2], yaw, self._origin + turned, heading)

    def _begin_target(self, target: int) -> None:
        if target:
            self._note_targets(target - 1, self._active)
        self._commanded.reset()
        self._reached.reset()
        self._was_reached[:] = False
        if self._payloads is not None:
            self._load(target)

    def _update_reached(self, aim: RelativeTarget) -> None:
        self._reached.update(aim)
        self._was_reached |= self._reached.place & self._reached.heading

    def _note_targets(self, target: int, runs: np.ndarray) -> None:
        aim = self._aim(target)
        for row in np.flatnonzero(runs):
            self._results[row].targets.append(
                TargetResult(
                    float(aim.distance[row]),
                    float(abs(aim.heading[row])),
                    bool(self._was_reached[row]),
                )
            )

    def _load(self, target: int) -> None:
        """Set the mass and position of the payload for a target."""
        payload, plan = self._exam.payload, self._payloads
        assert payload is not None and plan is not None
        body = self._robot.model.body(PAYLOAD).id
        mass = plan.masses[:, target]
        x, y, z = np.square(payload.half_size)
        inertia = np.outer(mass / 3.0, (y + z, x + z, x + y))
        place = np.tile(payload.centre, (len(self._runs), 1))
        place[:, :2] += plan.offsets[:, target]
        for name, value in (
            ("body_mass", mass),
            ("body_inertia", inertia),
            ("body_pos", place),
        ):
            self._batch.expand(name)[:, body] = value
        self._batch.set_const(np.flatnonzero(self._active))

    # Punches.

    def _punch(self, target: int) -> None:
        """Apply each run's punch of this target, at the anchor of the punched joint."""
        plan = self._punches
        assert plan is not None
        rows = np.arange(len(self._runs))
        joints = self._robot.joints[plan.joints[:, target]]
        child = self._robot.model.jnt_bodyid[joints]
        force = self._world_force(target)
        arm = self._places["xanchor"][rows, joints] - self._places["xipos"][rows, child]
        self._wrench[:] = 0.0
        self._wrench[rows, child, :3] = force
        self._wrench[rows, child, 3:] = np.cross(arm, force)

    def _world_force(self, target: int) -> np.ndarray:
        plan, model = self._punches, self._robot.model
        assert plan is not None
        child = model.jnt_bodyid[self._robot.joints[plan.joints[:, target]]]
        body = np.where(plan.on_child[:, target], child, model.body_parentid[child])
        turned = self._places["xmat"][np.arange(len(body)), body].reshape(-1, 3, 3)
        return np.einsum("rij,rj->ri", turned, plan.forces[:, target])

    def _note_punches(self, target: int, within: int) -> None:
        plan, exam = self._punches, self._exam
        assert plan is not None
        force = self._world_force(target)
        size = np.linalg.norm(force, axis=1)
        seconds = target * exam.targets.seconds + within * exam.control_s
        yaw = yaw_of(self._qpos[:, 3:7])
        for row in np.flatnonzero(self._active):
            x, y, z = force[row] / size[row]
            cos, sin = np.cos(yaw[row]), np.sin(yaw[row])
            self._results[row].punches.append(
                Punch(
                    target=target,
                    joint=exam.joints[plan.joints[row, target]],
                    impulse=float(
                        size[row] * (exam.punches.end_s - exam.punches.begin_s)
                    ),
                    direction=(
                        float(cos * x + sin * y),
                        float(cos * y - sin * x),
                        float(z),
                    ),
                    feet=tuple(map(bool, self._feet.down[row])),
                    seconds=float(seconds),
                )
            )

    # Measurements, and the end of a run.

    def _heights(self) -> np.ndarray:
        return self._places["xpos"][:, self._robot.feet, 2].copy()

    def _measure_feet(self) -> None:
        heights = self._heights()
        speed = (self._foot_height - heights) / self._exam.physics_s
        force = self._sensors[:, self._robot.foot_forces]
        self._feet.update(np.abs(force), speed, self._active)
        self._foot_height = heights

    def _measure_vibration(self, step: int) -> None:
        velocity = self._joints()[1]
        acceleration = (velocity - self._velocity) / self._exam.control_s
        if step >= 2:
            change = np.abs(acceleration - self._acceleration).sum(axis=1)
            self._vibration += np.where(self._active, change, 0.0)
        self._velocity, self._acceleration = velocity, acceleration

    def _end_fallen(self, step: int) -> None:
        height = self._qpos[:, 2]
        # A diverged robot counts as fallen.
        stands = (height >= self._exam.fall_height) & np.isfinite(self._qpos).all(1)
        fell = self._active & ~stands
        if not fell.any():
            return
        # In the first step of a target, a fall still counts for the previous target.
        self._note_targets(max(step - 1, 0) // self._exam.target_steps, fell)
        self._end(fell, step * self._exam.control_s)

    def finish(self) -> list[RunResult]:
        """End all runs and return one result per run."""
        self._note_targets(self._exam.targets.number - 1, self._active)
        for row in np.flatnonzero(self._active):
            self._results[row].completed = True
        self._end(self._active.copy(), self._exam.seconds)
        return self._results

    def _end(self, runs: np.ndarray, seconds: float) -> None:
        speed, peak = self._feet.touchdown_speed(), self._feet.peak_force()
        for row in np.flatnonzero(runs):
            result = self._results[row]
            result.survival = seconds
            result.energy = float(self._energy[row]) / 1e3
            result.vibration = float(self._vibration[row]) / 1e6
            result.touchdown_speed = float(speed[row])
            result.peak_force = float(peak[row]) / self._robot.weight
        self._active &= ~runs

    def poses(self) -> dict[int, np.ndarray]:
        """Return recorded qpos up to the end of each run, (frames, nq), by run id."""
        if not self._frames:
            return {}
        whole = np.array(self._frames)
        exam, poses = self._exam, {}
        for row, result in enumerate(self._results):
            steps = round(result.survival / exam.control_s)
            frames = -(-steps // FRAME_STEPS)
            poses[result.run] = whole[:frames, row].copy()
        return poses
