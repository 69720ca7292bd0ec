"""Terms bound to an environment, and the base class of all managers."""

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import torch

from mjlab.managers.env import Env
from mjlab.names import UnknownNameError, suggest
from mjlab.scene import SceneEntityCfg
from mjlab.settings import Config


class TermError(ValueError):
    """Raised for an invalid term."""


class TermCfg(Config):
    """Configuration of a term."""

    func: Callable[..., Any] = field(kw_only=False)
    """A function `f(env, **params)`, or a subclass of `ManagerTermBase`."""

    params: dict[str, Any] = {}
    """Arguments by name. A `SceneEntityCfg` is resolved when the term is bound."""


class TermObject:
    """Base class of terms with internal state: tensors of shape (num_envs, ...).

    The tensors are updated in place.
    """

    def __init__(self, env: Env) -> None:
        self._env = env

    @property
    def num_envs(self) -> int:
        """Number of worlds."""
        return self._env.num_envs

    @property
    def device(self) -> torch.device:
        """Device of all tensors."""
        return self._env.device

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {}

    def debug_vis(self, visualizer: Any) -> None:
        """Draw the debug visualisation of the term. Does nothing by default."""


class ManagerTermBase(TermObject):
    """Base class of stateful terms, called with `env` and the parameters.

    The constructor of a subclass takes the configuration and the environment.
    """

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(env)
        self.cfg = cfg

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the term's value, or apply its effect."""
        raise NotImplementedError(f"{type(self).__name__} has to define __call__.")


class BoundTerm:
    """A term of one environment, with resolved names and allocated state."""

    def __init__(self, name: str, cfg: TermCfg, env: Env, *, kind: str) -> None:
        """Check the parameters and resolve the entities that they name.

        Args:
            name: Key of the term in the configuration.
            cfg: Configuration of the term, never modified.
            env: The environment.
            kind: Kind of the term for messages, such as "reward".
        """
        self.name = name
        self.cfg = cfg
        self.label = label_of(kind, name)
        """Name of the term, for error messages."""
        self.stream = f"{kind}/{name}"
        """Name of the term's random stream."""
        self._env = env
        signature = _signature(cfg.func, self.label)
        self.needs_ids = "env_ids" in signature.parameters
        """True if the function takes world indices. Computing the indices copies the
        mask to the host."""
        self.needs_mask = "mask" in signature.parameters or self.needs_ids
        self.params = self._resolve(cfg, signature)
        """Arguments of the function. `live` converts a parameter to a tensor."""
        self.instance: ManagerTermBase | None = None
        """Instance of a stateful term, or None."""
        self.resets_ids = False
        """True if the class's `reset` takes `env_ids`. Computing the indices copies the
        mask to the host."""
        if isinstance(cfg.func, type):
            self.instance = self._construct(cfg.func, cfg)
            reset = inspect.signature(self.instance.reset)
            self.resets_ids = "env_ids" in reset.parameters
        self.function: Callable[..., Any] = (
            cfg.func if self.instance is None else self.instance
        )
        """The function, or the instance of a stateful term."""

    def __call__(self, mask: torch.Tensor | None = None) -> Any:
        """Call the term, with `mask` if the function takes a mask or indices."""
        try:
            if not self.needs_mask:
                return self.function(self._env, **self.params)
            assert mask is not None, f"{self.label} needs a mask."
            if self.needs_ids:
                ids = mask.nonzero().squeeze(-1)
                return self.function(self._env, env_ids=ids, **self.params)
            return self.function(self._env, mask=mask, **self.params)
        except Exception as error:
            self._note(error)
            raise

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the term in the worlds of `mask`."""
        if self.instance is None:
            return
        ids = mask.nonzero().squeeze(-1) if self.resets_ids else mask
        self.instance.reset(ids)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors of the term, including its live parameters."""
        memory = {} if self.instance is None else self.instance.state()
        live = {
            f"params.{key}": value
            for key, value in self.params.items()
            if isinstance(value, torch.Tensor)
        }
        return memory | live

    def live(self, parameter: str) -> torch.Tensor:
        """Return a numeric parameter as a tensor that can change during training.

        The first call converts the parameter. A curriculum requests the tensor in its
        constructor, and writes it in place.
        """
        if parameter not in self.params:
            hint = suggest(parameter, list(self.params))
            raise TermError(f"{self.label} has no parameter {parameter!r}. {hint}")
        value = self.params[parameter]
        if not isinstance(value, torch.Tensor):
            try:
                value = torch.tensor(
                    value, dtype=torch.float32, device=self._env.device
                )
            except (TypeError, ValueError):
                raise TermError(
                    f"{self.label}: parameter {parameter!r} is {value!r}; only numeric "
                    "parameters can change during training."
                ) from None
            self.params[parameter] = value
        return value

    def forget(self) -> None:
        """Reset the term in all worlds, after a trial call."""
        env = self._env
        self.reset(torch.ones(env.num_envs, dtype=torch.bool, device=env.device))

    def _construct(self, kind: type[Any], cfg: TermCfg) -> ManagerTermBase:
        try:
            return kind(cfg, self._env)
        except Exception as error:
            self._note(error)
            raise

    def _note(self, error: Exception) -> None:
        """Add the name of the term to an error that does not contain it."""
        if self.label not in str(error):
            error.add_note(f"Raised by {self.label[0].lower()}{self.label[1:]}.")

    def _resolve(self, cfg: TermCfg, signature: inspect.Signature) -> dict[str, Any]:
        defaults = {
            p.name: p.default
            for p in signature.parameters.values()
            if p.name not in ("env", "mask", "env_ids") and p.kind not in _VARIADIC
        }
        kinds = {p.kind for p in signature.parameters.values()}
        for name in sorted(cfg.params.keys() - defaults.keys()):
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                raise TermError(
                    f"{self.label}: {_name(cfg.func)} has no parameter {name!r}. "
                    + (suggest(name, defaults) if defaults else "It has none.")
                )
        known = defaults | cfg.params
        missing = [k for k in defaults if known[k] is inspect.Parameter.empty]
        if missing:
            raise TermError(
                f"{self.label}: {_name(cfg.func)} needs the "
                f"parameter{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}."
            )
        # Defaults stay in the signature, except a `SceneEntityCfg`, which is resolved.
        wanted = {k: v for k, v in defaults.items() if isinstance(v, SceneEntityCfg)}
        wanted |= cfg.params
        return {name: self._resolve_value(name, v) for name, v in wanted.items()}

    def _resolve_value(self, name: str, value: Any) -> Any:
        if not isinstance(value, SceneEntityCfg):
            return value
        try:
            return value.resolve(self._env.scene)
        except ValueError as error:
            raise TermError(f"{self.label}, parameter {name!r}: {error}") from error


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def label_of(kind: str, name: str) -> str:
    """Return the name of a term for messages."""
    return f"{kind.capitalize()} term {name!r}"


def _signature(func: Any, label: str) -> inspect.Signature:
    if isinstance(func, type):
        if not issubclass(func, ManagerTermBase):
            raise TermError(
                f"{label}: class {func.__name__} has to inherit from ManagerTermBase."
            )
        parameters = list(inspect.signature(func.__call__).parameters.values())[1:]
        return inspect.Signature(parameters)
    if not callable(func):
        raise TermError(f"{label}: func is {func!r}, which is not callable.")
    return inspect.signature(func)


def _name(func: Any) -> str:
    return getattr(func, "__qualname__", repr(func))


class Term(Protocol):
    """A term of a manager, bound to an environment."""

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        ...


C = TypeVar("C")
T = TypeVar("T", bound=Term)


class Manager(TermObject, ABC, Generic[T]):
    """Base class of managers: terms of one kind, in configuration order."""

    kind: ClassVar[str]
    """Kind of the terms, such as "reward"."""

    def __init__(self, terms: Mapping[str, T], env: Env) -> None:
        super().__init__(env)
        self.terms: dict[str, T] = dict(terms)
        """Terms by name."""
        self.columns = list(self.terms)
        """Names of the terms, in the order of the tensors' columns."""

    @property
    def active_terms(self) -> list[str]:
        """Names of the terms."""
        return list(self.terms)

    def term(self, name: str) -> T:
        """Return the term called `name`."""
        if name not in self.terms:
            hint = suggest(name, self.active_terms)
            raise UnknownNameError(f"There is no {self.kind} term {name!r}. {hint}")
        return self.terms[name]

    def column(self, name: str) -> int:
        """Return the column of a term in the manager's tensors."""
        self.term(name)
        return self.columns.index(name)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset all terms in the worlds of `mask`."""
        for term in self.terms.values():
            term.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {
            f"{name}.{key}": tensor
            for name, term in self.terms.items()
            for key, tensor in term.state().items()
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each term, for the table that `print(env)` shows."""
        return [(name,) for name in self.terms]


def bind_each(
    cfg: Mapping[str, C | None], kind: str, bind: Callable[[str, C], T]
) -> dict[str, T]:
    """Bind the terms of a dictionary to an environment; None disables a term."""
    terms: dict[str, T] = {}
    for name, term in cfg.items():
        if term is None:
            continue
        try:
            terms[name] = bind(name, term)
        except ValueError as error:
            label = label_of(kind, name)
            if isinstance(error, TermError) and label in str(error):
                raise
            raise TermError(f"{label}: {error}") from error
    return terms


def bind_terms(
    cfg: Mapping[str, TermCfg | None], env: Env, *, kind: str
) -> dict[str, BoundTerm]:
    """Bind terms declared by a function or class with parameters."""
    return bind_each(cfg, kind, partial(BoundTerm, env=env, kind=kind))


def try_terms(terms: Iterable[BoundTerm], env: Env, dtype: torch.dtype) -> None:
    """Call each term once; raise unless it returns one value of `dtype` per world.

    A step computes these terms before `forward()`, so the quantities that this trial
    call reads are not added to those that `forward()` computes.
    """
    with env.sim.reads.before_forward():
        for term in terms:
            check_value(term, try_once(term, env), env.num_envs, dtype)
            term.forget()


def try_once(term: BoundTerm, env: Env) -> Any:
    """Call a term once, and return its value.

    Without action terms, an IndexError is replaced by an error that explains it.
    """
    try:
        return term()
    except IndexError as error:
        if env.action_manager.total_action_dim:
            raise
        raise TermError(
            f"{term.label} raised IndexError ({error}). The task declares no "
            "actions, so actions have shape (num_envs, 0)."
        ) from error


def check_gradient(term: BoundTerm, value: torch.Tensor) -> None:
    """Raise for a value that requires grad."""
    if value.requires_grad:
        raise TermError(
            f"{term.label} returned a tensor that requires grad, but steps are not "
            "differentiable. Return value.detach(), or compute it in torch.no_grad()."
        )


def check_value(term: BoundTerm, value: Any, num_envs: int, dtype: torch.dtype) -> None:
    """Raise unless a term returned a tensor of shape (num_envs,) and the right type."""
    if not isinstance(value, torch.Tensor):
        raise TermError(
            f"{term.label} returned {type(value).__name__}; it has to return a tensor "
            f"of shape ({num_envs},)."
        )
    if value.shape != (num_envs,):
        raise TermError(
            f"{term.label} returned shape {tuple(value.shape)}; it has to be "
            f"({num_envs},), one value per world."
        )
    if value.dtype != dtype:
        raise TermError(f"{term.label} returned {value.dtype}; it has to be {dtype}.")
    check_gradient(term, value)
