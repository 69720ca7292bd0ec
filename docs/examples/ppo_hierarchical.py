"""Two levels of control in one file: a policy moves joints, a network moves muscles.

    python docs/examples/ppo_hierarchical.py --num-envs 16 --iterations 300

Each world is a process of its own, and steps on the CPU with a copy of the muscle
network. Here, on a GPU if there is one, the policy learns by proximal policy
optimisation, and then the muscle network by regression on what the policy's joints
asked of the muscles. Its weights go back to the worlds before the next rollout.
"""

import argparse
import os
import time
from functools import partial
from typing import Any

# Processes give the parallelism; more threads in each would only be in their way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from gymnasium.spaces import flatdim
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from torch import nn

from mjlab.muscle import (
    MuscleLearner,
    MuscleLearnerCfg,
    MuscleNetwork,
    TorqueMap,
    TupleLayout,
)
from mjlab.tasks.muscle.single import make_muscle_env

EPOCHS, BATCHES = 4, 8
GAMMA, LAMBDA, CLIP, RATE = 0.99, 0.95, 0.2, 3e-4


def mlp(inputs: int, outputs: int) -> nn.Sequential:
    """A network of two hidden layers."""
    layers = [nn.Linear(inputs, 256), nn.ELU(), nn.Linear(256, 256), nn.ELU()]
    return nn.Sequential(*layers, nn.Linear(256, outputs))


class Agent(nn.Module):
    """Actor and critic."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.critic, self.actor = mlp(inputs, 1), mlp(inputs, actions)
        self.log_std = nn.Parameter(torch.full((actions,), -0.7))

    def policy(self, seen: torch.Tensor) -> torch.distributions.Independent:
        """What it may do."""
        normal = torch.distributions.Normal(self.actor(seen), self.log_std.exp())
        return torch.distributions.Independent(normal, 1)

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        """What it expects of the rest of the episode."""
        return self.critic(seen).squeeze(-1)


def make_envs(task: str, num_envs: int, steps: int, seed: int) -> AsyncVectorEnv:
    """Worlds in processes that are started afresh, and so know no GPU of ours."""
    make = partial(make_muscle_env, task, kept_steps=steps)
    return AsyncVectorEnv(
        [partial(make, seed=seed + world) for world in range(num_envs)],
        context="spawn",
        autoreset_mode=AutoresetMode.SAME_STEP,
    )


def make_learner(envs: AsyncVectorEnv, device: torch.device) -> MuscleLearner:
    """What fits the muscle network, on the device where everything learns."""
    muscles, *_ = envs.call("get_muscle_map")
    return MuscleLearner(
        MuscleNetwork.for_map(muscles).to(device),
        TorqueMap(muscles, device),
        TupleLayout.for_map(muscles),
        MuscleLearnerCfg(batch_size=512),
    )


def last_seen(info: dict[str, Any], seen: np.ndarray) -> np.ndarray:
    """What worlds saw before they began anew; as it is where none did."""
    if "final_obs" not in info:
        return seen
    pairs = zip(seen, info["final_obs"], strict=True)
    return np.stack([a if b is None else b for a, b in pairs])


def roll_out(
    envs: AsyncVectorEnv, agent: Agent, seen: np.ndarray, steps: int
) -> tuple[list[tuple[torch.Tensor, ...]], np.ndarray]:
    """Act; return what happened in each step, and what is seen then."""
    device, rollout = agent.log_std.device, []

    def on_device(array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array, dtype=torch.float32, device=device)

    for _ in range(steps):
        now = on_device(seen)
        with torch.no_grad():
            policy = agent.policy(now)
            action = policy.sample()
            log_prob, value = policy.log_prob(action), agent.value(now)
            seen, *outcome, info = envs.step(action.cpu().numpy())
            reward, ended, cut = map(on_device, outcome)
            rest = agent.value(on_device(last_seen(info, seen))) * (1.0 - ended)
        gain = reward + GAMMA * rest - value
        goes_on = 1.0 - torch.maximum(ended, cut)
        rollout.append((now, action, log_prob, value, gain, goes_on, reward))
    return rollout, seen


def improve(
    agent: Agent,
    optimizer: torch.optim.Optimizer,
    rollout: list[tuple[torch.Tensor, ...]],
) -> None:
    """One iteration of proximal policy optimisation."""
    advantage, advantages = torch.zeros_like(rollout[0][3]), []
    for *_, gain, goes_on, _ in reversed(rollout):
        advantage = gain + GAMMA * LAMBDA * goes_on * advantage
        advantages.insert(0, advantage)
    columns = list(zip(*rollout, strict=True))[:4]
    obs, actions, old, values = (torch.cat(column) for column in columns)
    all_advantages = torch.cat(advantages)
    targets = all_advantages + values
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(obs), device=obs.device).chunk(BATCHES):
            ratio = (agent.policy(obs[rows]).log_prob(actions[rows]) - old[rows]).exp()
            scale = all_advantages[rows]
            scale = (scale - scale.mean()) / (scale.std() + 1e-8)
            clipped = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
            gained = torch.minimum(ratio * scale, clipped * scale).mean()
            error = (agent.value(obs[rows]) - targets[rows]).square().mean()
            optimizer.zero_grad()
            (0.5 * error - gained).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def train(
    task: str, num_envs: int, steps: int, iterations: int, seed: int
) -> list[dict[str, float]]:
    """Train both levels; return figures of each iteration."""
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    envs = make_envs(task, num_envs, steps, seed)
    try:
        spaces = envs.single_observation_space, envs.single_action_space
        agent = Agent(*map(flatdim, spaces)).to(device)
        optimizer = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
        learner = make_learner(envs, device)
        envs.call("update_muscle_weights", learner.get_state_dict())
        seen, _ = envs.reset(seed=seed)
        figures: list[dict[str, float]] = []
        for iteration in range(iterations):
            times = [time.perf_counter()]
            rollout, seen = roll_out(envs, agent, seen, steps)
            times.append(time.perf_counter())
            improve(agent, optimizer, rollout)
            rows = np.concatenate(envs.call("get_muscle_tuples"))
            found = learner.learn(torch.as_tensor(rows))
            times.append(time.perf_counter())
            envs.call("update_muscle_weights", learner.get_state_dict())
            times.append(time.perf_counter())
            acted, learned, published = np.diff(times)
            reward = float(torch.stack([step[-1] for step in rollout]).mean())
            figures.append(
                {
                    "reward": reward,
                    "muscle_loss": found["loss"],
                    "tuples": float(len(rows)),
                    "rollout_s": acted,
                    "learn_s": learned,
                    "publish_s": published,
                }
            )
            line = "  ".join(f"{name} {n:.4g}" for name, n in figures[-1].items())
            print(f"{iteration + 1}/{iterations}  {line}", flush=True)
        return figures
    finally:
        envs.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Muscle-Walk-W18")
    parser.add_argument("--num-envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    train(args.task, args.num_envs, args.steps, args.iterations, args.seed)
