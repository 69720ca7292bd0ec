"""Fields of `ViewerCfg`: followed entity, field of view, groups, shadows."""

import dataclasses
import math
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, ViewerCfg
from mjlab.render import Offscreen
from mjlab.render.neighbours import Neighbourhood
from mjlab.render.offscreen import followed_body
from mjlab.scene import SceneCfg
from mjlab.terrain import TerrainCfg
from tests.viewer.test_render import redness

ORIGIN = ViewerCfg.OriginType

ROBOT = """
<mujoco>
  <worldbody>
    <body name="base" pos="0 0 {height}">
      <freejoint/>
      <geom type="box" size="0.5 0.5 0.5" mass="2" rgba="1 0 0 1"/>
      <geom type="box" size="0.1 0.1 0.1" pos="0 0 0.8" mass="1" rgba="0 1 0 1"
        group="3"/>
      <site name="mark" size="0.2" pos="0 0 -0.9" rgba="0 0 1 1" group="4"/>
      <body name="head" pos="0 0 2">
        <joint type="hinge"/>
        <geom size="0.1" mass="1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

TABLE = """
<mujoco>
  <worldbody>
    <body name="top"><geom type="box" size="1 1 0.1" rgba="0.4 0.4 0.4 1"/></body>
  </worldbody>
</mujoco>
"""


def make_env(
    *, height: float = 1.0, num_envs: int = 1, reflectance: float = 0.0
) -> ManagerBasedRlEnv:
    robot = ROBOT.format(height=height)
    entities = {
        "table": EntityCfg(source=mujoco.MjSpec.from_string(TABLE)),
        "robot": EntityCfg(source=mujoco.MjSpec.from_string(robot)),
    }

    def edit(spec: mujoco.MjSpec) -> None:
        for material in spec.materials:
            material.reflectance = reflectance

    scene = SceneCfg(
        terrain=TerrainCfg(),
        num_envs=num_envs,
        entities=entities,
        env_spacing=2.0,
        spec_fn=edit,
    )
    env = ManagerBasedRlEnv(ManagerBasedRlEnvCfg(scene=scene, seed=0))
    env.reset()
    return env


@pytest.fixture(scope="module")
def env() -> ManagerBasedRlEnv:
    return make_env()


def picture(env: ManagerBasedRlEnv, **view: Any) -> np.ndarray:
    look = ViewerCfg(width=96, height=96, **view)
    with Offscreen(env.sim, env.scene, look) as camera:
        return camera.frame().astype(int)


def test_the_default_view_shows_a_robot_high_above_the_origin(renderer_works) -> None:
    seen = redness(picture(make_env(height=40.0)))
    rows, columns = np.nonzero(seen)
    assert len(rows) > 300
    assert abs(columns.mean() - 48) < 5 and abs(rows.mean() - 48) < 30
    assert not redness(picture(make_env(height=40.0), origin_type=ORIGIN.WORLD)).any()


@pytest.mark.parametrize(
    ("view", "body"),
    [
        ({}, "robot/base"),
        ({"lookat": (0.0, 0.0, 1.0)}, None),
        ({"lookat": (0.0, 0.0, 1.0), "entity": "robot"}, "robot/base"),
        ({"entity": "robot", "body": "head"}, "robot/head"),
        ({"entity": "table"}, "table/top"),
        ({"entity": "robot", "origin_type": ORIGIN.WORLD}, None),
        (
            {"entity": "robot", "body": "head", "origin_type": ORIGIN.ASSET_ROOT},
            "robot/base",
        ),
        (
            {"entity": "robot", "body": "head", "origin_type": ORIGIN.ASSET_BODY},
            "robot/head",
        ),
    ],
)
def test_the_camera_follows_the_body_of_its_origin_type(
    env: ManagerBasedRlEnv, view: dict[str, Any], body: str | None
) -> None:
    model = env.sim.mj_model
    found = followed_body(model, env.scene, ViewerCfg(**view))
    assert (None if found is None else model.body(found).name) == body


def test_an_incomplete_origin_type_names_the_choices(env: ManagerBasedRlEnv) -> None:
    model = env.sim.mj_model
    with pytest.raises(ValueError, match=r"2 entities\. Set viewer.entity.*robot"):
        followed_body(model, env.scene, ViewerCfg(origin_type=ORIGIN.ASSET_ROOT))
    view = ViewerCfg(origin_type=ORIGIN.ASSET_BODY, entity="robot")
    with pytest.raises(ValueError, match=r"Set viewer.body to one of base, head"):
        followed_body(model, env.scene, view)


def test_the_field_of_view_is_that_of_the_configuration(
    env: ManagerBasedRlEnv, renderer_works
) -> None:
    """A pixel's angle at the centre is 2 tan(fovy / 2) / height."""
    heights = []
    for fovy in (30.0, 60.0):
        view = {"elevation": 0.0, "azimuth": 90.0, "distance": 6.0, "fovy": fovy}
        seen = redness(picture(env, lookat=(0.0, 0.0, 1.0), **view))
        heights.append(np.ptp(np.nonzero(seen)[0]) + 1)
    expected = [96 / (5.5 * 2 * math.tan(math.radians(f / 2))) for f in (30.0, 60.0)]
    np.testing.assert_allclose(heights, expected, atol=1.5)


def test_only_the_chosen_groups_are_drawn(env: ManagerBasedRlEnv, renderer_works):
    view = {"lookat": (0.0, 0.0, 1.0), "distance": 6.0, "elevation": 0.0}
    plain = picture(env, **view)
    geoms = picture(env, **view, geom_group=(0, 0, 0, 1, 0, 0))
    sites = picture(env, **view, site_group=(0, 0, 0, 0, 1, 0))

    def strong(image: np.ndarray, channel: int) -> bool:
        others = np.delete(image, channel, axis=-1).max(axis=-1)
        return bool((image[..., channel] > 2 * others + 30).any())

    assert strong(plain, 0) and not strong(plain, 1) and not strong(plain, 2)
    assert not strong(geoms, 0) and strong(geoms, 1)
    assert strong(sites, 0) and strong(sites, 2)


def test_shadows_and_reflections_can_be_disabled(renderer_works) -> None:
    """Below a red box in the air is a dark area, and its red image."""
    env = make_env(height=1.6, reflectance=0.8)
    view = {"lookat": (0.0, 0.0, 0.5), "distance": 6.0, "elevation": -30.0}
    full = picture(env, **view)
    no_shadow = picture(env, **view, enable_shadows=False)
    darker = (no_shadow - full).sum(axis=-1) > 30
    assert 20 < darker.sum() < 0.3 * darker.size
    plain = picture(env, **view, enable_reflections=False)
    reddish = [(image[..., 0] > image[..., 2] + 25).sum() for image in (full, plain)]
    assert reddish[0] > 1.2 * reddish[1] > 0


def test_neighbours_stand_beside_the_shown_world(renderer_works) -> None:
    """Four worlds on a grid of 2 m; a box is 1 m wide."""
    env = make_env(num_envs=4)
    view = {"lookat": (0.0, 0.0, 1.0), "distance": 25.0, "elevation": -20.0}
    areas = [
        redness(picture(env, **view, max_extra_envs=number)).sum()
        for number in (0, 1, 2, 9)
    ]
    assert areas[0] > 10
    ratios = np.array(areas) / areas[0]
    np.testing.assert_allclose(ratios[:2], (1, 2), rtol=0.35)
    assert ratios[1] < ratios[2] < ratios[3]
    look = ViewerCfg(width=96, height=96, **view)
    with Offscreen(env.sim, env.scene, look, worlds=(0, 1)) as camera:
        first, second = camera.pictures()
    assert redness(first).sum() == redness(second).sum() == areas[0]


def test_neighbours_are_the_nearest_worlds_of_the_grid() -> None:
    env = make_env(num_envs=9)
    origins = env.scene.env_origins.numpy()
    near = Neighbourhood(env.sim, env.scene, 4, 4)
    distances = np.linalg.norm(origins[list(near.worlds)] - origins[4], axis=1)
    np.testing.assert_allclose(distances, 2.0, atol=1e-5)
    for neighbour, world in zip(near.take(), near.worlds, strict=True):
        np.testing.assert_allclose(neighbour.offset, origins[world] - origins[4])
    assert Neighbourhood(env.sim, env.scene, 0, 0).take() == []


def test_drawing_neighbours_changes_no_bit_of_the_simulation(renderer_works) -> None:
    env = make_env(num_envs=3)
    before = env.get_state()
    picture(env)
    after = env.get_state()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


@pytest.mark.parametrize(
    ("field", "value"), [("fovy", 0.0), ("fovy", 180.0), ("max_extra_envs", -1)]
)
def test_a_value_out_of_range_is_refused(field: str, value: float) -> None:
    scene = SceneCfg(
        entities={"table": EntityCfg(source=mujoco.MjSpec.from_string(TABLE))}
    )
    cfg = ManagerBasedRlEnvCfg(scene=scene)
    cfg.viewer = dataclasses.replace(cfg.viewer, **{field: value})
    with pytest.raises(ValueError, match=rf"viewer\.{field} is"):
        ManagerBasedRlEnv(cfg)
