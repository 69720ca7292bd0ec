"""Malicious policy files that try to write, replace or read the user's files."""

import hashlib
import io
import json
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mjlab.export import ExportError, OnnxPolicy, open_file
from mjlab.export.clips import clips_of
from mjlab.export.runner import policy as runner_policy
from mjlab.export.runner import write_runner
from mjlab.export.runner.loop import main
from mjlab.export.runner.policy import ContractError, ContractPolicy, pack, unpack
from tests.worlds.export_runs import write
from tests.worlds.motions import g1_robot, saved, standing
from tests.worlds.shipped import shipped

Entries = list[tuple[zipfile.ZipInfo | str, bytes]]
SECRET = b"not to be replaced"


def resigned(
    path: Path,
    to: Path,
    *,
    scene: bytes | None = None,
    digest: str = "",
    change: Callable[[dict[str, Any]], object] = lambda contract: None,
) -> Path:
    """Copy a policy file with another scene or contract, and valid checksums."""
    model = onnx.load(path)
    texts = {entry.key: entry for entry in model.metadata_props}
    contract = json.loads(texts["contract"].value)
    if scene is not None:
        texts["scene"].value = pack(scene)
        contract["model"]["sha256"] = digest
    change(contract)
    old, blank = contract["checksum"], f"sha256:{0:064}"
    contract["checksum"] = blank
    # Formatted as by the writer, by which the checksum is found.
    text = json.dumps(contract, indent=1)
    assert f'"checksum": "{blank}"' in text and old != blank
    texts["contract"].value = text
    content = model.SerializeToString()
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    to.write_bytes(content.replace(blank.encode(), checksum.encode()))
    return to


def packed(entries: Entries) -> tuple[bytes, str]:
    """A zip file of entries, and its digest for the contract.

    The character 1 in a name represents 0.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    # `zipfile` cannot write a NUL in a name.
    content = io.BytesIO(content.getvalue().replace(b"txt\1.stl", b"txt\0.stl"))
    with zipfile.ZipFile(content) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + files[name] + b"\0")
    return content.getvalue(), f"sha256:{digest.hexdigest()}"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shipped("Cartpole-Balance", tmp_path_factory.mktemp("honest")).path


@pytest.fixture(scope="module")
def scene(honest: Path) -> bytes:
    return ContractPolicy(honest).scene()["scene.xml"]


def evil(honest: Path, to: Path, entries: Entries) -> Path:
    content, digest = packed(entries)
    return resigned(honest, to / "evil.onnx", scene=content, digest=digest)


def listing(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_copy_with_the_same_scene_still_plays(honest, scene, tmp_path):
    """The files below are refused for their contents, not for their form."""
    path = evil(honest, tmp_path, [("scene.xml", scene)])
    place = tmp_path / "out" / "mine.xml"
    assert main([str(path), "--seconds", "0.1", "--scene", str(place)]) == 0
    assert place.read_bytes() == scene


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


NAMES: dict[str, list[zipfile.ZipInfo | str]] = {
    "above": ["../evil.txt"],
    "far above": ["assets/../../../evil.txt"],
    "drive letter": ["C:evil.txt"],
    "drive letter in the assets": ["assets/C:evil.txt"],
    "backslash": ["assets\\..\\..\\evil.txt"],
    "hidden": [".bashrc"],
    "hidden in the assets": ["assets/.bashrc"],
    "beside the scene": ["evil.py"],
    "folder of its own": ["other/evil.txt"],
    "folder in the assets": ["assets/deep/evil.txt"],
    "no name": ["assets/"],
    "end of text": ["assets/evil.txt\1.stl"],
    "line break": ["assets/evil\n.stl"],
    "link": [link("assets/evil.txt")],
    "twice": ["assets/evil.txt", "assets/evil.txt"],
    "twice in other letters": ["assets/evil.txt", "assets/EVIL.txt"],
    "two scenes": ["scene.xml"],
    "long": [f"assets/{'e' * 300}"],
}


def refused(capsys: Any, said: str, *arguments: str | Path) -> None:
    """Run the runner, and expect an error line that matches."""
    assert main([*map(str, arguments)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(said, line), line


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_a_packed_scene_writes_only_inside_its_assets_folder(
    names, honest, scene, tmp_path, capsys
):
    (tmp_path / "out").mkdir()
    entries: Entries = [(name, b"evil") for name in names]
    path = evil(honest, tmp_path, [("scene.xml", scene), *entries])
    before = listing(tmp_path)
    place = tmp_path / "out" / "a.xml"
    refused(capsys, "packed scene", path, "--seconds", "0", "--scene", place)
    assert listing(tmp_path) == before


def test_an_absolute_name_in_a_packed_scene_is_refused(honest, scene, tmp_path, capsys):
    target = tmp_path / "home" / "evil.txt"
    target.parent.mkdir()
    path = evil(honest, tmp_path, [("scene.xml", scene), (str(target), b"evil")])
    refused(capsys, "packed scene", path, "--scene", tmp_path / "a.xml")
    assert not target.exists()


def test_the_runner_on_a_robot_refuses_the_same_names(honest, scene, tmp_path):
    path = evil(honest, tmp_path, [("scene.xml", scene), ("../evil.txt", b"evil")])
    program = write_runner(tmp_path / "robot" / "policy.onnx")
    line = [sys.executable, "-I", str(program), str(path), "--scene", "out/a.xml"]
    done = subprocess.run(line, cwd=program.parent, capture_output=True, text=True)
    assert done.returncode == 2
    assert "error: The packed scene has a file '../evil.txt'" in done.stderr
    assert not list(tmp_path.rglob("evil.txt"))


def test_existing_files_next_to_the_scene_are_not_replaced(
    honest, scene, tmp_path, capsys
):
    path = evil(honest, tmp_path, [("scene.xml", scene), ("assets/a.stl", b"evil")])
    mine = tmp_path / "assets" / "a.stl"
    mine.parent.mkdir()
    mine.write_bytes(SECRET)
    said = r"a\.stl exists with different content"
    refused(capsys, said, path, "--scene", tmp_path / "a.xml")
    assert mine.read_bytes() == SECRET
    assert not (tmp_path / "a.xml").exists()


def test_a_link_among_the_assets_is_not_written_through(
    honest, scene, tmp_path, capsys
):
    path = evil(honest, tmp_path, [("scene.xml", scene), ("assets/a.stl", b"evil")])
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "a.stl").symlink_to(tmp_path / "planted.txt")
    refused(capsys, r"a\.stl: ", path, "--scene", tmp_path / "a.xml")
    assert not (tmp_path / "planted.txt").exists()


def test_a_packed_scene_that_grows_without_bounds_is_refused(
    honest, scene, tmp_path, monkeypatch
):
    monkeypatch.setattr(runner_policy, "MOST_BYTES", 1_000_000)
    many = [("scene.xml", scene), ("assets/a.bin", bytes(2_000_000))]
    policy = ContractPolicy(evil(honest, tmp_path, many))
    with pytest.raises(ContractError, match="1000000 bytes in total are accepted"):
        policy.scene()
    with pytest.raises(ContractError, match="more than 1000000 bytes"):
        unpack(pack(bytes(2_000_000)))
    assert unpack(pack(bytes(900_000))) == bytes(900_000)


def test_a_packed_scene_of_too_many_files_is_refused(honest, scene, tmp_path):
    many: Entries = [(f"assets/{i}.bin", b"") for i in range(1000)]
    policy = ContractPolicy(evil(honest, tmp_path, [("scene.xml", scene), *many]))
    with pytest.raises(ContractError, match="1001 files"):
        policy.scene()


READS = {
    "mesh": '<asset><mesh name="a" file="{secret}"/></asset>',
    "mesh in a folder": '<compiler meshdir="{folder}"/>'
    '<asset><mesh name="a" file="secret.stl"/></asset>',
    "height field": '<asset><hfield name="a" file="{secret}" size="1 1 1 1"/></asset>',
    "texture": '<asset><texture name="a" type="2d" file="{secret}"/></asset>',
    "texture of a cube": '<asset><texture name="a" fileright="{secret}"/></asset>',
    "include": '<include file="{secret}"/>',
    "model": '<asset><model name="a" file="{secret}"/></asset>',
    "escaped": '<asset><mesh name="a" file="&#{first};{rest}"/></asset>',
}


@pytest.mark.parametrize("kind", READS)
def test_a_packed_scene_can_only_read_its_own_files(
    kind, honest, scene, tmp_path, capsys
):
    secret = tmp_path / "secret.stl"
    secret.write_bytes(SECRET)
    words = {"secret": secret, "folder": tmp_path}
    words |= {"first": ord(str(secret)[0]), "rest": str(secret)[1:]}
    text = scene.decode().replace(
        "</mujoco>", READS[kind].format(**words) + "</mujoco>"
    )
    path = evil(honest, tmp_path, [("scene.xml", text.encode())])
    refused(capsys, "can only refer to its own files", path, "--seconds", "0.1")


def test_a_packed_scene_with_entities_of_xml_is_refused(honest, scene, tmp_path):
    head = '<!DOCTYPE mujoco [<!ENTITY a SYSTEM "/etc/passwd">]>'
    path = evil(honest, tmp_path, [("scene.xml", head.encode() + scene)])
    with pytest.raises(ContractError, match="not plain MJCF"):
        ContractPolicy(path).scene()


# --- Clips ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from mjlab.tasks.tracking import TrackingG1Cfg, tracking_rl_on_cpu

    folder = tmp_path_factory.mktemp("tracking")
    cfg = TrackingG1Cfg().play()
    cfg.scene.num_envs, cfg.sim.num_threads, cfg.events, cfg.seed = 1, 1, {}, 0
    cfg.commands["motion"].clips = saved(folder, standing(g1_robot(), "arms", 5.0, 0.2))
    return write(folder, cfg, tracking_rl_on_cpu(), "Tracking-G1")[1].path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../victim", "{folder}/victim", "", ".", "a\0", 7])
def test_a_clip_in_a_policy_replaces_no_other_file(name, tracking, tmp_path):
    victim = tmp_path / "victim.npz"
    np.savez(victim, a=np.arange(3))
    before = victim.read_bytes()
    evil_name = name.format(folder=tmp_path) if isinstance(name, str) else name

    def rename(contract: dict[str, Any]) -> None:
        contract["motion"]["clips"][0]["name"] = evil_name

    path = resigned(tracking, tmp_path / "evil.onnx", change=rename)
    with pytest.raises(ExportError, match=r"evil\.onnx has a clip named"):
        open_file(path, as_trained=True)
    assert victim.read_bytes() == before


@pytest.mark.slow
def test_two_clips_of_one_name_in_a_policy_are_refused(tracking, tmp_path):
    def double(contract: dict[str, Any]) -> None:
        contract["motion"]["clips"] *= 2

    path = resigned(tracking, tmp_path / "evil.onnx", change=double)
    with pytest.raises(ExportError, match="two clips"):
        clips_of(OnnxPolicy(path))
