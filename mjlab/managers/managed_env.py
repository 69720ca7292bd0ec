"""What terms may read of the environment that they belong to."""

from typing import Any, NamedTuple, Protocol

import torch

from mjlab.managers.action import ActionManager
from mjlab.managers.command import CommandManager
from mjlab.managers.curriculum import CurriculumManager
from mjlab.managers.env import Env
from mjlab.managers.event import EventManager
from mjlab.managers.metrics import MetricsManager
from mjlab.managers.observation import ObservationManager
from mjlab.managers.outcome import OutcomeManager
from mjlab.managers.recorder import RecorderManager
from mjlab.managers.reward import RewardManager
from mjlab.managers.term import BoundTerm
from mjlab.managers.termination import TerminationManager


class Managers(NamedTuple):
    """All managers, in the order in which a reset reaches them."""

    observation: ObservationManager
    action: ActionManager
    reward: RewardManager
    metrics: MetricsManager
    outcome: OutcomeManager
    curriculum: CurriculumManager
    command: CommandManager
    event: EventManager
    termination: TerminationManager
    recorder: RecorderManager

    def bound_terms(self) -> list[BoundTerm]:
        """All terms that are functions or classes with parameters."""
        found = [term for manager in self for term in manager.terms.values()]
        return [term for term in found if isinstance(term, BoundTerm)]


def in_use(*managers: Any) -> tuple[Any, ...]:
    """Managers that have terms; the others take no part in steps and resets."""
    return tuple(manager for manager in managers if manager.terms)


class ManagedEnv(Env, Protocol):
    """The environment with its managers.

    Managers are built in the order event, command, action, observation, termination,
    reward, curriculum, metrics, outcome, recorder; a term that is built with one of
    them finds those before it.
    """

    @property
    def action_manager(self) -> ActionManager:
        """Actions and their history."""
        ...

    @property
    def observation_manager(self) -> ObservationManager:
        """Groups of observations."""
        ...

    @property
    def reward_manager(self) -> RewardManager:
        """Rewards and their sums."""
        ...

    @property
    def termination_manager(self) -> TerminationManager:
        """Which worlds ended, and why."""
        ...

    @property
    def command_manager(self) -> CommandManager:
        """Goals."""
        ...

    @property
    def event_manager(self) -> EventManager:
        """What happens to worlds at start, reset, and in between."""
        ...

    @property
    def curriculum_manager(self) -> CurriculumManager:
        """What changes while training."""
        ...

    @property
    def metrics_manager(self) -> MetricsManager:
        """Figures of episodes that are not rewards."""
        ...

    @property
    def outcome_manager(self) -> OutcomeManager:
        """Which worlds succeed and which fail."""
        ...

    @property
    def managers(self) -> Managers:
        """All of them."""
        ...

    @property
    def recorder_manager(self) -> RecorderManager:
        """Episodes that are written down."""
        ...

    def get_state_rows(self) -> dict[str, torch.Tensor]:
        """All that the future depends on, with a row for each world, as copies."""
        ...
