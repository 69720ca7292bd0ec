"""Checks of values: an error names the field, its value and what is valid."""

import numbers


def check_number(
    path: str,
    value: float,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Raise unless `value` is a number within the bounds.

    Args:
        path: The field, spelled as the user reaches it.
        value: What the field holds.
        above: Exclusive lower bound.
        at_least: Inclusive lower bound.
        at_most: Inclusive upper bound.
    """
    if _inside(value, above, at_least, at_most):
        return
    raise ValueError(
        f"{path} is {value!r}; it must be a number{_bounds(above, at_least, at_most)}."
    )


def check_count(path: str, value: int, *, at_least: int = 1) -> None:
    """Raise unless `value` is an integer of at least `at_least`."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        if value >= at_least:
            return
    raise ValueError(
        f"{path} is {value!r}; it must be a whole number of at least {at_least}."
    )


def check_range(
    path: str,
    pair: tuple[float, float],
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Raise unless `pair` is (low, high) with low <= high, both within the bounds."""
    if isinstance(pair, (tuple, list)) and len(pair) == 2:
        valid = all(_inside(value, above, at_least, at_most) for value in pair)
        if valid and pair[0] <= pair[1]:
            return
    raise ValueError(
        f"{path} is {pair!r}; it must be (low, high) with low <= high, "
        f"both numbers{_bounds(above, at_least, at_most)}."
    )


def check_fits(path: str, value: float, room: float, *, why: str) -> None:
    """Raise unless 0 <= `value` <= `room`.

    Args:
        path: The field, spelled as the user reaches it.
        value: A length.
        room: The length there is room for.
        why: How `room` follows from other fields, for the message.
    """
    if _inside(value, None, 0.0, room + 1e-9):
        return
    raise ValueError(
        f"{path} is {value!r}; it must be a number of at least 0 and at most "
        f"{room:.6g} ({why})."
    )


def check_platform(
    path: str, platform_width: float, border_width: float, size: tuple[float, float]
) -> None:
    """Raise unless a centred platform fits between the borders of a tile."""
    tile = f"the tile is {min(size):g} m wide"
    check_fits(f"{path}.border_width", border_width, min(size) / 2, why=f"{tile}")
    check_number(f"{path}.platform_width", platform_width, above=0.0)
    check_fits(
        f"{path}.platform_width",
        platform_width,
        min(size) - 2 * border_width,
        why=f"{tile} and its border {border_width:g} m",
    )


def _inside(
    value: float, above: float | None, at_least: float | None, at_most: float | None
) -> bool:
    # Written so that NaN is outside of everything.
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    if value != value:
        return False
    return (
        (above is None or value > above)
        and (at_least is None or value >= at_least)
        and (at_most is None or value <= at_most)
    )


def _bounds(above: float | None, at_least: float | None, at_most: float | None) -> str:
    parts = [
        f"{word} {bound:g}"
        for word, bound in (
            ("above", above),
            ("of at least", at_least),
            ("of at most", at_most),
        )
        if bound is not None
    ]
    return " " + " and ".join(parts) if parts else ""
