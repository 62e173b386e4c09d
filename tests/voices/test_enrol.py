"""From a recording to a reference: levelled, trimmed, cut to its best stretch, encoded."""

import functools
import hashlib
import logging
import math
import time
from datetime import datetime

import numpy as np
import pytest
import soundfile
import soxr

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.errors import VoiceError
from wyoming_moss_nano.voices.enrol import (
    REFERENCE_LUFS,
    Encoder,
    best_span,
    enrol,
    now,
    prepare,
)
from wyoming_moss_nano.voices.judgement import judge, speech_span, without_offset
from wyoming_moss_nano.voices.loudness import loudness
from wyoming_moss_nano.voices.recording import read_recording
from wyoming_moss_nano.voices.voice_file import Authorization

RATE = 48000
NAMES = ["jay", "lark", "wren"]
PERMISSION = Authorization("the authors", "2026-11-30T12:00:00+00:00", "Go ahead.")


@functools.cache
def speech(name="wren"):
    """Return a synthetic reference [2, samples] at 48 kHz, its peak at 0.5."""
    sound, rate = soundfile.read(REFERENCES_FOLDER / f"{name}.flac", dtype="float32")
    sound = soxr.resample(sound, rate, RATE)
    sound = sound[: len(sound) // 4800 * 4800]  # a length that is quick to transform
    return np.tile(0.5 * sound / np.abs(sound).max(), (2, 1)).astype(np.float32)


@functools.cache
def noise(seconds, level_db, seed=0):
    samples = np.random.default_rng(seed).normal(0, 10 ** (level_db / 20), round(seconds * RATE))
    return np.tile(samples, (2, 1)).astype(np.float32)


@functools.cache
def bursts(seconds, loud_db=-20.0, quiet_db=-70.0):
    """Return noise that swells for 0.4 s and rests for 0.2 s, as syllables do."""
    place = np.arange(round(seconds * RATE)) / RATE % 0.6
    return np.where(place < 0.4, noise(seconds, loud_db), noise(seconds, quiet_db, 1))


def best_stretch(sound, rate, seconds):
    start, end = best_span(sound, rate, seconds)
    return sound[:, start:end]


def silence(seconds):
    return np.zeros((2, round(seconds * RATE)), np.float32)


def joined(*parts):
    return np.concatenate(parts, axis=1)


def clicking(level):
    """Return quiet speech with a click each second, whose peaks must be limited."""
    sound = speech("lark") * np.float32(0.02)
    sound[:, RATE // 2 :: RATE] = level
    return sound


@pytest.fixture(params=["tiny", "embedded"])
def encoder(request):
    engine = request.getfixturevalue(f"{request.param}_engine")
    return Encoder(engine.bundle, engine.codec)


@pytest.fixture
def tiny_encoder(tiny_engine):
    return Encoder(tiny_engine.bundle, tiny_engine.codec)


def recorded(path, sound, rate=RATE, **options):
    soundfile.write(path, sound.T, rate, **options)
    return path


def enrolled(encoder, path, best=None, permission=PERMISSION):
    return enrol(encoder, path, "anna", ("en", "de"), "Anna", permission, best)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gain_db", [-20, 5])
def test_every_recording_is_brought_to_one_level(name, gain_db):
    sound = speech(name) * np.float32(10 ** (gain_db / 20))
    assert judge(sound, RATE).usable

    prepared = prepare(sound, RATE)

    assert loudness(prepared) == pytest.approx(REFERENCE_LUFS, abs=0.05)
    assert np.abs(prepared).max() < 1
    assert prepared.dtype == np.float32


@pytest.mark.parametrize("loud_db", [-50.0, -20.0, -13.0])
@pytest.mark.parametrize("distance", [17, 30, 60])
@pytest.mark.parametrize("seconds", [1.0, 5.2])
def test_any_usable_sound_is_brought_to_one_level(loud_db, distance, seconds):
    sound = joined(silence(0.5), bursts(seconds, loud_db, loud_db - distance), silence(0.5))
    found = judge(sound, RATE)
    if not found.usable:
        assert "quiet" in found.problems[0]
        return

    prepared = prepare(sound, RATE)

    assert loudness(prepared) == pytest.approx(REFERENCE_LUFS, abs=0.5)
    assert np.abs(prepared).max() < 1


def test_the_level_is_the_same_when_a_constant_is_added():
    sound = speech() * np.float32(0.5)

    prepared = prepare(sound + np.float32(0.3), RATE)

    assert loudness(prepared) == pytest.approx(REFERENCE_LUFS, abs=0.05)
    assert abs(prepared.mean()) < 1e-3


@pytest.mark.parametrize("level", [0.1, 0.5, 1.0])
def test_peaks_are_limited_and_the_rest_is_as_loud_as_it_was_to_be(level):
    sound = clicking(level)
    start, end = speech_span(without_offset(sound), RATE)
    gain = 10 ** ((REFERENCE_LUFS - loudness(without_offset(sound)[:, start:end])) / 20)
    wanted = gain * without_offset(sound)[:, start:end]

    prepared = prepare(sound, RATE)

    assert prepared.shape == wanted.shape
    assert np.abs(prepared).max() < 1
    if np.abs(wanted).max() >= 1:
        assert np.abs(prepared).max() > 0.9
    # the limiter holds a click's blocks back and nothing else
    assert np.isclose(prepared, wanted, rtol=1e-3, atol=1e-6).mean() > 0.7


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0.5, 3), (4, 0.3)])
@pytest.mark.parametrize("name", NAMES)
def test_silence_at_both_ends_is_trimmed_and_no_speech(name, before, after):
    core = speech(name)

    prepared = prepare(joined(silence(before), core, silence(after)), RATE)

    assert prepared.shape[1] <= core.shape[1] + 0.25 * RATE
    # all of the core that is not silent is still there, in one piece
    loud = np.flatnonzero(np.abs(core).max(axis=0) > 0.01)
    heard = core[0, loud[0] : loud[-1]]
    length = prepared.shape[1] + len(heard)
    found = np.fft.irfft(
        np.fft.rfft(prepared[0], length) * np.fft.rfft(heard, length).conj(), length
    )
    place = int(np.argmax(found))
    match = prepared[0, place : place + len(heard)]
    assert len(match) == len(heard)
    ratio = match @ heard / (heard @ heard)
    np.testing.assert_allclose(match, ratio * heard, atol=0.01)


def test_a_prepared_recording_prepared_again_stays_as_it_is():
    once = prepare(joined(silence(1), speech(), silence(1)), RATE)

    twice = prepare(once, RATE)

    assert abs(twice.shape[1] - once.shape[1]) <= 0.04 * RATE
    assert loudness(twice) == pytest.approx(loudness(once), abs=0.02)


def test_preparing_leaves_the_recording_as_it_is():
    sound = joined(silence(1), speech() + np.float32(0.01))
    before = sound.copy()

    prepare(sound, RATE)

    np.testing.assert_array_equal(sound, before)


@pytest.mark.parametrize("seconds", [1.5, 3, 3.017, 5, 8, 19.999, 20])
def test_the_best_stretch_is_a_part_of_the_recording_of_that_length(seconds):
    sound = joined(noise(7, -70), bursts(12), noise(11, -70, 5))

    best = best_stretch(sound, RATE, seconds)

    assert best.shape == (2, round(seconds * RATE))
    assert np.shares_memory(best, sound)


@pytest.mark.parametrize("room_db", [-80.0, -60.0, None])
@pytest.mark.parametrize(("before", "after"), [(25, 0), (0, 25), (12, 13), (50, 4)])
def test_the_best_stretch_is_where_the_speech_is(room_db, before, after):
    core = bursts(6)
    whole = joined(silence(before), core, silence(after))
    if room_db is not None:
        whole = whole + noise(60, room_db, 3)[:, : whole.shape[1]]

    best = best_stretch(whole, RATE, 5)

    assert np.square(best).sum() > 0.75 * np.square(core).sum()


def start_of(part, whole):
    return (part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // 4


@pytest.mark.parametrize("seed", range(4))
def test_the_best_stretch_begins_and_ends_in_pauses(seed):
    # phrases of 3.2 s without a pause inside, and pauses of 0.5 to 0.7 s between
    random = np.random.default_rng(seed)
    parts, talking = [], []
    for number in range(8):
        parts += [noise(random.uniform(0.5, 0.7), -75, number), noise(3.2, -20, 100 + number)]
        talking += [np.zeros(parts[-2].shape[1], bool), np.ones(parts[-1].shape[1], bool)]
    whole, talk = (
        joined(*parts, silence(0.5)),
        np.concatenate([*talking, np.zeros(RATE // 2, bool)]),
    )

    best = best_stretch(whole, RATE, 3.5)

    first = start_of(best, whole)
    inside = talk[first : first + best.shape[1]]
    # a block of 20 ms may be half of each
    assert not inside[960:1920].all()
    assert not inside[:480].all()
    assert not inside[-480:].all()
    assert inside.sum() > 3.1 * RATE


def test_a_recording_no_longer_than_that_is_taken_whole():
    assert best_stretch(speech(), RATE, 20) is not None
    np.testing.assert_array_equal(best_stretch(speech(), RATE, 20), speech())


@pytest.mark.parametrize("seconds", [0, -1, 1.49, 20.01, 1e9, math.nan, math.inf, -math.inf])
def test_a_stretch_of_another_length_is_refused(seconds):
    with pytest.raises(VoiceError, match=r"--best must be from 1.5 to 20 seconds"):
        best_stretch(bursts(30), RATE, seconds)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_becomes_a_voice(encoder, name):
    path = REFERENCES_FOLDER / f"{name}.flac"

    made = enrolled(encoder, path)

    voice = made.voice
    assert (voice.name, voice.languages, voice.description) == ("anna", ("en", "de"), "Anna")
    assert voice.codec_id == encoder.bundle.codec_id
    assert voice.authorization == PERMISSION
    assert voice.recording_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert voice.codes.dtype == np.int32
    assert voice.codes.shape[1] == len(encoder.bundle.config.codebook_sizes)
    assert (voice.codes >= 0).all()
    assert (voice.codes < encoder.bundle.config.codebook_sizes).all()
    assert len(voice.codes) == pytest.approx(voice.seconds * 12.5, abs=1)
    assert voice.seconds == made.recording.shape[1] / encoder.sample_rate
    assert voice.loudness_lufs == made.judgement.loudness_lufs
    assert loudness(made.recording) == pytest.approx(REFERENCE_LUFS, abs=0.05)


def test_the_codes_are_those_of_the_prepared_recording(encoder):
    made = enrolled(encoder, REFERENCES_FOLDER / "wren.flac")

    np.testing.assert_array_equal(made.voice.codes, encoder.encode(made.recording))


def test_the_same_recording_gives_the_same_voice(encoder):
    one, other = (enrolled(encoder, REFERENCES_FOLDER / "jay.flac") for _ in range(2))

    np.testing.assert_array_equal(one.voice.codes, other.voice.codes)
    np.testing.assert_array_equal(one.recording, other.recording)


@pytest.mark.parametrize(
    ("rate", "channels", "options"),
    [
        (8000, 1, {"subtype": "PCM_U8"}),
        (16000, 6, {"subtype": "PCM_16"}),
        (44100, 2, {"subtype": "PCM_24"}),
        (96000, 8, {"subtype": "FLOAT"}),
    ],
)
def test_files_of_many_kinds_become_voices_at_one_level(
    tmp_path, tiny_encoder, monkeypatch, rate, channels, options
):
    monkeypatch.setattr(Encoder, "encode", lambda *_: np.ones((1, 16), np.int32))
    sound = np.repeat(soxr.resample(speech()[:1].T, RATE, rate).T, channels, axis=0)
    path = recorded(tmp_path / "x.wav", sound, rate, **options)

    made = enrolled(tiny_encoder, path)

    assert loudness(made.recording) == pytest.approx(REFERENCE_LUFS, abs=0.1)
    assert made.recording.shape[0] == 2
    assert np.abs(made.recording).max() < 1


def test_the_shortest_and_the_longest_recording_become_voices(tmp_path, tiny_encoder):
    short = enrolled(tiny_encoder, recorded(tmp_path / "x.wav", bursts(1.0)))
    long = enrolled(tiny_encoder, recorded(tmp_path / "x.wav", joined(bursts(19.9), bursts(0.1))))

    assert short.voice.seconds == pytest.approx(1)
    assert 12 <= len(short.voice.codes) <= 13
    assert long.voice.seconds == pytest.approx(20)
    assert len(long.voice.codes) == 250


def test_the_best_part_of_a_long_recording_becomes_a_voice(tmp_path, tiny_encoder):
    long = joined(silence(5), speech("jay"), silence(1), *[speech("wren")] * 4, silence(9))
    path = recorded(tmp_path / "x.wav", long)
    with pytest.raises(VoiceError, match="--best 8"):
        enrolled(tiny_encoder, path)

    made = enrolled(tiny_encoder, path, best=8)

    assert 6 < made.voice.seconds <= 8
    assert made.judgement.hints == ()
    assert loudness(made.recording) == pytest.approx(REFERENCE_LUFS, abs=0.05)


@pytest.mark.parametrize("best", [None, 3])
@pytest.mark.parametrize(
    ("sound", "expected"),
    [
        (silence(5), "silent"),
        (silence(5) + np.float32(0.3), "silent"),
        (noise(5, -20), "above the noise"),
        (np.clip(speech() * 20, -1, 1), "clipped"),
        (speech() * np.float32(0.004), "too quiet"),
        (bursts(0.5), "at least 1 s"),
        (np.where(np.arange(3 * RATE) == 7, np.nan, 0.1 * bursts(3)), "no numbers"),
        (np.where(np.arange(3 * RATE) == 7, np.inf, 0.1 * bursts(3)), "no numbers"),
    ],
    ids=["silence", "constant", "noise", "clipped", "quiet", "short", "nan", "inf"],
)
def test_what_is_not_fit_is_refused_with_the_reason(
    tmp_path, tiny_encoder, monkeypatch, sound, expected, best
):
    path = recorded(tmp_path / "x y.wav", sound, subtype="FLOAT")
    monkeypatch.setattr(Encoder, "encode", lambda *_: pytest.fail("it was encoded"))

    with pytest.raises(VoiceError) as refused:
        enrolled(tiny_encoder, path, best)

    assert str(refused.value).startswith(f"{path} cannot be a reference: ")
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("by", "statement"), [("", "yes"), ("Anna", ""), (" \t", "yes"), ("Anna", "\n"), ("", "")]
)
def test_without_authorisation_nothing_is_even_read(tiny_encoder, monkeypatch, by, statement):
    monkeypatch.setattr(Encoder, "read", lambda *_: pytest.fail("it was read"))

    with pytest.raises(VoiceError, match="say who authorised its use and in what words"):
        enrolled(
            tiny_encoder, REFERENCES_FOLDER / "wren.flac", None, Authorization(by, now(), statement)
        )


def test_the_time_of_an_authorisation_is_iso_8601_with_a_zone():
    stamp = datetime.fromisoformat(now())

    assert stamp.tzinfo is not None
    assert abs(stamp.timestamp() - time.time()) < 5


def test_nothing_of_a_voice_is_logged(tmp_path, encoder, caplog):
    caplog.set_level(logging.DEBUG)

    made = enrolled(encoder, REFERENCES_FOLDER / "wren.flac")
    with pytest.raises(VoiceError) as refused:
        enrolled(encoder, recorded(tmp_path / "x.wav", noise(3, -20)))

    said = caplog.text + str(refused.value)
    for row in made.voice.codes[:5].tolist():
        assert ", ".join(map(str, row[:3])) not in said
    assert "array" not in said
    assert PERMISSION.statement not in caplog.text


def test_the_encoder_reads_at_the_bundles_rate_and_width(encoder):
    path, config = REFERENCES_FOLDER / "wren.flac", encoder.bundle.codec

    read = encoder.read(path)

    assert encoder.sample_rate == config.sample_rate
    wanted = read_recording(path, config.sample_rate, config.channels)
    np.testing.assert_array_equal(read.sound, wanted.sound)
    assert read.clipped == wanted.clipped == 0
