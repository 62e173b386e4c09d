"""Loudness against the values that ITU-R BS.1770 and EBU Tech 3341 give."""

import math

import numpy as np
import pytest
import soundfile
import soxr

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.voices.loudness import SILENT, loudness

RATE = 48000


def sine(seconds, level_db, frequency=997.0, channels=2):
    """Return a sine [channels, samples] whose peak is ``level_db`` below full scale."""
    turn = 2 * np.pi * frequency * np.arange(round(seconds * RATE)) / RATE
    return np.tile(10 ** (level_db / 20) * np.sin(turn), (channels, 1)).astype(np.float32)


def silence(seconds, channels=2):
    return np.zeros((channels, round(seconds * RATE)), np.float32)


def joined(*parts):
    return np.concatenate(parts, axis=1)


def speech(name="lark"):
    sound, rate = soundfile.read(REFERENCES_FOLDER / f"{name}.flac", dtype="float32")
    return soxr.resample(sound, rate, RATE)[np.newaxis]


def test_a_sine_at_full_scale_in_one_channel_is_3_01_below():
    assert loudness(sine(5, 0, channels=1)) == pytest.approx(-3.01, abs=0.02)
    one_of_two = joined(sine(5, 0))
    one_of_two[1] = 0
    assert loudness(one_of_two) == pytest.approx(-3.01, abs=0.02)


@pytest.mark.parametrize("level", [-10.0, -23.0, -33.0, -60.0])
def test_a_stereo_sine_has_the_loudness_of_its_level(level):
    # EBU Tech 3341, cases 1 and 2: within 0.1 LU
    assert loudness(sine(20, level, 1000.0)) == pytest.approx(level, abs=0.1)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # EBU Tech 3341, cases 3 to 5, the first two at half their length
        ([(5, -36), (30, -23), (5, -36)], -23.0),
        ([(5, -72), (5, -36), (30, -23), (5, -36), (5, -72)], -23.0),
        ([(20, -26), (20.1, -20), (20, -26)], -23.0),
    ],
)
def test_the_gates_are_those_of_the_standard(parts, expected):
    sound = joined(*(sine(seconds, level, 1000.0) for seconds, level in parts))

    assert loudness(sound) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("gain", [-20.0, -0.5, 12.0])
@pytest.mark.parametrize("name", ["jay", "lark", "wren"])
def test_scaling_moves_the_loudness_by_as_much(name, gain):
    sound = speech(name)

    moved = loudness(sound * np.float32(10 ** (gain / 20)))

    assert moved - loudness(sound) == pytest.approx(gain, abs=0.01)


@pytest.mark.parametrize("seconds", [1, 10])
def test_silence_around_speech_is_gated(seconds):
    # the blocks that hold an end of the speech count, and those of silence do not
    around = joined(silence(seconds, 1), speech(), silence(seconds, 1))

    assert loudness(around) == pytest.approx(loudness(speech()), abs=0.5)


def test_more_silence_changes_nothing_at_all():
    some = joined(silence(1, 1), speech(), silence(1, 1))
    more = joined(silence(10, 1), speech(), silence(30, 1))

    assert loudness(more) == pytest.approx(loudness(some), abs=0.01)


def test_a_second_channel_of_the_same_sound_adds_three_units():
    mono = speech()

    assert loudness(np.repeat(mono, 2, axis=0)) - loudness(mono) == pytest.approx(3.01, abs=0.01)


def test_the_polarity_of_a_channel_does_not_matter():
    assert loudness(joined(speech() * [[1.0], [-1.0]])) == pytest.approx(
        loudness(np.repeat(speech(), 2, axis=0)), abs=0.001
    )


@pytest.mark.parametrize(
    "sound",
    [
        silence(0.1),
        silence(5),
        sine(3, -75),
        np.full((2, RATE), 0.5, np.float32),
    ],
    ids=["short", "long", "below the gate", "constant"],
)
def test_silence_has_no_loudness(sound):
    assert loudness(sound) == SILENT == -math.inf


@pytest.mark.parametrize("samples", [2, 100, 4800, 19199, 19200, 19201])
def test_short_sound_has_a_finite_loudness(samples):
    value = loudness(np.random.default_rng(0).normal(0, 0.3, (2, samples)).astype(np.float32))

    assert isinstance(value, float)
    assert -70 < value < 0


def test_low_rumble_counts_less_and_treble_more():
    middle = loudness(sine(3, -20))

    assert loudness(sine(3, -20, 40.0)) < middle - 4
    assert loudness(sine(3, -20, 5.0)) < middle - 20
    assert loudness(sine(3, -20, 8000.0)) == pytest.approx(middle + 3.3, abs=0.3)


def filtered(samples, numerator, denominator):
    """Return samples through a filter of second order, as the standard draws it."""
    (b0, b1, b2), (_, a1, a2) = numerator, denominator
    first = second = 0.0
    output = []
    for sample in samples.tolist():
        state = sample - a1 * first - a2 * second
        output.append(b0 * state + b1 * first + b2 * second)
        first, second = state, first
    return np.array(output)


@pytest.mark.parametrize("kind", ["speech", "noise", "cut off loud"])
def test_it_is_what_the_filters_of_the_standard_give_sample_by_sample(kind):
    sound = {
        "speech": speech()[:, : 2 * RATE],
        "noise": np.random.default_rng(1).normal(0, 0.1, (1, RATE)),
        "cut off loud": joined(sine(0.5, -40, 100.0, 1), sine(0.5, -6, 60.0, 1)),
    }[kind]
    weighted = filtered(
        sound[0],
        (1.53512485958697, -2.69169618940638, 1.19839281085285),
        (1.0, -1.69065929318241, 0.73248077421585),
    )
    weighted = filtered(weighted, (1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621))
    starts = range(0, len(weighted) - 19200 + 1, 4800)
    powers = np.array([np.square(weighted[start : start + 19200]).mean() for start in starts])
    levels = -0.691 + 10 * np.log10(powers)
    kept = powers[levels > -70]
    gate = -0.691 + 10 * np.log10(kept.mean()) - 10
    expected = -0.691 + 10 * np.log10(powers[(levels > -70) & (levels > gate)].mean())

    assert loudness(sound) == pytest.approx(expected, abs=0.05)
