"""Writers that take world indices, against the same rows written by hand."""

import mujoco
import pytest
import torch

from mjlab.actuator import PositionActuatorCfg
from mjlab.entity import ArticulationCfg, Entity, EntityCfg
from mjlab.random import WorldRng
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg

ARM = """
<mujoco><worldbody><body name="base" pos="0 0 1">
  <freejoint/><geom type="box" size=".1 .1 .1" pos=".2 0 0" mass="1"/>
  <body name="link"><joint name="a" axis="0 1 0"/><geom size=".1" mass="1"/>
  <body name="tip" pos="0 0 .3"><joint name="b" axis="1 0 0"/><geom size=".1" mass="1"/>
  </body></body>
</body></worldbody></mujoco>
"""
IDS = torch.tensor([3, 1])
OTHERS = [0, 2]


@pytest.fixture
def robot() -> Entity:
    motors = (
        PositionActuatorCfg(target_names_expr=(".*",), stiffness=1.0, damping=0.1),
    )
    entity = EntityCfg(
        source=lambda: mujoco.MjSpec.from_string(ARM),
        articulation=ArticulationCfg(actuators=motors),
    )
    cfg = SceneCfg(num_envs=4, entities={"robot": entity})
    built = build_scene(cfg)
    sim = Simulation(built.spec.compile(), 4, SimulationCfg(), device="cpu")
    scene = Scene(cfg, built, sim, WorldRng(4, 0, sim.device))
    scene.entity("robot").reset_to_default(torch.ones(4, dtype=torch.bool))
    return scene.entity("robot")


def test_row_is_written_to_the_world_of_its_index(robot: Entity) -> None:
    before = robot.data.sim.data.qpos.clone()
    pose = torch.tensor([[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]] * 2)
    pose[1, 0] = 7.0
    robot.write_root_link_pose_to_sim(pose, env_ids=IDS)
    qpos = robot.data.sim.data.qpos
    assert qpos[3, 0] == 1.0 and qpos[1, 0] == 7.0
    assert torch.equal(qpos[OTHERS], before[OTHERS])


def test_joint_ids_choose_columns(robot: Entity) -> None:
    pos = torch.tensor([[0.3], [0.5]])
    robot.write_joint_state_to_sim(pos, 2.0 * pos, [1], IDS)
    assert robot.data.joint_pos[:, 0].tolist() == [0.0] * 4
    assert robot.data.joint_pos[:, 1].tolist() == pytest.approx([0, 0.5, 0, 0.3])
    assert robot.data.joint_vel[:, 1].tolist() == pytest.approx([0, 1.0, 0, 0.6])


def test_without_indices_every_world_is_written(robot: Entity) -> None:
    robot.set_joint_position_target(torch.arange(8.0).view(4, 2))
    assert robot.data.targets.joint_pos.flatten().tolist() == list(range(8))
    robot.set_joint_effort_target(torch.ones(2, 1), torch.tensor([0]), slice(2, 4))
    assert robot.data.targets.joint_effort.tolist() == [[0, 0]] * 2 + [[1, 0]] * 2
    robot.clear_state(IDS)
    assert not robot.data.targets.joint_effort[3].any()
    assert robot.data.targets.joint_effort[2].tolist() == [1, 0]


def test_velocity_of_the_centre_of_mass_is_that_of_mujoco(robot: Entity) -> None:
    """The oracle is `mj_objectVelocity` of the body's inertial frame."""
    wanted = torch.tensor([[0.1, -0.2, 0.3, 0.5, -0.7, 0.9]])
    robot.write_root_com_velocity_to_sim(wanted, torch.tensor([2]))
    model = robot.data.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = robot.data.sim.data.qpos[2].numpy()
    data.qvel[:] = robot.data.sim.data.qvel[2].numpy()
    mujoco.mj_forward(model, data)
    twist = torch.zeros(6, dtype=torch.float64).numpy()
    body = model.body("robot/base").id
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, twist, 0)
    assert [*twist[3:], *twist[:3]] == pytest.approx(wanted[0].tolist(), abs=1e-6)


def test_a_wrench_reaches_the_named_bodies(robot: Entity) -> None:
    force, torque = torch.ones(2, 1, 3), torch.full((2, 1, 3), 2.0)
    robot.write_external_wrench_to_sim(force, torque, IDS, [2])
    applied = robot.data.sim.data.xfrc_applied
    tip = robot.data.sim.mj_model.body("robot/tip").id
    assert applied[IDS, tip].tolist() == [[1, 1, 1, 2, 2, 2]] * 2
    assert not applied[OTHERS].any() and applied.count_nonzero() == 12
