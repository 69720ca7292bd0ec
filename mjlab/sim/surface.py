"""Float32 tensors of an engine that computes in float64."""

from collections.abc import Mapping

import numpy as np
import torch

from mjlab.sim.fields import surface_dtype, surface_shape


class Surface:
    """Tensors that mirror an engine's arrays; writes are copied back to the arrays.

    All tensors of one type share one block of memory, and a second block stores the
    last published values. Comparing the two blocks finds every modified element,
    however it was written: torch's version counters miss writes through `.numpy()`.
    Only modified elements are copied back, so the float64 values of all other elements
    are never rounded.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], *, writable: bool) -> None:
        self._writable = writable
        dtypes = {name: surface_dtype(name, a.dtype) for name, a in arrays.items()}
        self._blocks = [
            _Block(dtype, {k: a for k, a in arrays.items() if dtypes[k] == dtype})
            for dtype in sorted(set(dtypes.values()), key=str)
        ]
        self.tensors: dict[str, torch.Tensor] = {}
        """Tensors by field name, shape (num_envs, ...)."""
        for block in self._blocks:
            self.tensors |= block.tensors
        self.publish()

    @property
    def nbytes(self) -> int:
        """Memory of the tensors, the published values, and the arrays, in bytes."""
        return sum(block.nbytes for block in self._blocks)

    def publish(self) -> None:
        """Copy the engine's arrays into the tensors."""
        for block in self._blocks:
            block.publish(self._writable)

    def collect(self) -> bool:
        """Copy elements written since `publish` into the engine's arrays."""
        return any([block.collect() for block in self._blocks])


class _Block:
    def __init__(self, dtype: np.dtype, arrays: dict[str, np.ndarray]) -> None:
        ends = np.cumsum([array.size for array in arrays.values()])
        self._values = np.zeros(int(ends[-1]) if len(ends) else 0, dtype)
        self._published = np.zeros_like(self._values)
        self._pairs: list[tuple[np.ndarray, np.ndarray, slice]] = []
        self.tensors: dict[str, torch.Tensor] = {}
        for (name, array), end in zip(arrays.items(), ends, strict=True):
            part = slice(int(end) - array.size, int(end))
            values = self._values[part]
            self._pairs.append((array, values.reshape(array.shape), part))
            shape = (array.shape[0], *surface_shape(name, array.shape[1:]))
            self.tensors[name] = torch.from_numpy(values.reshape(shape))

    @property
    def nbytes(self) -> int:
        own = self._values.nbytes + self._published.nbytes
        return own + sum(array.nbytes for array, _, _ in self._pairs)

    def publish(self, writable: bool) -> None:
        for array, values, _ in self._pairs:
            np.copyto(values, array, casting="unsafe")
        if writable:
            np.copyto(self._published, self._values)

    def collect(self) -> bool:
        written = self._values != self._published
        if not written.any():
            return False
        for array, values, part in self._pairs:
            where = written[part]
            if where.any():
                np.copyto(
                    array, values, casting="unsafe", where=where.reshape(array.shape)
                )
        np.copyto(self._published, self._values)
        return True
