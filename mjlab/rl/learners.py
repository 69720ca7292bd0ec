"""Learner: an algorithm built from its configuration, with its complete state."""

import contextlib
import copy
import dataclasses
import io
import logging
from typing import Any

import torch
from rsl_rl.algorithms import PPO, Distillation
from rsl_rl.utils import resolve_callable
from tensordict import TensorDict
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import Observations
from mjlab.rl.algorithms.amp import transitions
from mjlab.rl.algorithms.cloning import Cloning
from mjlab.rl.algorithms.config import ScheduleCfg, StyleCfg
from mjlab.rl.algorithms.critics import MAIN, STYLE
from mjlab.rl.algorithms.dagger import Dagger
from mjlab.rl.algorithms.ppo import Ppo
from mjlab.rl.checkpoint import AVERAGED, policy_weights
from mjlab.rl.config import (
    AgentCfg,
    CloningAgentCfg,
    DistillationAgentCfg,
    PpoAgentCfg,
)
from mjlab.rl.distributed import Ranks
from mjlab.rl.models.config import PartCfg
from mjlab.rl.models.estimating import EstimatingModel
from mjlab.rl.vecenv import RslRlVecEnv, terms_of, to_tensordict

_log = logging.getLogger(__name__)

_SMALLEST_RATE = 1e-5
"""Smallest learning rate of RSL-RL's adaptive schedule."""


def to_rsl_rl(cfg: AgentCfg, env: ManagerBasedRlEnv | None = None) -> dict[str, Any]:
    """Convert a learner to RSL-RL's configuration dictionary, with class names.

    Args:
        cfg: The learner.
        env: The environment, from which some parts take arguments. None if there is no
            manager-based environment; such parts then raise an error.
    """
    part_names = ("algorithm", *network_names(cfg))
    options = {name: _part(getattr(cfg, name), env) for name in part_names} | {
        "num_steps_per_env": cfg.num_steps_per_env,
        "obs_groups": {name: list(groups) for name, groups in cfg.obs_groups.items()},
        "torch_compile_mode": cfg.torch_compile_mode,
    }
    if isinstance(cfg, PpoAgentCfg) and cfg.critics:
        _add_critics(options, cfg, env)
    return options


def _add_critics(
    options: dict[str, Any], cfg: PpoAgentCfg, env: ManagerBasedRlEnv | None
) -> None:
    """Replace the critic by several ones, and assign the rewards to them."""
    if env is None:
        raise ValueError("agent.critics needs an environment with named reward terms.")
    options["critic"] = {
        "class_name": "mjlab.rl.models.critics:Critics",
        "names": [MAIN, *cfg.critics],
        "model": options["critic"],
    }
    options["algorithm"]["critics"] = _part(cfg.critics, env)
    options["algorithm"]["reward_terms"] = list(env.reward_manager.active_terms)


def _style(cfg: PpoAgentCfg, style: StyleCfg, env: ManagerBasedRlEnv) -> dict[str, Any]:
    """Return the arguments of the style reward, with the transitions of the clips."""
    if not env.cfg.final_obs:
        raise ValueError(
            "agent.style needs the terminal observations of episodes: set "
            "env.final_obs=True."
        )
    if STYLE in env.reward_manager.active_terms:
        raise ValueError(
            f"The environment has a reward term named {STYLE!r}, which is the name of "
            "the reward of agent.style: rename the term."
        )
    groups = cfg.obs_groups[STYLE]
    clips = style.clip_features(env, groups)
    # Fields of a subclass only describe its clips.
    names = [field.name for field in dataclasses.fields(StyleCfg)]
    return {
        **{name: getattr(style, name) for name in names},
        "clips": torch.cat([transitions(one[:-1], one[1:]) for one in clips]),
        "groups": groups,
        "step_dt": env.step_dt if env.cfg.scale_rewards_by_dt else 1.0,
    }


def network_names(cfg: AgentCfg) -> tuple[str, ...]:
    """Return the fields of `cfg` that hold networks, the acting policy first."""
    if isinstance(cfg, PpoAgentCfg):
        return ("actor", "critic")
    if isinstance(cfg, DistillationAgentCfg):
        return ("student", "teacher")
    if isinstance(cfg, CloningAgentCfg):
        return ("actor",)
    raise TypeError(
        f"agent is a {type(cfg).__name__}; it has to be a PpoAgentCfg, a "
        "DistillationAgentCfg or a CloningAgentCfg, or a subclass of one."
    )


def _part(cfg: Any, env: ManagerBasedRlEnv | None) -> Any:
    """Return a configuration as RSL-RL's arguments; None keeps RSL-RL's default."""
    if isinstance(cfg, dict):
        return {key: _part(value, env) for key, value in cfg.items()}
    if not dataclasses.is_dataclass(cfg):
        return cfg
    names = [field.name for field in dataclasses.fields(cfg)]
    fields = {name: _part(getattr(cfg, name), env) for name in names}
    given = {name: value for name, value in fields.items() if value is not None}
    if isinstance(cfg, PartCfg):
        given["class_name"] = cfg.class_name
        given |= {} if env is None else cfg.bound(env)
    if isinstance(cfg, ScheduleCfg):
        given["mode"] = cfg.mode
    return given


class Learner:
    """An algorithm of RSL-RL, with its complete state."""

    def __init__(self, env: RslRlVecEnv, cfg: AgentCfg, ranks: Ranks) -> None:
        """Build networks, storage and optimiser, with the first rank's weights."""
        self._names = network_names(cfg)
        self.critic_first = 0
        """Number of first iterations in which only the critic learns. Updates with an
        untrained critic would ruin a trained policy."""
        options = to_rsl_rl(cfg, terms_of(env.unwrapped))
        if isinstance(cfg, PpoAgentCfg) and cfg.style is not None:
            style = _style(cfg, cfg.style, terms_of(env.unwrapped))
            options["algorithm"]["style"] = style
        options["multi_gpu"] = None
        if not ranks.is_alone:
            options["multi_gpu"] = {
                "global_rank": ranks.index,
                "local_rank": ranks.local,
                "world_size": ranks.world,
            }
        build: Any = resolve_callable(options["algorithm"]["class_name"])
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.algorithm: PPO | Distillation | Cloning = build.construct_algorithm(
                env.get_observations(), env, options, str(env.device)
            )
        _log.debug("%s", said.getvalue())
        self.networks_text = said.getvalue()
        """RSL-RL's printed summary of the networks."""
        self.inference = InferencePolicy(self.policy, clip=cfg.clip_actions)
        """A copy of the policy for use without exploration."""
        self.algorithm.train_mode()
        if not ranks.is_alone:
            self.algorithm.broadcast_parameters()
        self._average: AveragedModel | None = None
        if cfg.average_decay is not None:
            average = get_ema_multi_avg_fn(cfg.average_decay)
            self._average = AveragedModel(self.policy, multi_avg_fn=average)

    @property
    def policy(self) -> torch.nn.Module:
        """The acting network, live."""
        return self.algorithm.get_policy()

    @property
    def averaged_policy(self) -> torch.nn.Module:
        """The network to evaluate, averaged if `average_decay` is set."""
        if self._average is None or not self._average.n_averaged:
            return self.policy
        return self._average.module

    @property
    def action_std(self) -> torch.Tensor:
        """Mean standard deviation of the last sampled actions, shape ()."""
        return self.algorithm.get_policy().output_std.detach().mean()

    @property
    def learning_rate(self) -> float:
        """Current learning rate."""
        return float(self.algorithm.optimizer.param_groups[0]["lr"])

    def set_learning_rate(self, rate: float) -> None:
        """Set the learning rate; an adaptive schedule continues from it."""
        if isinstance(self.algorithm, PPO | Distillation):
            self.algorithm.learning_rate = rate
        for group in self.algorithm.optimizer.param_groups:
            group["lr"] = rate

    def update(self, iteration: int) -> dict[str, float]:
        """Learn from the rollout; return the losses.

        Args:
            iteration: Finished iterations.
        """
        losses = self._update(iteration)
        if self._average is not None:
            self._average.update_parameters(self.policy)
        return losses

    def _update(self, iteration: int) -> dict[str, float]:
        algorithm = self.algorithm
        if iteration >= self.critic_first or not isinstance(algorithm, Ppo):
            return algorithm.update()
        losses = algorithm.update_critic()
        # The adaptive schedule corrects the rate only after a step, so the first step
        # of a policy with little noise would be too large.
        if iteration + 1 == self.critic_first and algorithm.schedule == "adaptive":
            self.set_learning_rate(_SMALLEST_RATE)
        return losses

    def load_teacher(self, model: dict[str, Any]) -> None:
        """Load the teacher's weights from a checkpoint, as `load_model` returns it."""
        assert isinstance(self.algorithm, Distillation)
        state = dict(model["learner"]["algorithm"])
        if "actor_state_dict" in state:
            state["actor_state_dict"] = policy_weights(model, "actor")
        self.algorithm.load(state, {"teacher": True}, strict=True)
        student = self.algorithm.student
        if isinstance(student, EstimatingModel):
            student.start_from(self.algorithm.teacher)

    def shared_state(self) -> dict[str, Any]:
        """Return the state shared by all processes."""
        state: dict[str, Any] = {
            "algorithm": self.algorithm.save(),
            "critic_first": self.critic_first,
        }
        if self.averaged_policy is not self.policy:
            state[AVERAGED] = self.averaged_policy.state_dict()
        if isinstance(self.algorithm, PPO) and self.algorithm.rnd is not None:
            state["rnd_steps"] = self.algorithm.rnd.update_counter
        return state

    def load_shared_state(
        self, state: dict[str, Any], *, optimizer: bool = True
    ) -> None:
        """Restore networks, normalisers and optimiser.

        Args:
            state: Result of `shared_state`.
            optimizer: Whether to restore the optimiser; if False, it stays as built.
        """
        built = copy.deepcopy(self.algorithm.optimizer.state_dict())
        rate = self.learning_rate
        self.algorithm.load(state["algorithm"], None, strict=True)
        if not optimizer:
            self.algorithm.optimizer.load_state_dict(built)
            self.set_learning_rate(rate)
        self.critic_first = state["critic_first"]
        # Without a saved average, the average starts with the next update.
        if self._average is not None and AVERAGED in state:
            self._average.module.load_state_dict(state[AVERAGED])
            self._average.n_averaged.fill_(1)
        if isinstance(self.algorithm, PPO) and self.algorithm.rnd is not None:
            self.algorithm.rnd.update_counter = state["rnd_steps"]

    def own_state(self) -> dict[str, Any]:
        """Return the state of this process: hidden states, RND, replay buffer."""
        algorithm = self.algorithm
        state: dict[str, Any] = {
            "hidden": {name: _copied(self._hidden(name)) for name in self._names}
        }
        if isinstance(algorithm, Distillation):
            state["last_hidden"] = _copied(algorithm.last_hidden_states)
        if isinstance(algorithm, Dagger):
            state["memory"] = algorithm.memory()
        if isinstance(algorithm, Ppo) and algorithm.prior is not None:
            state["style"] = algorithm.prior.replay.state()
        average = self._curiosity_average()
        if average is not None:
            state["curiosity"] = _copied(average.avg)
        return state

    def load_own_state(self, state: dict[str, Any]) -> None:
        """Restore the state of this process's worlds."""
        algorithm = self.algorithm
        for name in self._names:
            network = getattr(algorithm, name)
            network.reset(hidden_state=state["hidden"][name])
        if isinstance(algorithm, Distillation):
            algorithm.last_hidden_states = state["last_hidden"]
        if isinstance(algorithm, Dagger):
            algorithm.load_memory(state["memory"])
        if isinstance(algorithm, Ppo) and algorithm.prior is not None:
            algorithm.prior.replay.load_state(state["style"])
        average = self._curiosity_average()
        if average is not None:
            average.avg = state["curiosity"]

    def _hidden(self, name: str) -> Any:
        return getattr(self.algorithm, name).get_hidden_state()

    def _curiosity_average(self) -> Any:
        """Return RND's discounted reward sum, if used for normalisation."""
        rnd = self.algorithm.rnd if isinstance(self.algorithm, PPO) else None
        if rnd is None or not rnd.reward_normalization:
            return None
        return rnd.reward_normalizer.disc_avg


class InferencePolicy:
    """A copy of a policy for acting without exploration, with its own hidden state."""

    def __init__(self, policy: torch.nn.Module, *, clip: float | None = None) -> None:
        """Copy the policy.

        Args:
            policy: The network.
            clip: Bound for clipping the absolute value of actions. None disables it.
        """
        # During training, the original holds graph tensors, which cannot be copied.
        self._policy: Any = copy.deepcopy(policy).eval()
        self._device = next(policy.parameters()).device
        self._clip = clip

    def follow(self, policy: torch.nn.Module) -> None:
        """Copy the weights of `policy`, and reset all hidden states."""
        self._policy.load_state_dict(policy.state_dict())
        self._policy.reset()

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Reset the hidden states of the worlds in `dones`, or of all worlds."""
        self._policy.reset(None if dones is None else dones.to(self._device))

    def __call__(self, observations: Observations | TensorDict, /) -> torch.Tensor:
        """Return the most likely actions, shape (num_envs, num_actions)."""
        seen = to_tensordict(observations)
        with torch.no_grad():
            # A policy on a GPU can act in worlds on the CPU.
            actions = self._policy(seen.to(self._device)).to(seen.device)
        if self._clip is None:
            return actions
        return actions.clamp(-self._clip, self._clip)


def _copied(value: Any) -> Any:
    """Return a detached copy of a tensor or of a tuple of tensors."""
    if isinstance(value, tuple):
        return tuple(_copied(item) for item in value)
    return value if value is None else value.detach().clone()
