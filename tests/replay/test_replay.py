"""Replay of recorded episodes by actions and by states, alone and in parallel."""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from gymnasium.spaces import Dict

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.gym import TorchVectorEnv
from mjlab.gym.record_episode import RecordEpisode
from mjlab.names import UnknownNameError
from mjlab.recording.config import RecordingError
from mjlab.recording.reader import Recording
from mjlab.replay.replay import Replay, ReplayError
from mjlab.replay.replay_report import ReplayReport
from mjlab.replay.replayed_file import ReplayedFile
from mjlab.replay.robomimic import RobomimicFile
from tests.tools.film_reader import read_film
from tests.worlds.gym_tasks import cartpole, remembering, two_terms, worlds
from tests.worlds.synthetic import SyntheticCfg

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "replay.py"
MODES = ["same_step", "next_step", "disabled"]

GRID = list(itertools.product(MODES, ["actions", "states"], [1, 4, 16]))

MakeCfg = Callable[[], ManagerBasedRlEnvCfg]


def synthetic() -> ManagerBasedRlEnvCfg:
    """Every feature: delays, histories, noise, pushes, masses, a curriculum."""
    cfg = SyntheticCfg(seed=3, episode_length_s=9 * 0.02)
    cfg.sim.backend = "native"
    return cfg


def record(
    cfg: ManagerBasedRlEnvCfg,
    folder: Path,
    *,
    steps: int = 40,
    mode: str = "same_step",
    groups: Any = None,
    **settings: Any,
) -> Path:
    """Record random actions of three rows; return the file."""
    form = TorchVectorEnv(worlds(cfg, 3, groups=groups), autoreset_mode=mode)
    settings = {"env_kwargs": {"groups": groups}, **settings}
    venv = RecordEpisode(
        form, folder, save_video=False, trajectory_name="episodes", **settings
    )
    venv.reset(seed=4)
    random = torch.Generator().manual_seed(1)
    width = sum(cfg_term.shape[0] for cfg_term in _boxes(venv))
    for _ in range(steps):
        actions = torch.rand(3, width, generator=random) * 2.0 - 1.0
        _, _, terminated, truncated, _ = venv.step(_by_term(venv, actions))
        ended = terminated | truncated
        if mode == "disabled" and ended.any():
            venv.reset(options={"reset_mask": ended})
    venv.close()
    return folder / "episodes.h5"


def _boxes(venv: Any) -> list[Any]:
    space = venv.single_action_space
    return list(space.spaces.values()) if isinstance(space, Dict) else [space]


def _by_term(venv: Any, actions: torch.Tensor) -> Any:
    space = venv.single_action_space
    if not isinstance(space, Dict):
        return actions
    sizes = [box.shape[0] for box in space.spaces.values()]
    return dict(zip(space.spaces, actions.split(sizes, dim=1), strict=True))


def world_of(cfg: ManagerBasedRlEnvCfg, num_envs: int) -> ManagerBasedRlEnv:
    cfg.scene.num_envs = num_envs
    return ManagerBasedRlEnv(cfg, device="cpu")


def account_of(replay: Replay, numbers: list[int] | None = None) -> ReplayReport:
    account = ReplayReport(replay)
    for replayed in replay.run(numbers):
        account.add(replayed)
    return account


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recordings of a cartpole with noise, delays and histories, by mode."""
    return {
        mode: record(remembering(), tmp_path_factory.mktemp(mode), mode=mode)
        for mode in MODES
    }


@pytest.mark.parametrize(
    "mode, by, num_envs",
    [
        ("same_step", "actions", 4),
        ("next_step", "states", 4),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in GRID),
    ],
)
def test_a_replay_equals_the_recording_bit_for_bit(
    files: dict[str, Path], mode: str, by: Any, num_envs: int
) -> None:
    with Recording(files[mode]) as recording:
        replay = Replay(world_of(remembering(), num_envs), recording, by=by)
        account = account_of(replay)
        assert account.episodes == account.claimed == len(recording) > 8
        assert not account.left_out
        compared = set(account.tallies)
        assert {"rewards", "terminated", "success", "physics/sim.state"} <= compared
        assert {"obs/actor", "obs/memory/position", "obs/memory/velocity"} <= compared
        assert not any(tally.unequal for tally in account.tallies.values())
        rows = account.steps + account.episodes
        assert account.tallies["obs/actor"].rows == rows


def test_cached_values_of_a_state_are_discarded_when_another_is_set(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recording(files["same_step"]) as recording:
        env = world_of(remembering(), 4)
        replay = Replay(env, recording, by="states")
        kept: list[torch.Tensor] = []
        env.scene.caches.append(kept.clear)

        def kept_positions() -> torch.Tensor:
            if not kept:
                kept.append(env.sim.data.qpos.clone())
            return kept[0]

        seen: list[bool] = []
        look, actions = replay._outcomes, replay._actions_of
        # Without its actions a world reaches another state, unless states are written.
        monkeypatch.setattr(replay, "_actions_of", lambda *of: 0.0 * actions(*of))
        monkeypatch.setattr(replay, "_outcomes", lambda: (kept_positions(), look())[1])
        monkeypatch.setattr(
            replay,
            "_watch",
            lambda *_: seen.append(torch.equal(kept_positions(), env.sim.data.qpos)),
        )
        assert len(list(replay.run([0, 1]))) == 2
        assert len(seen) > 5 and all(seen)


@pytest.mark.parametrize("by", ["actions", "states"])
def test_every_feature_is_replayed_bit_for_bit(tmp_path: Path, by: Any) -> None:
    file = record(synthetic(), tmp_path, steps=25)
    with Recording(file) as recording:
        assert len({int(e.read("start/step_counter")) for e in recording}) > 1
        account = account_of(Replay(world_of(synthetic(), 4), recording, by=by))
    assert account.claimed == account.episodes > 5
    assert account.is_as_claimed, "\n".join(account.lines())
    assert not account.left_out


def test_actions_by_term_and_one_group_are_understood(tmp_path: Path) -> None:
    with Recording(record(two_terms(), tmp_path, steps=8, groups="actor")) as recording:
        account = account_of(Replay(world_of(two_terms(), 3), recording))
    assert account.is_as_claimed and account.claimed == account.episodes
    assert "obs/actor" in account.tallies and not account.left_out


def test_the_observation_before_an_action_is_of_the_state_before_it(
    files: dict[str, Path],
) -> None:
    """By states, in a world with another gravity: states determine the trajectory."""
    cfg = remembering()
    cfg.sim.mujoco.gravity = (3.0, 0.0, -2.0)
    with Recording(files["same_step"]) as recording:
        astray = account_of(Replay(world_of(cfg, 4), recording))
        replay = Replay(world_of(cfg, 4), recording, by="states")
        held = account_of(replay)
        for replayed in replay.run([0, 5]):
            # The actor observes the cart, the sine and cosine of the pole, and
            # velocities.
            states = replayed.episode.read("physics/sim.state").float()
            seen = replayed.values["obs/actor"]
            assert torch.equal(seen[:, 0], states[:, 1])
    assert not astray.is_as_claimed
    assert astray.tallies["obs/actor"].unequal and astray.tallies["rewards"].unequal
    assert not held.tallies["physics/sim.state"].unequal
    assert not held.tallies["obs/actor"].unequal
    assert not held.tallies["obs/memory/position"].unequal


def test_a_false_claim_of_exactness_is_reported(
    files: dict[str, Path], tmp_path: Path
) -> None:
    file = _changed(files["same_step"], tmp_path)
    with Recording(file) as recording:
        account = account_of(Replay(world_of(remembering(), 4), recording), [2, 3])
    assert account.broken == [3]
    assert account.lines()[-1] == (
        "NOT EXACT: episodes 3 should be bit-identical, but differ. Check that "
        "task, configuration and version are the same."
    )
    said = next(line for line in account.lines() if line.startswith("rewards"))
    assert said.endswith("by up to 0.5; the first is in row 1 of episode 3.")


def _changed(file: Path, folder: Path) -> Path:
    """A copy with a changed reward in episode 3."""
    copy = folder / "changed.h5"
    copy.write_bytes(file.read_bytes())
    with h5py.File(copy, "r+") as opened:
        opened["traj_3/rewards"][1] += 0.5
    return copy


# Files.


def test_a_file_with_other_observations_is_a_recording_too(
    files: dict[str, Path], tmp_path: Path
) -> None:
    cfg = remembering()
    memory = cfg.observations["memory"]
    assert memory is not None and memory.terms["position"] is not None
    memory.terms["position"].history_length = 5
    new = tmp_path / "new.h5"
    with Recording(files["same_step"]) as recording:
        env = world_of(cfg, 4)
        replay = Replay(env, recording, other_observations=True)
        account = ReplayReport(replay)
        written = ReplayedFile(new, replay, groups=("memory",))
        for replayed in replay.run([4, 1]):
            account.add(replayed)
            written.add(replayed)
        assert not new.exists()
        written.close()
        old = recording.episode(4)
        assert account.is_as_claimed
        assert list(account.left_out) == ["obs/memory/position"]
        with Recording(new) as made:
            assert made.numbers == [0, 1]
            first = made.episode(0)
            assert torch.equal(first.read("actions"), old.read("actions"))
            assert torch.equal(first.read("rewards"), old.read("rewards"))
            tree = first.read_tree("obs")
            assert isinstance(tree, dict) and list(tree) == ["memory"]
            position = first.read("obs/memory/position")
            assert position.shape == (old.length + 1, 10)
            # That file can be replayed too, with its own histories.
            again = account_of(Replay(world_of(cfg, 1), made))
            assert again.claimed == 2 and again.is_as_claimed
            assert "obs/memory/position" in again.tallies
    sidecar = json.loads(new.with_suffix(".json").read_text())
    assert sidecar["source_type"] == "replay"
    assert sidecar["episodes"][0]["elapsed_steps"] == old.length


def test_robomimics_layout_has_the_data_before_and_after_each_action(
    files: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "demos.hdf5"
    with Recording(files["same_step"]) as recording:
        replay = Replay(world_of(remembering(), 4), recording)
        file = ReplayedFile(tmp_path / "new.h5", replay, groups=("actor", "memory"))
        for replayed in replay.run([0, 2]):
            file.add(replayed)
        file.close()
        with Recording(file.path) as made:
            RobomimicFile(path).write(made)
        source = recording.episode(2)
        seen = source.read("obs/actor").numpy()
        with h5py.File(path, "r") as opened:
            data = opened["data"]
            assert set(data) == {"demo_0", "demo_1"}
            lengths = [data[name].attrs["num_samples"] for name in sorted(data)]
            assert data.attrs["total"] == sum(lengths)
            assert data.attrs["format_version"] == 1
            args = json.loads(data.attrs["env_args"])
            assert set(args) == {"env_name", "env_type", "env_kwargs"}
            demo = data["demo_1"]
            assert demo.attrs["seed"] == source.seed
            assert demo.attrs["success"] == source.success
            np.testing.assert_array_equal(demo["obs/actor"], seen[:-1])
            np.testing.assert_array_equal(demo["next_obs/actor"], seen[1:])
            np.testing.assert_array_equal(demo["actions"], source.read("actions"))
            np.testing.assert_array_equal(demo["rewards"], source.read("rewards"))
            states = source.read("physics/sim.state")
            np.testing.assert_array_equal(demo["states"], states[:-1])
            assert demo["dones"][()].tolist() == [0] * (source.length - 1) + [1]
            assert demo["obs/memory/position"].compression == "gzip"


def test_failed_conversion_leaves_no_file(
    files: dict[str, Path], tmp_path: Path
) -> None:
    with Recording(files["same_step"]) as recording:
        replay = Replay(world_of(cartpole(), 1), recording)
        file = ReplayedFile(tmp_path / "new.h5", replay)
        file.drop()
        with pytest.raises(UnknownNameError, match=r"no observation group 'critics'"):
            ReplayedFile(tmp_path / "new.h5", replay, groups=("critics",))
        with pytest.raises(ReplayError, match="is the recording to replay"):
            ReplayedFile(files["same_step"], replay)
    assert list(tmp_path.iterdir()) == []


# The reader, with files made by h5py alone.


def by_hand(path: Path, **attributes: Any) -> Path:
    """A recording of two episodes, without its JSON file."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "mjlab-episodes", "format_version": 2})
        file.attrs.update(attributes)
        for number, length in ((0, 3), (10, 2)):
            group = file.create_group(f"traj_{number}")
            about = {"episode_id": number, "world": 1, "elapsed_steps": length}
            group.attrs.update(about)
            group["actions"] = np.ones((length, 1), np.float32)
            group["obs/actor/angle"] = np.arange(length + 1.0)
            group["start/scene.sensor.robot/gyro"] = np.float32(2.0)
    return path


def test_tensors_are_read_by_their_paths(tmp_path: Path) -> None:
    with Recording(by_hand(tmp_path / "a.h5", env_id="Cartpole-Balance")) as recording:
        assert recording.env_id == "Cartpole-Balance" and recording.numbers == [0, 10]
        assert [episode.length for episode in recording] == [3, 2]
        last = recording[-1]
        assert (last.number, last.world, last.seed, last.success) == (10, 1, None, None)
        assert last.names == [
            "actions",
            "obs/actor/angle",
            "start/scene.sensor.robot/gyro",
        ]
        assert last.read("actions").tolist() == [[1.0], [1.0]]
        assert list(last.read_all("start")) == ["scene.sensor.robot/gyro"]
        tree = last.read_tree("obs")
        assert isinstance(tree, dict) and isinstance(tree["actor"], dict)
        with pytest.raises(UnknownNameError) as caught:
            last.read("reward")
        assert str(caught.value).startswith(
            f"Episode 10 of {tmp_path / 'a.h5'} has no tensor 'reward'. Valid names"
        )
        with pytest.raises(UnknownNameError, match=r"no episode 3\. It has 2: 0 to 10"):
            recording.episode(3)


def test_a_file_that_is_not_a_recording_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"The recording .*b\.h5 does not exist"):
        Recording(tmp_path / "b.h5")
    (tmp_path / "text.h5").write_text("no")
    with pytest.raises(RecordingError, match="is not an HDF5 file"):
        Recording(tmp_path / "text.h5")
    with pytest.raises(RecordingError, match="is None, but must be 'mjlab-ep"):
        h5py.File(tmp_path / "other.h5", "w").close()
        Recording(tmp_path / "other.h5")
    with pytest.raises(RecordingError, match="has format version 9"):
        Recording(by_hand(tmp_path / "new.h5", format_version=9))


def test_interrupted_recording_is_replayed_to_its_end(
    files: dict[str, Path], tmp_path: Path
) -> None:
    """Its episodes are in parts, without a list."""
    parts = tmp_path / "episodes.parts"
    parts.mkdir()
    (parts / "00000000.h5").write_bytes(files["same_step"].read_bytes())
    with h5py.File(parts / "00000000.h5", "r+") as part:
        for name in set(part) - {"traj_0", "traj_1"}:
            del part[name]
    with Recording(tmp_path / "episodes.h5") as recording:
        assert len(recording) == 2
        assert recording.env_kwargs["num_envs"] == 3
        account = account_of(Replay(world_of(remembering(), 2), recording))
    assert account.claimed == account.episodes == 2 and account.is_as_claimed


def test_an_impossible_replay_is_refused_with_the_reason(
    files: dict[str, Path], tmp_path: Path
) -> None:
    bare = by_hand(tmp_path / "bare.h5")
    with h5py.File(bare, "r+") as opened:
        del opened["traj_0/start"]
    with Recording(bare) as recording, pytest.raises(ReplayError) as caught:
        account_of(Replay(world_of(cartpole(), 1), recording))
    assert str(caught.value) == (
        f"Episode 0 of {bare} has no 'start', the initial state of a replay: "
        "record with record_physics=True."
    )
    with Recording(files["same_step"]) as recording:
        env = world_of(cartpole(), 1)
        with pytest.raises(ReplayError, match="by='action' is unknown"):
            Replay(env, recording, by="action")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="other terms"):
            account_of(Replay(env, recording))


# The script.


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_script_draws_writes_and_lists_inexact_parts(
    tmp_path: Path, renderer_works: None
) -> None:
    from mjlab.gym.build import make

    settings = {"seed": 5, "max_episode_steps": 8}
    form = make("Cartpole-Balance", num_envs=2, **settings)
    venv = RecordEpisode(
        form,
        tmp_path,
        save_video=False,
        trajectory_name="a",
        env_id="Cartpole-Balance",
        env_kwargs=settings,
    )
    venv.reset(seed=1)
    for _ in range(17):
        venv.step(torch.full((2, 1), 0.3))
    venv.close()
    file, film = tmp_path / "a.h5", tmp_path / "out.mp4"
    done = script(
        str(file), "--episodes", "0", "3", "--video", str(film), "--num-envs", "1"
    )
    assert done.returncode == 0, done.stderr
    assert "All 2 episodes are exact, bit for bit." in done.stdout
    assert len(read_film(film).frames) == 2 * 9
    new = tmp_path / "new.h5"
    done = script(str(file), "--by", "states", "--save", str(new), "--groups", "critic")
    assert done.returncode == 0, done.stderr
    with Recording(new) as made:
        assert made.episode(0).read("obs/critic").shape[0] == 9
    with h5py.File(file, "r+") as opened:
        opened["traj_1/rewards"][2] = 7.0
    done = script(str(file))
    assert done.returncode == 1
    assert "NOT EXACT: episodes 1 should be bit-identical" in done.stdout
    done = script(str(tmp_path / "none.h5"))
    assert done.returncode == 2
    assert (
        done.stderr == f"error: The recording {tmp_path / 'none.h5'} does not exist.\n"
    )
