"""From decoded sound to PCM: shorter dead air, gain, a limiter, mono, 16 bits.

Nothing here changes which frames were generated. Sound is float32 [channels, samples]; everything
works on the stream as it comes, in blocks of 10 ms.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .sampling import FloatArray

Pcm = NDArray[np.int16]

_BLOCKS_PER_SECOND: Final = 100
_FULL_SCALE: Final = 32767

# The model can fall into stretches of near-silence inside a sentence (reported at below -45 dB for
# the official one). A pause that speech makes is shorter than 0.8 s.
NEAR_SILENCE_DB: Final = -45.0
MAX_SILENCE_SECONDS: Final = 0.8

# The limiter keeps peaks at -0.2 dB and lets go within 100 ms.
_CEILING: Final = 0.98
_RELEASE_PER_BLOCK: Final = 0.1


def silence(seconds: float, sample_rate: int, channels: int) -> FloatArray:
    """Return silence [channels, samples]."""
    return np.zeros((channels, round(seconds * sample_rate)), dtype=np.float32)


def mono(sound: FloatArray) -> FloatArray:
    """Return the average [1, samples] of all channels."""
    return np.asarray(np.mean(sound, axis=0, keepdims=True), dtype=np.float32)


def to_pcm(sound: FloatArray) -> Pcm:
    """Return int16 [samples, channels], rounded; values beyond full scale are held at it."""
    scaled = np.rint(np.clip(sound, -1.0, 1.0) * np.float32(_FULL_SCALE))
    return np.ascontiguousarray(scaled.astype(np.int16).T)


class DeadAir:
    """Shortens stretches of near-silence inside one piece to MAX_SILENCE_SECONDS."""

    def __init__(self, sample_rate: int) -> None:
        self._block = sample_rate // _BLOCKS_PER_SECOND
        self._limit = round(MAX_SILENCE_SECONDS * _BLOCKS_PER_SECOND)
        self._quiet_power = 10.0 ** (NEAR_SILENCE_DB / 10)
        self._run = 0
        self.dropped = 0

    def shorten(self, sound: FloatArray) -> FloatArray:
        """Return the sound without blocks past the limit; ``dropped`` counts their samples.

        A run goes on from one call to the next.
        """
        blocks = _blocks(sound, self._block)
        kept = [block for block in blocks if self._keeps(block)]
        if len(kept) == len(blocks):
            return sound
        shorter = np.concatenate([sound[:, :0], *kept], axis=1)
        self.dropped += sound.shape[1] - shorter.shape[1]
        return shorter

    def _keeps(self, block: FloatArray) -> bool:
        quiet = float(np.mean(np.square(block))) < self._quiet_power
        self._run = self._run + 1 if quiet else 0
        return self._run <= self._limit


class Limiter:
    """Gain, then a limiter that is the identity while peaks stay below 1.

    Its gain moves in straight lines between blocks and is low enough at both ends of a block for
    that block's peak, so it holds back one block until the next one is known. ``clipped`` counts
    the samples that would have been cut off without it.
    """

    def __init__(self, sample_rate: int, gain_db: float) -> None:
        self._block = sample_rate // _BLOCKS_PER_SECOND
        self._amplification = np.float32(10.0 ** (gain_db / 20))
        self._held: FloatArray | None = None
        self._gain = 1.0
        self.clipped = 0

    def take(self, sound: FloatArray) -> FloatArray:
        """Return the sound that is ready; the last block stays behind."""
        if self._amplification != 1:
            sound = sound * self._amplification
        ready = [sound[:, :0]]
        for block in _blocks(sound, self._block):
            self.clipped += int(np.count_nonzero(np.abs(block) >= 1))
            if self._held is not None:
                ready.append(self._limited(self._held, _wanted_gain(block)))
            self._held = block
        return np.concatenate(ready, axis=1)

    def rest(self) -> FloatArray | None:
        """Return the block that was held back, if any, and forget it."""
        held, self._held = self._held, None
        return None if held is None else self._limited(held, 1.0)

    def _limited(self, block: FloatArray, gain_after: float) -> FloatArray:
        before = min(self._gain, _wanted_gain(block))
        after = min(before + _RELEASE_PER_BLOCK, _wanted_gain(block), gain_after)
        self._gain = after
        if before == after == 1:
            return block
        ramp = np.linspace(before, after, block.shape[1], dtype=np.float32)
        return block * ramp


def _wanted_gain(block: FloatArray) -> float:
    peak = float(np.max(np.abs(block), initial=0.0))
    return 1.0 if peak < 1 else _CEILING / peak


def _blocks(sound: FloatArray, length: int) -> list[FloatArray]:
    count = math.ceil(sound.shape[1] / length)
    return [sound[:, i * length : (i + 1) * length] for i in range(count)]
