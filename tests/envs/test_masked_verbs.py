"""Worlds outside a mask are unchanged, with every buffer, on both engines."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mjlab.envs import ManagerBasedRlEnv
from tests.envs.test_properties import actions, make, rows

NUM_ENVS = 4


@pytest.fixture(scope="module", params=["native", "warp"])
def env(request: pytest.FixtureRequest) -> ManagerBasedRlEnv:
    """Delayed actuators, contact sensors with air times and histories, ray casters."""
    return make("synthetic", NUM_ENVS, engine=request.param)


@settings(max_examples=12)
@given(
    flags=st.lists(st.booleans(), min_size=NUM_ENVS, max_size=NUM_ENVS),
    seed=st.integers(0, 100),
    steps=st.integers(1, 4),
)
def test_masked_reset_leaves_other_worlds_bit_identical(
    env: ManagerBasedRlEnv, flags: list[bool], seed: int, steps: int
) -> None:
    env.reset(seed=seed)
    for action in actions(env, steps):
        env.step(action)
    mask = torch.tensor(flags)
    for verb in (env.sim.reset, env.scene.reset):
        before = rows(env)
        verb(mask)
        after = rows(env)
        for name, value in before.items():
            assert torch.equal(value[~mask], after[name][~mask]), name
    assert (env.sim.data.qvel[mask] == 0).all()


def test_explicit_servos_within_the_step_equal_those_before_the_step(
    env: ManagerBasedRlEnv,
) -> None:
    """`step(control=)` runs before positions and velocities are integrated."""
    ends = []
    for inside in (False, True):
        env.reset(seed=3)
        targets = env.scene.entity("robot").data.targets.joint_pos
        targets.add_(0.2)
        for _ in range(12):
            if inside:
                env.sim.step(control=env.scene.apply)
            else:
                env.scene.apply()
                env.sim.step()
            env.scene.update(env.physics_dt)
        ends.append((env.sim.data.qpos.clone(), env.sim.data.ctrl.clone()))
    assert ends[0][1].abs().max() > 0.1
    for ours, theirs in zip(*ends, strict=True):
        assert torch.equal(ours, theirs)
