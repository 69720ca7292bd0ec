"""Makes a small GIF of a part of a video, for a page.

python scripts/play.py Muscle-Walk-W18 --video walk.mp4 --steps 110
python docs/render_gif.py walk.mp4 docs/images/w18_walks.gif --first 30 --last 104
"""

import argparse
from pathlib import Path

import imageio.v3 as iio
from PIL import Image

COLORS = 200
_SMOOTH = Image.Resampling.LANCZOS


def main() -> None:
    """Read a video, select frames and write a GIF."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("video", type=Path)
    parser.add_argument("gif", type=Path)
    parser.add_argument("--first", type=int, default=0, help="first frame")
    parser.add_argument(
        "--last", type=int, default=100, help=("one after the last frame")
    )
    parser.add_argument(
        "--every", type=int, default=2, help=("interval between shown frames")
    )
    parser.add_argument(
        "--size", type=int, nargs=2, default=(480, 270), help=("width and height")
    )
    given = parser.parse_args()
    rate = iio.immeta(given.video)["fps"]
    shown = iio.imread(given.video)[given.first : given.last : given.every]
    small = [Image.fromarray(x).resize(given.size, _SMOOTH) for x in shown]
    plain = Image.Dither.NONE
    # The median cut keeps rare colours, such as those of arrows and muscles.
    method = Image.Quantize.MAXCOVERAGE
    palette = small[0].quantize(COLORS, method, dither=plain)
    frames = [image.quantize(palette=palette, dither=plain) for image in small]
    frames[0].save(
        given.gif,
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 * given.every / rate),
        loop=0,
        optimize=True,
    )
    print(f"{given.gif} {given.gif.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
