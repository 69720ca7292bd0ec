"""Behaviour cloning: supervised learning of the actions of a recording."""

import copy
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from rsl_rl.utils import resolve_class, resolve_obs_groups, resolve_optimizer
from tensordict import TensorDict

from mjlab.names import suggest
from mjlab.recording.config import RecordingError
from mjlab.recording.reader import RecordedEpisode, Recording

if TYPE_CHECKING:
    from mjlab.managers import ObservationManager

_SETTLED = 10**9
"""Sample count of the observation statistics.

It is large, so that PPO that starts from the cloned policy hardly changes the
statistics. The policy is tuned to the statistics, and would fail if they changed fast.
"""


class Cloning:
    """Learns the actions of a recording.

    The worlds are not used for learning; their metrics show the performance of the
    policy.
    """

    def __init__(
        self,
        actor: Any,
        demonstrations: TensorDict,
        *,
        device: str,
        batch_size: int,
        num_updates_per_iteration: int,
        learning_rate: float,
        max_grad_norm: float | None,
        optimizer: str,
    ) -> None:
        """Store a network and its training data.

        Args:
            actor: The policy.
            demonstrations: Observations by group, and "actions", one row per step.
            device: Training device.
            batch_size: Samples per gradient step.
            num_updates_per_iteration: Gradient steps per iteration.
            learning_rate: Step size.
            max_grad_norm: Maximum norm of gradients. None does not clip.
            optimizer: Name of RSL-RL's optimiser.
        """
        self.actor = actor
        """The policy."""
        self.optimizer = resolve_optimizer(optimizer)(  # type: ignore
            actor.parameters(), lr=learning_rate
        )
        self._demonstrations = demonstrations.to(device)
        self._batch_size = batch_size
        self._num_updates = num_updates_per_iteration
        self._max_grad_norm = max_grad_norm
        # The data set is complete, so its statistics are final.
        actor.update_normalization(self._demonstrations["observations"])
        if actor.obs_normalization:
            actor.obs_normalizer.count.fill_(_SETTLED)

    @staticmethod
    def construct_algorithm(
        obs: TensorDict, env: Any, cfg: dict[str, Any], device: str
    ) -> "Cloning":
        """Build the policy and read the recording, as RSL-RL's builders do."""
        build, options = resolve_class(cfg["algorithm"])
        network, arguments = resolve_class(cfg["actor"])
        groups = resolve_obs_groups(obs, cfg["obs_groups"], ["actor"])
        actor = network(obs, groups, "actor", env.num_actions, **arguments).to(device)
        path = Path(options.pop("demonstrations"))
        shapes = {name: obs[name].shape[1:] for name in groups["actor"]}
        rows = read_demonstrations(path, shapes, env.num_actions)
        shuffled, terms = options.pop("shuffled_terms"), env.terms.observation_manager
        _shuffle(rows["observations"], shuffled, terms)
        return build(actor, rows, device=device, **options)

    def get_policy(self) -> Any:
        """Return the policy."""
        return self.actor

    def act(self, obs: TensorDict) -> torch.Tensor:
        """Return the policy's actions, with noise."""
        return self.actor(obs, stochastic_output=True).detach()

    def process_env_step(
        self,
        obs: TensorDict,
        rewards: torch.Tensor,
        dones: torch.Tensor,
        extras: dict[str, Any],
    ) -> None:
        """Reset the hidden states of finished episodes."""
        self.actor.reset(dones)

    def compute_returns(self, obs: TensorDict) -> None:
        """Do nothing: rewards are not used."""

    def update(self) -> dict[str, float]:
        """Train on batches of the recording; return the mean loss."""
        total = torch.zeros((), device=self._demonstrations.device)
        for _ in range(self._num_updates):
            rows = torch.randint(
                len(self._demonstrations), (self._batch_size,), device=total.device
            )
            batch = self._demonstrations[rows]
            actions = self.actor(batch["observations"])
            loss = torch.nn.functional.mse_loss(actions, batch["actions"])
            self.optimizer.zero_grad()
            loss.backward()
            if self._max_grad_norm:
                torch.nn.utils.clip_grad_norm_(
                    self.actor.parameters(), self._max_grad_norm
                )
            self.optimizer.step()
            total += loss.detach()
        return {"behavior": float(total) / self._num_updates}

    def train_mode(self) -> None:
        """Set the policy to training mode."""
        self.actor.train()

    def save(self) -> dict[str, Any]:
        """Return the states of network and optimiser."""
        return {
            "actor_state_dict": self.actor.state_dict(),
            "optimizer_state_dict": self.optimizer.state_dict(),
        }

    def load(
        self, loaded_dict: dict[str, Any], load_cfg: dict[str, Any] | None, strict: bool
    ) -> None:
        """Restore the states that `save` returned."""
        self.actor.load_state_dict(loaded_dict["actor_state_dict"], strict=strict)
        self.optimizer.load_state_dict(
            copy.deepcopy(loaded_dict["optimizer_state_dict"])
        )


def read_demonstrations(
    path: Path, shapes: dict[str, torch.Size], num_actions: int
) -> TensorDict:
    """Return all steps of a recording: "observations" by group, and "actions".

    Args:
        path: The recording.
        shapes: Shape of one world's observation, by group to read.
        num_actions: Size of an action.

    Raises:
        RecordingError: If it has no episodes, or their shapes differ.
    """
    with Recording(path) as recording:
        own = recording.env_kwargs.get("groups") or "actor"
        steps = [_steps(episode, shapes, num_actions, own) for episode in recording]
    if not steps:
        raise RecordingError(f"{path} has no episodes to learn from.")
    found = TensorDict.cat(steps)
    assert isinstance(found, TensorDict)
    return found


def _shuffle(
    seen: TensorDict, names: Sequence[str], manager: "ObservationManager"
) -> None:
    """Permute observation terms across steps, in place."""
    for group, terms in manager.active_terms.items():
        sizes = [math.prod(shape) for shape in manager.group_obs_term_dim[group]]
        ends = list(itertools.accumulate(sizes))
        for term, size, end in zip(terms, sizes, ends, strict=True):
            if group in seen.keys() and term in names:
                own = slice(end - size, end)
                other = torch.randperm(len(seen))
                seen[group][:, own] = seen[group][other][:, own]


def _steps(
    episode: RecordedEpisode, shapes: dict[str, torch.Size], num_actions: int, own: Any
) -> TensorDict:
    """Return the steps of an episode: observations with the actions taken from them."""
    actions = episode.read_tree("actions")
    if isinstance(actions, dict):
        parts = [part for part in actions.values() if isinstance(part, torch.Tensor)]
        actions = torch.cat(parts, dim=1)
    count = episode.length
    if actions.shape != (count, num_actions):
        raise RecordingError(
            f"{episode} has actions of shape {tuple(actions.shape)}; the task needs "
            f"shape {(count, num_actions)}."
        )
    seen = {}
    for group, shape in shapes.items():
        # A single group is recorded without its name.
        path = f"obs/{group}" if f"obs/{group}" in episode else "obs"
        if path not in episode.names or (path == "obs" and group != own):
            known = [n.removeprefix("obs/") for n in episode.names if n != "obs"]
            raise RecordingError(
                f"{episode} has no observations {group!r}. {suggest(group, known)} "
                "replay.py --save writes a recording with the observations of the task."
            )
        values = episode.read(path)[:count]
        if values.shape[1:] != shape:
            raise RecordingError(
                f"{episode}: {path!r} has shape {tuple(values.shape[1:])}; the task's "
                f"observation group {group!r} has shape {tuple(shape)}."
            )
        seen[group] = values
    observations = TensorDict(seen, batch_size=[count])
    rows = {"observations": observations, "actions": actions.float()}
    return TensorDict(rows, batch_size=[count])
