"""What a user says about an entity that is another object in each world."""

import math
from dataclasses import dataclass

from mjlab.entity.config import EntityCfg
from mjlab.names import suggest


class VariantsError(ValueError):
    """Variants of an entity that cannot be what they are said to be."""


@dataclass(kw_only=True)
class VariantsCfg:
    """One entity that is another object in each world.

    It stands where an `EntityCfg` may stand: `SceneCfg(entities={"object":
    VariantsCfg(options={"box": ..., "cabinet": ...})})`.
    """

    options: dict[str, EntityCfg]
    """The objects by name. An option's name is part of no element's name."""

    weights: dict[str, float] | None = None
    """How often each option is drawn, relative to the others. None draws all alike.
    What a world is follows from its own seed, whatever the number of worlds."""

    assignment: tuple[str | None, ...] | None = None
    """The option of each world, by world; None leaves the entity out. Instead of a
    draw."""

    redraw: bool = False
    """Whether a reset draws anew what a world is."""

    absent: float = 0.0
    """Share of the worlds that the entity is left out of, drawn like the options."""

    @property
    def can_be_absent(self) -> bool:
        """Whether there may be a world without the entity."""
        return self.absent > 0.0 or None in (self.assignment or ())


def check_variants(cfg: VariantsCfg, name: str, num_envs: int) -> None:
    """Raise for what has no meaning, before anything is built.

    Args:
        cfg: The variants.
        name: Name of the entity.
        num_envs: Number of worlds.
    """
    options = list(cfg.options)
    if not options:
        raise VariantsError(f"The entity {name!r} has no options to choose from.")
    for option in options:
        if not option or "/" in option:
            raise VariantsError(
                f"{option!r} is no name for an option of the entity {name!r}: it has "
                "to be non-empty and without '/'."
            )
    if not 0.0 <= cfg.absent < 1.0:
        raise VariantsError(
            f"absent={cfg.absent} of the entity {name!r} is a share of the worlds: at "
            "least 0 and below 1."
        )
    if cfg.assignment is not None:
        _check_assignment(cfg, name, num_envs)
    elif cfg.weights is not None:
        _check_weights(cfg.weights, options, name)


def option_shares(cfg: VariantsCfg) -> list[float]:
    """Return the probability of each option, and last that of none."""
    weights = cfg.weights or dict.fromkeys(cfg.options, 1.0)
    total = sum(weights.values())
    present = 1.0 - cfg.absent
    shares = [present * weights[option] / total for option in cfg.options]
    return [*shares, cfg.absent]


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
                f"The entity {name!r} has an assignment, which leaves nothing to draw, "
                f"and {field} too. Leave one of the two out."
            )
    if len(given) != num_envs:
        raise VariantsError(
            f"The assignment of the entity {name!r} is for {len(given)} worlds, and "
            f"there are {num_envs}. Weights are for any number of worlds."
        )
    for world, option in enumerate(given):
        if option is not None and option not in cfg.options:
            raise VariantsError(
                f"The assignment of the entity {name!r} gives world {world} the option "
                f"{option!r}, which does not exist. {suggest(option, cfg.options)}"
            )
    if all(option is None for option in given):
        raise VariantsError(
            f"The assignment of the entity {name!r} is None throughout."
        )


def _check_weights(weights: dict[str, float], options: list[str], name: str) -> None:
    for option in weights:
        if option not in options:
            raise VariantsError(
                f"The entity {name!r} has a weight for {option!r}, which is none of "
                f"its options. {suggest(option, options)}"
            )
    for option in options:
        if option not in weights:
            raise VariantsError(
                f"The entity {name!r} has no weight for its option {option!r}. Weights "
                "are given to all options or to none."
            )
    for option, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0.0):
            raise VariantsError(
                f"The weight of the option {option!r} of the entity {name!r} is "
                f"{weight}; it has to be a number of 0 or more."
            )
    if sum(weights.values()) <= 0.0:
        raise VariantsError(
            f"The weights of the entity {name!r} sum to 0, so that no option can be "
            "drawn."
        )
