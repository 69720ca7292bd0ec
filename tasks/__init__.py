"""Tasks and robots that ship with mjlab: `mjlab.tasks`."""

if __name__ != "mjlab.tasks":
    # This folder, found by its own name from the root of the repository.
    raise ImportError("These are mjlab's tasks: import them as `mjlab.tasks`.")
