"""Configuration of an entity that differs between worlds."""

import dataclasses
import math
from dataclasses import dataclass

import mujoco

from mjlab.entity import EntityCfg
from mjlab.names import suggest
from mjlab.random import WorldRng
from mjlab.scene import PerWorldEntityCfg, SceneCfg, SceneError, build_scene
from mjlab.sim import Simulation, compile_model
from mjlab.views.variant_slots import VariantsError, VariantSlot, build_slots
from mjlab.views.variant_tables import owned
from mjlab.views.variant_worlds import OptionDraw, Variants


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

    def draw(self) -> OptionDraw:
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
            f"The assignment of the entity {name!r} is None in all worlds."
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
    """The options."""

    slots: tuple[VariantSlot, ...]
    """Slots of the options in the scene."""

    scene: SceneCfg
    """The scene with all options."""

    @property
    def specs(self) -> dict[str, mujoco.MjSpec]:
        """Specs of the slots, by their names."""
        return {slot.name: slot.spec for slot in self.slots}

    def bind(self, sim: Simulation, rng: WorldRng) -> Variants:
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
                "separately, because the option's values come from that model; with "
                f"{option!r} it raised {type(error).__name__}: {error}"
            ) from error
        bodies = owned(sim.mj_model, "body", slot.name)
        own = [body for body in spec.bodies if body.name.startswith(f"{name}/")]
        for body, its in zip(own, bodies, strict=True):
            # MuJoCo's optimisation applies to all options of a slot, or to none.
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
