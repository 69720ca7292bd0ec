"""What a term may read of the environment that it belongs to."""

from typing import TYPE_CHECKING, Protocol

import torch

from mjlab.managers.log import EpisodeLog
from mjlab.rng import WorldRng
from mjlab.scene import Scene
from mjlab.sim import Simulation

if TYPE_CHECKING:
    from mjlab.managers.action import ActionManager
    from mjlab.managers.command import CommandManager
    from mjlab.managers.curriculum import CurriculumManager
    from mjlab.managers.event import EventManager
    from mjlab.managers.metrics import MetricsManager
    from mjlab.managers.observation import ObservationManager
    from mjlab.managers.outcome import OutcomeManager
    from mjlab.managers.reward import RewardManager
    from mjlab.managers.termination import TerminationManager


class Env(Protocol):
    """The environment, as its terms see it.

    Managers are built in the order event, command, action, observation, termination,
    reward, curriculum, metrics, outcome; a term that is built with one of them finds
    those before it.
    """

    @property
    def num_envs(self) -> int:
        """Number of worlds."""
        ...

    @property
    def device(self) -> torch.device:
        """Where all tensors live."""
        ...

    @property
    def sim(self) -> Simulation:
        """Physics."""
        ...

    @property
    def scene(self) -> Scene:
        """Entities, sensors and ground."""
        ...

    @property
    def rng(self) -> WorldRng:
        """Random numbers of the worlds.

        A draw names its stream, such as "event/push_root". The environment moves every
        world's counter on once a step, and once more when a world is reset, so the
        same stream gives new numbers then, and only then.
        """
        ...

    @property
    def physics_dt(self) -> float:
        """Duration of a physics step, s."""
        ...

    @property
    def step_dt(self) -> float:
        """Duration of a step of the environment, s."""
        ...

    @property
    def max_episode_length_s(self) -> float:
        """Duration of an episode that nothing ends before its time, s."""
        ...

    @property
    def max_episode_length(self) -> int:
        """Steps of an episode that nothing ends before its time."""
        ...

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since each world was reset, shape (num_envs,), int64."""
        ...

    @property
    def common_step_counter(self) -> torch.Tensor:
        """Steps since the environment was built, shape (), int64."""
        ...

    @property
    def episode_log(self) -> EpisodeLog:
        """Figures of episodes that ended."""
        ...

    @property
    def action_manager(self) -> "ActionManager":
        """Actions and their history."""
        ...

    @property
    def observation_manager(self) -> "ObservationManager":
        """Groups of observations."""
        ...

    @property
    def reward_manager(self) -> "RewardManager":
        """Rewards and their sums."""
        ...

    @property
    def termination_manager(self) -> "TerminationManager":
        """Which worlds ended, and why."""
        ...

    @property
    def command_manager(self) -> "CommandManager":
        """Goals."""
        ...

    @property
    def event_manager(self) -> "EventManager":
        """What happens to worlds at start, reset, and in between."""
        ...

    @property
    def curriculum_manager(self) -> "CurriculumManager":
        """What changes while training."""
        ...

    @property
    def metrics_manager(self) -> "MetricsManager":
        """Figures of episodes that are not rewards."""
        ...

    @property
    def outcome_manager(self) -> "OutcomeManager":
        """Which worlds succeed and which fail."""
        ...

    def get_state_rows(self) -> dict[str, torch.Tensor]:
        """All that the future depends on, with a row for each world, as copies."""
        ...
