"""Interface of the environment that terms use."""

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
from mjlab.managers.term import BoundTerm, label_of
from mjlab.managers.termination import TerminationManager


class Managers(NamedTuple):
    """All managers, in the order in which they are reset."""

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
        """Return all terms declared by a function or class with parameters."""
        found = [term for manager in self for term in manager.terms.values()]
        return [term for term in found if isinstance(term, BoundTerm)]

    def with_ids(self) -> list[str]:
        """Return the labels of terms that take world indices instead of a mask."""
        terms = self.bound_terms()
        found = [term.label for term in terms if term.needs_ids or term.resets_ids]
        commands = self.command.terms.items()
        return found + [label_of("command", n) for n, t in commands if t.needs_ids]


class ManagedEnv(Env, Protocol):
    """The environment with its managers.

    Managers are built in the order event, command, action, observation, termination,
    reward, curriculum, metrics, outcome, recorder. The constructor of a term can use
    the managers built before its own.
    """

    step_counts: torch.Tensor
    """Tensor with `episode_length_buf`, then `common_step_counter`, (num_envs + 1,).
    A step adds 1 to all elements."""

    @property
    def action_manager(self) -> ActionManager:
        """Action terms and the action history."""
        ...

    observation_manager: ObservationManager
    """Observation groups."""

    reward_manager: RewardManager
    """Reward terms and their episode sums."""

    termination_manager: TerminationManager
    """Termination terms."""

    command_manager: CommandManager
    """Command terms."""

    event_manager: EventManager
    """Event terms."""

    curriculum_manager: CurriculumManager
    """Curriculum terms."""

    metrics_manager: MetricsManager
    """Metrics, which do not affect the reward."""

    outcome_manager: OutcomeManager
    """Outcomes: success and failure of episodes."""

    managers: Managers
    """All managers, in the order in which they are reset."""

    recorder_manager: RecorderManager
    """Recorder terms, which record episodes."""

    def get_state_rows(self) -> dict[str, torch.Tensor]:
        """Copy the complete state of the environment, with one row per world."""
        ...
