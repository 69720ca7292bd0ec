"""Validate file names that were read from a file.

The author of a policy, a run, a recording or a sweep chooses the names in it. Such a
name becomes part of a path only after `check_name` or `plain_name`. The policy runner
contains a copy of this file, so this file imports only the standard library.
"""

import re

_MOST_BYTES = 200
"""Maximum length of a name in UTF-8 bytes. File systems allow 255, including a
suffix."""

_SPECIAL = '/\\:*?"<>|'
"""Path separators, the colon of drive letters, and special characters of shells."""


def name_fault(name: object) -> str | None:
    """Return the reason why a file name is unsafe, None for a safe name.

    A safe name is a single path component and means the same on Linux, macOS and
    Windows.
    """
    if not isinstance(name, str) or not name:
        return "it is empty" if name == "" else "it is not text"
    special = next((mark for mark in name if mark in _SPECIAL), None)
    if special is not None:
        return f"it contains {special!r}"
    if not name.isprintable():
        return "it contains a character that is not printable"
    if name.startswith("."):
        return "it starts with a dot"
    if name.endswith((".", " ")):
        return f"it ends with {name[-1]!r}"
    if len(name.encode()) > _MOST_BYTES:
        return f"it is longer than {_MOST_BYTES} bytes"
    return None


def check_name(name: object, what: str, kind: type[Exception]) -> str:
    """Return `name` if it is a safe file name, else raise.

    Args:
        name: The name, as it was read.
        what: Source of the name, as the start of a sentence: "a.onnx names a clip".
        kind: The type of the error.
    """
    fault = name_fault(name)
    if fault is not None:
        shown = ascii(name)
        shown = shown if len(shown) <= 80 else f"{shown[:80]}..."
        raise kind(f"{what} {shown}, which is not a safe file name: {fault}.")
    assert isinstance(name, str), "Names of other types have a fault."
    return name


def plain_name(name: str) -> str:
    """Return a safe file name made from any text: unsafe characters become dashes."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-")
    return plain.encode()[:_MOST_BYTES].decode(errors="ignore").rstrip(".") or "unnamed"
