"""Draw `docs/images/vision.png`: three worlds as cameras see them by rays.

    python docs/render_vision.py

Each row is a world of the shapes that tests compare, in colour, depth and geoms.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from PIL import Image

from mjlab.render import RayRendererCfg
from mjlab.sensor import CameraSensorCfg, bind_sensors
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg
from tests.worlds.shapes import shapes_model, strewn

WORLDS, SIZE, SCALE = 3, 128, 2
FAR = 5.0


def main() -> None:
    """Draw and save."""
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
    size = (picture.shape[1] * SCALE, picture.shape[0] * SCALE)
    image = Image.fromarray(picture).resize(size, Image.Resampling.NEAREST)
    image.save(Path(__file__).parent / "images" / "vision.png", optimize=True)


if __name__ == "__main__":
    main()
