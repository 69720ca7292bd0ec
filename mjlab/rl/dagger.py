"""Imitation of a teacher with all that has been seen: DAgger, Ross et al. 2011.

RSL-RL's distillation learns from the present rollout and forgets it. Here rollouts
add up, so that a student needs fewer steps of the worlds, which are what costs.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from rsl_rl.algorithms import Distillation
from rsl_rl.models import CNNModel
from tensordict import TensorDict
from torch import nn


def seen_by(model: nn.Module) -> list[str]:
    """Return the groups of observations that a model sees, images among them."""
    images = model.obs_groups_2d if isinstance(model, CNNModel) else []
    return [*model.obs_groups, *images]  # type: ignore


def learn_from(
    batch: TensorDict,
    policy: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    max_grad_norm: float | None,
    reduce: Callable[[], None] = lambda: None,
) -> torch.Tensor:
    """Move a policy towards the actions of a batch; return the loss, shape ().

    Args:
        batch: "observations" by group, and "actions".
        policy: The network.
        optimizer: Of its weights.
        loss_fn: Distance between actions.
        max_grad_norm: Norm that gradients are clipped to. None leaves them.
        reduce: Averages gradients with those of other processes.
    """
    loss = loss_fn(policy(batch["observations"]), batch["actions"])
    optimizer.zero_grad()
    loss.backward()
    reduce()
    if max_grad_norm:
        nn.utils.clip_grad_norm_(policy.parameters(), max_grad_norm)
    optimizer.step()
    return loss.detach()


class Dagger(Distillation):
    """Learns what the teacher would have done, where teacher and student have been.

    Some worlds are the teacher's, so that the student sees early how a task ends.
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
        """Begin with nothing seen.

        Args:
            *args: As of RSL-RL's distillation.
            capacity: Steps of worlds that are kept, the newest ones.
            batch_size: Steps in an update.
            num_updates_per_iteration: Updates after each rollout.
            teacher_share: Share of the worlds in which the teacher acts.
            half_life: Steps of worlds in which the learning rate falls to a half.
            **kwargs: As of RSL-RL's distillation.
        """
        super().__init__(*args, **kwargs)
        self._capacity = capacity
        self._batch_size = batch_size
        self._num_updates = num_updates_per_iteration
        self._teacher_share = teacher_share
        self._half_life = half_life or math.inf
        self._first_rate: float = self.learning_rate
        self._seen: TensorDict | None = None
        self._added = 0

    def act(self, obs: TensorDict) -> torch.Tensor:
        """Return the teacher's actions in the first worlds, then the student's."""
        actions = super().act(obs)
        taught = round(self._teacher_share * actions.shape[0])
        actions[:taught] = self.transition.privileged_actions[:taught]  # type: ignore
        return actions

    def update(self) -> dict[str, float]:
        """Learn from batches of all that has been seen; return the mean loss."""
        self._keep()
        assert self._seen is not None
        filled = min(self._added, self._capacity)
        self.learning_rate = self._first_rate * 0.5 ** (self._added / self._half_life)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        total = torch.zeros((), device=self.device)
        for _ in range(self._num_updates):
            rows = torch.randint(filled, (self._batch_size,), device=self.device)
            total += learn_from(
                self._seen[rows],
                self.student,
                self.optimizer,
                self.loss_fn,
                self.max_grad_norm,
                self.reduce_parameters if self.is_multi_gpu else lambda: None,
            )
        self.num_updates += 1
        self.student.update_normalization(self.storage.observations.flatten(0, 1))  # type: ignore
        self.storage.clear()
        return {"behavior": float(total) / self._num_updates}

    def _keep(self) -> None:
        """Write the rollout over what has been kept longest."""
        observations = self.storage.observations.flatten(0, 1)
        actions = self.storage.privileged_actions.flatten(0, 1)
        count = actions.shape[0]
        new = TensorDict(
            {
                "observations": observations.select(*seen_by(self.student)),
                "actions": actions,
            },
            batch_size=[count],
        )
        if self._seen is None:
            self._seen = new.new_zeros(torch.Size([self._capacity]))
        places = torch.arange(self._added, self._added + count, device=self.device)
        assert self._seen is not None
        self._seen[places % self._capacity] = new
        self._added += count

    def load(
        self, loaded_dict: dict[str, Any], load_cfg: dict[str, Any] | None, strict: bool
    ) -> bool:
        """Load networks and optimiser, of a teacher with weights or without."""
        if loaded_dict.get("teacher_state_dict") == {}:
            # RSL-RL 5.5.1 takes a teacher without weights for one that is not there.
            wanted = ("student", "teacher", "optimizer", "iteration")
            load_cfg = load_cfg or dict.fromkeys(wanted, True)
            loaded_dict = {**loaded_dict, "actor_state_dict": {}}
        return super().load(loaded_dict, load_cfg, strict)

    def memory(self) -> dict[str, Any]:
        """Return what has been seen, and how much that ever was."""
        if self._seen is None:
            return {"added": 0}
        filled = self._seen[: min(self._added, self._capacity)]
        observations = {
            name: kept.clone() for name, kept in filled["observations"].items()
        }
        actions = filled["actions"].clone()
        return {"added": self._added, "observations": observations, "actions": actions}

    def load_memory(self, state: dict[str, Any]) -> None:
        """Go on with what `memory` returned."""
        self._added, self._seen = state["added"], None
        if self._added:
            count = state["actions"].shape[0]
            groups = TensorDict(state["observations"], batch_size=[count])
            rows = {"observations": groups, "actions": state["actions"]}
            kept = TensorDict(rows, batch_size=[count])
            seen = kept.new_zeros(torch.Size([self._capacity]))
            assert isinstance(seen, TensorDict)
            seen[:count] = kept
            self._seen = seen
