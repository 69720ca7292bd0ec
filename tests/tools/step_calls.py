"""Calls that a step makes, in order: here, and in an environment with mjlab 1.6.

Both packages have the import name `mjlab`, so the same code runs in both:

    python -I step_calls.py
"""

import importlib
import json
from collections.abc import Callable
from functools import partial
from typing import Any

MARK = "calls:"


def term(calls: list[str], label: str, value: Callable[[Any], Any]) -> Any:
    """Return a term that records its calls."""

    def recorded(env: Any) -> Any:
        calls.append(label)
        return value(env)

    return recorded


def event(calls: list[str], label: str) -> Any:
    """Return an event or a curriculum that records its calls."""

    def recorded(env: Any, env_ids: Any) -> None:
        calls.append(label)

    return recorded


def command(calls: list[str], term_base: Any, cfg_base: Any) -> Any:
    """Return a configuration of a command that records its calls, due in each step."""
    import torch

    class Command(term_base):
        def __init__(self, cfg: Any, env: Any) -> None:
            super().__init__(cfg, env)
            self.value = torch.zeros(env.num_envs, 1, device=env.device)

        @property
        def command(self) -> Any:
            return self.value

        def _update_metrics(self) -> None:
            calls.append("command metrics")

        def _resample_command(self, env_ids: Any) -> None:
            calls.append(f"command drawn in {env_ids.tolist()}")

        def _update_command(self, env_ids: Any = None) -> None:
            calls.append("command updated")

    class CommandCfg(cfg_base):
        def build(self, env: Any) -> Any:
            return Command(self, env)

    return CommandCfg(resampling_time_range=(1e-3, 1e-3))


def add_terms(cfg: Any, calls: list[str]) -> None:
    """Add recording terms to a configuration. World 0 ends in each step."""
    import torch

    from mjlab import managers

    def zeros(env: Any, *size: int) -> torch.Tensor:
        return torch.zeros(env.num_envs, *size, device=env.device)

    def is_first(env: Any) -> torch.Tensor:
        return torch.arange(env.num_envs, device=env.device) == 0

    cfg.scene.num_envs, cfg.decimation = 2, 1
    cfg.rewards["mark"] = managers.RewardTermCfg(
        func=term(calls, "reward", zeros), weight=1.0
    )
    cfg.terminations["mark"] = managers.TerminationTermCfg(
        func=term(calls, "termination", is_first)
    )
    cfg.metrics["mark"] = managers.MetricsTermCfg(func=term(calls, "metric", zeros))
    seen = term(calls, "observation", lambda env: zeros(env, 1))
    cfg.observations = {
        "actor": managers.ObservationGroupCfg(
            terms={"mark": managers.ObservationTermCfg(func=seen)}
        )
    }
    for mode in ("step", "interval", "reset"):
        times = {"interval_range_s": (1e-3, 1e-3)} if mode == "interval" else {}
        cfg.events[f"mark_{mode}"] = managers.EventTermCfg(
            func=event(calls, f"{mode} event"), mode=mode, **times
        )
    cfg.curriculum = {
        "mark": managers.CurriculumTermCfg(func=event(calls, "curriculum"))
    }


def record_verbs(env: Any, calls: list[str]) -> None:
    """Record calls of the simulation and the action manager too."""

    def recorded(original: Any, label: str, *args: Any, **kwargs: Any) -> Any:
        calls.append(label)
        return original(*args, **kwargs)

    for owner, names in (
        (env.sim, ("step", "step_many", "forward", "reset", "sense")),
        (env.action_manager, ("process_action", "apply_action")),
    ):
        for name in names:
            original = getattr(owner, name, None)
            label = name.removesuffix("_many")
            if original is not None:
                setattr(owner, name, partial(recorded, original, label))


def step_calls(env: Any, calls: list[str]) -> list[str]:
    """Return the calls of the second step after a reset."""
    import torch

    env.reset()
    record_verbs(env, calls)
    action = torch.zeros(2, 1, device=env.device)
    env.step(action)
    calls.clear()
    env.step(action)
    return list(calls)


def main() -> None:
    """Print the calls of mjlab 1.6, for its Cartpole."""
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.managers import CommandTerm, CommandTermCfg

    importlib.import_module("mjlab.tasks.cartpole")
    registry = importlib.import_module("mjlab.tasks.registry")
    calls: list[str] = []
    cfg = registry.load_env_cfg("Mjlab-Cartpole-Balance")
    add_terms(cfg, calls)
    cfg.commands = {"mark": command(calls, CommandTerm, CommandTermCfg)}
    env = ManagerBasedRlEnv(cfg, device="cpu")
    print(MARK + json.dumps(step_calls(env, calls)))


if __name__ == "__main__":
    main()
