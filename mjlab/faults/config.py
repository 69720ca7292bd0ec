"""What a user may set about the dumps of faults."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class DumpCfg:
    """What is kept of worlds in which something went wrong.

    A dump lies in the run's folder, as `dumps/<iteration>_<reason>`, and
    `play.py --dump` replays it.
    """

    enabled: bool = True
    """Whether the last steps are recorded, so that there is something to keep."""

    steps: int | None = None
    """Steps that are kept before a fault, at least where there were as many. None takes
    the steps of an iteration, which is also the least."""

    max_worlds: int = 4
    """Worlds that one dump keeps, those that went wrong first."""

    max_dumps: int = 8
    """Dumps of a run."""

    max_megabytes: float = 256.0
    """Room that the dumps of a run may take."""
