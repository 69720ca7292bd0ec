"""PNG encoding of arrays."""

import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 3: 2, 4: 6}
"""PNG colour type of grey, RGB and RGBA, by number of channels."""


def png(image: np.ndarray) -> bytes:
    """Encode an image as PNG.

    Args:
        image: Grey, RGB or RGBA, uint8, shape (channels, height, width).
    """
    channels, height, width = image.shape
    head = struct.pack(">2I5B", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    rows = image.transpose(1, 2, 0).reshape(height, width * channels)
    # Each row starts with its filter type, 0 for none.
    lines = np.pad(rows, ((0, 0), (1, 0))).tobytes()
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
