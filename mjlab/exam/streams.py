"""Random streams of the exam: one Mersenne Twister per run and purpose."""

from enum import IntEnum

import numpy as np

_WORDS = 624
_MASK = 0xFFFFFFFF


class Purpose(IntEnum):
    """Numbers of the random streams. The first three streams are the public exam's."""

    ROUTE = 2
    PUNCHES = 3
    ARMS = 4
    PAYLOAD = 5


class Stream:
    """Generator of C++ `std::mt19937`, seeded by `std::seed_seq{run, purpose}`.

    NumPy has the same generator with a different seeding.
    """

    def __init__(self, run: int, purpose: int) -> None:
        """Seed the generator.

        Args:
            run: Run id, 0 to 2^32 - 1.
            purpose: Number of the stream within the run.
        """
        self._bits = np.random.MT19937(0)
        key = np.array(seed_words((run, purpose)), np.uint32)
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": key, "pos": _WORDS},
        }

    def draws(self, number: int) -> np.ndarray:
        """Draw unsigned 32-bit integers, shape (number,), uint64."""
        return self._bits.random_raw(number)

    def uniform(
        self, low: float, high: float, shape: int | tuple[int, ...] = 1
    ) -> np.ndarray:
        """Draw uniform numbers in [low, high), with 24 random bits each."""
        drawn = self.draws(int(np.prod(shape))) >> np.uint64(8)
        return (low + (high - low) * (drawn / 2.0**24)).reshape(shape)

    def below(self, number: int) -> int:
        """Draw a uniform integer in [0, number)."""
        span = 2**32 // number
        while True:
            drawn = int(self.draws(1)[0])
            if drawn < span * number:
                return drawn // span


def seed_words(values: tuple[int, ...]) -> list[int]:
    """Return the 624 words that C++ `std::seed_seq` generates from integers."""
    n, s = _WORDS, len(values)
    t = 11
    p = (n - t) // 2
    q = p + t
    words = [0x8B8B8B8B] * n
    steps = max(s + 1, n)
    for k in range(steps):
        i, j, h = k % n, (k + p) % n, (k + q) % n
        mixed = words[i] ^ words[j] ^ words[i - 1]
        r = (1664525 * (mixed ^ (mixed >> 27))) & _MASK
        added = s if k == 0 else i + values[k - 1] if k <= s else i
        u = (r + added) & _MASK
        words[j] = (words[j] + r) & _MASK
        words[h] = (words[h] + u) & _MASK
        words[i] = u
    for k in range(steps, steps + n):
        i, j, h = k % n, (k + p) % n, (k + q) % n
        mixed = (words[i] + words[j] + words[i - 1]) & _MASK
        r = (1566083941 * (mixed ^ (mixed >> 27))) & _MASK
        u = (r - i) & _MASK
        words[j] ^= r
        words[h] ^= u
        words[i] = u
    return words
