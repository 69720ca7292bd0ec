"""Rules of a run, compared with plain MuJoCo C and hand arithmetic."""

import copy
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from mjlab.exam.command import CommandCfg
from mjlab.exam.conduct import conduct, hang
from mjlab.exam.draws import draw_payloads, draw_punches, draw_route
from mjlab.exam.feet import FootMeter
from mjlab.exam.policy import Readings
from mjlab.exam.robot import PAYLOAD, ExamRobot, build_robot
from mjlab.exam.rules import LEVELS, Exam
from mjlab.exam.tables import G1_EXAM, GO1_EXAM

GAINS = 120.0, 4.0
"""Gains of the policy of these tests."""

LEAN = 0.05
"""Distance of its targets from the stance, rad, so that joints move from the start."""


class Stander:
    """Policy that holds the stance with the gains of joints without a policy."""

    def __init__(self, stance: np.ndarray) -> None:
        self._stance = stance
        self.command = CommandCfg()
        self.owned = np.zeros(len(stance), bool)
        self.kp = self.kd = np.zeros(len(stance))

    def reset(self, runs: int) -> None:
        pass

    def act(self, seen: Readings) -> np.ndarray:
        return np.tile(self._stance, (len(seen.active), 1))

    def described(self) -> dict[str, Any]:
        return {}


class Listener:
    """Policy with constant targets and gains that stores its readings."""

    def __init__(self, exam: Exam, lean: float = LEAN) -> None:
        self.command = CommandCfg()
        self.owned = np.ones(len(exam.joints), bool)
        self.kp = np.full(len(exam.joints), GAINS[0])
        self.kd = np.full(len(exam.joints), GAINS[1])
        self.readings: list[Readings] = []
        self._targets = np.array(exam.stance) + lean

    def reset(self, runs: int) -> None:
        self.readings.clear()

    def act(self, seen: Readings) -> np.ndarray:
        self.readings.append(seen)
        return np.tile(self._targets, (len(seen.active), 1))

    def described(self) -> dict[str, Any]:
        return {}


def short(exam: Exam, seconds: float, number: int = 1) -> Exam:
    """Return the exam with few, short targets."""
    targets = replace(exam.targets, number=number, seconds=seconds)
    return replace(exam, targets=targets)


@pytest.fixture(scope="module")
def robot() -> ExamRobot:
    return build_robot(short(G1_EXAM, 0.4))


@pytest.fixture(scope="module")
def dog() -> ExamRobot:
    return build_robot(short(GO1_EXAM, 0.4, 2))


def listened(
    robot: ExamRobot, level: str, runs: range, lean: float = LEAN
) -> list[Readings]:
    policy = Listener(robot.exam, lean)
    conduct(robot, LEVELS[level], policy, runs, threads=1)
    return policy.readings


@pytest.fixture(scope="module")
def hung(robot: ExamRobot) -> mujoco.MjData:
    """Return plain MuJoCo after three seconds on the crane."""
    exam, data = robot.exam, mujoco.MjData(robot.model)
    armature = robot.model.dof_armature[robot.qvel]
    kp, kd = armature * (20 * np.pi) ** 2, 4 * armature * 20 * np.pi
    data.qpos[robot.qpos] = exam.stance
    for _ in range(1500):
        data.qpos[:7] = (0, 0, exam.crane_height, 1, 0, 0, 0)
        data.qvel[:6] = 0.0
        error = np.array(exam.stance) - data.qpos[robot.qpos]
        data.ctrl[:] = kp * error - kd * data.qvel[robot.qvel]
        mujoco.mj_step(robot.model, data)
    return data


def test_crane_pins_the_base_and_holds_the_stance(
    robot: ExamRobot, hung: mujoco.MjData
) -> None:
    state, root = hang(robot)
    data = copy.copy(hung)
    expected = np.zeros(
        mujoco.mj_stateSize(robot.model, mujoco.mjtState.mjSTATE_PHYSICS)
    )
    mujoco.mj_getState(robot.model, data, expected, mujoco.mjtState.mjSTATE_PHYSICS)
    found = mujoco.MjData(robot.model)
    size = mujoco.mj_stateSize(robot.model, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_setState(
        robot.model, found, state[:size], mujoco.mjtState.mjSTATE_INTEGRATION
    )
    np.testing.assert_allclose(found.qpos, data.qpos, atol=1e-9)
    np.testing.assert_allclose(root, (0, 0, 0.793, 1, *[0.0] * 9))
    # The feet are above the ground.
    mujoco.mj_kinematics(robot.model, data)
    ground, model = robot.model.geom("ground").id, robot.model
    gaps = [
        mujoco.mj_geomDistance(model, data, ground, geom, 1.0, None)
        for geom in range(model.ngeom)
        if model.geom_contype[geom] and geom != ground
    ]
    assert 0.01 < min(gaps) < 0.05


def test_readings_equal_plain_mujoco_with_torques_each_physics_step(
    robot: ExamRobot, hung: mujoco.MjData
) -> None:
    readings = listened(robot, "A", range(1))
    data, model = copy.copy(hung), robot.model
    site = model.site("imu_in_pelvis").id
    targets = np.array(robot.exam.stance) + LEAN
    speed, down = np.zeros(6), np.array((0.0, 0.0, -1.0))
    for reading in readings[:5]:
        np.testing.assert_allclose(reading.joint_pos[0], data.qpos[7:], atol=1e-7)
        np.testing.assert_allclose(reading.joint_vel[0], data.qvel[6:], atol=1e-5)
        # On the crane the base is at rest.
        np.testing.assert_allclose(reading.gyro[0], speed[:3], atol=1e-6)
        np.testing.assert_allclose(reading.lin_vel[0], speed[3:], atol=1e-6)
        np.testing.assert_allclose(reading.gravity[0], down, atol=1e-7)
        for _ in range(10):
            error = targets - data.qpos[robot.qpos]
            data.ctrl[:] = GAINS[0] * error - GAINS[1] * data.qvel[robot.qvel]
            mujoco.mj_step(model, data)
            # As after mj_step: values of the state before the step.
            kind = mujoco.mjtObj.mjOBJ_SITE
            mujoco.mj_objectVelocity(model, data, kind, site, speed, 1)
            down = -data.site_xmat[site].reshape(3, 3)[2]


def test_torque_is_limited_by_the_joint_only(robot: ExamRobot) -> None:
    model = robot.model
    most = model.jnt_actfrcrange[robot.joints, 1]
    limits = dict(zip(robot.exam.joints, most, strict=True))
    for part, limit in {"hip_pitch": 88, "knee": 139, "ankle_roll": 50}.items():
        assert limits[f"left_{part}_joint"] == limit
    assert limits["right_elbow_joint"] == 25 and limits["right_wrist_yaw_joint"] == 5
    assert not model.actuator_ctrllimited.any()
    assert not model.actuator_forcelimited.any()
    assert (model.actuator_gainprm[:, 0] == 1).all()


def test_joints_without_a_policy_have_ten_hertz_gains(robot: ExamRobot) -> None:
    names = robot.exam.joints
    kp, kd = (dict(zip(names, gains, strict=True)) for gains in robot.hold_gains)
    # Published gains of an arm, and of wrist pitch.
    assert kp["left_elbow_joint"] == pytest.approx(14.25, abs=0.005)
    assert kd["left_elbow_joint"] == pytest.approx(0.907, abs=0.0005)
    assert kp["left_wrist_pitch_joint"] == pytest.approx(16.78, abs=0.005)
    assert kd["left_wrist_pitch_joint"] == pytest.approx(1.07, abs=0.005)


def test_punch_acts_at_the_anchor_in_the_axes_of_its_body(
    robot: ExamRobot, hung: mujoco.MjData
) -> None:
    runs = range(4)
    punched, quiet = (listened(robot, level, runs) for level in "BA")
    plan, model = draw_punches(robot.exam, runs), robot.model
    assert len({bool(on) for on in plan.on_child[:, 0]}) == 2
    for run in runs:
        data = copy.copy(hung)
        joint = robot.joints[plan.joints[run, 0]]
        child = model.jnt_bodyid[joint]
        body = child if plan.on_child[run, 0] else model.body_parentid[child]
        for step in range(10):
            if step == 5:
                # No effect before control step 5.
                np.testing.assert_array_equal(
                    punched[step].joint_vel[run], quiet[step].joint_vel[run]
                )
            if step in (6, 9):
                np.testing.assert_allclose(
                    punched[step].joint_vel[run], data.qvel[6:], rtol=2e-3, atol=2e-3
                )
            for _ in range(10):
                error = robot.stance + LEAN - data.qpos[robot.qpos]
                data.ctrl[:] = GAINS[0] * error - GAINS[1] * data.qvel[robot.qvel]
                data.qfrc_applied[:] = 0.0
                if 5 <= step < 9:
                    mujoco.mj_kinematics(model, data)
                    mujoco.mj_comPos(model, data)
                    force = data.xmat[body].reshape(3, 3) @ plan.forces[run, 0]
                    anchor = data.xanchor[joint]
                    mujoco.mj_applyFT(
                        model,
                        data,
                        force,
                        np.zeros(3),
                        anchor,
                        child,
                        data.qfrc_applied,
                    )
                mujoco.mj_step(model, data)


def test_punch_ends_after_80_ms(robot: ExamRobot) -> None:
    impulse = conduct(robot, LEVELS["B"], Listener(robot.exam), range(2), threads=1)
    plan = draw_punches(robot.exam, range(2))
    for run in impulse.runs:
        size = np.linalg.norm(plan.forces[run.run, 0])
        assert run.punches[0].impulse == pytest.approx(0.08 * size)
        assert run.punches[0].seconds == pytest.approx(0.10)


def test_targets_are_in_the_frame_of_the_first_control_step() -> None:
    robot = build_robot(short(G1_EXAM, 0.1, 3))
    readings = listened(robot, "A", range(2), lean=0.0)
    route = draw_route(robot.exam, range(2))
    # The robot hardly moves in 0.3 s, and each target lasts five control steps.
    for step, target in ((0, 0), (4, 0), (5, 1), (14, 2)):
        aim = readings[step].target
        np.testing.assert_allclose(aim.ahead, route.places[:, target, 0], atol=0.03)
        np.testing.assert_allclose(aim.left, route.places[:, target, 1], atol=0.03)
        turn = aim.heading - route.headings[:, target]
        np.testing.assert_allclose(np.cos(turn), 1.0, atol=0.005)


def test_new_target_is_not_reached_by_the_hysteresis_of_the_old_one() -> None:
    robot = build_robot(short(G1_EXAM, 0.1, 2))
    places = draw_route(robot.exam, range(20)).places
    distance = np.linalg.norm(places, axis=-1)
    run = int(np.argmax(distance[:, 1] - distance[:, 0]))
    policy = Listener(robot.exam, lean=0.0)
    # The first target is reached; the second is not, but stays reached by hysteresis.
    policy.command = CommandCfg(reach_m=(float(distance[run].mean()), 100.0))
    conduct(robot, LEVELS["A"], policy, range(run, run + 1), threads=1)
    planar = [np.linalg.norm(seen.command[0, :2]) for seen in policy.readings]
    assert np.flatnonzero(planar).tolist() == [5, 6, 7, 8, 9]


def test_moved_arms_have_the_gains_and_targets_of_the_exam(
    robot: ExamRobot, hung: mujoco.MjData
) -> None:
    readings = listened(robot, "N", range(1))
    data, arms = copy.copy(hung), np.arange(15, 29)
    armature = robot.model.dof_armature[robot.qvel]
    kp, kd = (np.full(29, gain) for gain in GAINS)
    kp[arms] = armature[arms] * (20 * np.pi) ** 2
    kd[arms] = 4 * armature[arms] * 20 * np.pi
    for reading in readings[:5]:
        np.testing.assert_allclose(reading.joint_pos[0], data.qpos[7:], atol=1e-7)
        targets = robot.stance + LEAN
        targets[arms] = reading.load_targets[0, arms]
        for _ in range(10):
            error = targets - data.qpos[robot.qpos]
            data.ctrl[:] = kp * error - kd * data.qvel[robot.qvel]
            mujoco.mj_step(robot.model, data)
    moved = readings[4].load_targets[0] - robot.stance
    assert np.abs(moved[arms]).max() > 0.005 and (moved[:15] == 0.0).all()


def test_robot_below_its_fall_height_has_fallen() -> None:
    exam = replace(short(G1_EXAM, 3.0), fall_height=0.5)
    robot = build_robot(exam)
    results = conduct(
        robot, LEVELS["A"], Stander(robot.stance), range(1), threads=1, record=True
    )
    (run,) = results.runs
    heights = results.poses[0][:, 2]
    assert not run.completed and 0.5 < run.survival < 3.0
    # One frame every second control step, the last one before the fall.
    assert len(heights) == -(-round(run.survival / 0.02) // 2)
    assert (heights >= 0.5).all() and heights[-1] < 0.6
    assert len(run.targets) == 1 and run.last_punch is None


def test_completed_run_has_all_targets_and_its_duration(dog: ExamRobot) -> None:
    results = conduct(dog, LEVELS["C"], Stander(dog.stance), range(3), threads=1)
    for run in results.runs:
        assert run.completed and run.survival == pytest.approx(0.8)
        assert len(run.targets) == len(run.punches) == 2


def test_equal_calls_give_identical_bits(dog: ExamRobot) -> None:
    first, second = (
        conduct(
            dog,
            LEVELS["C"],
            Stander(dog.stance),
            range(7),
            threads=threads,
            record=True,
            block=4,
        )
        for threads in (1, 2)
    )
    assert repr(first.runs) == repr(second.runs)
    for run in range(7):
        np.testing.assert_array_equal(first.poses[run], second.poses[run])


def test_payload_loads_the_feet() -> None:
    exam = short(GO1_EXAM, 1.5)
    robot = build_robot(exam)
    plan = draw_payloads(exam, range(4))
    found = [
        conduct(robot, LEVELS[level], Stander(robot.stance), range(4), threads=1).runs
        for level in "AN"
    ]
    energy = np.array([[run.energy for run in runs] for runs in found])
    assert np.argmax(energy[1] - energy[0]) == np.argmax(plan.masses[:, 0])
    assert robot.model.body(PAYLOAD).mass == 0.0


def test_payload_equals_a_model_that_is_compiled_with_it() -> None:
    robot = build_robot(short(GO1_EXAM, 0.2))
    exam, model = robot.exam, robot.model
    readings = listened(robot, "N", range(1), lean=0.0)
    state, _ = hang(robot)
    plan, payload = draw_payloads(exam, range(1)), exam.payload
    assert payload is not None
    mass, (x, y, z) = plan.masses[0, 0], np.square(payload.half_size)
    loaded, body = copy.copy(model), model.body(PAYLOAD).id
    loaded.body_mass[body] = mass
    # A solid box with half sizes a, b, c: m (b^2 + c^2) / 3 about its first axis.
    loaded.body_inertia[body] = mass / 3.0 * np.array((y + z, x + z, x + y))
    loaded.body_pos[body] = payload.centre
    loaded.body_pos[body][:2] += plan.offsets[0, 0]
    data = mujoco.MjData(loaded)
    mujoco.mj_setConst(loaded, data)
    mujoco.mj_setState(loaded, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    for reading in readings:
        # Feet land in the fourth control step.
        np.testing.assert_allclose(
            reading.joint_vel[0], data.qvel[6:], rtol=1e-6, atol=1e-6
        )
        for _ in range(10):
            error = robot.stance - data.qpos[robot.qpos]
            data.ctrl[:] = GAINS[0] * error - GAINS[1] * data.qvel[robot.qvel]
            mujoco.mj_step(loaded, data)


def test_touchdowns_count_between_two_loads() -> None:
    meter, on = FootMeter((1, 1), (30.0, 10.0)), np.array([True])
    # Touchdown at 31 N with the speed of the step before; lift-off below 10 N.
    forces = (0.0, 20.0, 31.0, 90.0, 20.0, 31.0, 9.0, 0.0, 40.0)
    speeds = (0.1, 0.5, 0.7, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4)
    for force, speed in zip(forces, speeds, strict=True):
        meter.update(np.array([[force]]), np.array([[speed]]), on)
    assert meter.touchdown_speed()[0] == pytest.approx((0.5 + 0.3) / 2)
    assert meter.peak_force()[0] == pytest.approx(90.0)
    assert meter.down[0, 0]
