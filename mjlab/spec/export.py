"""Writing a spec and the files it refers to."""

import zipfile
from pathlib import Path

import mujoco

from mjlab.spec.assets import asset_bytes, asset_files

_ASSETS = "assets"


def write_spec(spec: mujoco.MjSpec, path: str | Path, *, zip: bool = False) -> Path:
    """Write the spec as MJCF with the files it refers to, and return what was written.

    A folder gets `scene.xml` and `assets/`; a zip file holds the same. Nothing that
    exists is overwritten or deleted.

    Args:
        spec: Not changed.
        path: The new folder, or the new zip file.
        zip: Whether to write a zip file.
    """
    target = Path(path)
    if target.exists():
        raise FileExistsError(
            f"{str(target)!r} exists already; the model is written to a new "
            f"{'file' if zip else 'folder'} only."
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


def _collect(spec: mujoco.MjSpec) -> dict[str, bytes]:
    """Return the contents of all files to write, by their path in the folder."""
    copy = spec.copy()
    files: dict[str, bytes] = {}
    for asset, contents in [(a, asset_bytes(spec, a)) for a in asset_files(copy)]:
        name = _free_name(Path(asset.file).name, contents, files)
        files[f"{_ASSETS}/{name}"] = contents
        asset.write(name)
        # An attached element has the compiler settings of the spec that it came from.
        asset.element.compiler.meshdir = asset.element.compiler.texturedir = _ASSETS
    copy.meshdir = copy.texturedir = _ASSETS
    # MuJoCo compiles what it writes, so it must find the files under their new names.
    copy.assets = files
    copy.compile()
    return {"scene.xml": copy.to_xml().encode(), **files}


def _free_name(name: str, contents: bytes, files: dict[str, bytes]) -> str:
    """Return the file name that holds `contents`, or one that is not taken."""
    stem, suffix = Path(name).stem, Path(name).suffix
    candidate, count = name, 1
    while files.get(f"{_ASSETS}/{candidate}", contents) != contents:
        count += 1
        candidate = f"{stem}_{count}{suffix}"
    return candidate
