# Kernel bodies are in Warp's language, which has Python syntax.
# pyright: reportInvalidTypeForm=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportArgumentType=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false
"""Draws of `mjlab.random` as Warp kernels, bit-identical to the NumPy code.

Imports Warp, so it is imported only for draws on a CUDA device.
"""

import math

import torch
import warp as wp

from mjlab.warp_start import start_warp
from mjlab.warp_stream import launch

start_warp()
# A fused multiply-add rounds once, NumPy rounds twice.
wp.set_module_options({"enable_backward": False, "fuse_fp": False, "fast_math": False})

_SQRT_HALF = wp.constant(wp.float64(math.sqrt(0.5)))
_LOG_2 = wp.constant(wp.float64(math.log(2.0)))


@wp.func
def _mixed(word: wp.uint64) -> wp.uint64:
    z = word
    z = z ^ (z >> wp.uint64(30))
    z = z * wp.uint64(0xBF58476D1CE4E5B9)
    z = z ^ (z >> wp.uint64(27))
    z = z * wp.uint64(0x94D049BB133111EB)
    return z ^ (z >> wp.uint64(31))


@wp.func
def _word(
    world_seed: wp.int64, counter: wp.int64, tick: wp.int64, stream: wp.int64, e: int
) -> wp.uint64:
    golden = wp.uint64(0x9E3779B97F4A7C15)
    moment = wp.uint64(counter) + (wp.uint64(tick) << wp.uint64(40))
    key = _mixed(wp.uint64(world_seed) ^ wp.uint64(stream))
    key = _mixed(key + moment * golden)
    return _mixed(key + wp.uint64(e + 1) * golden)


@wp.func
def uniform(
    world_seed: wp.int64, counter: wp.int64, stream: wp.int64, e: int
) -> wp.float32:
    """Return the e-th number of `WorldRng.draw`, for use inside other kernels."""
    word = _word(world_seed, counter, wp.int64(0), stream, e)
    return wp.float32(wp.int64(word >> wp.uint64(40))) * wp.float32(2.0**-24.0)


@wp.func
def _log(p: wp.float64) -> wp.float64:
    m = p
    power = wp.float64(0.0)
    # Doubling is exact, so this loop equals frexp.
    while m < wp.float64(0.5):
        m = m * wp.float64(2.0)
        power = power - wp.float64(1.0)
    if m < _SQRT_HALF:
        m = m * wp.float64(2.0)
        power = power - wp.float64(1.0)
    one = wp.float64(1.0)
    s = (m - one) / (m + one)
    t = s * s
    series = one / wp.float64(13.0)
    series = series * t + one / wp.float64(11.0)
    series = series * t + one / wp.float64(9.0)
    series = series * t + one / wp.float64(7.0)
    series = series * t + one / wp.float64(5.0)
    series = series * t + one / wp.float64(3.0)
    series = series * t + one
    return power * _LOG_2 + wp.float64(2.0) * s * series


@wp.func
def _tail_quantile(p: wp.float64) -> wp.float64:
    r = wp.sqrt(-_log(p))
    one = wp.float64(1.0)
    if r <= wp.float64(5.0):
        x = r - wp.float64(1.6)
        a = wp.float64(0.17023821103) * x + wp.float64(1.3067284816)
        a = (a * x + wp.float64(2.7568153900)) * x
        b = (wp.float64(0.12021132975) * x + wp.float64(0.73700164250)) * x + one
        return (a + wp.float64(1.4234372777)) / b
    y = r - wp.float64(5.0)
    c = wp.float64(0.017337203997) * y + wp.float64(0.42868294337)
    c = (c * y + wp.float64(3.0812263860)) * y
    d = (wp.float64(0.012258202635) * y + wp.float64(0.24197894225)) * y + one
    return (c + wp.float64(6.6579051150)) / d


@wp.func
def _normal(word: wp.uint64) -> wp.float32:
    half = wp.float64(wp.int64(word >> wp.uint64(12))) + wp.float64(0.5)
    half = half * wp.float64(2.220446049250313e-16) - wp.float64(0.5)
    if wp.abs(half) > wp.float64(0.425):
        tail = _tail_quantile(wp.float64(0.5) - wp.abs(half))
        if half < wp.float64(0.0):
            tail = -tail
        return wp.float32(tail)
    r = wp.float64(0.180625) - half * half
    a = wp.float64(59.109374720) * r + wp.float64(159.29113202)
    a = (a * r + wp.float64(50.434271938)) * r + wp.float64(3.3871327179)
    b = wp.float64(67.187563600) * r + wp.float64(78.757757664)
    b = (b * r + wp.float64(17.895169469)) * r + wp.float64(1.0)
    return wp.float32(half * a / b)


@wp.kernel
def _draw(
    world_seed: wp.array(dtype=wp.int64),
    counter: wp.array(dtype=wp.int64),
    tick: wp.array(dtype=wp.int64),
    stream: wp.int64,
    bits: wp.array2d(dtype=wp.int64),
    unit: wp.array2d(dtype=wp.float32),
    normal: wp.array2d(dtype=wp.float32),
) -> None:
    """Write random numbers to each output that is passed."""
    world, e = wp.tid()
    moment = wp.int64(0)
    if tick:
        moment = tick[world]
    word = _word(world_seed[world], counter[world], moment, stream, e)
    if bits:
        bits[world, e] = wp.int64(word)
    if unit:
        # 24 bits are exact in a float32, and so is their product with a power of two.
        whole = wp.float32(wp.int64(word >> wp.uint64(40)))
        unit[world, e] = whole * wp.float32(2.0**-24.0)
    if normal:
        normal[world, e] = _normal(word)


_OUTPUTS = ("draw_bits", "draw_uniform", "draw_normal")


def launch_draw(name: str, *key: torch.Tensor | int | None, out: torch.Tensor) -> None:
    """Fill `out`, shape (num_envs, ...), on the current stream of its device.

    Args:
        name: The operator: "draw_bits", "draw_uniform" or "draw_normal".
        key: Seeds and counters of the worlds, shape (num_envs,), int64, ticks of the
            same shape or None for 0, and the stream's id.
        out: Contiguous, of the operator's type.
    """
    if out.numel() == 0:
        return
    rows = out.view(out.shape[0], -1)
    outputs = [rows if name == each else None for each in _OUTPUTS]
    launch(_draw, rows.shape, *key, *outputs)
