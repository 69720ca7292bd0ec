"""Proximal policy optimisation in one file, on Gymnasium's vector environment.

    python docs/examples/ppo.py                 # tensors on the device
    python docs/examples/ppo.py --form numpy    # NumPy arrays, as for other libraries

Only the environment and the chart come from this project. After a time-out, the value
of the terminal observation `final_obs` replaces the rest of the return. Takes about a
minute on two CPU cores; the learning curve is ppo.svg.
"""

import argparse
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn

import mjlab.gym  # noqa: F401  Registers the ids.
from mjlab.report.chart import Chart, ChartLine, svg

ENVS, STEPS, EPOCHS, BATCHES = 256, 32, 4, 4
STEP_S = 0.05  # Rewards are multiplied by the duration of a step.
GAMMA, LAMBDA, CLIP, RATE, REWARD_SCALE = 0.99, 0.95, 0.2, 1e-3, 20.0


def mlp(inputs: int, outputs: int) -> nn.Sequential:
    """A small network."""
    layers = [nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(64, outputs))


class Agent(nn.Module):
    """Actor and critic."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.critic, self.actor = mlp(inputs, 1), mlp(inputs, actions)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def policy(self, seen: torch.Tensor) -> torch.distributions.Independent:
        """Return the distribution of the action."""
        normal = torch.distributions.Normal(self.actor(seen), self.log_std.exp())
        return torch.distributions.Independent(normal, 1)

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the expected return of the rest of the episode."""
        return self.critic(seen).squeeze(-1)


def last_seen(info: dict[str, Any], seen: torch.Tensor) -> torch.Tensor:
    """Return the observations before any reset: `final_obs` of finished worlds."""
    final = info.get("final_obs")
    # An array of objects, None for worlds that have not finished.
    if isinstance(final, np.ndarray):
        pairs = zip(seen.numpy(), final, strict=True)
        return torch.as_tensor(np.stack([a if b is None else b for a, b in pairs]))
    return seen if final is None else final


def train(form: str, iterations: int, seed: int) -> tuple[float, list[float]]:
    """Train a policy.

    Returns:
        Mean return of whole episodes without exploration, and mean reward of each
        iteration, of at most 1.
    """
    torch.manual_seed(seed)
    env = gymnasium.make_vec(
        "mjlab/Cartpole-Balance-v0",
        num_envs=ENVS,
        autoreset_mode="same_step",
        numpy=form == "numpy",
        seed=seed,
    )
    spaces = env.single_observation_space, env.single_action_space
    agent = Agent(*(space.shape[0] for space in spaces))
    optimizer = torch.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    seen = torch.as_tensor(env.reset(seed=seed)[0])
    agent.to(seen.device)
    curve: list[float] = []
    for iteration in range(iterations):
        optimizer.param_groups[0]["lr"] = RATE * (1.0 - iteration / iterations)
        rollout = []
        for _ in range(STEPS):
            with torch.no_grad():
                policy = agent.policy(seen)
                action = policy.sample()
                log_prob, value = policy.log_prob(action), agent.value(seen)
                given = action.numpy() if form == "numpy" else action
                following, *flags, info = env.step(given)
                reward, ended, cut = (torch.as_tensor(each).float() for each in flags)
                following = torch.as_tensor(following)
                next_value = agent.value(last_seen(info, following)) * (1.0 - ended)
            done = torch.maximum(ended, cut)
            gain = REWARD_SCALE * reward + GAMMA * next_value - value
            rollout.append((seen, action, log_prob, value, gain, 1.0 - done))
            seen = following
        advantage, advantages = torch.zeros_like(gain), []
        for *_, gain, goes_on in reversed(rollout):
            advantage = gain + GAMMA * LAMBDA * goes_on * advantage
            advantages.insert(0, advantage)
        columns = list(zip(*rollout, strict=True))[:4]
        obs, actions, old, values = (torch.cat(column) for column in columns)
        advantages = torch.cat(advantages)
        targets = advantages + values
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(obs), device=obs.device).chunk(BATCHES):
                log_prob = agent.policy(obs[rows]).log_prob(actions[rows])
                ratio = (log_prob - old[rows]).exp()
                scale = advantages[rows]
                scale = (scale - scale.mean()) / (scale.std() + 1e-8)
                clipped = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
                gained = torch.minimum(ratio * scale, clipped * scale).mean()
                error = (agent.value(obs[rows]) - targets[rows]).square().mean()
                optimizer.zero_grad()
                (0.5 * error - gained).backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        curve.append(float(reward.mean()) / STEP_S)
        if iteration % 10 == 9:
            print(f"iteration {iteration + 1}: reward {curve[-1]:.2f} of 1")
    seen, total, cut = torch.as_tensor(env.reset(seed=seed)[0]), 0.0, np.zeros(ENVS)
    while not cut.any():  # Episodes of this task end only by the time limit.
        with torch.no_grad():
            action = agent.actor(seen)
        seen, reward, _, cut, _ = env.step(
            action.numpy() if form == "numpy" else action
        )
        seen, total = torch.as_tensor(seen), total + float(reward.mean())
    env.close()
    return total, curve


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--form", choices=("torch", "numpy"), default="torch")
    parser.add_argument("--iterations", type=int, default=130)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    total, curve = train(args.form, args.iterations, args.seed)
    samples = [(i + 1) * ENVS * STEPS / 1e6 for i in range(len(curve))]
    line = ChartLine(x=samples, y=curve)
    chart = Chart(title="Mean reward", lines=[line], across="million steps")
    Path("ppo.svg").write_text(svg([chart], width=480, height=300), "utf-8")
    print(f"return {total:.1f} of 50; learning curve: ppo.svg")
