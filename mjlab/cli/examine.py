"""Diagnose a run from its metrics, checkpoint and a rollout, and try a remedy."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mjlab.cli.answers import UsageError
from mjlab.cli.episodes import columns
from mjlab.cli.hardware import choose_learner
from mjlab.doctor import Diagnosis, ordered
from mjlab.doctor.acting import STEPS, examine_acting, examine_weights, roll
from mjlab.doctor.training import Course, examine_training, judged, too_early
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import entries, load_task
from mjlab.rl import TrainingLoop, load_policy
from mjlab.rl.checkpoint import load_model, policy_weights
from mjlab.rl.learners import network_names
from mjlab.runs import Run
from mjlab.runs.checkpoints import find_checkpoint
from mjlab.settings.change import Setting, apply
from mjlab.threads import torch_threads

WORLDS = 16
"""Number of worlds of the diagnostic rollout."""

_SHOWN = ("Train", "Policy", "Metrics", "Episode_Reward", "Curriculum")


def course_of(run: Run) -> Course:
    """Return the metrics and settings of a run."""
    return Course(run.metrics(), run.settings(), planned=_planned(run))


def _planned(run: Run) -> int:
    """Return the number of iterations in the task's own settings; 0 if unknown.

    It is also 0 for a run that began with the weights of another run: it can be much
    shorter.
    """
    info = run.info()
    words = info.get("arguments", ())
    continues = any(word.startswith("--init-from") for word in words)
    if continues or info["task"] not in entries():
        return 0
    task = load_task(info["task"])
    if task.rl is None:
        return 0
    on_gpu = bool(info.get("hardware", {}).get("gpus"))
    return choose_learner(task, on_gpu=on_gpu)().max_iterations


def examine_figures(run: Run) -> list[Diagnosis]:
    """Diagnose a run from its metrics only, without its checkpoint."""
    course = course_of(run)
    return ordered(examine_training(course) + too_early(course))


def examine(
    run: Run, configs: Mapping[str, Any], *, worlds: int = WORLDS
) -> tuple[list[Diagnosis], str]:
    """Diagnose a run; return the findings and a description of the examined data.

    Args:
        run: The run.
        configs: The run's configurations, by name.
        worlds: Number of worlds of the rollout.
    """
    course = course_of(run)
    found = examine_training(course) + too_early(course)
    looked = f"{run.path.name}: {len(course.metrics.iterations)} recorded iterations"
    path = run.checkpoints.newest()
    if path is None:
        return ordered(found), f"{looked}; no checkpoint found"
    agent = configs["agent"]
    name = network_names(agent)[0]
    groups = agent.obs_groups[name]
    model = load_model(path)
    layout = model["layout"]["observation"]
    terms = {
        f"{group}/{term}": math.prod(shape)
        for group in groups
        for term, shape in layout.get(group, {}).items()
    }
    weights = policy_weights(model, name)
    damage = examine_weights(weights, terms)
    found += damage
    looked = f"{looked}, {path.name}"
    # A policy with non-finite weights cannot be rolled out.
    if any(one.kind == "weights_not_finite" for one in damage):
        return ordered(found), looked
    env = ManagerBasedRlEnv(_small(configs["env"], worlds), device="cpu")
    try:
        policy = load_policy(path, env, agent)
        with torch_threads(1):
            acting = roll(env, policy, groups)
        normalises = getattr(getattr(agent, name), "obs_normalization", False)
        found += judged(course, examine_acting(acting, is_normalised=normalises))
    finally:
        env.close()
    return ordered(found), f"{looked}, {STEPS} steps of {worlds} worlds"


def _small(cfg: Any, worlds: int) -> Any:
    scene = dataclasses.replace(cfg.scene, num_envs=worlds)
    return dataclasses.replace(cfg, scene=scene, seed=0, recorders={})


def try_remedy(
    run: Run, configs: Mapping[str, Any], finding: Diagnosis, iterations: int
) -> str:
    """Train with and without a remedy from one checkpoint; return a table of metrics.

    Args:
        run: The run.
        configs: The run's configurations, by name.
        finding: The finding whose settings are tried.
        iterations: Training iterations of each variant.
    """
    settings = [
        Setting(name, value.split()) for name, value in finding.settings.items()
    ]
    place = find_checkpoint(run.path)
    if "optimizer_state_dict" not in load_model(place)["learner"]["algorithm"]:
        raise UsageError(
            f"{place} ships with a task and has no optimiser state, so training cannot "
            "resume from it. Name one of your runs."
        )
    before = _train_on(dict(configs), place, iterations)
    after = _train_on(apply(dict(configs), settings), place, iterations)
    names = [
        name for name in before if name in after and name.partition("/")[0] in _SHOWN
    ]
    rows = [(name, f"{before[name]:.4g}", f"{after[name]:.4g}") for name in names]
    head = (f"after {iterations} iterations", "unchanged", "with remedy")
    return columns([head, *rows])


def _train_on(
    configs: Mapping[str, Any], place: Path, iterations: int
) -> dict[str, float]:
    """Resume training from a checkpoint with reset worlds; return the last metrics."""
    cfg = dataclasses.replace(configs["env"], recorders={})
    env = ManagerBasedRlEnv(cfg, device="cpu")
    agent = configs["agent"]
    agent = dataclasses.replace(
        agent, evaluation=dataclasses.replace(agent.evaluation, every=0)
    )
    try:
        loop = TrainingLoop(env, agent)
        loop.resume(place, exact=False)
        most = loop.iteration + iterations
        loop.cfg = dataclasses.replace(agent, max_iterations=most)
        return loop.run().figures
    finally:
        env.close()


def first_to_try(findings: Sequence[Diagnosis]) -> Diagnosis:
    """Return the most certain finding whose remedy is a setting."""
    for one in findings:
        if one.settings:
            return one
    raise UsageError(
        "--try needs a finding whose remedy is a setting, but there is none. Omit "
        "--try."
    )
