"""Make the pages that follow from the code: `python docs/generate.py`.

Pages are made whole (the configuration reference, the terms), or hold parts between
`<!-- generated ... -->` and `<!-- end generated -->`. The same sources give the same
text. `python docs/generate.py --check` writes nothing and says what is stale.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generator import (
    contract,
    drawing,
    levels,
    pages,
    parts,
    performance,
    porting,
    term_pages,
)

DOCS = Path(__file__).resolve().parent

PARTS = {
    "contract": contract.contract_part,
    "fields": parts.fields_part,
    "configurations": parts.configurations_part,
    "heirs": parts.heirs_part,
    "rooms": parts.rooms_part,
    "methods": parts.methods_part,
    "tutorials": parts.tutorials_part,
    "randomizations": lambda _: term_pages.randomization_tables(),
    "warp_fields": lambda _: term_pages.warp_fields_text(),
    "performance": performance.performance_part,
    "names": porting.names_part,
}
"""What makes a generated part of a page, by its word."""


def made() -> dict[Path, str]:
    """Every file that is made, with its text."""
    files = {
        DOCS / "terms.md": term_pages.terms_page(),
        DOCS / "configuration" / "README.md": pages.configuration_index(),
        DOCS / "images" / "step.svg": drawing.step(),
        DOCS / "images" / "floors.svg": drawing.floors(),
        DOCS / "images" / "muscle_levels.svg": levels.two_levels(),
    }
    for page, found in pages.by_page().items():
        path = DOCS / "configuration" / f"{page}.md"
        files[path] = pages.configuration_page(page, found)
    for path in sorted(DOCS.rglob("*.md")):
        if path not in files:
            text = path.read_text("utf-8")
            files[path] = parts.filled(text, PARTS)
    return files


def stale() -> list[Path]:
    """Files that are not as they would be made, and pages of what is no more."""
    files = made()
    different = [
        path
        for path, text in files.items()
        if not path.is_file() or path.read_text("utf-8") != text
    ]
    left_over = set((DOCS / "configuration").glob("*.md")) - files.keys()
    return different + [
        path for path in sorted(left_over) if pages.NOTE in path.read_text("utf-8")
    ]


def main() -> None:
    """Write what has changed, or say what would."""
    outdated = stale()
    if "--check" in sys.argv[1:]:
        for path in outdated:
            print(f"stale: {path.relative_to(DOCS.parent)}")
        raise SystemExit(bool(outdated))
    files = made()
    for path in outdated:
        if path in files:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path], "utf-8")
        else:
            path.unlink()
        print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
