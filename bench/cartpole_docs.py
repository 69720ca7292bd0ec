"""Write the figures of the cartpole study into its documentation page.

    python bench/cartpole_docs.py          # after the studies
    python bench/cartpole_docs.py --check  # whether the page is up to date

Text is written in the page; the content between a pair of marks is generated here.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.record import RESULTS
from mjlab.cli.answers import UsageError, run_program

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/explanation/cartpole_study.md"
IMAGES = ROOT / "docs" / "images" / "cartpole"
RESULT = RESULTS / "cartpole"

TABLES = {"scaling": "tables.md", "learning": "learning.md"}
"""Result files by the name of their marks."""

NOTHING = "Not measured yet: run the command above."


def main(arguments: Sequence[str]) -> None:
    """Write the page, or report that it is out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only check the page")
    args = parser.parse_args(arguments)
    before = PAGE.read_text("utf-8")
    pictures = sorted(RESULT.glob("*.svg")) if RESULT.is_dir() else []
    after = filled(before, RESULT, [picture.name for picture in pictures])
    if args.check:
        if after != before:
            raise UsageError(f"{PAGE} is out of date: run bench/cartpole_docs.py.")
        return
    IMAGES.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        shutil.copyfile(picture, IMAGES / picture.name)
    PAGE.write_text(after, "utf-8")
    print(f"Written: {PAGE}")


def filled(page: str, folder: Path, pictures: Sequence[str]) -> str:
    """Return the page with the content between its marks regenerated.

    Args:
        page: The page, with marks such as `<!-- figures: scaling -->` and
            `<!-- end -->`.
        folder: Folder with the tables of the studies.
        pictures: Names of existing pictures.
    """

    def made(found: re.Match[str]) -> str:
        kind, name = found.group(1), found.group(2)
        if kind == "figures":
            file = folder / TABLES[name]
            text = file.read_text("utf-8").strip() if file.exists() else NOTHING
        elif name in pictures:
            says = name.removesuffix(".svg").replace("_", " ")
            text = f"![{says}](../images/cartpole/{name})"
        else:
            text = NOTHING
        return f"<!-- {kind}: {name} -->\n\n{text}\n\n<!-- end -->"

    pattern = r"<!-- (figures|picture): (\S+) -->.*?<!-- end -->"
    return re.sub(pattern, made, page, flags=re.DOTALL)


if __name__ == "__main__":
    sys.exit(run_program(main))
