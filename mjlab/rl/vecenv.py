"""Training environments and their wrappers for RSL-RL."""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict

from mjlab.envs import Discrete, ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Worlds
from mjlab.managers import Observations
from mjlab.names import UnknownNameError, suggest


class EpisodeSums(Protocol):
    """Metrics of finished episodes."""

    keys: list[str]
    """Names of the metrics."""

    def drain(self) -> torch.Tensor:
        """Return sums over the episodes since the last call, then their number."""
        ...


class RemoteEnv(Worlds, Protocol):
    """Worlds stepped by other processes; for the methods see `ManagerBasedRlEnv`."""

    cfg: ManagerBasedRlEnvCfg
    seed: int
    sample: ManagerBasedRlEnv
    """Environment with the same terms, for queries such as names and shapes of terms.
    It is not stepped."""

    @property
    def reward_terms(self) -> torch.Tensor:
        """Contribution of each term to the last reward, shape (num_envs, terms)."""
        ...

    @property
    def episode_log(self) -> EpisodeSums:
        """Metrics of finished episodes, over all worlds."""
        ...

    def get_state(self) -> dict[str, torch.Tensor]:
        """Return copies of the complete state."""
        ...

    def set_state(self, state: dict[str, torch.Tensor]) -> None:
        """Restore the state that `get_state` returned."""
        ...

    def take_log(self) -> dict[str, float]:
        """Return means over episodes since the last call, and health counters."""
        ...

    def startup_lines(self) -> list[str]:
        """Return the lines of the start-up report."""
        ...

    def health(self) -> tuple[int, int]:
        """Return the counts of non-finite values and of overflows."""
        ...

    def begin_share(self) -> None:
        """Start counting world steps for `max_nonfinite_share`."""
        ...

    def begin_rollout(self) -> None:
        """Let the processes load the data that the learner published to terms."""
        ...


TrainingEnv = ManagerBasedRlEnv | RemoteEnv
"""Worlds that a training loop can step."""


def terms_of(env: TrainingEnv) -> ManagerBasedRlEnv:
    """Return an environment for queries about terms: `env`, or its sample if remote."""
    return env if isinstance(env, ManagerBasedRlEnv) else env.sample


Env = TypeVar("Env", bound=TrainingEnv)


class StepLog(MutableMapping[str, torch.Tensor]):
    """Metrics of a step, for RSL-RL's own runner, which averages them over steps.

    Episode metrics are present in steps in which episodes ended, once per episode;
    curriculum values are always present. Values are read from the device on access,
    which that runner does once per iteration.
    """

    def __init__(
        self, means: Mapping[str, torch.Tensor], ended: torch.Tensor, env: TrainingEnv
    ) -> None:
        """Store the inputs of the metrics.

        Args:
            means: Means over the episodes that ended in the step, by name.
            ended: True for worlds whose episode ended, shape (num_envs,), bool.
            env: The worlds.
        """
        self._means, self._ended, self._env = means, ended, env

    @cached_property
    def _figures(self) -> dict[str, torch.Tensor]:
        figures, count = {}, int(self._ended.sum())
        if count:
            figures = {name: mean.expand(count) for name, mean in self._means.items()}
        if isinstance(self._env, ManagerBasedRlEnv):
            figures |= self._env.curriculum_manager.log_values()
        return figures

    def __getitem__(self, name: str) -> torch.Tensor:
        return self._figures[name]

    def __setitem__(self, name: str, value: torch.Tensor) -> None:
        self._figures[name] = value

    def __delitem__(self, name: str) -> None:
        del self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)


class RslRlVecEnv(VecEnv, Generic[Env]):
    """Wrapper of an environment for RSL-RL.

    Observations are a TensorDict by group. A group whose terms are not concatenated has
    one entry per term, named "group/term". Returned tensors are never modified later,
    so a learner can keep them.
    """

    def __init__(
        self,
        env: Env,
        *,
        groups: Iterable[str] | None = None,
        clip_actions: float | None = None,
        splits_rewards: bool = False,
    ) -> None:
        """Reset the worlds.

        Args:
            env: The environment.
            groups: Observation groups of the learner; only these are stored. None
                selects all groups.
            clip_actions: Bound for clipping the absolute value of actions. None
                disables clipping.
            splits_rewards: Whether steps also return the reward of each term.
        """
        self.env = env
        self._splits_rewards = splits_rewards
        self.num_envs = env.num_envs
        self.num_actions = terms_of(env).action_manager.total_action_dim
        self.max_episode_length = env.max_episode_length
        self.device = env.device
        self.cfg = env.cfg
        self._clip = clip_actions
        self._bootstraps = not env.cfg.is_finite_horizon
        self._groups = None if groups is None else tuple(dict.fromkeys(groups))
        self._observations = self._seen(env.reset()[0])

    @property
    def unwrapped(self) -> Env:
        """The wrapped environment."""
        return self.env

    @property
    def terms(self) -> ManagerBasedRlEnv:
        """Environment for queries about terms; see `terms_of`."""
        return terms_of(self.env)

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since each world was reset, shape (num_envs,), int64, live."""
        return self.env.episode_length_buf

    @episode_length_buf.setter
    def episode_length_buf(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, value: torch.Tensor
    ) -> None:
        self.env.episode_length_buf.copy_(value)

    def get_observations(self) -> TensorDict:
        """Return the last observations, without side effects."""
        return self._observations

    def step(
        self, actions: torch.Tensor
    ) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Step all worlds.

        Args:
            actions: Shape (num_envs, num_actions), float32.

        Returns:
            Observations, reward, whether an episode ended, and extras: "log", a
            `StepLog`; "time_outs", true where learners bootstrap from the value of the
            last state; with `splits_rewards` "reward_terms", the contribution of each
            term, shape (num_envs, terms); and with `env.final_obs` "final_obs", the
            terminal observations, valid in worlds whose episode ended.
        """
        if self._clip is not None:
            actions = actions.clamp(-self._clip, self._clip)
        observations, reward, terminated, truncated, extras = self.env.step(actions)
        self._observations = self._seen(observations)
        dones = terminated | truncated
        info: dict[str, Any] = {"log": StepLog(extras["log"], dones, self.env)}
        if self._bootstraps:
            # If the episode also terminated, there is no value to bootstrap from.
            info["time_outs"] = truncated & ~terminated
        if self._splits_rewards:
            info["reward_terms"] = self._reward_terms()
        if "final_obs" in extras:
            info["final_obs"] = self._seen(extras["final_obs"])
        return self._observations, reward, dones, info

    def _reward_terms(self) -> torch.Tensor:
        env = self.env
        if isinstance(env, ManagerBasedRlEnv):
            return env.reward_manager.contributions.clone()
        return env.reward_terms

    def begin_rollout(self) -> TensorDict:
        """Begin a rollout: workers act with the newest weights from now on.

        Returns:
            The last observations.
        """
        if not isinstance(self.env, ManagerBasedRlEnv):
            self.env.begin_rollout()
        return self._observations

    def reset(self, *, seed: int | None = None) -> TensorDict:
        """Start new episodes in all worlds."""
        self._observations = self._seen(self.env.reset(seed=seed)[0])
        return self._observations

    def randomize_episode_lengths(self) -> None:
        """Set each world to a random time of its episode."""
        lengths = torch.randint(self.env.max_episode_length, (self.num_envs,))
        self.env.episode_length_buf.copy_(lengths)

    def state(self) -> dict[str, dict[str, torch.Tensor]]:
        """Return copies of the complete state."""
        names = [str(name) for name in self._observations.keys()]
        seen = {name: self._observations[name].clone() for name in names}
        return {"env": self.env.get_state(), "observations": seen}

    def load_state(self, state: dict[str, dict[str, torch.Tensor]]) -> None:
        """Restore the state that `state` returned."""
        self.env.set_state(state["env"])
        seen = state["observations"].items()
        self._observations = to_tensordict({n: t.to(self.device) for n, t in seen})

    def _seen(self, observations: Observations) -> TensorDict:
        return to_tensordict(observations, self._groups)


class BatchVecEnv(VecEnv):
    """Wrapper for RSL-RL of worlds with a single observation tensor.

    The only observation group is "policy". Discrete actions are one-hot rows, as
    sampled by `CategoricalCfg`; the index of the largest number is used.
    """

    def __init__(self, env: Worlds, *, bootstraps: bool = True) -> None:
        """Start new episodes.

        Args:
            env: The worlds. Finished episodes are reset in the same step.
            bootstraps: Whether learners bootstrap the value after a time-out.
        """
        env.choose_resets("same_step")
        space = env.single_action_space
        self.env = env
        self.num_envs = env.num_envs
        self.num_actions = space.n if isinstance(space, Discrete) else space.shape[0]
        self.max_episode_length = env.max_episode_length
        self.device = env.device
        self.cfg = {}
        self._chooses = isinstance(space, Discrete)
        self._bootstraps = bootstraps
        self.episode_length_buf = torch.zeros(
            env.num_envs, dtype=torch.int64, device=env.device
        )
        self._observations = to_tensordict({"policy": env.reset()[0]})

    def get_observations(self) -> TensorDict:
        """Return the last observations, without side effects."""
        return self._observations

    def step(
        self, actions: torch.Tensor
    ) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Step all worlds.

        Args:
            actions: Shape (num_envs, num_actions), float32.

        Returns:
            Observations, reward, whether an episode ended, and extras: "time_outs",
            true where learners bootstrap from the value of the last state.
        """
        if self._chooses:
            actions = actions.argmax(dim=-1)
        result = self.env.step(actions)
        dones = result.terminated | result.truncated
        self.episode_length_buf.add_(1).masked_fill_(dones, 0)
        self._observations = to_tensordict({"policy": result.observations})
        info: dict[str, Any] = {}
        if self._bootstraps:
            info["time_outs"] = result.truncated & ~result.terminated
        return self._observations, result.reward, dones, info


def to_tensordict(
    observations: Observations | TensorDict, groups: Iterable[str] | None = None
) -> TensorDict:
    """Convert observations to the input of networks.

    Args:
        observations: Tensors by group, or by group and term.
        groups: Entries to include, such as "actor" or "camera/image". None includes
            all.
    """
    if isinstance(observations, TensorDict):
        return observations
    flat: dict[str, torch.Tensor] = {}
    for group, value in observations.items():
        if isinstance(value, torch.Tensor):
            flat[group] = value
        else:
            flat |= {f"{group}/{name}": term for name, term in value.items()}
    for name in groups or ():
        if name not in flat:
            hint = suggest(name, list(flat))
            raise UnknownNameError(f"There is no observation group {name!r}. {hint}")
    if groups is not None:
        flat = {name: flat[name] for name in groups}
    first = next(iter(flat.values()))
    return TensorDict(flat, batch_size=[first.shape[0]], device=first.device)
