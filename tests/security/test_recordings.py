"""Malicious recordings that try to read, replace or delete the user's files."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from mjlab.recording import RecordingCfg, merge, read_index
from mjlab.recording.config import RecordingError, check_recording
from mjlab.recording.reader import Recording
from tests.recording.test_files import a_file, add, an_episode

SECRET = b"root:x:0:0:root:/root:/bin/bash\n"


def written(folder: Path, add: Callable[[Any], object]) -> Path:
    """A recording with one episode, changed by `add`."""
    path = folder / "evil.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "mjlab-episodes"
        file.attrs["format_version"] = 2
        file.attrs["about"] = "{}"
        group = file.create_group("traj_0")
        group.attrs.update(episode_id=0, elapsed_steps=4, world=0)
        group["rewards"] = np.arange(4.0)
        add(file)
    return path


def in_time(work: Callable[[], object], seconds: float = 5.0) -> None:
    """Run work in a child process, which is ended if it hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail(f"It still waited after {seconds} s.")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "secret"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def read_all(path: Path) -> dict[str, Any]:
    with Recording(path) as recording:
        return {name: each.read(name) for each in recording for name in each.names}


def test_unmodified_recording_is_read(tmp_path: Path) -> None:
    found = read_all(written(tmp_path, lambda file: None))
    np.testing.assert_array_equal(found["rewards"], np.arange(4.0))


def external_storage(file: Any, secret: Path) -> None:
    file["traj_0"].create_dataset(
        "actions", (len(SECRET),), "u1", external=[(str(secret), 0, len(SECRET))]
    )


def nested_storage(file: Any, secret: Path) -> None:
    file["traj_0"].create_dataset(
        "obs/camera/rgb", (4,), "u1", external=[(str(secret), 0, 4)]
    )


def storage_of_start(file: Any, secret: Path) -> None:
    kind = np.dtype([("a", "u1", (4,))])
    file["traj_0"].create_dataset("start", (1,), kind, external=[(str(secret), 0, 4)])


def virtual(file: Any, secret: Path) -> None:
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "a", (4,))
    file["traj_0"].create_virtual_dataset("actions", layout)


def external_link(file: Any, secret: Path) -> None:
    file["traj_0/actions"] = h5py.ExternalLink(str(secret), "a")


def link_of_an_episode(file: Any, secret: Path) -> None:
    del file["traj_0"]
    file["traj_0"] = h5py.ExternalLink(str(secret), "/traj_0")


def soft_link(file: Any, secret: Path) -> None:
    file["other"] = h5py.ExternalLink(str(secret), "/")
    file["traj_0/actions"] = h5py.SoftLink("/other/a")


def soft_link_of_an_episode(file: Any, secret: Path) -> None:
    soft_link(file, secret)
    del file["traj_0"]
    file["traj_0"] = h5py.SoftLink("/other/traj_0")


def dataset_for_an_episode(file: Any, secret: Path) -> None:
    del file["traj_0"]
    file.create_dataset("traj_0", (4,), "u1", external=[(str(secret), 0, 4)])


ATTACKS = [external_storage, nested_storage, storage_of_start, virtual, external_link]
ATTACKS += [link_of_an_episode, soft_link, soft_link_of_an_episode]
ATTACKS += [dataset_for_an_episode]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_recording_exposes_no_data_of_another_file(attack, secret, tmp_path):
    path = written(tmp_path, lambda file: attack(file, secret))
    with pytest.raises(RecordingError, match=r"evil\.h5.*(not read|not a group)"):
        read_all(path)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_recording_does_not_wait_for_a_pipe(attack, pipe, tmp_path):
    path = written(tmp_path, lambda file: attack(file, pipe))

    def refused() -> None:
        with pytest.raises(RecordingError):
            read_all(path)

    in_time(refused)


def test_another_recording_is_not_read_through_a_link(tmp_path):
    """The target is a valid recording, so that nothing fails for another reason."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "mine").mkdir()
    private = written(tmp_path / "mine", lambda file: None)
    path = written(tmp_path / "theirs", lambda file: link_of_an_episode(file, private))
    with pytest.raises(RecordingError, match="stored in another file"):
        read_all(path)


@pytest.mark.parametrize("how", ["part", "folder", "episode"])
def test_linked_parts_of_a_recording_are_refused(how, tmp_path):
    (tmp_path / "mine").mkdir()
    private = written(tmp_path / "mine", lambda file: None)
    parts = tmp_path / "evil.parts"
    part = parts / "00000000.h5"
    if how == "folder":
        (tmp_path / "mine" / part.name).write_bytes(private.read_bytes())
        parts.symlink_to(tmp_path / "mine")
    else:
        parts.mkdir()
    if how == "part":
        part.symlink_to(private)
    if how == "episode":
        other = written(tmp_path, lambda file: link_of_an_episode(file, private))
        other.rename(part)
    path = tmp_path / "evil.h5"
    for read in (read_all, read_index, merge):
        with pytest.raises(RecordingError, match=r"not (read|followed)"):
            read(path)


def test_mutually_nested_groups_are_visited_once(tmp_path):
    def add(file: Any) -> None:
        file["traj_0/loop"] = file["traj_0"]

    with Recording(written(tmp_path, add)) as recording:
        assert recording[0].length == 4


def test_the_list_of_episodes_is_not_read(tmp_path):
    """It is written for other programs; a link in its place is not followed."""
    path = written(tmp_path, lambda file: None)
    path.with_suffix(".json").symlink_to("/dev/zero")
    assert len(read_index(path)["episodes"]) == 1
    with Recording(path) as recording:
        assert recording.about == {}


def test_a_recording_of_links_into_one_folder_is_read(tmp_path):
    """Valid datasets can be stored this way to save space."""
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "run.h5"
    file = a_file(path)
    add(file, an_episode(0, 4))
    file.finish()
    for suffix in (".h5", ".json"):
        link = (tmp_path / "run").with_suffix(suffix)
        link.symlink_to(path.with_suffix(suffix))
    assert len(read_index(tmp_path / "run.h5")["episodes"]) == 1


# --- Merging parts --------------------------------------------------------------------


def test_merging_copies_no_storage_of_another_file(secret, tmp_path):
    path = tmp_path / "evil.h5"
    file = a_file(path)
    add(file, an_episode(0, 4))
    file.leave()
    with h5py.File(tmp_path / "evil.parts" / "00000000.h5", "a") as part:
        external_storage(part, secret)
    with pytest.raises(RecordingError, match="stored in another file"):
        merge(path)


# --- Files that a recording replaces --------------------------------------------------

FOREIGN = [".json", ".h5"]


@pytest.mark.parametrize("suffix", FOREIGN)
@pytest.mark.parametrize(
    "content",
    [b"", b"mine", b'{"name": "mine"}', bytes(100)],
    ids=["empty", "text", "object", "zeros"],
)
def test_overwriting_replaces_no_file_that_is_not_a_recording(
    suffix, content, tmp_path
):
    mine = (tmp_path / "package").with_suffix(suffix)
    mine.write_bytes(content)
    with pytest.raises(RecordingError, match=f"package{suffix} is not replaced"):
        a_file(tmp_path / "package.h5")
    assert {f.name: f.read_bytes() for f in tmp_path.iterdir()} == {mine.name: content}


def test_overwriting_replaces_no_hdf5_file_of_another_program(tmp_path):
    mine = tmp_path / "data.h5"
    with h5py.File(mine, "w") as file:
        file["years"] = np.arange(3)
    before = mine.read_bytes()
    with pytest.raises(RecordingError, match=r"data\.h5 is not replaced"):
        a_file(mine)
    assert mine.read_bytes() == before


def test_overwriting_keeps_a_foreign_file_next_to_a_recording(tmp_path):
    path = tmp_path / "walk.h5"
    a_file(path).finish()
    path.with_suffix(".json").write_text('{"name": "mine"}')
    with pytest.raises(RecordingError, match=r"walk\.json is not replaced"):
        a_file(path)
    assert path.with_suffix(".json").read_text() == '{"name": "mine"}'


@pytest.mark.parametrize("suffix", [*FOREIGN, ".parts"])
def test_overwriting_follows_no_link(suffix, tmp_path):
    mine = tmp_path / "mine"
    path = tmp_path / "run" / "walk.h5"
    path.parent.mkdir()
    if suffix != ".h5":
        a_file(path).finish()
    if suffix == ".parts":
        mine.mkdir()
        (mine / "00000000.h5").write_bytes(SECRET)
    place = path.with_suffix(suffix)
    place.unlink(missing_ok=True)
    place.symlink_to(mine)
    with pytest.raises(RecordingError, match=f"walk{suffix} is not (replaced|deleted)"):
        a_file(path)
    assert place.is_symlink()
    assert mine.exists() == (suffix == ".parts")
    if suffix == ".parts":
        assert (mine / "00000000.h5").read_bytes() == SECRET


@pytest.mark.parametrize("how", ["finish", "leave", "killed"])
def test_overwriting_replaces_a_recording_that_ended_in_any_way(how, tmp_path):
    path = tmp_path / "walk.h5"
    file = a_file(path)
    add(file, an_episode(0, 4), an_episode(1, 5))
    if how == "finish":
        file.finish()
    elif how == "leave":
        file.leave()
    again = a_file(path)
    add(again, an_episode(0, 3))
    again.finish()
    assert [e["elapsed_steps"] for e in read_index(path)["episodes"]] == [3]
    assert sorted(f.name for f in tmp_path.iterdir()) == ["walk.h5", "walk.json"]


@pytest.mark.parametrize("name", ["../a", "a/b", "..", "", ".a", "C:a", "a\\b", "a\0"])
def test_the_name_of_a_recording_is_a_safe_file_name(name):
    with pytest.raises(RecordingError, match="not a safe file name"):
        check_recording(RecordingCfg(name=name), has_success=True)
