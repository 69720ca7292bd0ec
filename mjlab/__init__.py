"""A manager-based framework for robot learning on MuJoCo Warp and native MuJoCo."""

import os
import sys
import warnings

TYPE_CHECKING = False  # As in `typing`, which takes longer to import than all of this.
if TYPE_CHECKING:
    from typing import Any

    from mjlab.gym import NumpyVectorEnv, TorchVectorEnv


def _other_mjlab() -> str | None:
    """Return the metadata folder of a distribution called `mjlab`, if one is there.

    This distribution is `mjlab-fused`; `mjlab` is another project's, and both hold an
    import package of that name. Folder names are compared instead of asking
    `importlib.metadata`, whose import alone takes longer than all of `import mjlab`.
    """
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue  # A zip file, or an entry that does not exist.
        for name in names:
            if name.startswith("mjlab-") and name.endswith((".dist-info", ".egg-info")):
                return os.path.join(folder, name)
    return None


def _refuse_other_mjlab() -> None:
    """Raise where the other `mjlab` shares our folder, warn where it lies elsewhere."""
    other = _other_mjlab()
    if other is None:
        return
    message = (
        f"the distribution 'mjlab' is installed beside 'mjlab-fused' ({other}), and "
        "both own the package 'mjlab'. Run `pip uninstall mjlab`, then `pip install "
        "--force-reinstall --no-deps mjlab-fused`, or give each its own environment."
    )
    ours = os.path.dirname(os.path.abspath(__file__))
    if os.path.realpath(os.path.dirname(other)) == os.path.realpath(
        os.path.dirname(ours)
    ):
        # Installed into one folder, the files of the two overwrote each other.
        raise ImportError(message)
    warnings.warn(message, stacklevel=3)


def make(
    task: str, *, num_envs: int = 1, **settings: "Any"
) -> "TorchVectorEnv | NumpyVectorEnv":
    """Make worlds of a task, stepped together: a `gymnasium.vector.VectorEnv`.

    Args:
        task: The task's id, such as "Velocity-G1".
        num_envs: Number of worlds.
        **settings: Those of `mjlab.gym`.
    """
    from mjlab.gym.build import make as make_task

    return make_task(task, num_envs=num_envs, **settings)


def __dir__() -> list[str]:
    """Return what users look for, and not what this file imports for itself."""
    return sorted({*globals()} - {"os", "sys", "warnings", "TYPE_CHECKING"})


def _draw_without_a_display() -> None:
    """Have cameras draw where there is no display, as in a notebook of a server."""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        from mjlab.render.gl import prepare_gl

        prepare_gl()


_refuse_other_mjlab()
_draw_without_a_display()
