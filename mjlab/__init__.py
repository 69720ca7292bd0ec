"""Manager-based robot learning on MuJoCo Warp and native MuJoCo."""

import os

from mjlab_fused import refuse_other

# As in `typing`, whose import takes longer than that of this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mjlab.gym import NumpyVectorEnv, TorchVectorEnv


def make(
    task: str, *, num_envs: int = 1, **settings: "Any"
) -> "TorchVectorEnv | NumpyVectorEnv":
    """Create worlds of a task that are stepped together: a Gymnasium `VectorEnv`.

    Args:
        task: Task id, such as "Velocity-G1".
        num_envs: Number of worlds.
        **settings: Settings of `mjlab.gym.make`.
    """
    from mjlab.gym.build import make as make_task

    return make_task(task, num_envs=num_envs, **settings)


def __dir__() -> list[str]:
    """Return the public names, without modules imported here."""
    return sorted({*globals()} - {"os", "refuse_other", "TYPE_CHECKING"})


def _draw_without_a_display() -> None:
    """Select offscreen rendering without a display, as in a notebook on a server."""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        from mjlab.render.gl import prepare_gl

        prepare_gl()


refuse_other()
_draw_without_a_display()
