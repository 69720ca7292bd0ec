"""Malicious run folders that try to read, write or delete the user's files."""

import base64
import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest

from mjlab import mdp
from mjlab.cli import doctor, evaluate, export, motion, play, record, report, upload
from mjlab.cli.policy_files import write_file
from mjlab.cli.sources import find_source
from mjlab.cli.train import main
from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.managers import RecorderTermCfg
from mjlab.recording import Recording, RecordingCfg, RecordingError
from mjlab.recording.hdf5 import FORMAT, FORMAT_VERSION
from mjlab.registry import Task
from mjlab.replay.dumps import load_dump
from mjlab.report import write_report
from mjlab.runs import Run, RunError, find
from mjlab.runs.settings import task_text
from mjlab.runs.wandb import WandbError, artifact_of
from mjlab.settings.file import SettingsFileError, read_out, settings_text
from tests.tools.registered import registered
from tests.worlds.rl_runs import agent_cfg, env_cfg, train_without_export

TASK = "Cartpole-Balance"
SECRET = b"-----BEGIN OPENSSH PRIVATE KEY-----"


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("logs")
    return train_without_export(
        env_cfg(), agent_cfg(1), task=TASK, root=root, device="cpu"
    )[0].path


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy of the run, as received from another person."""
    to = tmp_path / "logs" / TASK / "theirs"
    shutil.copytree(trained, to)
    return to


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """File of a user, which malicious runs try to change."""
    path = tmp_path / "home" / "package.json"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


# --- Recorders ------------------------------------------------------------------------


def recording_cfg() -> ManagerBasedRlEnvCfg:
    """A task that records its training."""
    recorders = {"actions": RecorderTermCfg(func=mdp.raw_actions)}
    return dataclasses.replace(env_cfg(), recorders=recorders)


RECORDING = Task(env=recording_cfg, play=recording_cfg, rl=agent_cfg)


@pytest.fixture
def recorded(run: Path, tmp_path: Path, victim: Path) -> Iterator[Path]:
    """A run of that task, whose recorder would overwrite `package.json`."""
    folder = Run(run)
    configs = folder.configs()
    configs["env"] = dataclasses.replace(
        recording_cfg(),
        recording=RecordingCfg(
            folder=str(victim.parent), name="package", overwrite=True
        ),
    )
    with registered(tmp_path / "package", Recording=f"{__name__}:RECORDING"):
        (run / "config.json").write_text(task_text("Recording", configs))
        folder.update(task="Recording")
        yield run


def test_a_run_adds_no_recorder_to_its_task(run: Path, victim: Path) -> None:
    configs = {"env": recording_cfg(), "agent": agent_cfg(1)}
    text = settings_text(TASK, read_out(configs))
    (run / "config.json").write_text(text)
    said = r"env\.recorders\.actions: in the file, but not in the current task\."
    with pytest.raises(SettingsFileError, match=said):
        Run(run).configs()
    assert Run(run).configs(accept_changes=True)["env"].recorders == {}


VERBS: dict[str, Callable[[Path], object]] = {
    "evaluate": lambda run: evaluate.main(
        [str(run), "--episodes", "2", "--device", "cpu"]
    ),
    "play": lambda run: play.main([str(run), "--viewer", "none", "--steps", "3"]),
    "play as trained": lambda run: play.main(
        [str(run), "--viewer", "none", "--steps", "3", "--as-trained"]
    ),
    "record": lambda run: record.main(
        [str(run), "--episodes", "1", "--out", str(run / "new.h5")]
    ),
    "export": lambda run: export.main([str(run)]),
    "doctor": lambda run: doctor.main([str(run)]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_opening_a_run_records_no_data(verb, recorded, victim):
    VERBS[verb](recorded)
    assert victim.read_bytes() == SECRET
    assert [file.name for file in victim.parent.iterdir()] == [victim.name]


def test_a_run_records_to_the_path_in_its_command_line(recorded, victim, tmp_path):
    mine = tmp_path / "mine"
    evaluate.main(
        [
            *(str(recorded), "--episodes", "2", "--device", "cpu"),
            *("--env.recording.folder", str(mine)),
        ]
    )
    assert sorted(f.name for f in mine.iterdir()) == ["package.h5", "package.json"]
    assert victim.read_bytes() == SECRET


def test_training_replaces_no_file_that_is_not_a_recording(recorded, victim):
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.recording.config import RecordingError

    cfg = Run(recorded).configs()["env"]
    with pytest.raises(RecordingError, match=r"package\.json is not replaced"):
        ManagerBasedRlEnv(cfg, device="cpu")
    assert victim.read_bytes() == SECRET


# --- Links ----------------------------------------------------------------------------


def linked_film(run: Path, victim: Path) -> None:
    (run / "videos").mkdir(exist_ok=True)
    (run / "videos" / "walk.mp4").symlink_to(victim)


def linked_folder(run: Path, victim: Path) -> None:
    (run / "videos").symlink_to(victim.parent)


def linked_configuration(run: Path, victim: Path) -> None:
    (run / "config.json").unlink()
    (run / "config.json").symlink_to(victim)


def linked_checkpoints(run: Path, victim: Path) -> None:
    shutil.rmtree(run / "checkpoints")
    (run / "checkpoints").symlink_to(victim.parent)


def relative_link(run: Path, victim: Path) -> None:
    (run / "export").mkdir(exist_ok=True)
    (run / "export" / "a.onnx").symlink_to("../../../../home/package.json")


def link_to_nothing(run: Path, victim: Path) -> None:
    (run / "error.txt").symlink_to(victim.parent / "not there")


def link_through_a_link(run: Path, victim: Path) -> None:
    (run / "a").symlink_to("b")
    (run / "b").symlink_to(victim)


def pipe(run: Path, victim: Path) -> None:
    os.mkfifo(run / "error.txt")


LINKS = [linked_film, linked_folder, linked_configuration, linked_checkpoints]
LINKS += [relative_link, link_to_nothing, link_through_a_link, pipe]
REFUSED = r"is a link that leaves .*theirs|error\.txt is not a regular file"


@pytest.mark.parametrize("plant", LINKS)
def test_a_run_with_a_link_that_leaves_its_folder_is_refused(plant, run, victim):
    plant(run, victim)
    before = sorted(run.rglob("*"))
    with pytest.raises(RunError, match=REFUSED):
        find(run)
    with pytest.raises(RunError, match=REFUSED):
        write_report(run)
    with pytest.raises(WandbError, match=REFUSED):
        artifact_of(run)
    assert sorted(run.rglob("*")) == before
    assert victim.read_bytes() == SECRET


PROGRAMS = VERBS | {
    "report": lambda run: report.main([str(run)]),
    "upload": lambda run: upload.main([str(run), "--mode", "offline"]),
    "motion": lambda run: motion.main(["record", str(run)]),
    "train": lambda run: main([TASK, "--resume", str(run)]),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_refuses_a_run_with_a_link_that_leaves_it(
    program, run, victim, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    linked_film(run, victim)
    with pytest.raises((RunError, WandbError), match=REFUSED):
        PROGRAMS[program](run)
    for page in tmp_path.rglob("*.html"):
        assert base64.b64encode(SECRET).decode() not in page.read_text()


def test_a_link_within_a_run_is_followed(run):
    (run / "checkpoints" / "mine.pt").symlink_to("best.pt")
    (run / "loop").symlink_to("loop")
    (run / "again").symlink_to(".")
    assert find(run).run.path == run


def test_links_of_wandb_are_left_alone_and_not_listed(run, victim):
    """Weights & Biases links to its own logs; that folder is never read."""
    (run / "wandb" / "run-1").mkdir(parents=True)
    (run / "wandb" / "run-1" / "debug-core.log").symlink_to(victim)
    assert find(run).run.path == run
    page = write_report(run).read_text()
    assert "debug-core.log" not in page


def test_a_link_for_the_folder_of_wandb_is_refused(run, victim):
    (run / "wandb").symlink_to(victim.parent)
    with pytest.raises(RunError, match="is a link that leaves"):
        find(run)


def test_a_folder_of_motions_with_a_link_that_leaves_it_is_not_sent(tmp_path, victim):
    (tmp_path / "motions").mkdir()
    (tmp_path / "motions" / "walk.npz").symlink_to(victim)
    with pytest.raises(WandbError, match="is a link that leaves"):
        artifact_of(tmp_path / "motions")


def test_a_dump_with_data_of_another_file_is_refused(tmp_path, victim):
    path = tmp_path / "dump.h5"
    about: dict[str, object] = {"what": "", "when": "", "iteration": 0}
    about |= {"first_step": 0, "num_envs": 1, "advice": []}
    storage = [(str(victim), 0, 4)]
    with h5py.File(path, "w") as file:
        file.attrs.update(format=FORMAT, format_version=FORMAT_VERSION)
        file.attrs["about"] = json.dumps(about)
        file.create_dataset("model", (4,), "u1", external=storage)
        group = file.create_group("traj_0")
        group.attrs.update(episode_id=0, elapsed_steps=1, world=0)
        group.create_dataset("actions", (4,), "u1", external=storage)
    with pytest.raises(RecordingError, match="stored in another file"):
        load_dump(path)
    with Recording(path) as recording:
        with pytest.raises(RecordingError, match="stored in another file"):
            recording.array("model")


# --- Names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    ["../../../../home/evil"]
    + [pytest.param(t, marks=pytest.mark.slow) for t in ("{home}/evil", "a\\b", "..")],
)
def test_the_task_in_a_run_names_no_other_folder(task, run, victim, tmp_path):
    folder = Run(run)
    configs = folder.configs()
    folder.update(task=task.format(home=victim.parent))
    written = write_file(folder, configs, logs=tmp_path / "logs")
    assert written.path.parent == run / "export"
    assert [file.name for file in victim.parent.iterdir()] == [victim.name]


def test_recording_from_a_foreign_source_must_be_requested(recorded):
    what = {"policy": "trained", "as_trained": True, "logs": recorded.parent}
    assert not find_source(str(recorded), **what).env.recorders
    assert find_source(str(recorded), **what, records=True).env.recorders
