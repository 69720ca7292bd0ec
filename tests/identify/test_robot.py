"""The reduced robot moves like the scene of its task."""

import mujoco
import numpy as np
import pytest

from mjlab.actuator import IdealPdActuatorCfg
from mjlab.envs.build import load
from mjlab.identify import IdentifyError, Robot
from mjlab.names import UnknownNameError
from mjlab.registry import load_task
from mjlab.scene.build import KEYFRAME
from mjlab.sim.compile import apply_options


def swing(model: mujoco.MjModel, qpos: np.ndarray, joints: list[str], steps=200):
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    found = []
    for step in range(steps):
        for index, joint in enumerate(joints):
            place = model.joint(joint).qposadr[0]
            wave = 0.2 * np.sin(0.05 * step + index)
            data.ctrl[model.actuator(joint).id] = qpos[place] + wave
        mujoco.mj_step(model, data)
        found.append([data.qpos[model.joint(joint).qposadr[0]] for joint in joints])
    return np.array(found)


def test_the_arm_moves_as_in_its_scene_without_contacts():
    cfg = load_task("Reach-Yam").env()
    loaded = load(cfg)
    spec = loaded.built.spec
    apply_options(spec, cfg.sim.mujoco)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    whole = spec.compile()
    robot = Robot.of(cfg)
    names = [f"robot/joint{i}" for i in range(1, 7)]
    expected = swing(whole, whole.key(KEYFRAME).qpos, names)
    assert np.ptp(expected, axis=0).min() > 0.05
    assert np.allclose(swing(robot.model, robot.qpos, names), expected, atol=1e-6)


def test_a_legged_robot_hangs_in_its_initial_pose_with_one_leg():
    robot = Robot.of(load_task("Velocity-Go1-Flat").env(), joints=("FR_.*",))
    assert robot.joints == ("FR_hip_joint", "FR_thigh_joint", "FR_calf_joint")
    assert (robot.model.nv, robot.model.nu, robot.model.ngeom) == (3, 3, 0)
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.qpos
    mujoco.mj_forward(robot.model, data)
    whole = load(load_task("Velocity-Go1-Flat").env()).model
    there = mujoco.MjData(whole)
    mujoco.mj_resetDataKeyframe(whole, there, whole.key(KEYFRAME).id)
    mujoco.mj_forward(whole, there)
    for body in ("robot/trunk", "robot/FR_hip", "robot/FR_calf"):
        assert np.allclose(data.body(body).xpos, there.body(body).xpos, atol=1e-9)
        assert np.allclose(data.body(body).xquat, there.body(body).xquat, atol=1e-9)
    columns = [whole.joint(f"robot/{joint}").dofadr[0] for joint in robot.joints]
    assert np.allclose(data.qfrc_bias, there.qfrc_bias[columns], atol=1e-6)


def test_a_coupling_is_kept_only_if_both_joints_move():
    cfg = load_task("Reach-Yam").env()
    both = Robot.of(cfg, joints=(".*_finger",))
    assert (both.model.neq, both.model.nv, both.model.nu) == (1, 2, 1)
    one = Robot.of(cfg, joints=("left_finger",))
    assert (one.model.neq, one.model.nv, one.model.nu) == (0, 1, 1)


def test_an_explicit_pd_law_becomes_a_servo_of_mujoco():
    cfg = load_task("Reach-Yam").env()
    articulation = cfg.scene.entities["robot"].articulation
    articulation.actuators = (
        IdealPdActuatorCfg(
            target_names_expr=("joint1",),
            stiffness=20.0,
            damping=3.0,
            effort_limit=7.0,
        ),
    )
    robot = Robot.of(cfg, joints=("joint1",))
    actuator = robot.model.actuator("robot/joint1")
    assert actuator.gainprm[0] == 20.0
    assert actuator.biasprm[:3].tolist() == [0.0, -20.0, -3.0]
    assert actuator.forcerange.tolist() == [-7.0, 7.0]
    assert robot.motors[0].command == "position"


def test_unknown_joints_and_targets_without_a_motor_are_refused(shoulder):
    cfg = load_task("Reach-Yam").env()
    with pytest.raises(UnknownNameError, match="joint9"):
        Robot.of(cfg, joints=("joint9",))
    with pytest.raises(IdentifyError, match="'joint9' has a target, but no motor"):
        shoulder.controls({"joint9": np.zeros(3)}, 3)
    with pytest.raises(IdentifyError, match=r"actuators: robot\. 'table' is none"):
        Robot.of(cfg, "table")
