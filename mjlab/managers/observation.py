"""Observations: groups of terms, computed once each and processed group by group."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

from mjlab.managers.env import Env
from mjlab.managers.observation_config import (
    ObservationGroupCfg as ObservationGroupCfg,
)
from mjlab.managers.observation_config import (
    ObservationTermCfg as ObservationTermCfg,
)
from mjlab.managers.observation_config import check_group, check_term
from mjlab.managers.observation_group import ObservationGroup, Output
from mjlab.managers.observation_noise import Shape, TermSlot
from mjlab.managers.term import (
    BoundTerm,
    Manager,
    TermError,
    bind_terms,
    check_gradient,
    try_once,
)
from mjlab.names import UnknownNameError, suggest

Observations = dict[str, Output]
"""Observed values by group; by term in groups that are not concatenated."""


def copied(observations: Mapping[str, Output]) -> Observations:
    """Observations as tensors of the caller's own."""
    return {
        group: value.clone()
        if isinstance(value, torch.Tensor)
        else {name: term.clone() for name, term in value.items()}
        for group, value in observations.items()
    }


class NonfiniteObservationError(RuntimeError):
    """Observations of a group of `nan_policy="error"` were not finite."""


class ObservationManager(Manager[BoundTerm]):
    """Computes what policies see.

    Terms that several groups declare with the same function and equal parameters are
    one term: computed once a step, with one memory, and with each group's own noise,
    clip, scale, delay and history. Its parameters, if they are live, are shared too.
    """

    kind = "observation"

    def __init__(self, cfg: Mapping[str, ObservationGroupCfg | None], env: Env) -> None:
        """Bind the terms, and call each once to learn the shape of its value."""
        groups = {name: group for name, group in cfg.items() if group is not None}
        declared: dict[str, ObservationTermCfg] = {}
        for group_name, group in groups.items():
            check_group(group_name, group)
            for name, term in group.terms.items():
                if term is not None:
                    declared[f"{group_name}/{name}"] = term
                    check_term(f"Observation term '{group_name}/{name}'", term)
        self._sources = _find_sources(declared)
        computed = {key: declared[key] for key in self._sources.values()}
        super().__init__(bind_terms(computed, env, kind=self.kind), env)
        samples = {key: self._try(term) for key, term in self.terms.items()}
        self.groups: dict[str, ObservationGroup] = {
            name: ObservationGroup(
                name, group, self._slots(name, group, samples), env.rng
            )
            for name, group in groups.items()
        }
        """Groups by name."""
        self._blocks = [b for group in self.groups.values() for b in group.blocks]
        self.output: Observations = {k: g.output for k, g in self.groups.items()}
        """Tensors that `compute` writes, the same in every step: by group, shape
        (num_envs, ...), or that by term."""

    @property
    def active_terms(self) -> dict[str, list[str]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Names of the terms of each group, in their order."""
        return {
            name: [slot.name for slot in group.slots]
            for name, group in self.groups.items()
        }

    @property
    def group_obs_dim(self) -> dict[str, Shape | list[Shape]]:
        """Shape of what one world observes, by group; a list if not concatenated."""
        return {name: group.dim for name, group in self.groups.items()}

    @property
    def group_obs_term_dim(self) -> dict[str, list[Shape]]:
        """Shape of what one world observes of each term, by group."""
        return {name: group.term_dims for name, group in self.groups.items()}

    def term(self, name: str) -> BoundTerm:
        """The term called "<group>/<term>", which other groups may share."""
        if name not in self._sources:
            hint = suggest(name, self._sources)
            raise UnknownNameError(f"There is no observation term {name!r}. {hint}")
        return self.terms[self._sources[name]]

    def compute(
        self, *, update: bool = True, mask: torch.Tensor | None = None
    ) -> dict[str, Output]:
        """Compute all groups, and return `output`.

        Args:
            update: Whether to compute; if not, this only returns what there is, so that
                asking twice in a step moves no history on.
            mask: Worlds that are observed, shape (num_envs,), bool, after a reset
                outside of a step. The buffers and outputs of the others stay as they
                are. None means all.
        """
        if update:
            values = {key: term() for key, term in self.terms.items()}
            for block in self._blocks:
                block.update(values, mask)
        return self.output

    def reset(self, mask: torch.Tensor) -> None:
        """Have terms, delays, histories and biases forget the worlds of `mask`.

        The outputs stay as they are until the next `compute`.
        """
        super().reset(mask)
        for block in self._blocks:
            block.reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Numbers of each term that were not finite since the last call.

        Only groups whose `nan_policy` is not "disabled" are looked at. This waits for
        the device. It warns or raises for a group that asks for it.
        """
        counts: dict[str, int] = {}
        for name, group in self.groups.items():
            found = {f"{name}/{k}": n for k, n in group.take_nonfinite().items()}
            counts |= {f"observation/{key}": n for key, n in found.items()}
            said = ", ".join(f"{key} {n}" for key, n in found.items() if n)
            if not said:
                continue
            message = f"Observed numbers were not finite. By term: {said}."
            if group.nan_policy == "error":
                raise NonfiniteObservationError(message)
            if group.nan_policy == "warn":
                warnings.warn(message, RuntimeWarning, stacklevel=2)
        return counts

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {
            f"group.{name}.{key}": tensor
            for name, group in self.groups.items()
            for key, tensor in group.state().items()
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Group, name, shape, and the term that computes it where another one does."""
        return [
            (
                name,
                slot.name,
                str(slot.output_shape),
                "" if slot.source == f"{name}/{slot.name}" else slot.source,
            )
            for name, group in self.groups.items()
            for slot in group.slots
        ]

    def _try(self, term: BoundTerm) -> torch.Tensor:
        """Call a term once, check its value, and have it forget that."""
        value = try_once(term, self._env)
        _check_value(term, value, self.num_envs)
        check_gradient(term, value)
        term.forget()
        return value

    def _slots(
        self, name: str, cfg: ObservationGroupCfg, samples: Mapping[str, torch.Tensor]
    ) -> list[TermSlot]:
        slots = []
        for term_name, term in cfg.terms.items():
            if term is None:
                continue
            source = self._sources[f"{name}/{term_name}"]
            remembered = cfg if cfg.history_length is not None else term
            slot = TermSlot(
                name=term_name,
                source=source,
                label=f"Observation term '{name}/{term_name}'",
                cfg=term,
                shape=tuple(samples[source].shape[1:]),
                dtype=samples[source].dtype,
                history=remembered.history_length or 0,
                flattens=remembered.flatten_history_dim,
            )
            _check_options(slot)
            slots.append(slot)
        return slots


def _check_value(term: BoundTerm, value: Any, num_envs: int) -> None:
    """Raise unless a term returned a tensor of the right shape and type."""
    if not isinstance(value, torch.Tensor):
        raise TermError(
            f"{term.label} returned {type(value).__name__}; it has to return a tensor "
            f"of shape ({num_envs}, ...)."
        )
    if value.shape == (num_envs,):
        raise TermError(
            f"{term.label} returned shape ({num_envs},); it has to be ({num_envs}, "
            "...) with one more dimension at least: return value.unsqueeze(-1)."
        )
    if value.ndim < 2 or value.shape[0] != num_envs:
        raise TermError(
            f"{term.label} returned shape {tuple(value.shape)}; its first dimension "
            f"has to be that of the {num_envs} worlds, and another has to follow."
        )
    if value.dtype not in (torch.float32, torch.uint8):
        raise TermError(
            f"{term.label} returned {value.dtype}; it has to be torch.float32, or "
            "torch.uint8 for images."
        )


def _check_options(slot: TermSlot) -> None:
    cfg = slot.cfg
    options = {"noise": cfg.noise, "clip": cfg.clip, "scale": cfg.scale}
    given = [name for name, value in options.items() if value is not None]
    if slot.dtype != torch.float32 and given:
        raise TermError(
            f"{slot.label} returned {slot.dtype}, to which {' and '.join(given)} "
            "cannot apply. Have the term return torch.float32."
        )


def _find_sources(declared: Mapping[str, ObservationTermCfg]) -> dict[str, str]:
    """For each term the first one that computes the same, most often itself."""
    sources: dict[str, str] = {}
    for key, cfg in declared.items():
        same = (other for other in sources if _is_same(declared[other], cfg))
        sources[key] = next((sources[other] for other in same), key)
    return sources


def _is_same(a: ObservationTermCfg, b: ObservationTermCfg) -> bool:
    if a.func is not b.func:
        return False
    first, second = _arguments(a), _arguments(b)
    return first.keys() == second.keys() and all(
        _is_equal(first[name], second[name]) for name in first
    )


def _arguments(cfg: ObservationTermCfg) -> dict[str, Any]:
    """Parameters with the defaults of those that are not given."""
    func: Callable[..., Any] = cfg.func
    called = func.__call__ if isinstance(func, type) else func
    if not callable(called):
        return cfg.params  # Binding the term says what is wrong with it.
    parameters = inspect.signature(called).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return defaults | cfg.params


def _is_equal(a: Any, b: Any) -> bool:
    """Return True for two arguments that are known to mean the same."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, torch.Tensor):
        return False
    try:
        return bool(a == b)
    except (ValueError, RuntimeError):
        return False  # Such as two arrays, which compare element by element.
