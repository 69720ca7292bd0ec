"""Ground map compared with MuJoCo's rays, including edges."""

import mujoco
import numpy as np
import pytest
import torch

from mjlab.registry import load_task
from mjlab.scene import build_scene
from mjlab.sensor import (
    GridPatternCfg,
    ObjRef,
    RayCastSensorCfg,
    RingPatternCfg,
    TerrainHeightSensorCfg,
)
from mjlab.sensor.ground_map import GroundMap
from mjlab.sensor.native_renderer import NativeRays
from mjlab.sim import compile_model
from tests.worlds.gallery import Gallery, build_gallery

HEIGHTS = " ".join(
    f"{value:.3f}" for value in np.random.default_rng(0).uniform(0.0, 1.0, 35)
)
GROUND = f"""
<mujoco>
  <asset>
    <hfield name="hills" nrow="5" ncol="7" size="1.5 1 0.4 0.2" elevation="{HEIGHTS}"/>
    <material name="glass" rgba="1 1 1 0"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 -0.5"/>
    <geom name="low" type="box" size="1 1 0.25"/>
    <geom name="high" type="box" size="0.5 0.5 0.5" pos="0.25 0 0.25"/>
    <geom name="same" type="box" size="0.25 0.25 0.25" pos="1.25 0.5 0"/>
    <geom name="turned" type="box" size="0.75 0.25 0.5" pos="-3 0 0" euler="0 0 30"/>
    <geom name="hills" type="hfield" hfield="hills" pos="3.5 0 0.125"/>
    <geom name="more" type="hfield" hfield="hills" pos="0 4 -0.25" euler="0 0 50"/>
    <geom name="sheet" type="plane" size="0.5 0.25 1" pos="-3 3 0.5"/>
    <geom name="window" type="box" size="3 3 3" material="glass"/>
    <geom name="ghost" type="box" size="3 3 3" rgba="1 1 1 0"/>
    <body pos="0 -4 0.25"><geom name="deck" type="box" size="1 1 .125"/></body>
    <body name="probe" pos="0 0 3"><freejoint/>
      <geom size="0.1" group="3" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>
"""
CEILING = '<geom name="roof" type="box" size="1 1 .1" pos="0 0 2"/>'
PROBE = ObjRef(type="body", name="probe")
SCAN = RayCastSensorCfg(
    name="scan",
    frame=PROBE,
    pattern=GridPatternCfg(size=(1.6, 1.0)),
    ray_alignment="yaw",
    max_distance=4.0,
    include_geom_groups=(0,),
)
HEIGHT = TerrainHeightSensorCfg(
    name="height",
    frame=PROBE,
    pattern=RingPatternCfg(rings=()),
    include_geom_groups=(0,),
)


class Oracle:
    """MuJoCo's rays straight down."""

    def __init__(self, model: mujoco.MjModel, *groups: int) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        mujoco.mj_kinematics(model, self.data)
        self.groups = np.zeros(mujoco.mjNGROUP, np.uint8)
        self.groups[list(groups or (0,))] = 1

    def look(self, start: np.ndarray) -> tuple[float, int, np.ndarray]:
        """Distance, geom and normal."""
        geom, normal = np.zeros(1, np.int32), np.zeros(3)
        distance = mujoco.mj_ray(
            self.model,
            self.data,
            np.asarray(start, float),
            np.array([0.0, 0.0, -1.0]),
            self.groups,
            True,
            -1,
            geom,
            normal,
        )
        return distance, int(geom[0]), normal


def places(model: mujoco.MjModel) -> np.ndarray:
    """Random positions, and positions on edges, corners, vertices and diagonals."""
    random = np.random.default_rng(1).uniform(-6.0, 6.0, (4000, 2))
    lines = np.arange(-24, 25) * 0.25
    on_lines = np.stack(np.meshgrid(lines, lines), axis=-1).reshape(-1, 2)
    one_on_line = random[:400].copy()
    one_on_line[:200, 0] = np.resize(lines, 200)
    one_on_line[200:, 1] = np.resize(lines, 200)
    return np.concatenate((random, on_lines, one_on_line))


def test_the_map_equals_ray_casts_of_mujoco() -> None:
    model = mujoco.MjModel.from_xml_string(GROUND)
    ground, oracle = GroundMap.of(model, (0,)), Oracle(model)
    assert ground is not None
    x, y = places(model).T
    found = ground.below(x, y)
    met = set()
    for i in range(len(x)):
        distance, geom, normal = oracle.look(np.array([x[i], y[i], 5.0]))
        assert 5.0 - found.height[i] == pytest.approx(distance, abs=1e-9), (x[i], y[i])
        # Where two surfaces have the same height, either can be reported.
        top = found.height[i]
        if found.geom[i] == geom:
            met.add(model.geom(geom).name)
            same_facet = np.abs(found.normal[i] - normal).max() < 1e-9
            on_line = min(abs(4 * x[i] % 1), abs(4 * y[i] % 1)) < 1e-9
            assert same_facet or on_line, (x[i], y[i])
        else:
            assert top == pytest.approx(5.0 - distance, abs=1e-12)
    named = {"floor", "low", "high", "same", "turned", "hills", "more", "sheet", "deck"}
    assert met == named


def test_the_map_of_generated_terrain_equals_ray_casts_of_mujoco() -> None:
    cfg = load_task("Velocity-G1").env()
    model = compile_model(build_scene(cfg.scene, seed=0).spec, cfg.sim)
    ground, oracle = GroundMap.of(model, (0,)), Oracle(model)
    assert ground is not None
    random = np.random.default_rng(2)
    # Tiles are 8 m wide, steps 0.3 m, cells of height fields 0.1 m.
    x, y = random.uniform(-42.0, 42.0, (2, 3000))
    x[:500], y[500:1000] = np.round(x[:500], 1), np.round(y[500:1000], 1)
    x[1000:1500], y[1000:1500] = np.round(x[1000:1500]), np.round(y[1000:1500])
    found = ground.below(x, y)
    distances = [
        oracle.look(np.array([*place, 9.0]))[0] for place in np.stack((x, y), 1)
    ]
    expected = np.array([9.0 - d if d >= 0 else -np.inf for d in distances])
    differs = np.abs(found.height - expected) > 1e-5
    # At an edge, within rounding, either side is valid.
    for i in np.flatnonzero(differs):
        around = [
            9.0 - oracle.look(np.array([x[i] + dx, y[i] + dy, 9.0]))[0]
            for dx in (-1e-9, 1e-9)
            for dy in (-1e-9, 1e-9)
        ]
        assert np.abs(np.array(around) - found.height[i]).min() < 1e-5
    assert differs.sum() < 10


def below_probe(gallery: Gallery, oracles: list[Oracle], sensor: str = "scan") -> None:
    """Compare a sensor's rays with MuJoCo's, in all worlds."""
    rays = gallery.sensors[sensor].data
    for world, oracle in enumerate(oracles):
        starts = rays.starts_w[world].double().numpy()
        for i, start in enumerate(starts):
            distance, geom, normal = oracle.look(start)
            sees = 0.0 <= distance <= 4.0
            assert bool(rays.hit[world, i]) == sees
            if sees:
                assert float(rays.distances[world, i]) == pytest.approx(
                    distance, abs=1e-5
                )
                assert int(rays.geom_ids[world, i]) == geom
                np.testing.assert_allclose(
                    rays.normals_w[world, i].numpy(), normal, atol=1e-6
                )


def put(gallery: Gallery, *places: tuple[float, float, float]) -> None:
    turn = torch.tensor([0.96, 0.1, -0.1, 0.3])
    gallery.place_probe(torch.tensor(places), turn.expand(len(places), 4))
    gallery.sim.sense()


def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Record the worlds for which MuJoCo casts rays."""
    worlds: list[object] = []
    original = NativeRays._ask_mujoco

    def ask(self: NativeRays, which: object) -> None:
        worlds.append(which if isinstance(which, slice) else list(which))  # type: ignore[call-overload]
        original(self, which)  # type: ignore[arg-type]

    monkeypatch.setattr(NativeRays, "_ask_mujoco", ask)
    return worlds


def test_a_scan_over_static_ground_does_not_call_mujoco(monkeypatch) -> None:
    gallery = build_gallery("native", [SCAN, HEIGHT], 4, xml=GROUND)
    worlds = asked(monkeypatch)
    put(gallery, (0.3, 0.2, 3.0), (3.3, 0.1, 2.0), (-3.0, 0.3, 2.5), (0.2, 4.0, 1.5))
    oracle = Oracle(gallery.sim.mj_model)
    below_probe(gallery, [oracle] * 4)
    assert worlds == []


def test_world_below_a_roof_uses_mujocos_rays(monkeypatch) -> None:
    xml = GROUND.replace('<body name="probe"', CEILING + '<body name="probe"')
    gallery = build_gallery("native", [SCAN], 3, xml=xml)
    worlds = asked(monkeypatch)
    put(gallery, (3.3, 0.1, 2.0), (0.2, 0.1, 1.8), (0.1, 0.2, 3.0))
    below_probe(gallery, [Oracle(gallery.sim.mj_model)] * 3)
    assert worlds == [[1]]


def test_ground_moved_in_one_world_is_scanned_at_its_new_position(monkeypatch) -> None:
    gallery = build_gallery("native", [SCAN], 3, xml=GROUND)
    gallery.sim.expand("geom_pos")
    high = gallery.sim.mj_model.geom("high").id
    gallery.sim.model.geom_pos[1, high, 2] += 0.25
    worlds = asked(monkeypatch)
    put(gallery, *[(0.3, 0.2, 3.0)] * 3)
    moved = mujoco.MjModel.from_xml_string(GROUND)
    moved.geom_pos[high, 2] += 0.25
    still = Oracle(gallery.sim.mj_model)
    below_probe(gallery, [still, Oracle(moved), still])
    assert worlds == [[1]]


@pytest.mark.parametrize(
    "thing",
    [
        '<geom type="sphere" size="1"/>',
        '<geom type="box" size="1 1 1" euler="10 0 0"/>',
        '<geom type="plane" size="0 0 1" euler="0 5 0"/>',
        '<geom type="plane" size="1 0 1"/>',
        '<body mocap="true"><geom type="box" size="1 1 1"/></body>',
        '<body><joint/><geom type="box" size="1 1 1" mass="1"/></body>',
    ],
)
def test_moving_or_tilted_ground_has_no_map(thing: str) -> None:
    plain = '<mujoco><worldbody><geom type="box" size="1 1 1"/>{}</worldbody></mujoco>'
    assert GroundMap.of(mujoco.MjModel.from_xml_string(plain.format("")), (0,))
    model = mujoco.MjModel.from_xml_string(plain.format(thing))
    assert GroundMap.of(model, (0,)) is None


def test_a_non_finite_position_has_no_ground_below() -> None:
    box = '<mujoco><worldbody><geom type="box" size="1 1 1"/></worldbody></mujoco>'
    ground = GroundMap.of(mujoco.MjModel.from_xml_string(box), (0,))
    assert ground is not None
    found = ground.below(np.array([np.nan, 0.0, 9.0]), np.array([0.0, 0.0, np.inf]))
    assert found.height.tolist() == [-np.inf, 1.0, -np.inf]
    assert found.geom.tolist() == [-1, 0, -1]
    assert found.normal.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
