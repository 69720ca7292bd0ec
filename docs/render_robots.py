"""Make the pictures of the robots in docs/images: `python docs/render_robots.py`.

The project has to be installed (`pip install -e .`). Without a display, set
MUJOCO_GL=egl or MUJOCO_GL=osmesa.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from mjlab.tasks.robots import cartpole, g1, go1

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT = 720, 540


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Robot in a pose, with its camera."""

    name: str
    xml: Path
    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    base_pos: tuple[float, float, float] | None = None
    joint_pos: Mapping[str, float | tuple[float, ...]] | None = None


def studio(xml: Path) -> mujoco.MjSpec:
    """Return a robot's spec with ground, sky and three lights around it."""
    spec = mujoco.MjSpec.from_file(str(xml))
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 2 * WIDTH, 2 * HEIGHT
    spec.visual.quality.shadowsize = 8192
    spec.visual.headlight.ambient = [0.38, 0.38, 0.40]
    spec.visual.headlight.diffuse = [0.30, 0.30, 0.30]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]
    spec.visual.map.fogstart, spec.visual.map.fogend = 4.0, 14.0
    spec.visual.rgba.fog = [0.84, 0.88, 0.92, 1.0]
    spec.visual.rgba.haze = [0.84, 0.88, 0.92, 1.0]
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.66, 0.76, 0.87],
        rgb2=[0.92, 0.94, 0.96],
        width=256,
        height=256,
    )
    spec.add_texture(
        name="ground",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        mark=mujoco.mjtMark.mjMARK_EDGE,
        rgb1=[0.66, 0.68, 0.70],
        rgb2=[0.61, 0.63, 0.66],
        markrgb=[0.72, 0.74, 0.76],
        width=512,
        height=512,
    )
    ground = spec.add_material(name="ground", texrepeat=[2, 2], texuniform=True)
    ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "ground"
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], material="ground"
    )
    # A key light that casts shadows, and a cool fill light from the other side.
    for pos, strength, shadow in (
        ((1.5, -1.2, 3.0), 0.55, True),
        ((1, 2, 2), 0.2, False),
    ):
        spec.worldbody.add_light(
            pos=pos,
            dir=[-p for p in pos],
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            diffuse=[strength] * 3,
            specular=[0.6 * strength] * 3,
            castshadow=shadow,
        )
    return spec


def strike_pose(model: mujoco.MjModel, data: mujoco.MjData, picture: Picture) -> None:
    """Set the base position, and each joint to the value of its pattern."""
    for joint_id in range(model.njnt):
        joint = model.joint(joint_id)
        start = int(joint.qposadr[0])
        if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[start : start + 3] = picture.base_pos
            continue
        for pattern, value in (picture.joint_pos or {}).items():
            if re.fullmatch(pattern, joint.name):
                data.qpos[start : start + np.size(value)] = value
    mujoco.mj_forward(model, data)


def shoot(picture: Picture) -> np.ndarray:
    """Return an image, downsampled from twice the size for smooth edges."""
    model = studio(picture.xml).compile()
    data = mujoco.MjData(model)
    strike_pose(model, data, picture)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = picture.lookat
    camera.distance = picture.distance
    camera.azimuth = picture.azimuth
    camera.elevation = picture.elevation
    with mujoco.Renderer(model, 2 * HEIGHT, 2 * WIDTH) as renderer:
        renderer.update_scene(data, camera)
        pixels = renderer.render()
    blocks = pixels.reshape(HEIGHT, 2, WIDTH, 2, 3)
    return blocks.mean((1, 3)).round().astype(np.uint8)


def pictures() -> tuple[Picture, ...]:
    """Return the images of the documentation."""
    g1_pose, go1_pose = g1.knees_bent(), go1.home()
    return (
        Picture(
            name="g1",
            xml=g1.G1_XML,
            base_pos=g1_pose.pos,
            joint_pos=g1_pose.joint_pos,
            lookat=(0.0, 0.0, 0.64),
            distance=1.9,
            azimuth=150.0,
            elevation=-12.0,
        ),
        Picture(
            name="go1",
            xml=go1.GO1_XML,
            base_pos=go1_pose.pos,
            joint_pos=go1_pose.joint_pos,
            lookat=(0.0, 0.0, 0.17),
            distance=1.05,
            azimuth=140.0,
            elevation=-18.0,
        ),
        Picture(
            name="cartpole",
            xml=cartpole.CARTPOLE_XML,
            joint_pos={cartpole.SLIDER_JOINT: -0.4, cartpole.POLE_JOINT: 0.3},
            lookat=(0.0, 0.0, 1.05),
            distance=4.6,
            azimuth=105.0,
            elevation=-12.0,
        ),
    )


def main() -> None:
    """Write all images to docs/images."""
    IMAGES.mkdir(exist_ok=True)
    for picture in pictures():
        path = IMAGES / f"{picture.name}.png"
        image = Image.fromarray(shoot(picture))
        # A palette of 256 colours keeps the file small and shows no banding here.
        image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path} {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
