"""Lets mjlab 1.6 be imported without packages that an environment step does not use.

    PYTHON -P bench/gpu_peer.py 90 Velocity-Go1-Flat 4096   # compiles its CUDA kernels

The bundle has this file as `sitecustomize.py` in mjlab's folder. As a program it
compiles the kernels of mjlab's environment for a compute capability, without a GPU, in
an interpreter that has mjlab 1.6.
"""

import importlib
import importlib.util
import sys
import types
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

ABSENT = "imageio_ffmpeg mediapy mjviser torchrunx trimesh viser wandb".split()


class Anything:
    """Stand-in that accepts any call, and any attribute except `__special__` ones."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Accept any arguments."""

    def __call__(self, *arguments: Any, **settings: Any) -> "Anything":
        """Accept any arguments."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


class AbsentModule(types.ModuleType):
    """Module whose attributes are all `Anything`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


class AbsentFinder:
    """Finds modules of `ABSENT` that are not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return a specification for an absent package, else None."""
        is_absent = name.partition(".")[0] in ABSENT
        return ModuleSpec(name, self, is_package=True) if is_absent else None  # pyright: ignore[reportArgumentType]

    def create_module(self, spec: ModuleSpec) -> AbsentModule:
        """Return an `AbsentModule` of the requested name."""
        return AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing, because the module has no code."""


sys.meta_path.append(AbsentFinder())  # pyright: ignore[reportArgumentType]


def load_file(name: str, path: str) -> Any:
    """Import a file of this checkout by path: mjlab 1.6 has the same import name."""
    place = Path(__file__).resolve().parents[1] / path
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arch: int, task: str, worlds: int) -> None:
    """Compile the kernels of building, stepping and resetting an environment."""
    import torch

    peer = load_file("peer", "bench/peer.py")
    load_file("mjlab.warp_start", "mjlab/warp_start.py")
    compiler_file = load_file("warp_compiler", "mjlab/sim/warp_compiler.py")
    compiler = compiler_file.Compiler.for_architecture(f"sm_{arch}", print)
    with compiler.instead_of_launches():
        env = peer.build(task, worlds, "cpu", "warp")
        env.reset()
        env.step(torch.zeros(env.num_envs, env.action_manager.total_action_dim))
        env.reset(env_ids=torch.arange(1))
    new, seen = compiler.new, len(compiler.seen)
    print(f"mjlab's {task}, {worlds} worlds: {new} of {seen} modules are new")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
