"""What is measured of a recording, what is refused, and with what advice."""

import functools
import json
import math

import numpy as np
import pytest
import soundfile
import soxr

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.voices.judgement import judge, speech_span, without_offset
from wyoming_moss_nano.voices.recording import read_recording

RATE = 48000
NAMES = ["jay", "lark", "wren"]


@functools.cache
def speech(name="wren"):
    """Return a synthetic reference [2, samples] at 48 kHz, its peak at 0.5."""
    sound, rate = soundfile.read(REFERENCES_FOLDER / f"{name}.flac", dtype="float32")
    sound = soxr.resample(sound, rate, RATE)
    sound = sound[: len(sound) // 4800 * 4800]  # a length that is quick to transform
    return np.tile(0.5 * sound / np.abs(sound).max(), (2, 1)).astype(np.float32)


@functools.cache
def noise(seconds, level_db, seed=0):
    """Return white noise [2, samples] whose power is ``level_db`` below full scale."""
    samples = np.random.default_rng(seed).normal(0, 10 ** (level_db / 20), round(seconds * RATE))
    return np.tile(samples.clip(-1, 1), (2, 1)).astype(np.float32)


def silence(seconds):
    return np.zeros((2, round(seconds * RATE)), np.float32)


def joined(*parts):
    return np.concatenate(parts, axis=1)


@functools.cache
def bursts(seconds, loud_db=-20.0, quiet_db=-70.0):
    """Return noise that swells for 0.4 s and rests for 0.2 s, as syllables do."""
    place = np.arange(round(seconds * RATE)) / RATE % 0.6
    return np.where(place < 0.4, noise(seconds, loud_db), noise(seconds, quiet_db, 1))


def assert_refused(found, *words):
    """Check that a judgement has one problem that says what was measured and what to do."""
    assert not found.usable
    assert len(found.problems) == 1, found.problems
    for word in words:
        assert word in found.problems[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_clear_recording_is_usable(name):
    found = judge(speech(name), RATE)

    assert found.usable
    assert found.problems == found.hints == ()
    assert found.seconds + found.trimmed_seconds == pytest.approx(speech(name).shape[1] / RATE)
    assert found.peak == pytest.approx(0.5, abs=0.02)
    assert found.clipped == 0
    assert found.speech_to_noise_db > 30


@pytest.mark.parametrize(
    "sound",
    [
        silence(5),
        silence(0.2),
        silence(5) + np.float32(0.5),
        silence(5) - np.float32(1),
        noise(5, -80),
    ],
    ids=["long", "short", "constant", "constant at full scale", "noise below -60 dB"],
)
def test_silence_is_refused(sound):
    found = judge(sound, RATE)

    assert_refused(found, "silent", "peak 0.000")
    assert found.loudness_lufs == -math.inf


@pytest.mark.parametrize("rate", [8000, 16000, 44100, 96000])
@pytest.mark.parametrize("level", [0.5, -1.0])
def test_a_constant_at_any_rate_is_silence(tmp_path, rate, level):
    soundfile.write(tmp_path / "x.wav", np.full(3 * rate, level), rate)

    recording = read_recording(tmp_path / "x.wav", RATE, 2)

    assert_refused(judge(recording.sound, RATE, recording.clipped), "silent")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1000, -1])
def test_what_is_no_number_is_refused(bad, place):
    sound = speech().copy()
    sound[1, place] = bad

    assert_refused(judge(sound, RATE), "no numbers", "export it again")


@pytest.mark.parametrize("scale", [2.0, 32768.0, 1e10, 3e38])
def test_float_samples_far_beyond_full_scale_are_judged_or_refused(scale):
    found = judge(np.abs(speech()) * np.float32(scale), RATE)

    assert found.usable or found.problems
    json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.parametrize("seconds", [0.2, 0.5, 0.95])
def test_too_short_is_refused_with_its_length(seconds):
    found = judge(bursts(seconds), RATE)

    assert not found.usable
    assert f"{found.seconds:.1f} s of speech" in found.problems[0]
    assert "at least 1 s" in found.problems[0]
    assert "record 3 to 10 s" in found.problems[0]


def test_one_second_is_enough_and_silence_does_not_count():
    assert judge(bursts(1.0), RATE).usable
    assert "at least 1 s" in judge(joined(silence(3), bursts(0.6), silence(3)), RATE).problems[0]


@pytest.mark.parametrize("seconds", [20.1, 60.0])
def test_too_long_is_refused_with_its_length(seconds):
    found = judge(bursts(seconds), RATE)

    assert found.seconds == pytest.approx(seconds, abs=0.2)
    assert_refused(found, f"{found.seconds:.1f} s", "at most 20 s", "--best 8")


def test_twenty_seconds_are_accepted():
    assert judge(bursts(20.0), RATE).usable


@pytest.mark.parametrize(("seconds", "hinted"), [(9.9, False), (10.1, True), (19.0, True)])
def test_more_than_ten_seconds_is_a_hint(seconds, hinted):
    found = judge(bursts(seconds), RATE)

    assert found.usable
    assert bool(found.hints) == hinted
    assert all("--best 8" in hint and "3 to 10 s" in hint for hint in found.hints)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [1.0, 0.99, 0.5, 0.1])
def test_heavy_clipping_is_refused_at_whatever_level_it_is(name, level):
    found = judge(level * np.clip(speech(name) * 20, -1, 1), RATE)

    assert found.clipped > 0.05
    assert_refused(found, "clipped", f"{found.clipped:.1%}", "lower input level")


def test_clipping_on_one_side_of_an_offset_is_refused():
    # a sound card that adds a constant cuts off one side only
    sound = np.minimum(speech() * 6 + 0.7, 1).clip(-1)
    assert (sound == 1).mean() > 0.05
    assert (sound == -1).mean() < 0.03

    found = judge(sound, RATE)

    assert found.clipped > 0.05
    assert not found.usable


def test_a_channel_clipped_below_the_other_is_refused():
    sound = speech().copy()
    sound[1] = 0.4 * np.clip(sound[1] * 20, -1, 1)

    assert judge(sound, RATE).clipped > 0.02


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000, 96000])
@pytest.mark.parametrize("subtype", ["PCM_16", "FLOAT"])
def test_a_clipped_file_of_any_rate_is_refused(tmp_path, rate, subtype):
    at_rate = soxr.resample(speech()[0], RATE, rate)
    soundfile.write(tmp_path / "x.wav", np.clip(at_rate * 20, -1, 1), rate, subtype=subtype)

    recording = read_recording(tmp_path / "x.wav", RATE, 2)

    assert recording.clipped > 0.05
    found = judge(recording.sound, RATE, recording.clipped)
    assert_refused(found, "clipped", f"{found.clipped:.1%}")


@pytest.mark.parametrize("rate", [16000, 48000])
@pytest.mark.parametrize("other", ["silent", "constant", "dithered"])
def test_a_second_channel_without_sound_is_not_clipped(tmp_path, rate, other):
    # one microphone on the left of a stereo input
    left = soxr.resample(speech()[0], RATE, rate)
    dither = np.random.default_rng(0).choice([-1, 0, 1], len(left)) / 32768
    right = {"silent": 0 * left, "constant": 0 * left + 0.01, "dithered": dither}[other]
    soundfile.write(tmp_path / "x.wav", np.stack([left, right], axis=1), rate)

    recording = read_recording(tmp_path / "x.wav", RATE, 2)

    assert recording.clipped == 0
    assert judge(recording.sound, RATE, recording.clipped).usable


def test_a_few_clipped_samples_are_accepted():
    sound = speech()
    loud = np.clip(sound * 2.2, -1, 1)
    assert 0 < (np.abs(loud) == 1).mean() < 0.005

    assert judge(loud, RATE).usable


def test_sound_that_only_touches_full_scale_is_not_clipped():
    assert judge(speech() * 2, RATE).clipped == 0
    tone = np.sin(2 * np.pi * 3000 * np.arange(RATE) / RATE)[np.newaxis]
    assert judge(tone.astype(np.float32), RATE).clipped == 0


@pytest.mark.parametrize("level", [-60.0, -35.0, -10.0])
@pytest.mark.parametrize("distance", [5, 12])
def test_noise_close_to_speech_is_refused_with_the_distance(level, distance):
    found = judge(bursts(5, level, level - distance), RATE)

    assert found.speech_to_noise_db == pytest.approx(distance, abs=1.5)
    noisy = [problem for problem in found.problems if "above the noise" in problem]
    assert len(noisy) == 1
    assert f"{found.speech_to_noise_db:.0f} dB" in noisy[0]
    assert "quiet room" in noisy[0]


@pytest.mark.parametrize("distance", [17, 25, 40])
def test_speech_well_above_the_noise_is_accepted(distance):
    found = judge(bursts(5, -20, -20 - distance), RATE)

    assert found.usable
    assert found.speech_to_noise_db == pytest.approx(distance, abs=1.5)


def test_a_tone_and_noise_without_a_pause_are_no_speech():
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(3 * RATE) / RATE)
    for sound in (np.tile(tone, (2, 1)).astype(np.float32), noise(3, -20)):
        assert "above the noise" in " ".join(judge(sound, RATE).problems)


@pytest.mark.parametrize("ends", [0.2, 2.0])
def test_digital_silence_at_the_ends_does_not_hide_noise(ends):
    for sound in (noise(3, -20), joined(speech() * 0.2 + noise(5, -29)[:, : speech().shape[1]])):
        assert not judge(sound, RATE).usable

        found = judge(joined(silence(ends), sound, silence(ends)), RATE)

        assert not found.usable
        assert "above the noise" in " ".join(found.problems)


def test_a_noise_gate_between_words_is_no_noise():
    gated = bursts(5, -20).copy()
    gated[:, np.arange(gated.shape[1]) / RATE % 0.6 >= 0.4] = 0

    assert judge(gated, RATE).usable
    assert judge(joined(silence(1), gated, silence(1)), RATE).usable


def test_very_quiet_speech_is_refused_with_its_loudness():
    assert_refused(
        judge(speech() * np.float32(0.005), RATE), "too quiet", "-50", "higher input level"
    )


@pytest.mark.parametrize("gain", [0.1, 0.3, 1.0, 1.9])
def test_the_level_alone_decides_nothing(gain):
    assert judge(speech() * np.float32(gain), RATE).usable


@pytest.mark.parametrize("offset", [-0.05, 0.4])
def test_a_constant_part_changes_nothing_that_is_measured(offset):
    plain, moved = judge(speech(), RATE), judge(speech() + np.float32(offset), RATE)

    assert moved.usable
    assert moved.seconds == pytest.approx(plain.seconds, abs=0.05)
    assert moved.loudness_lufs == pytest.approx(plain.loudness_lufs, abs=0.1)
    np.testing.assert_allclose(
        without_offset(speech() + np.float32(offset)), without_offset(speech()), atol=1e-5
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("before", "after"), [(0.5, 0), (0, 2), (3, 1)])
@pytest.mark.parametrize("room_db", [None, -75.0])
def test_trimming_keeps_all_speech_and_little_else(name, before, after, room_db):
    core = speech(name)
    whole = joined(silence(before), core, silence(after))
    if room_db is not None:
        whole = whole + noise(20, room_db)[:, : whole.shape[1]]
    loud = np.flatnonzero(np.abs(core).max(axis=0) > 0.01)
    first, last = round(before * RATE) + loud[0], round(before * RATE) + loud[-1]

    start, end = speech_span(whole, RATE)

    assert start <= first
    assert end > last
    assert start > first - 0.6 * RATE or start == 0
    assert end < last + 0.6 * RATE or end == whole.shape[1]
    found = judge(whole, RATE)
    assert found.usable
    assert found.seconds == pytest.approx((end - start) / RATE)
    assert found.seconds + found.trimmed_seconds == pytest.approx(whole.shape[1] / RATE)


@pytest.mark.parametrize(
    ("around", "room_db"), [((28, 30), None), ((28, 30), -75.0), ((58, 0), None), ((0, 58), -75.0)]
)
def test_little_speech_in_a_long_file_is_found(around, room_db):
    whole = joined(silence(around[0]), bursts(2), silence(around[1]))
    if room_db is not None:
        whole = whole + noise(60, room_db)

    start, end = speech_span(whole, RATE)

    assert around[0] - 0.3 < start / RATE <= around[0]
    assert around[0] + 1.8 <= end / RATE < around[0] + 2.5
    assert judge(whole, RATE).usable


def test_speech_that_begins_and_ends_at_once_keeps_its_ends():
    assert speech_span(bursts(1.0), RATE) == (0, RATE)


def test_a_quiet_word_at_an_end_is_kept():
    quiet = speech("lark") * np.float32(10 ** (-20 / 20))
    whole = joined(silence(1), quiet, silence(0.5), speech(), silence(0.5), quiet, silence(1))

    start, end = speech_span(whole, RATE)

    assert start <= 1.1 * RATE
    assert end >= whole.shape[1] - 1.2 * RATE


@pytest.mark.parametrize("samples", [1, 2, 3, 959, 960, 961, 19200])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_handful_of_samples_is_refused(samples, channels):
    sound = np.random.default_rng(0).normal(0, 0.2, (channels, samples)).astype(np.float32)

    assert not judge(sound, RATE).usable


@pytest.mark.parametrize(
    "sound",
    [
        speech(),
        silence(2),
        bursts(0.3),
        bursts(30),
        noise(3, -20),
        speech() + np.float32(np.nan),
        speech() + np.float32(np.inf),
        0.05 * np.sin(2 * np.pi * 4 * np.arange(2 * RATE) / RATE)[np.newaxis].astype(np.float32),
    ],
    ids=["speech", "silence", "short", "long", "noise", "nan", "inf", "below hearing"],
)
def test_a_judgement_is_json_without_infinity(sound):
    found = judge(sound, RATE)

    text = json.dumps(found.as_json(), allow_nan=False)

    values = json.loads(text)
    assert set(values) == {
        "seconds",
        "trimmed_seconds",
        "loudness_lufs",
        "peak",
        "clipped",
        "speech_to_noise_db",
        "problems",
        "hints",
        "usable",
    }
    assert values["usable"] is found.usable
    assert values["problems"] == list(found.problems)
    for name in ("seconds", "trimmed_seconds", "peak", "clipped", "speech_to_noise_db"):
        assert isinstance(values[name], float)
    assert values["loudness_lufs"] is None or -100 < values["loudness_lufs"] < 0


def test_judging_leaves_the_recording_as_it_is():
    sound = speech() + np.float32(0.1)
    before = sound.copy()

    judge(sound, RATE)

    np.testing.assert_array_equal(sound, before)
