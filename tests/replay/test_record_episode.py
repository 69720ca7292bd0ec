"""Files of `RecordEpisode`, read with h5py alone, compared with manual loops."""

import json
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Step
from mjlab.envs.autoreset import reset_ended
from mjlab.gym import FlattenActionSpace, FrameStack, TorchVectorEnv, VectorEnv
from mjlab.recording import RecordingError, read_index
from mjlab.replay import RecordEpisode
from tests.worlds import gym_tasks

STEPS = 40


def recorded(
    cfg: ManagerBasedRlEnvCfg,
    folder: Path,
    *,
    num_envs: int = 3,
    mode: str = "same_step",
    groups: Any = "actor",
    **settings: Any,
) -> RecordEpisode:
    worlds = gym_tasks.worlds(cfg, num_envs, groups=groups)
    env = TorchVectorEnv(worlds, autoreset_mode=mode)
    settings = {"save_video": False, "trajectory_name": "run"} | settings
    return RecordEpisode(env, folder, **settings)


def draw_actions(num_envs: int, steps: int = STEPS, width: int = 1) -> torch.Tensor:
    random = torch.Generator().manual_seed(4)
    return torch.rand((steps, num_envs, width), generator=random) * 2.0 - 1.0


def load(path: Path) -> list[dict[str, Any]]:
    """Return all episodes of a file as plain dictionaries."""
    episodes = []
    with h5py.File(path) as file:
        for index in range(len(file)):
            group = file[f"traj_{index}"]
            found: dict[str, Any] = {"attrs": dict(group.attrs)}

            def note(name: str, item: Any, found: dict[str, Any] = found) -> None:
                if not isinstance(item, h5py.Dataset):
                    return
                parts = item.dtype.names or ()
                found.update({f"{name}/{part}": item[part] for part in parts})
                if not parts:
                    found[name] = item[()]

            group.visititems(note)
            episodes.append(found)
    return episodes


# --- The same run in a manual loop --------------------------------------------------


def is_own(name: str) -> bool:
    """Return whether a tensor of this name has one row per world."""
    parts = ("sim", "rng", "scene", "action", "observation", "outcome", "termination")
    return name.split(".")[0] in parts or name == "episode_length"


class Hand:
    """Manual loop over the environment that resets and stores its data."""

    def __init__(self, cfg: ManagerBasedRlEnvCfg, num_envs: int) -> None:
        cfg.scene.num_envs, cfg.final_obs = num_envs, True
        self.env = ManagerBasedRlEnv(cfg, device="cpu")
        self.env.choose_resets("never")
        self.episodes: list[dict[str, Any]] = []
        self.running: list[dict[str, Any]] = [{} for _ in range(num_envs)]

    def reset(self, rows: torch.Tensor, seed: int | None = None) -> None:
        observations, _ = self.env.reset(mask=rows, seed=seed)
        state = self.env.get_state()
        for row in rows.nonzero()[:, 0].tolist():
            self.running[row] = {
                "world": row,
                "start": {k: state[k][row].numpy() for k in state if is_own(k)},
                "lists": {},
            }
            self._see(row, self._shown(observations))

    def step(self, action: torch.Tensor) -> torch.Tensor:
        observations, reward, terminated, truncated, _ = self.env.step(action)
        outcomes, shown = self.env.outcome_manager, self._shown(observations)
        for row in range(self.env.num_envs):
            self._note(row, "actions", action[row])
            self._note(row, "rewards", reward[row])
            self._note(row, "terminated", terminated[row])
            self._note(row, "truncated", truncated[row])
            for name in ("success", "fail"):
                self._note(row, name, outcomes.now(name)[row])
            self._see(row, shown)
        ended = terminated | truncated
        self.end(ended)
        return ended

    def end(self, rows: torch.Tensor) -> None:
        chosen = rows.nonzero()[:, 0].tolist()
        self.episodes += [self.running[row] for row in chosen]

    def _shown(self, observations: Any) -> dict[str, torch.Tensor]:
        entities = self.env.get_state_dict()["entities"]
        return {
            "obs": observations["actor"],
            "physics/sim.state": self.env.sim.snapshot()["state"],
            **{f"env_states/{name}": rows for name, rows in entities.items()},
        }

    def _see(self, row: int, shown: dict[str, torch.Tensor]) -> None:
        for name, rows in shown.items():
            self._note(row, name, rows[row])

    def _note(self, row: int, name: str, value: torch.Tensor) -> None:
        lists = self.running[row]["lists"]
        lists.setdefault(name, []).append(value.clone().numpy())


def by_hand(cfg: ManagerBasedRlEnvCfg, num_envs: int) -> list[dict[str, Any]]:
    hand = Hand(cfg, num_envs)
    everyone = torch.ones(num_envs, dtype=torch.bool)
    hand.reset(everyone, seed=7)
    for action in draw_actions(num_envs):
        ended = hand.step(action)
        if ended.any():
            hand.reset(ended)
    hand.end(everyone)  # `close` writes unfinished episodes.
    return [each for each in hand.episodes if "actions" in each["lists"]]


def equal(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    assert len(ours) == len(theirs) > 3
    for one, other in zip(ours, theirs, strict=True):
        assert one["attrs"]["world"] == other["world"]
        for name, values in other["lists"].items():
            np.testing.assert_array_equal(one[name], np.stack(values), err_msg=name)
            assert one[name].dtype == values[0].dtype, name
        for name, value in other["start"].items():
            if np.asarray(value).nbytes:  # A record does not store empty arrays.
                np.testing.assert_array_equal(one[f"start/{name}"], value, err_msg=name)


@pytest.mark.parametrize("num_envs", [1, 4, 16])
@pytest.mark.parametrize("mode", ["same_step", "disabled"])
def test_recorded_data_equal_those_of_a_manual_loop(
    num_envs: int, mode: str, tmp_path: Path
) -> None:
    env = recorded(gym_tasks.cartpole(), tmp_path, num_envs=num_envs, mode=mode)
    env.reset(seed=7)
    for action in draw_actions(num_envs):
        _, _, terminated, truncated, _ = env.step(action)
        ended = terminated | truncated
        if mode == "disabled" and ended.any():
            env.reset(options={"reset_mask": ended})
    env.close()
    theirs = by_hand(gym_tasks.cartpole(), num_envs)
    ours = load(tmp_path / "run.h5")
    # Unfinished episodes come last, by row, in both.
    equal(ours, theirs)


def test_in_the_mode_next_step_the_step_of_the_reset_is_no_part_of_an_episode(
    tmp_path: Path,
) -> None:
    env = recorded(gym_tasks.cartpole(), tmp_path, num_envs=4, mode="next_step")
    plain = TorchVectorEnv(
        gym_tasks.worlds(gym_tasks.cartpole(), 4), autoreset_mode="next_step"
    )
    env.reset(seed=7)
    seen, _ = plain.reset(seed=7)
    running: list[dict[str, list[Any]]] = [{"obs": [seen[row]]} for row in range(4)]
    over: list[tuple[int, dict[str, list[Any]]]] = []
    ended = torch.zeros(4, dtype=torch.bool)
    for action in draw_actions(4):
        env.step(action)
        seen, reward, terminated, truncated, _ = plain.step(action)
        for row in range(4):
            if ended[row]:
                running[row] = {"obs": [seen[row]]}
                continue
            noted = {"obs": seen, "actions": action, "rewards": reward}
            for name, value in noted.items():
                running[row].setdefault(name, []).append(value[row])
            if terminated[row] | truncated[row]:
                over.append((row, running[row]))
        ended = terminated | truncated
    over += [
        (row, running[row])
        for row in range(4)
        if not ended[row] and "actions" in running[row]
    ]
    env.close()
    ours = load(tmp_path / "run.h5")
    assert len(ours) == len(over) > 4
    for one, (row, lists) in zip(ours, over, strict=True):
        assert one["attrs"]["world"] == row
        for name, values in lists.items():
            np.testing.assert_array_equal(one[name], torch.stack(values).numpy())


# --- The layout -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Episodes of a counter: world i has 3 + i steps, at most 6, over 12 steps."""
    path = tmp_path_factory.mktemp("scripted")
    env = recorded(
        gym_tasks.scripted(),
        path,
        num_envs=4,
        env_id="Counter",
        env_cfg="{}",
        source_type="script",
        source_desc="zeros",
    )
    env.reset(seed=20)
    for _ in range(12):
        env.step(torch.zeros(4, 1))
    env.close()
    return path


def test_datasets_have_a_row_for_each_step_and_states_one_more(folder: Path) -> None:
    with h5py.File(folder / "run.h5") as file:
        assert file.attrs["format"] == b"mjlab-episodes"
        assert file.attrs["format_version"] == 2
        assert file.attrs["env_id"] == b"Counter"
        assert file.attrs["backend"] == b"native"
        assert file.attrs["env_cfg"] == b"{}"
        group = file["traj_0"]
        shapes = {
            "actions": ((3, 1), np.float32),
            "rewards": ((3,), np.float32),
            "terminated": ((3,), np.bool_),
            "truncated": ((3,), np.bool_),
            "success": ((3,), np.bool_),
            "fail": ((3,), np.bool_),
            "obs": ((4, 1), np.float32),
            "env_states/cartpole": ((4, 13 + 4), np.float32),
        }
        for name, (shape, dtype) in shapes.items():
            assert group[name].shape == shape, name
            assert group[name].dtype == dtype, name
        assert group["physics/sim.state"].dtype == np.float64
        assert group["physics/sim.state"].shape[0] == 4
        assert group["start"]["step_counter"].shape == ()
        assert set(group["physics"]) <= set(group["start"].dtype.names)


def test_episodes_are_cut_where_their_own_world_ends(folder: Path) -> None:
    episodes = load(folder / "run.h5")
    found = [(int(e["attrs"]["world"]), len(e["rewards"])) for e in episodes]
    # World 0 ends after 3, 6, 9, 12 steps; 1 after 4, 8, 12; 2 after 5, 10; 3 after 6.
    assert found == [
        *[(0, 3), (1, 4), (2, 5), (0, 3), (3, 6), (1, 4), (0, 3), (2, 5)],
        *[(0, 3), (1, 4), (3, 6), (2, 2)],
    ]
    for episode in episodes:
        steps = len(episode["rewards"])
        counted = np.arange(steps + 1, dtype=np.float32)
        np.testing.assert_array_equal(episode["obs"][:, 0], counted)
        np.testing.assert_array_equal(episode["rewards"], counted[1:])
        np.testing.assert_array_equal(episode["success"], counted[1:] == 2)
        np.testing.assert_array_equal(episode["fail"], counted[1:] >= 4)
        ends = episode["terminated"] | episode["truncated"]
        assert not ends[:-1].any()
        assert ends[-1] == (steps > 2)


def test_the_sidecar_lists_the_episodes(folder: Path) -> None:
    record = json.loads((folder / "run.json").read_text())
    assert record["env_info"] == {
        "env_id": "Counter",
        "env_kwargs": {"num_envs": 4},
        "max_episode_steps": 6,
    }
    assert record["source_type"] == "script"
    assert record["source_desc"] == "zeros"
    assert record["episodes"][3] == {
        "episode_id": 3,
        "episode_seed": 20,
        "world": 0,
        "elapsed_steps": 3,
        "success": False,
        "fail": False,
    }
    assert read_index(folder / "run.h5") == record
    assert sorted(path.name for path in folder.iterdir()) == ["run.h5", "run.json"]


def test_observations_and_actions_by_name_are_groups(tmp_path: Path) -> None:
    env = recorded(
        gym_tasks.two_terms(), tmp_path, num_envs=2, groups=None, mode="disabled"
    )
    shown, _ = env.reset(seed=1)
    random = torch.Generator().manual_seed(0)
    given = {k: torch.rand(2, 6, generator=random) for k in ("rear", "front")}
    seen, *_ = env.step(given)
    env.close()
    (one, two) = load(tmp_path / "run.h5")
    for row, episode in enumerate((one, two)):
        for name, value in given.items():
            np.testing.assert_array_equal(
                episode[f"actions/{name}"][0], value[row].numpy()
            )
        for name in ("actor", "critic"):
            expected = np.stack([shown[name][row].numpy(), seen[name][row].numpy()])
            np.testing.assert_array_equal(episode[f"obs/{name}"], expected)
        assert episode["env_states/robot"].shape == (2, 13 + 2 * 12)


def test_observations_equal_those_of_the_wrapper(tmp_path: Path) -> None:
    worlds = gym_tasks.worlds(gym_tasks.scripted(), 2)
    stack = FrameStack(FlattenActionSpace(TorchVectorEnv(worlds)), 3)
    env = VectorEnv(
        RecordEpisode(stack, tmp_path, save_video=False, trajectory_name="run"),
        record_metrics=True,
    )
    env.reset(seed=0)
    for _ in range(3):
        env.step(torch.zeros(2, 1))
    env.close()
    first = load(tmp_path / "run.h5")[0]
    expected = [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 2, 3]]
    np.testing.assert_array_equal(first["obs"][..., 0], expected)


def test_states_can_be_left_out(tmp_path: Path) -> None:
    env = recorded(
        gym_tasks.scripted(),
        tmp_path,
        record_reward=False,
        record_env_state=False,
        record_physics=False,
    )
    env.reset(seed=0)
    env.step(torch.zeros(3, 1))
    env.close()
    names = set(load(tmp_path / "run.h5")[0])
    assert not {n for n in names if n.startswith(("rewards", "env_states", "physics"))}
    assert "start/sim.state" in names


# --- Manual resets --------------------------------------------------------------------


def lengths(path: Path) -> list[tuple[int, int]]:
    """Return world and steps of each episode."""
    return [
        (entry["world"], entry["elapsed_steps"])
        for entry in read_index(path)["episodes"]
    ]


def steps(env: RecordEpisode, number: int) -> None:
    for _ in range(number):
        env.step(torch.zeros(env.num_envs, 1))


def test_a_partial_reset_cuts_the_rows_it_is_for_and_no_other(tmp_path: Path) -> None:
    env = recorded(gym_tasks.scripted(), tmp_path, mode="disabled")
    options = {"env_idx": [1], "save": True}
    env.reset(seed=0)
    steps(env, 2)
    env.reset(options=options)
    assert options == {"env_idx": [1], "save": True}
    steps(env, 1)
    env.close()
    assert lengths(tmp_path / "run.h5") == [(1, 2), (0, 3), (1, 1), (2, 3)]
    episodes = load(tmp_path / "run.h5")
    np.testing.assert_array_equal(episodes[2]["obs"][:, 0], [0, 1])


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_a_reset_without_saving_drops_the_ended_episodes(
    mode: str, tmp_path: Path
) -> None:
    env = recorded(gym_tasks.scripted(), tmp_path, mode=mode)
    env.reset(seed=0)
    steps(env, 2)
    env.reset(options={"reset_mask": np.array([True, False, True]), "save": False})
    steps(env, 1)
    env.reset(options={"save": False})
    steps(env, 1)
    env.close()
    assert lengths(tmp_path / "run.h5") == [(0, 1), (1, 1), (2, 1)]


def test_empty_trajectories_are_omitted_and_the_others_renumbered(
    tmp_path: Path,
) -> None:
    for clean in (True, False):
        env = recorded(
            gym_tasks.scripted(), tmp_path / str(clean), clean_on_close=clean
        )
        env.reset(seed=0)
        env.flush_trajectory(ignore_empty_transition=False, env_idxs_to_flush=[0])
        steps(env, 2)
        env.close()
    kept = load(tmp_path / "False" / "run.h5")
    assert [len(e["rewards"]) for e in kept] == [0, 2, 2, 2]
    assert kept[0]["obs"].shape == (1, 1)
    cleaned = load(tmp_path / "True" / "run.h5")
    assert [len(e["rewards"]) for e in cleaned] == [2, 2, 2]
    assert [e["attrs"]["episode_id"] for e in cleaned] == [0, 1, 2]
    entries = read_index(tmp_path / "True" / "run.h5")["episodes"]
    numbers = [entry["episode_id"] for entry in entries]
    assert numbers == [0, 1, 2]


def test_flushing_ends_the_current_trajectory_and_starts_a_new_one(
    tmp_path: Path,
) -> None:
    env = recorded(gym_tasks.scripted(), tmp_path, num_envs=1)
    env.reset(seed=0)
    steps(env, 2)
    env.flush_trajectory()
    steps(env, 1)
    env.close()
    one, two = load(tmp_path / "run.h5")
    np.testing.assert_array_equal(one["obs"][:, 0], [0, 1, 2])
    np.testing.assert_array_equal(two["obs"][:, 0], [2, 3])
    np.testing.assert_array_equal(one["physics/sim.state"][-1], two["start/sim.state"])


def test_without_save_on_reset_an_episode_waits_for_a_request(
    tmp_path: Path,
) -> None:
    env = recorded(gym_tasks.scripted(), tmp_path, num_envs=1, save_on_reset=False)
    env.reset(seed=0)
    steps(env, 3)  # An episode that was not requested in time.
    steps(env, 3)
    env.flush_trajectory()
    steps(env, 1)
    env.close()
    assert lengths(tmp_path / "run.h5") == [(0, 3)]
    assert env.totals == {"episodes": 1, "lost": 0, "unasked": 1}
    assert load(tmp_path / "run.h5")[0]["start/step_counter"] == 3


def test_discarding_a_held_episode_leaves_the_current_one(tmp_path: Path) -> None:
    env = recorded(gym_tasks.scripted(), tmp_path, num_envs=1, save_on_reset=False)
    env.reset(seed=0)
    steps(env, 4)  # The first episode ends after 3 steps.
    env.flush_trajectory(save=False)
    steps(env, 1)
    env.flush_trajectory()
    env.close()
    assert lengths(tmp_path / "run.h5") == [(0, 2)]


# --- Selection of episodes ------------------------------------------------------------


def ending_in_the_second_step() -> ManagerBasedRlEnvCfg:
    """World i ends after 3 + i steps; success holds only in step 4."""
    cfg = gym_tasks.scripted()
    cfg.outcomes = {
        "success": gym_tasks.OutcomeTermCfg(
            func=lambda env: env.episode_length_buf == 4
        )
    }
    return cfg


@pytest.mark.parametrize(
    ("export", "expected"),
    [
        ("all", {"run": [(0, 3), (1, 4), (2, 5)]}),
        ("succeeded", {"run": [(1, 4)]}),
        ("failed", {"run": [(0, 3), (2, 5)]}),
        ("separate", {"run_succeeded": [(1, 4)], "run_failed": [(0, 3), (2, 5)]}),
        ("none", {}),
    ],
)
def test_episodes_are_chosen_by_success_in_their_last_step(
    export: Any, expected: dict[str, Any], tmp_path: Path
) -> None:
    env = recorded(
        ending_in_the_second_step(), tmp_path, export=export, mode="disabled"
    )
    env.reset(seed=0)
    for row in range(3):
        steps(env, 3 if row == 0 else 1)
        env.reset(options={"env_idx": [row]})
    env.reset(options={"save": False})
    env.close()
    found = {path.stem: lengths(path) for path in sorted(tmp_path.glob("*.h5"))}
    assert found == expected


# --- Invalid use ----------------------------------------------------------------------


def test_a_choice_by_success_needs_a_task_that_declares_it(tmp_path: Path) -> None:
    cfg = gym_tasks.scripted()
    cfg.outcomes = {}
    with pytest.raises(RecordingError, match=r"export='failed' needs the outcome"):
        recorded(cfg, tmp_path, export="failed")


def test_an_unknown_choice_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"export='succeded' is unknown.*'succ"):
        recorded(gym_tasks.scripted(), tmp_path, export="succeded")


def test_without_h5py_the_installation_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r'h5py.*pip install "mjlab-fused\[gym]'):
        recorded(gym_tasks.scripted(), tmp_path)


def test_without_opengl_a_video_is_refused_before_the_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str | None) -> Any:
        raise ImportError("libEGL.so.1: cannot open shared object file")

    monkeypatch.setattr("mjlab.render.gl._context_class", missing)
    with pytest.raises(
        RecordingError,
        match=r"save_video=True is not possible here: MuJoCo cannot render",
    ):
        recorded(gym_tasks.scripted(), tmp_path, save_video=True, max_steps_per_video=5)


def test_without_ffmpeg_a_video_is_refused_before_the_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(RecordingError, match=r'pip install "mjlab-fused\[video]"'):
        recorded(gym_tasks.scripted(), tmp_path, save_video=True, max_steps_per_video=5)


def test_a_video_of_several_rows_needs_a_length(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set max_steps_per_video to the len"):
        recorded(gym_tasks.scripted(), tmp_path, save_video=True)


def test_a_folder_that_cannot_be_created_is_an_immediate_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match=r"run\.h5 cannot be written: "):
        recorded(gym_tasks.scripted(), tmp_path / "file" / "below")


def test_worlds_without_a_state_name_the_option_to_omit(tmp_path: Path) -> None:
    from mjlab.gym import GymWorlds

    env = TorchVectorEnv(GymWorlds(Line()))
    with pytest.raises(RecordingError, match="pass record_env_state=False"):
        RecordEpisode(env, tmp_path, save_video=False)
    with pytest.raises(RecordingError, match="cannot be rendered: pass save_video=F"):
        RecordEpisode(env, tmp_path, max_steps_per_video=3)
    stateless = RecordEpisode(
        env,
        tmp_path,
        save_video=False,
        trajectory_name="run",
        record_env_state=False,
        record_physics=False,
    )
    stateless.reset(seed=0)
    for _ in range(4):
        stateless.step(torch.ones(2, 1))
    stateless.close()
    assert lengths(tmp_path / "run.h5") == [(0, 3), (1, 3), (0, 1), (1, 1)]
    np.testing.assert_array_equal(
        load(tmp_path / "run.h5")[0]["obs"][:, 0], [0, 1, 2, 3]
    )


class Line:
    """Two worlds of points that move for three steps."""

    num_envs, device, max_episode_length = 2, torch.device("cpu"), 3
    step_dt = 0.02

    def __init__(self) -> None:
        from mjlab.envs import Box

        self.place = torch.zeros(2, 1)
        self.episode_length_buf = torch.zeros(2, dtype=torch.int64)
        self.single_observation_space = self.single_action_space = Box((1,), -9.0, 9.0)

    def choose_resets(self, when: Any, **_: Any) -> None:
        self.when = when

    def reset(self, *, seed: Any = None, mask: Any = None) -> tuple[torch.Tensor, Any]:
        rows = torch.ones(2, dtype=torch.bool) if mask is None else mask
        self.place[rows] = 0.0
        self.episode_length_buf[rows] = 0
        return self.place.clone(), {}

    def step(self, actions: torch.Tensor, /) -> Step[torch.Tensor]:
        held_back = self.place[:, 0] >= 3.0
        self.place += actions
        self.episode_length_buf += 1
        over = self.place[:, 0] >= 3.0
        flags = over, torch.zeros_like(over)
        step = Step(self.place.clone(), torch.ones(2), *flags, {})
        return reset_ended(
            step, self.when, held_back, lambda mask: self.reset(mask=mask)[0]
        )

    def close(self) -> None:
        pass
