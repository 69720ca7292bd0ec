"""A manager-based framework for robot learning on MuJoCo Warp and native MuJoCo."""

import os

from mjlab_fused import refuse_other

TYPE_CHECKING = False  # As in `typing`, which takes longer to import than all of this.
if TYPE_CHECKING:
    from typing import Any

    from mjlab.gym import NumpyVectorEnv, TorchVectorEnv


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
    return sorted({*globals()} - {"os", "refuse_other", "TYPE_CHECKING"})


def _draw_without_a_display() -> None:
    """Have cameras draw where there is no display, as in a notebook of a server."""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        from mjlab.render.gl import prepare_gl

        prepare_gl()


refuse_other()
_draw_without_a_display()
