"""Sensors made of several MuJoCo sensors: IMU, frame transformer, joint wrenches."""

from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.names import UnknownNameError
from mjlab.sensor import (
    FrameCfg,
    FrameTransformerCfg,
    ImuCfg,
    JointWrenchSensorCfg,
    ObjRef,
    OffsetCfg,
    Sensor,
    SensorCfg,
    SensorError,
    bind_sensors,
)
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model

GRAVITY = 9.81

# A wheel that turns about z, and a double pendulum that hangs from the ceiling.
MACHINE = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="wheel" pos="1 2 3">
      <joint name="spin" axis="0 0 1"/>
      <geom type="cylinder" size=".5 .1" mass="1"/>
      <site name="rim" pos=".5 0 0"/>
    </body>
    <body name="upper" pos="0 0 2">
      <joint name="shoulder" axis="0 1 0" pos="0 0 .1"/>
      <geom type="sphere" size=".05" mass="2" pos="0 0 -.3"/>
      <body name="fore" pos="0 0 -.6">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="sphere" size=".05" mass="3" pos=".2 0 -.1"/>
        <body name="tool" pos="0 .1 -.4"><geom type="sphere" size=".01" mass=".5"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
FREE = """
<mujoco><worldbody>
  <body name="ball"><freejoint/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>
"""
ENGINES = ["native", pytest.param("warp", marks=pytest.mark.slow)]


def build(
    *cfgs: SensorCfg,
    num_envs: int = 2,
    backend: str = "native",
    robot: str = MACHINE,
) -> tuple[Simulation, dict[str, Sensor]]:
    spec = mujoco.MjSpec()
    frame = spec.worldbody.add_frame()
    spec.attach(mujoco.MjSpec.from_string(robot), prefix="a/", frame=frame)
    for cfg in cfgs:
        cfg.edit_spec(spec)
    sim_cfg = SimulationCfg(
        backend=backend,  # type: ignore[arg-type]
        mujoco=MujocoCfg(gravity=(0.0, 0.0, -GRAVITY)),
        nconmax=4,
        njmax=4,
    )
    sim = Simulation(compile_model(spec, sim_cfg), num_envs, sim_cfg, device="cpu")
    return sim, bind_sensors(cfgs, sim)


def ref(name: str, kind: str = "body") -> ObjRef:
    return ObjRef(type=kind, name=name, entity="a")  # type: ignore[arg-type]


def turn(*angles: float) -> np.ndarray:
    """Matrix of a turn about x, then y, then z of the parent."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def quat(matrix: np.ndarray) -> np.ndarray:
    """Quaternion wxyz of a rotation, by MuJoCo C."""
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, matrix.flatten())
    return found


def close(found: torch.Tensor, expected: Any, atol: float = 1e-5) -> None:
    np.testing.assert_allclose(found.numpy(), expected, atol=atol)


# --- IMU ------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ENGINES)
def test_an_imu_on_a_wheel_reads_what_circular_motion_gives(backend: str):
    # Turned by 90 degrees about z in the wheel: its x axis is the direction of motion.
    turned = (0.5**0.5, 0.0, 0.0, 0.5**0.5)
    offset = OffsetCfg(pos=(0.5, 0.0, 0.0), rot=turned)
    sim, sensors = build(
        ImuCfg(name="imu", frame=ref("wheel"), offset=offset), backend=backend
    )
    speed = torch.tensor([2.0, -3.0])
    sim.data.qvel[:, 0] = speed
    sim.data.qfrc_applied[:, 0] = 0.25
    sim.forward()
    data, omega = sensors["imu"].data, speed.numpy()
    # Inertia of the cylinder about its axis: m r^2 / 2.
    acceleration = 0.25 / (0.5 * 1.0 * 0.5**2)
    zero = np.zeros(2)
    close(data.pos_w, [[1.5, 2.0, 3.0]] * 2)
    close(data.quat_w.abs(), [turned] * 2)
    close(data.lin_vel_b, np.stack((0.5 * omega, zero, zero), axis=1))
    close(data.ang_vel_b, np.stack((zero, zero, omega), axis=1))
    along, inward = np.full(2, 0.5 * acceleration), 0.5 * omega**2
    close(data.lin_acc_b, np.stack((along, inward, zero + GRAVITY), axis=1), 1e-4)
    close(data.ang_acc_b, [[0.0, 0.0, acceleration]] * 2, 1e-4)
    close(data.projected_gravity_b, [[0.0, 0.0, -1.0]] * 2)


def test_imu_in_free_fall_measures_zero_acceleration():
    sim, sensors = build(ImuCfg(name="imu", frame=ref("ball")), robot=FREE)
    tilt = turn(0.3, -0.5, 1.0)
    sim.data.qpos[:, 3:7] = torch.tensor(quat(tilt))
    sim.forward()
    data = sensors["imu"].data
    close(data.lin_acc_b, np.zeros((2, 3)), 1e-4)
    close(data.projected_gravity_b, [tilt.T @ [0.0, 0.0, -1.0]] * 2)


def test_an_imu_on_a_site_adds_no_site_and_shares_its_parts():
    sim, sensors = build(ImuCfg(name="imu", frame=ref("rim", "site")))
    assert sim.mj_model.nsite == 1
    assert sensors["imu_ang_vel_b"].data.shape == (2, 3)


# --- Frame transformer ----------------------------------------------------------------


@pytest.mark.parametrize("backend", ENGINES)
def test_target_poses_are_those_of_trigonometry(backend: str):
    tilt = turn(0.4, 0.1, -0.7)
    offset = OffsetCfg(pos=(0.1, -0.2, 0.3), rot=tuple(quat(tilt).tolist()))
    cfg = FrameTransformerCfg(
        name="hands",
        source_frame=ref("upper"),
        source_frame_offset=offset,
        target_frames=(
            FrameCfg(frame=ref("rim", "site")),
            FrameCfg(frame=ref("fore"), name="grip", offset=offset),
        ),
    )
    sim, sensors = build(cfg, backend=backend)
    sim.data.qpos[0] = torch.tensor([0.5, 0.2, -1.0])
    sim.data.qpos[1] = torch.tensor([-1.5, 0.9, 0.4])
    sim.forward()
    data = sensors["hands"].data
    assert data.target_frame_names == ("rim", "grip")
    for world in range(2):
        spin, shoulder, elbow = sim.data.qpos[world].double().numpy()
        # The upper arm turns about a point 0.1 above its origin.
        upper, above = turn(0.0, shoulder, 0.0), np.array([0.0, 0.0, 0.1])
        upper_pos = np.array([0.0, 0.0, 2.0]) + above - upper @ above
        fore = upper @ turn(0.0, elbow, 0.0)
        fore_pos = upper_pos + upper @ [0.0, 0.0, -0.6]
        source, source_pos = upper @ tilt, upper_pos + upper @ offset.pos
        wheel = turn(0.0, 0.0, spin)
        targets = (
            (wheel, np.array([1.0, 2.0, 3.0]) + wheel @ [0.5, 0.0, 0.0]),
            (fore @ tilt, fore_pos + fore @ offset.pos),
        )
        close(data.source_pos_w[world], source_pos)
        same(data.source_quat_w[world], source)
        for index, (rotation, position) in enumerate(targets):
            close(data.target_pos_w[world, index], position)
            same(data.target_quat_w[world, index], rotation)
            seen = source.T @ (position - source_pos)
            close(data.target_pos_source[world, index], seen)
            same(data.target_quat_source[world, index], source.T @ rotation)


def same(found: torch.Tensor, rotation: np.ndarray) -> None:
    """Fails unless a quaternion wxyz is a rotation, with either sign."""
    expected = quat(rotation)
    close(found * float(np.sign(found.numpy() @ expected)), expected)


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ((), "target_frames is empty"),
        ((FrameCfg(frame=ref("fore")),) * 2, "target_frames contains 'fore' twice"),
        (
            (FrameCfg(frame=ref("rim", "site"), offset=OffsetCfg(pos=(1, 0, 0))),),
            "'a/rim' is a site; it has to be a body, or a site without an offset",
        ),
    ],
)
def test_invalid_target_frames_are_refused(frames, message: str):
    cfg = FrameTransformerCfg(name="t", source_frame=ref("upper"), target_frames=frames)
    with pytest.raises(SensorError, match=message):
        build(cfg)


# --- Joint wrenches -------------------------------------------------------------------


@pytest.mark.parametrize("backend", ENGINES)
def test_joints_at_rest_carry_the_weight_of_what_hangs_on_them(backend: str):
    sim, sensors = build(JointWrenchSensorCfg(name="w", entity="a"), backend=backend)
    # Motors hold the machine: with the bias force applied, nothing accelerates.
    sim.data.qpos[0] = torch.tensor([0.0, 0.0, 0.0])
    sim.data.qpos[1] = torch.tensor([0.0, 0.5, 0.7])
    sim.forward()
    sim.data.qfrc_applied[:] = sim.data.qfrc_bias
    sim.forward()
    data = sensors["w"].data
    assert data.body_names == ("wheel", "upper", "fore")
    close(data.force[:, 0], [[0.0, 0.0, 1.0 * GRAVITY]] * 2, 1e-4)
    for world, (shoulder, elbow) in enumerate(((0.0, 0.0), (0.5, 0.7))):
        upper = turn(0.0, shoulder, 0.0)
        fore = upper @ turn(0.0, elbow, 0.0)
        # Mass and centre of each part, from the elbow, in the axes of the forearm.
        parts = ((3.0, [0.2, 0.0, -0.1]), (0.5, [0.0, 0.1, -0.4]))
        up = fore.T @ [0.0, 0.0, GRAVITY]
        close(data.force[world, 2], 3.5 * up, 1e-4)
        moment = sum(np.cross(centre, mass * up) for mass, centre in parts)
        close(data.torque[world, 2], moment, 1e-4)
        close(data.force[world, 1], 5.5 * upper.T @ [0.0, 0.0, GRAVITY], 1e-4)


def test_a_fixed_tool_is_weighed_by_name():
    cfg = JointWrenchSensorCfg(name="w", entity="a", body_names="tool")
    sim, sensors = build(cfg)
    sim.forward()
    sim.data.qfrc_applied[:] = sim.data.qfrc_bias
    sim.forward()
    close(sensors["w"].data.force, [[[0.0, 0.0, 0.5 * GRAVITY]]] * 2, 1e-4)


def test_bodies_without_a_parent_joint_are_refused():
    with pytest.raises(UnknownNameError, match="no body of 'a' has a hinge"):
        build(JointWrenchSensorCfg(name="w", entity="a"), robot=FREE)
    with pytest.raises(UnknownNameError, match=r"body with a parent .*'shin'"):
        build(JointWrenchSensorCfg(name="w", entity="a", body_names="shin"))
