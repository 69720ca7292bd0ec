"""CUDA stand-in: tensors that report `cuda:0` and are stored on the host.

In `stand_in()` torch and Warp accept "cuda:0" as a device. Its tensors are computed on
the CPU, but do not mix with host tensors. Operations that would synchronise with the
device, or copy from the host, are recorded with their line; during a capture they are
errors, as on a GPU. A capture is a tape of operations on the same memory, replayed
without Python. The stand-in does not cover streams, a graph's own memory, loops inside
a graph, CUDA rounding, or `backward`.
"""

import ctypes
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import warp as wp
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map

CUDA = torch.device("cuda", 0)

# Operations that synchronise, because a number or a size is read.
WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "_unique2")
WAITS += ("equal", "repeat_interleave.Tensor", "bincount", "histc", "multinomial")
WAITS += ("_linalg_check_errors", "linalg_eig")

# Operations that take an index from the host, which needs an upload, or a mask.
INDEXING = ("index.", "index_put", "_unsafe_index", "_index_put")

# Operations without launches, besides views.
FREE = ("empty", "new_empty", "detach", "alias", "_unsafe_view", "result_type")


class StandInError(RuntimeError):
    """Torch has changed, so the stand-in does not work."""


class CaptureError(RuntimeError):
    """Operation that a CUDA graph cannot capture."""


class Stream:
    """A stream of the device; all streams are executed in order."""

    device, device_index = CUDA, 0
    cuda_stream = property(id)

    def __init__(self, device: Any = None) -> None:
        pass

    def wait_stream(self, other: "Stream") -> None:
        pass

    def synchronize(self) -> None:
        ACTIVE.note("reads", "Stream.synchronize()")


class Event:
    """An event that has happened when it is recorded."""

    def __init__(self, **_: Any) -> None:
        pass

    def record(self, stream: Stream | None = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, other: "Event") -> float:
        return 1.0

    def synchronize(self) -> None:
        ACTIVE.note("reads", "Event.synchronize()")


_HostGenerator = torch.Generator


class Generator(_HostGenerator):
    """Random generator of the device, which draws on the host."""

    def __new__(cls, device: Any = None) -> "Generator":
        return _HostGenerator.__new__(cls)


class WarpGraph:
    """Warp's part of a graph that torch captured."""


class Graph:
    """Operations and launches on fixed memory; replaces `torch.cuda.CUDAGraph`."""

    def __init__(self) -> None:
        self.kernels: Counter[str] = Counter()
        """Kernels of torch by operation, and the house's own of Warp by name."""
        self.counts = True
        """False while operations are part of a kernel that has been counted."""
        self.is_invalid = False
        self.of_warp: weakref.ref[WarpGraph] | None = None
        """Warp's part, which alone keeps the modules of its kernels loaded."""
        self._replays: list[Callable[[], None]] = []
        self._memory: list[Any] = []

    def capture_begin(self, pool: object, capture_error_mode: str) -> None:
        assert ACTIVE.graph is None and ACTIVE.stream is not ACTIVE.default_stream
        ACTIVE.graph = ACTIVE.captured = self
        ACTIVE.pools.append(pool)

    def capture_end(self) -> None:
        """End the capture.

        After an invalid one the memory pool stays in use, as in torch.
        """
        ACTIVE.graph = None
        if self.is_invalid:
            raise RuntimeError("operation failed due to a previous error in capture")
        ACTIVE.pools.pop()

    def replay(self) -> None:
        if self.of_warp is not None and self.of_warp() is None:
            raise RuntimeError(
                "a kernel is launched whose module Warp may have unloaded"
            )
        for replay in self._replays:
            replay()

    def reset(self) -> None:
        self._replays.clear()
        self._memory.clear()

    def add_operation(self, func: Any, args: tuple, kwargs: dict, out: Any) -> None:
        self._memory.append((args, kwargs, out))
        name = str(func).removeprefix("aten.")
        if func.is_view or name.startswith(FREE):
            return
        written = _tensors(out) or _tensors(args)
        self.kernels[name] += self.counts and any(t.numel() for t in written)
        self._replays.append(partial(_repeat, func, args, kwargs, _tensors(out)))

    def add_launches(self, launch: Callable[[], None]) -> None:
        with wp.ScopedCapture("cpu") as captured:
            launch()
        assert captured.graph is not None
        self._replays.append(partial(wp.capture_launch, captured.graph))


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _repeat(func: Any, args: tuple, kwargs: dict, outs: list[Tensor]) -> None:
    for old, new in zip(outs, _tensors(func(*args, **kwargs)), strict=True):
        if old.data_ptr() != new.data_ptr():
            old.copy_(new)


@dataclass
class StandIn:
    """Record of the device."""

    reads: Counter[str] = field(default_factory=Counter)
    """Number of synchronisations, by operation and line."""
    uploads: Counter[str] = field(default_factory=Counter)
    """Number of copies from the host, by operation and line."""
    operations: int = 0
    """Number of torch operations outside captures, without views."""
    graph: Graph | None = None
    """The graph being captured."""
    captured: Graph | None = None
    """The last captured graph."""
    default_stream: Stream = field(default_factory=Stream)
    stream: Stream = None  # pyright: ignore[reportAssignmentType]
    """The current stream of torch."""
    pools: list[object] = field(default_factory=list)
    """Memory pools of captures in progress."""
    warp_captures: int = 0
    """Captures in progress that Warp was informed of."""
    pinned: dict[int, int] = field(default_factory=dict)
    """Host memory that the driver can write to: size by address."""

    def __post_init__(self) -> None:
        self.stream = self.default_stream

    def clear(self) -> None:
        """Clear the record."""
        self.reads.clear()
        self.uploads.clear()
        self.operations = 0

    def note(self, kind: str, what: str) -> None:
        """Note a wait ("reads") or a copy ("uploads"), an error in a capture."""
        place = _caller()
        if self.graph is not None:
            self.graph.is_invalid = True
            raise CaptureError(f"{what} cannot be captured in a graph ({place})")
        getattr(self, kind)[f"{what} in {place}"] += 1

    def is_pinned(self, tensor: Tensor) -> bool:
        place = tensor.data_ptr()
        return any(start <= place < start + n for start, n in self.pinned.items())


ACTIVE = StandIn()


def _caller() -> str:
    """Return the innermost lines outside this module and libraries."""
    frame, found = sys._getframe(2), []
    while frame is not None and len(found) < 2:
        file = Path(frame.f_code.co_filename)
        if "site-packages" not in file.parts and file != Path(__file__):
            found.append(f"{file.name}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(found)


class CudaTensor(Tensor):
    """A tensor that reports cuda:0; its values are `host`."""

    host: Tensor

    @staticmethod
    def __new__(cls, host: Tensor) -> "CudaTensor":
        make: Any = Tensor._make_wrapper_subclass  # pyright: ignore
        self = make(
            cls,
            host.size(),
            strides=host.stride(),
            storage_offset=host.storage_offset(),
            dtype=host.dtype,
            device=CUDA,
            requires_grad=host.requires_grad,
        )
        self.host = host
        return self

    def __repr__(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return f"CudaTensor({self.host})"

    def data_ptr(self) -> int:
        return self.host.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.host.untyped_storage()

    def new_tensor(self, data: Any, **options: Any) -> Tensor:  # pyright: ignore
        """Upload numbers. Torch's own would ask the guard, which is the meta one's."""
        return torch.tensor(data, **{"dtype": self.dtype, "device": CUDA} | options)

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return self.cpu().numpy()
        raise TypeError(f"can't convert cuda:0 tensor to numpy ({_caller()})")

    def __deepcopy__(self, memo: dict) -> "CudaTensor":
        copy = CudaTensor(self.host.detach().clone())
        copy.requires_grad_(self.requires_grad)
        if isinstance(self, torch.nn.Parameter):
            copy._is_param = True
        memo[id(self)] = copy
        return copy

    # These two attributes make `Module.to` replace parameters as a whole.

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["host"], None

    @staticmethod
    def __tensor_unflatten__(inner: dict, *_: Any) -> "CudaTensor":
        return CudaTensor(inner["host"])

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return _run(func, args, kwargs or {})


class _Mode(TorchDispatchMode):
    """Also intercepts operations that create tensors."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return _run(func, args, kwargs or {})


def to_host(value: Any) -> Any:
    """Return the values of a tensor of the device; other values unchanged."""
    return value.host if isinstance(value, CudaTensor) else value


def _to_device(value: Any) -> Any:
    is_plain = isinstance(value, Tensor) and not isinstance(value, CudaTensor)
    return CudaTensor(value) if is_plain else value


def _run(func: Any, args: tuple, kwargs: dict) -> Any:
    name = str(func).removeprefix("aten.")
    tensors = _tensors((args, kwargs))
    ours = [t for t in tensors if isinstance(t, CudaTensor)]
    device = kwargs.get("device")
    goes = device is not None and torch.device(device).type == "cuda"
    if name.startswith("prim.device"):
        return CUDA if ours else func(*args, **kwargs)
    if not ours and not goes:
        return func(*args, **kwargs)
    is_download = device is not None and not goes
    if name.startswith(("copy_", "_to_copy")):
        is_download |= name.startswith("copy_") and tensors[0] is not ours[0]
        _note_copy(tensors[0], args, ours, is_download=is_download)
    elif ours:
        _note_waits(name, args, tensors)
    args_here, kwargs_here = tree_map(to_host, args), tree_map(to_host, kwargs)
    if goes:
        kwargs_here |= {"device": torch.device("cpu")}
    out = func(*args_here, **kwargs_here)
    if is_download:
        return out
    if ACTIVE.graph is not None:
        ACTIVE.graph.add_operation(func, args_here, kwargs_here, out)
    else:
        ACTIVE.operations += not func.is_view
    if not isinstance(out, Tensor | tuple | list):
        return out
    return return_and_correct_aliasing(func, args, kwargs, tree_map(_to_device, out))


def _note_copy(target: Tensor, args: tuple, ours: list, *, is_download: bool) -> None:
    """Record a copy between host and device."""
    of_nothing = not target.numel()
    waits = not (args[2:] == (True,) and (of_nothing or ACTIVE.is_pinned(target)))
    if is_download and waits:
        ACTIVE.note("reads", "a download")
    elif not is_download and len(ours) < len(_tensors(args)):
        ACTIVE.note("uploads", f"an upload of {tuple(target.shape)}")


def _note_waits(name: str, args: tuple, tensors: list[Tensor]) -> None:
    """Record synchronisations; raise if host and device are mixed."""
    if name.startswith(WAITS):
        ACTIVE.note("reads", name)
    if name.startswith(INDEXING):
        for index in (i for i in args[1] if isinstance(i, Tensor)):
            if index.dtype in (torch.bool, torch.uint8):
                ACTIVE.note("reads", f"{name} by a mask")
            elif not isinstance(index, CudaTensor):
                ACTIVE.note("uploads", f"{name} by an index of the host")
    # A host number is an argument of a kernel.
    elif any(t.ndim for t in tensors if not isinstance(t, CudaTensor)):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found cuda:0 and cpu "
            f"in {name} ({_caller()})"
        )


def _install_guard() -> None:
    """Register the guard of torch's meta device, which does nothing, for CUDA.

    A build without CUDA has none, but indexing, `copy_` and `item` need one for tensors
    that report a CUDA device.
    """
    cuda, meta = 1, 14  # Of c10::DeviceType.
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
        name = "_ZN3c104impl26device_guard_impl_registryE"
        guards = (ctypes.c_void_p * 20).in_dll(library, name)
    except (OSError, ValueError) as error:
        raise StandInError(f"torch's table of device guards: {error}") from error
    if not guards[meta]:
        raise StandInError("torch's table of device guards has another order")
    guards[cuda] = guards[meta]


def _try_out() -> None:
    """Raise unless tensors of the device support the step."""
    try:
        x = torch.zeros(3, 2, device=CUDA)
        x[:, 1] += torch.arange(3, device=CUDA)
        works = float(x[torch.tensor([2], device=CUDA), 1]) == 2.0 and x.is_cuda
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise StandInError(f"tensors of the device: {error}") from error
    if not works:
        raise StandInError("tensors of the device do not compute")


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Make torch and Warp see a CUDA device, and yield its record.

    Raises `StandInError` if that is impossible.
    """
    global ACTIVE
    if sys.platform != "linux" or torch.cuda.is_available():
        raise StandInError("it is for Linux without a GPU")
    _install_guard()
    lifts = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)
    ACTIVE = StandIn()
    try:
        with pytest.MonkeyPatch.context() as patch, _Mode():
            _patch_torch(patch)
            _try_out()
            _patch_warp(patch)
            ACTIVE.clear()
            yield ACTIVE
    finally:
        torch._C._set_only_lift_cpu_tensors(lifts)


@contextmanager
def _current(stream: Stream) -> Iterator[None]:
    before, ACTIVE.stream = ACTIVE.stream, stream
    try:
        yield
    finally:
        ACTIVE.stream = before


class _Runtime:
    """CUDA runtime functions that the project calls."""

    def cudaHostRegister(self, place: int, nbytes: int, flags: int) -> int:
        if place in ACTIVE.pinned:
            return 712  # cudaErrorHostMemoryAlreadyRegistered
        ACTIVE.pinned[place] = nbytes
        return 0

    def cudaHostUnregister(self, place: int) -> int:
        return 0 if ACTIVE.pinned.pop(place, None) is not None else 713


def _check_error(code: int) -> None:
    if code:
        raise RuntimeError(f"CUDA error {code}")


def _patch_torch(patch: pytest.MonkeyPatch) -> None:
    functions: dict[str, Any] = {
        "_lazy_init": lambda: None,
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "current_stream": lambda _=None: ACTIVE.stream,
        "default_stream": lambda _=None: ACTIVE.default_stream,
        "stream": _current,
        "device": lambda _: nullcontext(),
        "Stream": Stream,
        "Event": Event,
        "CUDAGraph": Graph,
        "cudart": _Runtime,
        "check_error": _check_error,
        "graph_pool_handle": object,
        "synchronize": lambda _=None: ACTIVE.note("reads", "torch.cuda.synchronize()"),
        "empty_cache": lambda: None,
        "mem_get_info": lambda _=None: (40 << 30, 80 << 30),
        "memory_allocated": lambda _=None: 0,
        "memory_reserved": lambda _=None: 0,
        "is_current_stream_capturing": lambda: ACTIVE.graph is not None,
        "get_device_name": lambda _=None: "stand-in",
    }
    for name, function in functions.items():
        patch.setattr(torch.cuda, name, function)
    patch.setattr(torch, "Generator", Generator)
    remove = "_cuda_endAllocateToPool"
    patch.setattr(torch._C, remove, lambda device, pool: ACTIVE.pools.remove(pool))
    patch.setattr(torch._C, "_cuda_releasePool", lambda device, pool: None)


@contextmanager
def _external_capture() -> Iterator[Any]:
    """Warp's part of a capture that torch started."""
    ACTIVE.warp_captures += 1
    graph = WarpGraph()
    assert ACTIVE.graph is not None
    ACTIVE.graph.of_warp = weakref.ref(graph)
    try:
        yield SimpleNamespace(graph=graph)
    finally:
        ACTIVE.warp_captures -= 1


def _patch_warp(patch: pytest.MonkeyPatch) -> None:
    """Make Warp use its CPU device for cuda:0, and graphs store its launches."""
    from mjlab.sim.graphs import Graphs
    from mjlab.sim.warp_rows import RowPrograms

    wp.init()
    devices = wp._src.context.runtime.device_map  # pyright: ignore
    to_torch, from_torch, run_launch = wp.to_torch, wp.from_torch, wp.launch
    numpy, capture, run = wp.array.numpy, wp.ScopedCapture, Graphs.run

    def from_ours(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if tensor is not None and not isinstance(tensor, CudaTensor):
            ACTIVE.note("uploads", "wp.from_torch of a tensor of the host")
        return from_torch(to_host(tensor), *args, **kwargs)

    def launch(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if ACTIVE.graph is not None and kernel.module.name.startswith("mjlab"):
            ACTIVE.graph.kernels[f"warp.{kernel.key}"] += 1
        return run_launch(kernel, *args, **kwargs)

    def read(array: wp.array) -> Any:
        ACTIVE.note("reads", "wp.array.numpy()")
        return numpy(array)

    def scoped_capture(*args: Any, external: bool = False, **kwargs: Any) -> Any:
        return _external_capture() if external else capture(*args, **kwargs)

    def run_verb(graphs: Graphs, key: str, launches: Callable[[], None]) -> None:
        if ACTIVE.graph is None:
            run(graphs, key, launches)
        else:
            ACTIVE.graph.add_launches(launches)

    def launch_rows(rows: RowPrograms, kernel: object) -> None:
        # Host kernels have separate tests; torch has the same bits here.
        graph = ACTIVE.graph
        if graph is None:
            rows._compute()
            return
        graph.kernels["warp.rows"] += 1
        graph.counts = False
        rows._compute()
        graph.counts = True

    patch.setattr(RowPrograms, "_launch", launch_rows)
    compiled = "mjlab.sim.warp_rows._compiled"
    patch.setattr(compiled, lambda texts, device: dict.fromkeys(texts, True))
    patch.setitem(devices, "cuda:0", wp.get_device("cpu"))
    patch.setattr("mjlab.warp_stream._STREAMS", {})
    patch.setattr(wp, "stream_from_torch", lambda stream: SimpleNamespace())
    patch.setattr(wp, "is_conditional_graph_supported", lambda: True)
    patch.setattr(wp, "to_torch", lambda a, **k: CudaTensor(to_torch(a, **k)))
    patch.setattr(wp, "from_torch", from_ours)
    patch.setattr(wp, "launch", launch)
    patch.setattr(wp.array, "numpy", read)
    patch.setattr(wp, "ScopedCapture", scoped_capture)
    patch.setattr(Graphs, "run", run_verb)
