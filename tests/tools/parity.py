"""One environment on two engines: the same state given to both, and compared after."""

from dataclasses import dataclass, replace

import mujoco
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.sim import Stage
from mjlab.sim.fields import STATE_FIELDS

RELATIVE = 1e-4
"""Share of the largest number of a term that the engines may differ by."""
RELATIVE_LATE = 1e-3
"""The same for what the solver computes: accelerations and forces."""
ABSOLUTE = 1e-6
"""What they may differ by beside that, where a whole term is close to zero."""


def copy_state(source: ManagerBasedRlEnv, target: ManagerBasedRlEnv) -> None:
    """Give `target`, on another engine, everything that `source` is."""
    for name in STATE_FIELDS:
        getattr(target.sim.data, name).copy_(getattr(source.sim.data, name))
    fields = varied(target)
    for name, values in varied(source).items():
        if name in fields:
            fields[name].copy_(values)
        else:  # What an engine derives for itself need not be asked of the other.
            assert name in mujoco.MjModel._setconst_outputs, name
    target.sim.recompute_constants()
    live = target.state.live()
    for name, tensor in source.state.live().items():
        live[name].copy_(tensor)
    target.sim.forward(Stage.ACCELERATION)
    target.scene.invalidate()


def varied(env: ManagerBasedRlEnv) -> dict[str, torch.Tensor]:
    """The model fields that differ between worlds, by name."""
    engine = env.sim.engine
    fields = {name: engine.model(name) for name in sorted(engine.variable_fields)}
    return {name: values for name, values in fields.items() if values is not None}


@dataclass(frozen=True)
class Difference:
    """The largest difference between the engines in one term."""

    name: str
    size: float
    scale: float
    """The largest number of the term, in any world."""
    relative: float
    """What share of that is allowed."""

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
        group: The group of observations to compare.
        late: Terms that read what the solver computes.
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
    """The largest difference of each term in a run, and its scale in all of it."""
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
