"""Terms that learn something themselves, and so share more than a step's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.workers.memory import Block, Field


class SharedPart(Protocol):
    """What a term has in common with itself in other processes."""

    def fields(
        self, num_envs: int, num_workers: int
    ) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
        """Shape and type of the memory that is shared, by name."""
        ...

    def share(
        self,
        memory: Mapping[str, torch.Tensor],
        *,
        worlds: slice = ...,
        worker: int = ...,
    ) -> None:
        """Use that memory; the learner does so for all worlds."""
        ...

    def begin_rollout(self) -> None:
        """Take what the learner has given, in a worker."""
        ...


@runtime_checkable
class SharedTerm(Protocol):
    """An action term that shares memory between processes."""

    @property
    def shared(self) -> SharedPart:
        """The part that is shared."""
        ...


def shared_parts(env: ManagerBasedRlEnv) -> Iterator[tuple[str, SharedPart]]:
    """The parts that terms of an environment share, by the terms' names."""
    for name in env.action_manager.active_terms:
        term = env.action_manager.term(name)
        if isinstance(term, SharedTerm):
            yield name, term.shared


def term_fields(
    env: ManagerBasedRlEnv, num_envs: int, num_workers: int
) -> dict[str, Field]:
    """The tensors that terms share."""
    return {
        f"term/{name}/{field}": Field(shape, dtype)
        for name, part in shared_parts(env)
        for field, (shape, dtype) in part.fields(num_envs, num_workers).items()
    }


def term_memory(block: Block, name: str) -> dict[str, torch.Tensor]:
    """The tensors of one term."""
    prefix = f"term/{name}/"
    return {
        field.removeprefix(prefix): tensor
        for field, tensor in block.tensors.items()
        if field.startswith(prefix)
    }
