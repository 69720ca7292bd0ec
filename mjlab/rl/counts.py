"""How much went wrong in an environment, as numbers on its device."""

import torch

from mjlab.envs import ManagerBasedRlEnv


def count_nonfinite(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Everything that was found not finite since the log was last taken, summed up."""
    counters = [env.nonfinite.worlds]
    for manager in (
        env.action_manager,
        env.reward_manager,
        env.observation_manager,
        env.metrics_manager,
    ):
        counters += [
            tensor
            for name, tensor in manager.state().items()
            if name.endswith(("nonfinite", "nonfinite_counts"))
            and tensor.dtype == torch.int64
        ]
    return torch.cat([counter.reshape(-1) for counter in counters]).sum()


def count_overflow(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Events of missing room since the environment was built, summed up."""
    counts = [count.sum().reshape(1) for count in env.sim.engine.overflow().values()]
    zero = torch.zeros(1, dtype=torch.int64, device=env.device)
    return torch.cat([zero, *counts]).sum()
