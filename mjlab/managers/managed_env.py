"""The environment, as far as terms may read it."""

from typing import NamedTuple, Protocol

import torch

from mjlab.managers.action import ActionManager
from mjlab.managers.command import CommandManager
from mjlab.managers.curriculum import CurriculumManager
from mjlab.managers.env import Env
from mjlab.managers.event import EventManager
from mjlab.managers.metrics import MetricsManager, OutcomeManager
from mjlab.managers.observation import ObservationManager
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
        """Return all terms that are functions or classes with parameters."""
        found = [term for manager in self for term in manager.terms.values()]
        return [term for term in found if isinstance(term, BoundTerm)]


class ManagedEnv(Env, Protocol):
    """The environment with its managers.

    Managers are built in the order event, command, action, observation, termination,
    reward, curriculum, metrics, outcome, recorder; a term that is built with one of
    them finds those before it.
    """

    step_counts: torch.Tensor
    """`episode_length_buf`, and last `common_step_counter`: a step adds 1 to all."""

    @property
    def action_manager(self) -> ActionManager:
        """Actions and their history."""
        ...

    observation_manager: ObservationManager
    """Groups of observations."""

    reward_manager: RewardManager
    """Rewards and their sums."""

    termination_manager: TerminationManager
    """Ends of episodes, and their reasons."""

    command_manager: CommandManager
    """Goals."""

    event_manager: EventManager
    """Changes of worlds at start, reset, and in between."""

    curriculum_manager: CurriculumManager
    """Changes while training."""

    metrics_manager: MetricsManager
    """Figures of episodes that are not rewards."""

    outcome_manager: OutcomeManager
    """Successes and failures of worlds."""

    managers: Managers
    """All of them."""

    recorder_manager: RecorderManager
    """Episodes that are written down."""

    def get_state_rows(self) -> dict[str, torch.Tensor]:
        """Copy all that the future depends on, with a row for each world."""
        ...
