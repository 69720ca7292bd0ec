"""Action terms and sensors of the library in exported policies."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mjlab.actuator import MotorActuatorCfg
from mjlab.entity import ArticulationCfg
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.export import ExportError, OnnxPolicy
from mjlab.export.trace import Tracer
from mjlab.export.write import nominal
from mjlab.managers import ObservationTermCfg
from mjlab.rl import GaussianCfg, MlpModelCfg
from mjlab.sensor import ImuCfg, ObjRef
from mjlab.tasks.manipulation import ReachYamCfg
from mjlab.tasks.robots.yam import ARM_JOINTS, GRASP_SITE
from mjlab.tasks.velocity import VelocityGo1FlatCfg
from tests.worlds.export_runs import errors, record, write
from tests.worlds.rl_runs import agent_cfg


@pytest.mark.slow
def test_an_exported_policy_averages_its_targets_as_in_training(tmp_path):
    cfg = VelocityGo1FlatCfg(seed=3, episode_length_s=0.6)
    actor_group = cfg.observations["actor"]
    assert actor_group is not None
    actor_group.enable_corruption = False
    cfg.actions = {
        "legs": mdp.EMAJointPositionToLimitsActionCfg(
            alpha={".*_hip_joint": 0.2, ".*_calf_joint": 0.6}, scale=0.3
        )
    }
    actor = MlpModelCfg(hidden_dims=(16, 8), distribution_cfg=GaussianCfg())
    agent = agent_cfg(1, actor=actor)
    checkpoint, exported = write(tmp_path, cfg, agent)
    file = OnnxPolicy(exported.path)
    moments = record(checkpoint, cfg, agent, file.contract, entity="robot", steps=80)
    assert sum(moment.ends.sum() for moment in moments) >= 4
    assert max(errors(file, moments)) < 1e-5
    # Without the reset of the average, the first targets of an episode differ.
    running = [replace(m, begins=np.array([n == 0] * 2)) for n, m in enumerate(moments)]
    assert errors(file, running)[1] > 1e-3
    assert file.contract["actions"][0]["kind"] == "EMAJointPositionToLimitsActionCfg"


def test_operational_space_control_is_refused_because_it_needs_the_frame():
    cfg = ReachYamCfg(seed=0)
    robot = cfg.scene.entities["robot"]
    robot.articulation = ArticulationCfg(
        actuators=(MotorActuatorCfg(target_names_expr=ARM_JOINTS),)
    )
    cfg.actions = {
        "arm": mdp.OperationalSpaceActionCfg(
            joint_names=ARM_JOINTS, frame_type="site", frame_name=GRASP_SITE
        )
    }
    env = ManagerBasedRlEnv(nominal(cfg), device="cpu")
    env.reset(seed=0)
    tracer = Tracer(env, ("actor",))
    values = tracer.read() | tracer.reset()
    values |= {"zero": torch.zeros(()), "action": torch.zeros(1, 6)}
    said = r"^Action term 'arm' cannot be exported: .* reads sim\.data\.\w+"
    with pytest.raises(ExportError, match=said):
        tracer.act(values)


def test_the_parts_of_an_imu_are_inputs_with_their_units():
    cfg = VelocityGo1FlatCfg(seed=1)
    site = ObjRef(type="site", name="imu", entity="robot")
    cfg.scene.sensors += (ImuCfg(name="unit", frame=site),)
    actor = cfg.observations["actor"]
    assert actor is not None
    actor.terms = {
        part: ObservationTermCfg(
            func=mdp.builtin_sensor, params={"sensor_name": f"unit_{part}"}
        )
        for part in ("ang_vel_b", "lin_acc_b")
    }
    env = ManagerBasedRlEnv(nominal(cfg), device="cpu")
    env.reset(seed=0)
    tracer = Tracer(env, ("actor",))
    values = tracer.read() | tracer.reset() | {"zero": torch.zeros(())}
    values["unit_ang_vel_b"] = torch.tensor([[1.0, 2.0, 3.0]])
    values["unit_lin_acc_b"] = torch.tensor([[4.0, 5.0, 6.0]])
    assert tracer.observe(values)["actor"].tolist() == [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
    quantities = [tracer.leaves[f"unit_{part}"].quantity for part in actor.terms]
    assert [each.unit for each in quantities] == ["rad/s", "m/s^2"]
    assert [each.frame for each in quantities] == ["robot/imu", "robot/imu"]
