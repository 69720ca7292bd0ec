"""Dumps: the last steps of worlds with a fault, as a recording.

<iteration>_<reason>.h5
    attributes      as in a recording; `about` has the faults and the advice
    model           compiled model (MJB), bytes
    traj_<i>        one world: `qpos`, `qvel`, `act` and `ctrl` at the beginning of
                    each step, `actions`, `episode_length` and `nonfinite`, and the
                    complete state before the first step, `start`
"""

import datetime
import json
import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import mujoco
import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.state import world_row
from mjlab.files import write_atomic
from mjlab.recording import Recording, RecordingError
from mjlab.recording.hdf5 import (
    FORMAT,
    FORMAT_VERSION,
    REMEDY,
    EpisodeEncoder,
    FileInMemory,
    as_record,
)
from mjlab.rl.config import DumpCfg
from mjlab.settings.objects import check_object

_log = logging.getLogger(__name__)

NONFINITE = "nonfinite"
"""Kind of fault: values that are not finite."""

ENGINE = "engine"
"""Kind of fault: an error of the engine. All other kinds are names of full buffers."""

_ABOUT = {
    "what": str,
    "when": str,
    "iteration": int,
    "first_step": int,
    "num_envs": int,
    "advice": list[str],
}

State = dict[str, torch.Tensor]


class DumpError(RecordingError):
    """Raised for a file that is not a dump, or that cannot be replayed here."""


@dataclass(frozen=True)
class Fault:
    """Fault in a world: non-finite values, an engine error, or a full buffer."""

    kind: str
    """`NONFINITE`, `ENGINE`, or the engine's name of the full buffer."""

    world: int
    """Index of the world in this process."""

    step: int | None
    """Index of the step of the fault, None if unknown."""


@dataclass(frozen=True, kw_only=True)
class StepWindow:
    """Recorded steps of all worlds, oldest first."""

    first: int
    """Index of the first step, counted from the start of the recording."""

    steps: State
    """Fields by name, shape (steps, num_envs, ...), on the device."""

    start: State
    """Complete state before the first step."""


class DumpFolder:
    """Folder to which dumps of a run are written, with limits on number and size."""

    def __init__(
        self,
        path: Path,
        cfg: DumpCfg,
        *,
        task: str = "",
        config_text: str = "",
        about: Mapping[str, Any] | None = None,
        first_world: int = 0,
        play_options: Sequence[str] = (),
        say: Callable[[str], None] = _log.warning,
    ) -> None:
        """Set the folder, which is created with the first dump.

        Args:
            path: The folder.
            cfg: Limits on number and size of dumps.
            task: Task id.
            config_text: Task and settings of the run as text.
            about: Further entries of the attribute `about`, such as versions.
            first_world: Global index of this process's world 0.
            play_options: Options of `play.py` that find the task of a file.
            say: Called with a message about each dump, or about a dump that was not
                written.
        """
        self.path = Path(path)
        self._cfg = cfg
        self._task, self._config_text = task, config_text
        self._about = dict(about or {})
        self._first_world = first_world
        self._play_options = play_options
        self._say = say
        self._has_complained = False

    def add(
        self,
        iteration: int,
        faults: Sequence[Fault],
        window: StepWindow,
        env: ManagerBasedRlEnv,
    ) -> None:
        """Write a dump of the worlds with faults.

        If a limit is reached or writing fails, print a message and continue.

        Args:
            iteration: Training iteration.
            faults: Faults to dump.
            window: Recorded steps.
            env: The environment.
        """
        # Faults in unknown steps come last.
        faults = sorted(faults, key=lambda f: (f.step is None, f.step or 0, f.world))
        worlds = list(dict.fromkeys(fault.world for fault in faults))
        kept = worlds[: self._cfg.max_worlds]
        path = self._free_name(f"{iteration:06d}_{_reason(faults)}")
        counts = sorted(Counter(fault.kind for fault in faults).items())
        what = ", ".join(f"{kind} in {n} worlds" for kind, n in counts)
        try:
            image = self._image(iteration, what, faults, kept, window, env)
            if not self._has_room(len(image)):
                return
            write_atomic(path, lambda file: file.write(image))
        except (OSError, ImportError, mujoco.FatalError) as error:
            self._complain(f"The dump {path} could not be written: {error}.")
            return
        what = what.replace(NONFINITE, "non-finite values")
        what = what.replace(" 1 worlds", " 1 world")
        said = ", ".join(str(world) for world in kept)
        more = f" and {len(worlds) - len(kept)} more" if len(worlds) > len(kept) else ""
        options = " ".join(["--dump", str(path), *self._play_options])
        self._say(
            f"{what[0].upper()}{what[1:]} ({said}{more}). play.py {options} replays "
            "the last steps."
        )

    def _image(
        self,
        iteration: int,
        what: str,
        faults: Sequence[Fault],
        worlds: Sequence[int],
        window: StepWindow,
        env: ManagerBasedRlEnv,
    ) -> bytes:
        """Return the content of a dump file."""
        kinds = sorted({fault.kind for fault in faults} - {NONFINITE, ENGINE})
        now = datetime.datetime.now().astimezone()
        about = {
            "what": what,
            "when": now.isoformat(timespec="seconds"),
            "iteration": iteration,
            "first_step": int(window.start["step_counter"]),
            "num_envs": env.num_envs,
            "device": str(env.device),
            "advice": [env.sim.engine.advice(kind) for kind in kinds],
            **self._about,
        }
        attributes = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "about": json.dumps(about),
            "env_id": self._task,
            "env_cfg": self._config_text,
            "backend": env.sim.backend.engine,
            "seed": env.seed,
            "step_dt": env.step_dt,
        }
        memory, encoder = FileInMemory(attributes), EpisodeEncoder()
        model = np.frombuffer(model_bytes(env.sim.mj_model), np.uint8)
        encoder.write_array(memory.file.id, "model", model)
        for number, world in enumerate(worlds):
            found = [
                {
                    "kind": f.kind,
                    "step": None if f.step is None else f.step - window.first,
                }
                for f in faults
                if f.world == world
            ]
            start = world_row(window.start, world)
            arrays = {name: rows[:, world] for name, rows in window.steps.items()}
            encoder.write(
                memory.file,
                number,
                {**_as_arrays(arrays), "start": as_record(_as_arrays(start))},
                {
                    "world": world,
                    "elapsed_steps": len(window.steps["actions"]),
                    "global_world": self._first_world + world,
                    "faults": json.dumps(found),
                },
            )
        image = memory.image()
        memory.close()
        return image

    def _has_room(self, size: int) -> bool:
        """Return whether another dump fits the limits; report the limit only once."""
        sizes = [file.stat().st_size for file in self.path.glob("*.h5")]
        if len(sizes) >= self._cfg.max_dumps:
            self._complain(
                f"{self.path} contains {len(sizes)} dumps, as many as "
                "agent.dumps.max_dumps allows."
            )
            return False
        if sum(sizes) + size > self._cfg.max_megabytes * 2**20:
            self._complain(
                f"The dumps in {self.path} take {sum(sizes) / 2**20:.1f} MB. With the "
                f"next dump ({size / 2**20:.1f} MB) they would exceed "
                f"agent.dumps.max_megabytes={self._cfg.max_megabytes:g}."
            )
            return False
        return True

    def _complain(self, text: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            self._say(f"{text} Further faults are not dumped.")

    def _free_name(self, stem: str) -> Path:
        path, number = self.path / f"{stem}.h5", 1
        while path.exists():
            number += 1
            path = self.path / f"{stem}_{number}.h5"
        return path


def model_bytes(model: mujoco.MjModel) -> bytes:
    """Return a compiled model in MuJoCo's binary format (MJB).

    Folder names of meshes and textures are removed. MuJoCo writes to memory instead of
    a file, so that a full disk raises a Python exception.
    """
    binary = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    paths: bytes = model.paths
    names = (
        PurePath(os.fsdecode(path)).name.encode().ljust(len(path), b"\0")
        for path in paths.split(b"\0")
    )
    return binary.tobytes().replace(paths, b"\0".join(names))


def _as_arrays(tensors: State) -> dict[str, np.ndarray]:
    return {name: each.detach().cpu().numpy() for name, each in tensors.items()}


def _reason(faults: Sequence[Fault]) -> str:
    """Return the word for the most severe fault in the file name."""
    kinds = {fault.kind for fault in faults}
    return next((k for k in (ENGINE, NONFINITE) if k in kinds), "overflow")


# --- Reading --------------------------------------------------------------------------


@dataclass(frozen=True)
class DumpedWorld:
    """Recorded steps and faults of one world in a dump."""

    path: Path
    """Dump file."""

    about: dict[str, Any]
    """Attribute `about` of the dump."""

    attributes: dict[str, Any]
    """Attributes of the dump and of the world."""

    faults: list[dict[str, Any]]
    """Faults of the world, each with "kind" and "step" (index in `steps`, or None)."""

    worlds: list[int]
    """Indices of all worlds in the dump."""

    steps: dict[str, np.ndarray]
    """Recorded fields by name, shape (steps, ...)."""

    start: State
    """Complete state of the world before the first step."""

    binary: bytes
    """Compiled model in MuJoCo's binary format."""

    @property
    def length(self) -> int:
        """Number of recorded steps."""
        return int(self.attributes["elapsed_steps"])

    def model(self) -> mujoco.MjModel:
        """Return the compiled model. Fields that vary per world have nominal values."""
        return mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": self.binary})


def load_dump(path: Path, world: int | None = None) -> DumpedWorld:
    """Read a world of a dump.

    Args:
        path: Dump file.
        world: Index of the world in its run. None selects the world with the first
            fault.
    """
    with Recording(path) as recording:
        where = f"{path}, its attribute 'about',"
        text = str(recording.attributes.get("about"))
        about = check_object(text, where, _ABOUT, DumpError, remedy=REMEDY)
        episodes = {episode.world: episode for episode in recording}
        worlds = list(episodes)
        chosen = next(iter(worlds), None) if world is None else world
        if chosen not in episodes:
            listed = ", ".join(map(str, worlds)) or "none"
            raise DumpError(f"{path} has no world {chosen}. Its worlds: {listed}.")
        episode = episodes[chosen]
        where = f"{path}, its world {chosen},"
        text = f'{{"faults": {episode.attributes.get("faults")}}}'
        kinds = {"faults": list[dict[str, Any]]}
        return DumpedWorld(
            path=Path(path),
            about=about,
            attributes=recording.attributes | episode.attributes,
            faults=check_object(text, where, kinds, DumpError, remedy=REMEDY)["faults"],
            worlds=worlds,
            steps={k: v for k, v in episode.arrays().items() if k != "start"},
            start=episode.read_all("start"),
            binary=recording.array("model").tobytes(),
        )
