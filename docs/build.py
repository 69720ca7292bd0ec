"""Build the site of the documentation: `python docs/build.py`, or `make docs`.

It is written into build/site, and opened from there without a server: index.html. A
link that leads nowhere is an error.
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
sys.path.insert(0, str(ROOT))

from generator.site import Site, dead_links

from mjlab.provenance import git_state, versions

FOLDER = ROOT / "build/site"


def version() -> str:
    """Return the version, and the commit where there is one."""
    state = git_state(ROOT)
    commit = str(state[1]["commit"])[:9] if state is not None else ""
    return " ".join(filter(None, [versions().get("mjlab-fused", ""), commit]))


def build(folder: Path = FOLDER) -> Site:
    """Write the site into a folder."""
    site = Site(version())
    site.write(folder.resolve())
    dead = dead_links(folder.resolve())
    if dead:
        raise SystemExit("\n".join(["Links that lead nowhere:", *dead]))
    return site


def main() -> None:
    """Build it, and say where it is."""
    start = time.perf_counter()
    pages = len(build().pages)
    seconds = time.perf_counter() - start
    print(f"{pages} pages in {seconds:.1f} s: {FOLDER.relative_to(ROOT)}/index.html")


if __name__ == "__main__":
    main()
