"""Tasks and robots that ship with mjlab: `mjlab.tasks`."""

if __name__ != "mjlab.tasks":
    # This folder is imported under its own name, from the repository's root.
    raise ImportError("Import the tasks as `mjlab.tasks`, not as `tasks`.")
