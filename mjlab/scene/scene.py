"""Entities, sensors and ground of all worlds of a compiled scene."""

import math
from collections.abc import Callable, Iterator

import torch

from mjlab.entity import Entity, EntityCfg
from mjlab.names import UnknownNameError, suggest
from mjlab.random import WorldRng
from mjlab.scene.build import PairKey, SceneSpec
from mjlab.scene.check import check_models
from mjlab.scene.config import SceneCfg
from mjlab.scene.per_world import PerWorldEntity
from mjlab.sensor import ContactSensor, Sensor, bind_sensors
from mjlab.sim import Simulation
from mjlab.sim.engine import Engine
from mjlab.tensors.masks import write_where
from mjlab.terrain import Terrain, TerrainCfg


class Ground:
    """Terrain tile of each world, given by row and column.

    A row is a difficulty level, a column a kind of terrain. The column is drawn once
    from the world's own seed, so it does not depend on the number of worlds; the row
    changes with the curriculum.
    """

    def __init__(self, terrain: Terrain, rng: WorldRng, cfg: TerrainCfg) -> None:
        self.cfg = cfg
        """Configuration of the terrain."""
        max_init_level = cfg.max_init_terrain_level
        self.terrain = terrain
        """The terrain, with `size`, `bounds` and `column_kinds`."""
        device = rng.device
        self.tile_origins = torch.as_tensor(
            terrain.origins, dtype=torch.float32, device=device
        )
        """Spawn origin of each tile, world frame, m, shape (rows, columns, 3)."""
        self._origins = self.tile_origins.flatten(0, 1)
        self._patches = {
            name: torch.as_tensor(p, dtype=torch.float32, device=device).flatten(0, 1)
            for name, p in terrain.patches.items()
        }
        shares = torch.as_tensor(terrain.column_shares, dtype=torch.float32)
        self._column_ends = shares.cumsum(0)[:-1].contiguous().to(device)
        rows = terrain.num_rows
        top = rows - 1 if max_init_level is None else min(max_init_level, rows - 1)
        self.columns = torch.searchsorted(
            self._column_ends, rng.draw("terrain_column", ()), right=True
        )
        """The column of each world, shape (num_envs,), int64."""
        self.levels = rng.integers(0, top + 1, (), "terrain_level")
        """The row of each world, shape (num_envs,), int64."""
        self.origins = torch.empty(rng.num_envs, 3, device=device)
        """Spawn origin of each world, world frame, m, shape (num_envs, 3)."""
        self._rng = rng
        self._update_origins()

    def move(self, up: torch.Tensor, down: torch.Tensor, stream: str) -> None:
        """Move worlds to harder or easier rows.

        A world that passes the last row moves to a random row, so that all rows remain
        in use.

        Args:
            up: Worlds to move to the next row, shape (num_envs,), bool.
            down: Worlds to move to the row before, shape (num_envs,), bool.
            stream: Name of the random stream for worlds beyond the last row.
        """
        rows = self.terrain.num_rows
        moved = self.levels.add(up).add_(down, alpha=-1)
        anywhere = self._rng.integers(0, rows, (), stream)
        moved = torch.where(moved >= rows, anywhere, moved.clamp_(min=0))
        self.levels.copy_(moved)
        self._update_origins()

    def update_env_origins(
        self, env_ids: torch.Tensor, move_up: torch.Tensor, move_down: torch.Tensor
    ) -> None:
        """Move worlds to harder or easier rows, as `move` does.

        Args:
            env_ids: World indices, int64.
            move_up: For each index, whether to move to the next row, bool.
            move_down: For each index, whether to move to the row before, bool.
        """
        up = torch.zeros_like(self.levels, dtype=torch.bool)
        down = torch.zeros_like(up)
        up[env_ids], down[env_ids] = move_up, move_down
        self.move(up, down, "terrain_level/moved")

    def place_anywhere(self, mask: torch.Tensor, stream: str) -> None:
        """Draw a new row and column for the worlds of `mask`."""
        rows = self._rng.integers(0, self.terrain.num_rows, (), f"{stream}/level")
        draw = self._rng.draw(f"{stream}/column", ())
        columns = torch.searchsorted(self._column_ends, draw, right=True)
        write_where(self.levels, mask, rows)
        write_where(self.columns, mask, columns)
        self._update_origins()

    def patches(self, name: str) -> torch.Tensor:
        """Return the flat patches on the tile of each world, (num_envs, patches, 3)."""
        return self._patches[name].index_select(0, self._tile())

    @property
    def patch_names(self) -> list[str]:
        """Names of the flat patches that the terrain has."""
        return list(self._patches)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {
            "levels": self.levels,
            "columns": self.columns,
            "origins": self.origins,
        }

    def _tile(self) -> torch.Tensor:
        return self.levels * self.terrain.num_cols + self.columns

    def _update_origins(self) -> None:
        torch.index_select(self._origins, 0, self._tile(), out=self.origins)


class Scene:
    """Entities, sensors and ground of all worlds.

    `scene["robot"]` is an entity, `scene["foot_contact"]` a sensor.
    """

    def __init__(
        self, cfg: SceneCfg, built: SceneSpec, sim: Simulation, rng: WorldRng
    ) -> None:
        """Bind entities and sensors to a simulation of the compiled scene.

        Args:
            cfg: The scene's configuration.
            built: Result of `build_scene` for it.
            sim: The simulation of the compiled spec.
            rng: Random number generator of the worlds.
        """
        check_models(cfg, built, sim.mj_model)
        self.sim = sim
        """Physics of the scene: `scene.sim.data` and `scene.sim.model` are the fields
        of MuJoCo as tensors, on either engine; `scene.sim.mj_model` is the compiled
        model."""
        self.num_envs = sim.num_envs
        """Number of worlds."""
        self.variants: dict[str, PerWorldEntity] = {
            name: variants.bind(sim, rng) for name, variants in built.variants.items()
        }
        """Entities that can be a different object in each world, by name."""
        self.entities: dict[str, Entity] = {}
        """Entities by name. An entity that differs between worlds is listed as its
        members, which `views.of(scene).view(name)` merges."""
        for name, entity_cfg in built.entities.items():
            if isinstance(entity_cfg, EntityCfg):
                self.entities[name] = Entity(name, entity_cfg, sim, rng)
            else:
                self.entities |= self.variants[name].members
        self.sensors: dict[str, Sensor] = bind_sensors(
            (*cfg.sensors, *built.pairs.values()), sim
        )
        """Sensors by name. A sensor of an entity's own file is `<entity>/<sensor>`."""
        contacts = {
            n: s for n, s in self.sensors.items() if isinstance(s, ContactSensor)
        }
        self.pair_sensors: dict[PairKey, ContactSensor] = {
            pair: contacts[sensor.name] for pair, sensor in built.pairs.items()
        }
        """Sensors of `SceneCfg.contact_pairs`, by the names of the two sides."""
        self.caches = [s.invalidate for s in contacts.values()]
        """Functions that `invalidate` calls to clear the caches of contact sensors."""
        self.on_change: list[Callable[[], None]] = []
        """Functions that `update`, `refresh`, `reset` and `invalidate` call."""
        self.ground: Ground | None = None
        """Terrain tiles of the worlds, None without generated terrain."""
        if cfg.terrain is not None and cfg.terrain.kind == "generator":
            assert built.terrain is not None, "`built` belongs to another scene."
            self.ground = Ground(built.terrain, rng, cfg.terrain)
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
        """Return the entity called `name`."""
        if name in self.variants and name not in self.entities:
            members = ", ".join(map(repr, self.variants[name].members))
            raise UnknownNameError(
                f"The entity {name!r} differs between worlds; its members are "
                f"{members}. Name one of them, or read "
                f"views.of(scene).view({name!r})."
            )
        if name not in self.entities:
            hint = suggest(name, list(self.entities))
            raise UnknownNameError(f"The scene has no entity {name!r}. {hint}")
        return self.entities[name]

    def sensor(self, name: str) -> Sensor:
        """Return the sensor called `name`."""
        if name not in self.sensors:
            hint = suggest(name, list(self.sensors))
            raise UnknownNameError(f"The scene has no sensor {name!r}. {hint}")
        return self.sensors[name]

    @property
    def px(self) -> Engine:
        """The physics engine, for functions that the framework does not offer.

        Both engines have `mj_model`. The native engine has `batch`, a
        `mujoco.batch.Batch`; the Warp engine has `wp_model` and `wp_data`, the
        arguments of MuJoCo Warp's functions. The framework does not track changes made
        there: tensors of the native engine show them after the next simulation call,
        such as `sim.forward()`, and recorded graphs never include them. `sim.data` and
        `sim.model` have no such limits.
        """
        return self.sim.engine

    @property
    def spawn_origins(self) -> torch.Tensor:
        """Spawn origins, world frame, m, shape (num_envs, 3): zero on a plane."""
        return self._zero_origins if self.ground is None else self.ground.origins

    @property
    def env_origins(self) -> torch.Tensor:
        """Origins for drawing, shape (num_envs, 3).

        On generated terrain these are the spawn origins. Otherwise they are a nearly
        square grid of spacing `env_spacing`, which separates the worlds in viewers and
        is not part of any position in physics.
        """
        return self._grid if self.ground is None else self.ground.origins

    def to_local(self, pos_w: torch.Tensor) -> torch.Tensor:
        """Return positions relative to the spawn origin of each world, in metres.

        Args:
            pos_w: Positions in the world frame, shape (num_envs, ..., 3).
        """
        extra = pos_w.dim() - 2
        return pos_w - self.spawn_origins.view(self.num_envs, *(1,) * extra, 3)

    def apply(self) -> None:
        """Compute and write the controls of the actuators of all entities.

        Explicit actuators of tendons read lengths that the physics step computes, so
        call `sim.step(scene.apply)`. Without such actuators, call this before
        `sim.step()`.
        """
        for entity in self.entities.values():
            entity.apply()

    def update(self, dt: float) -> None:
        """Update entities and sensors after a physics step of `dt` seconds."""
        self._note_change()
        for entity in self.entities.values():
            entity.update(dt)
        for sensor in self.sensors.values():
            sensor.update(dt)

    def refresh(self) -> None:
        """Refresh entities and sensors after `forward()` updated derived quantities."""
        self._note_change()
        for entity in self.entities.values():
            entity.refresh()
        for sensor in self.sensors.values():
            sensor.refresh()

    def reset(self, mask: torch.Tensor) -> None:
        """Reset targets, buffers and timers of the worlds of `mask`."""
        for variants in self.variants.values():
            variants.reset(mask)
        self._note_change()
        for entity in self.entities.values():
            entity.reset(mask)
        for sensor in self.sensors.values():
            sensor.reset(mask)

    def invalidate(self) -> None:
        """Clear cached quantities after a change by other code, such as a restore."""
        self._note_change()
        for entity in self.entities.values():
            entity.data.invalidate()
        for forget in self.caches:
            forget()

    def _note_change(self) -> None:
        for follow in self.on_change:
            follow()

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
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
    """Return a nearly square grid of `num` points, centred on the origin."""
    rows = math.ceil(math.sqrt(num))
    columns = math.ceil(num / rows)
    index = torch.arange(num)
    x = (index // columns - (rows - 1) / 2) * spacing
    y = (index % columns - (columns - 1) / 2) * spacing
    return torch.stack([x, y, torch.zeros(num)], dim=-1).to(device)
