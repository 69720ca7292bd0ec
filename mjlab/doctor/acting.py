"""Find faults in a short rollout of a policy, and in the weights of a checkpoint."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import torch

from mjlab.doctor.finding import Diagnosis
from mjlab.envs import ManagerBasedRlEnv, Policy, Rollout
from mjlab.mdp import UniformVelocityCommand

STEPS = 100
"""Default number of steps of a rollout."""

_START = 20
"""Number of steps at the start of each episode that are excluded from speed and height,
while the robot accelerates."""


@dataclass(frozen=True)
class Acting:
    """Data of a rollout. Tensors have shape (steps, num_envs, d) unless noted."""

    env: ManagerBasedRlEnv
    """Environment of the rollout."""

    observed: Mapping[str, torch.Tensor]
    """Observations by group and term, such as "actor/joint_pos"."""

    actions: torch.Tensor
    """Raw actions of the policy."""

    controls: torch.Tensor
    """Actuator controls (`ctrl`)."""

    commands: Mapping[str, torch.Tensor]
    """Commands by name."""

    moved: Mapping[str, torch.Tensor]
    """Motion of the commanded robot, by velocity command: forward and left velocity
    (m/s), yaw rate (rad/s), and height of the root above the spawn origin (m)."""

    ages: torch.Tensor
    """Episode age in steps, shape (steps, num_envs), int64."""


def roll(
    env: ManagerBasedRlEnv,
    policy: Policy,
    groups: Sequence[str],
    *,
    steps: int = STEPS,
    seed: int = 0,
) -> Acting:
    """Roll out a policy, and record the data that `examine_acting` needs.

    Args:
        env: The environment.
        policy: The policy.
        groups: Observation groups that the policy reads.
        steps: Number of steps.
        seed: Random seed of the environment.
    """
    velocities = {
        name: term
        for name, term in env.command_manager.terms.items()
        if isinstance(term, UniformVelocityCommand)
    }
    rows: dict[str, list[torch.Tensor]] = {}

    def keep(key: str, value: torch.Tensor) -> None:
        rows.setdefault(key, []).append(value.detach().clone())

    rollout = Rollout(env, policy, seed=seed)
    policy.reset()
    for _ in rollout.steps(steps):
        for name, value in _terms_seen(env, groups).items():
            keep(f"observed {name}", value)
        keep("actions", env.action_manager.action)
        keep("controls", env.sim.data.ctrl)
        keep("ages", env.episode_length_buf)
        for name, term in env.command_manager.terms.items():
            keep(f"commands {name}", term.command)
        for name, term in velocities.items():
            data = term.entity.data
            height = data.root_pos_w[:, 2:] - env.scene.spawn_origins[:, 2:]
            turning = data.root_ang_vel_b[:, 2:]
            moved = (data.root_lin_vel_b[:, :2], turning, height)
            keep(f"moved {name}", torch.cat(moved, dim=1))
    whole = {key: torch.stack(values) for key, values in rows.items()}

    def part(prefix: str) -> dict[str, torch.Tensor]:
        return {
            key.partition(" ")[2]: value
            for key, value in whole.items()
            if key.startswith(f"{prefix} ")
        }

    return Acting(
        env,
        part("observed"),
        whole["actions"],
        whole["controls"],
        part("commands"),
        part("moved"),
        whole["ages"],
    )


def _terms_seen(
    env: ManagerBasedRlEnv, groups: Sequence[str]
) -> dict[str, torch.Tensor]:
    """Return the last observations by "group/term", each (num_envs, columns).

    Groups with images or without concatenation are skipped.
    """
    manager = env.observation_manager
    found: dict[str, torch.Tensor] = {}
    for group in groups:
        value = manager.output.get(group)
        if isinstance(value, torch.Tensor) and value.dim() == 2:
            shapes = manager.group_obs_term_dim[group]
            parts = value.split([prod(shape) for shape in shapes], dim=1)
            names = manager.active_terms[group]
            found |= {f"{group}/{n}": p for n, p in zip(names, parts, strict=True)}
    return found


def examine_acting(acting: Acting, *, is_normalised: bool) -> list[Diagnosis]:
    """Return the findings of a rollout.

    Args:
        acting: The rollout.
        is_normalised: Whether the network normalises its observations.
    """
    checks = [_observations(acting, is_normalised), _actions(acting)]
    checks += [_commands(acting), _walks(acting)]
    return [finding for check in checks for finding in check]


def _observations(acting: Acting, is_normalised: bool) -> Iterator[Diagnosis]:
    """Find observations that are constant, clipped, or large without normalisation."""
    for name, seen in acting.observed.items():
        group, _, term = name.partition("/")
        least, most = seen.amin(dim=(0, 1)), seen.amax(dim=(0, 1))
        if bool((least == most).all()):
            yield Diagnosis(
                kind="constant_observation",
                certainty=0.85,
                what=f"The observation {name} is the same in all worlds and steps: "
                f"{float(least[0]):.3g}.",
                advice="check the term and its sensor, or remove the term.",
            )
            continue
        size = float(seen.square().mean().sqrt())
        if size > 30.0 and not is_normalised:
            yield Diagnosis(
                kind="badly_scaled_observation",
                certainty=0.8,
                what=(
                    f"The observation {name} is large (root mean square {size:.3g}), "
                    "and the network does not normalise observations."
                ),
                advice="scale it, or normalise observations.",
                settings={"agent.actor.obs-normalization": "True"},
            )
        cfg = acting.env.cfg.observations.get(group)
        clip = None if cfg is None else getattr(cfg.terms.get(term), "clip", None)
        if clip is not None:
            share = float(((seen <= clip[0]) | (seen >= clip[1])).double().mean())
            if share > 0.2:
                yield Diagnosis(
                    kind="clipped_observation",
                    certainty=0.8,
                    what=(
                        f"The observation {name} is clipped to {clip} in {share:.0%} "
                        "of its values."
                    ),
                    advice="widen its clip, or scale it afterwards.",
                )


def _actions(acting: Acting) -> Iterator[Diagnosis]:
    """Find constant actions, and actuators that saturate their control range."""
    names = [
        target.name
        for term in acting.env.action_manager.terms.values()
        for target in term.targets
    ]
    # A reset sets the actions of the first step to zero.
    acts = acting.ages > 0
    spread = acting.actions[acts].std(dim=0)
    dead = [i for i, s in enumerate(spread.tolist()) if not s > 1e-6]
    if dead:
        width = acting.actions.shape[-1]
        of = [names[i] if len(names) == width else str(i) for i in dead[:3]]
        yield Diagnosis(
            kind="dead_actions",
            certainty=0.9,
            what=f"{len(dead)} of {width} actions never change: {', '.join(of)}.",
            advice=(
                "check for a network with dead units, or for constant observations."
            ),
        )
    model = acting.env.sim.mj_model
    for index in range(model.nu):
        if not model.actuator_ctrllimited[index]:
            continue
        low, high = model.actuator_ctrlrange[index]
        control = acting.controls[acts][:, index]
        share = float(((control <= low) | (control >= high)).double().mean())
        if share > 0.8:
            yield Diagnosis(
                kind="saturated_actions",
                certainty=0.8,
                what=f"The actuator {model.actuator(index).name} is at a limit of its "
                f"control range in {share:.0%} of the steps.",
                advice="reduce the action scale, or penalise large actions.",
            )


def _commands(acting: Acting) -> Iterator[Diagnosis]:
    for name, asked in acting.commands.items():
        if not bool(asked.any()):
            yield Diagnosis(
                kind="command_never_sampled",
                certainty=0.9,
                what=f"The command {name} is 0 in all worlds and steps.",
                advice="check its ranges, and its fraction of standing environments.",
            )


def _walks(acting: Acting) -> Iterator[Diagnosis]:
    """Find velocity commands that are not tracked: robots stand still, lie or drift."""
    for name, moved in acting.moved.items():
        asked = acting.commands[name]
        late = (acting.ages > _START) & (asked[..., :2].norm(dim=-1) > 0.3)
        if int(late.sum()) < 20:
            continue
        wanted, got = asked[late], moved[late]
        speed = float(wanted[:, :2].norm(dim=-1).mean())
        along = (got[:, :2] * wanted[:, :2]).sum(dim=-1) / wanted[:, :2].norm(dim=-1)
        reached = float(along.mean()) / speed
        height = float(got[:, 3].mean())
        term = acting.env.command_manager.term(name)
        assert isinstance(term, UniformVelocityCommand)
        normal = float(term.entity.data.default_root_state[:, 2].mean())
        if height < 0.6 * normal:
            yield Diagnosis(
                kind="lies",
                certainty=0.9,
                what=(
                    f"The robot lies: its root is at a height of {height:.2f} m, "
                    f"compared with {normal:.2f} m at the start of an episode, and "
                    "episodes do not end."
                ),
                advice=(
                    "terminate episodes at low heights: add a termination with "
                    "mdp.root_height_below_minimum."
                ),
            )
        elif reached < 0.25:
            still = float(got[:, :2].norm(dim=-1).mean()) < 0.3 * speed
            yield Diagnosis(
                kind="stands_still" if still else "command_not_followed",
                certainty=0.85 if still else 0.7,
                what=(
                    f"The command {name} is not tracked: the commanded speed is "
                    f"{speed:.2f} m/s, the measured speed {float(along.mean()):.2f} "
                    "m/s"
                )
                + ("; it stands still." if still else "."),
                advice=(
                    "widen the tracking reward (a larger std of "
                    "track_linear_velocity), so that slow walking earns more than "
                    "standing, or reward feet in the air."
                ),
            )


def examine_weights(
    weights: Mapping[str, torch.Tensor], terms: Mapping[str, int]
) -> list[Diagnosis]:
    """Return the findings in the weights of an actor.

    Args:
        weights: State dict of the actor.
        terms: Number of columns of each observation term, in the actor's order.
    """
    found: list[Diagnosis] = []
    bad = [name for name, value in weights.items() if not value.isfinite().all()]
    if bad:
        found.append(
            Diagnosis(
                kind="weights_not_finite",
                certainty=1.0,
                what=f"Weights are not finite: {', '.join(bad[:3])}.",
                advice=(
                    "resume from an older checkpoint, with a smaller learning rate "
                    "and max_grad_norm."
                ),
            )
        )
    variance = weights.get("obs_normalizer._var")
    if variance is not None and variance.shape[-1] == sum(terms.values()):
        parts = variance.flatten().split(list(terms.values()))
        still = [n for n, p in zip(terms, parts, strict=True) if not bool(p.any())]
        found += [
            Diagnosis(
                kind="constant_observation",
                certainty=0.95,
                what=f"The observation {name} never changed during training.",
                advice="check the term and its sensor, or remove the term.",
            )
            for name in still
        ]
    return found
