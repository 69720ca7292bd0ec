"""A cascade of muscle networks on a weakened `Muscle-Walk-W18`.

    python bench/muscle_cascade.py --out cascade

All muscles of the walker have a fraction of their strength. The policy that ships walks
with its own muscle network, and with a cascade whose second network is trained on the
torques of each rollout while the first one stays as it is.
"""

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from bench.record import save
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import EventTermCfg
from mjlab.muscle import muscle_action
from mjlab.muscle.events import muscle_strength
from mjlab.registry import load_task
from mjlab.rl import load_policy
from mjlab.rl.vecenv import RslRlVecEnv
from mjlab.runs import find
from mjlab.tasks.muscle.learning import MuscleHook, MuscleHookCfg

TASK = "Muscle-Walk-W18"


def walks(
    num_envs: int, strength: float, rollouts: int, *, learns: bool
) -> dict[str, Any]:
    """Return the torque error in N m, and the episodes that end early, by rollout."""
    cfg = load_task(TASK).env()
    cfg.seed, cfg.scene.num_envs = 1, num_envs
    params = {"strength_range": (strength, strength)}
    weak = EventTermCfg(func=muscle_strength, mode="startup", params=params)
    cfg.events = {**cfg.events, "weak": weak}
    cfg.actions["muscles"].cascade = ((), (0,)) if learns else ()
    env = ManagerBasedRlEnv(cfg)
    worlds, agent = RslRlVecEnv(env), load_task(TASK).rl()
    place = find(TASK, Path("no runs")).place
    hook_cfg = agent.hooks["muscles"]
    assert isinstance(hook_cfg, MuscleHookCfg)
    if learns:
        agent.hooks = {}
    policy = load_policy(place, worlds, agent)
    hook = None
    if learns:
        hook_cfg.earlier = str(place)
        hook = hook_cfg.bind("muscles", env)
        assert isinstance(hook, MuscleHook)
        hook.before_first_iteration(SimpleNamespace())  # pyright: ignore
    errors, ends = [], []
    term, seen = muscle_action(env), worlds.get_observations()
    for _ in range(rollouts):
        squares, ended = [], 0
        for _ in range(24):
            with torch.no_grad():
                seen, _, dones, more = worlds.step(policy(seen))
            missed = term.made_torque() - term.wanted_torque
            squares.append(missed.square().mean())
            ended += int((dones.bool() & ~more["time_outs"].bool()).sum())
        errors.append(float(torch.stack(squares).mean().sqrt()))
        ends.append(ended)
        if hook is not None:
            hook.after_iteration(SimpleNamespace())  # pyright: ignore
    return {"torque_error": errors, "falls": ends}


def main() -> None:
    """Compare both, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--strength", type=float, default=0.6)
    parser.add_argument("--rollouts", type=int, default=12)
    parser.add_argument("--out", default="muscle_cascade")
    given = parser.parse_args()
    sizes = (given.num_envs, given.strength, given.rollouts)
    found = {
        "single": walks(*sizes, learns=False),
        "cascade": walks(*sizes, learns=True),
    }
    for name, value in found.items():
        print(name, value)
    save(given.out, {"settings": vars(given), "results": found})


if __name__ == "__main__":
    main()
