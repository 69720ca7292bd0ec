"""What runs in a worker process: some of the worlds, on one thread, without a GPU."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.workers.channel import ClosedError, Turns
from mjlab.workers.memory import Block
from mjlab.workers.terms import shared_parts, term_memory

STEP, FIRST_STEP, CALL, END = b"s", b"f", b"c", b"q"
"""What a worker is told: to step, in a rollout or as its first, to answer a call, to
end."""

DONE, FAILED = b"k", b"e"
"""What it answers."""


@dataclass(frozen=True)
class Job:
    """What a worker is to do."""

    index: int
    """Which worker it is."""

    worlds: slice
    """Its worlds among those of the environment."""

    first_world: int
    """Global index of the first of them."""

    cfg: ManagerBasedRlEnvCfg
    """The environment, with as many worlds as it has."""

    block: Block
    """What it shares with the learner."""


class Shard:
    """Some of the worlds, and where their numbers go."""

    def __init__(self, job: Job) -> None:
        self.env = ManagerBasedRlEnv(job.cfg, device="cpu", first_world=job.first_world)
        self._rows = {
            name: tensor[job.worlds]
            for name, tensor in job.block.tensors.items()
            if not name.startswith(("log", "term/"))
        }
        self._shared = dict(shared_parts(self.env))
        for name, part in self._shared.items():
            memory = term_memory(job.block, name)
            part.share(memory, worlds=job.worlds, worker=job.index)
        self._log = job.block["log"][job.index]

    def begin_rollout(self) -> None:
        """Take what the learner has given to terms; until the next one, it stays."""
        for part in self._shared.values():
            part.begin_rollout()

    def step(self) -> None:
        """Step the worlds with the actions that are there."""
        lengths = self._rows["episode_length"]
        # The learner may have set them.
        self.env.episode_length_buf.copy_(lengths)
        observed, reward, terminated, truncated, extras = self.env.step(
            self._rows["action"]
        )
        self._rows["reward"].copy_(reward)
        self._rows["terminated"].copy_(terminated)
        self._rows["truncated"].copy_(truncated)
        self._show("obs", observed)
        self._show("final_obs", extras.get("final_obs", {}))
        self._log.copy_(self.env.episode_log.drain())
        lengths.copy_(self.env.episode_length_buf)

    def reset(self, seed: int | list[int] | None, mask: Any) -> None:
        """Begin new episodes; see the environment's own."""
        chosen = None if mask is None else torch.from_numpy(mask)
        self._show("obs", self.env.reset(seed=seed, mask=chosen)[0])
        self._log.copy_(self.env.episode_log.drain())
        self._rows["episode_length"].copy_(self.env.episode_length_buf)

    def state(self) -> dict[str, Any]:
        """The worlds' state, as arrays."""
        return {name: t.numpy() for name, t in self.env.get_state().items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        tensors = {name: torch.from_numpy(array) for name, array in state.items()}
        self.env.set_state(tensors)
        self._rows["episode_length"].copy_(self.env.episode_length_buf)

    def health(self) -> tuple[int, int]:
        """How much was not finite, and how often there was no room."""
        nonfinite, overflow = self.env.nonfinite.totals()
        return int(nonfinite), int(overflow)

    def take_health(self) -> dict[str, float]:
        """The full account since the last one."""
        return self.env.take_health()

    def evidence(self) -> dict[str, Any]:
        """What shows whether this process has anything to do with a GPU."""
        return evidence()

    def _show(self, kind: str, observed: dict[str, Any]) -> None:
        for name, tensor in flat(observed).items():
            self._rows[f"{kind}/{name}"].copy_(tensor)


def flat(observed: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Observations by group, or by "group/term" where terms are apart."""
    tensors: dict[str, torch.Tensor] = {}
    for group, value in observed.items():
        if isinstance(value, torch.Tensor):
            tensors[group] = value
        else:
            tensors |= {f"{group}/{name}": term for name, term in value.items()}
    return tensors


def evidence() -> dict[str, Any]:
    """What shows whether this process has anything to do with a GPU."""
    files = Path("/proc/self/fd")
    opened = [str(file.readlink()) for file in files.iterdir() if file.is_symlink()]
    maps = Path("/proc/self/maps").read_text()
    libraries = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
    names = ("libcuda.so", "warp.so", "warp-clang.so")
    return {
        "warp": sorted(name for name in sys.modules if name.split(".")[0] == "warp"),
        "cuda": torch.cuda.is_initialized(),
        "devices": [name for name in opened if name.startswith("/dev/nvidia")],
        "libraries": sorted(
            path for path in libraries if any(name in path for name in names)
        ),
        "threads": torch.get_num_threads(),
    }


def work(job: Job, turns: Turns, calls: Connection) -> None:
    """Serve until told to end, or until whoever tells is gone. It does not return."""
    # Who pressed Ctrl-C told the learner, which finishes its iteration with us.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    with torch.no_grad(), contextlib.suppress(ClosedError, EOFError, OSError):
        _work(job, turns, calls)
    # To take torch and MuJoCo apart would take seconds, and frees nothing of use.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _work(job: Job, turns: Turns, calls: Connection) -> None:
    try:
        shard = Shard(job)
    except Exception:
        _reply(calls, FAILED, traceback.format_exc())
        return
    _reply(calls, DONE, None)
    _serve(shard, turns, calls)


def _serve(shard: Shard, turns: Turns, calls: Connection) -> None:
    while (word := turns.hear()) != END:
        if word in (STEP, FIRST_STEP) and not _step(shard, word, turns, calls):
            return
        if word == CALL:
            _answer(shard, calls)


def _step(shard: Shard, word: bytes, turns: Turns, calls: Connection) -> bool:
    try:
        if word == FIRST_STEP:
            shard.begin_rollout()
        shard.step()
    except Exception:
        turns.tell(FAILED)
        _reply(calls, FAILED, traceback.format_exc())
        return False
    turns.tell(DONE)
    return True


def _answer(shard: Shard, calls: Connection) -> None:
    name, arguments = pickle.loads(calls.recv_bytes())
    try:
        answer = getattr(shard, name)(*arguments)
    except Exception:
        _reply(calls, FAILED, traceback.format_exc())
    else:
        _reply(calls, DONE, answer)


def _reply(calls: Connection, word: bytes, answer: Any) -> None:
    calls.send_bytes(pickle.dumps((word, answer)))
