"""Worker process: steps some of the worlds on one thread, without a GPU."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol, runtime_checkable

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.parallel.memory import ArraySpec, SharedArrays, spec_of
from mjlab.parallel.process import ClosedError, Handshake, end_with_parent

STEP, FIRST_STEP, CALL, END = b"s", b"f", b"c", b"q"
"""Requests to a worker: step, first step of a rollout, method call, exit."""

DONE, FAILED = b"k", b"e"
"""Replies of a worker."""


@dataclass(frozen=True)
class WorkerSpec:
    """Specification of the worlds of one worker."""

    index: int
    """Index of the worker."""

    worlds: slice
    """Range of worlds of the worker."""

    first_world: int
    """Global index of the worker's first world."""

    cfg: ManagerBasedRlEnvCfg
    """The environment, with the number of worlds of this worker."""

    memory: SharedArrays
    """Memory shared with the learner."""

    parent: int | None
    """Id of the process with which the worker ends; see `end_with_parent`."""


class SharedPart(Protocol):
    """Part of a term that the learner trains, such as a network.

    Every process has a copy.
    """

    def fields(
        self, num_envs: int, num_workers: int
    ) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
        """Return shape and type of each field in shared memory, by name."""
        ...

    def share(
        self,
        memory: Mapping[str, torch.Tensor],
        *,
        worlds: slice = ...,
        worker: int = ...,
    ) -> None:
        """Switch to shared memory.

        Args:
            memory: Tensors described by `fields`.
            worlds: Worlds of this process; the learner passes all worlds.
            worker: Index of this worker.
        """
        ...

    def begin_rollout(self) -> None:
        """Read the data that the learner wrote; called in workers only."""
        ...


@runtime_checkable
class SharedTerm(Protocol):
    """Action term that shares memory between processes."""

    @property
    def shared(self) -> SharedPart:
        """Part of the term that the processes share."""
        ...


def shared_parts(env: ManagerBasedRlEnv) -> Iterator[tuple[str, SharedPart]]:
    """Yield the shared parts of an environment's terms, by name of the term."""
    for name in env.action_manager.active_terms:
        term = env.action_manager.term(name)
        if isinstance(term, SharedTerm):
            yield name, term.shared


def term_specs(
    env: ManagerBasedRlEnv, num_envs: int, num_workers: int
) -> dict[str, ArraySpec]:
    """Return the specifications of the terms' shared arrays, by "term/name/field"."""
    return {
        f"term/{name}/{field}": spec_of(*spec)
        for name, part in shared_parts(env)
        for field, spec in part.fields(num_envs, num_workers).items()
    }


def term_memory(
    tensors: Mapping[str, torch.Tensor], name: str
) -> dict[str, torch.Tensor]:
    """Return the shared tensors of one term, by field."""
    start = f"term/{name}/"
    return {k.removeprefix(start): t for k, t in tensors.items() if k.startswith(start)}


class Shard:
    """Worlds of a worker, and the shared memory with the data of these worlds."""

    def __init__(self, spec: WorkerSpec) -> None:
        self.env = ManagerBasedRlEnv(
            spec.cfg, device="cpu", first_world=spec.first_world
        )
        tensors = spec.memory.tensors()
        self._rows = {
            name: tensor[spec.worlds]
            for name, tensor in tensors.items()
            if not name.startswith(("log", "term/"))
        }
        self._shared = dict(shared_parts(self.env))
        for name, part in self._shared.items():
            memory = term_memory(tensors, name)
            part.share(memory, worlds=spec.worlds, worker=spec.index)
        self._log = tensors["log"][spec.index]

    def begin_rollout(self) -> None:
        """Pass the learner's data to the terms, which use it until the next call."""
        for part in self._shared.values():
            part.begin_rollout()

    def step(self) -> None:
        """Step the worlds with the actions in shared memory."""
        lengths = self._rows["episode_length"]
        # The learner may have randomised the episode lengths.
        self.env.episode_length_buf.copy_(lengths)
        observed, reward, terminated, truncated, extras = self.env.step(
            self._rows["action"]
        )
        self._rows["reward"].copy_(reward)
        self._rows["reward_terms"].copy_(self.env.reward_manager.contributions)
        self._rows["terminated"].copy_(terminated)
        self._rows["truncated"].copy_(truncated)
        self._show("obs", observed)
        self._show("final_obs", extras.get("final_obs", {}))
        self._log.copy_(self.env.episode_log.drain())
        lengths.copy_(self.env.episode_length_buf)

    def reset(self, seed: int | list[int] | None, mask: Any) -> None:
        """Start new episodes; see `ManagerBasedRlEnv.reset`."""
        chosen = None if mask is None else torch.from_numpy(mask)
        self._show("obs", self.env.reset(seed=seed, mask=chosen)[0])
        self._log.copy_(self.env.episode_log.drain())
        self._rows["episode_length"].copy_(self.env.episode_length_buf)

    def state(self) -> dict[str, Any]:
        """Return the state of the worlds, as NumPy arrays by name."""
        return {name: t.numpy() for name, t in self.env.get_state().items()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore the worlds' state from arrays that `state` returned."""
        tensors = {name: torch.from_numpy(array) for name, array in state.items()}
        self.env.set_state(tensors)
        self._rows["episode_length"].copy_(self.env.episode_length_buf)

    def health(self) -> tuple[int, int]:
        """Return the numbers of non-finite world steps and of buffer overflows."""
        nonfinite, overflow = self.env.nonfinite.totals()
        return int(nonfinite), int(overflow)

    def take_health(self) -> dict[str, float]:
        """Return all health counters since the last call."""
        return self.env.take_health()

    def _show(self, kind: str, observed: dict[str, Any]) -> None:
        for name, tensor in flat(observed).items():
            self._rows[f"{kind}/{name}"].copy_(tensor)


def flat(observed: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return observations by group, or by "group/term" in unconcatenated groups."""
    tensors: dict[str, torch.Tensor] = {}
    for group, value in observed.items():
        if isinstance(value, torch.Tensor):
            tensors[group] = value
        else:
            tensors |= {f"{group}/{name}": term for name, term in value.items()}
    return tensors


def work(spec: WorkerSpec, handshake: Handshake, calls: Connection) -> None:
    """Serve requests until an exit request or the learner ends. Never returns."""
    end_with_parent(spec.parent)
    # On Ctrl-C, the learner finishes its iteration and still needs this worker.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    with torch.no_grad(), contextlib.suppress(ClosedError, EOFError, OSError):
        _work(spec, handshake, calls)
    # Skip interpreter shutdown: unloading torch and MuJoCo takes seconds, and the
    # operating system frees the memory anyway.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _work(spec: WorkerSpec, handshake: Handshake, calls: Connection) -> None:
    try:
        shard = Shard(spec)
    except Exception:
        _reply(calls, FAILED, traceback.format_exc())
        return
    _reply(calls, DONE, None)
    while (word := handshake.hear()) != END:
        if word == CALL:
            _answer(shard, calls)
            continue
        try:
            if word == FIRST_STEP:
                shard.begin_rollout()
            shard.step()
        except Exception:
            handshake.tell(FAILED)
            _reply(calls, FAILED, traceback.format_exc())
            return
        handshake.tell(DONE)


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
