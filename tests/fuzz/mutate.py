"""Seeded damage: removed, inserted or changed bytes, and JSON with other values."""

import copy
import json
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, -1, 0, 1e308, 10**30, True, "", "x", "../../etc", [], {}, [1], {"a": 1}),
    *({"$type": "mjlab:x"}, {"$float": "nan"}, {"$callable": "os:system"}),
)
"""Replacement values."""


def damaged_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return a copy that is truncated, extended, or has changed bytes."""
    kind, place = chance.random(), chance.randrange(len(data))
    if kind < 0.15:
        return data[:place]
    if kind < 0.25:
        return data[:place] + chance.randbytes(chance.randrange(1, 50)) + data[place:]
    if kind < 0.35:
        return data[:place] + data[place + chance.randrange(1, 500) :]
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def damaged_json(data: bytes, chance: random.Random) -> bytes:
    """Return a copy with changed bytes, or JSON with changed entries."""
    if chance.random() < 0.3:
        return damaged_bytes(data, chance)
    whole = json.loads(data)
    for _ in range(chance.choice([1, 1, 2])):
        places = list(_places(whole))
        if not places:
            break
        holder, key = chance.choice(places)
        kind = chance.random()
        if kind < 0.2:
            del holder[key]
        elif kind < 0.85:
            holder[key] = copy.deepcopy(chance.choice(VALUES))
        elif isinstance(holder, dict):
            holder[chance.choice(["x", "$type", "$foo", ""])] = holder.pop(key)
        else:
            holder.append(copy.deepcopy(chance.choice(VALUES)))
    return json.dumps(whole).encode()


def damaged_lines(data: bytes, chance: random.Random) -> bytes:
    """Return a copy in which one line of JSON is damaged."""
    lines = data.splitlines(keepends=True)
    number = chance.randrange(len(lines))
    damaged = damaged_json(lines[number], chance).rstrip(b"\n")
    return b"".join([*lines[:number], damaged, b"\n", *lines[number + 1 :]])


def _places(data: Any) -> Any:
    """Yield every entry of every object and list, as container and key."""
    if isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from _places(data[key])
