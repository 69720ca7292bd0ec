"""Tracked files contain no folder or host name of a developer's machine."""

import io
import json
import os
import platform
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, PngImagePlugin

from tests.tools.architecture import ROOT

VIRTUAL = "names folders of the file system that WebAssembly code sees"
# Tracked file -> why it may name such a folder or host.
EXCEPTIONS = {
    "mjlab/export/web/runtime/page.js": VIRTUAL,
    "web/package-lock.json": "has the version of Node under the key node",
    "tests/house/test_nothing_personal.py": "plants what is to be found",
    "tests/test_provenance.py": "has paths to be left out of a record",
}

FOLDERS = rb"(?:/(?:home|root|work|tmp|Users|private/var)/|[A-Za-z]:\\{1,2}Users\b)"
# In a text, a path that goes on from a name is relative, or part of an address.
IN_TEXT = re.compile(rb"(?<![\w.~-])" + FOLDERS + rb"[^\s\"'<>]*")
IN_BINARY = re.compile(FOLDERS + rb"[ -~]*")
# A record's entry for the host, and what `platform.platform()` says of its kernel.
HOST = re.compile(
    rb'"(?:host|hostname|node|nodename)"\s*:\s*"[^"]+"'
    rb"|\b(?:Linux|macOS|Windows)-\d+\.[\w.-]+"
)


def faults_in(data: bytes, host: str = platform.node()) -> list[str]:
    """Return machine names and folders in the bytes of a file."""
    names = HOST
    if len(host) > 5 and re.search(r"[\d.-]", host):  # No word of a language.
        names = re.compile(HOST.pattern + rb"|\b" + re.escape(host.encode()) + rb"\b")
    found: list[bytes] = []
    for part in parts_of(data):
        found += names.findall(part)
        is_binary = b"\0" in part  # Texts of two or four bytes a letter are in it too.
        found += (
            IN_BINARY.findall(part.replace(b"\0", b""))
            if is_binary
            else IN_TEXT.findall(part)
        )
    return [each.decode("utf-8", "replace") for each in found]


def content(path: Path) -> bytes:
    """Return the content that git stores: the bytes of a file, the target of a link."""
    return os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()


def parts_of(data: bytes) -> Iterator[bytes]:
    """Yield the content of a file, and of files compressed inside it."""
    yield data
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from parts_of(archive.read(name))
    elif data.startswith(b"\x89PNG"):
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            yield repr(image.info).encode()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout of git")
def test_no_tracked_file_names_a_machine_folder_or_host():
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True
    )
    tracked = {name for name in listed.stdout.decode().split("\0") if name}
    found = {name: faults_in(content(ROOT / name)) for name in sorted(tracked)}
    faulty = {name: faults for name, faults in found.items() if faults}
    unlisted = {n: faults[:3] for n, faults in faulty.items() if n not in EXCEPTIONS}
    assert unlisted == {}
    assert EXCEPTIONS.keys() == faulty.keys(), "an exception no longer needed"


# --- The checker itself, on planted faults -------------------------------------------


def packed_array() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, source=np.array("/home/ann/robots/model.xml"))
    return file.getvalue()


def picture() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Source", "/Users/ann/run.html " * 9, zip=True)
    file = io.BytesIO()
    Image.new("L", (4, 4)).save(file, "png", pnginfo=info)
    assert b"/Users/" not in file.getvalue()
    return file.getvalue()


def checkpoint() -> bytes:
    file = io.BytesIO()
    torch.save({"weights": torch.zeros(3), "from": "/work/train2/logs"}, file)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"cd /home/ann/mjlab",
        b'"command": "/root/.venv/bin/python train.py"',
        b"--logs=/tmp/logs",
        b"file:///Users/ann/page.html",
        rb"C:\Users\ann\mjlab",
        json.dumps({"folder": r"D:\Users\ann"}).encode(),
        b"onnx\0\x12producer0/work/train/policy\0",
        packed_array(),
        picture(),
        checkpoint(),
        b'"host": "vm"',
        b'"system": "Linux-6.18.44-fc-v669-x86_64-with-glibc2.36"',
        b"trained on anns-laptop-3, by night",
    ],
)
def test_planted_machine_name_is_found(data):
    assert len(set(faults_in(data, host="anns-laptop-3"))) == 1


def test_link_target_is_checked_for_machine_names(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/home/ann/mjlab")
    assert faults_in(content(link)) == ["/home/ann/mjlab"]


@pytest.mark.parametrize(
    "data",
    [
        b"https://example.org/home/ann",
        b"see bench/work/README.md and ~/tmp/x, /homepage, /usr/lib/libc.so",
        b'"system": "Linux x86_64", "host": ["live", "host"]',
        b"a host called vm, or robot",
    ],
)
def test_text_without_machine_figures_is_unchanged(data):
    assert faults_in(data, host="robot") == []
