"""Wrappers around `TorchVectorEnv`, on a counter with known values."""

from typing import Any

import pytest
import torch
from gymnasium.vector import AutoresetMode

import mjlab
from mjlab.gym import (
    ActionRepeat,
    FlattenActionSpace,
    FlattenObservation,
    FrameStack,
    TorchVectorEnv,
    VectorEnv,
)
from tests.worlds import gym_tasks

SAME, NEXT, DISABLED = (
    AutoresetMode.SAME_STEP,
    AutoresetMode.NEXT_STEP,
    AutoresetMode.DISABLED,
)


def counter(num_envs: int = 2, mode: AutoresetMode = SAME) -> TorchVectorEnv:
    """World i ends after 3 + i steps; observation and reward are its step count."""
    worlds = gym_tasks.worlds(gym_tasks.scripted(), num_envs)
    return TorchVectorEnv(worlds, autoreset_mode=mode)


def still(env: Any) -> torch.Tensor:
    return torch.zeros(env.num_envs, 1)


def run(env: Any, steps: int) -> list[tuple[Any, ...]]:
    """Return observations, rewards, terminations and infos of some steps, as lists."""
    env.reset(seed=0)
    outputs = []
    for _ in range(steps):
        observations, reward, terminated, _, info = env.step(still(env))
        outputs.append(
            (observations[:, 0].tolist(), reward.tolist(), terminated.tolist(), info)
        )
    return outputs


# Reset modes, by hand arithmetic.


def test_next_step_logs_episodes_without_the_step_that_resets() -> None:
    env = counter(mode=NEXT)
    manager = env.worlds.env  # pyright: ignore[reportAttributeAccessIssue]
    run(env, 6)
    log = manager.take_log()
    # Sums 1+2+3 and 1+2+3+4, each over the 6 steps of 0.05 s of a complete episode.
    assert log["Episode_Reward/steps"] == pytest.approx((6.0 + 10.0) / 2 / 0.3)
    assert log["Episode_Termination/over"] == 1.0
    assert log["Metrics/success_once"] == 1.0
    assert log["Metrics/fail_once"] == log["Metrics/fail_at_end"] == 0.5
    assert manager.termination_manager.last_episode("over").tolist() == [True, True]


# The outermost wrapper.


def test_episode_metrics_are_present_in_every_step() -> None:
    env = VectorEnv(counter(), record_metrics=True)
    infos = [each[3] for each in run(env, 5)]
    table = {
        "return": [[1, 1], [3, 3], [6, 6], [1, 10], [3, 1]],
        "episode_len": [[1, 1], [2, 2], [3, 3], [1, 4], [2, 1]],
        "reward": [[1, 1], [1.5, 1.5], [2, 2], [1, 2.5], [1.5, 1]],
        "success_once": [[0, 0], [1, 1], [1, 1], [0, 1], [1, 0]],
        "fail_once": [[0, 0], [0, 0], [0, 0], [0, 1], [0, 0]],
    }
    for key, rows in table.items():
        assert [info["episode"][key].tolist() for info in infos] == rows, key
    ended = [[0, 0], [0, 0], [1, 0], [0, 1], [0, 0]]
    for info, mask in zip(infos, ended, strict=True):
        assert info["_final_info"].tolist() == mask
        assert info["_final_observation"].tolist() == mask
        assert info["final_observation"] is info["final_obs"]
        assert info["final_info"]["episode"].keys() == table.keys()
    last = infos[3]["final_info"]["episode"]
    assert last["return"][infos[3]["_final_info"]].tolist() == [10.0]
    # Its own episode has ended, and the success of the step does not belong to the new
    # one.
    assert infos[3]["success"].tolist() == [False, False]
    assert infos[3]["final_info"]["fail"].tolist() == [False, True]


def test_non_finite_world_ends_even_if_terminations_are_ignored() -> None:
    env = VectorEnv(counter(), ignore_terminations=True)
    env.reset(seed=0)
    env.step(still(env))
    env.unwrapped.worlds.env.sim.data.qvel[1, 0] = float("nan")  # pyright: ignore[reportAttributeAccessIssue]
    observations, _, terminated, _, info = env.step(still(env))
    assert terminated.tolist() == [False, True]
    assert observations[:, 0].tolist() == [2, 0]
    assert info["final_obs"].isfinite().all()


def test_worlds_continue_without_automatic_resets() -> None:
    env = VectorEnv(counter(), auto_reset=False, record_metrics=True)
    outputs = run(env, 5)
    assert [each[0] for each in outputs] == [[step, step] for step in range(1, 6)]
    assert outputs[-1][2] == [True, True]
    assert outputs[-1][3]["episode"]["return"].tolist() == [15.0, 15.0]
    env.reset(options={"env_idx": [1]})
    _, _, _, _, info = env.step(still(env))
    assert info["episode"]["return"].tolist() == [21.0, 1.0]


# Dict actions, starting with the four-line program.


def test_flat_actions_reach_their_terms() -> None:
    env = TorchVectorEnv(gym_tasks.worlds(gym_tasks.two_terms(), 2))
    flat = FlattenActionSpace(env)
    flat.reset(seed=0)
    action = torch.arange(24.0).view(2, 12) / 100
    flat.step(action)
    manager = env.worlds.env.action_manager  # pyright: ignore[reportAttributeAccessIssue]
    assert torch.equal(manager.part("rear"), action[:, :6])
    assert torch.equal(manager.part("front"), action[:, 6:])


def test_one_row_takes_an_action_without_a_batch() -> None:
    env = FlattenActionSpace(counter(1))
    env.reset(seed=0)
    assert env.step(torch.zeros(1))[0].tolist() == [[1.0]]


def test_flat_observations_hold_all_numbers_in_the_order_of_the_space() -> None:
    worlds = gym_tasks.worlds(gym_tasks.remembering(), 2, groups=None)
    env = TorchVectorEnv(worlds)
    flat = FlattenObservation(env)
    seen, _ = flat.reset(seed=0)
    assert seen.shape == flat.observation_space.shape
    raw, _ = env.reset(seed=0)
    names = env.single_observation_space.spaces  # pyright: ignore[reportAttributeAccessIssue]
    assert list(names) == ["actor", "critic", "memory"]
    parts = [raw["actor"], raw["critic"], *raw["memory"].values()]
    assert torch.equal(seen, torch.cat([part.flatten(1) for part in parts], dim=1))
    assert flat.step(still(env))[4]["final_obs"].shape == seen.shape


# Stacks.


@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
@pytest.mark.parametrize("num_envs", [1, 4, 16])
def test_frame_stack_holds_the_latest_frames_of_the_episode(
    mode: AutoresetMode, num_envs: int
) -> None:
    """T-18. Recomputed from all observations, with manual resets of rows."""
    env = FrameStack(counter(num_envs, mode), 3)
    first, _ = env.reset(seed=0)
    assert env.observation_space.shape == first.shape == (num_envs, 3, 1)
    histories = [[0.0] * 3 for _ in range(num_envs)]
    waiting = [False] * num_envs
    for step in range(14):
        observations, _, terminated, truncated, info = env.step(still(env))
        ended = (terminated | truncated).tolist()
        for row in range(num_envs):
            last = [*histories[row], histories[row][-1] + 1.0]
            if mode is SAME and ended[row]:
                assert info["final_obs"][row, :, 0].tolist() == last[-3:]
            is_new = waiting[row] or (mode is SAME and ended[row])
            histories[row] = [0.0] * 3 if is_new else last
        waiting = ended if mode is NEXT else [False] * num_envs
        asked = [row for row in range(num_envs) if ended[row] or (step + row) % 6 == 5]
        if mode is DISABLED and asked:
            observations, _ = env.reset(options={"env_idx": asked})
            for row in asked:
                histories[row] = [0.0] * 3
        stacks = [history[-3:] for history in histories]
        assert observations[..., 0].tolist() == stacks, f"step {step}"


def test_manual_reset_fills_the_frame_stack_once() -> None:
    """Row 0 ends after three steps, and is reset before the step that would follow."""
    env = FrameStack(counter(mode=NEXT), 3)
    env.reset(seed=0)
    for _ in range(3):
        _, _, terminated, _, _ = env.step(still(env))
    assert terminated.tolist() == [True, False]
    mask = torch.tensor([True, False])
    seen, _ = env.reset(options={"reset_mask": mask})
    assert seen[..., 0].tolist() == [[0, 0, 0], [1, 2, 3]]
    stacks = [env.step(still(env))[0][..., 0].tolist() for _ in range(3)]
    assert [stack[0] for stack in stacks] == [[0, 0, 1], [0, 1, 2], [1, 2, 3]]
    assert [stack[1] for stack in stacks] == [[2, 3, 4], [0, 0, 0], [0, 0, 1]]


def test_returned_frame_stack_is_a_copy() -> None:
    env = FrameStack(counter(), 2)
    seen, _ = env.reset(seed=0)
    kept = seen.clone()
    env.step(still(env))
    seen[0] = 7.0
    assert torch.equal(kept, torch.zeros(2, 2, 1))
    assert env.step(still(env))[0][0, :, 0].tolist() == [1.0, 2.0]


# Repeated actions.


def test_action_repeat_sums_rewards_until_the_episode_ends() -> None:
    env = ActionRepeat(counter(), 2)
    outputs = run(env, 3)
    assert [each[0] for each in outputs] == [[2, 2], [0, 0], [2, 2]]
    # Row 0 ends in the first of steps 3 and 4, row 1 in the second.
    assert [each[1] for each in outputs] == [[3, 3], [3, 7], [3, 3]]
    assert [each[2] for each in outputs] == [[False] * 2, [True] * 2, [False] * 2]
    info = outputs[1][3]
    assert info["final_obs"][:, 0].tolist() == [3.0, 4.0]
    assert info["final_info"]["elapsed_steps"].tolist() == [3, 4]
    assert info["elapsed_steps"].tolist() == [0, 0]


def test_a_repeated_action_keeps_the_other_modes() -> None:
    outputs = run(ActionRepeat(counter(mode=NEXT), 2), 4)
    assert [each[0] for each in outputs] == [[2, 2], [3, 4], [0, 0], [2, 2]]
    assert [each[1] for each in outputs] == [[3, 3], [3, 7], [0, 0], [3, 3]]
    assert [each[2] for each in outputs] == [
        [False] * 2,
        [True] * 2,
        *[[False] * 2] * 2,
    ]
    env = ActionRepeat(counter(mode=DISABLED), 2)
    assert run(env, 2)[-1][0] == [3, 4]


def test_manual_reset_restarts_action_repeat() -> None:
    """Row 0 ends in the second of its two repeated steps, row 1 after it."""
    env = ActionRepeat(counter(mode=NEXT), 2)
    env.reset(seed=0)
    for _ in range(2):
        _, _, terminated, _, _ = env.step(still(env))
    assert terminated.tolist() == [True, True]
    env.reset(options={"reset_mask": torch.tensor([True, False])})
    seen, reward, *_ = env.step(still(env))
    # Row 1 was not reset, and is reset in this step, without a reward.
    assert seen[:, 0].tolist() == [2, 0] and reward.tolist() == [3, 0]


def test_wrappers_work_together() -> None:
    env = VectorEnv(FrameStack(ActionRepeat(counter(), 2), 2), record_metrics=True)
    env.reset(seed=0)
    seen = [env.step(still(env)) for _ in range(2)]
    assert seen[0][0][..., 0].tolist() == [[0, 2], [0, 2]]
    info = seen[1][4]
    assert info["final_observation"][..., 0].tolist() == [[2, 3], [2, 4]]
    assert info["final_info"]["episode"]["return"].tolist() == [6.0, 10.0]
    assert seen[1][0][..., 0].tolist() == [[0, 0], [0, 0]]


# By name.


def test_mjlab_make_accepts_task_ids_and_gymnasium_ids() -> None:
    for name in ("Cartpole-Balance", "mjlab/Cartpole-Balance-v0"):
        env = mjlab.make(name, num_envs=2, backend="native", max_episode_steps=3)
        outer = VectorEnv(FlattenActionSpace(env), record_metrics=True)
        outer.reset(seed=0)
        for _ in range(3):
            *_, truncated, _ = outer.step(still(outer))
        assert truncated.tolist() == [True, True]
        outer.close()
