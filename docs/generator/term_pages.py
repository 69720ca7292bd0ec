"""The page of all terms, and the tables of randomisations."""

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from generator.pages import NOTE, cell, code, group_of, table
from generator.sources import all_fields, heading_of, records, summary
from generator.terms import Term, terms

SECTIONS = {
    "Actions": ["actions", "differential_ik"],
    "Observations": ["observations"],
    "Rewards": ["rewards"],
    "Terminations": ["terminations"],
    "Events": ["events"],
    "Commands": ["commands", "velocity_command"],
    "Curricula": ["curriculums"],
    "Metrics": ["metrics"],
    "Recorders": ["recorders"],
}
"""Modules of `mjlab.mdp` by the manager that their terms belong to."""

MANAGER_PAGES = {
    "Actions": "managers/action.md",
    "Observations": "managers/observation.md",
    "Rewards": "managers/reward.md",
    "Terminations": "managers/termination.md",
    "Events": "managers/event.md",
    "Commands": "managers/command.md",
    "Curricula": "managers/curriculum.md",
    "Metrics": "managers/metrics.md",
    "Recorders": "recording.md",
}

INTRODUCTION = """
Everything here is in `mjlab.mdp`, which `mjlab.envs` gives out too: `from mjlab.envs
import mdp`, then `mdp.joint_vel_l2`. Terms of single tasks stand with the task, for
example in [tasks/velocity](../tasks/velocity).

The parameters shown are those that go into `params`. A manager gives the others: `env`,
`mask` and `stream`. `ROBOT` stands for `SceneEntityCfg("robot")`, all elements of the
entity called "robot"; a `Selection` is what a `SceneEntityCfg` becomes when the term is
bound. A term in *italics* is a class with a memory or with work done when it is built.
"""


def terms_page() -> str:
    """The page of all terms of the library."""
    known = terms("mjlab.mdp")
    named = {f"mjlab.mdp.{part}" for parts in SECTIONS.values() for part in parts}
    assert set(known) == named, f"Which manager do these belong to: {set(known)}?"
    lines = ["# Terms", "", NOTE, INTRODUCTION]
    for title, parts in SECTIONS.items():
        found = [term for part in parts for term in known[f"mjlab.mdp.{part}"]]
        page = MANAGER_PAGES[title]
        used = f"[{heading_of(page)}]({page})"
        lines += [f"## {title}", "", f"How they are used: {used}.", ""]
        configured = [term for term in found if term.name.endswith("Cfg")]
        if configured:
            lines += [_config_terms(configured), ""]
        else:
            lines += [_function_terms(found), ""]
        if title == "Events":
            lines += [
                "Randomisation of models has [a page of its own](randomization.md).",
                "",
            ]
    return "\n".join(lines).rstrip() + "\n"


def _function_terms(found: list[Term]) -> str:
    rows = []
    for term in sorted(found, key=lambda term: term.name):
        name = f"*`{term.name}`*" if term.is_class else f"`{term.name}`"
        rows.append([name, code(term.signature), cell(term.text), _source(term)])
    return table(["Term", "Parameters", "What it is", "Source"], rows)


def _config_terms(found: list[Term]) -> str:
    rows = []
    for term in sorted(found, key=lambda term: term.name):
        record = records()[term.name]
        if record.is_abstract:
            continue
        page = f"configuration/{group_of(record)}.md#{term.name.lower()}"
        shown = [field.name for field in all_fields(term.name)]
        rows.append(
            [
                f"[`{term.name}`]({page})",
                ", ".join(f"`{name}`" for name in shown),
                cell(summary(record.text)),
                _source(term),
            ]
        )
    return table(["Configuration", "Fields", "What it is", "Source"], rows)


def _source(term: Term) -> str:
    name = term.path.rsplit("/", 1)[1]
    return f"[{name}](../{term.path})"


# Randomisation.

_FAMILIES = {
    "": "One field of elements, or an option of physics",
    ".inertia": "Mass, centre of mass and inertia together",
    ".special": "Sizes of geoms, textures and encoders",
    ".actuators": "Actuators",
    ".fields": "Any other field",
}


def randomization_tables() -> str:
    """Tables of all randomisations, by family."""
    known = terms("mjlab.mdp.randomize")
    lines: list[str] = []
    for part, title in _FAMILIES.items():
        found = [
            term
            for term in known[f"mjlab.mdp.randomize{part}"]
            if term.name[0].islower()
        ]
        rows = [_randomization_row(term) for term in found]
        head = ["Term", "Varies", "Does", "Axes", "What it is"]
        lines += [f"### {title}", "", table(head, rows), ""]
    return "\n".join(lines).rstrip()


def _randomization_row(term: Term) -> list[str]:
    has = dict(term.constants)
    fields = has.get("model_fields", "").split()
    if "option" in has:
        fields = [f"opt.{ast.literal_eval(has['option'])}"]
    elif "field" in has and not fields:
        fields = [ast.literal_eval(has["field"])]
    if term.name == "randomize_field":
        fields = ["the field named by `field`"]
    varies = ", ".join(name if " " in name else f"`{name}`" for name in fields)
    operation = has.get("operation", "'scale'").replace("'", '"')
    does = f"`{operation}`" if "operation:" in term.signature else ""
    names = ast.literal_eval(has.get("axis_names", "()"))
    axes = ", ".join(f"`{name}`" for name in names)
    chosen = ast.literal_eval(has.get("default_axes", "None"))
    if chosen is not None and names:
        axes += f"; by default {', '.join(f'`{names[axis]}`' for axis in chosen)}"
    return [f"`{term.name}`", varies, does, axes, cell(term.text)]


def warp_fields() -> list[str]:
    """Model fields that both engines can vary per world, as Warp's types say.

    They are read from its source, since to import it takes seconds.
    """
    import mujoco

    package = importlib.util.find_spec("mujoco_warp")
    assert package is not None and package.origin is not None
    source = Path(package.origin).parent / "_src" / "types.py"
    known = {"Model": mujoco.MjModel, "Option": mujoco.MjOption}
    found = []
    for node in ast.parse(source.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name in known:
            prefix = "opt." if node.name == "Option" else ""
            names = set(_per_world(node)) & set(dir(known[node.name]))
            found += [f"{prefix}{name}" for name in names]
    return sorted(found)


def _per_world(node: ast.ClassDef) -> Iterator[str]:
    """Fields of one of Warp's types whose first dimension is "*", the world."""
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.annotation, ast.Call):
            first = field.annotation.args[0]
            if isinstance(first, ast.Constant) and first.value == "*":
                yield ast.unparse(field.target)


def warp_fields_text() -> str:
    """These fields, a line for each kind of element."""
    kinds: dict[str, list[str]] = {}
    for name in warp_fields():
        kinds.setdefault(re.split(r"[_.]", name)[0], []).append(f"`{name}`")
    return "\n".join(f"- {', '.join(names)}" for names in kinds.values())
