"""Tables of the contract's keys, from its JSON Schema."""

import json
from typing import Any

from generator.pages import cell, table
from generator.sources import ROOT

SCHEMA = ROOT / "mjlab" / "export" / "contract.schema.json"


def contract_part(_: str) -> str:
    """A table of each kind of object in a contract, the whole first."""
    schema = json.loads(SCHEMA.read_text("utf-8"))
    parts = ["### The whole", "", _keys(schema), ""]
    for name, kind in schema["$defs"].items():
        parts += [f"### `{name}`", "", kind["description"], "", _keys(kind), ""]
    return "\n".join(parts).rstrip()


def _keys(kind: dict[str, Any]) -> str:
    required = kind["required"]
    rows = [
        [f"`{key}`", _type(value), cell(value["description"] + _may(key, required))]
        for key, value in kind["properties"].items()
    ]
    return table(["Key", "Type", "What it is"], rows)


def _may(key: str, required: list[str]) -> str:
    return "" if key in required else " Not always there."


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "anyOf" in value:
        return " or ".join(_type(option) for option in value["anyOf"])
    if "enum" in value or "const" in value:
        choices = value.get("enum", [value.get("const")])
        return ", ".join(f"`{choice}`" for choice in choices)
    if value["type"] == "array":
        return f"list of {_type(value['items'])}"
    more = value.get("additionalProperties")
    if isinstance(more, dict):
        return f"{_type(more)} by name"
    kinds = value["type"]
    return kinds if isinstance(kinds, str) else " or ".join(kinds)
