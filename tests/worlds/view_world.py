"""Objects with different numbers of joints on a plane, for views and contact pairs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import mujoco
import torch

from mjlab.entity import EntityCfg, InitialStateCfg
from mjlab.random import WorldRng
from mjlab.scene import ContactPairCfg, Scene, SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg, compile_model
from mjlab.terrain import TerrainCfg
from mjlab.views import VariantsCfg

GRAVITY = 9.81


class World(NamedTuple):
    """A scene and its physics."""

    cfg: SceneCfg
    scene: Scene
    sim: Simulation


def box(mass: float, half: float, pos: tuple[float, float, float]) -> EntityCfg:
    """A free box."""
    xml = f"""<mujoco><worldbody><body name="box"><freejoint/>
      <geom type="box" size="{half} {half} {half}" mass="{mass}"/>
    </body></worldbody></mujoco>"""
    return _placed(xml, pos)


def cabinet(pos: tuple[float, float, float], *, drawer: bool) -> EntityCfg:
    """A free cabinet with a door, and optionally a drawer."""
    inner = """<body name="drawer" pos=".2 0 0">
      <joint name="slide" type="slide" axis="1 0 0" range="0 .3" damping="1"/>
      <geom type="box" size=".05 .1 .05" mass=".5"/></body>"""
    low = "-1" if drawer else "-2"
    xml = f"""<mujoco><compiler angle="radian"/><worldbody>
      <body name="case"><freejoint/>
        <inertial pos=".01 .02 .03" quat="1 .2 .1 0" mass="4" diaginertia=".5 .4 .3"/>
        <geom type="box" size=".1 .1 .1"/>
        <body name="door" pos="0 .2 0">
          <joint name="hinge" axis="0 0 1" range="{low} 1.5" damping=".5"/>
          <geom type="box" size=".05 .05 .05" mass="1" pos="0 .1 0"/></body>
        {inner if drawer else ""}
      </body></worldbody></mujoco>"""
    return _placed(xml, pos)


def lamp(pos: tuple[float, float, float]) -> EntityCfg:
    """A fixed post whose head has a ball joint and a hinge."""
    xml = """<mujoco><worldbody><body name="post">
      <geom type="box" size=".02 .02 .3"/>
      <body name="arm" pos="0 0 .4"><joint name="swing" type="ball"/>
        <geom type="sphere" size=".05" mass="1" pos="0 0 .1"/>
        <body name="head" pos="0 0 .2"><joint name="nod" axis="0 1 0"/>
          <joint name="roll" axis="1 0 0"/>
          <geom type="sphere" size=".05" mass="1" pos="0 0 .1"/></body>
      </body></body></worldbody></mujoco>"""
    return _placed(xml, pos)


def furniture() -> dict[str, EntityCfg]:
    """One object of each kind, far enough apart to avoid contact."""
    return {
        "cube": box(1.0, 0.1, (0.0, 0.0, 1.0)),
        "brick": box(2.0, 0.15, (1.0, 0.0, 1.5)),
        "plain": cabinet((0.0, 1.5, 1.0), drawer=False),
        "full": cabinet((1.5, 1.5, 1.5), drawer=True),
        "lamp": lamp((-1.5, 0.0, 0.4)),
    }


def make_world(
    entities: Mapping[str, EntityCfg | VariantsCfg],
    num_envs: int = 4,
    *,
    pairs: tuple[ContactPairCfg, ...] = (),
    backend: Any = "native",
) -> World:
    """Build the objects on a plane."""
    cfg = SceneCfg(
        num_envs=num_envs,
        terrain=TerrainCfg(kind="plane"),
        entities=dict(entities),
        contact_pairs=pairs,
    )
    sim_cfg = SimulationCfg(backend=backend, num_threads=1)
    built = build_scene(cfg)
    model = compile_model(built.spec, sim_cfg)
    sim = Simulation(model, num_envs, sim_cfg, device="cpu")
    scene = Scene(cfg, built, sim, WorldRng(num_envs, 7, sim.device))
    everyone = torch.ones(num_envs, dtype=torch.bool)
    for entity in scene.entities.values():
        entity.reset_to_default(everyone)
    forward(scene)
    return World(cfg, scene, sim)


def forward(scene: Scene) -> None:
    """Update derived quantities."""
    scene.sim.forward()
    scene.refresh()


def advance(scene: Scene, steps: int) -> None:
    """Run physics."""
    for _ in range(steps):
        scene.sim.step()
        scene.update(scene.sim.timestep)


def shake(scene: Scene, seed: int = 3) -> None:
    """Set a distinct state in each world."""
    draw = torch.Generator().manual_seed(seed)
    data = scene.sim.data
    data.qvel.copy_(torch.randn(data.qvel.shape, generator=draw))
    for entity in scene.entities.values():
        if not entity.is_fixed_base:
            pose = torch.randn(scene.num_envs, 7, generator=draw)
            pose[:, 3:] /= pose[:, 3:].norm(dim=1, keepdim=True)
            entity.write_root_pose_w(torch.ones(scene.num_envs) > 0.0, pose)
        pos = torch.rand(scene.num_envs, entity.num_joints, generator=draw)
        entity.write_joint_pos(torch.ones(scene.num_envs) > 0.0, pos)
    forward(scene)


def _placed(xml: str, pos: tuple[float, float, float]) -> EntityCfg:
    return EntityCfg(
        source=lambda: mujoco.MjSpec.from_string(xml),
        init_state=InitialStateCfg(pos=pos),
    )
