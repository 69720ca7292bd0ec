"""Environment of a real scene, with only the managers that a test adds."""

from typing import Any

import mujoco
import torch

from mjlab.entity import EntityCfg
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sensor import SensorCfg
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, compile_model
from mjlab.terrain import TerrainCfg
from tests.worlds.fake_env import FakeEnv

DECIMATION = 4


class PhysicsEnv(FakeEnv):
    """Fake environment with real scene and physics, on the native engine."""

    def __init__(
        self,
        entities: dict[str, EntityCfg],
        num_envs: int = 4,
        *,
        seed: int = 7,
        gravity: float = -9.81,
        terrain: TerrainCfg | None = None,
        sensors: tuple[SensorCfg, ...] = (),
        **extras: Any,
    ) -> None:
        super().__init__(num_envs, seed=seed, **extras)
        scene_cfg = SceneCfg(
            num_envs=num_envs, terrain=terrain, entities=entities, sensors=sensors
        )
        options = MujocoCfg(timestep=0.005, gravity=(0.0, 0.0, gravity))
        sim_cfg = SimulationCfg(backend="native", num_threads=1, mujoco=options)
        built = build_scene(scene_cfg)
        self.sim = Simulation(compile_model(built.spec, sim_cfg), num_envs, sim_cfg)
        self.scene: Scene = Scene(scene_cfg, built, self.sim, self.rng)
        self.physics_dt = self.sim.timestep
        self.step_dt = self.physics_dt * DECIMATION
        for entity in self.scene.entities.values():
            entity.reset_to_default(self.everyone)
        self.forward()

    def forward(self) -> None:
        """Update derived quantities."""
        self.sim.forward()
        self.scene.refresh()

    def substep(self) -> None:
        """Advance physics as the environment does between two actions."""
        self.scene.apply()
        self.sim.step()
        self.scene.update(self.physics_dt)

    def step(self, action: torch.Tensor) -> None:
        """Run a step of the environment, up to `forward()`."""
        self.rng.advance()
        self.action_manager.process_action(action)
        for _ in range(DECIMATION):
            self.action_manager.apply_action()
            self.substep()
        self.episode_length_buf += 1
        self.forward()


def from_xml(xml: str, **fields: object) -> EntityCfg:
    """Return an entity of MJCF text."""
    source = lambda: mujoco.MjSpec.from_string(xml)  # noqa: E731
    return EntityCfg(source=source, **fields)  # type: ignore[arg-type]
