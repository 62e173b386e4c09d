"""How much of each voiced envelope is noise: z and v buzz and hiss at once.

In each band, power that does not repeat with the pitch period is noise. It is averaged for each
codeword of the envelope codebook over what all speakers say.
"""

import math
from typing import Final

import torch
from torch import Tensor

from . import codec
from .codebook import SEED
from .speakers import training_speaker
from .teacher import Teacher
from .texts import Sentences

UTTERANCES: Final = 600
HEARD_ENOUGH: Final = 5  # sub-frames; rarer codewords count as pure tone
# pitch glides make tone look like noise, the more so the higher: what that much is, is tone
TOLERANCE: Final = 0.3
PERIODS: Final = (0.97, 0.985, 1.0, 1.015, 1.03)  # of the period found, the best of which counts


def band_weights() -> Tensor:
    """Return triangular bands [BANDS, bins] around the points of the envelope."""
    hertz = torch.arange(codec.PITCH_FFT // 2 + 1) * (codec.SAMPLE_RATE / codec.PITCH_FFT)
    centres = torch.tensor(codec.BAND_CENTRES, dtype=torch.float32)
    spacing = torch.gradient(centres)[0].clamp_min(250.0)
    return (1 - (hertz - centres[:, None]).abs() / spacing[:, None]).clamp_min(0)


def noise_shares(sound: Tensor) -> Tensor:
    """Return the share of noise [sub-frames, BANDS], from 0 to 1."""
    pitch, _ = codec.pitch_of_sound(sound)
    windows = codec.windows(sound, codec.PITCH_WINDOW) * torch.hann_window(codec.PITCH_WINDOW)
    power = torch.fft.rfft(windows, codec.PITCH_FFT).abs() ** 2
    bands = band_weights()
    total = power @ bands.T + 1e-9
    window = codec.window_autocorrelation()
    turns = torch.arange(power.shape[1]) * (2 * math.pi / codec.PITCH_FFT)
    best = torch.zeros_like(total)
    for factor in PERIODS:
        lag = codec.SAMPLE_RATE / pitch * factor
        repeated = (power * torch.cos(lag[:, None] * turns)) @ bands.T / total
        expected = window[lag.round().long().clamp(max=len(window) - 1)]
        best = torch.maximum(best, repeated / expected[:, None])
    return ((1 - best - TOLERANCE) / (1 - TOLERANCE)).clamp(0, 1)


def codeword_noise(teacher: Teacher, sentences: Sentences, codebook: Tensor) -> Tensor:
    """Return the mean share of noise [CODES, BANDS] of each codeword where it is voiced."""
    sums = torch.zeros(codec.CODES, codec.BANDS)
    counts = torch.zeros(codec.CODES)
    for number, sentence in zip(range(UTTERANCES), sentences, strict=False):
        sound = torch.from_numpy(teacher.say(sentence, training_speaker(number)).sound)
        codes = codec.encode(sound, codebook).reshape(-1, 2)
        voiced = codes[:, 1] >= codec.GAINS
        shares = noise_shares(sound)[: len(codes)][voiced]
        sums.index_add_(0, codes[voiced, 0], shares)
        counts += torch.bincount(codes[voiced, 0], minlength=codec.CODES)
    heard = (counts >= HEARD_ENOUGH)[:, None]
    return torch.where(heard, sums / counts.clamp_min(1)[:, None], 0.0)


def measure_noise(teacher: Teacher, sentences: Sentences, codebook: Tensor) -> Tensor:
    """Return codeword_noise, saying so."""
    print(f"noise: listening to {UTTERANCES} utterances", flush=True)
    shares = codeword_noise(teacher, sentences, codebook)
    print(f"noise: mean share {shares.mean():.3f}, highest band {shares[:, -1].mean():.3f}")
    return shares


__all__ = ["SEED", "measure_noise"]
