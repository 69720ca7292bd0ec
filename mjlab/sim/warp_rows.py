# Kernel bodies are in Warp's language, whose types pyright does not know.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false
"""Join torch operations that treat each world separately into one Warp kernel.

Imports Warp, so it is only imported on a CUDA device.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
import warp as wp
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from mjlab.sim.row_code import Lay, NotByRowsError, RowCode, write_code
from mjlab.warp_start import start_warp
from mjlab.warp_stream import before_launches, current_warp_stream

start_warp()

MOST_PLACES = 120
"""Maximum number of storages per kernel: its arguments are limited to 4 kB."""

_BLOCK = 128
"""Threads per block: four worlds with 32 threads each."""

_Places = wp.types.vector(length=MOST_PLACES, dtype=wp.uint64)
_NEXT = """
#ifdef __CUDA_ARCH__
__syncwarp();
#endif
"""
"""Code between two operations: synchronises the lanes of a world, so that each lane
sees what the other lanes wrote."""

_FREE = ("empty", "new_empty", "detach", "alias", "_unsafe_view")
_OPTIONS = {"alpha", "value", "right", "out", "dtype", "memory_format", "pin_memory"}
_OPTIONS |= {"layout", "non_blocking"}


class RowPrograms(TorchDispatchMode):
    """Dispatch mode that defers torch operations and joins them into one kernel.

    An operation is deferred if each world's row of its result depends only on rows of
    the same world, or on data that no deferred operation writes. One launch then runs
    all deferred operations in order, with 32 threads per world on CUDA. Any other
    operation runs immediately; if it accesses the memory of deferred operations, these
    are launched first. They are also launched before each Warp launch, which torch does
    not see.

    Operations that are not compiled yet are computed by torch, and recorded for
    `compile`. Results are therefore correct from the first run.
    """

    def __init__(self, num_worlds: int, device: torch.device) -> None:
        super().__init__()
        self._num_worlds, self._device = num_worlds, device
        self._kernels: dict[str, Any] = {}
        self._noted: dict[str, None] = {}
        self._is_busy = False
        self._clear()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Defer operations within the block, and launch the last of them at the end."""
        with before_launches(self.flush), self:
            yield
            self.flush()

    def compile(self) -> None:
        """Compile the recorded operations. Later runs launch them as kernels."""
        self._kernels |= _compiled(tuple(self._noted), self._device)
        self._noted.clear()

    def compile_ahead(self, compile: Callable[[Any, int], None]) -> None:
        """Compile the operations recorded so far for another machine.

        Args:
            compile: Compiles a Warp module for a block size.
        """
        if self._noted:
            compile(_module(tuple(self._noted))[0], _BLOCK)

    def flush(self) -> None:
        """Launch the deferred operations."""
        if not self._waiting or self._is_busy:
            return
        text = _NEXT.join(self._lines)
        kernel = self._kernels.get(text)
        self._is_busy = True
        try:
            if kernel is None:
                self._noted[text] = None
                self._compute()
            else:
                self._launch(kernel)
        finally:
            self._is_busy = False
        self._clear()

    def _launch(self, kernel: Any) -> None:
        places = _Places(*self._slots, *[0] * (MOST_PLACES - len(self._slots)))
        on_cuda = self._device.type == "cuda"
        lanes = 32 if on_cuda else 1
        wp.launch(
            kernel,
            self._num_worlds * lanes,
            [lanes, places],
            device=str(self._device),
            stream=current_warp_stream(self._device) if on_cuda else None,
            block_dim=_BLOCK,
        )

    def _compute(self) -> None:
        """Compute the deferred operations with torch."""
        for func, args, options, out in self._waiting:
            result = func(*args, **options)
            if result is not out:
                out.copy_(result)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        options = kwargs or {}
        name = func.overloadpacket.__name__
        if self._is_busy or func.is_view or name.startswith(_FREE):
            return func(*args, **options)
        tensors = [t for t in tree_leaves((args, options)) if isinstance(t, Tensor)]
        try:
            out = self._out(func, args, options, tensors)
            if not out.numel():
                return out
            kind = name.removesuffix("_")
            code = write_code(kind, self._num_worlds, out, args, options)
            self._wait(code, (func, args, options, out))
            return out
        except NotByRowsError:
            return self._at_once(func, args, options, tensors)

    def _at_once(
        self, func: Any, args: Any, options: Any, tensors: list[Tensor]
    ) -> Any:
        """Run an operation now, after deferred operations on the same memory."""
        touched = {t.untyped_storage().data_ptr() for t in tensors}
        if touched & (self._seen if func._schema.is_mutable else self._written).keys():
            self.flush()
        self._is_busy = True
        try:
            return func(*args, **options)
        finally:
            self._is_busy = False

    def _out(self, func: Any, args: Any, options: Any, tensors: list[Tensor]) -> Tensor:
        """Return the output tensor of an operation, newly allocated if necessary."""
        returns = func._schema.returns
        if func.namespace != "aten" or len(returns) != 1 or not tensors:
            raise NotByRowsError(str(func))
        if any(t.device != self._device for t in tensors) or not (
            options.keys() <= _OPTIONS or options.get("device") == self._device
        ):
            raise NotByRowsError("another device")
        if "out" in options:
            return options["out"]
        if func._schema.is_mutable:
            return args[0]
        shown: Any = func(*tree_map(_shape_of, args), **tree_map(_shape_of, options))
        return torch.empty_strided(
            shown.shape, shown.stride(), dtype=shown.dtype, device=self._device
        )

    def _wait(self, code: RowCode, operation: tuple[Any, ...]) -> None:
        """Defer an operation. Launch conflicting deferred operations first."""
        lies = {(address, lay) for address, lay, _ in code.touched}
        written = {address for address, _, is_written in code.touched if is_written}
        if sum(address in written for address, _ in lies) > len(written):
            raise NotByRowsError("one world writes memory that another world reads")
        new = {address for address, *_ in code.touched} - self._slots.keys()
        if len(self._slots) + len(new) > MOST_PLACES or self._meets(code):
            self.flush()
        for address, lay, is_written in code.touched:
            self._slots.setdefault(address, len(self._slots))
            self._seen.setdefault(address, set()).add(lay)
            if is_written:
                self._written.setdefault(address, set()).add(lay)
        slot = lambda found: str(self._slots[int(found[1])])  # noqa: E731
        self._lines += [re.sub("@([0-9]+)@", slot, line) for line in code.lines]
        self._waiting.append(operation)

    def _meets(self, code: RowCode) -> bool:
        """Return True if a world would access memory that another world writes.

        This is the case if a deferred operation accesses the same storage with another
        memory layout of worlds, and one of the two operations writes.
        """
        return any(
            (self._seen if is_written else self._written).get(address, set()) - {lay}
            for address, lay, is_written in code.touched
        )

    def _clear(self) -> None:
        self._waiting: list[tuple[Any, ...]] = []
        self._lines: list[str] = []
        self._slots: dict[int, int] = {}
        self._seen: dict[int, set[Lay]] = {}
        self._written: dict[int, set[Lay]] = {}


def _shape_of(value: Any) -> Any:
    """Convert a tensor to a meta tensor, and a device to "meta"."""
    if not isinstance(value, Tensor):
        return torch.device("meta") if isinstance(value, torch.device) else value
    return torch.empty_strided(
        value.shape, value.stride(), dtype=value.dtype, device="meta"
    )


@cache
def _compiled(texts: tuple[str, ...], device: torch.device) -> dict[str, Any]:
    """Compile programs in one module; return their kernels by code."""
    if not texts:
        return {}
    module, kernels = _module(texts)
    try:
        module.load(str(device), block_dim=_BLOCK if device.type == "cuda" else 1)
    except Exception as error:
        raise RuntimeError(f"Generated row kernels do not compile: {error}") from error
    return kernels


def _module(texts: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return the module of programs, and its kernels by code."""
    name = hashlib.sha256("".join(texts).encode()).hexdigest()[:12]
    module = wp.get_module(f"mjlab.rows.{name}")
    # Disable fused multiply-add: it rounds once where torch rounds twice.
    module.options |= {"fuse_fp": False, "enable_backward": False}
    return module, {
        text: _kernel(text, f"rows_{k}", module) for k, text in enumerate(texts)
    }


def _kernel(text: str, key: str, module: Any) -> Any:
    """Create a kernel that runs the code for each world, on all of its lanes."""

    def program(w: wp.int32, lane: wp.int32, lanes: wp.int32, p: _Places) -> None: ...

    program.__name__ = program.__qualname__ = f"{key}_program"
    native = wp.func_native(text)(program)

    def run(lanes: wp.int32, p: _Places) -> None:
        native(wp.tid() // lanes, wp.tid() % lanes, lanes, p)

    return wp.Kernel(run, key=key, module=module)
