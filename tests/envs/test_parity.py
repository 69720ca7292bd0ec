"""The same task on both engines, compared step by step from the same state."""

import math

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from tests.envs.test_properties import actions, make
from tests.tools.parity import copy_state, differences

STEPS = 50
EDGE = 1e-4
"""Distance from its limit at which a world can end on one engine only, rad."""
LATE_TERMS = frozenset({"accelerometer", "torque", "acc", "power"})
"""Terms that read solver results: accelerations and forces."""


def watch_tilt(env: ManagerBasedRlEnv) -> list[torch.Tensor]:
    """Negative cosine of every world's tilt, as read by terminations."""
    seen: list[torch.Tensor] = []
    compute = env.termination_manager.compute

    def watched() -> torch.Tensor:
        robot = env.scene.entities.get("robot")
        if robot is not None:
            seen.append(robot.data.gravity_b[:, 2].clone())
        return compute()

    env.termination_manager.compute = watched
    return seen


@pytest.mark.parametrize(
    "name", ["synthetic", pytest.param("Cartpole-Balance", marks=pytest.mark.slow)]
)
def test_each_step_agrees_from_the_same_state(name: str) -> None:
    native, warp = (make(name, 4, engine=engine) for engine in ("native", "warp"))
    tilts = watch_tilt(native)
    for action in actions(native, STEPS):
        copy_state(native, warp)
        ours, theirs = native.step(action), warp.step(action)
        for world in (ours[2] != theirs[2]).nonzero()[:, 0].tolist():
            # Only a world at the limit can fall on one engine alone.
            assert abs(tilts[-1][world] + math.cos(1.0)) < EDGE
        for found in differences(native, warp, group="critic", late=LATE_TERMS):
            assert found.is_small, found
        assert torch.equal(ours[3], theirs[3])


@pytest.mark.slow
def test_free_cartpole_agrees_on_both_engines() -> None:
    native, warp = (
        make("Cartpole-Balance", 4, engine=engine) for engine in ("native", "warp")
    )
    for action in 0.3 * actions(native, STEPS):
        ours, theirs = native.step(action), warp.step(action)
        assert torch.allclose(ours[0]["actor"], theirs[0]["actor"], atol=1e-3)
        assert torch.allclose(ours[1], theirs[1], atol=1e-4)
        assert torch.equal(ours[3], theirs[3])


def test_a_model_field_written_between_steps_takes_effect_on_both_engines() -> None:
    native, warp = (
        make("synthetic", 4, engine=engine) for engine in ("native", "warp")
    )
    copy_state(native, warp)
    first, second = actions(native, 2)
    for env in (native, warp):
        env.step(first)
    before = native.get_state()
    for env in (native, warp):
        env.sim.model.body_mass[1] *= 2.0
        env.sim.model.body_inertia[1] *= 2.0
        env.step(second)
    assert torch.allclose(native.sim.data.qvel, warp.sim.data.qvel, atol=1e-3)
    heavy = native.sim.data.qvel.clone()
    native.set_state(before)
    native.step(second)
    effect = (native.sim.data.qvel - heavy).abs().amax(dim=1)
    assert effect[1] > 0.1 and effect[[0, 2, 3]].max() == 0.0
