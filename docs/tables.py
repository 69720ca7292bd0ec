"""Write the generated tables of the pages.

Sphinx calls this before it reads the pages, which include the tables: names of other
projects, keys of a policy's contract, fields that can vary per world, and measured
figures from `bench/results`.
"""

import ast
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from mujoco import batch

from mjlab.cli.porting.isaaclab_2_3 import ISAAC_LAB
from mjlab.cli.verbs import VERBS
from mjlab.gait.limits import AS_TRAINED, FAST, QUIET, SLOW, failures
from mjlab.gait.table import gait_tables, tracking_table, verdict
from mjlab.settings.counterparts import Package, Project
from mjlab.settings.mjlab_1_6 import MJLAB
from mjlab.sim.warp_fields import VARIABLE_FIELDS
from tests.tools import mjlab_comparison

ROOT = Path(__file__).resolve().parents[1]

Rows = Iterable[Iterable[str]]


def write(folder: Path) -> None:
    """Write all tables, one file each."""
    folder.mkdir(exist_ok=True)
    for name, text in made().items():
        (folder / f"{name}.md").write_text(text + "\n", "utf-8")


def made() -> dict[str, str]:
    """Return the text of each table by the name of its file."""
    return {
        "commands": commands(),
        "mjlab_names": names(MJLAB, MJLAB.packages),
        "mjlab_task_names": names(MJLAB, MJLAB.task_packages),
        "mjlab_fields": mjlab_fields(),
        "mjlab_members": mjlab_members(),
        "isaaclab_names": names(ISAAC_LAB, ISAAC_LAB.packages),
        "isaaclab_task_names": names(ISAAC_LAB, ISAAC_LAB.task_packages),
        "contract": contract(),
        "fields_of_both_engines": fields_of_both_engines(),
        "agreement": agreement(results()),
        "performance": performance(results()),
        "exam": exams(results("exam")),
        "adopted": adopted(results("adopt")),
    }


def table(head: Iterable[str], rows: Rows) -> str:
    """Return a Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def cell(text: str) -> str:
    """Return text escaped for a table cell."""
    return " ".join(text.split()).replace("|", r"\|")


# Public names.


def packages() -> list[str]:
    """Return the packages of mjlab."""
    found = sorted((ROOT / "mjlab").rglob("__init__.py"))
    folders = [path.parent.relative_to(ROOT) for path in found]
    return [".".join(folder.parts) for folder in folders if "tasks" not in folder.parts]


def public_names(package: str) -> list[str]:
    """Return the names that a package exports (`as`) or defines."""
    source = ROOT.joinpath(*package.split("."), "__init__.py")
    names = []
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names += [each.name for each in node.names if each.asname == each.name]
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and node.col_offset == 0:
            names.append(node.name)
    return [name for name in names if not name.startswith("_")]


def listed(module: ModuleType) -> list[str]:
    """Return the classes and functions that a module exports, or else defines."""
    own = [name for name, value in vars(module).items() if _is_of(value, module)]
    names = getattr(module, "__all__", own)
    found = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return [name for name, value in found.items() if is_documented(value)]


def _is_of(value: object, module: ModuleType) -> bool:
    return getattr(value, "__module__", None) == module.__name__


def is_documented(value: object) -> bool:
    """Return True for a class or function of mjlab."""
    return isinstance(value, type | FunctionType) and "mjlab" in value.__module__


# Commands.


def commands() -> str:
    """Return a table of the commands of `mjlab`, with the script of each."""
    rows = [
        [f"`mjlab {name}`", f"`scripts/{verb.script or name}.py`", verb.text]
        for name, verb in VERBS.items()
    ]
    return table(["Command", "In a clone", "Purpose"], rows)


# Names of other projects.


def names(project: Project, packages: Mapping[str, Package]) -> str:
    """Return tables that map a project's names to names here, one per package."""
    parts = []
    for package, their in packages.items():
        all_names = their.names.split()
        same = [f"`{name}`" for name in all_names if name not in project.otherwise]
        parts.append(f"**{package}**\n")
        if same:
            parts.append(f"Same name in `{their.ours}`: {', '.join(same)}.\n")
        rows = [
            [
                f"`{name}`",
                f"`{row.ours}`" if row.ours else "none",
                _with_link(row.words),
            ]
            for name in all_names
            if (row := project.replacement(name)) is not None
        ]
        if rows:
            parts.append(table(["Theirs", "Here", "Difference"], rows) + "\n")
    return "\n".join(parts)


def _with_link(text: str) -> str:
    place = "coming_from_mjlab.md#differences-in-behaviour"
    return text.replace("see below", f"see [Differences]({place})")


def mjlab_fields() -> str:
    """Return a comparison of configuration fields with mjlab 1.6, one row per class."""
    rows = []
    for theirs in mjlab_comparison.compared():
        each = mjlab_comparison.compare_fields(theirs)
        rows.append(
            [
                f"`{theirs}`",
                f"`{each.ours.__name__}`",
                str(len(each.same)),
                _codes(each.more),
                _reasons(each.differs),
            ]
        )
    return table(["mjlab", "Here", "Same", "Only here", "Differs"], rows)


def mjlab_members() -> str:
    """Return a comparison of class members with mjlab 1.6, one row per class."""
    rows = []
    for theirs in mjlab_comparison.USED:
        each = mjlab_comparison.compare_members(theirs)
        rows.append(
            [
                f"`{theirs}`",
                f"`{each.ours.__name__}`",
                str(len(each.same)),
                _reasons(each.replaced),
                _reasons(each.left_out),
            ]
        )
    return table(["mjlab", "Here", "Same", "Replaced", "Left out"], rows)


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _reasons(by_name: Mapping[str, str]) -> str:
    """Return names with their reasons; names with the same reason are together."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in by_name.items():
        by_reason.setdefault(reason, []).append(name)
    parts = [f"{_codes(names)}: {reason}" for reason, names in by_reason.items()]
    return "; ".join(parts)


# The contract of a policy file.


def contract() -> str:
    """Return a table of each kind of object in a contract."""
    path = ROOT / "mjlab" / "export" / "contract.schema.json"
    schema = json.loads(path.read_text("utf-8"))
    parts = ["### contract\n", _keys(schema)]
    for name, kind in schema["$defs"].items():
        parts += [f"\n### {name}\n", kind["description"] + "\n", _keys(kind)]
    return "\n".join(parts)


def _keys(kind: dict[str, Any]) -> str:
    optional = kind["properties"].keys() - kind["required"]
    rows = [
        [f"`{key}`" + " (optional)" * (key in optional), _type(v), v["description"]]
        for key, v in kind["properties"].items()
    ]
    return table(["Key", "Type", "Meaning"], rows)


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "anyOf" in value:
        return " or ".join(map(_type, value["anyOf"]))
    if "enum" in value or "const" in value:
        choices = value.get("enum", [value.get("const")])
        return ", ".join(f"`{choice}`" for choice in choices)
    if value["type"] == "array":
        return f"list of {_type(value['items'])}"
    if isinstance(more := value.get("additionalProperties"), dict):
        return f"{_type(more)} by name"
    kinds = value["type"]
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def agreement(found: dict[str, "Result"]) -> str:
    """Return a table of differences between ported tasks and mjlab (`agreement`)."""
    rows = []
    for task, terms in found["agreement"]["tasks"].items():
        cells = [f"`{task}`", str(len(terms))]
        for stage in ("state", "after"):
            chosen = {k: v for k, v in terms.items() if k.startswith(f"{stage}/")}
            same = [v["relative"] for v in chosen.values() if v["relative"] <= 1e-4]
            other = [
                f"`{key.rpartition('/')[2]}` {row['relative']:.0e}"
                for key, row in chosen.items()
                if row["relative"] > 1e-4
            ]
            cells.append(f"{len(same)} of {len(chosen)}")
            cells.append(", ".join(dict.fromkeys(other)) or "none")
        rows.append(cells)
    head = ["Task", "Values", "Same state, up to 1e-4", "Others"]
    return table([*head, "After a step, up to 1e-4", "Others"], rows)


# Fields.


def fields_of_both_engines() -> str:
    """Return the model fields that both engines can vary per world, by element."""
    kinds: dict[str, list[str]] = {}
    for name in sorted(VARIABLE_FIELDS & batch.MODEL_FIELDS):
        kind = name.removeprefix("opt.") if name.startswith("opt.") else name
        kind = "options" if name.startswith("opt.") else kind.split("_")[0]
        kinds.setdefault(kind, []).append(f"`{name}`")
    return "\n".join(f"- {', '.join(fields)}" for fields in kinds.values())


# Measured figures.

Result = dict[str, Any]
Columns = Mapping[str, Callable[[Result], str]]


def results(folder: str = ".") -> dict[str, Result]:
    """Return the results that name their machine, by file, without quick trials."""
    found = {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted((ROOT / "bench" / "results" / folder).glob("*.json"))
    }
    return {
        name: result
        for name, result in found.items()
        if "machine" in result and not result.get("quick")
    }


def performance(found: dict[str, Result]) -> str:
    """Return the tables of figures, then the machine and date of every result."""
    sections = {
        "Physics compared with the bare engine": physics,
        "Environment step and managers": steps,
        "Velocity tasks on a CPU": velocity,
        "Tasks on a GPU": gpu,
        "Cartpole-Balance, trained": cartpole,
        "Gait of walking policies": walking,
    }
    made = {title: make(found) for title, make in sections.items()}
    parts = [f"## {title}\n\n{text}\n" for title, text in made.items() if text]
    return "\n".join([*parts, "## Conditions\n", conditions(found)])


def conditions(found: dict[str, Result]) -> str:
    """Return the machine, date and versions of each result."""
    rows = [[f"`{name}.json`", *_condition(result)] for name, result in found.items()]
    return table(["File", "Date", "Machine", "Versions"], rows)


def _condition(result: Result) -> tuple[str, str, str]:
    """Return the date, machine and versions of a result."""
    machine, versions = result["machine"], result["versions"]
    packages = ", ".join(f"{package} {v}" for package, v in versions.items())
    gpu = machine["gpu"] or "no GPU"
    hardware = f"{machine['processor']}, {machine['cores']} cores, {gpu}"
    return result["date"][:10], hardware, packages


def _table(columns: Columns, rows: list[Result]) -> str:
    lines = [[make(row) for make in columns.values()] for row in rows]
    return table(columns, lines) if rows else ""


def _starting(found: dict[str, Result], prefix: str) -> list[Result]:
    return [result for name, result in found.items() if name.startswith(prefix)]


def physics(found: dict[str, Result]) -> str:
    """Return the rates of the engine, from files `sim_*`."""
    columns: Columns = {
        "Robot": lambda r: r["robot"].upper(),
        "Worlds": lambda r: f"{r['num_envs']:,}",
        "Engine": lambda r: r["engine"],
        "Physics steps/s": lambda r: f"{r['steps_per_s']:,.0f}",
        "Bare engine": lambda r: f"{r['bare_steps_per_s']:,.0f}",
        "Fraction of bare engine": lambda r: _with_spread(r, "share_of_bare"),
    }
    return _table(columns, _starting(found, "sim_"))


def steps(found: dict[str, Result]) -> str:
    """Return the times of a complete step, from files `env_*`."""
    columns: Columns = {
        "Task": lambda r: r["task"],
        "Worlds": lambda r: f"{r['num_envs']:,}",
        "Engine": lambda r: r["engine"],
        "Step": lambda r: f"{r['step_ms']:.1f} ms",
        "Physics": lambda r: f"{r['physics_ms']:.1f} ms",
        "Env steps/s": lambda r: f"{r['env_steps_per_s']:,.0f}",
        "Fraction for managers": lambda r: _with_spread(r, "share_of_managers"),
    }
    return _table(columns, _starting(found, "env_"))


def velocity(found: dict[str, Result]) -> str:
    """Return the rates of the velocity tasks."""
    columns: Columns = {
        "Task": lambda r: r["task"],
        "Worlds": lambda r: f"{r['num_envs']:,}",
        "Threads": lambda r: str(r["threads"]),
        "Env steps/s": lambda r: f"{r['env_steps_per_s']:,.0f}",
        "Bare engine": lambda r: f"{r['bare_env_steps_per_s']:,.0f}",
        "Fraction of bare engine": lambda r: _with_spread(r, "share_of_bare"),
        "Operations per step": lambda r: str(r["operations_per_step"]),
        "Host reads per step": lambda r: str(r["host_reads_per_step"]),
        "Training steps/s": lambda r: f"{r.get('training_steps_per_s', 0):,.0f}",
    }
    rows = [
        {**result, **task, "task": name}
        for result in _starting(found, "velocity")
        for name, task in result["tasks"].items()
    ]
    return _table(columns, rows)


def gpu(found: dict[str, Result]) -> str:
    """Return the step times of each mode on a GPU."""
    columns: Columns = {
        "Task": lambda r: r["task"],
        "Worlds": lambda r: f"{r['num_envs']:,}",
        "Mode": lambda r: r["mode"],
        "Step": lambda r: f"{r['step_ms']:.2f} ms",
        "Physics": lambda r: f"{r['physics_ms']:.2f} ms",
        "Env steps/s": lambda r: f"{r['env_steps_per_s']:,.0f}",
        "Memory": lambda r: f"{r['memory_mb']:,.0f} MB",
    }
    rows = [
        {**point[mode], "task": task, "mode": mode, "num_envs": point["num_envs"]}
        for result in _starting(found, "gpu")
        for part in ("step_times", "velocity")
        for task, points in result["checks"].get(part, {}).items()
        for point in (points if isinstance(points, list) else [])
        for mode in ("fused", "segmented", "eager")
        if "step_ms" in point.get(mode, {})
    ]
    return _table(columns, rows)


def cartpole(found: dict[str, Result]) -> str:
    """Return the training runs of Cartpole-Balance, one row for each seed."""
    columns: Columns = {
        "Seed": lambda r: str(r["seed"]),
        "Solved": lambda r: "yes" if r["solved"] else "no",
        "Time": lambda r: f"{r['seconds']:.0f} s",
        "Env steps": lambda r: f"{r['env_steps']:,}",
        "Env steps/s": lambda r: f"{r['steps_per_s']:,.0f}",
        "Return without noise": lambda r: f"{r['evaluation']:.1f}",
        "Maximum return": lambda r: f"{r['most']:.0f}",
    }
    files = _starting(found, "cartpole_train")
    return _table(columns, [run for result in files for run in result["runs"]])


def walking(found: dict[str, Result]) -> str:
    """Return gait measures of all policies, then the tracking errors of ours."""
    parts = []
    for result in _starting(found, "walking"):
        policies = result["policies"]
        for world in (QUIET, AS_TRAINED):
            for command in (SLOW, FAST):
                rows = {
                    name: policy["worlds"][world][command]
                    for name, policy in policies.items()
                    if world in policy["worlds"]
                }
                for head, *body in gait_tables(rows):
                    parts += [f"Command {command} m/s, {world}:", table(head, body)]
        for name, policy in policies.items():
            if "task" in policy:
                parts += _tracking(name, policy)
    return "\n\n".join(parts)


def exams(found: dict[str, Result]) -> str:
    """Return the scores of each robot model, one row per policy and level."""
    by_robot: dict[str, list[list[str]]] = {}
    for result in found.values():
        name = result["policy"].partition(",")[0]
        for level, parts in result["levels"].items():
            scores = parts["scores"]
            row = [name, level, f"{scores['runs']}"]
            row += [_score(scores[key], *form) for key, *form in EXAM_COLUMNS.values()]
            by_robot.setdefault(result["robot"], []).append(row)
    head = ["policy", "level", "runs", *EXAM_COLUMNS]
    parts = []
    for robot, rows in by_robot.items():
        # Best policy first at each level.
        rows.sort(key=lambda row: ("ABNC".index(row[1]), -float(row[3].split()[0])))
        parts += [f"Robot: `{robot}`", table(head, rows)]
    measured = {", ".join(_condition(result)) for result in found.values()}
    return "\n\n".join([*parts, f"Measured: {'; '.join(sorted(measured))}."])


EXAM_COLUMNS = {
    "completed %": ("completed", 100.0, 0),
    "survival s": ("survival", 1.0, 1),
    "position cm": ("position", 100.0, 0),
    "heading deg": ("heading", 1.0, 0),
    "reached of 18": ("reached", 1.0, 1),
    "energy kJ": ("energy", 1.0, 1),
}


def adopted(found: dict[str, Result]) -> str:
    """Return a row per trained robot, and the gait metrics outside their limits."""
    columns: Columns = {
        "robot": lambda r: r["robot"],
        "file": lambda r: r["source"],
        "steps, millions": lambda r: f"{r['training']['Train/env_steps'] / 1e6:.1f}",
        "minutes": lambda r: f"{r['minutes']:.0f}",
        "falls %": lambda r: f"{100 * r['episodes']['falls']:.0f}",
        "measures outside limits": lambda r: str(len(r["failures"])),
    }
    each = list(found.values())
    parts = [_table(columns, each)]
    for result in each:
        if result["failures"]:
            parts.append(f"{result['robot']}:")
            parts.append("\n".join(f"- {line}" for line in result["failures"]))
    return "\n\n".join(parts)


def _score(estimate: Result, factor: float, digits: int) -> str:
    """Return a mean with its interval, "-" without one."""
    mean, low, high = (estimate[key] for key in ("mean", "low", "high"))
    if mean is None:
        return "-"
    shown = f"{factor * mean:.{digits}f}"
    if low is None:
        return shown
    return f"{shown} ({factor * low:.{digits}f} to {factor * high:.{digits}f})"


def _tracking(name: str, policy: Result) -> list[str]:
    worlds, seconds = policy["worlds"], policy["trained_s"]
    time = "" if seconds is None else f", trained for {seconds / 60:.0f} minutes"
    result, *failed = verdict(failures(worlds)).splitlines()
    head, *body = tracking_table(worlds)
    parts = [f"`{name}`{time}: {result}{':' if failed else '.'}"]
    if failed:
        parts.append("\n".join(f"- {line.strip()}" for line in failed))
    return [*parts, table(head, body)]


def _with_spread(result: Result, name: str) -> str:
    low, high = result[f"{name}_spread"]
    return f"{result[name]:.2f} ({low:.2f} to {high:.2f})"
