"""Memory for launches that stand where nothing can be allocated."""

from contextlib import AbstractContextManager, nullcontext

import warp as wp


class KeptMemory:
    """An allocator that keeps what it is given back, and hands it out again.

    The body of a conditional node of a CUDA graph cannot allocate, and what MuJoCo Warp
    launches there takes temporary arrays (4.0.0). Run once before, with this allocator,
    they leave behind just the memory that the recording then asks for.

    It serves work that runs in order, on one stream at a time.
    """

    deallocate_requires_context_guard = False

    def __init__(self, device: wp.Device) -> None:
        self._device = device
        source = device.get_allocator()
        assert source is not None
        self._source = source
        self._free: dict[int, list[int]] = {}
        self._taken: list[tuple[int, int]] = []

    @property
    def num_blocks(self) -> int:
        """How many blocks have been taken from the device."""
        return len(self._taken)

    def allocate(self, size_in_bytes: int) -> int:
        """Return memory of this size, new only where none is free."""
        free = self._free.setdefault(size_in_bytes, [])
        if free:
            return free.pop()
        block = self._source.allocate(size_in_bytes)
        self._taken.append((block, size_in_bytes))
        return block

    def deallocate(self, ptr: int, size_in_bytes: int) -> None:
        """Keep memory for later."""
        self._free[size_in_bytes].append(ptr)

    def serve(self) -> AbstractContextManager[object]:
        """Serve what is allocated inside the block. On the CPU there is no need."""
        if not self._device.is_cuda:
            return nullcontext()
        return wp.ScopedAllocator(self._device, self)

    def __del__(self) -> None:
        if not self._taken:
            return
        try:
            with self._device.context_guard:
                for block, size in self._taken:
                    self._source.deallocate(block, size)
        except (TypeError, AttributeError):
            pass  # Python ends, and parts of Warp have gone before us.
