"""Build the site of the documentation: `python docs/build.py`, or `make docs`.

It is written into build/site, and opened from there without a server: index.html. With
a name, as `make docs VERSION=NAME` gives one, it is written into build/versions/NAME,
and leads to the other versions that lie there. A link that leads nowhere is an error.
"""

import re
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))
sys.path.insert(0, str(ROOT))

from generator.site import Site, dead_links, write_versions

from mjlab.provenance import git_state

FOLDER = ROOT / "build/site"
SEVERAL = ROOT / "build/versions"


def version(name: str = "") -> str:
    """Return the version, or the name that it is given, and the commit."""
    state = git_state(ROOT)
    commit = str(state[1]["commit"])[:9] if state is not None else ""
    return " ".join(filter(None, [name or release(), commit]))


def release() -> str:
    """Return the version of this source."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return tomllib.loads(text)["project"]["version"]


def check_name(name: str) -> None:
    """Refuse a name that is no folder's, or that is a release other than this one."""
    if not re.fullmatch(r"\w[\w.+-]*", name):
        raise SystemExit(
            f"VERSION={name} is no name of a folder, such as {release()} or next."
        )
    if name[0].isdigit() and name != release():
        raise SystemExit(
            f"VERSION={name}, but this source is of version {release()}: check out the "
            "other one, or give this one a word for a name, such as next."
        )


def build(folder: Path = FOLDER, name: str = "") -> Site:
    """Write the site into a folder, or into one of that name in it."""
    inside = (folder / name).resolve()
    site = Site(version(name), name)
    site.write(inside)
    if name:
        write_versions(folder)
    dead = dead_links(inside)
    if dead:
        raise SystemExit("\n".join(["Links that lead nowhere:", *dead]))
    return site


def main() -> None:
    """Build it, and say where it is."""
    start = time.perf_counter()
    name = "".join(sys.argv[1:])
    folder = SEVERAL if name else FOLDER
    if name:
        check_name(name)
    pages = len(build(folder, name).pages)
    seconds = time.perf_counter() - start
    place = (folder / name).relative_to(ROOT)
    print(f"{pages} pages in {seconds:.1f} s: {place}/index.html")


if __name__ == "__main__":
    main()
