"""Readable values of an environment, found in its objects.

A value is a public attribute or property of an object of this project that is reachable
from the environment, or a caching function.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any

import mujoco
import torch

from mjlab import views
from mjlab.envs import ManagerBasedRlEnv
from mjlab.settings import Config
from mjlab.viewer.marks import collect_marks
from tests.tools.cuda_twins import bits
from tests.tools.keepers import Keeper, place_of

Question = Callable[[], Any]

OURS = ("mjlab", "tests")
REFUSALS = (AttributeError, ValueError, NotImplementedError)
"""Errors of properties that do not exist in this configuration."""


def questions(env: ManagerBasedRlEnv, keepers: Iterable[Keeper]) -> dict[str, Question]:
    """Return the readable values of an environment between two steps, by path."""
    seen = views.of(env.scene)
    entity = next(iter(env.scene.entities))
    body = _body_with_joint(env)
    arguments = {
        "dt": 0.1,
        "name": entity,
        "first": body,
        "second": None,
        "quantity": "body_pos_w",
    }
    roots = {"env": env, "views": seen, "body": seen.body(body)}
    roots |= {f"view.{name}": seen.view(name) for name in env.scene.entities}
    walk = _Walk(keepers, arguments)
    for path, root in roots.items():
        walk.visit(root, path)
    return walk.found | {
        "print(env)": lambda: str(env).partition("\n\n")[2],
        "marks": lambda: _marks(env),
    }


def answers(asked: Mapping[str, Question]) -> dict[str, Any]:
    """Read the values; return their contents, bit for bit."""
    return {path: question() for path, question in asked.items()}


@contextmanager
def entered() -> Iterator[set[str]]:
    """Record functions of this project that run, as `module.Class.function`."""
    found: set[Any] = set()
    names: set[str] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield names
    finally:
        sys.setprofile(None)
        places = ((place_of(code.co_filename), code) for code in found)
        names |= {f"{place}.{code.co_qualname}" for place, code in places if place}


def _body_with_joint(env: ManagerBasedRlEnv) -> str:
    """Return the full name of a body with exactly one hinge or slide joint."""
    model = env.sim.mj_model
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    joints = (j for j in range(model.njnt) if int(model.jnt_type[j]) in kinds)
    bodies = (int(model.jnt_bodyid[joint]) for joint in joints)
    return next(model.body(b).name for b in bodies if model.body_jntnum[b] == 1)


def _marks(env: ManagerBasedRlEnv) -> str:
    marks = collect_marks(env, tuple(range(env.num_envs)))
    return repr((marks.arrows, marks.spheres))


class _Walk:
    """Traverses objects by public names."""

    def __init__(self, keepers: Iterable[Keeper], arguments: Mapping[str, Any]) -> None:
        self.found: dict[str, Question] = {}
        self._functions: dict[str, list[str]] = {}
        # Internal caches are not values.
        self._stores: set[str] = set()
        for keeper in keepers:
            self._functions.setdefault(keeper.owner, []).extend(keeper.callers)
            self._stores |= keeper.stores - {keeper.name}
        self._arguments = arguments
        self._seen: set[int] = set()
        # So that no new object reuses the id of another one.
        self._kept: list[Any] = []

    def visit(self, owner: Any, path: str) -> None:
        """Record all values of an object, and of the objects among them."""
        if id(owner) in self._seen:
            return
        self._seen.add(id(owner))
        self._kept.append(owner)
        for name in public_names(owner):
            if name in self._stores:
                continue
            question = partial(getattr, owner, name)
            self.found[f"{path}.{name}"] = partial(self._ask, question)
            try:
                first, again = question(), question()
            except REFUSALS:
                continue
            if first is again:  # Otherwise its contents are read each time.
                self._enter(first, f"{path}.{name}")
        for kind in type(owner).__mro__:
            place = f"{kind.__module__}.{kind.__qualname__}"
            for name in self._functions.get(place, ()):
                self._call(owner, name, f"{path}.{name}()")

    def _enter(self, value: Any, path: str) -> None:
        if is_ours(value):
            self.visit(value, path)
        elif isinstance(value, Mapping):
            for key, each in value.items():
                self._enter(each, f"{path}[{key}]")
        elif isinstance(value, list | tuple) and len(value) < 100:
            for index, each in enumerate(value):
                self._enter(each, f"{path}[{index}]")

    def _call(self, owner: Any, name: str, path: str) -> None:
        if not callable(getattr(type(owner), name)):  # It is a property.
            return
        function = getattr(owner, name)
        parameters = inspect.signature(function).parameters
        if set(parameters) <= set(self._arguments):
            given = {key: self._arguments[key] for key in parameters}
            self.found[path] = partial(self._ask, partial(function, **given))

    def _ask(self, question: Question, depth: int = 3) -> Any:
        try:
            return self._content(question(), depth)
        except REFUSALS as error:
            return type(error).__name__

    def _content(self, value: Any, depth: int) -> Any:
        """Return bits of tensors, and numbers; nothing for visited objects."""
        if isinstance(value, torch.Tensor):
            return bits(value)
        if isinstance(value, int | float):
            return value
        if depth == 0 or id(value) in self._seen:
            return None
        if isinstance(value, Mapping):
            return {str(k): self._content(v, depth - 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._content(each, depth - 1) for each in value]
        if is_ours(value):
            names = public_names(value)
            return [self._ask(partial(getattr, value, n), depth - 1) for n in names]
        return None


def is_ours(value: Any) -> bool:
    """Return whether a value is an object of this project to traverse."""
    is_leaf = isinstance(value, type | Config | torch.Tensor)
    return type(value).__module__.startswith(OURS) and not is_leaf


def public_names(owner: Any) -> list[str]:
    """Return the names of an object's attributes and properties."""
    names = [*getattr(owner, "__dict__", ())]
    for kind in type(owner).__mro__[:-1]:
        names += [name for name, value in vars(kind).items() if _computes(value)]
    return [n for n in dict.fromkeys(names) if not n.startswith("_")]


def _computes(value: Any) -> bool:
    """Return whether a class defines any kind of property."""
    is_method = isinstance(value, FunctionType | staticmethod | classmethod | type)
    return not is_method and getattr(type(value), "__get__", None) is not None
