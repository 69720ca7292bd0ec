"""State in and out: the whole of it as a snapshot, or what entities do as numbers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from mjlab.envs.snapshot import is_per_world, restore_state, take_state
from mjlab.envs.state_dict import (
    StateDict,
    state_dict_tensors,
    write_state_dict,
)

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


class StateAccess(ABC):
    """Getting and setting state; `ManagerBasedRlEnv` inherits it."""

    @property
    @abstractmethod
    def unwrapped(self) -> "ManagerBasedRlEnv":
        """The environment itself."""

    def get_state(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, as copies."""
        return take_state(self.unwrapped)

    def get_state_rows(self) -> dict[str, torch.Tensor]:
        """The state with a row for each world, by the names of `get_state`, as copies.

        What worlds share is in every row. A row is all that a world's future depends
        on, and can go on in any world of the same task.
        """
        n = self.unwrapped.num_envs
        return {
            name: value
            if is_per_world(name, value, n)
            else value.expand(n, *value.shape).clone()
            for name, value in self.get_state().items()
        }

    def set_state(
        self, state: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Continue as if from the moment of `get_state`, bit for bit on the CPU.

        In the middle of a reset or a step by hand (`env.lifecycle`) this starts over,
        if it is for all worlds; with a mask it is an error there.

        Args:
            state: What `get_state` returned.
            mask: The worlds, shape (num_envs,), bool; no bit of the others changes, and
                what worlds share stays as it is (the step counter, the log, curricula).
                None means all.
        """
        env = self.unwrapped
        if mask is not None:
            env.lifecycle.check_at_rest("set_state")
            mask = env.sim.check_mask(mask)
        restore_state(env, state, mask)
        env.lifecycle.abandon()
        env.program.unsettle()

    def get_state_dict(self) -> dict[str, StateDict]:
        """Root and joints of every entity: {"entities": {name: rows}}, as copies.

        A row is position 3, quaternion wxyz 4, linear and angular velocity 3 each, all
        of the root link in the world, then the joints' positions and velocities. See
        `mjlab.envs.state_dict` for the whole layout.
        """
        return {"entities": state_dict_tensors(self.unwrapped)}

    def set_state_dict(
        self, state: Mapping[str, Any], mask: torch.Tensor | None = None
    ) -> None:
        """Write root and joints of entities, and make derived quantities current.

        What `get_state_dict` leaves out stays as it is: episodes go on, and nobody is
        observed. Like any write to the state, this may stand between the phases of a
        reset or a step by hand, and the next phase is still due.

        Args:
            state: What `get_state_dict` returned, or the tensors by entity without
                "entities" around them. Entities may be left out.
            mask: The worlds to write, shape (num_envs,), bool; the others are left as
                they are. None means all.
        """
        env = self.unwrapped
        mask = env._everyone if mask is None else env.sim.check_mask(mask)
        with env.sim.reads.thaw(), env.sim.reads.before_forward():
            write_state_dict(env, state, mask)
        env.sim.forward()
        env.scene.refresh()
        env.program.settle()
