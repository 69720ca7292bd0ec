"""Actions: what a policy puts out, and who acts on which part of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import Manager, TermError, TermObject, bind_each
from mjlab.settings import Config


class ActionTarget(NamedTuple):
    """One thing that an action moves."""

    entity: str
    """Name of the entity."""

    kind: str
    """Its kind, in the singular: "joint"."""

    name: str
    """Its name within the entity."""

    quantity: str
    """Its quantity that is set, such as "joint_pos"."""


class ActionTermCfg(Config, ABC):
    """Declares a part of the action."""

    entity_name: str = "robot"
    """The entity that is acted on."""

    share_targets: bool = False
    """Permission for another term to set another quantity of the same joint, tendon or
    site, such as an effort beside a position. No two can set the same quantity."""

    @abstractmethod
    def bind(self, name: str, env: Env) -> "ActionTerm":
        """Return the term of one environment.

        Args:
            name: The key that the user gave the term.
            env: The environment.
        """


class ActionTerm(TermObject, ABC):
    """A part of the action, bound to an environment.

    `process_actions` runs once a step of the environment, `apply_actions` before every
    physics step. Targets of an entity hold until they are written again, so a term
    whose targets do not move within a step writes them in `process_actions` and leaves
    `apply_actions` as it is. Tensors of a term are written in place.
    """

    def __init__(self, name: str, cfg: ActionTermCfg, env: Env) -> None:
        super().__init__(env)
        self.name = name
        self.cfg = cfg

    @property
    @abstractmethod
    def action_dim(self) -> int:
        """Numbers of the action that the term takes."""

    @property
    @abstractmethod
    def targets(self) -> tuple[ActionTarget, ...]:
        """All that the term moves, so that no two terms do by mistake."""

    @property
    def raw_action(self) -> torch.Tensor:
        """The term's part of the last action, shape (num_envs, action_dim), live."""
        return self._env.action_manager.part(self.name)

    @abstractmethod
    def process_actions(self, actions: torch.Tensor) -> None:
        """Take the action of a step, shape (num_envs, action_dim).

        What is not finite in it is NaN in all of that world's numbers that follow.
        """

    def apply_actions(self) -> None:
        """Act before a physics step. By default what `process_actions` set holds."""
        return

    def apply_late(self) -> None:
        """Act inside each physics step, for a term that overrides this method.

        Results of the velocity stage, such as lengths and moment arms of tendons, are
        those of this physics step. Explicit actuators of tendons act after it; other
        actuators follow the targets that it sets in the next physics step.
        """
        return


class ActionManager(Manager[ActionTerm]):
    """Deals the action out to its terms, and remembers the last three.

    The action is the terms' parts side by side, in the order of the configuration.
    """

    kind = "action"

    def __init__(self, cfg: Mapping[str, ActionTermCfg | None], env: Env) -> None:
        terms = bind_each(cfg, self.kind, lambda name, term: term.bind(name, env))
        super().__init__(terms, env)
        _check_targets(self.terms)
        dims = [term.action_dim for term in self.terms.values()]
        self.total_action_dim: int = sum(dims)
        """Numbers of the whole action."""
        size = (3, env.num_envs, self.total_action_dim)
        self._history = torch.zeros(size, device=env.device)
        self.incoming = torch.zeros(size[1:], device=env.device)
        """The action of the step that begins, shape (num_envs, dim)."""
        self.action = self._history[0]
        """The last action, as the policy put it out, shape (num_envs, dim). Where it
        was infinite, it is NaN. Zero after a reset."""
        self.prev_action = self._history[1]
        """The action before the last one."""
        self.prev_prev_action = self._history[2]
        """The action before that."""
        self.nonfinite = torch.zeros(env.num_envs, dtype=torch.int64, device=env.device)
        """Times that each world's action was not finite, shape (num_envs,)."""
        parts = self.action.split(dims, dim=1) if dims else ()
        self._parts = dict(zip(self.terms, parts, strict=True))
        self.late_terms = [
            term
            for term in self.terms.values()
            if type(term).apply_late is not ActionTerm.apply_late
        ]
        """Terms that act inside each physics step."""

    @property
    def action_term_dim(self) -> list[int]:
        """Numbers of the action that each term takes."""
        return [term.action_dim for term in self.terms.values()]

    get_term = Manager[ActionTerm].term

    def part(self, name: str) -> torch.Tensor:
        """Return a term's part of the last action, (num_envs, its dim), live."""
        self.term(name)
        return self._parts[name]

    def check(self, action: torch.Tensor) -> None:
        """Raise unless `action` has the shape, type and device of the action.

        Its values are not looked at, because that would wait for the device.
        """
        if not isinstance(action, torch.Tensor):
            raise TypeError(
                f"The action is a {type(action).__name__}; it has to be a tensor of "
                f"shape {tuple(self.action.shape)}."
            )
        if action.shape != self.action.shape:
            terms = ", ".join(
                f"{name!r} {term.action_dim}" for name, term in self.terms.items()
            )
            raise ValueError(
                f"The action has shape {tuple(action.shape)}; it has to be "
                f"{tuple(self.action.shape)}: {self._env.num_envs} worlds, and the "
                f"terms {terms or 'take nothing'}."
            )
        if action.dtype != self.action.dtype:
            raise TypeError(
                f"The action has type {action.dtype}; it has to be torch.float32."
            )
        if action.device != self.action.device:
            raise ValueError(
                f"The action is on {action.device}; it has to be on "
                f"{self.action.device}."
            )

    def take(self, action: torch.Tensor) -> None:
        """Check the action of the next step, and copy it to `incoming`.

        Its values are taken; no gradient goes through a step.
        """
        self.check(action)
        self.incoming.copy_(action.detach())

    def process_action(self, action: torch.Tensor) -> None:
        """Take the action of a step, shape (num_envs, total_action_dim), float32.

        `take` has checked it. An action that is not finite is counted. It goes on as
        NaN, through every clip, so that it reaches the state, where the world is found
        and reset.
        """
        recent = torch.cat((action.unsqueeze(0), self._history[:2]))
        # No times a number is zero where it is finite, and NaN elsewhere.
        torch.add(recent, recent, alpha=0.0, out=self._history)
        self.nonfinite.add_(self.action.isnan().any(dim=1))
        for name, term in self.terms.items():
            term.process_actions(self._parts[name])

    def apply_action(self) -> None:
        """Act before a physics step."""
        for term in self.terms.values():
            term.apply_actions()

    def apply_late(self) -> None:
        """Act inside a physics step."""
        for term in self.late_terms:
            term.apply_late()

    def reset(self, mask: torch.Tensor) -> None:
        self._history.masked_fill_(mask.view(1, -1, 1), 0.0)
        super().reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Count the actions that were not finite since the last call.

        This waits for the device.
        """
        count = int(self.nonfinite.sum())
        self.nonfinite.zero_()
        return {"action": count}

    def state(self) -> dict[str, torch.Tensor]:
        own = {
            "action": self.action,
            "prev_action": self.prev_action,
            "prev_prev_action": self.prev_prev_action,
            "nonfinite": self.nonfinite,
        }
        return own | super().state()

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (name, type(term).__name__, str(term.action_dim))
            for name, term in self.terms.items()
        ]

    def debug_vis(self, visualizer: Any) -> None:
        """Draw all terms that can be drawn."""
        for term in self.terms.values():
            term.debug_vis(visualizer)


def _check_targets(terms: Mapping[str, ActionTerm]) -> None:
    """Raise if two terms move one thing without saying so."""
    moved = [(term, target) for term in terms.values() for target in term.targets]
    by_thing: dict[tuple[str, ...], list[tuple[ActionTerm, ActionTarget]]] = {}
    for term, target in moved:
        same = by_thing.setdefault(target[:3], [])
        for other, others_target in same:
            _check_pair(other, others_target, term, target)
        same.append((term, target))


def _check_pair(
    one: ActionTerm, target: ActionTarget, two: ActionTerm, other: ActionTarget
) -> None:
    """Raise unless two terms that move one thing may do so."""
    same_quantity = target.quantity == other.quantity
    if (one.cfg.share_targets or two.cfg.share_targets) and not same_quantity:
        return
    remedy = "." if same_quantity else ", or set share_targets=True."
    raise TermError(
        f"Action terms {one.name!r} and {two.name!r} both act on the {target.kind} "
        f"{target.name!r} of {target.entity!r}, with its {target.quantity} and its "
        f"{other.quantity}. Make their patterns disjoint{remedy}"
    )
