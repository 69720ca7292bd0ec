"""Walking terms compared with hand arithmetic, geometry, MuJoCo and least squares."""

import math
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import RewardTermCfg, SceneEntityCfg
from mjlab.managers.term import TermError
from mjlab.mdp import fell_over
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sensor import GridPatternCfg, ObjRef, RayCastSensorCfg
from mjlab.sim import Simulation, SimulationCfg, compile_model
from mjlab.tasks.velocity import VelocityGo1FlatCfg, mdp
from mjlab.tasks.velocity.foot_height import FootHeightSensorCfg
from tests.worlds.fake_env import FakeEnv
from tests.worlds.physics_env import from_xml

FEET = "feet_contact"


@pytest.fixture(scope="module")
def go1() -> ManagerBasedRlEnv:
    cfg = VelocityGo1FlatCfg(seed=1)
    cfg.scene.num_envs = 3
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def command(env: ManagerBasedRlEnv, *rows: tuple[float, float, float]) -> None:
    """Set each world's command, as a step would."""
    term: Any = env.command_manager.term("twist")
    state = term.state()
    state["drawn"][:, :3] = torch.tensor(rows)
    state["classes"].fill_(False)
    term.update()


def selection(**quantities: Any) -> Any:
    """A selection whose entity has these quantities."""
    given = {name: torch.tensor(value) for name, value in quantities.items()}
    still = {"root_lin_vel_b": torch.zeros(3, 3), "root_ang_vel_b": torch.zeros(3, 3)}
    data = SimpleNamespace(computed={}, **(still | given))
    everything = slice(None)
    return SimpleNamespace(
        entity=SimpleNamespace(data=data),
        joint_ids=everything,
        body_ids=everything,
        site_ids=everything,
    )


def check(values: torch.Tensor, *expected: float) -> None:
    assert values.dtype == torch.float32
    torch.testing.assert_close(values, torch.tensor(expected))


# Command tracking.


def test_the_linear_error_counts_all_three_axes(go1: ManagerBasedRlEnv) -> None:
    command(go1, (1.0, 0.5, 0.3), (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    velocity = [[0.7, 0.1, 0.2], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    value = mdp.track_linear_velocity(
        go1, std=0.5, command_name="twist", asset_cfg=selection(root_lin_vel_b=velocity)
    )
    # (0.3² + 0.4² + 0.2²) / 0.5² = 1.16, and 2² / 0.5² = 16.
    check(value, math.exp(-1.16), 1.0, math.exp(-16.0))


def test_the_angular_error_counts_all_three_axes(go1: ManagerBasedRlEnv) -> None:
    command(go1, (1.0, 0.5, 0.3), (0.0, 0.0, 0.0), (0.0, 0.0, -0.5))
    velocity = [[0.1, 0.2, 0.7], [0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    value = mdp.track_angular_velocity(
        go1, std=0.5, command_name="twist", asset_cfg=selection(root_ang_vel_b=velocity)
    )
    # (0.1² + 0.2² + 0.4²) / 0.25 = 0.84, and 1 / 0.25 = 4.
    check(value, math.exp(-0.84), 1.0, math.exp(-4.0))


def test_the_mean_yaw_rate_is_reset_by_episodes_and_decays_with_its_duration(
    go1: ManagerBasedRlEnv,
) -> None:
    command(go1, (0.0, 0.0, 0.3), (0.0, 0.0, 0.0), (0.0, 0.0, -0.5))
    params = {"command_name": "twist", "std": 0.5, "seconds": 0.1}
    term = mdp.track_mean_yaw_rate(
        RewardTermCfg(func=mdp.track_mean_yaw_rate, weight=1.0, params=params), go1
    )
    turning = selection(
        root_ang_vel_b=[[9.0, 9.0, 0.8], [0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    )
    # A step of 20 ms is a fifth of the duration, so errors of 0.5 and 1 rad/s have the
    # means 0.1 and 0.2 after one step, and 0.18 and 0.36 after two.
    check(term(go1, **params, asset_cfg=turning), math.exp(-0.04), 1.0, math.exp(-0.16))
    check(
        term(go1, **params, asset_cfg=turning),
        math.exp(-0.1296),
        1.0,
        math.exp(-0.5184),
    )
    term.reset(torch.tensor([True, False, False]))
    assert term.state()["mean"].tolist() == pytest.approx([0.0, 0.0, 0.36])


def test_speed_is_linear_plus_turning(go1: ManagerBasedRlEnv) -> None:
    command(go1, (0.3, -0.4, -0.2), (0.0, 0.0, 0.05), (0.03, 0.0, 0.021))
    check(mdp.command_speed(go1, "twist"), 0.7, 0.05, 0.051)
    # Up to 0.05 counts as standing.
    check(mdp.moving(go1, "twist"), 1.0, 0.0, 1.0)
    check(mdp.moving(go1, "twist", 0.5), 1.0, 0.0, 0.0)


# The posture.


def tilt(env: ManagerBasedRlEnv, *degrees: float, yaw: float = 0.7) -> None:
    """Tilt each world's robot about a horizontal axis, after a rotation about z."""
    quat = np.zeros((len(degrees), 4))
    for row, angle in zip(quat, np.radians(degrees), strict=True):
        turned, tilted = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turned, np.array([0.0, 0.0, 1.0]), yaw)
        axis = np.array([0.6, 0.8, 0.0])
        mujoco.mju_axisAngle2Quat(tilted, axis, angle)
        mujoco.mju_mulQuat(row, tilted, turned)
    robot = env.scene.entity("robot")
    pose = torch.zeros(len(degrees), 7)
    pose[:, 2] = 5.0
    pose[:, 3:] = torch.from_numpy(quat)
    robot.write_root_pose_w(torch.ones(len(degrees), dtype=torch.bool), pose)
    env.sim.forward()
    env.scene.refresh()


def upright(env: Any, **params: Any) -> Any:
    trunk = SceneEntityCfg("robot", body_names="trunk")
    params = {"std": math.sqrt(0.2), "asset_cfg": trunk} | params
    term = mdp.upright(RewardTermCfg(func=mdp.upright, params=params), env)
    return lambda: term(env, **params)


def test_upright_falls_with_the_square_of_the_sine(go1: ManagerBasedRlEnv) -> None:
    value = upright(go1)
    tilt(go1, 0.0, 30.0, 90.0)
    check(value(), 1.0, math.exp(-0.25 / 0.2), math.exp(-1.0 / 0.2))


def test_lying_on_the_back_is_the_opposite_of_upright(go1: ManagerBasedRlEnv) -> None:
    value = upright(go1)
    tilt(go1, 90.0, 120.0, 180.0)
    # Beyond 90 degrees: 2 - sin², so 1.25 at 120 degrees and 2 at 180.
    check(value(), math.exp(-5.0), math.exp(-6.25), math.exp(-10.0))


def test_upright_is_about_one_body(go1: ManagerBasedRlEnv) -> None:
    with pytest.raises(TermError, match="one body"):
        upright(go1, asset_cfg=SceneEntityCfg("robot", body_names=".*_hip"))


def test_fallen_means_tilted_further_than_the_limit(go1: ManagerBasedRlEnv) -> None:
    def fell() -> list[bool]:
        robot = SceneEntityCfg("robot").resolve(go1.scene)
        return fell_over(go1, math.radians(70.0), robot).tolist()

    tilt(go1, 69.9, 70.1, 180.0)
    assert fell() == [False, True, True]
    tilt(go1, 0.0, -69.9, -70.1)
    assert fell() == [False, False, True]


def test_gravity_by_the_sensor_is_gravity_by_the_state(go1: ManagerBasedRlEnv) -> None:
    tilt(go1, 10.0, 80.0, 170.0)
    measured = mdp.gravity_from_sensor(go1, "robot/imu_upvector")
    expected = go1.scene.entity("robot").data.gravity_b
    torch.testing.assert_close(measured, expected, atol=1e-6, rtol=0.0)


STANDING, WALKING, RUNNING = {".*": 0.1}, {".*": 0.2}, {".*": 0.4}


def test_posture_widths_depend_on_the_commanded_speed(go1: ManagerBasedRlEnv) -> None:
    params = {
        "command_name": "twist",
        "std_standing": STANDING,
        "std_walking": WALKING,
        "std_running": RUNNING,
    }
    cfg = RewardTermCfg(func=mdp.variable_posture, params=params)
    term = mdp.variable_posture(cfg, go1)
    # Six of twelve joints deviate by 0.3: a mean square of 0.045.
    off = torch.tensor([0.3, 0.0] * 6).expand(3, 12)
    robot = selection(joint_pos=off.tolist(), default_joint_pos=[[0.0] * 12] * 3)
    speeds = ((0.049, 0.0, 0.0), (0.0, 0.0, 0.051), (0.0, 1.0, -0.499))
    command(go1, *speeds)
    # 0.045 over the variances 0.01, 0.04 and 0.04.
    expected = (math.exp(-4.5), math.exp(-1.125), math.exp(-1.125))
    check(term(go1, **params, asset_cfg=robot), *expected)
    command(go1, (0.0, 1.0, -0.5), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    expected = (math.exp(-0.28125), math.exp(-0.28125), math.exp(-4.5))
    check(term(go1, **params, asset_cfg=robot), *expected)


def test_a_joint_without_a_width_is_an_error(go1: ManagerBasedRlEnv) -> None:
    widths = {"std_standing": {".*_hip_joint": 0.1}, "std_walking": WALKING}
    params = widths | {"std_running": RUNNING, "command_name": "twist"}
    with pytest.raises(ValueError, match="FR_thigh_joint"):
        mdp.variable_posture(
            RewardTermCfg(func=mdp.variable_posture, params=params), go1
        )


def test_tilting_costs_and_turning_is_free(go1: ManagerBasedRlEnv) -> None:
    velocity = [[[0.5, -2.0, 9.0]], [[0.0, 0.0, 9.0]], [[1.0, 1.0, 0.0]]]
    robot = selection(body_ang_vel_w=velocity)
    check(mdp.body_angular_velocity(go1, robot), 4.25, 0.0, 2.0)


def test_angular_momentum_equals_mujocos(go1: ManagerBasedRlEnv) -> None:
    robot = go1.scene.entity("robot")
    everyone = torch.ones(3, dtype=torch.bool)
    robot.write_joint_vel(everyone, torch.linspace(-3.0, 4.0, 36).view(3, 12))
    go1.sim.forward()
    value = mdp.angular_momentum(go1, "robot/root_angmom")
    model, data = go1.sim.mj_model, mujoco.MjData(go1.sim.mj_model)
    root = model.body("robot/trunk").id
    # The first world's centre of mass is randomised, so it has its own model.
    for world in range(3):
        own = go1.sim.engine.mj_model_of(world)  # type: ignore[attr-defined]
        data.qpos[:] = go1.sim.data.qpos[world].numpy()
        data.qvel[:] = go1.sim.data.qvel[world].numpy()
        mujoco.mj_forward(own, data)
        mujoco.mj_subtreeVel(own, data)
        expected = float((data.subtree_angmom[root] ** 2).sum())
        assert expected > 1e-3
        assert float(value[world]) == pytest.approx(expected, rel=1e-3)


# Feet.


def set_times(
    env: ManagerBasedRlEnv, air: list[list[float]], contact: list[list[float]]
) -> None:
    """Set the times of the feet's phases; the previous phases lasted 0.1 s."""
    sensor: Any = env.scene.sensor(FEET)
    sensor.update(0.005)
    state = sensor.state()
    now = torch.stack((torch.tensor(air), torch.tensor(contact)), dim=-1)
    state["phase_times"][..., :2] = now
    state["phase_steps"][..., :2] = (now / 0.005).round().int()
    state["phase_steps"][..., 2:] = 20


def set_forces(env: ManagerBasedRlEnv, forces: torch.Tensor) -> None:
    """Set the forces after the last physics steps, (worlds, feet, steps, 3)."""
    state = env.scene.sensor(FEET).state()
    # In MuJoCo's layout: found, then force.
    state["history_values"][..., 1:4] = forces.transpose(1, 2)


AIR = [[0.04, 0.06, 0.3, 0.51], [0.1, 0.1, 0.1, 0.1], [0.0, 0.0, 0.0, 0.2]]
NONE = [[0.0] * 4] * 3


def test_air_time_counts_feet_in_the_window(go1: ManagerBasedRlEnv) -> None:
    set_times(go1, AIR, NONE)
    command(go1, (1.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.4, 0.0, 0.2))
    value = mdp.feet_air_time(go1, FEET, "twist")
    # The second world's command is not above the threshold of 0.5.
    check(value, 2.0, 0.0, 1.0)


HEIGHTS = [[0.1, 0.0, 0.15, 0.3], [0.1] * 4, [0.0] * 4]
VELOCITIES = [
    [[3.0, 4.0, 9.0], [0.0, 0.0, 9.0], [0.6, -0.8, 0.0], [0.0, 2.0, 0.0]],
    [[1.0, 0.0, 0.0]] * 4,
    [[1.0, 0.0, 0.0]] * 4,
]


def feet() -> Any:
    """Set heights and velocities of feet."""
    places = [[[0.0, 0.0, height] for height in row] for row in HEIGHTS]
    return selection(site_pos_w=places, site_lin_vel_w=VELOCITIES)


def test_clearance_weighs_the_height_error_by_speed(go1: ManagerBasedRlEnv) -> None:
    command(go1, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    value = mdp.feet_clearance(
        go1, target_height=0.1, command_name="twist", asset_cfg=feet()
    )
    # 0 * 5 + 0.1 * 0 + 0.05 * 1 + 0.2 * 2; the third world stands.
    check(value, 0.45, 0.0, 0.0)


def test_slip_counts_feet_on_the_ground(go1: ManagerBasedRlEnv) -> None:
    command(go1, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    down = [[0.1, 0.2, 0.005, 0.0], [0.0, 0.0, 0.0, 0.3], [0.1] * 4]
    up = [[0.0, 0.0, 0.0, 0.1], [0.1, 0.1, 0.1, 0.0], [0.0] * 4]
    set_times(go1, up, down)
    value = mdp.feet_slip(go1, FEET, "twist", asset_cfg=feet())
    # 25 + 0 + 1, and one of four feet at 1 m/s.
    check(value, 26.0, 1.0, 0.0)


def test_swing_height_is_judged_once_at_landing(go1: ManagerBasedRlEnv) -> None:
    params = {"sensor_name": FEET, "target_height": 0.1, "command_name": "twist"}
    feet_cfg = SceneEntityCfg("robot", site_names=("FR", "FL", "RR", "RL"))
    cfg = RewardTermCfg(
        func=mdp.feet_swing_height, params=params | {"asset_cfg": feet_cfg}
    )
    term = mdp.feet_swing_height(cfg, go1)
    command(go1, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))

    def cost(height: float, air: float, contact: float) -> torch.Tensor:
        places = [[[0.0, 0.0, height]] + [[0.0, 0.0, 0.0]] * 3] * 3
        set_times(go1, [[air] + [0.0] * 3] * 3, [[contact] + [1.0] * 3] * 3)
        return term(go1, **params, asset_cfg=selection(site_pos_w=places))

    check(cost(0.03, 0.02, 0.0), 0.0, 0.0, 0.0)
    check(cost(0.15, 0.04, 0.0), 0.0, 0.0, 0.0)
    term.reset(torch.tensor([False, True, False]))
    check(cost(0.02, 0.06, 0.0), 0.0, 0.0, 0.0)
    # The highest point was 0.15, so (1.5 - 1)²; 0.02 since the reset, so (0.2 - 1)².
    check(cost(0.01, 0.0, 0.01), 0.25, 0.64, 0.25)
    check(cost(0.0, 0.0, 0.03), 0.0, 0.0, 0.0)
    # The next swing starts at zero.
    check(cost(0.05, 0.02, 0.0), 0.0, 0.0, 0.0)
    check(cost(0.0, 0.0, 0.02), 0.25, 0.25, 0.25)


def test_landing_costs_the_largest_force_of_the_step(go1: ManagerBasedRlEnv) -> None:
    command(go1, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    landed, stays, flies = [0.0, 0.01], [0.0, 0.1], [0.2, 0.0]
    phases = torch.tensor([[landed, landed, stays, flies]] * 3)
    set_times(go1, phases[..., 0].tolist(), phases[..., 1].tolist())
    forces = torch.zeros(3, 4, 4, 3)
    forces[:, 0, 0] = torch.tensor([0.0, 0.0, 10.0])
    forces[:, 0, 2] = torch.tensor([0.0, 30.0, -40.0])
    forces[:, 1, 3] = torch.tensor([2.0, 0.0, 0.0])
    forces[:, 2:] = 1000.0
    set_forces(go1, forces)
    check(mdp.soft_landing(go1, FEET, "twist"), 52.0, 52.0, 0.0)


def test_contacts_cost_by_the_physics_step(go1: ManagerBasedRlEnv) -> None:
    forces = torch.zeros(3, 4, 4, 3)
    forces[0, 0, :, 2] = torch.tensor([9.9, 10.1, 0.0, 50.0])
    forces[0, 3, 1] = torch.tensor([-8.0, 0.0, 8.0])
    forces[1, 2] = 7.0
    set_forces(go1, forces)
    # Four times sqrt(3) * 7 = 12.1 in the second world.
    check(mdp.contact_cost(go1, FEET, force_threshold=10.0), 3.0, 4.0, 0.0)


def test_the_critic_observes_the_last_contacts(go1: ManagerBasedRlEnv) -> None:
    air = [[0.0, 0.1, 0.0, 0.1]] * 3
    set_times(go1, air, [[0.2, 0.0, 0.005, 0.0]] * 3)
    torch.testing.assert_close(mdp.foot_air_time(go1, FEET), torch.tensor(air))
    assert mdp.foot_contact(go1, FEET).tolist() == [[1.0, 0.0, 1.0, 0.0]] * 3
    forces = torch.zeros(3, 4, 4, 3)
    forces[:, 1, 0] = torch.tensor([1.0, -1.0, math.e - 1.0])
    forces[:, 1, 1] = 99.0  # Older.
    set_forces(go1, forces)
    seen = mdp.foot_contact_forces(go1, FEET)
    assert seen.shape == (3, 12)
    check(seen[0, 3:6], math.log(2.0), -math.log(2.0), 1.0)
    assert not seen[:, :3].any() and not seen[:, 6:].any()


def test_a_sensor_without_contacts_is_an_error(go1: ManagerBasedRlEnv) -> None:
    with pytest.raises(TypeError, match=r"imu_lin_vel.*not a contact sensor"):
        mdp.foot_contact(go1, "robot/imu_lin_vel")


# Ground on an inclined plane and on steps.

HOPPER = """
<mujoco><worldbody><body name="base" pos="0 0 2"><freejoint/>
<geom size="0.1" group="3" contype="0" conaffinity="0"/>
<site name="left" pos="0.1 0.2 -0.5"/><site name="right" pos="0.1 -0.2 -0.5"/>
</body></worldbody></mujoco>
"""
SLOPE = math.radians(20.0)


class Hopper(FakeEnv):
    """A floating base with two feet, above the ground that `ground` adds."""

    def __init__(self, ground: Any) -> None:
        super().__init__(2)
        sites = [
            ObjRef(type="site", name=name, entity="robot") for name in ("left", "right")
        ]
        base = ObjRef(type="xbody", name="base", entity="robot")
        scene_cfg = SceneCfg(
            num_envs=2,
            entities={"robot": from_xml(HOPPER)},
            sensors=(
                RayCastSensorCfg(
                    name="scan",
                    frame=base,
                    pattern=GridPatternCfg(size=(1.6, 1.0)),
                    ray_alignment="yaw",
                    include_geom_groups=(0,),
                ),
                FootHeightSensorCfg(name="height", frame=tuple(sites)),
            ),
            spec_fn=ground,
        )
        sim_cfg = SimulationCfg(backend="native", num_threads=1)
        built = build_scene(scene_cfg)
        self.sim = Simulation(compile_model(built.spec, sim_cfg), 2, sim_cfg)
        self.scene: Scene = Scene(scene_cfg, built, self.sim, self.rng)

    def place(self, x: float, y: float, z: float, yaw: float = 0.0) -> None:
        """Place both worlds' bases, regardless of the ground."""
        pose = torch.tensor([[x, y, z, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]])
        robot = self.scene.entity("robot")
        robot.write_root_pose_w(self.everyone, pose.expand(2, 7))
        self.sim.forward()
        self.scene.refresh()


def slope(spec: mujoco.MjSpec) -> None:
    """A plane through the origin that rises along x."""
    half = SLOPE / 2
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 1],
        quat=[math.cos(half), 0.0, -math.sin(half), 0.0],
    )


def steps(spec: mujoco.MjSpec) -> None:
    """Steps that rise along x, and a wall next to them."""
    for i in range(-4, 5):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[0.15, 2.0, 1.0],
            pos=[0.3 * i, 0.0, 0.1 * i - 1.0],
        )


def elsewhere(spec: mujoco.MjSpec) -> None:
    """Ground outside the range of all rays."""
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=[1.0, 1.0, 1.0], pos=[100.0, 0.0, 0.0]
    )


def test_foot_heights_match_the_geometry() -> None:
    env: Any = Hopper(slope)
    env.place(0.5, 0.0, 2.0)
    env.sim.sense()
    height = mdp.foot_height(env, "height")
    # Both feet are at x = 0.6 and z = 1.5.
    expected = 1.5 - 0.6 * math.tan(SLOPE)
    torch.testing.assert_close(height, torch.full((2, 2), expected))


def test_foot_heights_between_ray_updates_follow_the_facet() -> None:
    env: Any = Hopper(slope)
    env.place(0.5, 0.0, 2.0)
    env.sim.sense()
    env.place(0.9, -0.3, 2.2)
    height = mdp.foot_height(env, "height")
    expected = 1.7 - 1.0 * math.tan(SLOPE)
    torch.testing.assert_close(height, torch.full((2, 2), expected))


def test_without_ground_the_height_is_the_length_of_the_ray() -> None:
    env: Any = Hopper(elsewhere)
    env.place(0.0, 0.0, 2.0)
    env.sim.sense()
    # Rays are 2 m long and start 0.5 m above the feet.
    torch.testing.assert_close(mdp.foot_height(env, "height"), torch.full((2, 2), 1.5))


def test_the_normal_of_a_slope_is_its_normal() -> None:
    env: Any = Hopper(slope)
    env.place(0.5, 0.3, 2.0, yaw=0.8)
    env.sim.sense()
    expected = torch.tensor([[-math.sin(SLOPE), 0.0, math.cos(SLOPE)]] * 2)
    torch.testing.assert_close(
        mdp.ground_normal(env, "scan"), expected, atol=1e-5, rtol=0.0
    )


def test_the_normal_of_steps_is_the_least_squares_plane() -> None:
    env: Any = Hopper(steps)
    env.place(0.9, 0.3, 2.0, yaw=0.5)
    env.sim.sense()
    rays = env.scene.sensor("scan").data
    hits = rays.hit_pos_w[0][rays.hit[0]].double().numpy()
    # Some rays pass the last step and miss.
    assert 100 < len(hits) < 187
    design = np.column_stack([hits[:, :2], np.ones(len(hits))])
    (a, b, _), *_ = np.linalg.lstsq(design, hits[:, 2], rcond=None)
    expected = torch.tensor(np.array([-a, -b, 1.0]) / math.sqrt(a * a + b * b + 1.0))
    found = mdp.ground_normal(env, "scan")[0]
    torch.testing.assert_close(found.double(), expected, atol=1e-4, rtol=0.0)
    twice = mdp.ground_normal(env, "scan", "scan")[0]
    torch.testing.assert_close(twice, found, atol=1e-5, rtol=0.0)
    assert a == pytest.approx(1.0 / 3.0, abs=0.05)


def test_without_ground_the_normal_is_vertical() -> None:
    env: Any = Hopper(elsewhere)
    env.place(0.0, 0.0, 2.0)
    env.sim.sense()
    expected = torch.tensor([[0.0, 0.0, 1.0]] * 2)
    torch.testing.assert_close(mdp.ground_normal(env, "scan"), expected)


def test_upright_on_a_slope_is_along_its_normal() -> None:
    env: Any = Hopper(slope)
    env.place(0.5, 0.0, 2.0)
    env.sim.sense()
    body = SceneEntityCfg("robot", body_names="base")
    sine = math.sin(SLOPE)
    expected = math.exp(-(sine**2) / 0.2)
    check(
        upright(env, asset_cfg=body, terrain_sensor_names=("scan",))(),
        expected,
        expected,
    )
    check(upright(env, asset_cfg=body)(), 1.0, 1.0)
