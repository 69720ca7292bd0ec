"""Load and write models and the files they refer to."""

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjlab.files import one_line
from mjlab.mujoco_log import ModelFileError, relay_warnings
from mjlab.names import suggest
from mjlab.png import png
from mjlab.safe_names import plain_name

SpecSource = str | Path | mujoco.MjSpec | Callable[[], mujoco.MjSpec]

_ASSETS = "assets"


class MissingAssetError(FileNotFoundError):
    """Raised if a model file, or a file that a model refers to, does not exist."""


@dataclass(frozen=True, kw_only=True)
class AssetFile:
    """Reference from an element of a spec to a file."""

    element: Any
    """The mesh, texture, height field or skin."""

    kind: str
    """Kind of element, such as "mesh"."""

    file: str
    """Path of the file, as written in the spec."""

    face: int | None
    """Index of the face in `cubefiles` of a cube texture; None for other files."""

    @property
    def folder(self) -> str:
        """`texturedir` or `meshdir` of the element, relative to the model's folder."""
        compiler = self.element.compiler
        return compiler.texturedir if self.kind == "texture" else compiler.meshdir

    def write(self, file: str) -> None:
        """Make the element, or this face of a cube texture, refer to `file` instead."""
        if self.face is None:
            self.element.file = file
        else:
            self.element.cubefiles[self.face] = file


def load_spec(source: SpecSource) -> mujoco.MjSpec:
    """Return a spec that the caller can edit freely.

    References to files are made absolute and checked, so that the spec can be attached
    to any other spec and exported from it.

    Args:
        source: An MJCF or URDF file, a spec (which is copied), or a function that
            returns a spec.
    """
    relay_warnings()
    if isinstance(source, str | Path):
        spec = _from_file(Path(source))
    elif callable(source):
        spec = _called(source)
    elif isinstance(source, mujoco.MjSpec):
        spec = source.copy()
    else:
        raise TypeError(
            "A model must be a file, an MjSpec or a function that returns one, not "
            f"{type(source).__name__}."
        )
    if not isinstance(spec, mujoco.MjSpec):
        raise TypeError(
            f"The function {getattr(source, '__qualname__', source)!r} returned "
            f"{type(spec).__name__}, not an MjSpec."
        )
    _anchor_assets(spec)
    return spec


def asset_files(spec: mujoco.MjSpec) -> Iterator[AssetFile]:
    """Yield every file reference of the spec, one per face of a cube texture."""
    kinds = {
        "mesh": spec.meshes,
        "texture": spec.textures,
        "height field": spec.hfields,
        "skin": spec.skins,
    }
    for kind, elements in kinds.items():
        for element in elements:
            faces = enumerate(element.cubefiles if kind == "texture" else ())
            files = {None: element.file, **dict(faces)}
            yield from (
                AssetFile(element=element, kind=kind, file=file, face=face)
                for face, file in files.items()
                if file
            )


def write_spec(spec: mujoco.MjSpec, path: str | Path, *, zip: bool = False) -> Path:
    """Write the spec as MJCF with the files it refers to, and return the path.

    A folder gets `scene.xml` and `assets/`; a zip file has the same contents. Existing
    files are never overwritten or deleted. MuJoCo writes seven digits, so a model
    compiled from the file differs by up to 1e-7 of each value.

    Args:
        spec: Not modified.
        path: The new folder, or the new zip file.
        zip: Write a zip file.
    """
    target = Path(path)
    if target.exists():
        raise FileExistsError(
            f"{str(target)!r} already exists; choose a new "
            f"{'file' if zip else 'folder'}."
        )
    files = _collect(spec)
    target.parent.mkdir(parents=True, exist_ok=True)
    if zip:
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED) as archive:
            for name, contents in files.items():
                archive.writestr(name, contents)
        return target
    for name, contents in files.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents)
    return target


def _from_file(path: Path) -> mujoco.MjSpec:
    if not path.is_file():
        raise MissingAssetError(_missing_file("model file", path.absolute()))
    try:
        # An absolute path, because the spec stores its folder for asset lookup.
        return mujoco.MjSpec.from_file(str(path.absolute()))
    except ValueError as error:
        raise ModelFileError(
            f"MuJoCo cannot read {str(path)!r}: {one_line(error)}."
        ) from error


def _called(source: Callable[[], mujoco.MjSpec]) -> mujoco.MjSpec:
    """Call a function that returns a spec; shorten errors of MuJoCo's parser."""
    try:
        return source()
    except ValueError as error:
        if not str(error).startswith("XML Error"):
            raise
        name = getattr(source, "__qualname__", repr(source))
        raise ModelFileError(
            f"MuJoCo cannot read the model of {name!r}: {one_line(error)}."
        ) from error


def _anchor_assets(spec: mujoco.MjSpec) -> None:
    """Make every reference to a file on disk absolute, and check that the file exists.

    An attached spec loses the folder to which its paths were relative.
    """
    in_memory = {Path(key).name for key in spec.assets}
    for asset in list(asset_files(spec)):
        if Path(asset.file).name in in_memory:
            continue
        path = _path(spec, asset)
        if not path.is_file():
            raise MissingAssetError(_missing(asset, path))
        asset.write(str(path))
    # With strippath, MuJoCo would remove the folders again.
    spec.strippath = False


def _collect(spec: mujoco.MjSpec) -> dict[str, bytes]:
    """Return the contents of all files to write, by their relative path."""
    copy = spec.copy()
    files: dict[str, bytes] = {}
    for asset, contents in [(a, _asset_bytes(spec, a)) for a in asset_files(copy)]:
        name = _free_name(plain_name(Path(asset.file).name), contents, files)
        files[f"{_ASSETS}/{name}"] = contents
        asset.write(name)
        # An attached element keeps the compiler settings of its original spec.
        asset.element.compiler.meshdir = asset.element.compiler.texturedir = _ASSETS
    for texture in copy.textures:
        if texture.data:
            _to_file(texture, files)
    copy.meshdir = copy.texturedir = _ASSETS
    # MuJoCo compiles the spec when writing, so it must find the files by their new
    # names.
    copy.assets = files
    copy.compile()
    return {"scene.xml": copy.to_xml().encode(), **files}


def _to_file(texture: mujoco.MjsTexture, files: dict[str, bytes]) -> None:
    """Replace a texture's pixel buffer, which MJCF cannot store, by a PNG file."""
    shape = (texture.height, texture.width, texture.nchannel)
    pixels = np.frombuffer(texture.data, np.uint8).reshape(shape)
    contents = png(pixels.transpose(2, 0, 1))
    name = _free_name(f"{texture.name.replace('/', '_')}.png", contents, files)
    files[f"{_ASSETS}/{name}"] = contents
    texture.file, texture.data = name, b""
    texture.compiler.meshdir = texture.compiler.texturedir = _ASSETS
    if texture.type != mujoco.mjtTexture.mjTEXTURE_2D:
        # The faces are stacked vertically, as in MuJoCo's buffer.
        texture.gridsize, texture.gridlayout = (6, 1), "RLUDFB"


def _free_name(name: str, contents: bytes, files: dict[str, bytes]) -> str:
    """Return the name of a file with equal contents, or an unused name."""
    stem, suffix = Path(name).stem, Path(name).suffix
    candidate, count = name, 1
    while files.get(f"{_ASSETS}/{candidate}", contents) != contents:
        count += 1
        candidate = f"{stem}_{count}{suffix}"
    return candidate


def _asset_bytes(spec: mujoco.MjSpec, asset: AssetFile) -> bytes:
    """Return the contents of a referenced file, from memory or from disk."""
    relative = str(Path(asset.folder, asset.file))
    for key in (relative, asset.file, Path(asset.file).name):
        if key in spec.assets:
            contents = spec.assets[key]
            return contents if isinstance(contents, bytes) else contents.encode()
    path = _path(spec, asset)
    if not path.is_file():
        raise MissingAssetError(_missing(asset, path))
    return path.read_bytes()


def _path(spec: mujoco.MjSpec, asset: AssetFile) -> Path:
    file = Path(asset.file).name if spec.strippath else asset.file
    return Path(spec.modelfiledir, asset.folder, file).absolute()


def _missing(asset: AssetFile, path: Path) -> str:
    owner = f"file of the {asset.kind} {asset.element.name!r},"
    return _missing_file(owner, path)


def _missing_file(what: str, path: Path) -> str:
    """Return the error message for a missing file, with similar names."""
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
    """Return files of the same type, or if there are none, files of the same name."""
    kind, stem = path.suffix.lower(), path.stem.lower()
    same = [name for name in names if Path(name).suffix.lower() == kind]
    return same or [name for name in names if Path(name).stem.lower() == stem]
