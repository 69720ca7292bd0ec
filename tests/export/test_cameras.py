"""Vision-based policies: the contract's camera agrees with its images."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.cli import export
from mjlab.envs import ManagerBasedRlEnv, Policy
from mjlab.export import OnnxPolicy
from mjlab.export.cameras import camera_facts
from mjlab.export.drive import GROUP, input_group
from mjlab.export.runner.camera import DepthCamera
from mjlab.export.runner.policy import ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from mjlab.rl import DistillationAgentCfg, load_policy
from mjlab.tasks.manipulation import TRAINED, LiftYamDepthCfg, ReachYamDepthCfg
from mjlab.tasks.manipulation.mdp import goal_command
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.rl import lift_seeing_rl, reach_depth_rl
from mjlab.tasks.manipulation.sight import CAMERA, PIXELS
from tests.worlds.shipped import shipped


def made(cfg: Any) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = 1, 4, "native"
    return ManagerBasedRlEnv(cfg, device="cpu")


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The shipped policy as a file, and its contract."""
    path = tmp_path_factory.mktemp("onnx") / "reach.onnx"
    export.main(["Reach-Yam-Depth", "--logs", str(path.parent), "--out", str(path)])
    return path, json.loads(path.with_suffix(".contract.json").read_text())


def camera_of(contract: dict[str, Any]) -> dict[str, Any]:
    (found,) = (e for e in contract["inputs"] if "camera" in e["measured"])
    assert found["dtype"] == "uint8" and found["shape"] == [1, PIXELS, PIXELS]
    return found["measured"]["camera"]


def drawn_by_mujoco(
    model: mujoco.MjModel, data: mujoco.MjData, camera: dict[str, Any]
) -> np.ndarray:
    """Return the image described by the contract, by MuJoCo's renderer."""
    with mujoco.Renderer(model, camera["size"][1], camera["size"][0]) as renderer:
        renderer.enable_depth_rendering()
        shown = mujoco.MjvOption()
        shown.geomgroup[:] = [1, 1, 1, 0, 0, 0]
        renderer.update_scene(data, camera["name"], shown)
        depth = renderer.render()
    near, far = camera["clip"]
    share = np.clip(depth, near, far) / far
    return np.round(camera["full"] * share).astype(np.uint8)[None]


def cast_by_mujoco(
    model: mujoco.MjModel, data: mujoco.MjData, camera: dict[str, Any]
) -> np.ndarray:
    """Return the same image by MuJoCo's rays, one through the centre of each pixel."""
    width, height = camera["size"]
    (focal_x, focal_y), (middle_x, middle_y) = camera["focal"], camera["center"]
    across = (np.arange(width) + 0.5 - middle_x) / focal_x
    down = (np.arange(height) + 0.5 - middle_y) / focal_y
    x, y = np.meshgrid(across, -down)
    # With -1 along the camera's axis, the length of a ray is the depth.
    rays = np.stack((x, y, np.full_like(x, -1.0)), axis=-1).reshape(-1, 3)
    seen = data.camera(camera["name"])
    rays = rays @ seen.xmat.reshape(3, 3).T
    near, far = camera["clip"]
    depth = [min(first_face(model, data, seen.xpos, ray, near), far) for ray in rays]
    picture = np.round(camera["full"] * np.array(depth) / far)
    return picture.astype(np.uint8).reshape(1, height, width)


def first_face(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    start: np.ndarray,
    ray: np.ndarray,
    near: float,
) -> float:
    """Return the first front-facing hit of a ray beyond `near`, as in OpenGL."""
    groups, found = np.array([1, 1, 1, 0, 0, 0], np.uint8), np.zeros(1, np.int32)
    way, normal = near, np.zeros(3)
    while True:
        more = mujoco.mj_ray(
            model, data, start + way * ray, ray, groups, True, -1, found, normal
        )
        if more < 0.0:
            return np.inf
        way += more
        if normal @ ray < 0.0:
            return way
        way += 1e-6


@dataclass
class Seeing:
    """A vision-based task, and its inputs measured from MuJoCo's state."""

    task: str
    cfg: Callable[[], Any]
    agent: Callable[[], DistillationAgentCfg]


SEEING = [
    Seeing("Reach-Yam-Depth", ReachYamDepthCfg, reach_depth_rl),
    Seeing("Lift-Yam-Depth", LiftYamDepthCfg, lift_seeing_rl),
]


@pytest.fixture(scope="module", params=SEEING, ids=lambda one: one.task)
def seeing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ManagerBasedRlEnv, Policy, OnnxPolicy]:
    """One world in the play configuration, deterministic; its network; and its file."""
    one: Seeing = request.param
    path = tmp_path_factory.mktemp("onnx") / "policy.onnx"
    export.main([one.task, "--logs", str(path.parent), "--out", str(path)])
    file, cfg = OnnxPolicy(path), one.cfg().play()
    cfg.events = {n: t for n, t in cfg.events.items() if t and t.mode == "reset"}
    cfg.observations[GROUP] = input_group(cfg, file.contract)
    env = made(cfg)
    return env, load_policy(TRAINED / one.task, env, one.agent()), file


def measured(
    said: dict[str, Any], data: mujoco.MjData, goal: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the file's inputs except the image, from MuJoCo's state."""
    found: dict[str, np.ndarray] = {}
    for entry in said["inputs"]:
        name = entry["name"]
        if name == "gripper_to_goal":
            found[name] = goal - data.site("robot/grasp_site").xpos
        elif entry["measured"]["kind"].startswith("joint"):
            field = "qvel" if name.endswith("vel") else "qpos"
            joints = [data.joint(f"robot/{joint}") for joint in entry["elements"]]
            found[name] = np.concatenate([getattr(joint, field) for joint in joints])
    return {name: value.astype(np.float32) for name, value in found.items()}


@pytest.mark.slow
def test_plain_mujoco_with_ray_images_moves_like_the_environment(
    seeing: tuple[ManagerBasedRlEnv, Policy, OnnxPolicy],
) -> None:
    """Compare twenty control steps, each from the environment's state and image.

    A ray along an edge hits one of two surfaces, depending on rounding: one such pixel
    moves joints by 2e-4 rad in a step, and contacts amplify this. Without such a pixel
    the maximum difference is 3e-6 rad on three instruction sets, and joints move by
    5e-3 to 0.1 rad.
    """
    env, network, file = seeing
    said = file.contract
    camera = camera_of(said)
    seen, _ = env.reset(seed=4)
    model, data = env.sim.mj_model, mujoco.MjData(env.sim.mj_model)
    (term,) = said["actions"]
    driven = {model.joint(model.actuator_trnid[i, 0]).name: i for i in range(model.nu)}
    # Joints without policy control hold the position in the contract.
    for joint in said["entities"]["robot"]["joints"]:
        if (index := driven.get(f"robot/{joint['name']}")) is not None:
            data.ctrl[index] = joint["default_pos"]
    goal = goal_command(env, GOAL).goal_pos_w[0].numpy().astype(float)
    file.reset()
    for _ in range(20):
        for name in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            getattr(data, name)[:] = getattr(env.sim.data, name)[0].numpy()
        mujoco.mj_forward(model, data)
        picture = cast_by_mujoco(model, data, camera)
        own = env.observation_manager.output[CAMERA]
        assert isinstance(own, torch.Tensor)
        levels = np.abs(own[0].numpy().astype(int) - picture.astype(int))
        assert np.mean(levels <= 1) > 0.995
        found = file(measured(said, data, goal) | {"depth": own[0].numpy()})
        for name, target in zip(term["targets"], found[term["output"]], strict=True):
            data.ctrl[driven[f"robot/{name}"]] = target
        for _ in range(said["rates"]["decimation"]):
            mujoco.mj_step(model, data)
        seen = env.step(network(seen))[0]
        ours = env.sim.data.qpos[0].numpy()
        np.testing.assert_allclose(ours, data.qpos, rtol=0, atol=3e-5)


def test_runner_renders_the_camera_of_the_contract(
    contract: tuple[Path, dict[str, Any]],
) -> None:
    path, said = contract
    policy = ContractPolicy(path)
    robot = MujocoRobot(policy)
    record = policy.record()
    robot.start(record["qpos"][3], record["qvel"][3])
    (entry,) = [each for each in said["inputs"] if each["name"] == "depth"]
    image = DepthCamera(robot, entry).image()
    assert image.dtype == np.uint8 and image.shape == (1, PIXELS, PIXELS)
    seen = cast_by_mujoco(robot.model, robot.data, camera_of(said))
    assert np.mean(np.abs(image.astype(int) - seen.astype(int)) <= 1) > 0.99
    # The goal is a mocap body, whose pose is not in the file: the image is repeated.
    robot.given = {name[6:]: v[0] for name, v in record.items() if name[:6] == "input "}
    robot.render_depth()
    repeated = robot.read({})["depth"]
    np.testing.assert_array_equal(repeated, record["input depth"][0])
    assert policy.constant_inputs() == ["depth"]
    assert policy.constant_inputs(depth=True) == []


@pytest.mark.slow
def test_with_the_same_observations_the_file_gives_the_same_actions(
    seeing: tuple[ManagerBasedRlEnv, Policy, OnnxPolicy],
) -> None:
    """Over 200 steps; relative for actions above 1.

    A softmax with low temperature amplifies rounding errors.
    """
    env, network, file = seeing
    most = {"Reach-Yam-Depth": 1e-5 / 0.03, "Lift-Yam-Depth": 1e-5}
    seen, _ = env.reset(seed=4)
    file.reset()
    error = 0.0
    for _ in range(200):
        told = env.observation_manager.output[GROUP]
        assert isinstance(told, dict)
        action = network(seen)
        found = file({name: value[0].numpy() for name, value in told.items()})
        expected = action[0].numpy()
        size = max(1.0, np.abs(expected).max())
        error = max(error, np.abs(found["action"] - expected).max() / size)
        seen, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            file.reset()
    assert error < most[file.contract["task"]]


@pytest.mark.slow
def test_shipped_policy_reaches_its_goal_in_onnxruntime_with_images_of_plain_mujoco(
    contract: tuple[Path, dict[str, Any]], renderer_works: None
) -> None:
    """Images of two renderers differ at outlines, so motions are compared."""
    path, said = contract
    camera, policy = camera_of(said), OnnxPolicy(path)
    env = made(ReachYamDepthCfg().play())
    env.reset(seed=4)
    model, data = env.sim.mj_model, mujoco.MjData(env.sim.mj_model)
    joints = {e["name"]: e for e in said["inputs"]}
    near, same = [], []
    network = load_policy(TRAINED / "Reach-Yam-Depth", env, reach_depth_rl())
    for _ in range(100):
        data.qpos[:] = env.sim.data.qpos[0].numpy()
        data.qvel[:] = env.sim.data.qvel[0].numpy()
        data.mocap_pos[:] = env.sim.data.mocap_pos[0].numpy()
        data.mocap_quat[:] = env.sim.data.mocap_quat[0].numpy()
        mujoco.mj_forward(model, data)
        given = {
            name: data.qpos if "pos" in name else data.qvel
            for name in ("joint_pos", "joint_vel")
        }
        values = {
            n: v[: joints[n]["shape"][0]].astype(np.float32) for n, v in given.items()
        }
        picture = drawn_by_mujoco(model, data, camera)
        seen = env.observation_manager.output
        own = seen[CAMERA]
        assert isinstance(own, torch.Tensor)
        same.append(np.abs(own[0].numpy().astype(int) - picture.astype(int)) <= 1)
        found = policy(values | {"depth": picture})
        # With its own image the network agrees up to rounding.
        fed = torch.from_numpy(picture)[None]
        expected = network({**seen, CAMERA: fed})[0].numpy()
        np.testing.assert_allclose(found["action"], expected, atol=4e-4)
        env.step(torch.from_numpy(found["action"])[None])
        near.append(env.command_manager.term("goal").distance().item())
    assert np.mean(same) > 0.99
    assert max(near[-12:]) < 0.05
    env.close()


def test_a_pinhole_with_a_sensor_has_its_focal_lengths_in_pixels() -> None:
    """The D405: sensor of 3.896 by 2.14 mm, 1.93 mm behind its pinhole."""
    env = made(LiftYamDepthCfg())
    term = env.observation_manager.term(f"{CAMERA}/depth")
    facts = camera_facts(env, term, torch.zeros(1, dtype=torch.uint8))
    focal = [32 * 1.93 / 3.896, 32 * 1.93 / 2.14]
    assert facts["focal"] == pytest.approx(focal, rel=1e-5)
    assert facts["center"] == pytest.approx([16.0, 16.0])
    assert facts["body"] == "robot/camera_frame" and facts["channels"] == ["depth"]
    assert facts["clip"] == [0.01, 0.5] and facts["full"] == 255.0
    env.close()


@pytest.mark.slow
def test_go1_climbs_stairs_in_the_runner_by_its_depth_images(tmp_path: Path) -> None:
    """Six steps of 15 cm; with the first image repeated, it stops at the first one."""
    policy = ContractPolicy(shipped("Velocity-Go1-Sight", tmp_path).path)
    files = policy.scene()
    spec = mujoco.MjSpec.from_string(files["scene.xml"].decode(), assets=files)
    for number in range(1, 7):
        height = 0.075 * number
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=(3.0, 2.0, height),
            pos=(3.65 + 0.35 * number, 0.0, height),
        )
    model = tmp_path / "stairs.xml"
    model.write_text(spec.to_xml())
    record = policy.record()
    qpos = record["qpos"][0].astype(float)
    qpos[3:7] = (1.0, 0.0, 0.0, 0.0)

    def reached(*, renders: bool) -> float:
        robot = MujocoRobot(policy, model)
        robot.start(qpos, np.zeros(robot.model.nv))
        robot.given = {"depth": record["input depth"][0]}
        if renders:
            robot.render_depth()
        policy.reset()
        for _ in range(400):
            robot.write(policy(robot.read({"twist": np.array((0.6, 0.0, 0.0))})))
            robot.wait()
        assert robot.upright() > 0.8
        return float(robot.data.qpos[2])

    assert reached(renders=True) > 1.0
    assert reached(renders=False) < 0.5
