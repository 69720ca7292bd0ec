"""Policies that see: what a contract says of a camera is what its pictures show."""

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import OnnxPolicy
from mjlab.export.cameras import camera_recipe, pinhole
from mjlab.rl import load_policy
from mjlab.tasks.manipulation import TRAINED, LiftYamDepthCfg, ReachYamDepthCfg
from mjlab.tasks.manipulation.rl import reach_depth_rl
from mjlab.tasks.manipulation.sight import CAMERA, PIXELS
from scripts import export


def made(cfg: Any) -> ManagerBasedRlEnv:
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = 1, 4, "native"
    return ManagerBasedRlEnv(cfg, device="cpu")


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The policy that ships, as a file, and what it says."""
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
    """The picture as the contract tells it, by MuJoCo's renderer and no more."""
    with mujoco.Renderer(model, camera["size"][1], camera["size"][0]) as renderer:
        renderer.enable_depth_rendering()
        shown = mujoco.MjvOption()
        shown.geomgroup[:] = [1, 1, 1, 0, 0, 0]
        renderer.update_scene(data, camera["name"], shown)
        depth = renderer.render()
    near, far = camera["clip"]
    share = np.clip(depth, near, far) / far
    return np.round(camera["full"] * share).astype(np.uint8)[None]


@pytest.mark.slow
def test_the_shipped_policy_reaches_by_onnxruntime_and_pictures_of_plain_mujoco(
    contract: tuple[Path, dict[str, Any]], renderer_works: None
) -> None:
    """Pictures of two renderers differ at outlines; so where they lead is compared."""
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
        # By its own picture the network does the same to rounding.
        fed = torch.from_numpy(picture)[None]
        expected = network({**seen, CAMERA: fed})[0].numpy()
        np.testing.assert_allclose(found["action"], expected, atol=4e-4)
        env.step(torch.from_numpy(found["action"])[None])
        near.append(env.command_manager.term("goal").distance().item())
    assert np.mean(same) > 0.99
    assert max(near[-12:]) < 0.05
    env.close()


def test_a_pinhole_with_a_sensor_has_its_focal_lengths_in_pixels() -> None:
    """The D405: a sensor of 3.896 by 2.14 mm, 1.93 mm behind its pinhole."""
    env = made(LiftYamDepthCfg())
    model = env.sim.mj_model
    focal, center = pinhole(model, model.camera("robot/camera_d405").id, 32, 32)
    assert focal == pytest.approx([32 * 1.93 / 3.896, 32 * 1.93 / 2.14], rel=1e-5)
    assert center == pytest.approx([16.0, 16.0])
    term = env.observation_manager.term(f"{CAMERA}/depth")
    facts = camera_recipe(env, term, torch.zeros(1, dtype=torch.uint8))["camera"]
    assert facts["body"] == "robot/camera_frame" and facts["channels"] == ["depth"]
    assert facts["clip"] == [0.01, 0.5] and facts["full"] == 255.0
    env.close()
