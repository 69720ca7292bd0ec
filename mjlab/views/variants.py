"""Entity that differs between worlds: its options, and the option of each world."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import torch

from mjlab.entity import Entity, EntityCfg, EntityIndex, default_rows
from mjlab.names import suggest
from mjlab.random import WorldRng
from mjlab.scene import PerWorldEntityCfg, SceneCfg, SceneError, build_scene
from mjlab.sim import Simulation, compile_model
from mjlab.spec.elements import rows_of_runs
from mjlab.tensors.columns import Columns
from mjlab.tensors.masks import write_where
from mjlab.views.variant_slots import (
    POSITION_WIDTH,
    Tables,
    VariantsError,
    VariantSlot,
    build_slots,
    owned,
)


class VariantsCfg(PerWorldEntityCfg):
    """Entity that differs between worlds.

    It can be used in place of an `EntityCfg`: `SceneCfg(entities={"object":
    VariantsCfg(options={"box": ..., "cabinet": ...})})`.
    """

    options: dict[str, EntityCfg]
    """Entities by option name. Element names do not contain the option's name."""

    weights: dict[str, float] | None = None
    """Relative frequency of each option. None makes all options equally likely. The
    option of a world is sampled from its seed, independently of the number of
    worlds."""

    assignment: tuple[str | None, ...] | None = None
    """The option of each world, instead of sampling; None leaves the entity out."""

    redraw: bool = False
    """Sample the option of a world again at each reset."""

    absent: float = 0.0
    """Fraction of the worlds without the entity, sampled with the options."""

    def check(self, name: str, num_envs: int) -> None:
        options = list(self.options)
        if not options:
            raise VariantsError(f"The entity {name!r} has no options.")
        for option in options:
            if not option or "/" in option:
                raise VariantsError(
                    f"{option!r} is not a valid name for an option of the entity "
                    f"{name!r}: it has to be non-empty and without '/'."
                )
        if not 0.0 <= self.absent < 1.0:
            raise VariantsError(
                f"absent={self.absent} of the entity {name!r} is a fraction of the "
                "worlds: it has to be at least 0 and below 1."
            )
        if self.assignment is not None:
            _check_assignment(self, name, num_envs)
        elif self.weights is not None:
            _check_weights(self.weights, options, name)

    def build(self, name: str, scene: SceneCfg) -> "BuiltVariants":
        return BuiltVariants(name, self, tuple(build_slots(self.options, name)), scene)

    def draw(self) -> "OptionDraw":
        """Return the rule that assigns options to worlds."""
        weights = self.weights or dict.fromkeys(self.options, 1.0)
        total, present = sum(weights.values()), 1.0 - self.absent
        shares = [present * weights[option] / total for option in self.options]
        return OptionDraw([*shares, self.absent], self.assignment, self.redraw)


def _check_assignment(cfg: VariantsCfg, name: str, num_envs: int) -> None:
    given = cfg.assignment or ()
    drawn = {
        "weights": cfg.weights is not None,
        "absent": cfg.absent > 0.0,
        "redraw": cfg.redraw,
    }
    for field, is_set in drawn.items():
        if is_set:
            raise VariantsError(
                f"The entity {name!r} has an assignment and {field}, which exclude "
                "each other. Remove one of them."
            )
    if len(given) != num_envs:
        raise VariantsError(
            f"The assignment of the entity {name!r} is for {len(given)} worlds, and "
            f"the scene has {num_envs}. Use weights for any number of worlds."
        )
    for world, option in enumerate(given):
        if option is not None and option not in cfg.options:
            raise VariantsError(
                f"The assignment of the entity {name!r} gives world {world} the "
                f"option {option!r}, which does not exist. "
                f"{suggest(option, cfg.options)}"
            )
    if all(option is None for option in given):
        raise VariantsError(
            f"The assignment of the entity {name!r} is None in all worlds. Assign an "
            "option to at least one world, or remove the entity."
        )


def _check_weights(weights: dict[str, float], options: list[str], name: str) -> None:
    for option in weights:
        if option not in options:
            raise VariantsError(
                f"The entity {name!r} has a weight for {option!r}, which is not one "
                f"of its options. {suggest(option, options)}"
            )
    for option in options:
        if option not in weights:
            raise VariantsError(
                f"The entity {name!r} has no weight for its option {option!r}. Give "
                "weights to all options or to none."
            )
        weight = weights[option]
        if not (math.isfinite(weight) and weight >= 0.0):
            raise VariantsError(
                f"The weight of the option {option!r} of the entity {name!r} is "
                f"{weight}; it has to be a number of 0 or more."
            )
    if sum(weights.values()) <= 0.0:
        raise VariantsError(
            f"The weights of the entity {name!r} sum to 0, so no option can be sampled."
        )


@dataclass(frozen=True, eq=False)
class BuiltVariants:
    """Slots for the options of one entity, built for a scene."""

    name: str
    """Name of the entity."""

    cfg: VariantsCfg
    """Configuration of the entity, with its options."""

    slots: tuple[VariantSlot, ...]
    """Slots of the options in the scene."""

    scene: SceneCfg
    """Configuration of the scene."""

    @property
    def specs(self) -> dict[str, mujoco.MjSpec]:
        """Specs of the slots, by their names."""
        return {slot.name: slot.spec for slot in self.slots}

    def bind(self, sim: Simulation, rng: WorldRng) -> "Variants":
        """Bind the slots to a simulation and assign options to worlds."""
        singles = {
            option: self._compile(option, slot, sim)
            for slot in self.slots
            for option in slot.options
        }
        options = tuple(self.cfg.options)
        draw = self.cfg.draw()
        return Variants(self.name, options, draw, self.slots, singles, sim, rng)

    def _compile(
        self, option: str, slot: VariantSlot, sim: Simulation
    ) -> mujoco.MjModel:
        """Compile a scene in which one option is the entity in every world."""
        name = self.name
        try:
            spec = build_scene(self._single(self.cfg.options[option])).spec
        except Exception as error:
            if self.scene.spec_fn is None:
                raise
            raise SceneError(
                f"scene.spec_fn has to work with each option of the entity {name!r} "
                "separately, because each option is also compiled alone; with "
                f"{option!r} it raised {type(error).__name__}: {error}"
            ) from error
        bodies = owned(sim.mj_model, "body", slot.name)
        own = [body for body in spec.bodies if body.name.startswith(f"{name}/")]
        for body, its in zip(own, bodies, strict=True):
            # MuJoCo's optimisation for simple inertia must be equal in all options of
            # a slot.
            if not sim.mj_model.body_simple[its]:
                body.simple = False
        return compile_model(spec, sim.cfg)

    def _single(self, entity: EntityCfg) -> SceneCfg:
        """Return a minimal scene with one option."""
        scene = self.scene
        if scene.spec_fn is None:
            return SceneCfg(entities={self.name: entity})
        others = {
            other: next(iter(its.options.values()))
            if isinstance(its, VariantsCfg)
            else its
            for other, its in scene.entities.items()
        }
        entities = {**others, self.name: entity}
        return dataclasses.replace(
            scene, entities=entities, sensors=(), contact_pairs=()
        )


@dataclass(frozen=True)
class OptionDraw:
    """Rule that assigns an option to each world."""

    shares: Sequence[float]
    """Probability of each option, followed by the probability of no entity."""

    assignment: Sequence[str | None] | None
    """The option of each world, instead of sampling."""

    redraw: bool
    """Sample again at each reset."""

    @property
    def can_leave_out(self) -> bool:
        """True if a world can be without the entity."""
        return self.shares[-1] > 0.0 or None in (self.assignment or ())


class Variants:
    """Options of one entity, and the option of each world.

    The option of a world is sampled once, or at every reset with `redraw`. It depends
    on the world's seed, not on the number of worlds.
    """

    def __init__(
        self,
        name: str,
        options: tuple[str, ...],
        draw: OptionDraw,
        slots: tuple[VariantSlot, ...],
        singles: Mapping[str, mujoco.MjModel],
        sim: Simulation,
        rng: WorldRng,
    ) -> None:
        """Bind the slots and assign an option to each world.

        Args:
            name: Name of the entity.
            options: Names of the options.
            draw: Rule of the assignment.
            slots: Slots of the options in the scene.
            singles: By option, the compiled scene in which the entity is this option.
            sim: The simulation of the scene.
            rng: Random numbers of the worlds.
        """
        self.name = name
        """Name of the entity."""
        self.options = options
        """Names of the options."""
        self.members = {s.name: Entity(s.name, s.cfg, sim, rng) for s in slots}
        """Entities of the scene that represent the options, by name."""
        self._draw_by = draw
        self._sim = sim
        self._rng = rng
        self._slots = slots
        device = sim.device
        own = [self._slot_of(option) for option in self.options]
        # The choice after the last option leaves the entity out.
        self._member_of = torch.tensor([*own, 0], device=device)
        shares = torch.tensor(draw.shares, dtype=torch.float64)
        self._ends = shares.cumsum(0)[:-1].to(device, torch.float32)
        self._tables = Tables(
            name,
            slots,
            self.options,
            sim.mj_model,
            singles,
            sim.engine.variable_fields,
            can_be_absent=draw.can_leave_out,
        ).tables()
        self._defaults = {
            slot.name: self._default_tables(slot, singles) for slot in slots
        }
        self._equalities = self._equality_tables()
        self._positions = Columns.of(self._owned_positions(), device)
        self.choice = self._first_choice()
        """Option index of each world, shape (num_envs,), int64; the number of options
        if the entity is absent."""
        self.which = torch.zeros_like(self.choice)
        """Index, in `members`, of the entity that represents the option, shape
        (num_envs,)."""
        self.present = torch.zeros(sim.num_envs, dtype=torch.bool, device=device)
        """Presence of the entity in each world, shape (num_envs,)."""
        self._everyone = torch.ones_like(self.present)
        self._try_all()
        self._write(self._everyone)

    @property
    def is_merged(self) -> bool:
        """True if several entities of the scene represent the entity."""
        return len(self.members) > 1

    @property
    def note(self) -> str:
        """Line of the start-up report on the implementation of the variants."""
        count = len(self.options)
        if not self.is_merged:
            return f"{count} options share one kinematic tree (fast path)"
        reasons = "; ".join(s.difference for s in self._slots if s.difference)
        return (
            f"{count} options in {len(self.members)} kinematic trees, which all exist "
            f"in every world; unused trees are inactive (general path): {reasons}"
        )

    def names(self) -> list[str | None]:
        """Return the option of each world by name, None without the entity.

        Synchronises with the device.
        """
        return [(*self.options, None)[i] for i in self.choice.tolist()]

    def has(self, option: str) -> torch.Tensor:
        """Return a mask of the worlds with the named option, (num_envs,), bool."""
        return self.choice == self.options.index(option)

    def reset(self, mask: torch.Tensor) -> None:
        """Sample new options in the worlds of `mask`, if configured."""
        if self._draw_by.redraw:
            write_where(self.choice, mask, self._draw())
            self._write(mask)
        else:
            # The physics reset also activated the equalities of options not in use.
            self._write_equalities(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors of the state, for snapshots."""
        return {"choice": self.choice, "which": self.which, "present": self.present}

    def _slot_of(self, option: str) -> int:
        return next(i for i, s in enumerate(self._slots) if option in s.options)

    def _first_choice(self) -> torch.Tensor:
        assignment = self._draw_by.assignment
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
        """Return the qpos columns of the slots' joints."""
        model = self._sim.mj_model
        joints = [j for slot in self._slots for j in owned(model, "jnt", slot.name)]
        widths = [POSITION_WIDTH[int(model.jnt_type[j])] for j in joints]
        return rows_of_runs(model.jnt_qposadr[joints], np.array(widths, int)).tolist()

    def _equality_tables(self) -> list[tuple[Columns, torch.Tensor]]:
        """Return the slots' equalities, with their active flags: (num_choices, len)."""
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
        """Write every choice once, so that all varying fields are expanded per world.

        Otherwise the contents of a snapshot would depend on the options sampled so far.
        """
        first = torch.zeros_like(self._everyone).index_fill_(
            0, torch.zeros(1, dtype=torch.int64, device=self._sim.device), True
        )
        for choice in range(len(self.options) + self._draw_by.can_leave_out):
            self._sim.write_model(
                self._tables, torch.full_like(self.choice, choice), first
            )

    def _write(self, mask: torch.Tensor) -> None:
        """Write the chosen options to the model in the worlds of `mask`."""
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
        """Write the initial joint positions and mocap poses of the chosen options."""
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
