"""The files that a spec refers to: meshes, textures, height fields, skins."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco

from mjlab.names import suggest


class MissingAssetError(FileNotFoundError):
    """A model refers to a file that does not exist."""


@dataclass(frozen=True, kw_only=True)
class AssetFile:
    """One reference from an element of a spec to a file."""

    element: Any
    """The mesh, texture, height field or skin."""

    kind: str
    """What the element is: "mesh"."""

    file: str
    """The reference as the spec writes it."""

    folder: str
    """The folder of its kind, relative to the model's, that the reference is in."""

    write: Callable[[str], None]
    """Makes the element refer to another file."""


def asset_files(spec: mujoco.MjSpec) -> Iterator[AssetFile]:
    """Yield every reference of the spec to a file, one for each face of a cube."""
    for kind, elements in (
        ("mesh", spec.meshes),
        ("texture", spec.textures),
        ("height field", spec.hfields),
        ("skin", spec.skins),
    ):
        for element in elements:
            yield from _references(element, kind)


def asset_bytes(spec: mujoco.MjSpec, asset: AssetFile) -> bytes:
    """Return the contents of a referenced file, from the spec's memory or from disk."""
    relative = str(Path(asset.folder, asset.file))
    for key in (relative, asset.file, Path(asset.file).name):
        if key in spec.assets:
            contents = spec.assets[key]
            return contents if isinstance(contents, bytes) else contents.encode()
    path = _path(spec, asset)
    if not path.is_file():
        raise MissingAssetError(_missing(asset, path))
    return path.read_bytes()


def anchor_assets(spec: mujoco.MjSpec) -> None:
    """Make every reference to a file on disk absolute, and check that the file exists.

    An attached spec forgets the folder its files were relative to.
    """
    in_memory = {Path(key).name for key in spec.assets}
    for asset in list(asset_files(spec)):
        if Path(asset.file).name in in_memory:
            continue
        path = _path(spec, asset)
        if not path.is_file():
            raise MissingAssetError(_missing(asset, path))
        asset.write(str(path))
    # With it, MuJoCo would strip the folders again.
    spec.strippath = False


def missing_file(what: str, path: Path) -> str:
    """Return the message for a file that is not there, with the nearest that are."""
    folder = path.parent
    while not folder.is_dir():
        folder = folder.parent
    if folder != path.parent:
        entries = [entry.name for entry in folder.iterdir() if entry.is_dir()]
        wanted = path.relative_to(folder).parts[0]
        start = (
            f"The {what} {str(path)!r} does not exist: {str(folder)!r} has no folder"
        )
        return f"{start} {wanted!r}. {suggest(wanted, sorted(entries))}"
    entries = [entry.name for entry in folder.iterdir() if entry.is_file()]
    names = _alike(path, entries)
    return f"The {what} {str(path)!r} does not exist. {suggest(path.name, names)}"


def _alike(path: Path, names: list[str]) -> list[str]:
    """Files that may be meant: of the same kind, or else of the same name."""
    kind, stem = path.suffix.lower(), path.stem.lower()
    same = [name for name in names if Path(name).suffix.lower() == kind]
    return same or [name for name in names if Path(name).stem.lower() == stem]


def _references(element: Any, kind: str) -> Iterator[AssetFile]:
    compiler = element.compiler
    folder = compiler.texturedir if kind == "texture" else compiler.meshdir

    def write_file(file: str) -> None:
        element.file = file

    if element.file:
        yield AssetFile(
            element=element,
            kind=kind,
            file=element.file,
            folder=folder,
            write=write_file,
        )
    if kind != "texture":
        return
    for face, file in enumerate(element.cubefiles):

        def write_face(file: str, face: int = face) -> None:
            element.cubefiles[face] = file

        if file:
            yield AssetFile(
                element=element,
                kind="texture",
                file=file,
                folder=folder,
                write=write_face,
            )


def _path(spec: mujoco.MjSpec, asset: AssetFile) -> Path:
    file = Path(asset.file).name if spec.strippath else asset.file
    return Path(spec.modelfiledir, asset.folder, file).absolute()


def _missing(asset: AssetFile, path: Path) -> str:
    owner = f"file of the {asset.kind} {asset.element.name!r},"
    return missing_file(owner, path)
