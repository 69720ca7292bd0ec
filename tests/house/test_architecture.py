"""Imports point to lower rooms, and third-party packages stay in their rooms.

The rules are in `tests/tools/architecture.py`. The tests apply them to the project, and
to planted violations that the rules must find.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.architecture import (
    ROOT,
    Source,
    banned_faults,
    circle_faults,
    engine_faults,
    floor_of,
    import_faults,
    imported_names,
    imports_at_load,
    read_sources,
    room_of,
)

# --- The house ----------------------------------------------------------------------

SOURCES = read_sources("mjlab", "mjlab_fused", "tasks", "scripts", "bench")


def test_only_the_simulation_depends_on_the_engine_type():
    assert engine_faults(SOURCES) == []


def test_every_room_has_a_floor():
    rooms = {room_of(source.module) for source in SOURCES}
    assert [room for room in sorted(rooms) if floor_of(room) is None] == []


def test_algorithms_and_models_do_not_import_the_training_loop():
    rooms = ("mjlab.rl.algorithms", "mjlab.rl.models")
    sources = read_sources("mjlab/rl/algorithms", "mjlab/rl/models")
    imported = {(s.path, name) for s in sources for name, _ in imported_names(s)}
    ours = [(path, name) for path, name in imported if name.startswith("mjlab.rl")]
    assert ours
    assert [(path, name) for path, name in ours if not name.startswith(rooms)] == []


def test_imports_point_down_and_third_party_packages_stay_in_their_rooms():
    faults = import_faults(SOURCES)
    assert not faults, "\n".join(faults)


def test_there_are_no_import_cycles():
    faults = circle_faults(SOURCES)
    assert not faults, "\n".join(faults)


def test_code_has_no_empty_messages_hasattr_or_print():
    faults = [fault for source in SOURCES for fault in banned_faults(source)]
    assert not faults, "\n".join(faults)


def test_warp_is_imported_only_for_a_warp_engine():
    """Import every module that does not itself hold Warp code, in one interpreter."""
    modules = [
        source.module
        for source in SOURCES
        if source.path.startswith(("mjlab/", "tasks/"))
        and not imports_at_load(source, "warp", "mujoco_warp")
    ]
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try: importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        if error.name.split('.')[0] == 'mjlab': raise\n"
        "    assert 'warp' not in sys.modules, f'{name} loads warp'\n"
    )
    command = [sys.executable, "-c", code, *modules]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- The checker itself, on planted faults -------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("mjlab/sim/a.py", "import mjlab.scene", "mjlab.sim (floor 1) imports"),
        ("mjlab/sim/a.py", "from mjlab import scene", "imports mjlab.scene (floor 4)"),
        ("mjlab/sim/a.py", "from ..scene import x", "imports mjlab.scene (floor 4)"),
        ("mjlab/sim/__init__.py", "from ..mdp import x", "imports mjlab.mdp"),
        ("mjlab/names.py", "from . import tensors", "mjlab.tensors (floor 0)"),
        ("mjlab/names.py", "from .tensors import x", "mjlab.tensors (floor 0)"),
        ("mjlab/sim/a.py", "from mjlab.spec import x", "imports mjlab.spec (floor 1)"),
        ("mjlab/sim/a.py", "def f():\n import mjlab.rl", "imports mjlab.rl (floor 8)"),
        ("mjlab/sim/a.py", "if TYPE_CHECKING:\n import mjlab.tasks", "(floor 10)"),
        ("mjlab/sim/a.py", "import_module('mjlab.rl')", "imports mjlab.rl (floor 8)"),
        (
            "mjlab/random/kernels.py",
            "import mjlab.tensors.math",
            "mjlab.random (floor -1) imports",
        ),
        ("mjlab/mdp/a.py", "import mjlab.envs", "imports mjlab.envs (floor 7)"),
        ("mjlab/rl/a.py", "import mjlab.attic", "mjlab.attic has no floor"),
        ("mjlab/rl/a.py", "from mjlab.tasks.robots import x", "robots (floor 9)"),
        (
            "mjlab/gym/make.py",
            "from mjlab import tasks",
            "imports mjlab.tasks (floor 10)",
        ),
        ("tasks/velocity/a.py", "import mjlab.tasks.muscle", "(floor 10) imports"),
        ("tasks/robots/a.py", "from mjlab.tasks import muscle", "muscle (floor 10)"),
        ("tasks/velocity/a.py", "import mjlab.cli", "imports mjlab.cli (floor 12)"),
        ("tasks/tracking/a.py", "from mjlab.motion import tools", "tools (floor 10)"),
        ("mjlab/motion/a.py", "import mjlab.motion.tools.bvh", "tools (floor 10)"),
        ("tasks/velocity/a.py", "from mjlab import viewer", "mjlab.viewer is not"),
        ("scripts/a.py", "from scripts import train", "scripts (floor 13) imports"),
        ("mjlab/sim/fields.py", "import warp as wp", "warp is imported only in"),
        ("mjlab/sim/fields.py", "from warp.types import x", "warp is imported only"),
        (
            "mjlab/random/__init__.py",
            "def f():\n import mujoco_warp",
            "mujoco_warp is imported",
        ),
        ("tasks/velocity/a.py", "import rsl_rl.runners", "rsl_rl is imported only in"),
        ("mjlab/rl/a.py", "import tyro", "tyro is imported only in"),
        ("mjlab/rl/a.py", "import gymnasium", "gymnasium is imported only in"),
        ("mjlab/rl/a.py", "import h5py", "h5py is imported only in"),
        ("scripts/play.py", "import viser", "viser is imported only in"),
        ("mjlab/sim/config.py", "import torch", "torch is not imported in"),
        ("mjlab/spec.py", "from torch import nn", "torch is not imported in"),
        ("mjlab/terrain/a.py", "import torch.nn", "torch is not imported in"),
    ],
)
def test_a_planted_import_is_found(path, text, fault):
    faults = import_faults([Source.parse(path, text)])
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("mjlab/scene/a.py", "from mjlab.entity import x\nfrom .b import y"),
        ("mjlab/entity/a.py", "import mjlab.actuator, torch, mujoco"),
        ("mjlab/envs/__init__.py", "def f():\n from mjlab import mdp"),
        ("mjlab/random/kernels.py", "import warp"),
        ("mjlab/random/__init__.py", "def f():\n from mjlab.random import kernels"),
        ("mjlab/entity/kernels.py", "import warp"),
        ("mjlab/sensor/rays.py", "import warp, torch"),
        ("mjlab/terrain/a.py", "import torchless"),
        ("tasks/velocity/a.py", "import mjlab.tasks.robots.g1, mjlab.rl"),
        ("scripts/train.py", "import tyro, mjlab.registry, mjlab.tasks.muscle"),
        ("bench/sim.py", "import warp, mujoco_warp, mjlab.sim"),
    ],
)
def test_import_from_a_lower_floor_is_allowed(path, text):
    assert import_faults([Source.parse(path, text)]) == []


def plant(root: Path, **texts: str) -> list[Source]:
    """Write a package of these files and read it."""
    folder = root / "mjlab" / "sim"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return read_sources("mjlab", root=root)


@pytest.mark.parametrize(
    "text",
    [
        "import mjlab.sim.b",
        "from mjlab.sim import b",
        "from mjlab.sim.b import B",
        "from .b import B",
        "from . import B",
        "from mjlab.sim import Handed",
        "def f():\n from mjlab.sim.b import B",
        "class A:\n def f(self):\n  from . import b",
        "if TYPE_CHECKING:\n from mjlab.sim import B",
        "b = importlib.import_module('mjlab.sim.b')",
        "def f():\n return import_module('.b', __package__)",
    ],
)
def test_planted_import_cycle_is_found(tmp_path, text):
    package = "from .b import B\nfrom .b import B as Handed"
    circle = plant(tmp_path, __init__=package, a=text, b="from mjlab.sim.a import A")
    faults = circle_faults(circle)
    assert faults[0] == "a circle of 2 files:"
    assert [fault.split() for fault in faults[1:]] == [
        ["mjlab.sim.a", "line", str(text.count("\n") + 1), "imports", "mjlab.sim.b"],
        ["mjlab.sim.b", "line", "1", "imports", "mjlab.sim.a"],
    ]


def test_an_import_cycle_is_found_across_any_number_of_files(tmp_path):
    link = "from .{} import x".format
    sources = plant(tmp_path, a=link("b"), b=link("c"), c=link("a"), d=link("a"))
    assert circle_faults(sources)[0] == "a circle of 3 files:"


def test_a_name_that_a_package_defines_is_an_import_of_the_package(tmp_path):
    package = "VERSION = 1\nfrom .b import B"
    sources = plant(tmp_path, __init__=package, a="from . import VERSION", b="")
    assert circle_faults(sources) == []
    (tmp_path / "mjlab" / "sim" / "b.py").write_text("from .a import A")
    sources = read_sources("mjlab", root=tmp_path)
    assert circle_faults(sources)[0] == "a circle of 3 files:"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("mjlab/utils/a.py", ""),
        ("tasks/common.py", ""),
        ("mjlab/sim/a.py", "from math import *"),
        ("tasks/a.py", "if hasattr(x, 'y'): pass"),
        ("mjlab/a.py", "print('here')"),
    ],
)
def test_planted_forbidden_call_is_found(path, text):
    assert len(banned_faults(Source.parse(path, text))) == 1


def test_planted_check_of_the_engine_name_is_found():
    def faults(text: str, path: str = "mjlab/sensor/x.py") -> list[str]:
        return engine_faults([Source.parse(path, text)])

    asked = [
        'fast = sim.backend.engine == "native"',
        'fast = sim.engine.name not in ("warp", "other")',
        "from mjlab.sim.native_engine import NativeEngine",
        "isinstance(engine, native_engine.WarpEngine)",
        'match sim.engine.name:\n    case "warp":\n        pass',
    ]
    assert [len(faults(text)) for text in asked] == [1] * len(asked)
    assert faults(asked[0], "mjlab/sim/simulation.py") == []
    assert faults('cfg.sim.backend = "native"\nx = f(backend="warp")') == []
