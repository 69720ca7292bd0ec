"""States set in the middle of a phase-by-phase reset or step."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.manual import RESET, STEP, PhaseError
from tests.worlds.gym_tasks import cartpole


@pytest.fixture
def env() -> ManagerBasedRlEnv:
    cfg = cartpole()
    cfg.scene.num_envs = 2
    cfg.decimation = 2
    return ManagerBasedRlEnv(cfg, "cpu")


def test_full_set_state_is_possible_in_any_phase_but_masked_is_not(
    env: ManagerBasedRlEnv,
) -> None:
    action = torch.full((2, 1), 0.3)
    env.reset(seed=5)
    state = env.get_state()
    expected: Any = env.step(action)[0]["actor"]
    life, mask = env.lifecycle, torch.tensor([True, False])
    middles = {"apply": lambda: life.initialise(mask)}
    middles["set_targets"] = lambda: life.set_action(action)
    for due, begin in middles.items():
        begin()
        with pytest.raises(PhaseError) as error:
            env.set_state(state, mask)
        assert str(error.value).startswith(
            f"set_state() is out of order: call {due}() first. Phases of a "
        )
        assert life.next_phases == (due,)
        env.set_state(state)
        assert life.next_phases == (RESET[0], STEP[0])
        again: Any = env.step(action)[0]["actor"]
        assert torch.equal(again, expected)


def test_entities_may_be_set_between_the_phases_of_a_reset(
    env: ManagerBasedRlEnv,
) -> None:
    env.reset(seed=5)
    for _ in range(3):
        env.step(torch.full((2, 1), 0.8))
    moved = env.get_state_dict()
    mask = torch.tensor([True, False])
    env.lifecycle.initialise(mask, events=False)
    env.set_state_dict(moved, mask)
    assert env.lifecycle.next_phases == ("apply",)
    env.lifecycle.apply()
    env.lifecycle.update_kinematics()
    env.lifecycle.observe()
    now = env.get_state_dict()["entities"]["cartpole"]
    assert torch.equal(now, moved["entities"]["cartpole"])
    assert env.episode_length_buf.tolist() == [0, 3]
