"""Gymnasium's ids of tasks: importing this makes all tasks known to it."""

from mjlab.registry import entries

try:
    import gymnasium as gymnasium
except ModuleNotFoundError as error:
    raise ImportError(
        'Gymnasium, which this needs, is not installed: pip install "mjlab-fused[gym]".'
    ) from error

NAMESPACE = "mjlab"
VERSION = 0


def gym_id(task_id: str) -> str:
    """The id of a task in Gymnasium: "Velocity-G1" is "mjlab/Velocity-G1-v0"."""
    return f"{NAMESPACE}/{task_id}-v{VERSION}"


def task_of(name: str) -> str:
    """The task that is meant by its own id or by Gymnasium's."""
    name = name.rpartition(":")[2].removeprefix(f"{NAMESPACE}/")
    return name.removesuffix(f"-v{VERSION}")


for _task in entries():
    gymnasium.register(
        id=gym_id(_task),
        entry_point="mjlab.gym.build:make_single",
        vector_entry_point="mjlab.gym.build:make_vector",
        kwargs={"task": _task},
    )
