"""Entities at run time, compared with MuJoCo C and hand arithmetic."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from mjlab.actuator import PositionActuatorCfg, XmlActuatorCfg
from mjlab.entity import (
    ArticulationCfg,
    Entity,
    EntityCfg,
    EntityData,
    FixedBaseError,
    InitialStateCfg,
    build_entity,
)
from mjlab.entity.data import quantity
from mjlab.random import WorldRng
from mjlab.sim import Simulation, SimulationCfg
from mjlab.spec import (
    add_keyframe,
    attach_spec,
    merge_keyframes,
    take_keyframes,
)

WORLDS = 3

# Hinge, slide and ball joints in an order that separates the scalar ones, off-centre
# masses, a rotated site and geom, a spatial and a fixed tendon.
ROBOT = """
<mujoco model="robot">
  <compiler angle="radian"/>
  <worldbody>
    <body name="trunk" pos="0 0 .8">
      <freejoint/>
      <inertial pos=".05 .02 -.03" mass="4" diaginertia=".1 .2 .3"
        quat=".9 .1 .2 .3"/>
      <geom name="trunk" type="box" size=".2 .1 .1" quat=".8 .3 .4 .1" pos=".1 0 0"/>
      <site name="imu" pos=".1 .05 0" quat=".7 .1 .5 .2"/>
      <body name="arm" pos=".2 0 0">
        <joint name="shoulder" axis="0 1 0" range="-1 2"/>
        <geom name="arm" type="capsule" size=".03" fromto="0 0 0 .3 .1 0"/>
        <body name="hand" pos=".3 .1 0">
          <joint name="wrist" type="ball"/>
          <geom name="hand" type="box" size=".05 .03 .02" pos=".05 0 0"/>
          <body name="finger" pos=".1 0 0">
            <joint name="grip" type="slide" axis="0 0 1"/>
            <geom name="finger" type="capsule" size=".01" fromto="0 0 0 .1 0 0"/>
            <site name="tip" pos=".1 0 .02" quat=".8 .3 .2 .5"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="mix"><joint joint="shoulder" coef="2"/><joint joint="grip" coef="3"/>
    </fixed>
    <spatial name="string"><site site="imu"/><site site="tip"/></spatial>
  </tendon>
  <actuator>
    <motor name="twist" joint="wrist" gear="0 1 0"/>
    <general name="fibre" tendon="string" dyntype="filter" dynprm=".1" gainprm="2"/>
  </actuator>
  <keyframe>
    <key qpos="1 2 3 .8 .6 0 0 .3 .6 0 .8 0 .04"
      qvel="1 2 3 4 5 6 7 8 9 10 11" act=".4" ctrl=".1 .2"/>
  </keyframe>
</mujoco>
"""

BASE = """
<mujoco model="crane">
  <worldbody>
    <body name="foot" pos="0 0 .1">
      <geom name="foot" size=".05"/>
      <body name="jib" pos="0 0 .1"><joint name="turn" axis="0 0 1"/>
        <geom name="jib" type="capsule" size=".03" fromto="0 0 0 .5 0 0"/>
        <body name="hook" pos=".5 0 0"><joint name="lift" type="slide" axis="0 0 1"/>
          <geom name="hook" size=".04"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def make_scene(
    cfgs: dict[str, EntityCfg], num_envs: int = WORLDS, vary: tuple[str, ...] = ()
) -> tuple[Simulation, dict[str, Entity]]:
    """Compose, compile and bind entities as a scene does."""
    scene = mujoco.MjSpec()
    keyframes = []
    for name, cfg in cfgs.items():
        spec = build_entity(cfg, name)
        keyframes += take_keyframes(spec)
        attach_spec(scene, spec, prefix=f"{name}/")
    add_keyframe(scene, merge_keyframes("scene", keyframes))
    model = scene.compile()
    sim = Simulation(
        model, num_envs, SimulationCfg(backend="native", num_threads=1), vary=vary
    )
    rng = WorldRng(num_envs, 0, sim.device)
    return sim, {name: Entity(name, cfg, sim, rng) for name, cfg in cfgs.items()}


def robot_cfg(**kwargs: object) -> EntityCfg:
    source = lambda: mujoco.MjSpec.from_string(ROBOT)  # noqa: E731
    return EntityCfg(source=source, **kwargs)  # type: ignore[arg-type]


def crane_cfg(**kwargs: object) -> EntityCfg:
    source = lambda: mujoco.MjSpec.from_string(BASE)  # noqa: E731
    return EntityCfg(source=source, **kwargs)  # type: ignore[arg-type]


def two_robots(vary: tuple[str, ...] = ()) -> tuple[Simulation, Entity]:
    """Robot in the middle of the model, with a distinct state per world."""
    cfgs = {"crane": crane_cfg(), "robot": robot_cfg(), "other": robot_cfg()}
    sim, entities = make_scene(cfgs, vary=vary)
    scatter(sim, seed=1)
    return sim, entities["robot"]


def scatter(sim: Simulation, seed: int) -> None:
    """Set a distinct state in every world, and run `forward()`."""
    rng = np.random.default_rng(seed)
    model = sim.mj_model
    for world in range(sim.num_envs):
        qpos = model.qpos0.copy()
        mujoco.mj_integratePos(model, qpos, rng.normal(size=model.nv), 1.0)
        sim.data.qpos[world] = torch.from_numpy(qpos)
        sim.data.qvel[world] = torch.from_numpy(rng.normal(size=model.nv))
        sim.data.ctrl[world] = torch.from_numpy(rng.normal(size=model.nu))
    sim.forward()


def c_data(sim: Simulation, world: int) -> mujoco.MjData:
    """The same state in plain MuJoCo."""
    data = mujoco.MjData(sim.mj_model)
    for field in ("qpos", "qvel", "ctrl", "act", "mocap_pos", "mocap_quat"):
        getattr(data, field)[:] = getattr(sim.data, field)[world].numpy()
    mujoco.mj_forward(sim.mj_model, data)
    return data


def close(ours: torch.Tensor, expected: np.ndarray, atol: float = 2e-5) -> None:
    np.testing.assert_allclose(ours.numpy(), expected, atol=atol)


def same_rotation(ours: torch.Tensor, matrix: np.ndarray) -> None:
    expected = np.zeros(4)
    mujoco.mju_mat2Quat(expected, matrix)
    assert abs(float(np.dot(ours.numpy(), expected))) == pytest.approx(1.0, abs=1e-6)


def object_velocity(
    sim: Simulation, data: mujoco.MjData, kind: mujoco.mjtObj, element: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return MuJoCo's linear and angular velocity of an object in world axes."""
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(sim.mj_model, data, kind, element, velocity, 0)
    return velocity[3:], velocity[:3]


OBJ = mujoco.mjtObj


# --- Reading: bodies, geoms, sites --------------------------------------------------


def test_bodies_geoms_and_sites_agree_with_mujoco():
    sim, robot = two_robots()
    data = robot.data
    for world in range(WORLDS):
        c = c_data(sim, world)
        for i, body in enumerate(robot.index.bodies.ids.tolist()):
            close(data.body_pos_w[world, i], c.xpos[body])
            same_rotation(data.body_quat_w[world, i], c.xmat[body])
            close(data.body_com_pos_w[world, i], c.xipos[body])
            same_rotation(data.body_com_quat_w[world, i], c.ximat[body])
        for i, geom in enumerate(robot.index.geoms.ids.tolist()):
            close(data.geom_pos_w[world, i], c.geom_xpos[geom])
            same_rotation(data.geom_quat_w[world, i], c.geom_xmat[geom])
        for i, site in enumerate(robot.index.sites.ids.tolist()):
            close(data.site_pos_w[world, i], c.site_xpos[site])
            same_rotation(data.site_quat_w[world, i], c.site_xmat[site])


@pytest.mark.parametrize(
    ("kind", "prefix", "elements"),
    [
        (OBJ.mjOBJ_XBODY, "body", "bodies"),
        (OBJ.mjOBJ_BODY, "body_com", "bodies"),
        (OBJ.mjOBJ_GEOM, "geom", "geoms"),
        (OBJ.mjOBJ_SITE, "site", "sites"),
    ],
)
def test_velocities_are_those_of_mj_object_velocity(
    kind: mujoco.mjtObj, prefix: str, elements: str
):
    sim, robot = two_robots()
    linear = getattr(robot.data, f"{prefix}_lin_vel_w")
    angular = getattr(robot.data, f"{prefix}_ang_vel_w")
    both = getattr(robot.data, f"{prefix}_vel_w")
    for world in range(WORLDS):
        c = c_data(sim, world)
        for i, element in enumerate(getattr(robot.index, elements).ids.tolist()):
            lin, ang = object_velocity(sim, c, kind, element)
            close(linear[world, i], lin)
            close(angular[world, i], ang)
            close(both[world, i], np.hstack([lin, ang]))


# --- Reading: root --------------------------------------------------------------------


def test_root_is_the_first_body_and_its_velocity_equals_mujocos():
    sim, robot = two_robots()
    data = robot.data
    trunk = robot.index.root_body_id
    assert sim.mj_model.body(trunk).name == "robot/trunk"
    for world in range(WORLDS):
        c = c_data(sim, world)
        rotation = c.xmat[trunk].reshape(3, 3)
        close(data.root_pos_w[world], c.xpos[trunk])
        same_rotation(data.root_quat_w[world], c.xmat[trunk])
        close(data.root_com_pos_w[world], c.xipos[trunk])
        same_rotation(data.root_com_quat_w[world], c.ximat[trunk])
        lin, ang = object_velocity(sim, c, OBJ.mjOBJ_XBODY, trunk)
        close(data.root_lin_vel_w[world], lin)
        close(data.root_ang_vel_w[world], ang)
        close(data.root_lin_vel_b[world], rotation.T @ lin)
        close(data.root_ang_vel_b[world], rotation.T @ ang)
        close(data.root_state_w[world, 7:], np.hstack([lin, ang]))
        com, _ = object_velocity(sim, c, OBJ.mjOBJ_BODY, trunk)
        close(data.root_com_lin_vel_w[world], com)
        close(data.root_com_lin_vel_b[world], rotation.T @ com)
        close(data.gravity_b[world], -rotation[2])
        heading = np.arctan2(rotation[1, 0], rotation[0, 0])
        close(data.heading_w[world], heading)


def test_gravity_of_a_robot_on_its_side_is_along_its_own_axis():
    _, entities = make_scene({"robot": robot_cfg()})
    robot = entities["robot"]
    half = 0.5**0.5
    everyone = torch.ones(WORLDS, dtype=torch.bool)
    # Rolled by 90 degrees about x: the body's z axis points along -y of the world.
    robot.write_root_pose_w(everyone, torch.tensor([0, 0, 1, half, half, 0, 0.0]))
    expected = torch.tensor([0.0, -1.0, 0.0]).expand(WORLDS, 3)
    torch.testing.assert_close(robot.data.gravity_b, expected)
    # Yawed by 90 degrees: the body's x axis points along y of the world.
    robot.write_root_pose_w(everyone, torch.tensor([0, 0, 1, half, 0, 0, half]))
    close(robot.data.heading_w, np.full(WORLDS, np.pi / 2))
    expected = torch.tensor([0.0, 0.0, -1.0]).expand(WORLDS, 3)
    torch.testing.assert_close(robot.data.gravity_b, expected)


def test_names_of_other_frameworks_are_the_same_tensors():
    _, robot = two_robots()
    data = robot.data
    assert data.root_link_pos_w is data.root_pos_w
    assert data.projected_gravity_b is data.gravity_b
    assert data.body_link_lin_vel_w is data.body_lin_vel_w


# --- Reading: joints, tendons, actuators --------------------------------------------


def test_joints_are_hinges_and_slides_and_balls_are_apart():
    sim, robot = two_robots()
    data, index = robot.data, robot.index
    assert index.joints.names == ("shoulder", "grip")
    assert index.balls.names == ("wrist",)
    for world in range(WORLDS):
        c = c_data(sim, world)
        names = ["robot/shoulder", "robot/grip"]
        for i, name in enumerate(names):
            joint = c.joint(name)
            close(data.joint_pos[world, i], joint.qpos[0])
            close(data.joint_vel[world, i], joint.qvel[0])
            close(data.joint_acc[world, i], joint.qacc[0], atol=1e-2)
            close(data.qfrc_actuator[world, i], c.qfrc_actuator[joint_dof(sim, name)])
        close(data.ball_quat[world, 0], c.joint("robot/wrist").qpos)
        close(data.ball_vel[world, 0], c.joint("robot/wrist").qvel)
        close(data.ball_acc[world, 0], c.joint("robot/wrist").qacc, atol=1e-2)


def joint_dof(sim: Simulation, name: str) -> int:
    return int(sim.mj_model.joint(name).dofadr[0])


def test_ball_velocity_is_the_rotation_of_the_body_in_its_parent():
    sim, robot = two_robots()
    ids = dict(zip(robot.index.bodies.names, robot.index.bodies.ids, strict=True))
    for world in range(WORLDS):
        c = c_data(sim, world)
        _, hand = object_velocity(sim, c, OBJ.mjOBJ_XBODY, int(ids["hand"]))
        _, arm = object_velocity(sim, c, OBJ.mjOBJ_XBODY, int(ids["arm"]))
        rotation = c.xmat[int(ids["hand"])].reshape(3, 3)
        close(robot.data.ball_vel[world, 0], rotation.T @ (hand - arm))


def test_tendons_and_actuators_agree_with_mujoco():
    sim, robot = two_robots()
    data = robot.data
    assert robot.index.tendons.names == ("mix", "string")
    assert robot.index.actuators.names == ("twist", "fibre")
    for world in range(WORLDS):
        c = c_data(sim, world)
        for i, name in enumerate(("robot/mix", "robot/string")):
            close(data.tendon_len[world, i], c.tendon(name).length[0])
            close(data.tendon_vel[world, i], c.tendon(name).velocity[0])
        for i, name in enumerate(("robot/twist", "robot/fibre")):
            close(data.actuator_force[world, i], c.actuator(name).force[0])
            close(data.actuator_length[world, i], c.actuator(name).length[0])
            close(data.actuator_velocity[world, i], c.actuator(name).velocity[0])
            close(data.ctrl[world, i], c.actuator(name).ctrl[0])


def test_encoder_bias_is_added_to_the_true_positions():
    _, robot = two_robots()
    true = robot.data.joint_pos.clone()
    mask = torch.tensor([True, False, True])
    robot.write_encoder_bias(mask, torch.tensor([0.1, -0.2]))
    expected = true.clone()
    expected[[0, 2]] += torch.tensor([0.1, -0.2])
    torch.testing.assert_close(robot.data.joint_pos_biased, expected)
    torch.testing.assert_close(robot.data.joint_pos, true)


# --- Defaults and limits ------------------------------------------------------------


def test_default_state_is_the_keyframe_of_the_entity_itself():
    _, entities = make_scene({"crane": crane_cfg(), "robot": robot_cfg()})
    data = entities["robot"].data
    for world in range(WORLDS):
        close(data.default_joint_pos[world], np.array([0.3, 0.04]))
        close(data.default_joint_vel[world], np.array([7.0, 11.0]))
        close(data.default_ball_quat[world, 0], np.array([0.6, 0, 0.8, 0]))
        close(data.default_ball_vel[world, 0], np.array([8.0, 9.0, 10.0]))
        pose, linear = [1, 2, 3, 0.8, 0.6, 0, 0], [1, 2, 3]
        close(data.default_root_state[world, :10], np.array(pose + linear))
    # The keyframe's (4, 5, 6) in the body's axes, rotated by its quaternion: a roll
    # whose cosine is 0.8² - 0.6² = 0.28 and whose sine is 2 * 0.8 * 0.6 = 0.96.
    turned = [4, 0.28 * 5 - 0.96 * 6, 0.96 * 5 + 0.28 * 6]
    close(data.default_root_state[0, 10:], np.array(turned))


def test_reset_to_default_restores_the_keyframe_where_the_mask_holds():
    sim, robot = two_robots()
    before = {f: getattr(sim.data, f).clone() for f in ("qpos", "qvel", "act", "ctrl")}
    robot.reset_to_default(torch.tensor([False, True, False]))
    first = sim.mj_model.joint("robot/shoulder").qposadr[0] - 7
    last = sim.mj_model.joint("robot/grip").qposadr[0]
    expected = [1, 2, 3, 0.8, 0.6, 0, 0, 0.3, 0.6, 0, 0.8, 0, 0.04]
    close(sim.data.qpos[1, first : last + 1], np.array(expected))
    dof = joint_dof(sim, "robot/shoulder") - 6
    close(sim.data.qvel[1, dof : dof + 11], np.arange(1.0, 12.0))
    close(robot.data.ctrl[1], np.array([0.1, 0.2]))
    close(robot.data.act[1], np.array([0.4]))
    for field, old in before.items():
        new = getattr(sim.data, field)
        assert torch.equal(new[[0, 2]], old[[0, 2]])
        mine = new[1] != old[1]
        assert mine.sum() <= {"qpos": 13, "qvel": 11, "act": 1, "ctrl": 2}[field]


def test_missing_limits_are_infinite_and_soft_limits_are_inside():
    cfg = robot_cfg(articulation=ArticulationCfg(soft_joint_pos_limit_factor=0.5))
    _, entities = make_scene({"robot": cfg})
    data = entities["robot"].data
    infinite = [-np.inf, np.inf]
    # The shoulder goes from -1 to 2: half of that range about 0.5.
    expected = np.array([[-1.0, 2.0], infinite])
    close(data.joint_pos_limits[0], expected)
    close(data.soft_joint_pos_limits[0], np.array([[-0.25, 1.25], infinite]))


def test_randomised_fields_update_entity_data_of_masked_worlds_only():
    sim, robot = two_robots(vary=("jnt_range", "qpos0"))
    data = robot.data
    before = {
        name: getattr(data, name).clone()
        for name in ("joint_pos_limits", "soft_joint_pos_limits", "default_joint_pos")
    }
    shoulder = sim.mj_model.joint("robot/shoulder")
    sim.model.jnt_range[:, shoulder.id] = torch.tensor([-0.5, 0.5])
    sim.model.qpos0[:, shoulder.qposadr[0]] += 0.25
    robot.refresh_defaults(torch.tensor([True, False, False]))
    close(data.joint_pos_limits[0, 0], np.array([-0.5, 0.5]))
    close(data.soft_joint_pos_limits[0, 0], np.array([-0.5, 0.5]))
    close(data.default_joint_pos[0], np.array([0.3 + 0.25, 0.04]))
    for name, old in before.items():
        assert torch.equal(getattr(data, name)[1:], old[1:])


def test_assigned_defaults_keep_the_targets_of_other_worlds():
    _, robot = two_robots()
    robot.data.targets.joint_pos[:] = 0.7
    wanted = torch.tensor([[0.1, 0.02]]).expand(WORLDS, 2)
    robot.assign_defaults(torch.tensor([True, False, False]), {"joint_pos": wanted})
    close(robot.data.targets.joint_pos[0, :2], np.array([0.1, 0.02]))
    assert bool((robot.data.targets.joint_pos[1:] == 0.7).all())


# --- A fixed base -------------------------------------------------------------------


def test_a_fixed_base_is_placed_per_world():
    sim, entities = make_scene({"robot": robot_cfg(), "crane": crane_cfg()})
    crane = entities["crane"]
    everyone = torch.ones(WORLDS, dtype=torch.bool)
    poses = torch.tensor(
        [[1.0, 0, 0, 1, 0, 0, 0], [0, 2, 0, 0.6, 0, 0, 0.8], [0, 0, 3, 0, 1, 0, 0]]
    )
    crane.write_root_pose_w(everyone, poses)
    sim.forward()
    crane.refresh()
    jib = crane.find_bodies("jib")[0][0]
    torch.testing.assert_close(crane.data.root_pose_w, poses)
    for world in range(WORLDS):
        c = c_data(sim, world)
        close(crane.data.body_pos_w[world], c.xpos[crane.index.bodies.ids.numpy()])
    # The jib is 0.1 above the foot, and the third world is inverted.
    close(
        crane.data.body_pos_w[:, jib], np.array([[1, 0, 0.1], [0, 2, 0.1], [0, 0, 2.9]])
    )
    assert not crane.data.root_vel_w.any()


def test_fixed_base_has_no_velocity_to_write():
    _, entities = make_scene({"crane": crane_cfg()})
    everyone = torch.ones(WORLDS, dtype=torch.bool)
    with pytest.raises(FixedBaseError, match="'crane' has a fixed base"):
        entities["crane"].write_root_velocity_w(everyone, torch.zeros(6))


def test_fixed_base_returns_to_its_initial_pose():
    cfg = crane_cfg(init_state=InitialStateCfg(pos=(1.0, 2.0, 3.0)))
    sim, entities = make_scene({"crane": cfg})
    crane = entities["crane"]
    sim.reset()
    crane.reset_to_default(torch.ones(WORLDS, dtype=torch.bool))
    close(sim.data.mocap_pos[:, 0], np.tile([1.0, 2.0, 3.0], (WORLDS, 1)))


def test_fixed_base_returns_to_its_initial_orientation():
    turn = (0.5, 0.5, -0.5, 0.5)
    cfg = crane_cfg(init_state=InitialStateCfg(pos=(1.0, 2.0, 3.0), rot=turn))
    sim, entities = make_scene({"crane": cfg})
    sim.data.mocap_quat[:] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    entities["crane"].reset_to_default(torch.ones(WORLDS, dtype=torch.bool))
    close(sim.data.mocap_quat[:, 0], np.tile(turn, (WORLDS, 1)))


# --- Writing ------------------------------------------------------------------------

masks = st.lists(st.booleans(), min_size=WORLDS, max_size=WORLDS)


def values(*shape: int, seed: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(WORLDS, *shape)).astype(np.float32))


def unit_poses(seed: int) -> torch.Tensor:
    pose = values(7, seed=seed)
    pose[:, 3:] /= pose[:, 3:].norm(dim=1, keepdim=True)
    return pose


Write = Callable[[Entity, torch.Tensor, int], torch.Tensor]

WRITES: dict[str, tuple[Write, Callable[[Entity], torch.Tensor]]] = {
    "root_pose": (
        lambda e, m, s: written(e.write_root_pose_w, m, unit_poses(s)),
        lambda e: e.data.root_pose_w,
    ),
    "root_velocity_w": (
        lambda e, m, s: written(e.write_root_velocity_w, m, values(6, seed=s)),
        lambda e: e.data.root_vel_w,
    ),
    "root_velocity_b": (
        lambda e, m, s: written(e.write_root_velocity_b, m, values(6, seed=s)),
        lambda e: torch.cat((e.data.root_lin_vel_b, e.data.root_ang_vel_b), -1),
    ),
    "root_velocity_added": (
        lambda e, m, s: added(e, m, values(6, seed=s)),
        lambda e: e.data.root_vel_w,
    ),
    "joint_pos": (
        lambda e, m, s: written(e.write_joint_pos, m, values(2, seed=s)),
        lambda e: e.data.joint_pos,
    ),
    "joint_vel": (
        lambda e, m, s: written(e.write_joint_vel, m, values(2, seed=s)),
        lambda e: e.data.joint_vel,
    ),
    "ball_quat": (
        lambda e, m, s: written(e.write_ball_quat, m, unit_poses(s)[:, None, 3:]),
        lambda e: e.data.ball_quat,
    ),
    "ball_vel": (
        lambda e, m, s: written(e.write_ball_vel, m, values(1, 3, seed=s)),
        lambda e: e.data.ball_vel,
    ),
    "ctrl": (
        lambda e, m, s: written(e.write_ctrl, m, values(2, seed=s)),
        lambda e: e.data.ctrl,
    ),
}

STATE = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "xfrc_applied")


def written(
    write: Callable[[torch.Tensor, torch.Tensor], None],
    mask: torch.Tensor,
    value: torch.Tensor,
) -> torch.Tensor:
    write(mask, value)
    return value


def added(entity: Entity, mask: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    before = entity.data.root_vel_w.clone()
    entity.add_root_velocity_w(mask, change)
    return before + change


@pytest.fixture(scope="module")
def scene() -> tuple[Simulation, Entity]:
    return two_robots()


@pytest.mark.parametrize("name", WRITES)
@settings(max_examples=15)
@given(mask=masks, seed=st.integers(0, 1000))
def test_written_values_are_read_back_and_other_rows_are_unchanged(
    scene: tuple[Simulation, Entity], name: str, mask: list[bool], seed: int
):
    sim, robot = scene
    write, read = WRITES[name]
    worlds = torch.tensor(mask)
    read(robot)  # So that a stale value would be detected.
    before = {field: getattr(sim.data, field).clone() for field in STATE}
    wanted = write(robot, worlds, seed)
    torch.testing.assert_close(
        read(robot)[worlds], wanted[worlds], atol=1e-5, rtol=1e-5
    )
    for field, old in before.items():
        assert torch.equal(getattr(sim.data, field)[~worlds], old[~worlds]), field


def test_root_velocity_written_in_the_world_frame_is_the_body_velocity():
    sim, robot = two_robots()
    everyone = torch.ones(WORLDS, dtype=torch.bool)
    velocity = values(6, seed=3)
    robot.write_root_state(everyone, torch.cat((unit_poses(4), velocity), dim=1))
    sim.forward()
    for world in range(WORLDS):
        c = c_data(sim, world)
        lin, ang = object_velocity(sim, c, OBJ.mjOBJ_XBODY, robot.index.root_body_id)
        close(velocity[world], np.hstack([lin, ang]))


@pytest.mark.parametrize(
    "joint_ids", [slice(1, 2), torch.tensor([1]), slice(None, None, 2), None]
)
def test_some_joints_can_be_written(joint_ids: slice | torch.Tensor | None):
    _, robot = two_robots()
    expected = robot.data.joint_pos.clone()
    mask = torch.tensor([True, False, True])
    chosen = (
        list(range(2)) if joint_ids is None else torch.arange(2)[joint_ids].tolist()
    )
    for row in (0, 2):
        expected[row, chosen] = 0.125
    robot.write_joint_pos(mask, 0.125, joint_ids)
    assert torch.equal(robot.data.joint_pos, expected)


def test_external_wrench_pushes_the_named_body():
    sim, robot = two_robots()
    hand = robot.find_bodies("hand")[0][0]
    mask = torch.tensor([False, True, False])
    force = torch.tensor([1.0, 2.0, 3.0]).expand(WORLDS, 1, 3)
    torque = torch.tensor([4.0, 5.0, 6.0])
    robot.write_external_wrench(mask, force, torque, slice(hand, hand + 1))
    expected = np.zeros((WORLDS, sim.mj_model.nbody, 6))
    expected[1, sim.mj_model.body("robot/hand").id] = [1, 2, 3, 4, 5, 6]
    close(sim.data.xfrc_applied, expected)


def test_mask_of_the_wrong_type_is_refused():
    _, robot = two_robots()
    with pytest.raises(ValueError, match="bool of shape"):
        robot.write_joint_pos(torch.tensor([0, 1]), 0.0)


# --- Caching --------------------------------------------------------------------------


@contextmanager
def counted(name: str) -> Iterator[list[str]]:
    """Count the evaluations of a quantity."""
    original: quantity = vars(EntityData)[name]
    compute, calls = original._compute, []

    def counting(state: object) -> torch.Tensor:
        calls.append(name)
        return compute(state)  # type: ignore[arg-type]

    original._compute = counting
    try:
        yield calls
    finally:
        original._compute = compute


def test_quantity_is_computed_once_per_step():
    sim, robot = two_robots()
    with counted("body_lin_vel_w") as calls:
        for _ in range(3):
            assert robot.data.body_vel_w.shape == (WORLDS, 4, 6)
            assert robot.data.body_lin_vel_w is robot.data.body_link_lin_vel_w
        assert len(calls) == 1
        sim.step()
        robot.update(sim.timestep)
        _ = robot.data.body_lin_vel_w, robot.data.body_vel_w
        assert len(calls) == 2


QUANTITIES = [
    name for name, value in vars(EntityData).items() if isinstance(value, quantity)
]


def read_all(entity: Entity) -> dict[str, torch.Tensor]:
    return {name: getattr(entity.data, name) for name in QUANTITIES}


def test_derived_data_are_current_after_each_call_or_write():
    sim, robot = two_robots()
    witness = Entity("robot", robot.cfg, sim, WorldRng(WORLDS, 0, sim.device))
    mask = torch.tensor([True, False, True])
    moments: dict[str, Callable[[], object]] = {
        "step": lambda: (sim.step(), robot.update(sim.timestep)),
        "forward": lambda: (sim.forward(), robot.refresh()),
        "reset": lambda: (sim.reset(mask), robot.reset(mask)),
        "default": lambda: robot.reset_to_default(mask),
        "bias": lambda: robot.write_encoder_bias(mask, 0.5),
    }
    for name, (write, _) in WRITES.items():
        moments[name] = lambda write=write: write(robot, mask, 7)
    assert len(QUANTITIES) > 70
    for moment, happen in moments.items():
        read_all(robot)
        happen()
        # The reference has no cached values.
        witness.data.invalidate()
        witness.data.encoder_bias.copy_(robot.data.encoder_bias)
        fresh = read_all(witness)
        for name, value in read_all(robot).items():
            assert torch.equal(value, fresh[name]), (moment, name)


def test_neighbouring_columns_are_read_as_views_of_the_simulation():
    sim, entities = make_scene({"robot": robot_cfg(), "crane": crane_cfg()})
    crane = entities["crane"]
    start = sim.data.qpos.data_ptr()
    end = start + sim.data.qpos.numel() * sim.data.qpos.element_size()
    assert start <= crane.data.joint_pos.data_ptr() < end
    assert crane.data.joint_pos.shape == (WORLDS, 2)


class HostReads(TorchDispatchMode):
    """Records operations that a CUDA graph cannot capture, and copies from the host."""

    banned = ("nonzero", "_local_scalar_dense", "masked_select", "lift_fresh", "unique")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = func.overloadpacket.__name__
        indexed = name in ("index", "index_put", "index_put_") and any(
            i is not None and i.dtype == torch.bool for i in args[1]
        )
        if name in self.banned or indexed or name == "scalar_tensor":
            self.found.append(name)
        return func(*args, **(kwargs or {}))


def test_reading_and_writing_can_be_captured_in_a_graph():
    _, robot = two_robots(vary=("jnt_range", "qpos0"))
    mask = torch.tensor([True, False, True])
    wrench = values(4, 3, seed=1)
    chosen = torch.tensor([1])
    read_all(robot)  # The first read of a field creates its tensor.
    robot.data.invalidate()
    prepared = unit_poses(7), values(6, seed=7)
    with HostReads() as reads:
        read_all(robot)
        robot.write_root_pose_w(mask, prepared[0])
        robot.write_root_velocity_b(mask, prepared[1])
        robot.write_root_velocity_w(mask, prepared[1])
        robot.write_joint_state(mask, 0.1, 0.2, chosen)
        robot.write_external_wrench(mask, wrench, wrench)
        robot.write_encoder_bias(mask, 0.1)
        robot.reset_to_default(mask)
        robot.reset(mask)
        robot.refresh_defaults(mask)
        robot.apply()
        read_all(robot)
    assert reads.found == []
    with reads:
        values(1, seed=0)[mask]
    assert reads.found, "the watch itself works"


def test_world_is_bit_identical_for_any_number_of_worlds():
    wanted = {}
    for num_envs in (1, 2, 5, 9):
        cfgs = {"crane": crane_cfg(), "robot": robot_cfg()}
        sim, entities = make_scene(cfgs, num_envs=num_envs)
        scatter(sim, seed=4)
        robot = entities["robot"]
        robot.refresh()
        for name, value in read_all(robot).items():
            first = wanted.setdefault(name, value[0].clone())
            assert torch.equal(value[0], first), (num_envs, name)


def test_root_and_joints_follow_a_step_without_forward():
    sim, robot = two_robots()
    sim.step()
    robot.update(sim.timestep)
    trunk = robot.index.root_body_id
    for world in range(WORLDS):
        c = c_data(sim, world)
        close(robot.data.root_pos_w[world], c.xpos[trunk])
        lin, _ = object_velocity(sim, c, OBJ.mjOBJ_XBODY, trunk)
        close(robot.data.root_lin_vel_w[world], lin)


# --- Name lookup, actuators, snapshots
# -------------------------------------------------


def test_unknown_pattern_is_an_error_with_the_nearest_names():
    _, robot = two_robots()
    assert robot.find_joints("g.*") == ([1], ["grip"])
    assert robot.find_bodies(("finger", "arm"), preserve_order=True)[0] == [3, 1]
    with pytest.raises(ValueError, match=r"joint of 'robot' matches 'gripp'.*: 'grip'"):
        robot.find_joints("gripp")


def test_unknown_entity_is_an_error_with_the_nearest_names():
    sim, robot = two_robots()
    rng = WorldRng(WORLDS, 0, sim.device)
    with pytest.raises(ValueError, match=r"no entity 'robt'.*first: 'robot'"):
        Entity("robt", robot.cfg, sim, rng)


def servo_cfg() -> EntityCfg:
    servo = PositionActuatorCfg(
        target_names_expr=("grip", "shoulder"), stiffness=5.0, damping=0.5
    )
    return robot_cfg(articulation=ArticulationCfg(actuators=(servo,)))


def test_reset_sets_targets_to_the_default_pose_where_the_mask_holds():
    _, entities = make_scene({"crane": crane_cfg(), "robot": servo_cfg()})
    robot = entities["robot"]
    targets = robot.data.targets
    close(targets.joint_pos[0, :2], np.array([0.3, 0.04]))
    targets.joint_pos.fill_(1.0)
    targets.joint_effort.fill_(2.0)
    robot.reset(torch.tensor([True, False, False]))
    close(targets.joint_pos[0, :2], np.array([0.3, 0.04]))
    assert (targets.joint_pos[1:] == 1.0).all()
    assert (targets.joint_effort[0] == 0.0).all()
    assert (targets.joint_effort[1:] == 2.0).all()


def test_apply_sends_each_target_to_the_actuator_of_its_joint():
    sim, entities = make_scene({"crane": crane_cfg(), "robot": servo_cfg()})
    robot = entities["robot"]
    shoulder, grip = robot.find_joints(("shoulder", "grip"))[0]
    robot.data.targets.joint_pos[:, shoulder] = 0.5
    robot.data.targets.joint_pos[:, grip] = -0.25
    robot.apply()
    for name, value in (("shoulder", 0.5), ("grip", -0.25)):
        control = int(sim.mj_model.actuator(f"robot/{name}").id)
        address = int(sim.mj_model.actuator_ctrladr[control])
        assert (sim.data.ctrl[:, address] == value).all()


def test_model_s_own_actuators_can_be_driven():
    wrapped = XmlActuatorCfg(
        target_names_expr=("string",), transmission="tendon", command="effort"
    )
    cfg = robot_cfg(articulation=ArticulationCfg(actuators=(wrapped,)))
    sim, entities = make_scene({"crane": crane_cfg(), "robot": cfg})
    robot = entities["robot"]
    string = robot.find_tendons("string")[0][0]
    robot.data.targets.tendon_effort[:, string] = 0.5
    robot.apply()
    actuator = int(sim.mj_model.actuator("robot/fibre").id)
    assert (sim.data.ctrl[:, sim.mj_model.actuator_ctrladr[actuator]] == 0.5).all()


def test_an_entity_that_is_part_of_the_world_has_no_root_to_write():
    plane = '<body name="foot" pos="0 0 .1"><joint name="bob" type="slide"/>'
    xml = BASE.replace('<body name="foot" pos="0 0 .1">', plane).replace(
        "<worldbody>", '<worldbody><geom name="floor" type="plane" size="1 1 1"/>'
    )
    cfg = EntityCfg(source=lambda: mujoco.MjSpec.from_string(xml))
    _, entities = make_scene({"crane": cfg})
    crane, everyone = entities["crane"], torch.ones(WORLDS, dtype=torch.bool)
    identity = torch.tensor([0.0, 0, 0, 1, 0, 0, 0]).expand(WORLDS, 7)
    assert torch.equal(crane.data.root_pose_w, identity)
    crane.reset_to_default(everyone)
    with pytest.raises(FixedBaseError, match="'crane' cannot be written: it is fixed"):
        crane.write_root_pose_w(everyone, identity)


def test_state_contains_all_non_physics_tensors():
    _, entities = make_scene({"robot": servo_cfg()})
    robot = entities["robot"]
    robot.data.targets.joint_vel.fill_(3.0)
    kept = {name: value.clone() for name, value in robot.state().items()}
    robot.data.targets.joint_vel.fill_(4.0)
    robot.write_encoder_bias(torch.ones(WORLDS, dtype=torch.bool), 0.5)
    robot.data.default_joint_pos.fill_(9.0)
    for name, value in robot.state().items():
        value.copy_(kept[name])
    robot.refresh()
    assert (robot.data.targets.joint_vel == 3.0).all()
    assert torch.equal(robot.data.joint_pos_biased, robot.data.joint_pos)
    close(robot.data.default_joint_pos[0], np.array([0.3, 0.04]))
