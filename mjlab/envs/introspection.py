"""What can be asked of an environment beside stepping it."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mjlab.envs.profile import Profile, profile
from mjlab.envs.report import describe
from mjlab.envs.spaces import Box, Dict, action_space, observation_space
from mjlab.managers import BoundTerm

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


class Introspection(ABC):
    """Spaces, tables, costs and drawings; `ManagerBasedRlEnv` inherits it."""

    @property
    @abstractmethod
    def unwrapped(self) -> "ManagerBasedRlEnv":
        """The environment itself."""

    @property
    def mode(self) -> str:
        """How a step runs: "fused", "segmented" or "eager"."""
        return self.unwrapped.program.mode

    @property
    def mode_reason(self) -> str:
        """Why a step runs so."""
        return self.unwrapped.program.reason

    def bound_terms(self) -> list[BoundTerm]:
        """All terms that are functions or classes with parameters."""
        managers = self.unwrapped.managers()
        found = [term for manager in managers for term in manager.terms.values()]
        return [term for term in found if isinstance(term, BoundTerm)]

    def terms_with_ids(self) -> list[str]:
        """Terms that take indices of worlds, which reads a mask back to the host."""
        return [term.label for term in self.bound_terms() if term.needs_ids]

    def profile(self, steps: int = 20) -> Profile:
        """What each verb of the engine and each term costs, over some steps."""
        return profile(self.unwrapped, steps)

    @property
    def single_observation_space(self) -> Dict:
        """What one world observes, by group."""
        return observation_space(self.unwrapped)

    @property
    def single_action_space(self) -> Box:
        """The action that one world takes."""
        return action_space(self.unwrapped)

    @property
    def observation_space(self) -> Dict:
        """What all worlds observe, by group."""
        return self.single_observation_space.batch(self.unwrapped.num_envs)

    @property
    def action_space(self) -> Box:
        """The action that all worlds take."""
        return self.single_action_space.batch(self.unwrapped.num_envs)

    def debug_vis(self, visualizer: Any) -> None:
        """Have terms and sensors draw what they have to show.

        Args:
            visualizer: A viewer's collection of arrows, spheres and frames.
        """
        env = self.unwrapped
        env.action_manager.debug_vis(visualizer)
        env.command_manager.debug_vis(visualizer)
        for term in self.bound_terms():
            if term.instance is not None:
                term.instance.debug_vis(visualizer)
        for sensor in env.scene.sensors.values():
            sensor.debug_vis(visualizer)

    def __str__(self) -> str:
        return describe(self.unwrapped)
