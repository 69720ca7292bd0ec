"""Pages and parts of pages that follow from the code."""

from collections.abc import Callable

from generator.sources import (
    Field,
    Record,
    paths,
    records,
)

NOTE = "<!-- Made by docs/generate.py from the code: change that, not this page. -->"

# Configuration, a page for each group of rooms. A room that is not here gets a page of
# its own, called like it.

GROUPS = {
    "environment": ("The environment and its terms", ["envs", "managers"]),
    "signals": ("Noise, delays and histories", ["noise", "buffers"]),
    "actions_and_commands": ("Actions and commands", ["mdp"]),
    "simulation": ("Simulation", ["sim"]),
    "scene": ("Scene", ["scene", "views"]),
    "entities": ("Entities, and edits of their models", ["entity", "spec"]),
    "actuators": ("Actuators", ["actuator"]),
    "sensors": ("Sensors", ["sensor"]),
    "terrain": ("Terrain", ["terrain"]),
    "learning": ("Learning", ["rl"]),
}


def cell(text: str) -> str:
    """Text that does not end a cell of a table, nor begin a tag or a list."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def code(text: str | None) -> str:
    """Code in a cell of a table."""
    if text is None:
        return ""
    return f"`{' '.join(text.replace('|', chr(92) + '|').split())}`"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def group_of(record: Record) -> str:
    """The page that a configuration is on."""
    room = record.path.split("/")[1].removesuffix(".py")
    for page, (_, rooms) in GROUPS.items():
        if room in rooms:
            return page
    return room


def title_of(page: str) -> str:
    """The heading of a page of the configuration reference."""
    return GROUPS[page][0] if page in GROUPS else page.capitalize()


def by_page() -> dict[str, list[Record]]:
    """Configurations of each page: pages in their order, files and classes in theirs.

    Configurations that others inherit from come first.
    """
    pages: dict[str, list[Record]] = {page: [] for page in GROUPS}
    for record in records().values():
        pages.setdefault(group_of(record), []).append(record)
    return {page: found for page, found in pages.items() if found}


def fields_table(
    fields: list[Field], *, link: Callable[[str], str] | None = None
) -> str:
    """A table of fields: name, type, default and text."""
    rows = []
    for field in fields:
        default = "required" if field.default is None else code(field.default)
        text = cell(field.text)
        if link is not None:
            named = [name for name, _ in field.records if name in records()]
            seen = [link(name) for name in dict.fromkeys(named)]
            text = " ".join([text, *(f"See {each}." for each in seen)])
        rows.append([code(field.name), code(field.type), default, text])
    return table(["Field", "Type", "Default", "Meaning"], rows)


def link_to(name: str, page: str = "") -> str:
    """A link to a configuration, from a page of the reference."""
    target = group_of(records()[name])
    file = "" if target == page else f"{target}.md"
    return f"[`{name}`]({file}#{name.lower()})"


def configuration_page(page: str, found: list[Record]) -> str:
    """A page of the configuration reference."""
    lines = [f"# {title_of(page)}: configuration", "", NOTE, ""]
    lines.append("[All pages](README.md)")
    for record in found:
        lines += ["", f"## {record.name}", "", *_record_lines(record, page)]
    return "\n".join(lines) + "\n"


def _record_lines(record: Record, page: str) -> list[str]:
    lines = [record.text.replace("<", "&lt;"), ""]
    where = paths().get(record.name, [])
    if record.is_abstract:
        lines += ["This is a base for others, and cannot be made itself.", ""]
    elif where:
        lines += [f"Path: {', '.join(f'`{path}`' for path in where[:4])}", ""]
    if record.bases:
        named = ", ".join(link_to(base, page) for base in record.bases)
        lines += [f"It also has the fields of {named}.", ""]
    if record.fields:
        shown = fields_table(
            list(record.fields),
            link=lambda name: link_to(name, page),
        )
        lines += [shown, ""]
    lines.append(f"Source: [{record.path}](../../{record.path})")
    return lines


def configuration_index() -> str:
    """The first page of the configuration reference."""
    lines = ["# Configuration reference", "", NOTE, ""]
    lines += [
        "Every configuration is a dataclass with keyword arguments. A task is a",
        "subclass in which a class attribute is a new default (`decimation = 2`). A",
        "command line changes single fields by their path, with dots between the names",
        "and `-` for `_`:",
        "",
        "```sh",
        "python scripts/train.py Velocity-G1 --env.sim.mujoco.timestep 0.004 \\",
        "    --env.rewards.upright.weight 2.0 --disable rewards.foot_slip",
        "python scripts/train.py Velocity-G1 --help-config env.rewards.upright",
        "```",
        "",
        "`<name>` in a path is a key of a dictionary, such as the name of a reward,",
        "or the `name` of a sensor; `<n>` is a place in a tuple, from 0. Fields that",
        "hold functions can only be set in Python.",
        "",
    ]
    rows = []
    for page, found in by_page().items():
        names = ", ".join(
            f"[`{record.name}`]({page}.md#{record.name.lower()})" for record in found
        )
        rows.append([f"[{title_of(page)}]({page}.md)", names])
    lines.append(table(["Page", "Configurations"], rows))
    return "\n".join(lines) + "\n"
