"""PNG files, read back by Pillow."""

import io

import numpy as np
import pytest
from PIL import Image

from mjlab.png import png


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (3, "RGB"), (4, "RGBA")])
def test_a_picture_has_the_pixels_of_its_array(channels: int, mode: str) -> None:
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (channels, 5, 7)).astype(np.uint8)
    found = Image.open(io.BytesIO(png(pixels)))
    assert found.mode == mode
    read = np.asarray(found).reshape(5, 7, channels)
    assert np.array_equal(read, pixels.transpose(1, 2, 0))
