"""Resets that copy states made before, where making them takes long."""

from mjlab.envs import CachedInitialStates
from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.worlds import ManagedWorlds
from mjlab.gym.wrapper import TensorEnv, TensorWrapper


class CachedReset(TensorWrapper):
    """Has episodes begin from states that were made before.

    When it is built, it resets all rows `num_resets` times and keeps what the reset
    events wrote. From then on these events do not happen: a row that is reset, in
    whichever mode and by whomever, begins from one of its own states, drawn by its own
    random numbers. Commands, noise and delays are drawn as always.
    """

    def __init__(self, env: TensorEnv, num_resets: int = 16) -> None:
        """Make the states.

        Args:
            env: The environment, of managers.
            num_resets: States for each row.
        """
        super().__init__(env)
        base = env.unwrapped
        assert isinstance(base, TorchVectorEnv), "Below all wrappers is such a form."
        if not isinstance(base.worlds, ManagedWorlds):
            raise TypeError(
                "CachedReset needs an environment of managers, whose reset events it "
                f"replaces, and these worlds are {type(base.worlds).__name__}."
            )
        managed = base.worlds.env
        self.cache = CachedInitialStates(
            managed.program, managed.state, managed.cfg.events, num_resets
        )
        """The states."""
        managed.use_initial_states(self.cache)
