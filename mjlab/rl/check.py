"""Checks of a learner's configuration before the simulation is built."""

from collections.abc import Collection, Mapping

from mjlab.envs.config import ManagerBasedRlEnvCfg
from mjlab.names import suggest
from mjlab.rl.algorithms.critics import MAIN, STYLE
from mjlab.rl.config import (
    AgentCfg,
    CloningAgentCfg,
    DistillationAgentCfg,
    PpoAgentCfg,
)
from mjlab.rl.models.config import CnnModelCfg, EstimatingModelCfg, RnnModelCfg
from mjlab.runs.wandb import import_wandb
from mjlab.settings.bounds import check_numbers


class AgentError(ValueError):
    """Raised for an invalid learner configuration."""


def check_agent(cfg: AgentCfg, groups: Collection[str], num_envs: int) -> None:
    """Raise an error that lists all faults. Call it before worlds are built.

    Args:
        cfg: The configuration.
        groups: Names of observation groups; see `groups_of`.
        num_envs: Worlds of one process.
    """
    check_numbers(cfg, "agent")
    problems: list[str] = []
    if cfg.logging.wandb_artifacts and not cfg.logging.wandb:
        problems.append("logging.wandb_artifacts=True needs logging.wandb=True")
    if isinstance(cfg, PpoAgentCfg):
        problems += _check_ppo(cfg, groups, num_envs)
    elif isinstance(cfg, DistillationAgentCfg):
        problems += _check_distillation(cfg, groups)
    elif isinstance(cfg, CloningAgentCfg):
        problems += _check_cloning(cfg, groups)
    else:
        problems.append(
            f"agent is a {type(cfg).__name__}; it has to be a PpoAgentCfg, "
            "DistillationAgentCfg or CloningAgentCfg"
        )
    if problems:
        raise AgentError("\n".join(f"agent.{problem}." for problem in problems))
    if cfg.logging.wandb:
        import_wandb()


def groups_of(cfg: ManagerBasedRlEnvCfg) -> list[str]:
    """Return the names of the observation groups available to a learner."""
    found: list[str] = []
    for name, group in cfg.observations.items():
        if group is None:
            continue
        if group.concatenate_terms:
            found.append(name)
        else:
            found += [f"{name}/{term}" for term, one in group.terms.items() if one]
    return found


def _check_ppo(cfg: PpoAgentCfg, groups: Collection[str], num_envs: int) -> list[str]:
    problems = _check_names("actor", cfg.obs_groups, groups)
    problems += _check_names("critic", cfg.obs_groups, groups)
    if cfg.actor.distribution_cfg is None:
        problems.append(
            "actor.distribution_cfg is None, but exploration needs a distribution, "
            "such as GaussianCfg()"
        )
    if cfg.critic.distribution_cfg is not None:
        problems.append("critic.distribution_cfg has to be None")
    recurrent = [cfg.actor, cfg.critic]
    is_recurrent = any(isinstance(model, RnnModelCfg) for model in recurrent)
    batches = cfg.algorithm.num_mini_batches
    samples = num_envs if is_recurrent else num_envs * cfg.num_steps_per_env
    if samples % batches:
        what = "worlds" if is_recurrent else "samples of an iteration"
        problems.append(
            f"algorithm.num_mini_batches={batches} does not divide the {samples} {what}"
        )
    if is_recurrent and cfg.algorithm.symmetry_cfg is not None:
        problems.append("algorithm.symmetry_cfg does not work with recurrent networks")
    problems += _check_critics(cfg)
    if cfg.style is not None:
        problems += _check_names(STYLE, cfg.obs_groups, groups)
    if cfg.algorithm.rnd_cfg is not None:
        problems += _check_names("rnd_state", cfg.obs_groups, groups)
    shares = cfg.algorithm.share_cnn_encoders
    if shares and not all(isinstance(m, CnnModelCfg) for m in recurrent):
        problems.append(
            "algorithm.share_cnn_encoders=True needs a CnnModelCfg as actor and as "
            "critic"
        )
    return problems


def _check_critics(cfg: PpoAgentCfg) -> list[str]:
    problems = [
        f"critics[{name!r}].rewards is empty: name the rewards of the critic"
        for name, critic in cfg.critics.items()
        if not critic.rewards
    ]
    if MAIN in cfg.critics:
        problems.append(f"critics has the name {MAIN!r} of the main critic; rename it")
    if cfg.critics and isinstance(cfg.critic, RnnModelCfg):
        problems.append(
            "critic is an RnnModelCfg; agent.critics needs a critic without memory"
        )
    return problems


def _check_distillation(
    cfg: DistillationAgentCfg, groups: Collection[str]
) -> list[str]:
    problems = _check_names("student", cfg.obs_groups, groups)
    problems += _check_names("teacher", cfg.obs_groups, groups)
    student, name = cfg.student, "student"
    if isinstance(student, EstimatingModelCfg):
        problems += _check_estimate(student.estimated, cfg.obs_groups)
        student, name = student.policy, "student.policy"
    if student.distribution_cfg is None:
        problems.append(
            f"{name}.distribution_cfg is None, but exploration needs a distribution, "
            "such as GaussianCfg()"
        )
    steps = cfg.algorithm.num_learning_epochs * cfg.num_steps_per_env
    if steps % cfg.algorithm.gradient_length:
        problems.append(
            f"algorithm.gradient_length={cfg.algorithm.gradient_length} does not "
            f"divide the {steps} steps of an update"
        )
    return problems


def _check_estimate(estimated: str, sets: Mapping[str, Collection[str]]) -> list[str]:
    observed, known = sets.get("teacher", ()), sets.get("student", ())
    if estimated not in observed:
        hint = suggest(estimated, observed).rstrip(".")
        return [
            f"student.estimated={estimated!r} is not a group of the teacher. {hint}"
        ]
    return [
        f"obs_groups['student'] has no {group!r}, which the teacher's policy observes"
        for group in observed
        if group not in (estimated, *known)
    ]


def _check_cloning(cfg: CloningAgentCfg, groups: Collection[str]) -> list[str]:
    problems = _check_names("actor", cfg.obs_groups, groups)
    if cfg.actor.distribution_cfg is None:
        problems.append(
            "actor.distribution_cfg is None, but PPO needs a distribution, such as "
            "GaussianCfg()"
        )
    if isinstance(cfg.actor, RnnModelCfg):
        problems.append("actor is an RnnModelCfg; cloning needs a model without memory")
    if cfg.algorithm.demonstrations is None:
        problems.append("algorithm.demonstrations is None: name a recording")
    return problems


def _check_names(
    name: str,
    sets: Mapping[str, tuple[str, ...]],
    groups: Collection[str],
) -> list[str]:
    chosen = sets.get(name, ())
    if not chosen:
        return [f"obs_groups has no groups for {name!r}"]
    return [
        f"obs_groups[{name!r}] names {group!r}, but the environment has no such "
        f"observation group. {suggest(group, groups).rstrip('.')}"
        for group in chosen
        if group not in groups
    ]
