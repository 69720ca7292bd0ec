"""A reader of JSON Schema, as far as ours goes: it says where a value breaks it."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

_KINDS = {
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_KNOWN = {"$defs", "$id", "$ref", "$schema", "additionalProperties", "anyOf", "const"}
_KNOWN |= {"description", "enum", "items", "pattern", "properties", "required", "title"}
_KNOWN |= {"type"}


def breaches(value: Any, schema: Mapping[str, Any], root: Any = None) -> Iterator[str]:
    """Yield what is wrong with a value, as "path: fault"."""
    root = schema if root is None else root
    yield from _breaches(value, schema, root, "$")


def _breaches(value: Any, schema: Mapping[str, Any], root: Any, at: str):
    assert not schema.keys() - _KNOWN, f"{at}: unknown {schema.keys() - _KNOWN}"
    if "$ref" in schema:
        target = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        yield from _breaches(value, target, root, at)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{at}: {value!r} is no {' or '.join(kinds)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} does not match"
    options = schema.get("anyOf")
    if options and all(any(_breaches(value, o, root, at)) for o in options):
        yield f"{at}: {value!r} is none of what it may be"
    if isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from _breaches(item, schema["items"], root, f"{at}[{place}]")
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, at)


def _of_object(value: dict[str, Any], schema: Mapping[str, Any], root: Any, at: str):
    properties = schema.get("properties", {})
    more = schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            yield f"{at}: {name!r} is missing"
    for name, item in value.items():
        if name in properties:
            yield from _breaches(item, properties[name], root, f"{at}.{name}")
        elif more is False:
            yield f"{at}: {name!r} is unknown"
        elif isinstance(more, dict):
            yield from _breaches(item, more, root, f"{at}.{name}")


def _is(value: Any, kind: str) -> bool:
    if kind in ("number", "integer"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (
            kind == "number" and isinstance(value, float) and math.isfinite(value)
        )
    return isinstance(value, _KINDS[kind])
