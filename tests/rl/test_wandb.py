"""Weights & Biases, tested by its offline files."""

import base64
import hashlib
import importlib
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mjlab.cli import evaluate, training, upload
from mjlab.cli import train as train_script
from mjlab.cli.answers import run_program
from mjlab.cli.line import read_line
from mjlab.rl import CheckpointCfg, LoggingCfg
from mjlab.rl.check import AgentError, check_agent, groups_of
from mjlab.rl.logging import read_rows
from mjlab.rl.wandb import WandbWriter
from mjlab.runs import Run
from mjlab.runs.wandb import WandbError, artifact_of, fetch, open_run
from tests.rl.wandb_file import records_below
from tests.tools.architecture import ROOT
from tests.worlds.rl_runs import agent_cfg, env_cfg, train_without_export

TASK = "Cartpole-Balance"
CLIP = ROOT / "tasks/tracking/clips/g1/wave.npz"


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """The wandb package, offline, with all files in one folder."""
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    for name in ("DATA", "CACHE", "CONFIG", "ARTIFACT"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(tmp_path / "wandb_own"))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    return wandb


def run_training(logs: Path, **more):
    asked = LoggingCfg(tensorboard=False, wandb=True, wandb_artifacts=True, **more)
    agent = agent_cfg(4, logging=asked, checkpoint=CheckpointCfg(every=2))

    def export(run: Run, configs: object) -> str:
        """Write a placeholder; a real ONNX file takes seconds."""
        (run.path / "export").mkdir()
        (run.path / "export" / f"{TASK}.onnx").write_bytes(b"policy")
        return ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_export", export)
        return training.train(env_cfg(), agent, task=TASK, root=logs, device="cpu")


def of_kind(records, kind):
    return [getattr(r, kind) for r in records if r.WhichOneof("record_type") == kind]


def md5(path: Path) -> str:
    return base64.b64encode(hashlib.md5(path.read_bytes()).digest()).decode()


class Server:
    """Fake server with the written artifacts."""

    def __init__(self, records) -> None:
        self.versions: dict[str, list] = {}
        for record in of_kind(records, "artifact"):
            self.versions.setdefault(record.name, []).append(record)
        self.sent = 0

    def artifact(self, path: str):
        place, _, wanted = path.partition(":")
        kept = self.versions[place.split("/")[-1]]
        number = len(kept) - 1 if wanted == "latest" else int(wanted[1:])
        record, files = kept[number], kept[number].manifest.contents

        def download(root: str) -> None:
            self.sent += 1
            for file in files:
                to = Path(root, file.path)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.local_path, to)

        return SimpleNamespace(
            version=f"v{number}",
            metadata=json.loads(record.metadata or "{}"),
            manifest=SimpleNamespace(entries={file.path: file for file in files}),
            download=download,
        )


@pytest.fixture
def trained(offline, tmp_path, monkeypatch):
    """A run, its records, and a fake server."""
    run, _ = run_training(tmp_path / "first")
    records = records_below(run.path)
    server = Server(records)
    monkeypatch.setattr(offline, "Api", lambda: server)
    return SimpleNamespace(run=run, records=records, server=server)


# --- Uploads --------------------------------------------------------------------------


def test_figures_and_configuration_are_those_of_the_run(trained):
    (opened,) = of_kind(trained.records, "run")
    assert (opened.run_id, opened.project) == (trained.run.path.name, "mjlab")
    sent = {c.key: json.loads(c.value_json) for c in opened.config.update}
    kept = json.loads((trained.run.path / "config.json").read_text())["values"]
    assert sent["agent.max_iterations"] == kept["agent.max_iterations"] == 4
    rows = [
        {i.key or i.nested_key[0]: json.loads(i.value_json) for i in row.item}
        for row in of_kind(trained.records, "history")
    ]
    lines = read_rows(trained.run.path / "metrics.jsonl")
    for row, line in zip(rows, lines, strict=True):
        assert row["_step"] == line.pop("iteration")
        assert line.items() <= row.items()
    assert len(rows) == 4
    (end,) = of_kind(trained.records, "exit")
    assert end.exit_code == 0


def test_each_checkpoint_makes_a_version_and_the_last_has_the_file_for_robots(trained):
    sent = of_kind(trained.records, "artifact")
    name = trained.run.path.name
    assert {(each.name, each.type) for each in sent} == {(name, "model")}
    first, last = (
        {f.path: f for f in s.manifest.contents} for s in (sent[0], sent[-1])
    )
    assert "checkpoints/model_000002.pt" in first
    assert "checkpoints/model_000004.pt" in last
    assert "checkpoints/model_000002.pt" not in last
    assert {"run.json", "config.json", "metrics.jsonl", f"export/{TASK}.onnx"} <= set(
        last
    )
    for inside, file in last.items():
        assert file.digest == md5(trained.run.path / inside), inside


def test_each_video_is_uploaded_once(offline, tmp_path):
    folder = tmp_path / "run"
    videos = folder / "videos"
    (videos / "train").mkdir(parents=True)
    writer = WandbWriter(folder, LoggingCfg(wandb=True), {})
    writer.write(1, {"Train/mean_reward": 1.0})
    (videos / "train" / "step_0000000.mp4").write_bytes(b"first")
    # Not complete yet.
    (videos / "train" / ".step_0000048.mp4.7.tmp.mp4").write_bytes(b"sec")
    writer.write(2, {"Train/mean_reward": 2.0})
    writer.write(3, {"Train/mean_reward": 3.0})
    (videos / "policy.mp4").write_bytes(b"last")
    writer.close()
    rows = [
        {".".join(i.nested_key) or i.key: json.loads(i.value_json) for i in row.item}
        for row in of_kind(records_below(folder), "history")
    ]
    sent = [
        (row["_step"], row["video.sha256"]) for row in rows if "video.sha256" in row
    ]
    digests = [hashlib.sha256(data).hexdigest() for data in (b"first", b"last")]
    assert [digest for _, digest in sent] == digests
    assert sent[0][0] == 2


def test_machine_user_packages_and_source_are_not_uploaded(trained):
    (opened,) = of_kind(trained.records, "run")
    assert opened.host == ""
    assert not of_kind(trained.records, "output_raw")
    (own,) = (trained.run.path / "wandb").glob("offline-run-*")
    kept = {file.name for file in own.rglob("*")}
    assert not kept & {"requirements.txt", "wandb-metadata.json", "output.log"}


def test_failed_run_is_marked_and_uploads_no_files(offline, tmp_path, monkeypatch):
    def fail(self):
        raise ZeroDivisionError

    monkeypatch.setattr("mjlab.rl.loop.TrainingLoop._iterate", fail)
    with pytest.raises(ZeroDivisionError):
        run_training(tmp_path)
    records = records_below(tmp_path)
    assert [end.exit_code for end in of_kind(records, "exit")] == [1]
    assert not of_kind(records, "artifact")


def test_no_upload_and_no_import_happen_unless_requested(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    agent = agent_cfg(1, logging=LoggingCfg(tensorboard=False))
    run, _ = train_without_export(
        env_cfg(), agent, task=TASK, root=tmp_path, device="cpu"
    )
    assert (run.path / "checkpoints/model_000001.pt").is_file()


def test_motion_is_uploaded_and_downloaded_unchanged(offline, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_program(upload.main, [str(CLIP), "--project", "motions"]) == 0
    records = records_below(tmp_path)
    (sent,) = of_kind(records, "artifact")
    assert (sent.name, sent.type) == ("wave", "motion")
    monkeypatch.setattr(offline, "Api", lambda: Server(records))
    clips = "--env.commands.motion.clips"
    line = read_line(
        train_script.TrainOptions, ["Tracking-G1", clips, "wandb:me/motions/wave"]
    )
    (setting,) = line.settings
    assert setting.values == ["logs/wandb/me/motions/wave-v0/wave.npz"]
    assert md5(Path(setting.values[0])) == md5(CLIP)


# --- Downloads ------------------------------------------------------------------------


def test_a_downloaded_run_is_evaluated_and_resumed(trained, tmp_path, capsys):
    logs = tmp_path / "second"
    place = f"wandb:me/mjlab/{trained.run.path.name}"
    there = ["--logs", str(logs), "--episodes", "2"]
    for _ in range(2):
        assert run_program(evaluate.main, [place, *there]) == 0
    assert trained.server.sent == 1
    (home,) = (logs / TASK).iterdir()
    last = len(trained.server.versions[trained.run.path.name]) - 1
    assert home.name == f"{trained.run.path.name}-v{last}"
    assert "model_000004.pt" in capsys.readouterr().out
    more = ["--resume", place, "--agent.max-iterations", "5", "--logs", str(logs)]
    assert run_program(train_script.main, [TASK, *more]) == 0
    assert Run(home).info()["resumed"][0]["iteration"] == 4
    assert [line["iteration"] for line in read_rows(home / "metrics.jsonl")] == [
        *range(1, 6)
    ]
    # A continued run differs from the uploaded one.
    assert run_program(evaluate.main, [place, *there]) == 2
    assert "was changed here" in capsys.readouterr().err


def test_an_older_version_is_stored_next_to_the_latest(trained, tmp_path):
    name = trained.run.path.name
    old = fetch(f"wandb:me/mjlab/{name}:v0", tmp_path)
    assert old == tmp_path / TASK / f"{name}-v0"
    assert (old / "checkpoints/model_000002.pt").is_file()
    assert fetch(f"wandb:me/mjlab/{name}", tmp_path) != old


def test_damaged_or_redirected_downloads_are_refused(trained, tmp_path):
    name = trained.run.path.name
    files = trained.server.versions[name][-1].manifest.contents
    chosen = next(file for file in files if file.path == "config.json")
    Path(chosen.local_path).chmod(0o600)
    Path(chosen.local_path).write_text("{}")
    with pytest.raises(WandbError, match=r"config\.json differs from the upload"):
        fetch(f"wandb:me/mjlab/{name}", tmp_path / "a")
    chosen.path = "../../config.json"
    with pytest.raises(WandbError, match="is a link out of its folder"):
        fetch(f"wandb:me/mjlab/{name}", tmp_path / "a")
    assert not [file for file in (tmp_path / "a").rglob("*") if file.is_file()]


# --- Messages -------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["wandb:run", "wandb:a/b/c/d", "wandb:me/mjlab/x:"])
def test_an_invalid_address_shows_the_valid_form(place, tmp_path):
    with pytest.raises(WandbError, match="wandb:ENTITY/PROJECT/NAME"):
        fetch(place, tmp_path)


def test_a_user_who_is_not_logged_in_gets_instructions(offline, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(WandbError, match=r"wandb login.*--mode offline"):
        open_run(
            tmp_path, project="x", entity=None, mode="online", offline="--mode offline"
        )
    with pytest.raises(
        WandbError, match=r"wandb login.*--agent.logging.wandb-artifacts"
    ):
        fetch("wandb:me/mjlab/run", tmp_path)


def test_wandb_that_is_absent_is_an_error_with_the_pip_line(tmp_path, monkeypatch):
    original = importlib.import_module

    def without(name, *args):
        if name == "wandb":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, *args)

    monkeypatch.setattr(importlib, "import_module", without)
    for ask in (
        lambda: run_training(tmp_path),
        lambda: fetch("wandb:me/mjlab/run", tmp_path),
        lambda: artifact_of(CLIP),
    ):
        with pytest.raises(ImportError, match=r'pip install "mjlab-fused\[wandb\]"'):
            ask()
    assert not list(tmp_path.iterdir())


def test_files_without_a_run_there_are_refused_before_anything_is_built():
    agent = agent_cfg(logging=LoggingCfg(wandb_artifacts=True))
    with pytest.raises(AgentError, match="wandb_artifacts=True needs"):
        check_agent(agent, groups_of(env_cfg()), 8)


def test_an_unsupported_upload_is_refused_with_the_supported_kinds(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(WandbError, match=r"notes.txt cannot be uploaded.*\.npz"):
        artifact_of(tmp_path / "notes.txt")
    with pytest.raises(WandbError, match="does not exist"):
        artifact_of(tmp_path / "absent")
