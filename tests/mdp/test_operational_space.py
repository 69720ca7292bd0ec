"""Operational-space control, against MuJoCo's matrices, numpy and a damped spring."""

from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.actuator import MotorActuatorCfg
from mjlab.entity import ArticulationCfg, InitialStateCfg
from mjlab.managers.action import ActionManager
from mjlab.managers.term import TermError
from mjlab.mdp.operational_space import OperationalSpaceActionCfg
from tests.mdp.test_differential_ik import ARM, CHAIN, START, mujoco_jacobian
from tests.worlds.physics_env import DECIMATION, PhysicsEnv, from_xml

WORLDS = 3

# Three joints without friction, which move the tip in all directions.
SMOOTH = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0" size=".04" mass="1"/></default>
  <worldbody>
    <body name="base"><geom/>
      <body name="turret" pos="0 0 .2"><joint name="j1" axis="0 0 1"/><geom/>
        <body name="upper"><joint name="j2" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
          <body name="fore" pos=".3 0 0"><joint name="j3" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 .25 0 0" size=".03"/>
            <site name="tip" pos=".25 0 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def make_env(
    xml: str = ARM,
    start: dict[str, float] = START,
    num_envs: int = WORLDS,
    **fields: Any,
) -> Any:
    """An arm with motors and one operational-space term, at rest in another pose."""
    motors = MotorActuatorCfg(target_names_expr=(".*",))
    arm = from_xml(
        xml,
        articulation=ArticulationCfg(actuators=(motors,)),
        init_state=InitialStateCfg(joint_pos=dict(start)),
    )
    env: Any = PhysicsEnv({"robot": arm}, num_envs)
    cfg = OperationalSpaceActionCfg(
        **({"frame_type": "site", "frame_name": "tip"} | fields)
    )
    env.action_manager = ActionManager({"osc": cfg}, env)
    robot = env.scene.entity("robot")
    count = robot.data.joint_pos.shape[1]
    spread = torch.linspace(-0.05, 0.05, WORLDS * count).view(WORLDS, count)[:num_envs]
    robot.write_joint_pos(env.everyone, robot.data.default_joint_pos + spread)
    env.forward()
    return env


def full_inertia(env: Any, world: int) -> tuple[np.ndarray, np.ndarray]:
    """Inertia matrix and bias forces of the chain's joints, by MuJoCo C."""
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = env.sim.data.qpos[world].numpy()
    data.qvel[:] = env.sim.data.qvel[world].numpy()
    data.mocap_pos[:] = env.sim.data.mocap_pos[world].numpy()
    data.mocap_quat[:] = env.sim.data.mocap_quat[world].numpy()
    mujoco.mj_forward(model, data)
    # Inverse dynamics of unit accelerations, without bias forces.
    columns = []
    for dof in range(model.nv):
        found, unit = np.zeros(model.nv), np.zeros(model.nv)
        unit[dof] = 1.0
        mujoco.mj_mulM(model, data, found, unit)
        columns.append(found)
    dofs = [int(model.joint(f"robot/{joint}").dofadr[0]) for joint in CHAIN]
    return np.array(columns)[np.ix_(dofs, dofs)], data.qfrc_bias[dofs]


@pytest.mark.parametrize("is_decoupled", [True, False])
@pytest.mark.parametrize("compensates", [True, False])
def test_efforts_are_those_of_numpy_with_mujocos_matrices(
    is_decoupled: bool, compensates: bool
) -> None:
    stiffness = (50.0, 60.0, 70.0, 20.0, 25.0, 30.0)
    env = make_env(
        motion_stiffness_task=stiffness,
        motion_damping_ratio_task=0.7,
        inertial_dynamics_decoupling=is_decoupled,
        gravity_compensation=compensates,
        nullspace_stiffness=8.0 if is_decoupled else 0.0,
        nullspace_damping_ratio=0.5,
        posture={"j2": 0.2},
        command_frame="world",
    )
    generator = torch.Generator().manual_seed(4)
    robot = env.scene.entity("robot")
    velocity = torch.randn(WORLDS, 8, generator=generator) * 0.5
    robot.write_joint_vel(env.everyone, velocity)
    env.forward()
    action = torch.randn(WORLDS, 6, generator=generator) * 0.1
    env.action_manager.process_action(action)
    env.action_manager.apply_action()
    found = robot.data.targets.joint_effort[:, :7]
    kp = np.array(stiffness)
    kd = 2.0 * 0.7 * np.sqrt(kp)
    for world in range(WORLDS):
        jacobian = mujoco_jacobian(env, world, "site", "tip")
        inertia, bias = full_inertia(env, world)
        joint_vel = velocity[world, :7].double().numpy()
        pull = kp * action[world].double().numpy() - kd * (jacobian @ joint_vel)
        if is_decoupled:
            position = robot.data.joint_pos[world, :7].double().numpy()
            posture = np.array([{**START, "j2": 0.2}.get(j, 0.0) for j in CHAIN])
            own = 8.0 * (posture - position) - 2.0 * 0.5 * np.sqrt(8.0) * joint_vel
            mobility = jacobian @ np.linalg.solve(inertia, jacobian.T)
            weight = np.linalg.inv(mobility + 1e-6 * np.eye(6))
            project = np.eye(7) - jacobian.T @ weight @ jacobian @ np.linalg.inv(
                inertia
            )
            expected = jacobian.T @ weight @ pull + project @ inertia @ own
        else:
            expected = jacobian.T @ pull
        expected = expected + compensates * bias
        np.testing.assert_allclose(found[world].numpy(), expected, rtol=1e-3, atol=1e-3)


def test_the_frame_moves_like_a_critically_damped_spring() -> None:
    env = make_env(
        SMOOTH,
        {"j2": -0.6, "j3": 1.3},
        command_type="position",
        use_relative_mode=False,
        command_frame="world",
    )
    term = env.action_manager.term("osc")
    begin = term.frame.pos_w.clone()
    away = torch.tensor([0.04, -0.05, 0.06])
    error = away.numpy()
    for step in range(1, 26):
        env.step(begin + away)
        phase = 10.0 * step * DECIMATION * env.physics_dt
        left = (1.0 + phase) * np.exp(-phase) * away.numpy()
        error = (begin + away - term.frame.pos_w).numpy()
        # The efforts of a physics step are those of the pose one step earlier.
        np.testing.assert_allclose(error, np.tile(left, (WORLDS, 1)), atol=3e-3)
    assert np.abs(error).max() < 3e-3


def test_joints_move_to_the_posture_while_the_frame_stays() -> None:
    env = make_env(
        command_type="position",
        use_relative_mode=False,
        command_frame="world",
        nullspace_stiffness=20.0,
        posture={"j1": 0.4},
        motion_stiffness_task=400.0,
    )
    begin = env.action_manager.term("osc").frame.pos_w.clone()
    before = env.scene.entity("robot").data.joint_pos[:, 0].clone()
    for _ in range(100):
        env.step(begin)
    found = env.action_manager.term("osc").frame.pos_w
    torch.testing.assert_close(found, begin, rtol=0.0, atol=5e-3)
    now = env.scene.entity("robot").data.joint_pos[:, 0]
    assert (now - before > 0.08).all()


def test_worlds_do_not_depend_on_the_number_of_worlds() -> None:
    efforts = []
    for num_envs in (1, WORLDS):
        env = make_env(num_envs=num_envs)
        for _ in range(3):
            env.step(torch.full((num_envs, 6), 0.02))
        efforts.append(env.scene.entity("robot").data.targets.joint_effort[:1].clone())
    assert torch.equal(*efforts)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"motion_stiffness_task": (1.0, 2.0)}, "one number >= 0, or 6 numbers"),
        ({"motion_damping_ratio_task": -1.0}, "motion_damping_ratio_task is -1.0"),
        ({"joint_names": ("j1", "j2")}, "2 joints cannot move the site 'tip' in 6"),
        (
            {"nullspace_stiffness": 1.0, "inertial_dynamics_decoupling": False},
            "nullspace_stiffness is 1.0; it needs inertial_dynamics_decoupling",
        ),
        ({"singularity_damping": 0.0}, "singularity_damping is 0.0"),
        ({"command_frame": "tool"}, "command_frame is 'tool'"),
    ],
)
def test_invalid_term_is_an_error_when_it_is_built(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(TermError, match=message):
        make_env(**fields)
