"""What has to be closed, as a context."""

from types import TracebackType
from typing import Self


class Closing:
    """Closes itself at the end of a `with` block, also after a fault."""

    def close(self) -> None:
        """Let go of what is held."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
