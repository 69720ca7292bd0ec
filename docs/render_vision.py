"""Draw `docs/images/vision.png` and `docs/images/sight.png`: ray-cast camera images.

    python docs/render_vision.py

In the first, each row shows a world with the shapes of the tests, in colour, depth and
segmentation. In the second, the first row shows eight worlds of `Reach-Yam-Depth`, and
the other rows one world each of `Lift-Yam-Depth`, `-Rgb` and `-Pick` during lifting,
the last one with its mask in green.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from PIL import Image

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.render import RayRendererCfg
from mjlab.sensor import CameraSensorCfg, bind_sensors
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg
from mjlab.tasks.manipulation import (
    LiftYamDepthCfg,
    LiftYamPickCfg,
    LiftYamRgbCfg,
    ReachYamDepthCfg,
)
from mjlab.tasks.manipulation.sight import CAMERA
from tests.worlds.shapes import shapes_model, strewn

WORLDS, SIZE, SCALE = 3, 128, 2
FAR = 5.0
LAST = 70


def main() -> None:
    """Draw and save both images."""
    shapes()
    tasks()


def tasks() -> None:
    """Draw the camera images of the vision-based tasks."""
    reach: Any = worlds_of(ReachYamDepthCfg(), 8).reset()[0]
    rows = [np.hstack([painted(picture) for picture in reach[CAMERA].numpy()])]
    for cfg in (LiftYamDepthCfg(), LiftYamRgbCfg(), LiftYamPickCfg()):
        env, moments = worlds_of(cfg, 1), []
        seen: Any = env.reset()[0]
        for step in range(LAST + 1):
            if step % (LAST // 7) == 0:
                moments.append(painted(seen[CAMERA][0].numpy()))
            seen = env.step(seen["expert"].clone())[0]
        rows.append(np.hstack(moments))
    save(np.vstack(rows), "sight.png", 3)


def painted(channels: np.ndarray) -> np.ndarray:
    """Return a depth image, a colour image, or a depth image with a green mask."""
    if len(channels) == 3:
        return channels.transpose(1, 2, 0)
    depth = np.repeat(channels[0, ..., None], 3, axis=-1)
    if len(channels) == 2:
        depth[channels[1] > 0] = (60, 200, 90)
    return depth


def worlds_of(cfg: ManagerBasedRlEnvCfg, num_envs: int) -> ManagerBasedRlEnv:
    """Return worlds of a task."""
    cfg.scene.num_envs, cfg.seed = num_envs, 1
    return ManagerBasedRlEnv(cfg, device="cpu")


def save(picture: np.ndarray, name: str, scale: int) -> None:
    """Save an image, with pixels enlarged by `scale`."""
    size = (picture.shape[1] * scale, picture.shape[0] * scale)
    image = Image.fromarray(picture).resize(size, Image.Resampling.NEAREST)
    image.save(Path(__file__).parent / "images" / name, optimize=True)


def shapes() -> None:
    """Draw shapes in colour, depth and segmentation."""
    eye = CameraSensorCfg(
        name="eye",
        camera="corner",
        width=SIZE,
        height=SIZE,
        data_types=("rgb", "depth", "segmentation"),
        max_distance=FAR,
        renderer=RayRendererCfg(),
    )
    model = shapes_model()
    cfg = SimulationCfg(backend="native", mujoco=MujocoCfg())
    sim = Simulation(model, WORLDS, cfg, device="cpu")
    sensor = bind_sensors([eye], sim)["eye"]
    sim.data.qpos[:] = torch.from_numpy(strewn(model, WORLDS))
    sim.forward()
    sim.sense()
    rgb = sensor.data.rgb.numpy()
    share = sensor.data.depth.numpy() / FAR
    depth = np.repeat((255 * (1.0 - share)).astype(np.uint8), 3, axis=-1)
    hues = np.random.default_rng(3).integers(60, 255, (model.ngeom + 1, 3), np.uint8)
    hues[-1] = 0
    labels = hues[sensor.data.segmentation[..., 0].numpy()]
    picture = np.concatenate(
        [np.hstack(row) for row in zip(rgb, depth, labels, strict=True)]
    )
    save(picture, "vision.png", SCALE)


if __name__ == "__main__":
    main()
