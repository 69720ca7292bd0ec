"""Programs as people type them: `python scripts/train.py`, or `mjlab train`.

The folder is also the package `mjlab.scripts`, by a link as that of the tasks.
"""
