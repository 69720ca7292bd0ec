"""Objects in JSON files, checked when they are read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mjlab.schema.annotations import WrongTypeError, check_type


def read_object(
    path: Path,
    kinds: Mapping[str, Any],
    error: type[Exception],
    *,
    remedy: str,
    optional: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the object in a JSON file.

    Args:
        path: The file.
        kinds: Annotations of the entries that it has to have.
        error: Is raised, with one line, for a file that holds anything else.
        remedy: What the user can do then.
        optional: Annotations of the entries that it may have. Others are not looked at.
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
    """Return the object in a JSON text; see `read_object`."""
    try:
        data = json.loads(text)
        check_type(data, dict, "The file")
        for key, kind in kinds.items():
            if key not in data:
                raise WrongTypeError(f"{key} is missing")
            check_type(data[key], kind, key)
        for key, kind in (optional or {}).items():
            if key in data:
                check_type(data[key], kind, key)
    except (ValueError, RecursionError, WrongTypeError) as fault:
        said = str(fault).rstrip(".")
        raise error(f"{where} is damaged: {said}. {remedy}") from fault
    return data
