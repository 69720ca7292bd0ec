"""RSL-RL's PPO on the classic cartpole, for the learning study."""

import contextlib
import io
import time
from typing import Any

import torch
from rsl_rl.algorithms import PPO
from tensordict import TensorDict

from bench.study.curves import Policy
from mjlab.rl import CategoricalCfg, MlpModelCfg, PpoAgentCfg, PpoCfg
from mjlab.rl.learners import to_rsl_rl
from mjlab.rl.vecenv import BatchVecEnv
from mjlab.tasks.cartpole.classic import ClassicCartpoleCfg, KernelCartpoles

HORIZON = 32
"""Steps of each world per rollout."""

EPOCHS = 4
FIXED = 4
"""Number of minibatches per epoch, for any number of worlds."""

SIZE = 256
"""Size of a minibatch, if the number of minibatches grows with the number of worlds."""


def minibatches(num_envs: int, *, scaled: bool) -> int:
    """Return the number of minibatches per epoch; equal in both arms at 32 worlds."""
    return max(1, num_envs * HORIZON // SIZE) if scaled else FIXED


class PpoLearner:
    """PPO with a constant learning rate, so that arms differ only in minibatches.

    All transitions of a rollout form one batch, divided into minibatches.
    """

    def __init__(self, num_envs: int, seed: int, *, scaled: bool) -> None:
        torch.manual_seed(seed)
        cfg = PpoAgentCfg(
            num_steps_per_env=HORIZON,
            obs_groups={"actor": ("policy",), "critic": ("policy",)},
            actor=MlpModelCfg(
                hidden_dims=(64, 64),
                activation="tanh",
                distribution_cfg=CategoricalCfg(),
            ),
            critic=MlpModelCfg(hidden_dims=(64, 64), activation="tanh"),
            algorithm=PpoCfg(
                num_learning_epochs=EPOCHS,
                num_mini_batches=minibatches(num_envs, scaled=scaled),
                learning_rate=5e-4,
                schedule="fixed",
                use_clipped_value_loss=False,
                value_loss_coef=0.5,
                entropy_coef=0.005,
                max_grad_norm=0.5,
            ),
        )
        worlds = KernelCartpoles(ClassicCartpoleCfg(num_envs=num_envs, seed=seed))
        self._worlds = BatchVecEnv(worlds)
        options: Any = to_rsl_rl(cfg) | {"multi_gpu": None}
        with contextlib.redirect_stdout(io.StringIO()):  # RSL-RL prints its networks.
            self._ppo: PPO = PPO.construct_algorithm(
                self._worlds.get_observations(), self._worlds, options, "cpu"
            )
        self._ppo.train_mode()
        self._steps = EPOCHS * cfg.algorithm.num_mini_batches
        self.samples = 0
        self.updates = 0
        self.policy: Policy = _Actor(self._ppo)

    def advance(self) -> float:
        """Collect a rollout, and learn from it."""
        start = time.perf_counter()
        ppo, worlds = self._ppo, self._worlds
        with torch.no_grad():
            observations = worlds.get_observations()
            for _ in range(HORIZON):
                actions = ppo.act(observations)
                observations, reward, dones, extras = worlds.step(actions)
                ppo.process_env_step(observations, reward, dones, extras)
            ppo.compute_returns(observations)
        ppo.update()
        self.samples += HORIZON * worlds.num_envs
        self.updates += self._steps
        return time.perf_counter() - start

    def close(self) -> None:
        """Do nothing: the tensors own all resources."""


class _Actor:
    """Policy that returns the most likely action."""

    def __init__(self, ppo: PPO) -> None:
        self._ppo = ppo

    def begin(self, num_envs: int) -> None:
        """Do nothing: there is no state."""

    def __call__(self, observations: torch.Tensor) -> torch.Tensor:
        """Actions, shape (num_envs,)."""
        seen = TensorDict({"policy": observations}, batch_size=[len(observations)])
        return self._ppo.actor(seen).argmax(dim=-1)
