"""Bundle for a machine with a GPU and no network: packages, and compiled kernels.

    python bench/gpu_bundle.py .gpu                            # half an hour
    python bench/gpu_bundle.py .gpu --peer ../peer/bin/python  # with mjlab 1.6.0 too
    python bench/gpu_bundle.py .gpu --only right fast          # kernels of these checks

The other machine has Linux on x86-64, Python 3.12, PyTorch 2.11 and common scientific
packages. Each part of the bundle is transferred together with the working tree, at most
64 MiB in total. On the other machine, in the repository's root, one part at a time:

    . .gpu/packages0/receive.sh    # the last one unpacks all
    . .gpu/peer/receive.sh         # afterwards
    . ~/.gpu_site/activate.sh      # in every later shell

This sets PYTHONPATH, WARP_CACHE_PATH for the kernels, and PEER_SITE for mjlab. Kernels
are compiled for the checks of `bench/gpu.py` and for training; they are kept in
`OUTPUT_kernels`, so that the next bundle needs less time. Add the output folders to
`.git/info/exclude`.
"""

import argparse
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import gpu
from mjlab.cli.warm import CARRIED
from mjlab.rl import EvaluationCfg

LIMIT_MIB = 64.0
"""Limit of one transfer: the working tree and one part."""

MARGIN_MIB = 3.0
ARCH = 90
"""Compute capability of an H100 and an H200."""

PACKAGES = """
mujoco mujoco-core mujoco-warp warp-lang rsl-rl-lib tensordict pyvers tyro
docstring_parser typeguard gymnasium Farama-Notifications GitPython gitdb smmap PyOpenGL
glfw
""".split()
"""Packages that checks and trainings import and that are not on the other machine, in
the versions of `constraints.txt`."""

PEER = "mjlab==1.6.0 mujoco==3.11.0 mujoco-warp==3.11.0 rsl-rl-lib==5.4.2".split()
PEER += "prettytable==3.18.0 wcwidth==0.9.4".split()

UNUSED = (
    "warp/examples warp/tests mujoco_warp/test_data mujoco/include **/*.pyi".split()
)
UNUSED += ["warp/bin/warp-clang*"]
"""Files that no check reads. The last one is Warp's compiler for CPUs."""

BRIEF = ("fused", "two_fused", "between_replays", "isolated")
"""Kinds of checks with short episodes in 64 worlds."""

RECEIVE = """\
# Source this: it keeps the part, and unpacks when all parts are there.
_parts=$HOME/.gpu_parts/@NAME@ _to=$HOME/.gpu_site@FOLDER@
mkdir -p "$_parts" "$_to" || return 9
cp "$(dirname "${BASH_SOURCE[0]}")"/*.part "$_parts" || return 9
_have=$(ls "$_parts" | wc -l)
echo "@NAME@: $_have of @NUMBER@ parts"
if [ "$_have" -eq @NUMBER@ ]; then
  _unpack='import sys, tarfile as t
t.open(fileobj=sys.stdin.buffer, mode="r|xz").extractall(sys.argv[1], filter="tar")'
  cat "$_parts"/*.part | python3 -c "$_unpack" "$_to" ||
    cat "$_parts"/*.part | tar -C "$_to" -xJ || return 9
  . "$HOME/.gpu_site/activate.sh"
fi
"""

ACTIVATE = """\
# Source this in every shell.
_site=$HOME/.gpu_site
export PYTHONPATH=$_site WARP_CACHE_PATH=$_site/.kernels PYTHONUNBUFFERED=1
export MUJOCO_GL=disable GIT_PYTHON_REFRESH=quiet
if [ -d "$_site/.peer" ]; then export PEER_SITE=$_site/.peer; fi
"""


def main() -> None:
    """Compile, download, and write the parts; print their sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", nargs="?", type=Path, default=Path(".gpu"))
    parser.add_argument("--peer", help="Python with mjlab 1.6.0: adds mjlab")
    parser.add_argument(
        "--only",
        nargs="*",
        default=list(gpu.parts()),
        help="compile kernels for these parts or checks of bench/gpu.py; none: pack "
        "the kernels compiled earlier",
    )
    parser.add_argument(
        "--whole", action="store_true", help="do not shrink Warp's library"
    )
    parser.add_argument("--preset", type=int, default=6, help="xz preset, 0 to 9")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        compile_kernels(**json.loads(args.inside))
        return
    cache = args.output.with_name(f"{args.output.name}_kernels").resolve()
    compile_all(args.only, cache)
    if args.peer:
        compile_peer(args.only, args.peer, cache)
    tree = tree_mib()
    room = LIMIT_MIB - MARGIN_MIB - tree
    shutil.rmtree(args.output, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch, "packages")
        unpack(PACKAGES, site)
        if not args.whole:
            number = keep_architecture(site / "warp/bin/warp.so", ARCH)
            print(f"warp.so: machine code of sm_{ARCH} only, in {number} fat binaries")
        copy_kernels(cache, site / ".kernels")
        (site / "activate.sh").write_text(ACTIVATE)
        largest = write_parts(site, args.output, "packages", room, args.preset)
        if args.peer:
            peer = Path(scratch, "peer")
            unpack(PEER, peer)
            shutil.copy(ROOT / "bench/gpu_peer.py", peer / "sitecustomize.py")
            size = write_parts(peer, args.output, "peer", room, args.preset)
            largest = max(largest, size)
    print(
        f"The tree has {tree:.1f} MiB, so one transfer has at most "
        f"{tree + largest:.1f} of {LIMIT_MIB:.0f} MiB."
    )


# Kernels.


def worlds_of(names: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield task, number of worlds and kind of configuration of checks."""
    for check in gpu.chosen_checks(names):
        kind, *arguments = check.arguments
        task = str(arguments[0]) if arguments else ""
        if kind in BRIEF:
            yield task, 64, "brief"
        elif kind in ("speed", "modes", "joined", "training", "peer"):
            yield task, int(arguments[1]), "plain"
            if kind == "training":
                yield task, int(arguments[1]), "training"
                yield task, EvaluationCfg().num_envs, "plain"
        elif kind == "soak":
            yield task, 4096, "plain"
        elif kind == "verbs":
            yield "synthetic", 4096, "brief"
        elif kind == "failed_capture":
            yield "Cartpole-Balance", 64, "brief"


def compile_all(names: Sequence[str], cache: Path) -> None:
    """Compile the kernels of checks, each configuration in a separate process.

    Warp names a module by a hash of all kernels that its process has defined, so a
    process with several configurations would write other names.
    """
    failed = []
    for task, worlds, kind in dict.fromkeys(worlds_of(names) if names else ()):
        told = json.dumps({"task": task, "worlds": worlds, "kind": kind})
        command = [sys.executable, __file__, "--inside", told]
        if subprocess.run(command, env=os.environ | cached(cache)).returncode:
            failed.append(f"{task} with {worlds} worlds")
    if failed:
        print(
            f"Compilation failed; the other machine will compile: {', '.join(failed)}."
        )


def compile_kernels(task: str, worlds: int, kind: str) -> None:
    """Compile the kernels of one configuration."""
    from bench.gpu_worlds import Plan
    from mjlab.cli.warm import compile_kernels as compile_all_of

    plan = Plan("cuda:0", rehearse=False)
    cfg = (plan.briefly if kind == "brief" else plan.configured)(task, worlds)
    compiler = compile_all_of(
        cfg.for_training() if kind == "training" else cfg, f"sm_{ARCH}"
    )
    print(
        f"{task}, {worlds} worlds, {kind}: {compiler.new} of {len(compiler.seen)} "
        "modules are new",
        flush=True,
    )


def compile_peer(names: Sequence[str], python: str, cache: Path) -> None:
    """Compile the kernels of mjlab, with an interpreter in which it is installed.

    PYTHONPATH is unset, because it can contain this project, which has the same import
    name.
    """
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for check in gpu.chosen_checks(names) if names else ():
        if check.arguments[0] == "peer":
            words = [str(word) for word in (ARCH, *check.arguments[1:])]
            command = [python, "-P", str(ROOT / "bench/gpu_peer.py"), *words]
            if subprocess.run(command, env=others | cached(cache)).returncode:
                print(
                    "Compilation failed; the other machine will compile: mjlab's "
                    f"{words[1:]}."
                )


def cached(cache: Path) -> dict[str, str]:
    """Return the environment variable of a kernel cache."""
    return {"WARP_CACHE_PATH": str(cache)}


def copy_kernels(cache: Path, target: Path) -> None:
    """Copy the files of a cache that another machine reads."""
    for kind in CARRIED:
        for file in cache.rglob(kind):
            place = target / file.relative_to(cache)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


# Packages.


def unpack(packages: Sequence[str], site: Path) -> None:
    """Download wheels for the other machine, and unpack them without unused files."""
    platforms = ["manylinux2014_x86_64", "manylinux1_x86_64"]
    platforms += [f"manylinux_2_{n}_x86_64" for n in (17, 24, 27, 28, 34)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version=3.12", "--implementation=cp"]
    command += [f"--platform={platform}" for platform in platforms]
    if packages is PACKAGES:
        command += ["--constraint", str(ROOT / "constraints.txt")]
    with tempfile.TemporaryDirectory() as wheels:
        subprocess.run([*command, "--dest", wheels, *packages], check=True)
        for wheel in sorted(Path(wheels).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(site)
    for path in [path for pattern in UNUSED for path in site.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def keep_architecture(library: Path, arch: int) -> int:
    """Remove machine code of other architectures from a shared library.

    The offset of each fat binary is unchanged. Its header, the machine code for `arch`
    and the portable PTX are kept; the rest is filled with zeros, which compress well.
    The driver reads only as many bytes as the header states.

    Returns:
        The number of fat binaries.
    """
    data = bytearray(library.read_bytes())
    place, end = section_of(data, b".nv_fatbin")
    number = 0
    while place < end:
        magic, header, size = struct.unpack_from("<I2xHQ", data, place)
        if magic != 0xBA55ED50:  # Alignment between two fat binaries.
            place += 8
            continue
        start = place + header
        kept = b"".join(_kept(data, start, start + size, arch))
        data[start : start + size] = kept + bytes(size - len(kept))
        struct.pack_into("<Q", data, place + 8, len(kept))
        number += 1
        place = start + size
    library.write_bytes(data)
    return number


def _kept(data: bytearray, start: int, end: int, arch: int) -> Iterator[bytes]:
    """Yield the entries of a fat binary to keep."""
    found = False
    while start < end:
        kind, header, payload = struct.unpack_from("<H2xIQ", data, start)
        (own,) = struct.unpack_from("<I", data, start + 28)
        size = header + payload
        is_ptx, is_ours = kind == 1, kind == 2 and own == arch
        found |= is_ours
        if is_ptx or is_ours:
            yield bytes(data[start : start + size])
        start += size
    if start != end or not found:
        raise SystemExit(
            f"A fat binary has another layout, or no code for sm_{arch}. Use --whole."
        )


def section_of(data: bytearray, name: bytes) -> tuple[int, int]:
    """Return start and end of a section of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, number, of_names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [
        struct.unpack_from("<I20xQQ", data, table + size * k) for k in range(number)
    ]
    names = sections[of_names][1]
    for label, start, length in sections:
        text = names + label
        if data[text : data.index(0, text)] == name:
            return start, start + length
    raise SystemExit(f"There is no section {name.decode()}. Use --whole.")


# Parts.


def tree_mib() -> float:
    """Return the size of the working tree: tracked and untracked, not ignored files."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    files += (ROOT / "shared").rglob("*")
    return sum(file.lstat().st_size for file in files if file.is_file()) / 2**20


def write_parts(
    site: Path, output: Path, name: str, room_mib: float, preset: int
) -> float:
    """Compress a folder and cut it into parts; return the size of a part in MiB."""
    filters = [
        {"id": lzma.FILTER_X86},
        {"id": lzma.FILTER_LZMA2, "preset": preset, "dict_size": 2**26},
    ]
    with tempfile.TemporaryFile() as file:
        with (
            lzma.LZMAFile(file, "w", filters=filters) as packed,
            tarfile.open(fileobj=packed, mode="w|") as archive,
        ):
            archive.add(site, ".")
        size = file.tell()
        number = -int(-size // (room_mib * 2**20))
        file.seek(0)
        for index in range(number):
            part = output / (f"{name}{index}" if number > 1 else name)
            part.mkdir(parents=True)
            (part / f"{index:02}.part").write_bytes(file.read(-(-size // number)))
            text = RECEIVE.replace("@NAME@", name).replace("@NUMBER@", str(number))
            folder = "" if name == "packages" else f"/.{name}"
            (part / "receive.sh").write_text(text.replace("@FOLDER@", folder))
    mib = size / 2**20
    print(f"{name}: {mib:.1f} MiB in {number} parts of {mib / number:.1f} MiB")
    return mib / number


if __name__ == "__main__":
    main()
