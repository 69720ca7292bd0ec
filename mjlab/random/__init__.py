"""Counter-based random numbers: each draw is a function of a key, without a sequence.

The key is (world_seed, counter, stream, tick, element):

- `world_seed`, one per world: a hash of the run's seed and the world's global index;
- `counter`, one per world: the environment advances it once per step and once per
  reset of that world;
- `stream`, a name chosen by the caller. Two draws with the same name at the same
  counter return the same numbers: several draws need different names, or a `tick`;
- `tick`, one per world and 0 by default: for several draws per step, such as the draws
  of an actuator in each substep. It must be below 2**23;
- the element's index in the drawn shape.

The numbers of world i do not depend on the number of worlds, on other draws, or on
resets of other worlds. They are equal on every device bit for bit, including normal
numbers. The key is hashed with the finaliser of SplitMix64 (Steele, Lea and Flood
2014).
"""

import functools
import hashlib
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

_Shape = int | Sequence[int]
_Number = float | torch.Tensor

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_TICK_SHIFT = 40


@functools.cache
def stream_id(name: str) -> int:
    """Return the 64-bit id of a stream's name, as a signed integer."""
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def world_seeds(seed: int, num_envs: int, first_world: int = 0) -> torch.Tensor:
    """Return the seeds of the worlds, shape (num_envs,), int64, all different.

    Args:
        seed: The run's seed.
        num_envs: Number of worlds.
        first_world: Global index of the first world, above 0 in later processes of a
            distributed run.
    """
    key = _mixed(np.array([(seed + _GOLDEN) % 2**64], dtype=np.uint64))
    worlds = np.arange(first_world + 1, first_world + num_envs + 1, dtype=np.uint64)
    worlds *= np.uint64(_GOLDEN)
    return torch.from_numpy(_mixed(worlds + key).view(np.int64))


class WorldRng:
    """Random generator of all worlds. Every draw has shape `(num_envs, *shape)`.

    Draws do not change the state; only `advance` and `reseed` do. All methods can be
    captured in a CUDA graph.
    """

    def __init__(
        self,
        num_envs: int,
        seed: int,
        device: torch.device | str,
        *,
        first_world: int = 0,
    ) -> None:
        self.num_envs = num_envs
        self.device = torch.device(device)
        self.world_seed = world_seeds(seed, num_envs, first_world).to(self.device)
        """Seed of each world, shape (num_envs,), int64."""
        self.counter = torch.zeros(num_envs, dtype=torch.int64, device=self.device)
        """Counter of each world, shape (num_envs,), int64."""
        # A Warp module cannot be loaded during a graph capture.
        self.draw("load", ())

    def draw(
        self, stream: str, shape: _Shape, *, tick: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return uniform float32 numbers in [0, 1), multiples of 2**-24."""
        return torch.ops.mjlab.draw_uniform(*self._key(stream, shape, tick))

    def uniform(
        self,
        low: _Number,
        high: _Number,
        shape: _Shape,
        stream: str,
        *,
        tick: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return uniform float32 numbers between `low` and `high`.

        The bounds are numbers or tensors that broadcast to `(num_envs, *shape)`.
        Rounding can return `high` itself.
        """
        unit = self.draw(stream, shape, tick=tick)
        return unit.mul_(high - low).add_(low)

    def integers(
        self,
        low: int | torch.Tensor,
        high: int | torch.Tensor,
        shape: _Shape,
        stream: str,
        *,
        tick: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return int64 numbers in [low, high), a range of at most 2**31.

        The bounds are integers or int64 tensors that broadcast to (num_envs, *shape).
        The probabilities of two values differ by at most 2**-32.
        """
        if isinstance(low, int) and isinstance(high, int):
            _check_span(low, high)
        bits = torch.ops.mjlab.draw_bits(*self._key(stream, shape, tick))
        word = bits.bitwise_right_shift_(32).bitwise_and_(0xFFFFFFFF)
        return word.mul_(high - low).bitwise_right_shift_(32).add_(low)

    def normal(
        self,
        mean: _Number,
        std: _Number,
        shape: _Shape,
        stream: str,
        *,
        tick: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return normal float32 numbers of the given mean and standard deviation."""
        unit = torch.ops.mjlab.draw_normal(*self._key(stream, shape, tick))
        return unit.mul_(std).add_(mean)

    def bernoulli(
        self,
        probability: _Number,
        shape: _Shape,
        stream: str,
        *,
        tick: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return bools that are True with `probability`; 0 is never, 1 is always."""
        return self.draw(stream, shape, tick=tick) < probability

    def advance(self, mask: torch.Tensor | None = None) -> None:
        """Advance the counter in the worlds in `mask`, or in all worlds if None."""
        self.counter.add_(1 if mask is None else mask)

    def reseed(self, mask: torch.Tensor, seeds: torch.Tensor) -> None:
        """Restart the worlds in `mask` with new seeds, and counter 0.

        Args:
            mask: Worlds, shape (num_envs,), bool.
            seeds: World seeds, shape (num_envs,), int64, used without hashing.
        """
        torch.where(mask, seeds, self.world_seed, out=self.world_seed)
        self.counter.masked_fill_(mask, 0)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {"world_seed": self.world_seed, "counter": self.counter}

    def _key(
        self, stream: str, shape: _Shape, tick: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, int, list[int]]:
        dims = [shape] if isinstance(shape, int) else list(shape)
        return self.world_seed, self.counter, tick, stream_id(stream), dims


def _check_span(low: int, high: int) -> None:
    if low >= high:
        raise ValueError(f"[{low}, {high}) contains no integer.")
    if high - low > 2**31:
        raise ValueError(f"[{low}, {high}) contains more than 2**31 integers.")


def _mixed(words: np.ndarray) -> np.ndarray:
    """Apply the finaliser of SplitMix64 to uint64 words, in place, and return them."""
    words ^= words >> np.uint64(30)
    words *= np.uint64(_MIX_1)
    words ^= words >> np.uint64(27)
    words *= np.uint64(_MIX_2)
    words ^= words >> np.uint64(31)
    return words


def _draw_words(
    world_seed: torch.Tensor,
    counter: torch.Tensor,
    tick: torch.Tensor | None,
    stream: int,
    shape: list[int],
) -> np.ndarray:
    """Return 64 random bits per element, shape (num_envs, *shape), uint64."""
    key = world_seed.numpy().view(np.uint64) ^ np.uint64(stream % 2**64)
    moment = counter.numpy().view(np.uint64)
    if tick is not None:
        moment = moment + (tick.numpy().view(np.uint64) << np.uint64(_TICK_SHIFT))
    key = _mixed(_mixed(key) + moment * np.uint64(_GOLDEN))
    elements = np.arange(1, math.prod(shape) + 1, dtype=np.uint64)
    elements *= np.uint64(_GOLDEN)
    return _mixed(key[:, None] + elements).reshape(-1, *shape)


def _as_bits(words: np.ndarray) -> np.ndarray:
    return words.view(np.int64)


def _as_uniform(words: np.ndarray) -> np.ndarray:
    """Return the upper 24 bits as float32 in [0, 1)."""
    words >>= np.uint64(40)
    unit = words.view(np.int64).astype(np.float32)
    unit *= np.float32(2.0**-24)
    return unit


def _as_normal(words: np.ndarray) -> np.ndarray:
    """Return the normal quantile of the upper 52 bits as float32.

    The quantile is Wichura's algorithm AS 241 in single precision, PPND7. The quantile
    and its logarithm use only additions, products, quotients and square roots of
    float64, whose rounding IEEE 754 defines, in the order of `kernels.py`. All devices
    therefore agree bit for bit, which their own `log` and `cos` would not.
    """
    words >>= np.uint64(12)
    # With one more bit, adding one half would not be exact, and the largest word would
    # map to 1.
    half = (words.view(np.int64).astype(np.float64) + 0.5) * 2.0**-52 - 0.5
    r = 0.180625 - half * half
    a = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179
    b = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0
    normal = half * a / b
    in_tail = np.abs(half) > 0.425
    tail = half[in_tail]
    normal[in_tail] = np.copysign(_tail_quantile(0.5 - np.abs(tail)), tail)
    return normal.astype(np.float32)


def _tail_quantile(p: np.ndarray) -> np.ndarray:
    """Return the distance from 0 whose tail probability is p < 0.075."""
    r = np.sqrt(-_log(p))
    near = r - 1.6
    a = ((0.17023821103 * near + 1.3067284816) * near + 2.7568153900) * near
    b = (0.12021132975 * near + 0.73700164250) * near + 1.0
    far = r - 5.0
    c = ((0.017337203997 * far + 0.42868294337) * far + 3.0812263860) * far
    d = (0.012258202635 * far + 0.24197894225) * far + 1.0
    return np.where(r <= 5.0, (a + 1.4234372777) / b, (c + 6.6579051150) / d)


def _log(p: np.ndarray) -> np.ndarray:
    """Return the natural logarithm to about 1e-11, by its series in (m - 1)/(m + 1)."""
    mantissa, exponent = np.frexp(p)
    low = mantissa < math.sqrt(0.5)
    mantissa = np.where(low, mantissa * 2.0, mantissa)
    power = np.where(low, exponent - 1, exponent).astype(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    t = s * s
    series = np.full_like(t, 1.0 / 13.0)
    for denominator in (11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        series = series * t + 1.0 / denominator
    return power * math.log(2.0) + 2.0 * s * series


_Key = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, int, list[int]]
_KINDS: dict[str, tuple[torch.dtype, Callable[[np.ndarray], np.ndarray]]] = {
    "draw_bits": (torch.int64, _as_bits),
    "draw_uniform": (torch.float32, _as_uniform),
    "draw_normal": (torch.float32, _as_normal),
}


def _draw_cpu(name: str, *key: *_Key) -> torch.Tensor:
    return torch.from_numpy(_KINDS[name][1](_draw_words(*key)))


def _draw_cuda(name: str, *key: *_Key) -> torch.Tensor:
    # Warp is imported at the first draw on a CUDA device.
    from mjlab.random.kernels import launch_draw

    out = _draw_meta(name, *key)
    launch_draw(name, *key[:4], out=out)
    return out


def _draw_meta(name: str, *key: *_Key) -> torch.Tensor:
    world_seed, shape = key[0], key[4]
    return world_seed.new_empty((world_seed.shape[0], *shape), dtype=_KINDS[name][0])


# Each kind of draw is one operator: one node in a graph, one call in a trace.
_LIBRARY = torch.library.Library("mjlab", "DEF")
_ARGUMENTS = "Tensor world_seed, Tensor counter, Tensor? tick, int stream, int[] shape"
for _name in _KINDS:
    _LIBRARY.define(f"{_name}({_ARGUMENTS}) -> Tensor")
    _LIBRARY.impl(_name, functools.partial(_draw_cpu, _name), "CPU")
    _LIBRARY.impl(_name, functools.partial(_draw_cuda, _name), "CUDA")
    _LIBRARY.impl(_name, functools.partial(_draw_meta, _name), "Meta")
