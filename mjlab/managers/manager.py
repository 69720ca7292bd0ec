"""What all managers share: bound terms by name, and the check of what they return."""

from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import BoundTerm, TermCfg, TermError, bind_terms
from mjlab.names import UnknownNameError, suggest


class Manager(ABC):
    """Terms of one kind, in the order of their configuration."""

    kind: ClassVar[str]
    """What a term is, in the singular: "reward"."""

    def __init__(self, cfg: Mapping[str, TermCfg | None], env: Env) -> None:
        self._env = env
        self.terms: dict[str, BoundTerm] = bind_terms(cfg, env, kind=self.kind)
        """Terms by name."""

    @property
    def active_terms(self) -> list[str]:
        """Names of the terms."""
        return list(self.terms)

    @property
    def num_envs(self) -> int:
        """Number of worlds."""
        return self._env.num_envs

    @property
    def device(self) -> torch.device:
        """Where all tensors live."""
        return self._env.device

    def term(self, name: str) -> BoundTerm:
        """The term called `name`."""
        if name not in self.terms:
            hint = suggest(name, self.active_terms)
            raise UnknownNameError(f"There is no {self.kind} term {name!r}. {hint}")
        return self.terms[name]

    def reset(self, mask: torch.Tensor) -> None:
        """Have all terms forget the past of the worlds of `mask`."""
        for term in self.terms.values():
            if term.instance is not None:
                term.instance.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {
            f"{name}.{key}": tensor
            for name, term in self.terms.items()
            for key, tensor in term.state().items()
        }

    def rows(self) -> list[tuple[str, ...]]:
        """One row a term, for the table that `print(env)` shows."""
        return [(name,) for name in self.terms]


def check_value(
    term: BoundTerm, value: Any, num_envs: int, *, dtype: torch.dtype | None = None
) -> None:
    """Raise unless a term returned a tensor of shape (num_envs,) and the right type."""
    if not isinstance(value, torch.Tensor):
        raise TermError(
            f"{term.label} returned {type(value).__name__}; it has to return a tensor "
            f"of shape ({num_envs},)."
        )
    if value.shape != (num_envs,):
        raise TermError(
            f"{term.label} returned shape {tuple(value.shape)}; it has to be "
            f"({num_envs},), one value a world."
        )
    is_right = value.is_floating_point() if dtype is None else value.dtype == dtype
    if not is_right:
        wanted = "a floating-point type" if dtype is None else str(dtype)
        raise TermError(f"{term.label} returned {value.dtype}; it has to be {wanted}.")
