"""What users see of the project: import paths, and how its policies act."""

import ast
import importlib
from functools import cache

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import entries, load_task
from mjlab.rl import RslRlVecEnv, load_policy
from mjlab.runs import Run
from mjlab.threads import torch_threads
from tests.golden.runs import NUM_ENVS
from tests.tools.architecture import ROOT

FOLDERS = {"mjlab": ROOT / "mjlab", "mjlab.tasks": ROOT / "tasks"}
TRAINED = {
    name: place for name in sorted(entries()) if (place := load_task(name).trained)
}

EPISODES = 5
"""Episodes of which a policy's first actions are written down."""


def public_names() -> dict[str, list[str]]:
    """Names that each package exports, wherever they are defined."""
    found = {}
    for top, folder in FOLDERS.items():
        for file in sorted(folder.rglob("__init__.py")):
            parts = (top, *file.parent.relative_to(folder).parts)
            if not any(part.startswith("_") for part in parts):
                found[".".join(parts)] = exported(file.read_text("utf-8"))
    return {package: names for package, names in sorted(found.items()) if names}


def exported(text: str) -> list[str]:
    """Names that a file defines, exports by `as`, or lists in `__all__`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names if alias.asname == alias.name}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
            if node.value and any(ast.unparse(t) == "__all__" for t in targets):
                names |= set(ast.literal_eval(node.value))
    return sorted(n for n in names if not n.startswith("_") and n != "TYPE_CHECKING")


def resolve(path: str) -> bool:
    """Whether a public name is there once its package is imported."""
    package, _, name = path.rpartition(".")
    missing = object()
    return getattr(importlib.import_module(package), name, missing) is not missing


@cache
def policy_actions(task: str) -> dict[str, list[list[float]]]:
    """The actions of the policy that ships with a task, at the start of some episodes.

    Later ones would show how contacts multiply what the processor rounds.
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
    """First numbers of the first world."""
    return [float(f"{x:.9g}") for x in action[0, :6].tolist()]
