"""A dump in files: what went wrong, the model, and the last steps of some worlds.

    <iteration>_<reason>/
        dump.json           what went wrong, when, in which worlds, with which versions
        config.json         the run's configuration
        model.mjb           the compiled model; MuJoCo opens it
        world_000005.npz    one world: `recorded/` a row for each step, `start/` the
                            whole state before the first of them, `model/` the model's
                            fields that are this world's own

Nothing here is a pickle, and `numpy.load` and `mujoco.MjModel` read it without us.
"""

import datetime
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import torch

from mjlab.faults.config import DumpCfg
from mjlab.files import folder_beside, move_durably

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv

_log = logging.getLogger(__name__)

FORMAT = 1
"""Version of the files. A change that older code cannot read raises it."""

NONFINITE = "nonfinite"
"""Kind of the faults in which numbers were not finite."""

ENGINE = "engine"
"""Kind of the faults with which the engine could not go on. All others are of missing
room."""

_SMALL = 64
"""Numbers of worlds up to which a tensor that all worlds share may happen to have as
many rows as there are worlds."""


State = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Fault:
    """What went wrong in a world."""

    kind: str
    """NONFINITE, ENGINE, or what found no room, as the engine calls it."""

    world: int
    """The world, among those of this process."""

    step: int | None
    """The recorded step in which it was found. None if that is not known."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """Recorded steps, the oldest first."""

    first: int
    """Index of the first step."""

    steps: State
    """By field, shape (steps, num_envs, ...), on the device."""

    start: State
    """The whole state in which the first step begins."""


class DumpFolder:
    """The dumps of a run, which are never too many nor too large."""

    def __init__(
        self,
        path: Path,
        cfg: DumpCfg,
        *,
        config_text: str = "",
        about: Mapping[str, Any] | None = None,
        first_world: int = 0,
        say: Callable[[str], None] = _log.warning,
    ) -> None:
        """Look at a folder, which may not exist yet.

        Args:
            path: Where dumps go.
            cfg: How many, and how much.
            config_text: The run's configuration, as `config.json` has it.
            about: What else `dump.json` is to say, such as the task and versions.
            first_world: Global index of world 0 of this process.
            say: Tells the user where a dump is, and why there is none.
        """
        self.path = Path(path)
        self._cfg = cfg
        self._config_text = config_text
        self._about = dict(about or {})
        self._first_world = first_world
        self._say = say
        self._has_complained = False

    def add(
        self,
        iteration: int,
        faults: Sequence[Fault],
        window: Window,
        env: "ManagerBasedRlEnv",
    ) -> Path | None:
        """Write a dump, if there is room for one.

        A disk that is full, or a folder that cannot be written, does not end the run.

        Returns:
            Its folder, or None if there is none.
        """
        faults = sorted(faults, key=_moment)
        worlds = list(dict.fromkeys(fault.world for fault in faults))
        kept = worlds[: self._cfg.max_worlds]
        arrays = {world: _arrays_of(window, world, env) for world in kept}
        size = _size(arrays) + mujoco.mj_sizeModel(env.sim.mj_model)
        if not self._has_room(size):
            return None
        path = self._free_name(f"{iteration:06d}_{_reason(faults)}")
        record = self._record(iteration, faults, kept, window, env)
        try:
            with folder_beside(path) as unfinished:
                self._write(unfinished, record, arrays, env.sim.mj_model)
                move_durably(unfinished, path)
        except (OSError, mujoco.FatalError) as error:
            self._complain(f"The dump {path} could not be written: {error}.")
            return None
        said = ", ".join(str(world) for world in kept)
        more = f" and {len(worlds) - len(kept)} more" if len(worlds) > len(kept) else ""
        self._say(
            f"Something went wrong ({record['what']}) in world {said}{more}. The last "
            f"steps are in {path}; play.py --dump {path} replays them."
        )
        return path

    def _has_room(self, size: int) -> bool:
        """Whether one more dump may be written; why not is said once."""
        dumps = [d for d in self.path.glob("*/dump.json")] if self.path.is_dir() else []
        used = sum(f.stat().st_size for d in dumps for f in d.parent.iterdir())
        if len(dumps) >= self._cfg.max_dumps:
            self._complain(
                f"There are {len(dumps)} dumps in {self.path}, as many as "
                "agent.dumps.max_dumps allows."
            )
            return False
        if used + size > self._cfg.max_megabytes * 2**20:
            self._complain(
                f"The dumps in {self.path} take {used / 2**20:.1f} MB, and one more "
                f"{size / 2**20:.1f} MB, which agent.dumps.max_megabytes="
                f"{self._cfg.max_megabytes:g} does not allow."
            )
            return False
        return True

    def _complain(self, text: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            self._say(f"{text} Worlds in which something goes wrong are not kept.")

    def _free_name(self, stem: str) -> Path:
        path, number = self.path / stem, 1
        while path.exists():
            number += 1
            path = self.path / f"{stem}-{number}"
        return path

    def _record(
        self,
        iteration: int,
        faults: Sequence[Fault],
        kept: Sequence[int],
        window: Window,
        env: "ManagerBasedRlEnv",
    ) -> dict[str, Any]:
        """What `dump.json` says."""
        now = datetime.datetime.now().astimezone()
        kinds = {fault.kind for fault in faults}
        count = {kind: sum(f.kind == kind for f in faults) for kind in sorted(kinds)}
        first = int(window.start["step_counter"])
        return {
            "format": FORMAT,
            "what": ", ".join(f"{k} in {n} worlds" for k, n in count.items()),
            "when": now.isoformat(timespec="seconds"),
            "iteration": iteration,
            "steps": [first, first + len(window.steps["wrong"])],
            "engine": env.sim.backend.engine,
            "device": str(env.device),
            "num_envs": env.num_envs,
            "seed": env.seed,
            "worlds": [
                {
                    "world": world,
                    "global_world": self._first_world + world,
                    "file": _file_name(world),
                    "faults": [
                        {
                            "kind": fault.kind,
                            "step": None
                            if fault.step is None
                            else fault.step - window.first,
                        }
                        for fault in faults
                        if fault.world == world
                    ],
                }
                for world in kept
            ],
            "advice": [
                env.sim.engine.advice(k) for k in sorted(kinds - {NONFINITE, ENGINE})
            ],
            **self._about,
        }

    def _write(
        self,
        folder: Path,
        record: Mapping[str, Any],
        arrays: Mapping[int, Mapping[str, np.ndarray]],
        model: mujoco.MjModel,
    ) -> None:
        for world, values in arrays.items():
            named: dict[str, Any] = dict(values)
            np.savez_compressed(folder / _file_name(world), **named)
        (folder / "model.mjb").write_bytes(model_bytes(model))
        (folder / "config.json").write_text(self._config_text, "utf-8")
        # Last, because a folder without it is no dump.
        text = json.dumps(record, indent=1) + "\n"
        (folder / "dump.json").write_text(text, "utf-8")


def model_bytes(model: mujoco.MjModel) -> bytes:
    """Return a compiled model as MuJoCo reads it, with its files by name alone.

    The binary is made here, so that a disk that is full is an error of Python. MuJoCo
    writes down the folders of meshes and textures too, for nothing that reads a model.
    """
    binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    paths: bytes = model.paths
    names = (
        PurePath(os.fsdecode(path)).name.encode().ljust(len(path), b"\0")
        for path in paths.split(b"\0")
    )
    return binary.tobytes().replace(paths, b"\0".join(names))


def _arrays_of(
    window: Window, world: int, env: "ManagerBasedRlEnv"
) -> dict[str, np.ndarray]:
    """What is kept of a world."""
    arrays = {
        f"recorded/{name}": _array(values[:, world])
        for name, values in window.steps.items()
    }
    for name, tensor in window.start.items():
        is_row = tensor.ndim > 0 and tensor.shape[0] == env.num_envs
        if is_row:
            arrays[f"start/row/{name}"] = _array(tensor[world : world + 1])
        if not is_row or env.num_envs <= _SMALL:
            arrays[f"start/whole/{name}"] = _array(tensor)
        if name.startswith("sim.model."):
            arrays[f"model/{name.removeprefix('sim.model.')}"] = _array(tensor[world])
    return arrays


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def _size(arrays: Mapping[int, Mapping[str, np.ndarray]]) -> int:
    return sum(a.nbytes for values in arrays.values() for a in values.values())


def _reason(faults: Sequence[Fault]) -> str:
    """The worst of what went wrong, in a word."""
    kinds = {fault.kind for fault in faults}
    return next((k for k in (ENGINE, NONFINITE) if k in kinds), "overflow")


def _moment(fault: Fault) -> tuple[bool, int, int]:
    """Faults by their step; those of an unknown one come last."""
    return fault.step is None, fault.step or 0, fault.world


def _file_name(world: int) -> str:
    return f"world_{world:06d}.npz"
