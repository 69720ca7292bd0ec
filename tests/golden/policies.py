"""First actions of the shipped policies."""

from functools import cache

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import entries, load_task
from mjlab.rl import RslRlVecEnv, load_policy
from mjlab.runs import Run
from mjlab.threads import torch_threads
from tests.golden.runs import NUM_ENVS

TRAINED = {
    name: place for name in sorted(entries()) if (place := load_task(name).trained)
}

EPISODES = 5
"""Episodes whose first actions are stored."""


@cache
def policy_actions(task: str) -> dict[str, list[list[float]]]:
    """Return the actions of a task's shipped policy at the start of some episodes.

    In later actions, contacts amplify rounding errors.
    """
    with torch_threads(1):
        run = Run(TRAINED[task])
        configs = run.configs()
        cfg, agent = configs["env"], configs["agent"]
        cfg.scene.num_envs = NUM_ENVS
        cfg.seed, cfg.sim.backend = 0, "native"
        groups = sorted({group for seen in agent.obs_groups.values() for group in seen})
        env = ManagerBasedRlEnv(cfg, device="cpu")
        worlds = RslRlVecEnv(env, groups=groups, clip_actions=agent.clip_actions)
        policy = load_policy(run.path, worlds, agent)
        taken: dict[str, list[list[float]]] = {}
        for seed in range(EPISODES):
            observations = worlds.reset(seed=seed)
            policy.reset()
            taken[f"seed {seed}"] = []
            for _ in range(3):
                action = policy(observations)
                taken[f"seed {seed}"].append(few(action))
                observations, _, dones, _ = worlds.step(action)
                policy.reset(dones)
        env.close()
    return taken


def few(action: torch.Tensor) -> list[float]:
    """Number of values of the first world."""
    return [float(f"{x:.9g}") for x in action[0, :6].tolist()]
