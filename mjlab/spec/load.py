"""Loading a spec from wherever a user keeps it."""

from collections.abc import Callable
from pathlib import Path

import mujoco

from mjlab.spec.assets import MissingAssetError, anchor_assets, missing_file

SpecSource = str | Path | mujoco.MjSpec | Callable[[], mujoco.MjSpec]


class ModelFileError(ValueError):
    """A file that MuJoCo cannot read as a model."""


def load_spec(source: SpecSource) -> mujoco.MjSpec:
    """Return a spec that the caller may edit freely.

    Its references to files are absolute and checked to exist, so that it can be
    attached to and exported from any other spec.

    Args:
        source: An MJCF or URDF file, a spec (which is copied), or a function that
            returns a spec.
    """
    if isinstance(source, str | Path):
        spec = _from_file(Path(source))
    elif callable(source):
        spec = source()
    elif isinstance(source, mujoco.MjSpec):
        spec = source.copy()
    else:
        raise TypeError(
            f"A model is a file, an MjSpec or a function that returns one, "
            f"not {type(source).__name__}."
        )
    if not isinstance(spec, mujoco.MjSpec):
        raise TypeError(
            f"The function {_name(source)} returned {type(spec).__name__}, "
            f"not an MjSpec."
        )
    anchor_assets(spec)
    return spec


def _from_file(path: Path) -> mujoco.MjSpec:
    if not path.is_file():
        raise MissingAssetError(missing_file("model file", path.absolute()))
    try:
        # An absolute path, because the spec remembers it as the folder of its assets.
        return mujoco.MjSpec.from_file(str(path.absolute()))
    except ValueError as error:
        raise ModelFileError(f"MuJoCo cannot read {str(path)!r}: {error}") from error


def _name(source: object) -> str:
    return repr(getattr(source, "__qualname__", source))
