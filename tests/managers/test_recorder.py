"""Files of `cfg.recorders`, read with h5py, compared with a manual loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.managers import RecorderTermCfg, TermError
from mjlab.recording import RecordingCfg, RecordingError
from tests.replay.test_record_episode import load
from tests.worlds import gym_tasks

ENDS = [(0, 3), (1, 4), (2, 5)]


def entity() -> Any:
    return gym_tasks.SceneEntityCfg("cartpole")


def recorders() -> dict[str, RecorderTermCfg | None]:
    return {
        "actions": RecorderTermCfg(func=mdp.raw_actions),
        "processed": RecorderTermCfg(
            func=mdp.processed_actions, params={"term": "force"}
        ),
        "obs": RecorderTermCfg(func=mdp.observation_group, when="pre_step"),
        "joints": RecorderTermCfg(
            func=mdp.joint_states, params={"asset_cfg": entity()}, when="state"
        ),
        "root": RecorderTermCfg(
            func=mdp.root_states, params={"asset_cfg": entity()}, when="post_step"
        ),
        "start": RecorderTermCfg(func=mdp.entity_states, when="post_reset"),
        "length": RecorderTermCfg(func=gym_tasks.steps_so_far, when="pre_reset"),
        "left_out": None,
    }


def build(
    cfg: ManagerBasedRlEnvCfg, folder: Path, *, num_envs: int = 3, **settings: Any
) -> ManagerBasedRlEnv:
    cfg.scene.num_envs = num_envs
    cfg.recorders = cfg.recorders or recorders()
    cfg.recording = RecordingCfg(folder=str(folder), name="run", **settings)
    return ManagerBasedRlEnv(cfg, device="cpu")


@pytest.mark.parametrize(
    ("when", "final_obs"),
    [
        ("same_step", False),
        ("same_step", True),
        ("next_step", False),
        ("never", False),
    ],
)
def test_recorded_data_equal_a_manual_loop(
    when: Any, final_obs: bool, tmp_path: Path
) -> None:
    cfg = gym_tasks.scripted()
    cfg.final_obs = final_obs
    env = build(cfg, tmp_path)
    env.choose_resets(when, final_obs=final_obs)
    data = env.scene.entity("cartpole").data
    random = torch.Generator().manual_seed(2)
    shown, _ = env.reset(seed=5)
    begun = [data.joint_pos[row].clone() for row in range(3)]
    noted: list[dict[str, list[Any]]] = [
        {"seen": [], "given": [], "pos": []} for _ in range(3)
    ]
    over: list[tuple[int, Any, dict[str, list[Any]]]] = []
    ended = torch.zeros(3, dtype=torch.bool)
    for _ in range(6):
        action = torch.rand((3, 1), generator=random)
        before = shown["actor"]
        shown, _, terminated, truncated, _ = env.step(action)
        for row in range(3):
            if when == "next_step" and ended[row]:
                noted[row] = {"seen": [], "given": [], "pos": []}
                begun[row] = data.joint_pos[row].clone()
                continue
            noted[row]["seen"].append(before[row])
            noted[row]["given"].append(action[row])
            noted[row]["pos"].append(data.joint_pos[row].clone())
        ended = terminated | truncated
        for row in ended.nonzero()[:, 0].tolist():
            over.append((row, begun[row], noted[row]))
            if when == "same_step":
                noted[row] = {"seen": [], "given": [], "pos": []}
                begun[row] = data.joint_pos[row].clone()
        if when == "never" and ended.any():
            shown, _ = env.reset(mask=ended)
            for row in ended.nonzero()[:, 0].tolist():
                noted[row] = {"seen": [], "given": [], "pos": []}
                begun[row] = data.joint_pos[row].clone()
    env.close()
    found = load(tmp_path / "run.h5")
    assert len(found) > len(over) >= 3  # Those that are not over come last.
    for episode, (row, start, lists) in zip(found, over, strict=False):
        steps = len(lists["given"])
        assert (episode["attrs"]["world"], steps) in [*ENDS, (0, 3)]
        assert episode["attrs"]["world"] == row
        given = torch.stack(lists["given"]).numpy()
        np.testing.assert_array_equal(episode["actions"], given)
        np.testing.assert_array_equal(episode["obs"], torch.stack(lists["seen"]))
        counted = np.arange(1, steps + 1, dtype=np.float32)
        np.testing.assert_array_equal(episode["rewards"], counted)
        np.testing.assert_array_equal(episode["success"], counted == 2)
        np.testing.assert_array_equal(episode["start/cartpole"][13:15], start)
        positions = episode["joints/pos"]
        np.testing.assert_array_equal(positions[0], start)
        assert len(positions) == steps + 1
        # Of the last step, the loop sees the next episode where it begins at once.
        until = steps - 1 if when == "same_step" else steps
        seen = torch.stack(lists["pos"])[:until]
        np.testing.assert_array_equal(positions[1 : until + 1], seen)
        assert episode["length"] == steps
        assert episode["root"].shape == (steps, 13)
        assert episode["processed"].shape == (steps, 1)
        assert "left_out" not in episode


def test_the_state_at_the_end_is_the_one_before_the_reset(tmp_path: Path) -> None:
    """Against a twin that is never reset."""
    env = build(gym_tasks.scripted(), tmp_path, num_envs=1)
    twin_cfg = gym_tasks.scripted()
    twin_cfg.scene.num_envs = 1
    twin = ManagerBasedRlEnv(twin_cfg, device="cpu")
    twin.choose_resets("never")
    env.reset(seed=5)
    twin.reset(seed=5)
    for _ in range(3):
        env.step(torch.ones(1, 1))
        twin.step(torch.ones(1, 1))
    env.close()
    last = load(tmp_path / "run.h5")[0]["joints/pos"][-1]
    expected = twin.scene.entity("cartpole").data.joint_pos[0]
    np.testing.assert_array_equal(last, expected)


def test_recording_does_not_change_the_run(tmp_path: Path) -> None:
    env = build(gym_tasks.remembering(), tmp_path)
    cfg = gym_tasks.remembering()
    cfg.scene.num_envs = 3
    plain = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset(seed=1)
    plain.reset(seed=1)
    for _ in range(30):
        action = torch.full((3, 1), 0.3)
        ours, theirs = env.step(action), plain.step(action)
        assert torch.equal(ours[0]["actor"], theirs[0]["actor"])
        assert torch.equal(ours[1], theirs[1])
    env.close()


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (
            RecorderTermCfg(func=gym_tasks.steps_so_far, when="post_stop"),  # pyright: ignore[reportArgumentType]
            "Recorder term 'x' has when='post_stop'.*'post_step'",
        ),
        (
            RecorderTermCfg(func=mdp.observation_group, params={"group": "actr"}),
            "There is no observation group 'actr'.*'actor'",
        ),
        (
            RecorderTermCfg(func=lambda env: torch.zeros(2)),
            r"'x' has shape \(2,\); a recorded tensor needs shape \(3, \.\.\.\)",
        ),
        (
            RecorderTermCfg(func=lambda env: None),
            "Recorder term 'x' returned NoneType; it has to return a tensor",
        ),
    ],
)
def test_a_term_that_cannot_be_recorded_is_named_before_any_step(
    term: RecorderTermCfg, message: str, tmp_path: Path
) -> None:
    cfg = gym_tasks.scripted()
    cfg.recorders = {"x": term}
    with pytest.raises((TermError, RecordingError), match=message):
        build(cfg, tmp_path)


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    cfg = gym_tasks.scripted()
    cfg.recorders = {"rewards": RecorderTermCfg(func=gym_tasks.step_number)}
    with pytest.raises(TermError, match="Two recorded fields are named 'rewards'"):
        build(cfg, tmp_path)


def test_steps_before_the_first_reset_belong_to_no_episode(tmp_path: Path) -> None:
    env = build(gym_tasks.scripted(), tmp_path, num_envs=1)
    env.step(torch.zeros(1, 1))
    env.reset(seed=0)
    env.step(torch.zeros(1, 1))
    env.step(torch.zeros(1, 1))
    env.close()
    assert [len(e["rewards"]) for e in load(tmp_path / "run.h5")] == [2]
