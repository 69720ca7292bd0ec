"""Video file that a notebook displays."""

import base64
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, repr=False)
class Film:
    """MP4 video. A notebook plays it if it is the last value of a cell."""

    path: Path
    """Path of the file."""

    seconds: float
    """Length, in seconds."""

    def __repr__(self) -> str:
        return f"Film {self.path}, {self.seconds:.1f} s"

    def _repr_html_(self) -> str:
        """Return HTML that contains the whole video."""
        data = base64.b64encode(self.path.read_bytes()).decode()
        return (
            '<video controls autoplay loop muted style="max-width: 100%" '
            f'src="data:video/mp4;base64,{data}"></video>'
        )
