"""Entities, sensors and ground of all worlds, once the scene is compiled."""

import math
from collections.abc import Callable, Iterator

import torch

from mjlab.entity import Entity, VariantsCfg
from mjlab.names import UnknownNameError, suggest
from mjlab.random import WorldRng
from mjlab.scene.build import SceneSpec
from mjlab.scene.config import SceneCfg
from mjlab.scene.ground import Ground
from mjlab.scene.pairs import PairKey
from mjlab.scene.variants import bind_variants
from mjlab.sensor import ContactSensor, Sensor, bind_sensors
from mjlab.sim import Control, Simulation
from mjlab.sim.engine import Engine


class Scene:
    """Entities, sensors and ground: `scene["robot"]`, `scene["foot_contact"]`."""

    def __init__(
        self, cfg: SceneCfg, built: SceneSpec, sim: Simulation, rng: WorldRng
    ) -> None:
        """Bind entities and sensors to a simulation of the compiled scene.

        Args:
            cfg: The scene's configuration.
            built: What `build_scene` returned for it.
            sim: The simulation of the compiled spec.
            rng: The random numbers of the worlds.
        """
        self.sim = sim
        """Physics of the scene: `scene.sim.data` and `scene.sim.model` are the fields
        of MuJoCo as tensors, on either engine; `scene.sim.mj_model` is the compiled
        model."""
        self.num_envs = sim.num_envs
        """Number of worlds."""
        self.variants = bind_variants(cfg, built, sim, rng)
        """Which object each world has, by name of an entity that is another in each."""
        self.entities: dict[str, Entity] = {}
        """Entities by name. Where an entity is another object in each world and several
        stand for it, these are here, and `views.of(scene).view(name)` merges them."""
        for name, entity_cfg in cfg.entities.items():
            if isinstance(entity_cfg, VariantsCfg):
                self.entities |= self.variants[name].members
            else:
                self.entities[name] = Entity(name, entity_cfg, sim, rng)
        self.sensors: dict[str, Sensor] = bind_sensors(
            (*cfg.sensors, *(pair.sensor for pair in built.pairs)), sim
        )
        """Sensors by name; those of an entity's own file as `<entity>/<sensor>`."""
        contacts = {
            n: s for n, s in self.sensors.items() if isinstance(s, ContactSensor)
        }
        self.pair_sensors: dict[PairKey, ContactSensor] = {
            (p.first, p.second): contacts[p.sensor.name] for p in built.pairs
        }
        """Sensors of `SceneCfg.contact_pairs`, by the names of the two sides."""
        self.caches = [s.invalidate for s in contacts.values()]
        """Called by `invalidate`, where something was computed on request."""
        self.on_change: list[Callable[[], None]] = []
        """Called by `invalidate`, and by each `update`, `refresh` and `reset`."""
        self.ground: Ground | None = None
        """Where worlds stand on generated terrain. None where there is none."""
        if cfg.terrain is not None and cfg.terrain.kind == "generator":
            assert built.terrain is not None, "`built` is of another scene."
            level = cfg.terrain.max_init_terrain_level
            self.ground = Ground(built.terrain, rng, level)
        late = [e for e in self.entities.values() if e.actuators.reads_derived]
        self._late = late
        self._early = [e for e in self.entities.values() if e not in late]
        self.late_control: Control | None = self._apply_late if late else None
        """What has to run inside the physics step: `sim.step(scene.late_control)`.

        Explicit actuators of tendons read lengths that the step itself computes.
        """
        self._zero_origins = torch.zeros(self.num_envs, 3, device=sim.device)
        self._grid = _square_grid(self.num_envs, cfg.env_spacing, sim.device)

    def __getitem__(self, name: str) -> Entity | Sensor:
        if name in self.sensors:
            return self.sensors[name]
        if name in self.entities or name in self.variants:
            return self.entity(name)
        names = [*self.entities, *self.variants, *self.sensors]
        raise UnknownNameError(f"The scene has no {name!r}. {suggest(name, names)}")

    def __iter__(self) -> Iterator[str]:
        return iter([*self.entities, *self.sensors])

    def entity(self, name: str) -> Entity:
        """The entity called `name`."""
        if name in self.variants and name not in self.entities:
            members = ", ".join(map(repr, self.variants[name].members))
            raise UnknownNameError(
                f"The entity {name!r} is another object in each world, and {members} "
                f"stand for it. Name one of these, or read "
                f"views.of(scene).view({name!r})."
            )
        if name not in self.entities:
            hint = suggest(name, list(self.entities))
            raise UnknownNameError(f"The scene has no entity {name!r}. {hint}")
        return self.entities[name]

    def sensor(self, name: str) -> Sensor:
        """The sensor called `name`."""
        if name not in self.sensors:
            hint = suggest(name, list(self.sensors))
            raise UnknownNameError(f"The scene has no sensor {name!r}. {hint}")
        return self.sensors[name]

    @property
    def px(self) -> Engine:
        """The engine itself, as a way out to what the framework does not offer.

        Both have `mj_model`. The native one has `batch`, a `mujoco.batch.Batch`; the
        Warp one has `wp_model` and `wp_data`, which MuJoCo Warp's functions take. What
        is done there happens behind the framework's back: tensors of the native engine
        show it after the next verb, such as `sim.forward()`, and recorded graphs never
        have it. `sim.data` and `sim.model` need none of this.
        """
        return self.sim.engine

    @property
    def spawn_origins(self) -> torch.Tensor:
        """Where worlds spawn, world frame, m, shape (num_envs, 3): zero on a plane."""
        return self._zero_origins if self.ground is None else self.ground.origins

    @property
    def env_origins(self) -> torch.Tensor:
        """Where worlds are drawn, shape (num_envs, 3).

        On generated terrain that is where they spawn. Elsewhere it is the squarest grid
        of spacing `env_spacing`, which keeps drawn worlds apart and is not part of any
        position in physics.
        """
        return self._grid if self.ground is None else self.ground.origins

    def to_local(self, pos_w: torch.Tensor) -> torch.Tensor:
        """Positions relative to each world's own spawn origin.

        Args:
            pos_w: Positions in the world frame, shape (num_envs, ..., 3).
        """
        extra = pos_w.dim() - 2
        return pos_w - self.spawn_origins.view(self.num_envs, *(1,) * extra, 3)

    def apply(self) -> None:
        """Have actuators write their control before a physics step."""
        for entity in self._early:
            entity.apply()

    def _apply_late(self) -> None:
        for entity in self._late:
            entity.apply()

    def update(self, dt: float) -> None:
        """Take note of a physics step of `dt` seconds that just ended."""
        self._note_change()
        for entity in self.entities.values():
            entity.update(dt)
        for sensor in self.sensors.values():
            sensor.update(dt)

    def refresh(self) -> None:
        """Take note that `forward()` made derived quantities current."""
        self._note_change()
        for entity in self.entities.values():
            entity.refresh()
        for sensor in self.sensors.values():
            sensor.refresh()

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds of `mask`: targets, buffers, timers."""
        for variants in self.variants.values():
            variants.reset(mask)
        self._note_change()
        for entity in self.entities.values():
            entity.reset(mask)
        for sensor in self.sensors.values():
            sensor.reset(mask)

    def invalidate(self) -> None:
        """Forget what was computed on request: the simulation changed otherwise."""
        self._note_change()
        for entity in self.entities.values():
            entity.data.invalidate()
        for forget in self.caches:
            forget()

    def _note_change(self) -> None:
        for follow in self.on_change:
            follow()

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        parts = {f"entity.{name}": e.state() for name, e in self.entities.items()}
        parts |= {f"sensor.{name}": s.state() for name, s in self.sensors.items()}
        parts |= {f"variants.{name}": v.state() for name, v in self.variants.items()}
        if self.ground is not None:
            parts["ground"] = self.ground.state()
        return {
            f"{part}.{key}": tensor
            for part, tensors in parts.items()
            for key, tensor in tensors.items()
        }


def _square_grid(num: int, spacing: float, device: torch.device) -> torch.Tensor:
    """Centres of the squarest grid of `num` places, centred on the origin."""
    rows = math.ceil(math.sqrt(num))
    columns = math.ceil(num / rows)
    index = torch.arange(num)
    x = (index // columns - (rows - 1) / 2) * spacing
    y = (index % columns - (columns - 1) / 2) * spacing
    return torch.stack([x, y, torch.zeros(num)], dim=-1).to(device)
