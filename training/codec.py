"""The codec: sound at 16 kHz to codes and codes to sound at 48 kHz, parametric and causal.

A frame of 80 ms has eight sub-frames of 10 ms, each of two codes: the even codebooks name a
spectral envelope (a codeword of the envelope codebook), the odd ones a pitch and a gain. Here is
the analysis; synthesis is a graph of its own (codec_graphs.py).
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor

SAMPLE_RATE: Final = 16_000
HOP: Final = 160  # samples of a sub-frame
SUBFRAMES: Final = 8  # of a frame
CODEBOOKS: Final = 2 * SUBFRAMES
CODES: Final = 1024  # of a codebook
BANDS: Final = 32  # points of an envelope
LOWEST_BAND, HIGHEST_BAND = 60.0, 7700.0  # Hz
ENVELOPE_WINDOW, ENVELOPE_FFT = 400, 1024
PITCH_WINDOW, PITCH_FFT = 640, 2048
PITCHES: Final = 47  # log-spaced; pitch index 0 is unvoiced
LOWEST_PITCH, HIGHEST_PITCH = 62.0, 320.0  # Hz
GAINS: Final = 16  # gain index 0 is silence
TOP_GAIN, GAIN_STEP = -8.0, 3.2  # dB
FLOOR: Final = -42.0  # dB below the mean power, of an envelope
VOICED: Final = 0.30  # least normalised autocorrelation of a voiced sub-frame
SPECTRUM_POWER: Final = 0.6  # what the power spectrum is raised to before it is autocorrelated
LAG_PENALTY: Final = 0.08
UNVOICED_WIDTH: Final = 160.0  # Hz over which the spectrum is smoothed where there is no pitch
PITCH_CEILING: Final = 4000.0  # Hz, above which pitch analysis hears nothing
BIN: Final = SAMPLE_RATE / ENVELOPE_FFT


def mel(hertz: float) -> float:
    return 2595 * math.log10(1 + hertz / 700)


LOWEST_MEL, HIGHEST_MEL = mel(LOWEST_BAND), mel(HIGHEST_BAND)
BAND_CENTRES: Final = 700 * (10 ** (np.linspace(LOWEST_MEL, HIGHEST_MEL, BANDS) / 2595) - 1)
SHORTEST_LAG, LONGEST_LAG = int(SAMPLE_RATE / HIGHEST_PITCH), int(SAMPLE_RATE / LOWEST_PITCH)


@dataclass(frozen=True)
class Analysis:
    """Sub-frames: envelope [n, BANDS] and gain [n] in dB, pitch [n] in Hz, voicing [n]."""

    shape: Tensor
    gain: Tensor
    pitch: Tensor
    voicing: Tensor


def windows(sound: Tensor, width: int) -> Tensor:
    """Cut a sound [samples] into windows [sub-frames, width] centred on the sub-frames."""
    count = len(sound) // HOP
    padded = torch.nn.functional.pad(sound, (width // 2, width // 2 + HOP))
    return padded.unfold(0, width, 1)[HOP // 2 : HOP // 2 + count * HOP : HOP][:count]


def pitch_weight() -> Tensor:
    """Return the weight of each bin of the power spectrum in pitch analysis [PITCH_FFT/2 + 1]."""
    hertz = torch.arange(PITCH_FFT // 2 + 1) * (SAMPLE_RATE / PITCH_FFT)
    fade = torch.clamp((PITCH_CEILING - hertz) / 1500, 0, 1)
    return fade * torch.clamp(hertz / 60, 0, 1)


def window_autocorrelation() -> Tensor:
    """Return the normalised autocorrelation of the pitch window, up to the longest lag."""
    spectrum = torch.fft.rfft(torch.hann_window(PITCH_WINDOW), PITCH_FFT).abs() ** 2
    correlation = torch.fft.irfft(spectrum)[: LONGEST_LAG + 2]
    return (correlation / correlation[0]).clamp_min(0.05)


def pitch_of_sound(sound: Tensor) -> tuple[Tensor, Tensor]:
    """Return pitch in Hz and voicing (normalised autocorrelation) of each sub-frame."""
    spectrum = torch.fft.rfft(windows(sound, PITCH_WINDOW) * torch.hann_window(PITCH_WINDOW), 2048)
    power = (spectrum.abs() ** 2) ** SPECTRUM_POWER * pitch_weight()
    correlation = torch.fft.irfft(power)[:, : LONGEST_LAG + 2]
    normal = correlation / (correlation[:, :1] + 1e-6) / window_autocorrelation()
    lags = torch.arange(SHORTEST_LAG, LONGEST_LAG + 1)
    penalty = torch.log2(lags / SHORTEST_LAG) / math.log2(LONGEST_LAG / SHORTEST_LAG)
    candidates = normal[:, SHORTEST_LAG : LONGEST_LAG + 1]
    best = (candidates - LAG_PENALTY * penalty).argmax(1, keepdim=True) + SHORTEST_LAG
    before, peak, after = (normal.gather(1, best + offset)[:, 0] for offset in (-1, 0, 1))
    curve = (2 * (before - 2 * peak + after)).clamp(max=-1e-6)
    lag = best[:, 0] + ((before - after) / curve).clamp(-0.5, 0.5)
    return SAMPLE_RATE / lag, peak


def envelope_of_sound(sound: Tensor, pitch: Tensor, voicing: Tensor) -> Tensor:
    """Return the power density [sub-frames, BANDS] in dB, smoothed over the harmonics."""
    window = torch.hann_window(ENVELOPE_WINDOW)
    spectrum = torch.fft.rfft(windows(sound, ENVELOPE_WINDOW) * window, ENVELOPE_FFT)
    power = spectrum.abs() ** 2 / (window**2).sum()
    total = torch.cumsum(torch.nn.functional.pad(power, (1, 0)), 1)

    def up_to(hertz: Tensor) -> Tensor:
        """Return the power below a frequency, odd around zero."""
        place = (hertz.abs() / BIN + 0.5).clamp(0, ENVELOPE_FFT / 2 - 0.001)
        lower = place.floor().long()
        share = place - lower
        below = total.gather(1, lower) * (1 - share) + total.gather(1, lower + 1) * share
        return torch.sign(hertz) * below

    centres = torch.tensor(BAND_CENTRES, dtype=torch.float32)
    spacing = torch.tensor(np.gradient(BAND_CENTRES), dtype=torch.float32)
    unvoiced = torch.full_like(pitch, UNVOICED_WIDTH)
    period = torch.where(voicing > VOICED, pitch.clamp(100.0, 400.0), unvoiced)
    width = torch.maximum(period[:, None], spacing)
    density = (up_to(centres + width / 2) - up_to(centres - width / 2)) / (width / BIN)
    return 10 * torch.log10(density.clamp_min(1e-9))


def analyse(sound: Tensor) -> Analysis:
    """Analyse a mono sound [samples] at 16 kHz."""
    pitch, voicing = pitch_of_sound(sound)
    envelope = envelope_of_sound(sound, pitch, voicing)
    gain = 10 * torch.log10((10 ** (envelope / 10)).mean(1))
    return Analysis((envelope - gain[:, None]).clamp_min(FLOOR), gain, pitch, voicing)


def gain_index(gain: Tensor) -> Tensor:
    """Return the index of gains in dB; 0 is silence."""
    return ((gain - TOP_GAIN) / GAIN_STEP + GAINS - 1).round().clamp(0, GAINS - 1).long()


def pitch_index(pitch: Tensor) -> Tensor:
    """Return the index of pitches in Hz, from 1."""
    octaves = torch.log2(pitch.clamp(LOWEST_PITCH, HIGHEST_PITCH) / LOWEST_PITCH)
    span = math.log2(HIGHEST_PITCH / LOWEST_PITCH)
    return (octaves / span * (PITCHES - 1)).round().long() + 1


def pitch_of_index(index: Tensor) -> Tensor:
    """Return the pitch in Hz of indices from 1."""
    octaves = math.log2(HIGHEST_PITCH / LOWEST_PITCH) / (PITCHES - 1)
    return LOWEST_PITCH * 2 ** ((index - 1).clamp_min(0).float() * octaves)


def nearest(shapes: Tensor, codebook: Tensor) -> Tensor:
    """Return the codeword [n] nearest to each envelope [n, BANDS]."""
    return (2 * shapes @ codebook.T - (codebook**2).sum(1)).argmax(1)


def encode(sound: Tensor, codebook: Tensor) -> Tensor:
    """Return the codes [frames, CODEBOOKS] of a mono sound [samples] at 16 kHz."""
    found = analyse(sound)
    count = len(found.gain) // SUBFRAMES * SUBFRAMES
    gains = gain_index(found.gain[:count])
    pitches = pitch_index(found.pitch[:count]) * (found.voicing[:count] > VOICED)
    sounding = gains > 0
    envelopes = nearest(found.shape[:count], codebook) * sounding
    tones = (pitches * GAINS + gains) * sounding
    return torch.stack([envelopes, tones], 1).reshape(-1, CODEBOOKS)
