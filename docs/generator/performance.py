"""Tables of what was measured, from `bench/results`."""

import json
from typing import Any

from generator.pages import cell, table
from generator.sources import ROOT
from mjlab.gait.limits import AS_TRAINED, FAST, QUIET, SLOW, failures
from mjlab.gait.table import gait_tables, tracking_table, verdict

RESULTS = ROOT / "bench" / "results"

MOST_ROWS = 40
"""Rows of a table of a result whose kind is not known here."""


def results() -> dict[str, dict[str, Any]]:
    """Every result that says where it was measured, by the name of its file."""
    found = {
        path.stem: json.loads(path.read_text("utf-8"))
        for path in sorted(RESULTS.glob("*.json"))
    }
    # What ran quickly, to see whether it runs, is no measurement.
    return {
        name: result
        for name, result in found.items()
        if "machine" in result and not result.get("quick")
    }


def performance_part(_: str) -> str:
    """All tables."""
    known = dict(results())
    parts = []
    for title, prefix, make in _KINDS:
        chosen = {k: v for k, v in known.items() if k.startswith(prefix)}
        known = {k: v for k, v in known.items() if k not in chosen}
        if chosen:
            parts += [f"### {title}", "", make(chosen), "", *_conditions(chosen)]
    for name, result in known.items():
        shown = _any_table(result)
        parts += [f"### {name}", "", shown, "", *_conditions({name: result})]
    if not any(result["machine"]["gpu"] for result in results().values()):
        parts.append("Nothing of this was measured on a GPU.")
    return "\n".join(parts).rstrip()


def _conditions(chosen: dict[str, dict[str, Any]]) -> list[str]:
    """On what machine, with which versions, when, and from which files."""
    lines = []
    for name, result in chosen.items():
        machine, versions = result["machine"], result["versions"]
        gpu = machine["gpu"] or "no GPU"
        packages = ", ".join(f"{package} {v}" for package, v in versions.items())
        lines.append(
            f"- [{name}.json](../bench/results/{name}.json), {result['date'][:10]}: "
            f"{machine['processor']}, {machine['cores']} cores, {gpu}, "
            f"{machine['system']}, Python {machine['python']}; {packages}."
            + _load(result)
        )
    return [*lines, ""]


def _load(result: dict[str, Any]) -> str:
    """How busy the machine was besides, where the measurement noted it."""
    if "load_before" not in result:
        return ""
    before, after = result["load_before"][0], result["load_after"][0]
    return f" Load average {before:.1f} before and {after:.1f} after."


def _env_table(chosen: dict[str, dict[str, Any]]) -> str:
    head = ["Task", "Worlds", "Engine", "Mode", "Step", "Physics alone"]
    head += ["Env steps a second", "Share of the managers"]
    rows = []
    for result in chosen.values():
        rows.append(
            [
                result["task"],
                f"{result['num_envs']:,}",
                result["engine"],
                result["mode"],
                f"{result['step_ms']:.1f} ms",
                f"{result['physics_ms']:.1f} ms",
                f"{result['env_steps_per_s']:,.0f}",
                _with_spread(result, "share_of_managers"),
            ]
        )
    return table(head, rows)


def _sim_table(chosen: dict[str, dict[str, Any]]) -> str:
    head = ["Robot", "Worlds", "Engine", "Device", "Physics steps a second"]
    head += ["Bare engine", "Share of the bare engine"]
    rows = []
    for result in chosen.values():
        rows.append(
            [
                result["robot"].upper(),
                f"{result['num_envs']:,}",
                result["engine"],
                result["device"],
                f"{result['steps_per_s']:,.0f}",
                f"{result['bare_steps_per_s']:,.0f}",
                _with_spread(result, "share_of_bare"),
            ]
        )
    return table(head, rows)


def _cartpole_table(chosen: dict[str, dict[str, Any]]) -> str:
    head = ["Seed", "Solved", "Time", "Env steps", "Env steps a second"]
    head += ["Mean return while training", "Without noise", "Most there can be"]
    rows = []
    for result in chosen.values():
        for run in result["runs"]:
            rows.append(
                [
                    str(run["seed"]),
                    "yes" if run["solved"] else "no",
                    f"{run['seconds']:.0f} s",
                    f"{run['env_steps']:,}",
                    f"{run['steps_per_s']:,.0f}",
                    f"{run['mean_return']:.1f}",
                    f"{run['evaluation']:.1f}",
                    f"{run['most']:.0f}",
                ]
            )
    return table(head, rows)


def _velocity_table(chosen: dict[str, dict[str, Any]]) -> str:
    head = ["Task", "Worlds", "Threads", "Env steps a second", "Bare engine"]
    head += ["Share of the bare engine", "Operations a step", "Host reads a step"]
    head += ["Training steps a second", "Learner's share"]
    rows = []
    for result in chosen.values():
        for task, found in result["tasks"].items():
            rows.append(
                [
                    task,
                    f"{result['num_envs']:,}",
                    str(result["threads"]),
                    f"{found['env_steps_per_s']:,.0f}",
                    f"{found['bare_env_steps_per_s']:,.0f}",
                    _with_spread(found, "share_of_bare"),
                    str(found["operations_per_step"]),
                    str(found["host_reads_per_step"]),
                    _number(found.get("training_steps_per_s"), ",.0f"),
                    _number(found.get("learner_share"), ".2f"),
                ]
            )
    lines = [table(head, rows)]
    for result in chosen.values():
        start = result.get("first_iteration")
        if start is not None:
            seconds = start["first_iteration_s"]
            lines.append(
                f"From the command to the first finished iteration: {seconds:.1f} s."
            )
    return "\n\n".join(lines)


def _walking_table(chosen: dict[str, dict[str, Any]]) -> str:
    parts = []
    for result in chosen.values():
        policies = result["policies"]
        for world in (QUIET, AS_TRAINED):
            for command in (SLOW, FAST):
                rows = {
                    name: policy["worlds"][world][command]
                    for name, policy in policies.items()
                    if world in policy["worlds"]
                }
                for head, *body in gait_tables(rows):
                    parts += [f"{command} m/s, {world}:", table(head, body)]
        # Of policies of other projects only the gait is of interest here.
        for name, policy in policies.items():
            if "task" in policy:
                parts += _tracking(name, policy)
    return "\n\n".join(parts)


def _tracking(name: str, policy: dict[str, Any]) -> list[str]:
    """Return a policy's verdict, and its errors under each command."""
    worlds, seconds = policy["worlds"], policy["trained_s"]
    time = "" if seconds is None else f", trained for {seconds / 60:.0f} minutes"
    counts = " and ".join(
        f"{sum(one['robots'] for one in commands.values())} robots {world}"
        for world, commands in worlds.items()
    )
    said, *failed = verdict(failures(worlds)).splitlines()
    head, *body = tracking_table(worlds)
    parts = [f"`{name}`{time}; {counts}: {said}{':' if failed else '.'}"]
    if failed:
        parts.append("\n".join(f"- {line.strip()}" for line in failed))
    return [*parts, table(head, body)]


def _gpu_table(chosen: dict[str, dict[str, Any]]) -> str:
    head = ["Task", "Worlds", "Mode", "Step", "Physics alone", "Step over physics"]
    head += ["Env steps a second", "Memory"]
    rows: list[list[str]] = []
    learned: list[list[str]] = []
    for result in chosen.values():
        checks = result["checks"]
        for part in ("step_times", "velocity"):
            for task, points in checks.get(part, {}).items():
                for point in points if isinstance(points, list) else []:
                    rows += _gpu_rows(task, point)
                    learned += _gpu_training(task, point)
    parts = [table(head, rows)]
    if learned:
        head = ["Task", "Worlds", "Mode", "Training steps a second"]
        head += ["Acting", "Learning", "Memory"]
        parts.append(table(head, learned))
    return "\n\n".join(parts)


def _gpu_rows(task: str, point: dict[str, Any]) -> list[list[str]]:
    rows = []
    for mode in ("fused", "segmented", "eager"):
        found = point.get(mode, {"missing": "not measured"})
        first = [task, f"{point['num_envs']:,}", mode]
        if "missing" in found:
            rows.append([*first, cell(found["missing"]), "", "", "", ""])
            continue
        rows.append(
            [
                *first,
                f"{found['step_ms']:.2f} ms",
                f"{found['physics_ms']:.2f} ms",
                f"{found['of_the_floor']:.2f}",
                f"{found['env_steps_per_s']:,.0f}",
                f"{found['memory_mb']:,.0f} MB",
            ]
        )
    return rows


def _gpu_training(task: str, point: dict[str, Any]) -> list[list[str]]:
    found = point.get("training")
    if found is None:
        return []
    return [
        [
            task,
            f"{point['num_envs']:,}",
            found["mode"],
            f"{found['training_steps_per_s']:,.0f}",
            f"{found['collect_s']:.2f} s",
            f"{found['learn_s']:.2f} s",
            f"{found['memory_mb']:,.0f} MB",
        ]
    ]


def _with_spread(found: dict[str, Any], name: str) -> str:
    low, high = found[f"{name}_spread"]
    return f"{found[name]:.2f} ({low:.2f} to {high:.2f})"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _any_table(result: dict[str, Any]) -> str:
    """Every figure of a result whose kind is not known here, by its path."""
    skipped = ("date", "machine", "versions")
    rows = [
        [f"`{path}`", cell(_shown(value))]
        for path, value in _figures(
            {k: v for k, v in result.items() if k not in skipped}
        )
    ]
    if len(rows) > MOST_ROWS:
        return f"{len(rows)} figures, in the file."
    return table(["Figure", "Value"], rows)


def _figures(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        found = []
        for key, below in value.items():
            found += _figures(below, f"{path}.{key}" if path else str(key))
        return found
    if isinstance(value, list):
        if len(value) > 4 and not any(isinstance(each, dict | list) for each in value):
            return []  # A curve.
        found = []
        for index, below in enumerate(value):
            found += _figures(below, f"{path}[{index}]")
        return found
    return [(path, value)]


def _shown(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000.0:
        return f"{value:,.0f}"
    return f"{value:.3g}"


_KINDS = [
    ("Physics against the bare engine", "sim_", _sim_table),
    ("A whole step, and what the managers take of it", "env_", _env_table),
    ("Velocity tasks on a CPU", "velocity", _velocity_table),
    ("Tasks on a GPU", "gpu", _gpu_table),
    ("Cartpole-Balance learned", "cartpole_train", _cartpole_table),
    ("Gait of walking policies", "walking", _walking_table),
]
