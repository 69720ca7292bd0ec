"""Ray-cast images compared with MuJoCo's renderer, for every shape."""

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
    """Return depth, geoms and colours, each with worlds as the first dimension."""
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
def test_depth_equals_mujocos_renderer_to_a_tenth_of_a_millimetre(
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
    # Differences are at outlines, where one of them hits the object behind.
    same = labels[..., 0] == geoms
    assert same.mean() >= 0.995
    assert close[same].mean() >= 0.9995
    kinds = {int(model.geom_type[geom]) for geom in np.unique(geoms[geoms >= 0])}
    assert len(kinds) == len(set(model.geom_type))
    for geom in np.unique(geoms[geoms >= 0]):
        there = same & (geoms == geom)
        off = (~close[there]).sum()  # A pixel of a ball differed by 0.106 mm.
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
    # MuJoCo renders meshes and height fields with smooth normals.
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
def test_a_difference_in_one_world_changes_only_pixels_of_that_world(
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
    """Compared with NumPy's intersections of boxes all around the camera."""
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
def test_a_diverged_world_leaves_the_others_unchanged():
    sim, sensor = worlds_by_rays(shapes_model())
    before = sensor.data.depth.clone()
    sim.data.qpos[2] = float("nan")
    sim.data.qpos[5, 0] = 1e30
    sim.forward()
    sim.sense()
    sound = torch.tensor([world not in (2, 5) for world in range(WORLDS)])
    assert torch.equal(sensor.data.depth[sound], before[sound])
    assert torch.isfinite(sensor.data.depth).all()


# --- One camera over a plane, against the formula of OpenGL's lights ------------------

HIGH = 2.0
"""Height of a camera that looks down at a plane, m."""

LIT = """
<mujoco>
  <visual><headlight ambient="0 0 0" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <light {light} ambient=".1 .05 0" diffuse=".6 .5 .4" specular="0 0 0"/>
    <geom type="plane" size="0 0 1" rgba=".8 .7 .6 1"/>
    <body><freejoint/><geom size=".001" pos="9 9 9"/></body>
    <camera name="corner" pos="0 0 2" fovy="60"/>
  </worldbody>
</mujoco>
"""


def seen_by_rays(text: str, kind: str) -> np.ndarray:
    """Return one image of one world."""
    cfg = CameraSensorCfg(
        name="eye",
        camera="corner",
        width=SIZE[0],
        height=SIZE[1],
        data_types=(kind,),  # pyright: ignore[reportArgumentType]
        max_distance=50.0,
        renderer=RayRendererCfg(),
    )
    sim_cfg = SimulationCfg(backend="native", mujoco=MujocoCfg())
    sim = Simulation(mujoco.MjModel.from_xml_string(text), 1, sim_cfg, device="cpu")
    sensor = bind_sensors([cfg], sim)["eye"]
    sim.forward()
    sim.sense()
    return getattr(sensor.data, kind)[0].numpy()


@pytest.mark.parametrize(
    ("kind", "pos", "direction", "cutoff", "exponent", "fade"),
    [
        ("spot", (0.0, 0.0, 1.0), (0, 0, -1), 30.0, 0.0, (1, 0, 0)),
        ("spot", (0.3, -0.2, 0.5), (0, 0, -1), 60.0, 3.0, (1, 0.2, 0.1)),
        ("spot", (-0.5, 0.0, 0.8), (1, 0, -1), 20.0, 0.0, (1, 0, 0)),
        ("spot", (0.0, 0.0, 1.0), (0, 0, 1), 30.0, 0.0, (1, 0, 0)),
        ("point", (0.4, 0.1, 0.7), (0, 0, -1), 20.0, 5.0, (1, 0.5, 0.3)),
        ("directional", (0.0, 0.0, 1.0), (0.6, 0.0, -0.8), 20.0, 5.0, (1, 0.5, 0.3)),
    ],
)
def test_a_plane_is_lit_by_the_opengl_formula(
    kind, pos, direction, cutoff, exponent, fade
):
    """Spots light a cone of `cutoff` degrees; other lights have no cone.

    A spot at 1 m with a cutoff of 30 degrees lights a disc of tan(30) = 0.577 m.
    """
    row = " ".join
    given = {"type": kind, "pos": pos, "dir": direction, "attenuation": fade}
    given |= {"cutoff": (cutoff,), "exponent": (exponent,)}
    words = {n: v if isinstance(v, str) else row(map(str, v)) for n, v in given.items()}
    picture = seen_by_rays(
        LIT.format(light=row(f'{n}="{v}"' for n, v in words.items())), "rgb"
    )
    up = HIGH * np.tan(np.radians(30.0))
    columns, rows = np.meshgrid(*((np.arange(n) + 0.5) / n * 2.0 - 1.0 for n in SIZE))
    place = np.stack((columns * up * SIZE[0] / SIZE[1], -rows * up, 0.0 * rows), -1)
    axis = np.array(direction) / np.linalg.norm(direction)
    to_light, share = np.broadcast_to(-axis, place.shape), np.ones(rows.shape)
    if kind != "directional":
        away = np.array(pos) - place
        far = np.linalg.norm(away, axis=-1)
        to_light = away / far[..., None]
        share = 1.0 / (fade[0] + fade[1] * far + fade[2] * far**2)
    angle = np.degrees(np.arccos(np.clip(-to_light @ axis, -1.0, 1.0)))
    if kind == "spot":
        inside = angle < cutoff
        bright = np.cos(np.radians(angle)).clip(min=0.0) ** exponent
        share = np.where(inside, share * bright, 0.0)
    facing = np.clip(to_light[..., 2], 0.0, None)[..., None]
    ambient, diffuse = np.array((0.1, 0.05, 0.0)), np.array((0.6, 0.5, 0.4))
    light = share[..., None] * (ambient + facing * diffuse)
    expected = 255.0 * np.array((0.8, 0.7, 0.6)) * light
    # At the edge of a cone, float32 can round to the other side.
    sure = np.abs(angle - cutoff) > 0.01 if kind == "spot" else np.isfinite(angle)
    np.testing.assert_allclose(picture[sure], expected[sure], atol=1.0)
    if kind != "spot" or direction[2] < 0:
        assert expected.max() > 40.0, "Something is lit."


@pytest.mark.parametrize(
    "principal", [(0.0008, 0.0), (-0.0008, 0.0), (0.0, 0.0006), (0.0004, -0.0006)]
)
def test_an_off_centre_lens_shows_the_window_of_mujoco(principal):
    """The window is MuJoCo's frustum, and its rays determine its contents."""
    text = f"""
    <mujoco>
      <worldbody>
        <camera name="corner" pos=".1 -.2 2" euler="10 -15 40" resolution="48 32"
          sensorsize=".006 .004" focal=".004 .0045" principal="{principal[0]}
          {principal[1]}"/>
        <geom type="box" size=".5 .1 .1" pos=".3 .4 0" euler="0 0 30"/>
        <geom type="box" size=".2 .2 .3" pos="-.7 -.4 0"/>
        <geom type="box" size=".3 .1 .2" pos=".5 -.8 .2"/>
        <geom type="plane" size="0 0 1" pos="0 0 -.3"/>
        <body><freejoint/><geom size=".001" pos="9 9 9"/></body>
      </worldbody>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED.value
    camera.fixedcamid = 0
    scene, option = mujoco.MjvScene(model, maxgeom=10), mujoco.MjvOption()
    every = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(model, data, option, None, camera, every, scene)
    window = scene.camera[0]
    expected = np.full((SIZE[1], SIZE[0]), -1)
    turn, geom = data.cam_xmat[0].reshape(3, 3), np.zeros(1, np.int32)
    for row, column in np.ndindex(expected.shape):
        across = 2.0 * (column + 0.5) / SIZE[0] - 1.0
        down = (row + 0.5) / SIZE[1]
        x = window.frustum_center + across * window.frustum_width
        y = window.frustum_top + down * (window.frustum_bottom - window.frustum_top)
        ray = turn @ np.array((x, y, -window.frustum_near))
        ray /= np.linalg.norm(ray)
        mujoco.mj_ray(model, data, data.cam_xpos[0], ray, None, 1, -1, geom)
        expected[row, column] = geom[0]
    found = seen_by_rays(text, "segmentation")[..., 0]
    assert len(np.unique(expected)) >= 3, "Several geoms are in view."
    # A ray through an edge can hit either side of it.
    assert (found == expected).mean() > 0.995


# --- Bad input ----------------------------------------------------------------------

_FLEX = """<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2"
  radius=".01"/><geom size=".1"/><camera name="corner"/>"""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"use_shadows": True},
            "Camera sensor 'eye': RayRendererCfg does not support shadows: set "
            "use_shadows=False, or renderer=None for MuJoCo's renderer.",
        ),
        (
            {"camera": "map"},
            "Camera sensor 'eye': RayRendererCfg does not support orthographic "
            "cameras: set renderer=None for MuJoCo's renderer.",
        ),
        (
            {"geom_groups": (4,)},
            "geom_groups=(4,) matches no geom: the geoms of the scene are in groups "
            "[0].",
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
        "Camera sensor 'eye': RayRendererCfg does not support flexes, and the scene "
        "has 1: set renderer=None for MuJoCo's renderer."
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
