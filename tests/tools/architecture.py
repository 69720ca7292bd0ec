"""Import rules of the project, and their checks.

Files are parsed with `ast`; nothing here imports the project. `test_architecture.py`
applies it.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[2]

# A room imports only from rooms with a smaller number. Rooms of `mjlab.tasks` that are
# not listed are above its robots, and cannot import each other.
FLOORS = {
    **dict.fromkeys(["mjlab.warp_start", "mjlab.warp_stream"], -2),
    **dict.fromkeys(["mjlab.names", "mjlab.safe_names"], -2),
    **dict.fromkeys(["mjlab.settings", "mjlab.files", "mjlab.threads"], -1),
    **dict.fromkeys(["mjlab.memory", "mjlab.watched", "mjlab.extras"], -1),
    **dict.fromkeys(["mjlab.provenance", "mjlab.mujoco_log", "mjlab.opengl"], -1),
    **dict.fromkeys(["mjlab.random", "mjlab.png", "mjlab.lazy", "mjlab.driver"], -1),
    **dict.fromkeys(["mjlab.tensors", "mjlab.registry", "mjlab.parallel"], 0),
    **dict.fromkeys(["mjlab.spec", "mjlab.sim", "mjlab.runs"], 1),
    **dict.fromkeys(["mjlab.actuator", "mjlab.terrain"], 2),
    **dict.fromkeys(["mjlab.entity", "mjlab.sensor"], 3),
    **dict.fromkeys(["mjlab.scene", "mjlab.recording"], 4),
    "mjlab.managers": 5,
    "mjlab.mdp": 6,
    **dict.fromkeys(["mjlab.envs", "mjlab.render"], 7),
    # The wings: each can import the core, and no wing of its own floor.
    **dict.fromkeys(["mjlab.rl", "mjlab.gym", "mjlab.views"], 8),
    **dict.fromkeys(["mjlab.muscle", "mjlab.motion", "mjlab.viewer"], 8),
    "mjlab.gait": 8,
    **dict.fromkeys(["mjlab.replay", "mjlab.export", "mjlab.workers"], 9),
    **dict.fromkeys(["mjlab.report", "mjlab.doctor", "mjlab.task_file"], 9),
    "mjlab.tasks.robots": 9,
    # It displays runs, and draws like reports.
    "mjlab.sweep": 10,
    # It builds the robots of tasks, and reports.
    "mjlab.exam": 10,
    # It describes robots as tasks do, and draws like reports.
    "mjlab.adopt": 10,
    # It reads logs as `export.verify` does.
    "mjlab.identify": 10,
    "mjlab.tasks.*": 10,
    # It creates the files that tasks read, and uses the robots: no task imports it.
    "mjlab.motion.tools": 10,
    # It joins environments, runs, films and charts.
    "mjlab.notebook": 10,
    # The entry point: `mjlab.make`.
    "mjlab": 11,
    # Only this room joins wings, such as a run and its task.
    "mjlab.cli": 12,
    **dict.fromkeys(["mjlab.__main__", "mjlab_fused", "scripts", "bench"], 13),
}

# (file, room it can import against the floors) -> reason.
ALLOWED: dict[tuple[str, str], str] = {}

# Files that hold Warp kernels, beside the room that launches them.
KERNEL_FILES = ["*/kernels.py", "*_kernel.py", "*_kernels.py"]
WARP_FILES = ["mjlab/sim/warp_*.py", "mjlab/sim/graphs.py", "mjlab/sensor/*"]
WARP_FILES += ["mjlab/warp_start.py", "mjlab/warp_stream.py", "mjlab/render/ray_*.py"]
GYM = ["mjlab/gym/*", "mjlab/replay/*"]
VIEWER = ["mjlab/viewer/*"]

# Third-party package -> the only files that can import it, also lazily.
ONLY_IN = {
    "warp": WARP_FILES + KERNEL_FILES,
    "mujoco_warp": WARP_FILES + KERNEL_FILES,
    "rsl_rl": ["mjlab/rl/*", "mjlab/export/*"],
    "tyro": ["scripts/*", "mjlab/cli/*", "mjlab/cli.py"],
    "libcst": ["mjlab/cli/porting/*"],
    "viser": VIEWER,
    "mjviser": VIEWER,
    "gymnasium": GYM,
    "h5py": ["mjlab/recording/*", *GYM],
    "wandb": ["mjlab/runs/wandb.py"],
    "jinja2": ["mjlab/report/template.py"],
    "optuna": ["mjlab/sweep/*"],
    "ray": ["mjlab/sweep/ray_*.py"],
    "stable_baselines3": ["docs/examples/sb3_env.py"],
    "skrl": ["docs/examples/skrl_env.py"],
    "torchrl": ["docs/examples/torchrl_env.py"],
}
# Third-party package -> files that must not import it.
NOT_IN = {
    "torch": [
        "mjlab/runs/*",
        "mjlab/spec.py",
        "mjlab/spec/*",
        "mjlab/terrain/*",
        "*/config.py",
    ],
    "mjlab.viewer": ["tasks/*"],
}


# --- Imports of a file --------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """One parsed file; `path` is relative to the repository."""

    path: str
    tree: ast.Module

    @classmethod
    def parse(cls, path: str, text: str) -> "Source":
        return cls(path, ast.parse(text, path))

    @property
    def module(self) -> str:
        path = self.path.removesuffix(".py").removesuffix("/__init__")
        # Installed under this name, by the link `mjlab/tasks`.
        path = f"mjlab/{path}" if path.startswith("tasks") else path
        return path.replace("/", ".")

    @property
    def is_package(self) -> bool:
        return self.path.endswith("__init__.py")

    def absolute(self, level: int, *names: str | None) -> str:
        """Return the absolute name of an import of this level."""
        package = self.module.split(".")
        up = level - self.is_package
        above = package[: len(package) - up] if level else []
        return ".".join([*above, *filter(None, names)])


def read_sources(*folders: str, root: Path = ROOT) -> list[Source]:
    return [
        Source.parse(file.relative_to(root).as_posix(), file.read_text("utf-8"))
        for folder in folders
        for file in sorted((root / folder).rglob("*.py"))
    ]


def imported_names(source: Source) -> Iterator[tuple[str, int]]:
    """Yield (dotted name, line) of every import anywhere in the file."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = source.absolute(node.level, node.module, alias.name)
                yield name, node.lineno
        elif isinstance(node, ast.Call) and node.args:
            name, argument = ast.unparse(node.func), node.args[0]
            if name.endswith(("import_module", "__import__")):
                if isinstance(argument, ast.Constant):
                    bare = str(argument.value).lstrip(".")
                    dots = len(str(argument.value)) - len(bare)
                    yield source.absolute(dots, bare), node.lineno


def room_of(module: str) -> str:
    """`mjlab.sim.fields` -> `mjlab.sim`; `scripts.train` -> `scripts`."""
    parts = module.split(".")
    if parts[0] in ("mjlab_fused", "scripts", "bench"):
        return parts[0]
    if parts[:3] == ["mjlab", "motion", "tools"]:
        return "mjlab.motion.tools"
    parts = parts[: 3 if parts[:2] == ["mjlab", "tasks"] else 2]
    # A kernel file next to a room of one file belongs to that room.
    parts[-1] = parts[-1].removesuffix("_kernels").removesuffix("_kernel")
    return ".".join(parts)


def floor_of(room: str) -> int | None:
    is_task = room.startswith("mjlab.tasks")
    return FLOORS.get(room, FLOORS["mjlab.tasks.*"] if is_task else None)


def matches(path: str, patterns: list[str]) -> bool:
    return any(fnmatch(path, pattern) for pattern in patterns)


def room_fault(source: Source, target: str) -> str | None:
    """Return the fault of an import between two rooms, if any."""
    here, there = room_of(source.module), room_of(target)
    if there.split(".")[0] not in ("mjlab", "tasks", "scripts", "bench"):
        return None
    if (here == there and here != "scripts") or (source.path, there) in ALLOWED:
        return None
    below, above = floor_of(there), floor_of(here)
    if below is None:
        return f"{there} has no floor: add it to FLOORS"
    if above is None or below < above:
        return None
    return f"{here} (floor {above}) imports {there} (floor {below})"


def third_party_fault(source: Source, target: str) -> str | None:
    """Return the fault of importing a package in a file, if any."""
    if source.path.startswith("bench/"):
        return None  # The benchmarks measure the bare packages.
    package = target.split(".")[0]
    if package in ONLY_IN and not matches(source.path, ONLY_IN[package]):
        return f"{package} is imported only in {', '.join(ONLY_IN[package])}"
    for banned, patterns in NOT_IN.items():
        if f"{target}.".startswith(f"{banned}.") and matches(source.path, patterns):
            return f"{banned} is not imported in {', '.join(patterns)}"
    return None


def import_faults(sources: list[Source]) -> list[str]:
    faults = [
        f"{source.path}:{line}: {fault}"
        for source in sources
        for target, line in imported_names(source)
        for fault in (room_fault(source, target), third_party_fault(source, target))
        if fault
    ]
    return list(dict.fromkeys(faults))  # One line can import several names of a room.


def imports_at_load(source: Source, *packages: str) -> bool:
    """Return whether the top level of a file imports one of the packages."""
    top = ast.Module([n for n in source.tree.body if is_import(n)], type_ignores=[])
    names = imported_names(Source(source.path, top))
    return any(name.split(".")[0] in packages for name, _ in names)


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


# --- Import cycles ------------------------------------------------------------------


def defining_file(name: str, sources: dict[str, Source]) -> str | None:
    """Return the module of this project that defines a dotted name.

    If a package re-exports the name, this is the module behind it.
    """
    if name in sources or "." not in name:
        return name if name in sources else None
    base, _, last = name.rpartition(".")
    if base not in sources:
        return defining_file(base, sources)
    handed = handed_on(sources[base]).get(last, name)
    return base if handed == name else defining_file(handed, sources) or base


@cache
def handed_on(source: Source) -> dict[str, str]:
    """Return the names that a package re-exports, with their full names."""
    return {
        alias.asname or alias.name: source.absolute(node.level, node.module, alias.name)
        for node in (ast.walk(source.tree) if source.is_package else ())
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def import_graph(sources: list[Source]) -> dict[str, dict[str, int]]:
    """Return the imports between modules, with their lines."""
    modules = {source.module: source for source in sources}
    graph: dict[str, dict[str, int]] = {module: {} for module in modules}
    for module, source in modules.items():
        for name, line in imported_names(source):
            target = defining_file(name, modules)
            if target and target != module:
                graph[module].setdefault(target, line)
    return graph


def find_circles(graph: dict[str, dict[str, int]]) -> set[frozenset[str]]:
    """Return the groups of modules that import each other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        found, todo = set[str](), [start]
        while todo:
            new = graph[todo.pop()].keys() - found
            found |= new
            todo.extend(new)
        reached[start] = found
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in graph
        if module in reached[module]
    }


def circle_faults(sources: list[Source]) -> list[str]:
    """Return import cycles, with the lines of their imports."""
    graph = import_graph(sources)
    faults = []
    for circle in find_circles(graph):
        faults.append(f"a circle of {len(circle)} files:")
        faults += [
            f"    {module} line {line} imports {target}"
            for module in sorted(circle)
            for target, line in graph[module].items()
            if target in circle
        ]
    return faults


# --- Forbidden contents -------------------------------------------------------------


def banned_faults(source: Source) -> list[str]:
    """Return forbidden room names, uses of `hasattr`, and output without the logger."""
    faults = []
    names = set(source.path.removesuffix(".py").split("/"))
    for name in names & {"utils", "util", "helpers", "common", "misc"}:
        faults.append(f"{source.path}: a room called {name!r} says nothing")
    in_library = source.path.startswith("mjlab/") and "/cli/" not in source.path
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            faults.append(f"{source.path}:{node.lineno}: import *")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = node.func.id
            if called == "hasattr" or (called == "print" and in_library):
                faults.append(f"{source.path}:{node.lineno}: {called}()")
    return faults


ENGINE_NAMES = {"native", "warp"}
ENGINE_CLASSES = {"NativeEngine", "WarpEngine"}

# "file: line of code" that uses or seems to use an engine's name -> reason.
ASKS_AN_ENGINE: dict[str, str] = {
    "mjlab/workers/worker.py: name.split('.')[0] == 'warp'": "the package Warp",
    # The number of worlds is chosen before an engine exists.
    "mjlab/cli/hardware.py: backend != 'warp'": "the user's own choice",
    "mjlab/cli/hardware.py: backend == 'warp'": "the user's own choice",
    "mjlab/cli/hardware.py: ['native'] not in backends": "the user's own choice",
    "mjlab/cli/play.py: viewer != 'native'": "MuJoCo's window",
    "mjlab/cli/play.py: viewer == 'native'": "MuJoCo's window",
}


def engine_faults(sources: list[Source]) -> list[str]:
    """Return code above `mjlab/sim` that depends on the engine's name.

    It should read a property, such as `sim.needs_graphs`. Names as defaults or user
    input are allowed.
    """
    return [
        f"{source.path}:{node.lineno}: {ast.unparse(node)}"
        for source in sources
        if source.path.startswith(("mjlab/", "tasks/"))
        and not source.path.startswith("mjlab/sim/")
        for node in ast.walk(source.tree)
        if asks_an_engine(node)
        and f"{source.path}: {ast.unparse(node)}" not in ASKS_AN_ENGINE
    ]


def asks_an_engine(node: ast.AST) -> TypeGuard[ast.expr | ast.stmt]:
    """Return whether a node compares with an engine's name or names its class."""
    if isinstance(node, ast.Compare | ast.MatchValue):
        constants = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
        return any(value in ENGINE_NAMES for value in constants)
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in ENGINE_CLASSES for alias in node.names)
    return isinstance(node, ast.Attribute) and node.attr in ENGINE_CLASSES
