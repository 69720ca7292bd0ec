"""Tasks and robots that ship with mjlab: `mjlab.tasks`."""

if __name__ != "mjlab.tasks":
    # Tasks are imported as `mjlab.tasks`; `tasks` is the folder's name in the
    # repository.
    raise ImportError("Import the tasks as `mjlab.tasks`, not as `tasks`.")
