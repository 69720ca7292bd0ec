"""Terms: declared as a function or class with parameters, bound to an environment."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from mjlab.managers.env import Env
from mjlab.names import suggest
from mjlab.scene import SceneEntityCfg


class TermError(ValueError):
    """A term that cannot work, found before any physics."""


@dataclass(kw_only=True)
class TermCfg:
    """Declares a term."""

    func: Callable[..., Any]
    """A function `f(env, **params)`, or a subclass of `ManagerTermBase`."""

    params: dict[str, Any] = field(default_factory=dict)
    """Arguments by name. A `SceneEntityCfg` is resolved when the term is bound."""


class ManagerTermBase:
    """A term with a memory of its own.

    Subclasses take the configuration and the environment, and are called like a
    function term, with `env` and the parameters. What they remember are tensors of
    leading size num_envs, written in place.
    """

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        self.cfg = cfg
        self._env = env

    @property
    def num_envs(self) -> int:
        """Number of worlds."""
        return self._env.num_envs

    @property
    def device(self) -> torch.device:
        """Where all tensors live."""
        return self._env.device

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds of `mask`, shape (num_envs,), bool."""

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {}

    def debug_vis(self, visualizer: Any) -> None:
        """Draw what the term has to show; by default nothing."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the term's value, or have its effect."""
        raise NotImplementedError(f"{type(self).__name__} has to define __call__.")


class BoundTerm:
    """A term of one environment: its names are resolved and its memory is allocated."""

    def __init__(self, name: str, cfg: TermCfg, env: Env, *, kind: str) -> None:
        """Check the parameters and resolve what they name.

        Args:
            name: The key that the user gave the term.
            cfg: Its declaration, which is never written to.
            env: The environment.
            kind: What the term is, in the singular, for messages: "reward".
        """
        self.name = name
        self.cfg = cfg
        self.label = f"{kind.capitalize()} term {name!r}"
        """How messages call the term."""
        self.stream = f"{kind}/{name}"
        """How the term calls its random numbers."""
        self._env = env
        signature = _signature(cfg.func, self.label)
        self.needs_ids = "env_ids" in signature.parameters
        """Whether the function takes indices of worlds, which costs a host read."""
        self.needs_mask = "mask" in signature.parameters or self.needs_ids
        self.params = self._resolve(cfg, signature)
        """What the function receives. A live parameter is a tensor in here."""
        self.instance: ManagerTermBase | None = None
        """The term's object, if it has a memory."""
        if isinstance(cfg.func, type):
            try:
                self.instance = cfg.func(cfg, env)
            except Exception as error:
                self._note(error)
                raise
        self.function: Callable[..., Any] = (
            cfg.func if self.instance is None else self.instance
        )
        """What is called: the function itself, or the term's object."""

    def __call__(self, mask: torch.Tensor | None = None) -> Any:
        """Call the term, for the worlds of `mask` if it acts on worlds."""
        try:
            if not self.needs_mask:
                return self.function(self._env, **self.params)
            assert mask is not None, f"{self.label} acts on worlds."
            if self.needs_ids:
                ids = mask.nonzero().squeeze(-1)
                return self.function(self._env, env_ids=ids, **self.params)
            return self.function(self._env, mask=mask, **self.params)
        except Exception as error:
            self._note(error)
            raise

    def reset(self, mask: torch.Tensor) -> None:
        """Have the term forget the past of the worlds of `mask`."""
        if self.instance is not None:
            self.instance.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors of the term, its live parameters included."""
        memory = {} if self.instance is None else self.instance.state()
        live = {
            f"params.{key}": value
            for key, value in self.params.items()
            if isinstance(value, torch.Tensor)
        }
        return memory | live

    def live(self, parameter: str) -> torch.Tensor:
        """Make a number among the parameters a tensor that may change while training.

        A curriculum asks for it when it is built, and writes it in place.
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
                    f"{self.label}: parameter {parameter!r} is {value!r}, and only "
                    "numbers can change while training."
                ) from None
            self.params[parameter] = value
        return value

    def _note(self, error: Exception) -> None:
        """Have an error name the term, unless it does."""
        if self.label not in str(error):
            error.add_note(f"This was in {self.label[0].lower()}{self.label[1:]}.")

    def _resolve(self, cfg: TermCfg, signature: inspect.Signature) -> dict[str, Any]:
        given = {"env", "mask", "env_ids"}
        parameters = [
            p
            for p in signature.parameters.values()
            if p.name not in given and p.kind not in _VARIADIC
        ]
        takes_any = any(
            p.kind == inspect.Parameter.VAR_KEYWORD
            for p in signature.parameters.values()
        )
        names = [p.name for p in parameters]
        for name in cfg.params:
            if name not in names and not takes_any:
                raise TermError(
                    f"{self.label}: {_name(cfg.func)} has no parameter {name!r}. "
                    + suggest(name, names)
                )
        missing = [
            p.name
            for p in parameters
            if p.default is p.empty and p.name not in cfg.params
        ]
        if missing:
            raise TermError(
                f"{self.label}: {_name(cfg.func)} needs the "
                f"parameter{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}."
            )
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        # A default stays where it is, unless it names things that have to be resolved.
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


def bind_terms(
    cfg: Mapping[str, TermCfg | None], env: Env, *, kind: str
) -> dict[str, BoundTerm]:
    """Bind the terms of a dictionary; one that is None is switched off."""
    return {
        name: BoundTerm(name, term, env, kind=kind)
        for name, term in cfg.items()
        if term is not None
    }


def _signature(func: Any, label: str) -> inspect.Signature:
    if isinstance(func, type):
        if not issubclass(func, ManagerTermBase):
            raise TermError(
                f"{label}: the class {func.__name__} has to inherit ManagerTermBase."
            )
        parameters = list(inspect.signature(func.__call__).parameters.values())[1:]
        return inspect.Signature(parameters)
    if not callable(func):
        raise TermError(f"{label}: func is {func!r}, which cannot be called.")
    return inspect.signature(func)


def _name(func: Any) -> str:
    return getattr(func, "__qualname__", repr(func))
