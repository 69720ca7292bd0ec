"""Two levels of control in one file: a policy moves joints, a network moves muscles.

    python docs/examples/ppo_hierarchical.py --num_envs 16 --iterations 300
    python docs/examples/ppo_hierarchical.py --env_file walk.yaml

A line of the file names an option of this program (`num_envs: 16`) or a part of the
task's configuration (`episode_length_s: 10`, `rewards.effort.weight: 0.5`).

Each world is a process and steps on the CPU with a copy of the muscle network. The
worlds' processes share the memory of imported modules: each adds about 40 MB. This
process, on a GPU if there is one, trains the policy by proximal policy optimisation,
then the muscle network by regression on the sampled joint torques. The new weights go
to the worlds before the next rollout. At the end, the learning curves are in
ppo_hierarchical.svg.
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

# The processes use all cores; more threads in each would compete for them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
import yaml
from gymnasium.spaces import flatdim
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from torch import nn

from mjlab.muscle import MuscleLearner
from mjlab.registry import load_task
from mjlab.report.chart import Chart, ChartLine, svg
from mjlab.settings.change import Setting, apply
from mjlab.tasks.muscle.single import make_muscle_env

EPOCHS, BATCHES = 4, 8
GAMMA, LAMBDA, CLIP, RATE = 0.99, 0.95, 0.2, 3e-4

Scalars = Mapping[str, Any]
"""Values by dotted names."""


def mlp(inputs: int, outputs: int) -> nn.Sequential:
    """Return a network with two hidden layers."""
    layers = [nn.Linear(inputs, 256), nn.ELU(), nn.Linear(256, 256), nn.ELU()]
    return nn.Sequential(*layers, nn.Linear(256, outputs))


class Agent(nn.Module):
    """Actor and critic."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.critic, self.actor = mlp(inputs, 1), mlp(inputs, actions)
        self.log_std = nn.Parameter(torch.full((actions,), -0.7))

    def policy(self, seen: torch.Tensor) -> torch.distributions.Independent:
        """Return the distribution of the action."""
        normal = torch.distributions.Normal(self.actor(seen), self.log_std.exp())
        return torch.distributions.Independent(normal, 1)

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the expected return of the rest of the episode."""
        return self.critic(seen).squeeze(-1)


def read_scalars(path: Path) -> Scalars:
    """Read plain values by name from a YAML file."""
    if not path.is_file():
        raise SystemExit(f"--env_file {path}: no such file")
    found = yaml.safe_load(path.read_text()) or {}
    if not isinstance(found, dict):
        raise SystemExit(f"{path}: each line needs the form name: value")
    for name, value in found.items():
        if not isinstance(value, str | int | float | bool | None):
            raise SystemExit(
                f"{path}: {name} is a {type(value).__name__}; it has to be a number, a "
                "word or null, such as rewards.effort.weight: 0.5"
            )
    return found


def make_envs(
    task: str, num_envs: int, steps: int, seed: int, settings: Scalars
) -> AsyncVectorEnv:
    """Start each world in a new process, without the CUDA context of this one.

    The processes are forks of a server that imports the task's modules once.
    """
    given = [Setting(name, [str(value)]) for name, value in settings.items()]
    cfg = apply(load_task(task).env(), given)
    make = partial(make_muscle_env, cfg, kept_steps=steps)
    multiprocessing.set_forkserver_preload(["mjlab.tasks.muscle.single"])
    return AsyncVectorEnv(
        [partial(make, seed=seed + world) for world in range(num_envs)],
        context="forkserver",
        autoreset_mode=AutoresetMode.SAME_STEP,
    )


def make_learner(envs: AsyncVectorEnv, device: torch.device) -> MuscleLearner:
    """Create the learner of the muscle network, on the device of the policy."""
    muscles, *_ = envs.call("get_muscle_map")
    return MuscleLearner(
        num_actuator_action=muscles.num_dofs,
        num_muscles=muscles.num_muscles,
        num_muscle_dofs=muscles.num_entries,
        learning_rate=1e-3,
        num_epochs=4,
        batch_size=512,
        is_cascaded=False,
        device=device,
    )


def last_seen(info: dict[str, Any], seen: np.ndarray) -> np.ndarray:
    """Return the observations before any reset: `final_obs` of finished worlds."""
    if "final_obs" not in info:
        return seen
    pairs = zip(seen, info["final_obs"], strict=True)
    return np.stack([a if b is None else b for a, b in pairs])


def roll_out(
    envs: AsyncVectorEnv, agent: Agent, seen: np.ndarray, steps: int
) -> tuple[list[tuple[torch.Tensor, ...]], np.ndarray]:
    """Take `steps` steps; return the transitions and the next observations."""
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
    """Update the agent by one iteration of proximal policy optimisation."""
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
    task: str,
    num_envs: int,
    steps: int,
    iterations: int,
    seed: int,
    settings: Scalars | None = None,
) -> list[dict[str, float]]:
    """Train both levels; return figures of each iteration."""
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    envs = make_envs(task, num_envs, steps, seed, settings or {})
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
            tuples = envs.call("get_muscle_tuples")
            found = learner.learn(tuples)
            times.append(time.perf_counter())
            envs.call("update_muscle_weights", learner.get_state_dict())
            times.append(time.perf_counter())
            acted, learned, published = np.diff(times)
            reward = float(torch.stack([step[-1] for step in rollout]).mean())
            figures.append(
                {
                    "reward": reward,
                    "muscle_loss": found["loss"],
                    "tuples": float(sum(len(each.rows) for each in tuples)),
                    "rollout_s": acted,
                    "learn_s": learned,
                    "publish_s": published,
                }
            )
            if iteration % 10 == 9 or iteration + 1 == iterations:
                line = "  ".join(f"{name} {n:.4g}" for name, n in figures[-1].items())
                print(f"{iteration + 1}/{iterations}  {line}", flush=True)
        return figures
    finally:
        envs.close()


def main() -> None:
    """Parse the command line, and train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--env_file", type=Path, metavar="FILE.yaml")
    parser.add_argument("--task", default="Muscle-Walk-W18")
    parser.add_argument("--num_envs", "--num-envs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    file = parser.parse_known_args()[0].env_file
    settings = {} if file is None else dict(read_scalars(file))
    options = {action.dest for action in parser._actions} - {"help", "env_file"}
    parser.set_defaults(**{n: settings.pop(n) for n in options & settings.keys()})
    args = vars(parser.parse_args())
    del args["env_file"]
    draw(train(**args, settings=settings), Path("ppo_hierarchical.svg"))


def draw(figures: list[dict[str, float]], to: Path) -> None:
    """Write the learning curves of both levels."""
    charts = [
        Chart(
            title=title,
            lines=[
                ChartLine(x=range(1, len(figures) + 1), y=[f[name] for f in figures])
            ],
            across="iterations",
        )
        for title, name in (("Reward", "reward"), ("Muscle loss", "muscle_loss"))
    ]
    to.write_text(svg(charts, width=400, height=300), "utf-8")


if __name__ == "__main__":
    main()
