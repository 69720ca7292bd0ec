"""Counter of the tensor operations of a piece of code."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

# Operations that launch nothing on a device.
_ALLOCATIONS = {"aten.empty.memory_format", "aten.empty_like.default"}


class _Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if not func.is_view and str(func) not in _ALLOCATIONS:
            self.names[str(func)] += 1
        return func(*args, **(kwargs or {}))


@contextmanager
def counted_operations() -> Iterator[Counter[str]]:
    """Count operations that are neither views nor allocations, by name."""
    with _Counting() as counting:
        yield counting.names
