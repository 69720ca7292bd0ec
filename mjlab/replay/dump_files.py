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
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.files import check_contained, folder_beside, move_durably
from mjlab.rl.config import DumpCfg
from mjlab.settings.objects import read_object

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

_RECORD = {"format": int, "worlds": list[dict[str, Any]]}
_WORLD = re.compile(r"world_\d+\.npz")
_REMEDY = "Copy it once more from the run, or name another."

State = dict[str, torch.Tensor]
Arrays = dict[str, np.ndarray]


class DumpError(ValueError):
    """A folder that is no dump, or a dump that cannot be replayed here."""


@dataclass(frozen=True)
class Fault:
    """One thing that went wrong in a world."""

    kind: str
    """NONFINITE, ENGINE, or what found no room, as the engine calls it."""

    world: int
    """The world, among those of this process."""

    step: int | None
    """The recorded step in which it was found. None if that is not known."""


@dataclass(frozen=True, kw_only=True)
class StepWindow:
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
        """Take a folder, which may not exist yet.

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
        window: StepWindow,
        env: ManagerBasedRlEnv,
    ) -> None:
        """Write a dump, if there is room for one.

        A disk that is full, or a folder that cannot be written, does not end the run.
        """
        # By their step; those of an unknown one come last.
        faults = sorted(faults, key=lambda f: (f.step is None, f.step or 0, f.world))
        worlds = list(dict.fromkeys(fault.world for fault in faults))
        kept = worlds[: self._cfg.max_worlds]
        arrays = {world: _arrays_of(window, world, env) for world in kept}
        size = mujoco.mj_sizeModel(env.sim.mj_model)
        size += sum(a.nbytes for values in arrays.values() for a in values.values())
        if not self._has_room(size):
            return
        path = self._free_name(f"{iteration:06d}_{_reason(faults)}")
        record = self._record(iteration, faults, kept, window, env)
        try:
            with folder_beside(path) as unfinished:
                self._write(unfinished, record, arrays, env.sim.mj_model)
                move_durably(unfinished, path)
        except (OSError, mujoco.FatalError) as error:
            self._complain(f"The dump {path} could not be written: {error}.")
            return
        what = record["what"].replace(NONFINITE, "non-finite values")
        what = what.replace(" 1 worlds", " 1 world")
        said = ", ".join(str(world) for world in kept)
        more = f" and {len(worlds) - len(kept)} more" if len(worlds) > len(kept) else ""
        self._say(
            f"{what[0].upper()}{what[1:]} ({said}{more}). play.py --dump {path} "
            "replays the last steps."
        )

    def _has_room(self, size: int) -> bool:
        """Return whether one more dump may be written; say once why not."""
        dumps = [file.parent for file in self.path.glob("*/dump.json")]
        used = sum(file.stat().st_size for dump in dumps for file in dump.iterdir())
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
        window: StepWindow,
        env: ManagerBasedRlEnv,
    ) -> dict[str, Any]:
        """Return the content of `dump.json`."""
        counts = sorted(Counter(fault.kind for fault in faults).items())
        first, begun = int(window.start["step_counter"]), window.first

        def faults_of(world: int) -> list[dict[str, Any]]:
            return [
                {"kind": f.kind, "step": None if f.step is None else f.step - begun}
                for f in faults
                if f.world == world
            ]

        return {
            "format": FORMAT,
            "what": ", ".join(f"{kind} in {n} worlds" for kind, n in counts),
            "when": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
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
                    "faults": faults_of(world),
                }
                for world in kept
            ],
            "advice": [
                env.sim.engine.advice(kind)
                for kind, _ in counts
                if kind not in (NONFINITE, ENGINE)
            ],
            **self._about,
        }

    def _write(
        self,
        folder: Path,
        record: Mapping[str, Any],
        arrays: Mapping[int, Arrays],
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


def _arrays_of(window: StepWindow, world: int, env: ManagerBasedRlEnv) -> Arrays:
    """Return the content of a world's file."""
    kept = {f"recorded/{name}": rows[:, world] for name, rows in window.steps.items()}
    for name, tensor in window.start.items():
        is_row = tensor.ndim > 0 and tensor.shape[0] == env.num_envs
        if is_row:
            kept[f"start/row/{name}"] = tensor[world : world + 1]
        if not is_row or env.num_envs <= _SMALL:
            kept[f"start/whole/{name}"] = tensor
        if name.startswith("sim.model."):
            kept[f"model/{name.removeprefix('sim.model.')}"] = tensor[world]
    return {name: tensor.detach().cpu().numpy() for name, tensor in kept.items()}


def _reason(faults: Sequence[Fault]) -> str:
    """Return the worst of what went wrong, in a word."""
    kinds = {fault.kind for fault in faults}
    return next((k for k in (ENGINE, NONFINITE) if k in kinds), "overflow")


def _file_name(world: int) -> str:
    return f"world_{world:06d}.npz"


# --- Reading --------------------------------------------------------------------------


@dataclass(frozen=True)
class DumpedWorld:
    """One world of a dump."""

    path: Path
    """Folder of the dump."""

    record: dict[str, Any]
    """Content of `dump.json`."""

    about: dict[str, Any]
    """Its entry for this world."""

    steps: Arrays
    """Recorded fields, a row for each step."""

    rows: Arrays
    """This world's part of the state before the first step, by name, shape (1, ...)."""

    wholes: Arrays
    """The state before the first step that worlds share, by name."""

    config_text: str
    """The run's configuration."""

    @property
    def length(self) -> int:
        """Number of recorded steps."""
        return len(self.steps["wrong"])

    def model(self) -> mujoco.MjModel:
        """Return the compiled model, without what is the world's own."""
        return mujoco.MjModel.from_binary_path(str(self.path / "model.mjb"))


def load_dump(place: Path) -> DumpedWorld:
    """Read a world of a dump.

    Args:
        place: A dump's folder, of which the world that went wrong first is taken, or
            the file of a world in it.
    """
    place = Path(place)
    folder = place.parent if place.suffix == ".npz" else place
    file = folder / "dump.json"
    if not file.is_file():
        raise DumpError(f"{folder} is no dump: it has no dump.json.")
    check_contained(folder, DumpError)
    record = read_object(file, _RECORD, DumpError, remedy=_REMEDY)
    if record["format"] > FORMAT:
        raise DumpError(
            f"{folder} is of format {record['format']}; this version reads up to "
            f"{FORMAT}."
        )
    worlds = {world.get("file"): world for world in record["worlds"]}
    for named in worlds:
        if not isinstance(named, str) or not _WORLD.fullmatch(named):
            raise DumpError(
                f"{file} is damaged: it names {named!r} as the file of a world. "
                f"{_REMEDY}"
            )
    if not worlds:
        raise DumpError(f"{file} is damaged: it names no world. {_REMEDY}")
    name = place.name if place.suffix == ".npz" else next(iter(worlds))
    if name not in worlds:
        listed = ", ".join(worlds)
        raise DumpError(f"{folder} has no world {name!r}. It has {listed}.")
    try:
        with np.load(folder / name, allow_pickle=False) as file:
            arrays = dict(file)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DumpError(f"{folder / name} cannot be read: {error}.") from error
    steps, rows, wholes = (
        {k.removeprefix(part): a for k, a in arrays.items() if k.startswith(part)}
        for part in ("recorded/", "start/row/", "start/whole/")
    )
    text = (folder / "config.json").read_text("utf-8")
    return DumpedWorld(folder, record, worlds[name], steps, rows, wholes, text)
