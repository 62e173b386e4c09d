"""The codec as graphs: encode, decode at once, decode as a stream (torch modules to be exported).

All large tables are computed from short vectors that the graph holds, when it is loaded: whole
numbers are multiplied and reduced exactly, so that no file has to carry sines.
"""

import math
from typing import Final

import numpy as np
import torch
from scipy.signal import firwin
from torch import Tensor, nn

from . import codec
from .codec import BANDS, CODEBOOKS, CODES, GAINS, HOP, SUBFRAMES

SAMPLE_RATE: Final = 48_000
DECIMATION: Final = SAMPLE_RATE // codec.SAMPLE_RATE
SUBFRAME: Final = HOP * DECIMATION  # samples
FRAME: Final = SUBFRAME * SUBFRAMES
HARMONICS: Final = 120
WAVETABLE: Final = 2048  # samples of a period
TOP: Final = 7800.0  # Hz, above which nothing sounds
NOISE_STEP: Final = 50.0  # Hz between the sines that make noise
NOISE_SINES: Final = 156
NOISE_SEGMENTS: Final = 64  # random phases, over and over
NOISE_SEED: Final = 0
FILTER_TAPS, FILTER_EDGE = 73, 7600.0
# Hz: noise in voiced sub-frames fades in between these; below, what noise.py measures is glides
TONAL_BELOW, NOISY_ABOVE = 110.0, 170.0
DECIBELS: Final = 10 / math.log(10)


def turn(rows: Tensor, columns: Tensor, period: int) -> Tensor:
    """Return 2 pi rows columns / period, modulo 2 pi, exact for whole numbers."""
    whole = torch.remainder(rows[:, None] * columns[None], period)
    return whole.float() * (2 * math.pi / period)


def power_of(decibels: Tensor) -> Tensor:
    return torch.exp(decibels / DECIBELS)


class Decoder(nn.Module):
    """Codes to sound, from a state to the next.

    Each sub-frame has one period of its harmonics as a wavetable, read at its pitch and faded into
    the next one's; what has no pitch is a sum of sines of random phase. ``noise`` [CODES, BANDS] is
    the share of the power of a voiced codeword that is noise all the same.
    """

    def __init__(self, codebook: Tensor, noise: Tensor) -> None:
        super().__init__()
        self.register_buffer("codebook", codebook.clone())
        self.register_buffer("noise", noise.clone())
        source = torch.Generator().manual_seed(NOISE_SEED)
        phases = torch.rand(NOISE_SEGMENTS, NOISE_SINES, generator=source) * (2 * math.pi)
        self.register_buffer("phases", phases)
        self.register_buffer("harmonics", torch.arange(1, HARMONICS + 1))
        self.register_buffer("wave", torch.arange(WAVETABLE + 1))
        self.register_buffer("sines", torch.arange(1, NOISE_SINES + 1))
        self.register_buffer("samples", torch.arange(2 * SUBFRAME))

    @staticmethod
    def at(envelope: Tensor, hertz: Tensor) -> Tensor:
        """Return envelopes [n, BANDS] at frequencies [n, m]."""
        mels = torch.log(1 + hertz / 700) * (2595 / math.log(10))
        span = codec.HIGHEST_MEL - codec.LOWEST_MEL
        place = ((mels - codec.LOWEST_MEL) / span * (BANDS - 1)).clamp(0, BANDS - 1)
        lower = place.floor().clamp(max=BANDS - 2)
        share, index = place - lower, lower.long()
        below, above = torch.gather(envelope, 1, index), torch.gather(envelope, 1, index + 1)
        return below * (1 - share) + above * share

    def forward(
        self, codes: Tensor, lengths: Tensor, counter: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Decode codes [1, frames, CODEBOOKS].

        ``counter`` [1] counts sub-frames in the cycle of random phases; ``state`` [1, 1, 1, 4] is
        the phase in periods, the last sub-frame's two codes, and its pitch, which is not read. All
        are zero at the start: code 0 is silence.
        """
        flat = state.reshape(-1)
        before = flat[1:3].round().long().reshape(1, 2)
        pairs = torch.cat([before, codes.reshape(-1, 2).long()], 0)  # the first was heard already
        shape, tone = pairs[:, 0].clamp(0, CODES - 1), pairs[:, 1].clamp(0, 48 * GAINS - 1)
        pitch_code = torch.div(tone, GAINS, rounding_mode="floor")
        gain_code = tone - pitch_code * GAINS
        on = (gain_code > 0).float()[:, None]
        voiced = ((pitch_code > 0) & (gain_code > 0)).float()
        gain = (gain_code.float() - (GAINS - 1)) * codec.GAIN_STEP + codec.TOP_GAIN
        envelope = self.codebook[shape] + gain[:, None]
        octaves = math.log(codec.HIGHEST_PITCH / codec.LOWEST_PITCH) / (codec.PITCHES - 1)
        pitch = codec.LOWEST_PITCH * torch.exp((pitch_code - 1).clamp_min(0).float() * octaves)
        faded = ((pitch - TONAL_BELOW) / (NOISY_ABOVE - TONAL_BELOW)).clamp(0, 1)
        share = self.noise[shape] * faded[:, None]
        tonal = envelope + DECIBELS * torch.log((1 - share).clamp_min(1e-3))
        voice, phase = self._voice(tonal, pitch, voiced, flat[0])
        quiet = share.clamp_min(1e-9) * voiced[:, None] + (1 - voiced[:, None])
        noise = self._noise(envelope + DECIBELS * torch.log(quiet), on, counter)
        sound = (voice + noise).reshape(1, 1, -1)
        stereo = torch.cat([sound, sound], 1).clamp(-1, 1)
        count = pairs.shape[0] - 1
        next_counter = torch.remainder(counter.long() + count, NOISE_SEGMENTS).int()
        next_state = torch.cat([phase, pairs[-1].float(), pitch[-1:]]).reshape(1, 1, 1, 4)
        return stereo, (lengths * FRAME).int(), next_counter, next_state

    def _voice(
        self, envelope: Tensor, pitch: Tensor, voiced: Tensor, phase: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the voiced part [sub-frames, SUBFRAME] and the phase it ends at [1]."""
        partials = pitch[:, None] * self.harmonics.float()
        power = (
            power_of(self.at(envelope, partials)) * pitch[:, None] * (2 / (codec.SAMPLE_RATE / 2))
        )
        heard = (partials < TOP).float() * voiced[:, None]
        waves = (torch.sqrt(power) * heard) @ torch.sin(turn(self.harmonics, self.wave, WAVETABLE))
        from_voiced, to_voiced = voiced[:-1], voiced[1:]
        first = torch.where(from_voiced > 0, pitch[:-1], pitch[1:])
        last = torch.where(to_voiced > 0, pitch[1:], first)
        first = torch.where(from_voiced > 0, first, last)
        sample = self.samples[1 : SUBFRAME + 1].float()
        glide = (last - first)[:, None] * (sample * (sample + 1) / (2 * SUBFRAME))
        periods = (first[:, None] * sample + glide) / SAMPLE_RATE
        total = periods[:, -1].double()
        start = torch.cumsum(total, 0) - total + phase.double()
        within = (start - start.floor()).float()[:, None] + periods
        place = (within - within.floor()) * WAVETABLE
        lower = place.floor().clamp(0, WAVETABLE - 1)
        share, index = place - lower, lower.long()

        def read(table: Tensor) -> Tensor:
            below, above = torch.gather(table, 1, index), torch.gather(table, 1, index + 1)
            return below * (1 - share) + above * share

        fade = sample / SUBFRAME
        sound = read(waves[:-1]) * (1 - fade) + read(waves[1:]) * fade
        end = start[-1:] + total[-1:]
        return sound, (end - end.floor()).float()

    def _noise(self, envelope: Tensor, on: Tensor, counter: Tensor) -> Tensor:
        """Return the noise [sub-frames, SUBFRAME] of power densities [1 + sub-frames, BANDS]."""
        hertz = (self.sines.float() * NOISE_STEP)[None].expand(envelope.shape[0], -1)
        power = power_of(self.at(envelope, hertz)) * (2 * NOISE_STEP / (codec.SAMPLE_RATE / 2))
        amplitude = torch.sqrt(power) * on
        places = counter.long().reshape(1) + torch.arange(envelope.shape[0]) + NOISE_SEGMENTS - 1
        phases = self.phases[torch.remainder(places, NOISE_SEGMENTS)]
        angle = turn(self.sines, self.samples, 2 * SUBFRAME)
        cosines = (amplitude * torch.cos(phases)) @ torch.cos(angle)
        segments = cosines - (amplitude * torch.sin(phases)) @ torch.sin(angle)
        segments = segments * torch.sin((self.samples.float() + 0.5) * (math.pi / (2 * SUBFRAME)))
        return segments[1:, :SUBFRAME] + segments[:-1, SUBFRAME:]


class DecodeFull(nn.Module):
    """The graph decode_full."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, codes: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        zero = torch.zeros(1, dtype=torch.int32)
        sound, samples, *_ = self.decoder(codes, lengths, zero, torch.zeros(1, 1, 1, 4))
        return sound, samples


class DecodeStep(nn.Module):
    """The graph decode_step; one transformer offset and one cache carry the decoder's state."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self,
        codes: Tensor,
        lengths: Tensor,
        counter: Tensor,
        offset: Tensor,
        keys: Tensor,
        values: Tensor,
        positions: Tensor,
    ) -> tuple[Tensor, ...]:
        sound, samples, next_counter, state = self.decoder(codes, lengths, counter, keys)
        next_offset = (offset + codes.shape[1]).int()
        next_positions = (positions * 0 + offset.reshape(1, 1)).int()
        return sound, samples, next_counter, next_offset, state, values + 0, next_positions


class Encode(nn.Module):
    """The graph encode: codec.encode of the mean of the channels, from 48 kHz."""

    def __init__(self, codebook: Tensor) -> None:
        super().__init__()
        self.register_buffer("codebook", codebook.clone())
        self.register_buffer("lengths", (codebook**2).sum(1))
        taps = firwin(FILTER_TAPS, FILTER_EDGE, fs=SAMPLE_RATE)
        self.register_buffer("taps", torch.tensor(taps, dtype=torch.float32)[None, None])
        lags = slice(codec.SHORTEST_LAG - 1, codec.LONGEST_LAG + 2)
        self.register_buffer("window_correlation", codec.window_autocorrelation()[lags])
        self.bins = int(codec.PITCH_CEILING * codec.PITCH_FFT / codec.SAMPLE_RATE) + 1
        self.register_buffer("pitch_weight", codec.pitch_weight()[: self.bins])
        centres = codec.BAND_CENTRES
        self.register_buffer("centres", torch.tensor(centres, dtype=torch.float32))
        self.register_buffer("spacing", torch.tensor(np.gradient(centres), dtype=torch.float32))
        self.register_buffer("whole", torch.arange(codec.PITCH_WINDOW))
        candidates = torch.arange(codec.SHORTEST_LAG, codec.LONGEST_LAG + 1)
        octaves = torch.log2(candidates / codec.SHORTEST_LAG)
        self.register_buffer("penalty", codec.LAG_PENALTY * octaves / octaves[-1])

    def forward(self, waveform: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Encode a waveform [1, channels, samples] of at least one frame."""
        mono = waveform.mean(1, keepdim=True)
        edge = FILTER_TAPS // 2
        padded = nn.functional.pad(mono, (edge, edge))
        sound = nn.functional.conv1d(padded, self.taps, stride=DECIMATION)[0, 0]
        frames = torch.div(sound.shape[0], HOP * SUBFRAMES, rounding_mode="floor")
        count = frames * SUBFRAMES
        pitch, voicing = self._pitch(self._windows(sound, count, codec.PITCH_WINDOW))
        envelope = self._envelope(
            self._windows(sound, count, codec.ENVELOPE_WINDOW), pitch, voicing
        )
        gain = DECIBELS * torch.log(power_of(envelope).mean(1, keepdim=True))
        shape = (envelope - gain).clamp_min(codec.FLOOR)
        gains = ((gain[:, 0] - codec.TOP_GAIN) / codec.GAIN_STEP + GAINS - 1).round()
        gains = gains.clamp(0, GAINS - 1).long()
        octaves = torch.log(
            pitch.clamp(codec.LOWEST_PITCH, codec.HIGHEST_PITCH) / codec.LOWEST_PITCH
        )
        span = math.log(codec.HIGHEST_PITCH / codec.LOWEST_PITCH)
        pitches = (octaves / span * (codec.PITCHES - 1)).round().long() + 1
        pitches = torch.where(voicing > codec.VOICED, pitches, torch.zeros_like(pitches))[:, 0]
        sounding = (gains > 0).long()
        envelopes = (2 * shape @ self.codebook.T - self.lengths).argmax(1) * sounding
        tones = (pitches * GAINS + gains) * sounding
        codes = torch.stack([envelopes, tones], 1).reshape(1, -1, CODEBOOKS).int()
        return codes, torch.div(lengths, FRAME, rounding_mode="floor").int()

    def _windows(self, sound: Tensor, count: Tensor, width: int) -> Tensor:
        padded = nn.functional.pad(sound[None], (width // 2, width // 2 + HOP))[0]
        starts = torch.arange(count) * HOP + HOP // 2
        return padded[starts[:, None] + self.whole[:width][None]]

    def _hann(self, width: int) -> Tensor:
        return 0.5 - 0.5 * torch.cos(self.whole[:width].float() * (2 * math.pi / width))

    def _pitch(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """Return pitch in Hz and voicing, both [sub-frames, 1]."""
        size, bins = codec.PITCH_FFT, self.whole[: self.bins]
        angle = turn(self.whole, bins, size)
        windowed = windows * self._hann(codec.PITCH_WINDOW)
        squared = (windowed @ torch.cos(angle)) ** 2 + (windowed @ torch.sin(angle)) ** 2
        power = torch.pow(squared + 1e-20, codec.SPECTRUM_POWER) * self.pitch_weight
        both_sides = torch.cat([power[:, :1], 2 * power[:, 1:]], 1) / size
        lags = self.whole[codec.SHORTEST_LAG - 1 : codec.LONGEST_LAG + 2]
        correlation = both_sides @ torch.cos(turn(bins, lags, size))
        total = both_sides.sum(1, keepdim=True) + 1e-6
        normal = correlation / total / self.window_correlation
        best = (normal[:, 1:-1] - self.penalty).argmax(1, keepdim=True) + 1
        before, after = torch.gather(normal, 1, best - 1), torch.gather(normal, 1, best + 1)
        peak = torch.gather(normal, 1, best)
        curve = (2 * (before - 2 * peak + after)).clamp(max=-1e-6)
        lag = best.float() + (codec.SHORTEST_LAG - 1) + ((before - after) / curve).clamp(-0.5, 0.5)
        return codec.SAMPLE_RATE / lag, peak

    def _envelope(self, windows: Tensor, pitch: Tensor, voicing: Tensor) -> Tensor:
        """Return the power density [sub-frames, BANDS] in dB."""
        size, width = codec.ENVELOPE_FFT, codec.ENVELOPE_WINDOW
        angle = turn(self.whole[:width], self.whole[: size // 2 + 1], size)
        windowed = windows * self._hann(width)
        squared = (windowed @ torch.cos(angle)) ** 2 + (windowed @ torch.sin(angle)) ** 2
        power = squared / (width * 0.375)  # the sum of the squares of the window
        total = torch.cumsum(torch.cat([torch.zeros_like(power[:, :1]), power], 1), 1)

        def up_to(hertz: Tensor) -> Tensor:
            place = (hertz.abs() / codec.BIN + 0.5).clamp(0, size / 2 - 0.001)
            lower = place.floor()
            share, index = place - lower, lower.long()
            below, above = torch.gather(total, 1, index), torch.gather(total, 1, index + 1)
            return torch.sign(hertz) * (below * (1 - share) + above * share)

        unvoiced = torch.full_like(pitch, codec.UNVOICED_WIDTH)
        period = torch.where(voicing > codec.VOICED, pitch.clamp(100.0, 400.0), unvoiced)
        spread = torch.maximum(period, self.spacing[None])
        density = up_to(self.centres + spread / 2) - up_to(self.centres - spread / 2)
        return DECIBELS * torch.log((density / (spread / codec.BIN)).clamp_min(1e-9))
