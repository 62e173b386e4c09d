"""What happens to sound between the codec and the listener."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wyoming_moss_nano.engine.pcm import DeadAir, Limiter, mono, silence, to_pcm

RATE = 48000
BLOCK = RATE // 100


def tone(seconds, level=0.5, channels=1, hertz=440.0):
    wave = level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)
    return np.tile(wave.astype(np.float32), (channels, 1))


def whole(limiter, sounds):
    ready = [limiter.take(sound) for sound in sounds]
    rest = limiter.rest()
    return np.concatenate([*ready, *([] if rest is None else [rest])], axis=1)


def cut(sound, places):
    return np.split(sound, sorted(places), axis=1)


@given(st.lists(st.integers(0, 40), max_size=6), st.floats(0.01, 0.99))
def test_the_limiter_is_the_identity_below_full_scale(places, level):
    sound = tone(0.4, level)
    pieces = cut(sound, [BLOCK * place for place in places])

    limiter = Limiter(RATE, gain_db=0.0)

    np.testing.assert_array_equal(whole(limiter, pieces), sound)
    assert limiter.clipped == 0


@given(st.lists(st.integers(0, 40), max_size=6), st.floats(1.0, 8.0))
def test_the_limiter_keeps_loud_sound_below_full_scale_and_as_long(places, level):
    sound = np.concatenate([tone(0.2, 0.3), tone(0.2, level)], axis=1)
    limiter = Limiter(RATE, gain_db=0.0)

    limited = whole(limiter, cut(sound, [BLOCK * place for place in places]))

    assert limited.shape == sound.shape
    assert np.abs(limited).max() < 1
    assert limiter.clipped == np.count_nonzero(np.abs(sound) >= 1)


def test_limiting_does_not_click():
    sound = np.concatenate([tone(0.2, 0.9), tone(0.2, 2.0), tone(0.4, 0.9)], axis=1)

    limited = whole(Limiter(RATE, gain_db=0.0), [sound])

    steepest = 2 * np.pi * 440 / RATE
    assert np.abs(np.diff(limited)).max() < 1.5 * steepest
    np.testing.assert_array_equal(limited[:, -BLOCK:], sound[:, -BLOCK:])


def test_channels_are_limited_together():
    sound = np.concatenate([tone(0.1, 2.0), tone(0.1, 0.2)], axis=0)

    limited = whole(Limiter(RATE, gain_db=0.0), [sound])

    np.testing.assert_allclose(limited[1] * 10, limited[0], atol=1e-5)


@pytest.mark.parametrize(("gain_db", "factor"), [(-6.0206, 0.5), (6.0206, 2.0), (0.0, 1.0)])
def test_gain_is_in_decibels(gain_db, factor):
    sound = tone(0.1, 0.25)

    amplified = whole(Limiter(RATE, gain_db), [sound])

    np.testing.assert_allclose(amplified, factor * sound, rtol=1e-4)


def test_gain_comes_before_the_limiter():
    limiter = Limiter(RATE, gain_db=20.0)

    assert np.abs(whole(limiter, [tone(0.1, 0.5)])).max() < 1
    assert limiter.clipped > 0


@given(st.lists(st.integers(0, 300), max_size=8))
def test_a_long_near_silence_is_shortened_however_the_sound_arrives(places):
    hiss = np.float32(0.001) * np.ones((1, 2 * RATE), np.float32)
    sound = np.concatenate([tone(0.5), hiss, tone(0.5)], axis=1)
    dead_air = DeadAir(RATE)

    heard = [dead_air.shorten(piece) for piece in cut(sound, [BLOCK * place for place in places])]

    assert np.concatenate(heard, axis=1).shape[1] == round(1.8 * RATE)
    assert dead_air.dropped == round(1.2 * RATE)


def test_pauses_that_speech_makes_are_left_alone():
    sound = np.concatenate([tone(0.5), silence(0.7, RATE, 1), tone(0.5)], axis=1)
    dead_air = DeadAir(RATE)

    assert dead_air.shorten(sound) is sound
    assert dead_air.dropped == 0


def test_mono_is_the_average_of_the_channels():
    np.testing.assert_allclose(mono(np.array([[1.0, 0.0], [0.0, 0.5]], np.float32)), [[0.5, 0.25]])


def test_pcm_is_rounded_and_held_at_full_scale():
    sound = np.array([[0.0, 1.0, -1.0, 2.0, -2.0, 0.5 / 32767, 1.6 / 32767]], np.float32)

    assert to_pcm(sound).ravel().tolist() == [0, 32767, -32767, 32767, -32767, 0, 2]


def test_pcm_of_two_channels_is_interleaved():
    sound = np.array([[0.5, 0.5], [-0.5, -0.5]], np.float32)

    assert to_pcm(sound).shape == (2, 2)
    assert to_pcm(sound).tobytes() == np.array([16384, -16384] * 2, "<i2").tobytes()
