"""Stops the other `mjlab` with one line where both distributions are installed.

When the other `mjlab` is imported, it imports every entry point of the group
`mjlab.tasks`, and prints a traceback for each that raises an `Exception`. Our tasks are
in that group, and the other `mjlab` cannot import them. This module is the first of our
entry points and raises `SystemExit`, which ends the process instead.
"""

from mjlab_fused import stop_other

stop_other()
