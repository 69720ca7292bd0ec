"""Draw every kind of terrain: `python docs/render_terrains.py` (headless works).

Difficulty increases away from the camera; kinds are ordered from right to left, flat
first.
"""

import os
import sys
from pathlib import Path

if sys.platform == "linux":
    os.environ.setdefault("MUJOCO_GL", "egl")

import mujoco
from PIL import Image

from mjlab.terrain import TerrainCfg, all_terrains, build_terrain

WIDTH, HEIGHT = 1920, 1080
IMAGE = Path(__file__).parent / "images" / "terrains.png"


def camera(distance: float) -> mujoco.MjvCamera:
    """Return a camera that looks along the rows, at the middle of the terrain."""
    view = mujoco.MjvCamera()
    view.lookat[:] = (-4.0, 0.0, 0.0)
    view.distance = distance
    view.azimuth = 0.0
    view.elevation = -42.0
    return view


def main() -> None:
    """Render the picture into docs/images."""
    generator = all_terrains(curriculum=True)
    generator.num_rows = 6
    generator.border_width = 2.0
    terrain = build_terrain(TerrainCfg(kind="generator", generator=generator))
    spec = terrain.spec
    spec.visual.global_.offwidth, spec.visual.global_.offheight = WIDTH, HEIGHT
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.2, 0.2, 0.2]
    spec.visual.quality.shadowsize = 8192
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.75, 0.82, 0.90],
        rgb2=[0.95, 0.96, 0.98],
        width=256,
        height=256,
    )
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        renderer.update_scene(data, camera(distance=88.0))
        IMAGE.parent.mkdir(exist_ok=True)
        Image.fromarray(renderer.render()).save(IMAGE)


if __name__ == "__main__":
    main()
