"""Observation manager: each term is computed once, then processed for each group."""

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
"""Observations by group; by term in groups that are not concatenated."""


def copied(observations: Mapping[str, Output]) -> Observations:
    """Return a copy of the observations."""
    return {
        group: value.clone()
        if isinstance(value, torch.Tensor)
        else {name: term.clone() for name, term in value.items()}
        for group, value in observations.items()
    }


class NonfiniteObservationError(RuntimeError):
    """Raised for non-finite observations in a group with `nan_policy="error"`."""


class ObservationManager(Manager[BoundTerm]):
    """Manager of the observation groups.

    If several groups declare terms with the same function and equal parameters, the
    term is computed once per step. Its internal state and live parameters are shared;
    noise, clip, scale, delay and history are separate for each group.
    """

    kind = "observation"

    def __init__(self, cfg: Mapping[str, ObservationGroupCfg | None], env: Env) -> None:
        """Bind the terms, and call each once to infer its shape."""
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
        """Tensors that `compute` writes in place: by group, shape (num_envs, ...), or
        by group and term."""

    @property
    def active_terms(self) -> dict[str, list[str]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Names of each group's terms, in the order of concatenation."""
        return {
            name: [slot.name for slot in group.slots]
            for name, group in self.groups.items()
        }

    @property
    def group_obs_dim(self) -> dict[str, Shape | list[Shape]]:
        """Shape of one world's observation by group; a list if not concatenated."""
        return {name: group.dim for name, group in self.groups.items()}

    @property
    def group_obs_term_dim(self) -> dict[str, list[Shape]]:
        """Shapes of one world's terms, by group."""
        return {name: group.term_dims for name, group in self.groups.items()}

    def term(self, name: str) -> BoundTerm:
        """Return the term "<group>/<term>", which several groups can share."""
        if name not in self._sources:
            hint = suggest(name, self._sources)
            raise UnknownNameError(f"There is no observation term {name!r}. {hint}")
        return self.terms[self._sources[name]]

    def compute(
        self, *, update: bool = True, mask: torch.Tensor | None = None
    ) -> dict[str, Output]:
        """Compute all groups, and return `output`.

        Args:
            update: False returns the last output, without new entries in histories.
            mask: Worlds to update, shape (num_envs,), bool, after a reset outside a
                step. Buffers and outputs of other worlds do not change. None means
                all.
        """
        if update:
            values = {key: term() for key, term in self.terms.items()}
            for block in self._blocks:
                block.update(values, mask)
        return self.output

    def reset(self, mask: torch.Tensor) -> None:
        """Reset terms, delays, histories and noise biases of the worlds in `mask`.

        The outputs do not change until the next `compute`.
        """
        super().reset(mask)
        for block in self._blocks:
            block.reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Return the number of non-finite values of each term since the last call.

        Groups with `nan_policy="disabled"` are not counted. Non-finite values cause a
        warning in groups with "warn", and an error in groups with "error". Synchronises
        with the device.
        """
        counts: dict[str, int] = {}
        for name, group in self.groups.items():
            found = {f"{name}/{k}": n for k, n in group.take_nonfinite().items()}
            counts |= {f"observation/{key}": n for key, n in found.items()}
            said = ", ".join(f"{key} {n}" for key, n in found.items() if n)
            if not said:
                continue
            message = f"Observations contain NaN or infinity. Values by term: {said}."
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
        """Return the group, name, shape and (if shared) source of each term."""
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
        """Call a term once, check its value, and reset it."""
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
                stride=term.history_stride,
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
            "...), with at least two dimensions. Return value.unsqueeze(-1)."
        )
    if value.ndim < 2 or value.shape[0] != num_envs:
        raise TermError(
            f"{term.label} returned shape {tuple(value.shape)}; it has to be "
            f"({num_envs}, ...), with at least two dimensions."
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
            f"{slot.label} returned {slot.dtype}, but {' and '.join(given)} can be "
            "applied only to torch.float32. Return torch.float32."
        )


def _find_sources(declared: Mapping[str, ObservationTermCfg]) -> dict[str, str]:
    """Map each term to the first term with the same function and parameters."""
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
    """Return the parameters of a term, including the function's defaults."""
    func: Callable[..., Any] = cfg.func
    called = func.__call__ if isinstance(func, type) else func
    if not callable(called):
        return cfg.params  # Binding the term raises the error.
    parameters = inspect.signature(called).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return defaults | cfg.params


def _is_equal(a: Any, b: Any) -> bool:
    """Return True if two arguments are known to be equal."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, torch.Tensor):
        return False
    try:
        return bool(a == b)
    except (ValueError, RuntimeError):
        return False  # For example, comparing NumPy arrays returns an array.
