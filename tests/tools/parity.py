"""One environment on two engines, compared after a step from the same state."""

from dataclasses import dataclass, replace

import mujoco
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.sim import Stage
from mjlab.sim.fields import STATE_FIELDS

RELATIVE = 1e-4
"""Tolerance between the engines, relative to the largest number of a term."""
RELATIVE_LATE = 1e-3
"""The same for solver results: accelerations and forces."""
ABSOLUTE = 1e-6
"""Absolute tolerance, for terms close to zero."""


def copy_state(source: ManagerBasedRlEnv, target: ManagerBasedRlEnv) -> None:
    """Copy the state of `source` to `target`, on another engine."""
    for name in STATE_FIELDS:
        getattr(target.sim.data, name).copy_(getattr(source.sim.data, name))
    fields = varied(target)
    for name, values in varied(source).items():
        if name in fields:
            fields[name].copy_(values)
        else:  # Values that an engine derives itself are not copied.
            assert name in mujoco.MjModel._setconst_outputs, name
    target.sim.recompute_constants()
    live = target.state.live()
    for name, tensor in source.state.live().items():
        live[name].copy_(tensor)
    target.sim.forward(Stage.ACCELERATION)
    target.scene.invalidate()


def varied(env: ManagerBasedRlEnv) -> dict[str, torch.Tensor]:
    """Return the model fields that differ between worlds, by name."""
    engine = env.sim.engine
    fields = {name: engine.model(name) for name in sorted(engine.variable_fields)}
    return {name: values for name, values in fields.items() if values is not None}


@dataclass(frozen=True)
class Difference:
    """Maximum difference between the engines in one term."""

    name: str
    size: float
    scale: float
    """Largest number of the term, in any world."""
    relative: float
    """Relative tolerance."""

    @property
    def is_small(self) -> bool:
        return self.size <= ABSOLUTE + self.relative * self.scale


def differences(
    one: ManagerBasedRlEnv,
    other: ManagerBasedRlEnv,
    *,
    group: str,
    late: frozenset[str],
) -> list[Difference]:
    """Compare state, observations and rewards after a step of both.

    Args:
        one: An environment.
        other: The same on the other engine.
        group: The observation group to compare.
        late: Terms that read solver results.
    """
    found = []
    theirs = _values(other, group)
    for name, ours in _values(one, group).items():
        size = float((ours - theirs[name]).abs().max())
        scale = float(ours.abs().max())
        is_late = name.partition("/")[2] in late
        relative = RELATIVE_LATE if is_late else RELATIVE
        found.append(Difference(name, size, scale, relative))
    return found


def over_a_run(steps: list[list[Difference]]) -> list[Difference]:
    """Return the maximum difference of each term over a run, and its scale."""
    return [
        replace(
            same[0],
            size=max(found.size for found in same),
            scale=max(found.scale for found in same),
        )
        for same in zip(*steps, strict=True)
    ]


def _values(env: ManagerBasedRlEnv, group: str) -> dict[str, torch.Tensor]:
    observations, rewards = env.observation_manager, env.reward_manager
    sizes = [d[0] for d in observations.group_obs_term_dim[group]]
    whole = observations.output[group]
    assert isinstance(whole, torch.Tensor)
    parts = whole.split(sizes, dim=1)
    named = zip(observations.active_terms[group], parts, strict=True)
    values = {f"observation/{name}": part for name, part in named}
    for index, name in enumerate(rewards.terms):
        values[f"reward/{name}"] = rewards.values[:, index]
    state = {f"state/{name}": getattr(env.sim.data, name) for name in ("qpos", "qvel")}
    return values | state
