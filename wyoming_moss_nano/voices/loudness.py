"""Loudness of a recording as ITU-R BS.1770-4 measures it."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .recording import Sound

# The two filters of K-weighting at 48 kHz (BS.1770-4, tables 1 and 2): numerator, denominator.
_SHELF: Final = (
    (1.53512485958697, -2.69169618940638, 1.19839281085285),
    (1.0, -1.69065929318241, 0.73248077421585),
)
_HIGH_PASS: Final = ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621))
_FILTER_RATE: Final = 48000

_BLOCK_SECONDS: Final = 0.4
_STEP_SECONDS: Final = 0.1
_OFFSET: Final = -0.691  # dB, so that a 997 Hz sine at full scale in one channel is -3.01 LUFS
_ABSOLUTE_GATE: Final = -70.0  # LUFS
_RELATIVE_GATE: Final = -10.0  # LU below the loudness of what passes the absolute gate

SILENT: Final = float("-inf")


def loudness(sound: Sound) -> float:
    """Return the integrated loudness in LUFS of 48 kHz sound [channels, samples].

    Sound without a block of 0.4 s above -70 LUFS is -inf.
    """
    weighted = _k_weighted(sound)
    block, step = round(_BLOCK_SECONDS * _FILTER_RATE), round(_STEP_SECONDS * _FILTER_RATE)
    if weighted.shape[1] < block:
        weighted = np.pad(weighted, ((0, 0), (0, block - weighted.shape[1])))
    sums = np.concatenate([[0.0], np.cumsum(np.square(weighted).sum(axis=0))])
    starts = np.arange(0, weighted.shape[1] - block + 1, step)
    powers = (sums[starts + block] - sums[starts]) / block
    powers = powers[_lufs(powers) > _ABSOLUTE_GATE]
    if not len(powers):
        return SILENT
    gated = powers[_lufs(powers) > float(_lufs(powers.mean())) + _RELATIVE_GATE]
    return float(_lufs(gated.mean()))


def _lufs(power: NDArray[np.float64] | np.floating) -> NDArray[np.float64]:
    return _OFFSET + 10 * np.log10(np.maximum(power, 1e-20))


def _k_weighted(sound: Sound) -> NDArray[np.float64]:
    """Weight in the frequency domain: power does not depend on the filters' phase."""
    samples = sound.shape[1]
    # a power of two is fast, and the rest of it keeps the end from coming round to the start
    length = 1 << (samples + _FILTER_RATE).bit_length()
    # a constant part has no loudness, but an edge where padding begins
    centred = sound - sound.mean(axis=1, keepdims=True, dtype=np.float64)
    spectrum = np.fft.rfft(centred, length, axis=1)
    turn = np.exp(-2j * np.pi * np.fft.rfftfreq(length))
    for numerator, denominator in (_SHELF, _HIGH_PASS):
        spectrum *= np.polyval(numerator[::-1], turn) / np.polyval(denominator[::-1], turn)
    return np.asarray(np.fft.irfft(spectrum, length, axis=1)[:, :samples])
