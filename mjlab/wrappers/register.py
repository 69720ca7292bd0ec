"""Gymnasium's ids of tasks."""

NAMESPACE = "mjlab"
VERSION = 0


def gym_id(task_id: str) -> str:
    """The id of a task in Gymnasium: "Velocity-G1" is "mjlab/Velocity-G1-v0"."""
    return f"{NAMESPACE}/{task_id}-v{VERSION}"


def task_of(name: str) -> str:
    """The task that is meant by its own id or by Gymnasium's."""
    name = name.rpartition(":")[2].removeprefix(f"{NAMESPACE}/")
    return name.removesuffix(f"-v{VERSION}")


def register_task(task_id: str, *, single: str, vector: str) -> None:
    """Make a task known to Gymnasium, if it is not yet.

    Args:
        task_id: Our id.
        single: `module:function` that makes the single form, of `task=` and settings.
        vector: The same for the vector form, of `num_envs=` as well.
    """
    # Imported here, so that names can be told apart where Gymnasium is not there.
    import gymnasium

    if gym_id(task_id) in gymnasium.registry:
        return
    gymnasium.register(
        id=gym_id(task_id),
        entry_point=single,
        vector_entry_point=vector,
        kwargs={"task": task_id},
    )
