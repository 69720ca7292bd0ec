"""The same task on both engines, step by step from the same state."""

import math

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.snapshot import live_tensors
from mjlab.sim import Stage
from mjlab.sim.fields import STATE_FIELDS
from tests.test_env_properties import actions, make

STEPS = 50
TOLERANCE = 1e-4
LATE_TOLERANCE = 1e-3
LATE_TERMS = {"accelerometer", "torque", "acc", "power"}
"""Terms that read what the solver computes: accelerations and forces."""


def copy_state(source: ManagerBasedRlEnv, target: ManagerBasedRlEnv) -> None:
    """Give `target`, on another engine, everything that `source` is."""
    for name in STATE_FIELDS:
        getattr(target.sim.data, name).copy_(getattr(source.sim.data, name))
    for name in ("body_mass", "geom_friction"):
        theirs = source.sim.engine.model(name)
        if theirs is not None:
            target.sim.model[name].copy_(theirs)
    target.sim.recompute_constants()
    live = live_tensors(target)
    for name, tensor in live_tensors(source).items():
        live[name].copy_(tensor)
    target.sim.forward(Stage.ACCELERATION)
    target.scene.invalidate()


def by_term(
    env: ManagerBasedRlEnv, observation: torch.Tensor
) -> dict[str, torch.Tensor]:
    names = env.observation_manager.active_terms["critic"]
    sizes = [d[0] for d in env.observation_manager.group_obs_term_dim["critic"]]
    return dict(zip(names, observation.split(sizes, dim=1), strict=True))


def check(name: str, ours: torch.Tensor, theirs: torch.Tensor, scale: float) -> None:
    tolerance = LATE_TOLERANCE if name in LATE_TERMS else TOLERANCE
    difference = float((ours - theirs).abs().max())
    assert difference <= tolerance * scale, f"{name}: {difference} of {scale}"


def watch_tilt(env: ManagerBasedRlEnv) -> list[torch.Tensor]:
    """Cosine of every world's tilt, as terminations saw it, negative."""
    seen: list[torch.Tensor] = []
    compute = env.termination_manager.compute

    def watched() -> torch.Tensor:
        robot = env.scene.entities.get("robot")
        if robot is not None:
            seen.append(robot.data.gravity_b[:, 2].clone())
        return compute()

    env.termination_manager.compute = watched
    return seen


@pytest.mark.parametrize("name", ["Cartpole-Balance", "synthetic"])
def test_each_step_agrees_from_the_same_state(name: str) -> None:
    native, warp = (make(name, 4, engine=engine) for engine in ("native", "warp"))
    tilts = watch_tilt(native)
    for action in actions(native, STEPS):
        copy_state(native, warp)
        ours, theirs = native.step(action), warp.step(action)
        for world in (ours[2] != theirs[2]).nonzero()[:, 0].tolist():
            # Only a world on the very edge may fall on one engine and not the other.
            assert abs(tilts[-1][world] + math.cos(1.0)) < TOLERANCE
        values = by_term(warp, theirs[0]["critic"])
        for term, value in by_term(native, ours[0]["critic"]).items():
            scale = max(1.0, float(value.abs().max()))
            check(term, value, values[term], scale)
        rewards = native.reward_manager
        for index, term in enumerate(rewards.terms):
            value = rewards.values[:, index]
            other = warp.reward_manager.values[:, index]
            check(term, value, other, max(1.0, float(value.abs().max())))
        assert torch.equal(ours[3], theirs[3])


def test_cartpole_runs_free_on_both_engines_alike() -> None:
    native, warp = (
        make("Cartpole-Balance", 4, engine=engine) for engine in ("native", "warp")
    )
    for action in 0.3 * actions(native, STEPS):
        ours, theirs = native.step(action), warp.step(action)
        assert torch.allclose(ours[0]["actor"], theirs[0]["actor"], atol=1e-3)
        assert torch.allclose(ours[1], theirs[1], atol=1e-4)
        assert torch.equal(ours[3], theirs[3])


def test_a_model_field_written_between_steps_counts_at_once_on_both_engines() -> None:
    ends = []
    for engine in ("native", "warp"):
        env = make("Cartpole-Balance", 2, engine=engine)
        env.sim.expand("body_mass", "body_inertia")
        for action in actions(env, 3):
            env.step(action)
        env.sim.data.qvel[:] = 1.0
        env.step(torch.zeros(2, 1))
        env.sim.model.body_mass[1] *= 3.0
        env.sim.model.body_inertia[1] *= 3.0
        env.step(torch.ones(2, 1))
        ends.append(env.sim.data.qvel.clone())
    native, warp = ends
    assert not torch.allclose(native[0], native[1], atol=1e-2)
    assert torch.allclose(native, warp, atol=1e-4)
