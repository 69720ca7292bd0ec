"""Motion files: one npz per motion, with its frames and metadata."""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.files import reading, write_atomic
from mjlab.motion.motion import Motion, MotionError, MotionInfo

VERSION = 1
"""Version of the file format."""

CONVENTION = "quaternions wxyz; metres, radians, seconds; velocities of origins, world"
"""Description of conventions and units, written into each motion file."""

_ARRAYS = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w")
_ARRAYS += ("body_lin_vel_w", "body_ang_vel_w")
_REMEDY = "Write or copy it again."
_PICKLES = (".pkl", ".pickle", ".joblib", ".p")


def save_motion(motion: Motion, path: Path | str, *, bare: bool = False) -> Path:
    """Write a motion file, and return its path.

    Args:
        motion: The motion.
        path: Path that ends in .npz.
        bare: Omit data that can be computed from root and joints (other bodies and
            velocities), which are computed on reading. G1 files are 12 times smaller.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise MotionError(f"{path} is not a motion file name: it has to end in .npz.")
    kept = motion.bare() if bare else motion
    keys = ("joint_pos", "body_pos_w", "body_quat_w") if bare else _ARRAYS
    arrays: dict[str, Any] = {
        "fps": np.float64(motion.fps),
        "joint_names": np.array(kept.joint_names),
        "body_names": np.array(kept.body_names),
        "contact_names": np.array(kept.contact_names, dtype=np.str_),
        "format": np.array(_header(motion)),
    }
    arrays |= {key: getattr(kept, key).astype(np.float32) for key in keys}
    if kept.contacts is not None:
        arrays["contacts"] = kept.contacts.astype(bool)
    if kept.feasibility is not None:
        arrays["feasibility"] = kept.feasibility.astype(np.float32)
    write_atomic(path, lambda file: np.savez_compressed(file, **arrays))
    return path


def _header(motion: Motion) -> str:
    return json.dumps(
        {
            "version": VERSION,
            "convention": CONVENTION,
            "root_body": motion.root_body,
            "info": asdict(motion.info),
        }
    )


def load_motion(
    path: Path | str,
    *,
    joint_names: Sequence[str] | None = None,
    body_names: Sequence[str] | None = None,
) -> Motion:
    """Read a motion file. The motion gets the name of the file without .npz.

    Args:
        path: The file.
        joint_names: Joint names, for a file without names.
        body_names: Body names, the root first, for a file without names.
    """
    path = Path(path)
    with reading(str(path), MotionError, _REMEDY):
        return _load(path, joint_names, body_names)


def _load(
    path: Path, joint_names: Sequence[str] | None, body_names: Sequence[str] | None
) -> Motion:
    arrays = _read_arrays(path)
    header = _read_header(path, arrays)
    names = {
        what: _names(path, what, arrays, given)
        for what, given in (("joint", joint_names), ("body", body_names))
    }
    missing = [key for key in ("fps", "joint_pos", "body_pos_w") if key not in arrays]
    if missing or "body_quat_w" not in arrays:
        raise MotionError(
            f"{path} is not a motion file: it lacks "
            f"{(missing or ['body_quat_w'])[0]!r}."
        )
    fps = float(np.ravel(arrays["fps"])[0])
    root = header.get("root_body", names["body"][0])
    kept: dict[str, Any] = {
        "contact_names": tuple(map(str, arrays.get("contact_names", ()))),
        "contacts": arrays.get("contacts"),
        "feasibility": arrays.get("feasibility"),
        "info": _read_info(path, header),
    }
    exact = {k: arrays[k].astype(np.float64) for k in _ARRAYS if k in arrays}
    if len(exact) == len(_ARRAYS):
        return Motion(
            name=path.stem,
            fps=fps,
            joint_names=names["joint"],
            root_body=root,
            body_names=names["body"],
            **exact,
            **kept,
        )
    column = names["body"].index(root)
    return Motion.from_root(
        path.stem,
        fps,
        exact["body_pos_w"][:, column],
        exact["body_quat_w"][:, column],
        exact["joint_pos"],
        root_body=root,
        joint_names=names["joint"],
        **kept,
    )


def read_text(path: Path) -> str:
    """Read a motion's text file, or raise `MotionError`."""
    if not path.exists():
        raise MotionError(f"There is no file {path}.")
    with reading(str(path), MotionError, _REMEDY):
        return path.read_text("utf-8")


def find_motions(paths: Sequence[Path | str]) -> list[Path]:
    """Find the motion files in `paths`. A folder selects all of its motion files.

    Two files with the same name are an error, because clips are identified by name.
    """
    if not paths:
        raise MotionError("clips is empty: name motion files, or a folder of them.")
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise MotionError(f"There is no motion file or folder {path}.")
        inside = sorted(path.glob("*.npz")) if path.is_dir() else [path]
        if not inside:
            raise MotionError(f"The folder {path} has no motion file (*.npz).")
        found += inside
    by_name: dict[str, Path] = {}
    for path in found:
        other = by_name.setdefault(path.stem, path)
        if other is not path:
            raise MotionError(
                f"Two clips are called {path.stem!r}: {other} and {path}. Rename one."
            )
    return found


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    if path.suffix in _PICKLES:
        raise MotionError(
            f"{path} is a pickle, which can run code when opened. Save its arrays "
            "with numpy.savez or as CSV, and import that file."
        )
    try:
        data = path.read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise MotionError(f"There is no motion file {path}.") from None
    except (ValueError, AttributeError, zipfile.BadZipFile) as error:
        if "allow_pickle" in str(error):
            raise MotionError(
                f"{path} contains pickled objects, which can run code when opened. "
                "Save its arrays with numpy.savez, and import that file."
            ) from None
        raise MotionError(f"{path} is not an npz file: {error}") from error


def _read_header(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if "format" not in arrays:
        return {}
    header = json.loads(str(arrays["format"]))
    if header["version"] > VERSION:
        raise MotionError(
            f"{path} has format {header['version']}; this version of mjlab reads "
            f"formats up to {VERSION}."
        )
    if header["convention"] != CONVENTION:
        raise MotionError(
            f"{path} has convention {header['convention']!r}; it has to be "
            f"{CONVENTION!r}."
        )
    return header


def _read_info(path: Path, header: dict[str, Any]) -> MotionInfo:
    if "info" not in header:
        return MotionInfo(source=f"file without a header: {path.name}")
    return MotionInfo.of_data(header["info"], str(path))


def _names(
    path: Path,
    what: str,
    arrays: dict[str, np.ndarray],
    given: Sequence[str] | None,
) -> tuple[str, ...]:
    key = f"{what}_names"
    if key in arrays:
        return tuple(map(str, arrays[key]))
    if given is None:
        raise MotionError(
            f"{path} does not name its {'joints' if what == 'joint' else 'bodies'}, "
            "so its columns are ambiguous. Import it with their order."
        )
    return tuple(given)
