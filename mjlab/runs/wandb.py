"""Weights & Biases: upload and download runs and files as artifacts.

Uploads happen only if a configuration or `upload.py` requests them. Uploads contain the
files of a run's folder, but no host name and no user name.
"""

import base64
import hashlib
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from mjlab.extras import missing
from mjlab.files import check_contained, folder_beside, move_durably
from mjlab.runs.checkpoints import BEST
from mjlab.runs.run import INFO, Run, RunError
from mjlab.safe_names import name_fault, plain_name

Mode = Literal["online", "offline"] | None
""""online" uploads now, "offline" stores locally for `wandb sync`, None lets wandb
decide."""

KINDS = {
    ".npz": "motion",
    ".onnx": "policy",
    ".mp4": "film",
    ".gif": "film",
    ".h5": "recording",
    ".hdf5": "recording",
}
"""Artifact types by file suffix. A run's folder has the type "model"."""

_FILES = (INFO, "config.json", "defaults.json", "metrics.jsonl")
_FILES += ("report.html", "evaluation.json", "export/*", "videos/*", "videos/train/*")
_PLACE = re.compile(r"wandb:([\w.-]+/[\w.-]+/([\w.-]+))(?::([\w.-]+))?")
_LOG_IN = (
    "Log in with `wandb login`, or keep everything on this machine with {offline}."
)


class WandbError(RunError):
    """Raised if an artifact is missing, refused, or changed locally."""


def import_wandb() -> Any:
    """Import wandb; if it is missing, raise an error with the install command."""
    try:
        return importlib.import_module("wandb")
    except ImportError as error:
        raise ImportError(missing("Weights & Biases", "wandb", "wandb")) from error


def open_run(
    folder: Path,
    *,
    project: str,
    entity: str | None,
    mode: Mode,
    offline: str,
    name: str | None = None,
    **more: Any,
) -> Any:
    """Open a run on Weights & Biases.

    Args:
        folder: Folder of wandb's own files.
        project: Name of the project.
        entity: User or team. None selects the account's default.
        mode: Upload mode.
        offline: Command-line option that disables uploads, named in the message if the
            user is not logged in.
        name: Name of the run, which is continued if it exists. None starts a new run.
        more: Further arguments of `wandb.init`.
    """
    wandb = import_wandb()
    # Upload no console output, code, packages or machine data: they contain names of
    # folders, hosts and users.
    settings = wandb.Settings(
        console="off",
        disable_git=True,
        disable_code=True,
        x_disable_meta=True,
        x_save_requirements=False,
        host="",
    )
    if name is not None:
        more |= {"id": name, "name": name, "resume": "allow"}
    place = {
        "project": project,
        "entity": entity,
        "mode": mode,
        "dir": str(folder.resolve()),
    }
    try:
        return wandb.init(**place, settings=settings, **more)
    except wandb.errors.Error as error:
        raise WandbError(
            f"Weights & Biases: {error} {_LOG_IN.format(offline=offline)}"
        ) from error


def artifact_of(path: Path) -> Any:
    """Return the artifact of a run's folder, a file, or a folder of motions."""
    if path.is_dir():
        check_contained(path, WandbError)
    if (path / INFO).is_file():
        task = Run(path).task
        files = {f.relative_to(path).as_posix(): f for f in _files_of_run(path)}
        return _artifact(path.name, "model", files, {"task": task})
    if path.is_file() and path.suffix in KINDS:
        return _artifact(path.stem, KINDS[path.suffix], {path.name: path}, {})
    motions = {file.name: file for file in sorted(path.glob("*.npz"))}
    if motions:
        return _artifact(path.name, "motion", motions, {})
    if not path.exists():
        raise WandbError(f"{path} does not exist, so it cannot be uploaded.")
    raise WandbError(
        f"{path} cannot be uploaded. Valid: a run's folder, a folder of motions, or a "
        f"file that ends in {', '.join(KINDS)}."
    )


def _files_of_run(folder: Path) -> list[Path]:
    """Return the results of a run, and the files needed to resume it elsewhere."""
    newest = Run(folder).checkpoints.newest()
    stems = [BEST, *(() if newest is None else (newest.stem,))]
    patterns = (*_FILES, *(f"checkpoints/{stem}.*" for stem in stems))
    found = (file for pattern in patterns for file in sorted(folder.glob(pattern)))
    return [file for file in found if file.is_file()]


def _artifact(
    name: str, kind: str, files: Mapping[str, Path], about: Mapping[str, Any]
) -> Any:
    artifact = import_wandb().Artifact(
        plain_name(name), type=kind, metadata=dict(about)
    )
    for inside, file in files.items():
        # wandb copies the file now: training can replace checkpoints before the upload.
        artifact.add_file(str(file), name=inside)
    return artifact


def video_of(path: Path) -> Any:
    """Convert a video file to a `wandb.Video`, which is logged like a metric."""
    return import_wandb().Video(str(path), format="mp4")


def fetch(place: str, logs: Path) -> Path:
    """Download `wandb:ENTITY/PROJECT/NAME[:VERSION]`, and return the local path.

    A run is downloaded to `logs/TASK/NAME-VERSION`, other artifacts to
    `logs/wandb/ENTITY/PROJECT/NAME-VERSION`. For an artifact with a single file, the
    file's path is returned. Existing downloads are reused.

    Args:
        place: Name of the artifact. Without a version, the latest is used.
        logs: Folder of all runs.
    """
    match = _PLACE.fullmatch(place)
    if match is None or any(name_fault(part) for part in match[1].split("/")):
        raise WandbError(
            f"{place!r} is not an artifact. Valid: wandb:ENTITY/PROJECT/NAME, or "
            "wandb:ENTITY/PROJECT/NAME:VERSION for an older version."
        )
    path, name, version = match.groups()
    wandb = import_wandb()
    try:
        artifact = wandb.Api().artifact(f"{path}:{version or 'latest'}")
        digests = {key: e.digest for key, e in artifact.manifest.entries.items()}
        if any(name_fault(part) for key in digests for part in key.split("/")):
            raise WandbError(
                f"{place} is refused: a file in it is a link out of its folder."
            )
        task = artifact.metadata.get("task")
        above = f"wandb/{Path(path).parent}" if task is None else plain_name(task)
        home = logs / above / plain_name(f"{name}-{artifact.version}")
        if not home.exists():
            with folder_beside(home) as arrived:
                artifact.download(root=str(arrived))
                _check(arrived, digests)
                move_durably(arrived, home)
    except (wandb.errors.Error, OSError) as error:
        raise WandbError(
            f"{place} cannot be downloaded: {error} Log in with `wandb login`. Runs "
            "are uploaded by training with --agent.logging.wandb-artifacts True, or "
            "by upload.py."
        ) from error
    # Compare only run.json of a run: every resume changes this file.
    _check(home, digests if task is None else {INFO: digests.get(INFO, "")})
    return home / next(iter(digests)) if len(digests) == 1 else home


def _check(folder: Path, digests: Mapping[str, str]) -> None:
    """Raise if a file is missing or differs from its upload."""
    for name, digest in digests.items():
        file = folder / name
        data = file.read_bytes() if file.is_file() else b""
        if base64.b64encode(hashlib.md5(data).digest()).decode() != digest:
            raise WandbError(
                f"{file} differs from the upload: it is damaged or was changed here. "
                f"Name {folder} itself to use it, or move it away to download it "
                "again."
            )
