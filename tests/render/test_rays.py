"""Pictures by rays against those of MuJoCo's renderer, of every shape."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab.render import RayRendererCfg
from mjlab.sensor import CameraSensorCfg, Sensor, VisionError, bind_sensors
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg
from tests.worlds.shapes import XML, shapes_model, strewn

WORLDS = 8
FAR = 6.0
SIZE = (48, 32)
GEOM = int(mujoco.mjtObj.mjOBJ_GEOM)


def worlds_by_rays(
    model: mujoco.MjModel, camera: str = "corner", threads: int = 2
) -> tuple[Simulation, Sensor]:
    cfg = CameraSensorCfg(
        name="eye",
        camera=camera,
        width=SIZE[0],
        height=SIZE[1],
        data_types=("rgb", "depth", "segmentation"),
        max_distance=FAR,
        renderer=RayRendererCfg(),
    )
    sim_cfg = SimulationCfg(backend="native", mujoco=MujocoCfg(), num_threads=threads)
    sim = Simulation(model, WORLDS, sim_cfg, device="cpu")
    sensor = bind_sensors([cfg], sim)["eye"]
    sim.data.qpos[:] = torch.from_numpy(strewn(model, WORLDS))
    sim.forward()
    sim.sense()
    return sim, sensor


def drawn_by_mujoco(
    model: mujoco.MjModel, camera: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth, geoms and colours, each with a first dimension of worlds."""
    data, found = mujoco.MjData(model), ([], [], [])
    option = mujoco.MjvOption()
    with mujoco.Renderer(model, height=SIZE[1], width=SIZE[0]) as renderer:
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        for qpos in strewn(model, WORLDS):
            data.qpos[:] = qpos.astype(np.float32)
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, camera, option)
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
            found[2].append(renderer.render().copy())
            renderer.enable_depth_rendering()
            found[0].append(renderer.render().copy())
            renderer.disable_depth_rendering()
            renderer.enable_segmentation_rendering()
            found[1].append(renderer.render().copy())
            renderer.disable_segmentation_rendering()
    depth, geoms, rgb = (np.stack(pictures) for pictures in found)
    return depth, geoms, rgb


@pytest.mark.slow
@pytest.mark.parametrize("camera", ["corner", "lens"])
def test_depth_is_that_of_mujocos_renderer_to_a_tenth_of_a_millimetre(
    camera, renderer_works, record_property
):
    """On spheres, boxes, capsules, cylinders, ellipsoids, meshes, hills and planes."""
    model = shapes_model()
    _, sensor = worlds_by_rays(model, camera)
    depth, labels, _ = drawn_by_mujoco(model, camera)
    seen = sensor.data.depth[..., 0].numpy()
    geoms = sensor.data.segmentation[..., 0].numpy()
    close = np.abs(seen - np.minimum(depth, FAR)) < 1e-4
    record_property("summary", f"depth within 0.1 mm on {close.mean():.2%} of pixels")
    assert close.mean() >= 0.995
    # What differs is at an outline, where one of them sees the thing behind.
    same = labels[..., 0] == geoms
    assert same.mean() >= 0.995
    assert close[same].mean() >= 0.9995
    kinds = {int(model.geom_type[geom]) for geom in np.unique(geoms[geoms >= 0])}
    assert len(kinds) == len(set(model.geom_type))
    for geom in np.unique(geoms[geoms >= 0]):
        there = same & (geoms == geom)
        off = (~close[there]).sum()  # A pixel of a ball was 0.106 mm off.
        assert there.sum() > 10, model.geom(geom).name
        assert off <= max(1, 0.005 * there.sum()), model.geom(geom).name
    assert (sensor.data.segmentation[..., 1].numpy()[geoms >= 0] == GEOM).all()


@pytest.mark.slow
def test_colours_are_mujocos_without_gloss_shadows_and_smooth_edges(
    renderer_works, record_property
):
    model = shapes_model()
    _, sensor = worlds_by_rays(model)
    _, labels, rgb = drawn_by_mujoco(model, "corner")
    same = labels[..., 0] == sensor.data.segmentation[..., 0].numpy()
    # Meshes and hills are drawn smooth by MuJoCo, which turns their normals.
    flat = ~np.isin(
        labels[..., 0], [model.geom(name).id for name in ("hills", "wedge")]
    )
    apart = np.abs(rgb.astype(int) - sensor.data.rgb.numpy().astype(int)).max(-1)
    record_property("summary", f"colours {apart[same & flat].mean():.2f} of 255 apart")
    assert (apart[same & flat] <= 3).mean() > 0.98
    assert rgb[same & flat].std() > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "element", "value"),
    [
        ("geom_rgba", "ball", (0.1, 0.9, 0.1, 1.0)),
        ("geom_size", "box", (0.3, 0.2, 0.1)),
        ("cam_fovy", "corner", 30.0),
        ("cam_pos", "corner", (-2.0, -1.5, 1.9)),
        ("light_diffuse", 0, (0.9, 0.1, 0.1)),
        ("light_pos", 0, (-1.0, 0.0, 2.0)),
        ("mat_rgba", "matt", (0.1, 0.1, 0.9, 1.0)),
    ],
)
def test_what_differs_in_one_world_changes_pixels_of_that_world_alone(
    field, element, value
):
    model = shapes_model()
    sim, sensor = worlds_by_rays(model)
    before = {name: image.clone() for name, image in sensor.state().items()}
    sim.expand(field)
    kind = {"geom": model.geom, "cam": model.camera, "mat": model.mat}
    index = element
    if isinstance(element, str):
        index = kind[field.split("_")[0]](element).id
    if field == "mat_rgba":  # The default colour shows the material.
        assert model.geom("ball").matid == index
    getattr(sim.model, field)[3, index] = torch.as_tensor(value)
    sim.forward()
    sim.sense()
    others = torch.arange(WORLDS) != 3
    changed = (sensor.data.rgb != before["rgb"]).any(-1)
    assert changed[3].sum() > 5
    for name in ("rgb", "depth", "segmentation"):
        assert torch.equal(getattr(sensor.data, name)[others], before[name][others])


@pytest.mark.slow
def test_pictures_are_bit_equal_at_any_number_of_threads():
    model = shapes_model()
    pictures = [worlds_by_rays(model, "lens", n)[1].data for n in (1, 2, 3)]
    for other in pictures[1:]:
        assert torch.equal(pictures[0].rgb, other.rgb)
        assert torch.equal(pictures[0].depth, other.depth)


@pytest.mark.slow
def test_boxes_that_reach_behind_the_camera_are_drawn_to_their_last_pixel():
    """Against where numpy's rays enter boxes that lie all around the camera."""
    rng = np.random.default_rng(0)
    pos, half = rng.uniform(-1.0, 1.0, (60, 3)), rng.uniform(0.02, 0.5, (60, 3))
    quat = rng.normal(size=(60, 4))
    spec = mujoco.MjSpec()
    for i in range(60):
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, pos=pos[i], size=half[i], quat=quat[i]
        )
    body = spec.worldbody.add_body(name="head")
    body.add_freejoint()
    body.add_geom(size=[0.001, 0.0, 0.0], mass=1.0, group=5)
    body.add_camera(name="corner", fovy=80.0)
    model = spec.compile()
    sim, sensor = worlds_by_rays(model)
    columns, rows = np.meshgrid(*(np.arange(n) + 0.5 for n in SIZE))
    up = np.tan(np.radians(40.0))
    x = (2.0 * columns / SIZE[0] - 1.0) * up * SIZE[0] / SIZE[1]
    rays = np.stack((x, (1.0 - 2.0 * rows / SIZE[1]) * up, -np.ones_like(x)), axis=-1)
    behind = 0
    for world in range(WORLDS):
        eye = sim.data.cam_xpos[world, 0].double().numpy()
        mat = sim.data.cam_xmat[world, 0].double().numpy().reshape(3, 3)
        expected = np.full((SIZE[1], SIZE[0]), FAR)
        for i in range(60):
            box = np.empty(9)
            mujoco.mju_quat2Mat(box, model.geom_quat[i])
            box = box.reshape(3, 3)
            start, ray = (eye - pos[i]) @ box, rays @ mat.T @ box
            sides = np.stack([(side * half[i] - start) / ray for side in (-1, 1)])
            enter, leave = sides.min(0).max(-1), sides.max(0).min(-1)
            seen = (enter <= leave) & (enter >= 0.01)
            expected = np.where(seen, np.minimum(expected, enter), expected)
            corners = (np.indices((2, 2, 2)).reshape(3, 8).T * 2 - 1) * half[i]
            ahead = -(((corners @ box.T) + pos[i] - eye) @ mat)[:, 2] > 0.01
            behind += seen.any() and ahead.any() and not ahead.all()
        close = np.abs(sensor.data.depth[world, ..., 0].numpy() - expected) < 1e-4
        assert close.mean() > 0.999
    assert behind > 20


@pytest.mark.slow
def test_a_world_that_is_not_finite_leaves_the_others_as_they_are():
    sim, sensor = worlds_by_rays(shapes_model())
    before = sensor.data.depth.clone()
    sim.data.qpos[2] = float("nan")
    sim.data.qpos[5, 0] = 1e30
    sim.forward()
    sim.sense()
    sound = torch.tensor([world not in (2, 5) for world in range(WORLDS)])
    assert torch.equal(sensor.data.depth[sound], before[sound])
    assert torch.isfinite(sensor.data.depth).all()


# --- Bad input ----------------------------------------------------------------------

_FLEX = """<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2"
  radius=".01"/><geom size=".1"/><camera name="corner"/>"""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"use_shadows": True},
            "Camera sensor 'eye': RayRendererCfg draws no shadows: set "
            "use_shadows=False, or renderer=None for MuJoCo's own.",
        ),
        (
            {"camera": "map"},
            "Camera sensor 'eye': RayRendererCfg draws perspective, and this camera is "
            "orthographic: set renderer=None for MuJoCo's own.",
        ),
        (
            {"geom_groups": (4,)},
            "geom_groups=(4,) shows nothing: the geoms of the scene are in groups [0].",
        ),
    ],
)
def test_a_picture_that_rays_cannot_draw_is_refused(settings, message):
    spec = mujoco.MjSpec.from_string(XML)
    spec.worldbody.add_camera(name="map", proj=mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC)
    refused(spec, settings, message)


def test_soft_bodies_are_refused_by_rays():
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{_FLEX}</worldbody></mujoco>")
    message = (
        "Camera sensor 'eye': RayRendererCfg draws no flexes, of which the scene has "
        "1: set renderer=None for MuJoCo's own."
    )
    refused(spec, {}, message)


def refused(spec: mujoco.MjSpec, settings: dict, message: str) -> None:
    cfg = CameraSensorCfg(
        **{"name": "eye", "camera": "corner", "renderer": RayRendererCfg()} | settings
    )
    sim_cfg = SimulationCfg(backend="native", mujoco=MujocoCfg())
    sim = Simulation(spec.compile(), 1, sim_cfg, device="cpu")
    with pytest.raises(VisionError) as caught:
        bind_sensors([cfg], sim)
    assert str(caught.value) == message
