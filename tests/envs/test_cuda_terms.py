"""Actions and sensors that no task uses, on the CUDA stand-in."""

from collections.abc import Iterator

import pytest
import torch

from mjlab.actuator import MotorActuatorCfg
from mjlab.entity import ArticulationCfg
from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.managers import ObservationTermCfg
from mjlab.managers.managed_env import ManagedEnv
from mjlab.sensor import (
    FrameCfg,
    FrameTransformerCfg,
    ImuCfg,
    JointWrenchSensorCfg,
    ObjRef,
)
from mjlab.tasks.robots.yam import ARM_JOINTS, GRASP_SITE
from mjlab.tensors.buffers import DelayCfg
from tests.envs.test_cuda_rehearsal import NUM_ENVS, compare
from tests.tools.cuda_stand_in import StandIn, StandInError, stand_in
from tests.tools.cuda_twins import build, config


@pytest.fixture
def device() -> Iterator[StandIn]:
    """Record of the device; skips if torch cannot be patched."""
    try:
        with stand_in() as device:
            yield device
    except StandInError as error:
        pytest.skip(f"no CUDA device can be stood in for: {error}")


def readings(env: ManagedEnv) -> torch.Tensor:
    """All readings of the IMU, the frame transformer and the joint wrenches."""
    imu, frames, wrench = (
        env.scene.sensor(name).data for name in ("unit", "frames", "wrench")
    )
    parts = (
        *(imu.pos_w, imu.quat_w, imu.lin_vel_b, imu.ang_vel_b),
        *(imu.lin_acc_b, imu.ang_acc_b, imu.projected_gravity_b),
        *(frames.source_pos_w, frames.source_quat_w),
        *(frames.target_pos_w, frames.target_quat_w),
        *(frames.target_pos_source, frames.target_quat_source),
        *(wrench.force, wrench.torque),
    )
    return torch.cat([part.flatten(1) for part in parts], dim=1)


def reach() -> ManagerBasedRlEnvCfg:
    cfg = config("Reach-Yam", NUM_ENVS)
    site = ObjRef(type="site", name=GRASP_SITE, entity="robot")
    base = ObjRef(type="body", name="arm", entity="robot")
    cfg.scene.sensors += (
        ImuCfg(name="unit", frame=site),
        FrameTransformerCfg(
            name="frames", source_frame=base, target_frames=(FrameCfg(frame=site),)
        ),
        JointWrenchSensorCfg(name="wrench", entity="robot"),
    )
    actor = cfg.observations["actor"]
    assert actor is not None
    late = DelayCfg(max_lag=3, hold_prob=0.5, per_world=False)
    actor.terms["readings"] = ObservationTermCfg(func=readings, delay=late)
    return cfg


def with_average() -> ManagerBasedRlEnvCfg:
    cfg = reach()
    cfg.actions = {
        "arm": mdp.EMAJointPositionToLimitsActionCfg(joint_names=ARM_JOINTS, alpha=0.3)
    }
    return cfg


def with_efforts() -> ManagerBasedRlEnvCfg:
    cfg = reach()
    motors = MotorActuatorCfg(target_names_expr=ARM_JOINTS)
    cfg.scene.entities["robot"].articulation = ArticulationCfg(actuators=(motors,))
    cfg.actions = {
        "arm": mdp.OperationalSpaceActionCfg(
            joint_names=ARM_JOINTS,
            frame_type="site",
            frame_name=GRASP_SITE,
            position_scale=0.02,
            rotation_scale=0.02,
        )
    }
    return cfg


@pytest.mark.slow
@pytest.mark.parametrize("make", [with_average, with_efforts])
def test_replays_equal_eager_steps(make, device: StandIn) -> None:
    fused, eager = build(make(), "fused"), build(make(), "segmented")
    assert fused.mode == "fused"
    compare(device, fused, eager)
    fused.close()
    eager.close()
