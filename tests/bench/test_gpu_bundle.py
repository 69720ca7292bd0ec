"""Bundle for a machine with a GPU: reduced library, unpacking, compiled kernels."""

import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import warp as wp

from bench import gpu, gpu_bundle

ROOT = Path(__file__).resolve().parents[2]


def entry(kind: int, arch: int, payload: bytes) -> bytes:
    """Entry of a fat binary: PTX is kind 1, machine code kind 2."""
    return struct.pack("<HHIQ12xI32x", kind, 0, 64, len(payload), arch) + payload


def fat_binary(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def library(fat: bytes) -> bytes:
    """64-bit ELF file with the sections .text, .nv_fatbin and .shstrtab."""
    names = b"\0.text\0.nv_fatbin\0.shstrtab\0"
    code = b"code"
    at = [64, 64 + len(code), 64 + len(code) + len(fat)]
    table = at[2] + len(names)
    header = b"\x7fELF".ljust(0x28, b"\0") + struct.pack("<Q", table)
    header += struct.pack("<10xHHH", 64, 3, 2)
    labels = (names.index(name) for name in (b".text", b".nv_fatbin", b".shstrtab"))
    sizes = (len(code), len(fat), len(names))
    rows = [
        struct.pack("<I20xQQ24x", label, place, size)
        for label, place, size in zip(labels, at, sizes, strict=True)
    ]
    return header + code + fat + names + b"".join(rows)


def test_stripped_library_keeps_the_code_of_one_architecture(tmp_path: Path) -> None:
    ours, other = entry(2, 90, b"ours"), entry(2, 80, b"other code")
    portable = entry(1, 75, b"portable")
    fat = fat_binary(other, ours, portable) + bytes(8) + fat_binary(ours, other)
    path = tmp_path / "small.so"
    path.write_bytes(library(fat))
    assert gpu_bundle.keep_architecture(path, 90) == 2
    first, second = fat_binary(ours, portable), fat_binary(ours)
    first, second = (part + bytes(len(other)) for part in (first, second))
    assert path.read_bytes() == library(first + bytes(8) + second)
    with pytest.raises(SystemExit, match="no code for sm_100"):
        gpu_bundle.keep_architecture(path, 100)
    assert path.read_bytes() == library(first + bytes(8) + second)


@pytest.mark.slow
def test_the_library_of_warp_loads_without_other_architectures(tmp_path: Path) -> None:
    whole = Path(wp.__file__).parent / "bin/warp.so"
    cut = tmp_path / "warp.so"
    shutil.copy(whole, cut)
    assert gpu_bundle.keep_architecture(cut, gpu_bundle.ARCH) > 5
    assert gpu_bundle.keep_architecture(cut, gpu_bundle.ARCH) > 5  # Still well-formed.
    before, after = whole.read_bytes(), cut.read_bytes()
    start, end = gpu_bundle.section_of(bytearray(before), b".nv_fatbin")
    assert (before[:start], before[end:]) == (after[:start], after[end:])
    zeros = after[start:end].count(0) - before[start:end].count(0)
    assert zeros > 0.4 * (end - start)
    program = (
        "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).wp_cuda_toolkit_version())"
    )
    said = subprocess.check_output([sys.executable, "-c", program, str(cut)], text=True)
    assert int(said) == ctypes.CDLL(str(whole)).wp_cuda_toolkit_version()


def test_separately_received_parts_are_unpacked(tmp_path: Path) -> None:
    site, output = tmp_path / "site", tmp_path / "parts"
    (site / ".kernels").mkdir(parents=True)
    (site / "package.py").write_bytes(
        b"large = '" + os.urandom(4000).hex().encode() + b"'"
    )
    (site / "activate.sh").write_text(gpu_bundle.ACTIVATE)
    mib = gpu_bundle.write_parts(site, output, "packages", 3000 / 2**20, 1)
    assert mib * 2**20 <= 3000
    parts = sorted(output.iterdir())
    assert [part.name for part in parts] == ["packages0", "packages1"]
    home = tmp_path / "home"
    home.mkdir()
    (site / "sitecustomize.py").write_text("")
    gpu_bundle.write_parts(site, output, "peer", 64.0, 1)

    def receive(part: Path) -> list[str]:
        script = f". {part}/receive.sh && echo $PYTHONPATH $WARP_CACHE_PATH $PEER_SITE"
        kept = {"HOME": str(home), "PATH": os.environ["PATH"]}
        command = ["bash", "-c", script]
        return subprocess.check_output(command, env=kept, text=True).splitlines()

    there = home / ".gpu_site"
    assert receive(parts[0])[0] == "packages: 1 of 2 parts"
    assert not (there / "package.py").exists()
    said = receive(parts[1])
    assert said == ["packages: 2 of 2 parts", f"{there} {there}/.kernels"]
    assert (there / "package.py").read_bytes() == (site / "package.py").read_bytes()
    said = receive(output / "peer")
    assert said[1] == f"{there} {there}/.kernels {there}/.peer"
    assert (there / ".peer/sitecustomize.py").exists()


def test_kernels_of_all_checks_that_build_worlds_are_compiled() -> None:
    found = set(gpu_bundle.worlds_of(["right", "fast"]))
    for named in (
        ("Velocity-G1-Flat", 64, "brief"),
        ("synthetic", 64, "brief"),
        ("Velocity-Go1-Flat", 4096, "plain"),
        ("Velocity-G1-Flat", 8192, "plain"),
        ("Velocity-G1-Flat", 4096, "training"),
        ("Velocity-G1-Flat", 16, "plain"),
    ):
        assert named in found
    assert {"more", "tasks"} < gpu.parts().keys()
    assert len(set(gpu_bundle.worlds_of(list(gpu.parts())))) > len(found)


def test_bundle_contains_only_loaded_files(tmp_path: Path) -> None:
    module = tmp_path / "cache/1.19.0/wp_module_0123"
    module.mkdir(parents=True)
    for name in ("m.sm90.cubin", "m.meta", "m.cu", "m.lto"):
        (module / name).write_text(name)
    gpu_bundle.copy_kernels(tmp_path / "cache", tmp_path / "copy")
    copied = {file.name for file in (tmp_path / "copy").rglob("*.*") if file.is_file()}
    assert copied == {"m.sm90.cubin", "m.meta"}


def test_the_packages_of_the_bundle_have_pinned_versions() -> None:
    pinned = re.findall(r"^(\S+)==", (ROOT / "constraints.txt").read_text(), re.M)
    assert set(gpu_bundle.PACKAGES) <= set(pinned)
    assert all("==" in package for package in gpu_bundle.PEER)


def test_packages_that_mjlab_imports_without_using_are_replaced_by_stubs() -> None:
    program = (
        "import bench.gpu_peer, wandb.sdk, viser; from mediapy import write_video;"
        "assert write_video(1, fps=2) and viser.ViserServer(port=1).scene;"
        "import torch_that_is_missing"
    )
    command = [sys.executable, "-S", "-c", program]
    path = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True)
    assert "No module named 'torch_that_is_missing'" in done.stderr
