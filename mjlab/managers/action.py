"""Action terms, and the manager that splits the policy's action among them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import Manager, TermError, TermObject, bind_each
from mjlab.settings import Config


class ActionTarget(NamedTuple):
    """Joint, tendon or site that an action term sets, and which quantity is set."""

    entity: str
    """Name of the entity."""

    kind: str
    """Kind of element: "joint", "tendon" or "site"."""

    name: str
    """Name of the element within the entity."""

    quantity: str
    """Quantity that is set, such as "joint_pos"."""


class ActionTermCfg(Config, ABC):
    """Configuration of an action term."""

    entity_name: str = "robot"
    """Name of the controlled entity."""

    share_targets: bool = False
    """Allow another term to set a different quantity of the same joint, tendon or site,
    such as an effort in addition to a position. Two terms can never set the same
    quantity."""

    @abstractmethod
    def bind(self, name: str, env: Env) -> "ActionTerm":
        """Create the term for one environment.

        Args:
            name: Key of the term in the configuration.
            env: The environment.
        """


class ActionTerm(TermObject, ABC):
    """Action term, bound to an environment.

    `process_actions` runs once per environment step, `apply_actions` before every
    physics step. An entity's targets persist until they are written again, so a term
    whose targets are constant within a step writes them in `process_actions` and does
    not override `apply_actions`. Tensors of a term are updated in place.
    """

    def __init__(self, name: str, cfg: ActionTermCfg, env: Env) -> None:
        super().__init__(env)
        self.name = name
        self.cfg = cfg

    @property
    @abstractmethod
    def action_dim(self) -> int:
        """Dimension of the term's part of the action."""

    @property
    @abstractmethod
    def targets(self) -> tuple[ActionTarget, ...]:
        """Quantities that the term sets, for the detection of conflicting terms."""

    @property
    def raw_action(self) -> torch.Tensor:
        """The term's part of the last action, shape (num_envs, action_dim), live."""
        return self._env.action_manager.part(self.name)

    @abstractmethod
    def process_actions(self, actions: torch.Tensor) -> None:
        """Process the action of an environment step, shape (num_envs, action_dim).

        A NaN in a world's action must propagate to the targets of that world.
        """

    def apply_actions(self) -> None:
        """Update the targets before a physics step. Does nothing by default."""
        return

    def apply_late(self) -> None:
        """Update the targets within each physics step, for terms that override this.

        Called after the velocity stage of the physics step, so that tendon lengths,
        moment arms and other results of this stage are current. Explicit tendon
        actuators use the new targets in the same physics step, other actuators in the
        next one.
        """
        return


class ActionManager(Manager[ActionTerm]):
    """Manager of the action terms: divides the action, and stores the last three.

    The action is the concatenation of the terms' parts, in configuration order.
    """

    kind = "action"

    def __init__(self, cfg: Mapping[str, ActionTermCfg | None], env: Env) -> None:
        terms = bind_each(cfg, self.kind, lambda name, term: term.bind(name, env))
        super().__init__(terms, env)
        _check_targets(self.terms)
        dims = [term.action_dim for term in self.terms.values()]
        self.total_action_dim: int = sum(dims)
        """Dimension of the whole action."""
        size = (3, env.num_envs, self.total_action_dim)
        self._history = torch.zeros(size, device=env.device)
        self.incoming = torch.zeros(size[1:], device=env.device)
        """Action of the next step, shape (num_envs, total_action_dim)."""
        self.action = self._history[0]
        """Last action as the policy returned it, shape (num_envs, dim). Infinite values
        are stored as NaN. Zero after a reset."""
        self.prev_action = self._history[1]
        """Action of the step before `action`, same shape."""
        self.prev_prev_action = self._history[2]
        """Action of the step before `prev_action`, same shape."""
        self.nonfinite = torch.zeros(env.num_envs, dtype=torch.int64, device=env.device)
        """Number of non-finite actions per world, shape (num_envs,)."""
        parts = self.action.split(dims, dim=1) if dims else ()
        self._parts = dict(zip(self.terms, parts, strict=True))
        self.late_terms = [
            term
            for term in self.terms.values()
            if type(term).apply_late is not ActionTerm.apply_late
        ]
        """Terms that override `apply_late`."""

    @property
    def action_term_dim(self) -> list[int]:
        """Dimension of each term's part of the action."""
        return [term.action_dim for term in self.terms.values()]

    get_term = Manager[ActionTerm].term

    def part(self, name: str) -> torch.Tensor:
        """Return a term's part of the last action, (num_envs, action_dim), live."""
        self.term(name)
        return self._parts[name]

    def check(self, action: torch.Tensor) -> None:
        """Raise unless `action` has the shape, type and device of the action.

        Values are not checked, because that would synchronise with the device.
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
                f"{tuple(self.action.shape)}: {self._env.num_envs} environments; "
                f"dimensions by term: {terms or 'no action terms'}."
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
        """Check the action of the next step, and copy its values to `incoming`.

        The copy is detached, because steps are not differentiable.
        """
        self.check(action)
        self.incoming.copy_(action.detach())

    def process_action(self, action: torch.Tensor) -> None:
        """Process the action of a step, shape (num_envs, total_action_dim), float32.

        `take` must have checked the action. Non-finite actions are counted and replaced
        by NaN. Clipping does not remove a NaN, so it reaches the state, and the world
        is detected as diverged and reset.
        """
        recent = torch.cat((action.unsqueeze(0), self._history[:2]))
        # x + 0 * x equals x if x is finite, and is NaN otherwise.
        torch.add(recent, recent, alpha=0.0, out=self._history)
        self.nonfinite.add_(self.action.isnan().any(dim=1))
        for name, term in self.terms.items():
            term.process_actions(self._parts[name])

    def apply_action(self) -> None:
        """Run `apply_actions` of all terms, before a physics step."""
        for term in self.terms.values():
            term.apply_actions()

    def apply_late(self) -> None:
        """Run `apply_late` of the terms that override it, within a physics step."""
        for term in self.late_terms:
            term.apply_late()

    def reset(self, mask: torch.Tensor) -> None:
        self._history.masked_fill_(mask.view(1, -1, 1), 0.0)
        super().reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Return the number of non-finite actions since the last call.

        Synchronises with the device.
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
        """Draw the debug visualisation of all terms."""
        for term in self.terms.values():
            term.debug_vis(visualizer)


def _check_targets(terms: Mapping[str, ActionTerm]) -> None:
    """Raise if two terms set the same element, unless `share_targets` allows it."""
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
    """Raise unless one of the terms has `share_targets` and the quantities differ."""
    same_quantity = target.quantity == other.quantity
    if (one.cfg.share_targets or two.cfg.share_targets) and not same_quantity:
        return
    remedy = "." if same_quantity else ", or set share_targets=True."
    raise TermError(
        f"Action terms {one.name!r} and {two.name!r} both act on the {target.kind} "
        f"{target.name!r} of {target.entity!r}: one sets its {target.quantity}, the "
        f"other its {other.quantity}. Make their patterns disjoint{remedy}"
    )
