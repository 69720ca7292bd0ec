"""Recordings as datasets of LeRobot, version 3.0 of its layout.

The files are compared with the recording, read by pyarrow and, if installed, by
`lerobot`.
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import RecorderTermCfg
from mjlab.png import png
from mjlab.recording import RecordingCfg
from mjlab.recording.reader import Recording
from mjlab.replay.lerobot import LeRobotFolder
from mjlab.replay.replay import Replay, ReplayError
from mjlab.replay.replayed_file import ReplayedFile
from mjlab.tasks.manipulation import ReachYamDepthCfg

EPISODES, STEPS, RATE = 3, 10, 25


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_picture_written_as_png_is_read_as_it_was(channels: int) -> None:
    values = np.random.default_rng(0).integers(256, size=(channels, 5, 7))
    image = values.astype(np.uint8)
    read = np.asarray(Image.open(io.BytesIO(png(image))))
    np.testing.assert_array_equal(
        read.reshape(5, 7, channels).transpose(2, 0, 1), image
    )


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A recording of an arm with a camera, and its dataset."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("lerobot")
    cfg = ReachYamDepthCfg(seed=0, episode_length_s=STEPS / RATE)
    cfg.scene.num_envs, cfg.sim.backend = EPISODES, "native"
    cfg.recording = RecordingCfg(folder=str(folder), name="demos")
    cfg.recorders = {
        "actions": RecorderTermCfg(func=mdp.raw_actions),
        "obs": RecorderTermCfg(func=mdp.observation_group, when="pre_step"),
        "start": RecorderTermCfg(func=mdp.world_states, when="post_reset"),
    }
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    random = torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        env.step(torch.randn(EPISODES, 6, generator=random))
    env.close()
    cfg.recording, cfg.recorders = None, {}
    with Recording(folder / "demos.h5") as recording:
        replay = Replay(ManagerBasedRlEnv(cfg, device="cpu"), recording)
        saved = ReplayedFile(folder / "new.h5", replay, groups=("actor", "camera"))
        for replayed in replay.run():
            saved.add(replayed)
        saved.close()
    with Recording(saved.path) as recording:
        LeRobotFolder(folder / "set").write(recording)
    with pytest.raises(ReplayError, match="already exists"):
        LeRobotFolder(folder / "set")
    return folder / "demos.h5", folder / "set"


def table(path: Path) -> dict[str, list[Any]]:
    import pyarrow.parquet as parquet

    return parquet.read_table(path).to_pydict()


def test_rows_are_the_steps_of_the_recording(dataset: tuple[Path, Path]) -> None:
    source, folder = dataset
    rows = table(folder / "data/chunk-000/file-000.parquet")
    count = EPISODES * STEPS
    assert rows["index"] == list(range(count))
    assert rows["episode_index"] == [i // STEPS for i in range(count)]
    assert rows["frame_index"] == [i % STEPS for i in range(count)]
    np.testing.assert_allclose(
        rows["timestamp"], [i % STEPS / RATE for i in range(count)], atol=1e-6
    )
    assert rows["next.done"] == [i % STEPS == STEPS - 1 for i in range(count)]
    with Recording(source) as recording:
        for name, path in (("action", "actions"), ("observation.state", "obs")):
            recorded = torch.cat([episode.read(path) for episode in recording])
            np.testing.assert_array_equal(np.float32(rows[name]), recorded.numpy())
    picture = Image.open(io.BytesIO(rows["observation.camera"][7]["bytes"]))
    assert picture.size == (32, 32) and picture.mode == "L"


def test_statements_about_the_rows_are_true(dataset: tuple[Path, Path]) -> None:
    _, folder = dataset
    info = json.loads((folder / "meta/info.json").read_text())
    assert info["codebase_version"] == "v3.0" and info["fps"] == RATE
    assert info["total_episodes"] == EPISODES
    assert info["total_frames"] == EPISODES * STEPS
    rows = table(folder / "data/chunk-000/file-000.parquet")
    assert set(info["features"]) == set(rows)
    state = np.array(rows["observation.state"])
    feature = {"dtype": "float32", "shape": [state.shape[1]], "names": None}
    assert info["features"]["observation.state"] == feature
    assert info["features"]["observation.camera"]["shape"] == [32, 32, 1]
    stats = json.loads((folder / "meta/stats.json").read_text())
    for kind, expected in (
        ("min", state.min(0)),
        ("max", state.max(0)),
        ("mean", state.mean(0)),
        ("std", state.std(0)),
    ):
        np.testing.assert_allclose(
            stats["observation.state"][kind], expected, atol=1e-6
        )
    assert stats["observation.state"]["count"] == [EPISODES * STEPS]
    episodes = table(folder / "meta/episodes/chunk-000/file-000.parquet")
    assert episodes["length"] == [STEPS] * EPISODES
    assert episodes["dataset_from_index"] == [0, STEPS, 2 * STEPS]
    assert episodes["dataset_to_index"] == [STEPS, 2 * STEPS, 3 * STEPS]


def test_the_published_reader_reads_it(dataset: tuple[Path, Path]) -> None:
    reader = pytest.importorskip("lerobot.datasets.lerobot_dataset")
    source, folder = dataset
    found = reader.LeRobotDataset("local/demos", root=folder)
    assert (len(found), found.num_episodes) == (EPISODES * STEPS, EPISODES)
    row = found[STEPS + 1]
    with Recording(source) as recording:
        torch.testing.assert_close(row["action"], recording[1].read("actions")[1])
    assert row["observation.camera"].shape == (1, 32, 32) and row["task"]
