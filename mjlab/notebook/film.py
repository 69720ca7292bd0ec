"""Video file that a notebook shows."""

import base64
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, repr=False)
class Film:
    """MP4 file. As the last value of a notebook cell, it is shown in the cell."""

    path: Path
    """The file."""

    seconds: float
    """Length, in seconds."""

    def __repr__(self) -> str:
        """Return path and length."""
        return f"Film {self.path}, {self.seconds:.1f} s"

    def _repr_html_(self) -> str:
        """Return the film as HTML that needs no other file."""
        data = base64.b64encode(self.path.read_bytes()).decode()
        return (
            '<video controls autoplay loop muted style="max-width: 100%" '
            f'src="data:video/mp4;base64,{data}"></video>'
        )
