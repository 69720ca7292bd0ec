"""Reader of wandb's offline files.

Blocks of 32 KiB contain pieces of records, each with a checksum, its length and its
position in the record, as in LevelDB's log. A record is a message with wandb's own
field definitions.
"""

import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_BLOCK, _HEAD = 32768, struct.Struct("<IHB")
_START = struct.Struct("<4sHB")
PATIENCE = 30.0
"""Time in which wandb must have written a finished run, in seconds."""

_FULL, _FIRST, _LAST = 1, 2, 4


def read_records(path: Path) -> list[Any]:
    """Return the records of a file."""
    from wandb.proto.wandb_internal_pb2 import Record

    return [Record.FromString(data) for data in _read_data(path.read_bytes())]


def records_below(folder: Path) -> list[Any]:
    """Return the records of all finished runs in a folder."""
    found: list[Any] = []
    for file in sorted(folder.rglob("*.wandb")):
        # A wandb process writes the file, and can still be running.
        late = time.monotonic() + PATIENCE
        while not (records := read_records(file)) or not records[-1].HasField("exit"):
            assert time.monotonic() < late, f"{file} has no end"
            time.sleep(0.02)
        found += records
    return found


def _read_data(data: bytes) -> Iterator[bytes]:
    if len(data) < _START.size:
        return
    assert _START.unpack_from(data) == (b":W&B", 0xBEE1, 0)
    at, whole = _START.size, b""
    while at + _HEAD.size <= len(data):
        if _BLOCK - at % _BLOCK < _HEAD.size:
            at += _BLOCK - at % _BLOCK
            continue
        checksum, length, kind = _HEAD.unpack_from(data, at)
        piece = data[at + _HEAD.size : at + _HEAD.size + length]
        if len(piece) < length:
            return
        assert zlib.crc32(piece, zlib.crc32(bytes([kind]))) == checksum
        whole = piece if kind in (_FULL, _FIRST) else whole + piece
        if kind in (_FULL, _LAST):
            yield whole
        at += _HEAD.size + length
