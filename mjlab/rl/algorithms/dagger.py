"""DAgger (Ross et al. 2011): imitation of a teacher on the states of the student.

RSL-RL's distillation learns from the current rollout only. DAgger aggregates rollouts
in a buffer, so the student needs fewer environment steps.
"""

import math
from typing import Any

import torch
from rsl_rl.algorithms import Distillation
from rsl_rl.models import CNNModel
from tensordict import TensorDict
from torch import nn

from mjlab.rl.models.estimating import EstimatingModel


class Dagger(Distillation):
    """Learns the teacher's actions in all states visited so far.

    The teacher acts in the first worlds, so that the student sees later parts of an
    episode early in training. The loss is the same as in RSL-RL's `Distillation`; an
    `EstimatingModel` has the error of its estimate as a second loss.
    """

    def __init__(
        self,
        *args: Any,
        capacity: int,
        batch_size: int,
        num_updates_per_iteration: int,
        teacher_share: float,
        half_life: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Start with an empty buffer.

        Args:
            *args: Arguments of RSL-RL's distillation.
            capacity: Size of the buffer, in steps of all worlds; the newest are kept.
            batch_size: Samples per gradient step.
            num_updates_per_iteration: Gradient steps after each rollout.
            teacher_share: Fraction of the worlds in which the teacher acts.
            half_life: Steps of all worlds after which the learning rate is halved. None
                keeps it constant.
            **kwargs: Arguments of RSL-RL's distillation.
        """
        super().__init__(*args, **kwargs)
        self._capacity = capacity
        self._batch_size = batch_size
        self._num_updates = num_updates_per_iteration
        self._teacher_share = teacher_share
        self._half_life = half_life or math.inf
        self._first_rate: float = self.learning_rate
        self._buffer: TensorDict | None = None
        self._added = 0

    def act(self, obs: TensorDict) -> torch.Tensor:
        """Return the teacher's actions in the first worlds, then the student's."""
        actions = super().act(obs)
        taught = round(self._teacher_share * actions.shape[0])
        actions[:taught] = self.transition.privileged_actions[:taught]  # type: ignore
        return actions

    def update(self) -> dict[str, float]:
        """Add the rollout to the buffer, and learn from it; return the mean loss."""
        buffer = self._store()
        filled = min(self._added, self._capacity)
        self.learning_rate = self._first_rate * 0.5 ** (self._added / self._half_life)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        totals: dict[str, torch.Tensor] = {}
        for _ in range(self._num_updates):
            rows = torch.randint(filled, (self._batch_size,), device=self.device)
            batch = buffer[rows]
            losses = self._losses(batch["observations"], batch["actions"])
            self.optimizer.zero_grad()
            torch.stack(list(losses.values())).sum().backward()
            if self.is_multi_gpu:
                self.reduce_parameters()
            if self.max_grad_norm:
                nn.utils.clip_grad_norm_(self.student.parameters(), self.max_grad_norm)
            self.optimizer.step()
            for name, loss in losses.items():
                totals[name] = totals.get(name, 0.0) + loss.detach()
        self.num_updates += 1
        self.student.update_normalization(self.storage.observations.flatten(0, 1))  # type: ignore
        self.storage.clear()
        return {
            name: float(total) / self._num_updates for name, total in totals.items()
        }

    def _losses(
        self, observations: TensorDict, actions: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """Return the losses by name; their sum is minimised."""
        student = self.student
        if not isinstance(student, EstimatingModel):
            return {"behavior": self.loss_fn(student(observations), actions)}
        estimate = student.estimate(observations)
        return {
            "behavior": self.loss_fn(student.act(observations, estimate), actions),
            "estimate": student.estimation_error(observations, estimate),
        }

    def _store(self) -> TensorDict:
        """Write the rollout over the oldest rows of the buffer; return the buffer."""
        observations = self.storage.observations.flatten(0, 1)
        actions = self.storage.privileged_actions.flatten(0, 1)
        seen: Any = self.student
        images = seen.obs_groups_2d if isinstance(seen, CNNModel) else []
        targets = [seen.estimated] if isinstance(seen, EstimatingModel) else []
        kept = observations.select(*seen.obs_groups, *images, *targets)
        count = actions.shape[0]
        new = TensorDict({"observations": kept, "actions": actions}, batch_size=[count])
        if self._buffer is None:
            self._buffer = _empty(new, self._capacity)
        places = torch.arange(self._added, self._added + count, device=self.device)
        self._buffer[places % self._capacity] = new
        self._added += count
        return self._buffer

    def load(
        self, loaded_dict: dict[str, Any], load_cfg: dict[str, Any] | None, strict: bool
    ) -> bool:
        """Load networks and optimiser, for teachers with and without weights."""
        if loaded_dict.get("teacher_state_dict") == {}:
            # A scripted teacher has no weights, which RSL-RL 5.5.1 treats as missing.
            # An entry for the actor avoids its error; `load_cfg` does not load it.
            wanted = ("student", "teacher", "optimizer", "iteration")
            load_cfg = load_cfg or dict.fromkeys(wanted, True)
            loaded_dict = {**loaded_dict, "actor_state_dict": {}}
        return super().load(loaded_dict, load_cfg, strict)

    def memory(self) -> dict[str, Any]:
        """Return the filled rows of the buffer, and the number of rows added so far."""
        if self._buffer is None:
            return {"added": 0}
        filled = self._buffer[: min(self._added, self._capacity)]
        observations = {
            name: kept.clone() for name, kept in filled["observations"].items()
        }
        actions = filled["actions"].clone()
        return {"added": self._added, "observations": observations, "actions": actions}

    def load_memory(self, state: dict[str, Any]) -> None:
        """Restore the buffer from `memory`."""
        self._added, self._buffer = state["added"], None
        if self._added:
            count = state["actions"].shape[0]
            groups = TensorDict(state["observations"], batch_size=[count])
            rows = {"observations": groups, "actions": state["actions"]}
            kept = TensorDict(rows, batch_size=[count])
            self._buffer = _empty(kept, self._capacity)
            self._buffer[:count] = kept


def _empty(rows: TensorDict, capacity: int) -> TensorDict:
    """Return a buffer of zeros for rows like these."""
    buffer = rows.new_zeros(torch.Size([capacity]))
    assert isinstance(buffer, TensorDict)
    return buffer


class ObservedActions(nn.Module):
    """A teacher without weights: its actions are observation groups."""

    is_recurrent = False

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
    ) -> None:
        """Check that the groups have the size of an action.

        Args:
            obs: Observations by group.
            obs_groups: Names of groups by network.
            obs_set: Name of this network.
            output_dim: Size of an action.
        """
        super().__init__()
        self.obs_groups = obs_groups[obs_set]
        found = sum(obs[group].shape[-1] for group in self.obs_groups)
        if found != output_dim:
            named = ", ".join(map(repr, self.obs_groups))
            raise ValueError(
                f"The {obs_set} outputs the observation groups {named}, which have "
                f"{found} numbers; an action has {output_dim}."
            )

    def forward(self, obs: TensorDict) -> torch.Tensor:
        """Return the actions, shape (num_envs, output_dim)."""
        return torch.cat([obs[group] for group in self.obs_groups], dim=-1)

    def reset(
        self, dones: torch.Tensor | None = None, hidden_state: Any = None
    ) -> None:
        """Do nothing: there is no hidden state."""

    def get_hidden_state(self) -> None:
        """Return None: there is no hidden state."""

    def detach_hidden_state(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: there is no hidden state."""
