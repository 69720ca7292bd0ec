"""What went wrong in which world: recorded as it happens, kept, and replayed.

`recorder` keeps the last steps of all worlds on their device, `files` writes those of
the worlds in which something went wrong into a folder, and `replay` does them again.
"""

from mjlab.faults.config import DumpCfg as DumpCfg
