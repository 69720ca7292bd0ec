"""Read JSON files that contain one object, and check the types of its entries."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mjlab.settings.types import WrongTypeError, check_type


def read_object(
    path: Path,
    kinds: Mapping[str, Any],
    error: type[Exception],
    *,
    remedy: str,
    optional: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Read a JSON file with one object, and check the types of its entries.

    Args:
        path: The file.
        kinds: Types of the required entries. The entries of a nested dictionary are
            optional entries of that object.
        error: Type of the exception for an invalid file. Its message has one line.
        remedy: Advice for the user.
        optional: Types of optional entries. Other entries are ignored.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as fault:
        raise error(f"{path} cannot be read: {fault.strerror}. {remedy}") from fault
    except UnicodeDecodeError as fault:
        raise error(f"{path} is damaged: {fault}. {remedy}") from fault
    return check_object(
        text, str(path), kinds, error, remedy=remedy, optional=optional or {}
    )


def check_object(
    text: str,
    where: str,
    kinds: Mapping[str, Any],
    error: type[Exception],
    *,
    remedy: str,
    optional: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Parse a JSON text with one object, and check its entries; see `read_object`."""
    try:
        data = json.loads(text)
        check_type(data, dict, "The file")
        _check_entries(data, kinds, "", is_needed=True)
        _check_entries(data, optional or {}, "", is_needed=False)
    except (ValueError, RecursionError, WrongTypeError) as fault:
        said = str(fault).rstrip(".")
        raise error(f"{where} is damaged: {said}. {remedy}") from fault
    return data


def _check_entries(
    data: Mapping[str, Any], kinds: Mapping[str, Any], above: str, *, is_needed: bool
) -> None:
    for name, kind in kinds.items():
        key = f"{above}{name}"
        if name not in data:
            if is_needed:
                raise WrongTypeError(f"{key} is missing")
        elif isinstance(kind, Mapping):
            check_type(data[name], dict, key)
            _check_entries(data[name], kind, f"{key}.", is_needed=False)
        else:
            check_type(data[name], kind, key)
