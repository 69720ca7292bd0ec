"""The object that each world has, of an entity that is another one in each."""

import dataclasses
from collections.abc import Mapping

import mujoco
import torch

from mjlab.entity import (
    Entity,
    EntityCfg,
    EntityIndex,
    VariantsCfg,
    VariantSlot,
    default_rows,
)
from mjlab.entity.variants import option_shares
from mjlab.random import WorldRng
from mjlab.scene.build import SceneError, SceneSpec, build_scene
from mjlab.scene.config import SceneCfg
from mjlab.scene.variant_tables import POSITION_WIDTH, Tables, owned
from mjlab.sim import Simulation, compile_model
from mjlab.tensors.columns import Columns
from mjlab.tensors.masks import write_where


def bind_variants(
    cfg: SceneCfg, built: SceneSpec, sim: Simulation, rng: WorldRng
) -> dict[str, "Variants"]:
    """Give each world its objects, by name of the entity that is another in each."""
    bound = {}
    for name, slots in built.variants.items():
        variants = cfg.entities[name]
        assert isinstance(variants, VariantsCfg), "`built` is of another scene."
        singles = _compile_singles(cfg, name, slots, sim)
        bound[name] = Variants(name, variants, slots, singles, sim, rng)
    return bound


class Variants:
    """The options of one entity, and the one that each world has.

    What a world has is drawn once from the world's own seed, so that it does not depend
    on how many worlds there are; or at every reset, if the config says so.
    """

    def __init__(
        self,
        name: str,
        cfg: VariantsCfg,
        slots: tuple[VariantSlot, ...],
        singles: Mapping[str, mujoco.MjModel],
        sim: Simulation,
        rng: WorldRng,
    ) -> None:
        """Bind the slots and give each world its object.

        Args:
            name: Name of the entity.
            cfg: The options.
            slots: What stands for them in the scene.
            singles: For each option the model in which it is the entity.
            sim: The simulation of the scene.
            rng: The random numbers of the worlds.
        """
        self.name = name
        """Name of the entity."""
        self.options = tuple(cfg.options)
        """Names of the objects."""
        self.members = {s.name: Entity(s.name, s.cfg, sim, rng) for s in slots}
        """The entities of the scene that stand for the objects, by name."""
        self._cfg = cfg
        self._sim = sim
        self._rng = rng
        self._slots = slots
        device = sim.device
        own = [self._slot_of(option) for option in self.options]
        # The choice after the last option leaves the entity out.
        self._member_of = torch.tensor([*own, 0], device=device)
        shares = torch.tensor(option_shares(cfg), dtype=torch.float64)
        self._ends = shares.cumsum(0)[:-1].to(device, torch.float32)
        self._tables = Tables(
            name,
            slots,
            self.options,
            sim.mj_model,
            singles,
            sim.engine.variable_fields,
            can_be_absent=cfg.can_be_absent,
        ).tables()
        self._defaults = {
            slot.name: self._default_tables(slot, singles) for slot in slots
        }
        self._equalities = self._equality_tables()
        self._positions = Columns.of(self._owned_positions(), device)
        self.choice = self._first_choice()
        """The option of each world, counted in the order of `options`; their number
        where the entity is absent. Shape (num_envs,), int64."""
        self.which = torch.zeros_like(self.choice)
        """The member that stands for it, in the order of `members`, (num_envs,)."""
        self.present = torch.zeros(sim.num_envs, dtype=torch.bool, device=device)
        """Presence of the entity in each world, shape (num_envs,)."""
        self._everyone = torch.ones_like(self.present)
        self._try_all()
        self._write(self._everyone)

    @property
    def is_merged(self) -> bool:
        """Whether several entities of the scene stand for the one."""
        return len(self.members) > 1

    @property
    def note(self) -> str:
        """The way in which worlds differ, and why: a line of the start-up report."""
        count = len(self.options)
        if not self.is_merged:
            return f"{count} options share one tree, and differ in numbers (fast path)"
        reasons = "; ".join(s.difference for s in self._slots if s.difference)
        return (
            f"{count} options in {len(self.members)} trees, all in every world, of "
            f"which those that are not used lie idle (general path): {reasons}"
        )

    def names(self) -> list[str | None]:
        """Return the object of each world by name, None where there is none.

        This waits for the device.
        """
        return [(*self.options, None)[i] for i in self.choice.tolist()]

    def has(self, option: str) -> torch.Tensor:
        """Return whether a world has the object of that name, (num_envs,), bool."""
        return self.choice == self.options.index(option)

    def reset(self, mask: torch.Tensor) -> None:
        """Draw the objects of the worlds of `mask` anew, if the config says so."""
        if self._cfg.redraw:
            write_where(self.choice, mask, self._draw())
            self._write(mask)
        else:
            # A reset of the physics made them hold in every world.
            self._write_equalities(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change, for a snapshot to be copied into."""
        return {"choice": self.choice, "which": self.which, "present": self.present}

    def _slot_of(self, option: str) -> int:
        return next(i for i, s in enumerate(self._slots) if option in s.options)

    def _first_choice(self) -> torch.Tensor:
        assignment = self._cfg.assignment
        if assignment is None:
            return self._draw()
        choices = [*self.options, None]
        listed = [choices.index(option) for option in assignment]
        return torch.tensor(listed, device=self._sim.device)

    def _draw(self) -> torch.Tensor:
        drawn = self._rng.draw(f"variants/{self.name}", ())
        return torch.searchsorted(self._ends, drawn, right=True)

    def _default_tables(
        self, slot: VariantSlot, singles: Mapping[str, mujoco.MjModel]
    ) -> dict[str, torch.Tensor]:
        """Return the initial state of a slot for each choice, (num_choices, ...)."""
        device = self._sim.device
        idle = default_rows(self._sim.mj_model, self.members[slot.name].index, device)
        rows = [
            default_rows(
                singles[option], EntityIndex(self.name, singles[option], device), device
            )
            if option in slot.options
            else idle
            for option in (*self.options, "")
        ]
        return {name: torch.cat([row[name] for row in rows]) for name in idle}

    def _owned_positions(self) -> list[int]:
        """Return columns of the slots' joints in qpos."""
        model = self._sim.mj_model
        joints = [j for slot in self._slots for j in owned(model, "jnt", slot.name)]
        starts = [int(model.jnt_qposadr[j]) for j in joints]
        widths = [POSITION_WIDTH[int(model.jnt_type[j])] for j in joints]
        return [
            start + offset
            for start, width in zip(starts, widths, strict=True)
            for offset in range(width)
        ]

    def _equality_tables(self) -> list[tuple[Columns, torch.Tensor]]:
        """Return the slots' equalities, and whether they hold: (num_choices, len)."""
        model, device = self._sim.mj_model, self._sim.device
        tables = []
        for slot in self._slots:
            ids = owned(model, "eq", slot.name)
            initial = torch.from_numpy(model.eq_active0[ids].astype(bool))
            used = [option in slot.options for option in (*self.options, "")]
            table = torch.tensor(used).unsqueeze(1) & initial
            if ids:
                tables.append((Columns.of(ids, device), table.to(device)))
        return tables

    def _try_all(self) -> None:
        """Write every choice once, so that no later one finds a field still shared.

        What a snapshot holds would else depend on what has been drawn so far.
        """
        first = torch.zeros_like(self._everyone).index_fill_(
            0, torch.zeros(1, dtype=torch.int64, device=self._sim.device), True
        )
        for choice in range(len(self.options) + self._cfg.can_be_absent):
            self._sim.write_model(
                self._tables, torch.full_like(self.choice, choice), first
            )

    def _write(self, mask: torch.Tensor) -> None:
        """Make the worlds of `mask` have the objects of their choice."""
        self.which.copy_(self._member_of.index_select(0, self.choice))
        torch.lt(self.choice, len(self.options), out=self.present)
        self._sim.write_model(self._tables, self.choice, mask)
        self._write_positions(mask)
        for name, entity in self.members.items():
            rows = {
                field: table.index_select(0, self.choice)
                for field, table in self._defaults[name].items()
            }
            entity.assign_defaults(mask, rows)
        self._write_equalities(mask)

    def _write_positions(self, mask: torch.Tensor) -> None:
        """Put the objects where a reset of the physics would have put them."""
        sim = self._sim
        qpos0 = self._positions.read(sim.model.qpos0)
        self._positions.write(sim.data.qpos, mask, qpos0)
        for entity in self.members.values():
            index = entity.index
            if index.mocap_body_id is not None:
                mocap = int(sim.mj_model.body_mocapid[index.mocap_body_id])
                pos = sim.model.body_pos[:, index.mocap_body_id]
                quat = sim.model.body_quat[:, index.mocap_body_id]
                write_where(sim.data.mocap_pos[:, mocap], mask, pos)
                write_where(sim.data.mocap_quat[:, mocap], mask, quat)

    def _write_equalities(self, mask: torch.Tensor) -> None:
        for columns, table in self._equalities:
            holds = table.index_select(0, self.choice)
            columns.write(self._sim.data.eq_active, mask, holds)


def _compile_singles(
    cfg: SceneCfg, name: str, slots: tuple[VariantSlot, ...], sim: Simulation
) -> dict[str, mujoco.MjModel]:
    """Compile, for each option, a scene in which it is the entity in every world.

    Args:
        cfg: The scene with all options.
        name: Name of the entity.
        slots: What stands for the options.
        sim: The simulation of the scene with all options.
    """
    variants = cfg.entities[name]
    assert isinstance(variants, VariantsCfg), name
    return {
        option: _compile(cfg, name, option, variants.options[option], slot, sim)
        for slot in slots
        for option in slot.options
    }


def _compile(
    cfg: SceneCfg,
    name: str,
    option: str,
    entity: EntityCfg,
    slot: VariantSlot,
    sim: Simulation,
) -> mujoco.MjModel:
    try:
        spec = build_scene(_single(cfg, name, entity)).spec
    except Exception as error:
        if cfg.edit_spec is None:
            raise
        raise SceneError(
            f"scene.edit_spec has to work for each option of the entity {name!r} "
            f"alone, since that is where its numbers come from; with {option!r} it "
            f"raised {type(error).__name__}: {error}"
        ) from error
    bodies = owned(sim.mj_model, "body", slot.name)
    own = [body for body in spec.bodies if body.name.startswith(f"{name}/")]
    for body, its in zip(own, bodies, strict=True):
        # MuJoCo's short cut holds for all options of a slot, or for none.
        if not sim.mj_model.body_simple[its]:
            body.simple = False
    return compile_model(spec, sim.cfg)


def _single(cfg: SceneCfg, name: str, entity: EntityCfg) -> SceneCfg:
    """Return the scene with one option as the entity, and as little else as will do."""
    if cfg.edit_spec is None:
        return SceneCfg(entities={name: entity})
    others = {
        other: next(iter(its.options.values())) if isinstance(its, VariantsCfg) else its
        for other, its in cfg.entities.items()
    }
    return dataclasses.replace(
        cfg, entities={**others, name: entity}, sensors=(), contact_pairs=()
    )
