"""Manager-based robot learning on MuJoCo Warp and native MuJoCo."""

import os

from mjlab_fused import refuse_other

# Replaces `typing.TYPE_CHECKING`: importing `typing` takes longer than this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from mjlab.gym import NumpyVectorEnv, TorchVectorEnv
    from mjlab.notebook import RolloutResult, SavedPolicy


def make(
    task: "str | Path", *, num_envs: int = 1, **settings: "Any"
) -> "TorchVectorEnv | NumpyVectorEnv":
    """Create a Gymnasium `VectorEnv` that steps several worlds of a task together.

    Args:
        task: Task id, such as "Velocity-G1", or a file with a configuration,
            "my_env.py:MyTaskCfg". A run, a checkpoint or an ONNX file creates the
            environment of its policy.
        num_envs: Number of worlds.
        **settings: Further arguments of `mjlab.gym.make`.
    """
    from mjlab.notebook.policy import make as make_worlds

    return make_worlds(task, num_envs=num_envs, **settings)


def load_policy(
    place: "str | Path", env: "Any" = None, **settings: "Any"
) -> "SavedPolicy":
    """Load a trained policy as a function that maps observations to actions.

    Args:
        place: Task id (its newest run, else the policy that ships with the task), run
            folder, checkpoint, ONNX file, "latest" or "wandb:ENTITY/PROJECT/NAME".
        env: Environment to bind the policy to. `rollout` binds an unbound policy.
        **settings: `best=True` for a run's best checkpoint, and `logs`, the folder of
            all runs.
    """
    from mjlab.notebook.policy import load_policy as load

    return load(place, env, **settings)


def rollout(env: "Any", policy: "Any", **settings: "Any") -> "RolloutResult":
    """Reset the environment and run a policy; return rewards by term.

    To step the environment yourself afterwards, reset it first.

    Args:
        env: Environment of `make`, or a `ManagerBasedRlEnv`. Its wrappers are not
            applied.
        policy: Policy of `load_policy`, or a function of the environment's
            observations that returns actions, shape (num_envs, action_dim).
        **settings: `seconds` of simulated time (10), `seed` of the worlds, `film` (an
            MP4 file to record), `film_worlds` (4), `film_size` in pixels, and
            `scheduled=True` for a schedule of velocity commands.
    """
    from mjlab.notebook.rollout import rollout as run

    return run(env, policy, **settings)


def __dir__() -> list[str]:
    """Return the public names, without modules imported here."""
    return sorted({*globals()} - {"os", "refuse_other", "TYPE_CHECKING"})


def _draw_without_a_display() -> None:
    """Select offscreen rendering if no display exists, as in a notebook on a server."""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        from mjlab.render.gl import prepare_gl

        prepare_gl()


refuse_other()
_draw_without_a_display()
