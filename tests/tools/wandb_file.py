"""What lies in a file of wandb's offline mode, read by the layout of such files.

Blocks of 32 KiB hold pieces of records, each with a checksum, its length and its place
in the record, as in LevelDB's log. A record is a message whose fields wandb's own
definitions name.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_BLOCK, _HEAD = 32768, struct.Struct("<IHB")
_START = struct.Struct("<4sHB")
_FULL, _FIRST, _LAST = 1, 2, 4


def read_records(path: Path) -> list[Any]:
    """Return the records of a file."""
    from wandb.proto.wandb_internal_pb2 import Record

    return [Record.FromString(data) for data in _read_data(path.read_bytes())]


def records_below(folder: Path) -> list[Any]:
    """Return the records of all runs in a folder, in their order."""
    files = sorted(folder.rglob("*.wandb"), key=lambda file: file.stat().st_mtime_ns)
    return [record for file in files for record in read_records(file)]


def _read_data(data: bytes) -> Iterator[bytes]:
    assert _START.unpack_from(data) == (b":W&B", 0xBEE1, 0)
    at, whole = _START.size, b""
    while at + _HEAD.size <= len(data):
        if _BLOCK - at % _BLOCK < _HEAD.size:
            at += _BLOCK - at % _BLOCK
            continue
        checksum, length, kind = _HEAD.unpack_from(data, at)
        piece = data[at + _HEAD.size : at + _HEAD.size + length]
        assert zlib.crc32(piece, zlib.crc32(bytes([kind]))) == checksum
        whole = piece if kind in (_FULL, _FIRST) else whole + piece
        if kind in (_FULL, _LAST):
            yield whole
        at += _HEAD.size + length
