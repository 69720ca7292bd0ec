"""Configuration checks, with errors that name the field, its value and valid values."""

from __future__ import annotations

import math
import numbers
from typing import Any, TypedDict, Unpack

from mjlab.names import find_name
from mjlab.terrain.config import (
    FlatPatchCfg,
    SubTerrainCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
)
from mjlab.terrain.shapes import Size

_CONDIMS = (1, 3, 4, 6)


class Bounds(TypedDict, total=False):
    """Bounds of a number: inclusive, except `above`."""

    above: float
    at_least: float
    at_most: float


class Fields:
    """Checks the fields of one configuration by name."""

    def __init__(self, cfg: Any, path: str) -> None:
        """Create the checks; each method checks one field.

        Args:
            cfg: Configuration that has the fields.
            path: Path of the configuration, used as prefix of error messages.
        """
        self._cfg = cfg
        self._path = path

    def number(
        self, field: str, index: int | None = None, **bounds: Unpack[Bounds]
    ) -> None:
        """Raise unless a field, or an entry of it, is a number within the bounds."""
        value = getattr(self._cfg, field)
        if index is not None:
            field, value = f"{field}[{index}]", value[index]
        if not _inside(value, **bounds):
            raise self._error(field, value, f"a number{_shown(bounds)}")

    def numbers(self, field: str, **bounds: Unpack[Bounds]) -> None:
        """Raise unless all entries of a field are numbers within the bounds."""
        for index in range(len(getattr(self._cfg, field))):
            self.number(field, index, **bounds)

    def count(self, field: str, *, at_least: int = 1) -> None:
        """Raise unless a field is an integer of at least `at_least`."""
        value = getattr(self._cfg, field)
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if not whole or value < at_least:
            wanted = f"a whole number of at least {at_least}"
            raise self._error(field, value, wanted)

    def range(self, field: str, **bounds: Unpack[Bounds]) -> None:
        """Raise unless a field is (low, high) with low <= high within the bounds."""
        pair = getattr(self._cfg, field)
        if isinstance(pair, (tuple, list)) and len(pair) == 2:
            if all(_inside(value, **bounds) for value in pair) and pair[0] <= pair[1]:
                return
        wanted = f"(low, high) with low <= high, both numbers{_shown(bounds)}"
        raise self._error(field, pair, wanted)

    def choice(self, field: str, choices: tuple[str, ...]) -> None:
        """Raise unless a field is one of the choices."""
        value = getattr(self._cfg, field)
        find_name(value, choices, what=f"{self._path}.{field}")

    def length(self, field: str, room: float, *, why: str) -> None:
        """Raise unless 0 <= field <= `room`.

        Args:
            field: A length.
            room: Largest valid length.
            why: How `room` follows from other fields, for use in the error message.
        """
        value = getattr(self._cfg, field)
        if not _inside(value, at_least=0.0, at_most=room + 1e-9):
            wanted = f"a number of at least 0 and at most {room:.6g} ({why})"
            raise self._error(field, value, wanted)

    def platform(self, size: Size) -> None:
        """Raise unless a centred platform fits between the borders of a tile."""
        tile = f"the tile is {min(size):g} m wide"
        self.length("border_width", min(size) / 2, why=tile)
        self.number("platform_width", above=0.0)
        border: float = self._cfg.border_width
        room, why = min(size) - 2 * border, f"{tile} and its border {border:g} m"
        self.length("platform_width", room, why=why)

    def _error(self, field: str, value: object, wanted: str) -> ValueError:
        return ValueError(f"{self._path}.{field} is {value!r}; it must be {wanted}.")


def check_terrain(cfg: TerrainCfg) -> None:
    """Raise ValueError if a field is invalid, with its value and the valid values."""
    fields = Fields(cfg, "terrain")
    fields.choice("kind", ("plane", "generator"))
    fields.numbers("friction", at_least=0.0)
    fields.numbers("rgba", at_least=0.0, at_most=1.0)
    if cfg.condim not in _CONDIMS:
        raise ValueError(
            f"terrain.condim is {cfg.condim!r}; it must be one of {_CONDIMS}."
        )
    if cfg.kind == "plane":
        if cfg.plane_size is not None:
            fields.numbers("plane_size", above=0.0, at_most=1e6)
        return
    if cfg.generator is None:
        raise ValueError(
            "terrain.generator is None; the kind 'generator' needs a "
            "TerrainGeneratorCfg, for instance rough_terrains()."
        )
    _check_generator(cfg.generator, "terrain.generator")
    if cfg.max_init_terrain_level is not None:
        fields.number("max_init_terrain_level", at_least=0)


def _check_generator(cfg: TerrainGeneratorCfg, path: str) -> None:
    fields = Fields(cfg, path)
    fields.numbers("size", above=0.0, at_most=1e6)
    fields.count("num_rows")
    fields.range("difficulty_range", at_least=0.0, at_most=1.0)
    fields.number("border_width", at_least=0.0)
    fields.number("base_thickness", at_least=0.05)
    fields.choice("color_scheme", ("height", "random", "none"))
    if cfg.seed is not None:
        fields.count("seed", at_least=0)
    _check_patches(cfg.flat_patch_sampling, path, cfg.size)
    if not cfg.sub_terrains:
        raise ValueError(
            f"{path}.sub_terrains is empty; it must name at least one kind of tile, "
            "for instance {'flat': FlatCfg()}."
        )
    for name, kind in cfg.sub_terrains.items():
        _check_kind(kind, f"{path}.sub_terrains[{name!r}]", cfg.size)
    fields.count("num_cols")
    if not cfg.curriculum and cfg.num_cols < len(cfg.sub_terrains):
        raise ValueError(
            f"{path}.num_cols is {cfg.num_cols}; it must be at least "
            f"{len(cfg.sub_terrains)}, one column for each kind in sub_terrains."
        )
    _check_patch_counts(cfg, path)


def _check_kind(kind: Any, path: str, size: Size) -> None:
    if not isinstance(kind, SubTerrainCfg):
        raise ValueError(
            f"{path} is {kind!r}; it must be a SubTerrainCfg, for instance FlatCfg()."
        )
    Fields(kind, path).number("proportion", above=0.0, at_most=1e9)
    _check_patches(kind.flat_patch_sampling, path, size)
    kind.check(path, size)


def _check_patches(patches: dict[str, FlatPatchCfg], path: str, size: Size) -> None:
    for name, patch in patches.items():
        fields = Fields(patch, f"{path}.flat_patch_sampling[{name!r}]")
        fields.count("num_patches")
        fields.number("patch_radius", above=0.0, at_most=min(size) / 2)
        fields.number("max_height_diff", at_least=0.0)
        for axis in ("x_range", "y_range", "z_range"):
            fields.range(axis)
        fields.number("grid_resolution", at_least=0.01, at_most=min(size) / 2)


def _check_patch_counts(cfg: TerrainGeneratorCfg, path: str) -> None:
    """Raise if `num_patches` of a name differs between tiles, which share an array."""
    counts = {
        name: patch.num_patches for name, patch in cfg.flat_patch_sampling.items()
    }
    for kind_name, kind in cfg.sub_terrains.items():
        for name, patch in kind.flat_patch_sampling.items():
            expected = counts.setdefault(name, patch.num_patches)
            if patch.num_patches != expected:
                raise ValueError(
                    f"{path}.sub_terrains[{kind_name!r}].flat_patch_sampling[{name!r}]"
                    f".num_patches is {patch.num_patches}; it must be {expected}, as "
                    f"for the other kinds."
                )


def _inside(value: object, **bounds: Unpack[Bounds]) -> bool:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    # NaN is outside all bounds, because its comparisons are False.
    number = float(value)
    low, high = bounds.get("at_least", -math.inf), bounds.get("at_most", math.inf)
    return low <= number <= high and ("above" not in bounds or number > bounds["above"])


def _shown(bounds: Bounds) -> str:
    words = {"above": "above", "at_least": "of at least", "at_most": "of at most"}
    parts = [f"{words[name]} {end:g}" for name, end in bounds.items()]
    return " " + " and ".join(parts) if parts else ""
