"""Context manager that closes a resource."""

from types import TracebackType
from typing import Self


class Closing:
    """Closes itself at the end of a `with` block, also after an error."""

    def close(self) -> None:
        """Release the resources."""
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
