"""Any file that libsndfile knows becomes sound at the codec's rate and channels, or a refusal."""

import struct
import warnings

import numpy as np
import pytest
import soundfile
import soxr

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.errors import VoiceError
from wyoming_moss_nano.voices import recording
from wyoming_moss_nano.voices.recording import read_recording, write_recording

RATE = 48000


@pytest.fixture(scope="module")
def speech():
    """Two seconds of a synthetic reference at 48 kHz."""
    sound, rate = soundfile.read(REFERENCES_FOLDER / "wren.flac", dtype="float32")
    return soxr.resample(sound, rate, RATE)[: 2 * RATE]


def likeness(one, other):
    """Return the correlation of two sounds at the best shift of up to 60 ms."""
    length = min(len(one), len(other))
    product = np.fft.rfft(one[:length], 2 * length).conj() * np.fft.rfft(other, 2 * length)
    correlation = np.fft.irfft(product)
    near = np.concatenate([correlation[:2880], correlation[-2880:]])
    return near.max() / (np.linalg.norm(one) * np.linalg.norm(other))


def write_or_skip(path, sound, rate, file_format, subtype):
    if not soundfile.check_format(file_format, subtype):
        pytest.skip(f"this libsndfile writes no {file_format} {subtype}")
    try:
        soundfile.write(path, sound, rate, format=file_format, subtype=subtype)
    except soundfile.SoundFileError as error:
        pytest.skip(f"this libsndfile writes no {file_format} {subtype} at {rate} Hz: {error}")


@pytest.mark.parametrize(
    ("file_format", "subtype", "least"),
    [
        ("WAV", "PCM_U8", 0.97),
        ("WAV", "PCM_16", 0.999),
        ("WAV", "PCM_24", 0.999),
        ("WAV", "PCM_32", 0.999),
        ("WAV", "FLOAT", 0.999),
        ("WAV", "DOUBLE", 0.999),
        ("WAV", "ULAW", 0.99),
        ("WAV", "IMA_ADPCM", 0.97),
        ("FLAC", "PCM_S8", 0.97),
        ("FLAC", "PCM_16", 0.999),
        ("FLAC", "PCM_24", 0.999),
        ("OGG", "VORBIS", 0.97),
        ("OGG", "OPUS", 0.95),
        ("MP3", "MPEG_LAYER_III", 0.97),
        ("AIFF", "PCM_16", 0.999),
        ("AU", "PCM_16", 0.999),
        ("CAF", "ALAC_16", 0.999),
        ("W64", "PCM_16", 0.999),
        ("RF64", "PCM_16", 0.999),
    ],
)
def test_every_format_gives_the_same_sound(tmp_path, speech, file_format, subtype, least):
    path = tmp_path / f"anna.{file_format.lower()}"
    write_or_skip(path, speech, RATE, file_format, subtype)

    sound = read_recording(path, RATE, 2).sound

    assert sound.dtype == np.float32
    assert sound.flags.c_contiguous
    assert sound.shape[0] == 2
    # frames of lossy formats are padded
    assert abs(sound.shape[1] - len(speech)) < 0.06 * RATE
    np.testing.assert_array_equal(sound[0], sound[1])
    assert likeness(speech, sound[0]) > least


def test_the_format_is_found_in_the_content_not_the_name(tmp_path, speech):
    soundfile.write(tmp_path / "anna.txt", speech, RATE, format="FLAC")

    assert read_recording(tmp_path / "anna.txt", RATE, 2).sound.shape == (2, len(speech))


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 32000, 44100, 48000, 88200, 96000])
def test_any_rate_becomes_48_khz_with_length_and_pitch_kept(tmp_path, rate):
    tone = 0.5 * np.sin(2 * np.pi * 1000 * np.arange(rate) / rate)
    soundfile.write(tmp_path / "tone.wav", tone, rate, subtype="FLOAT")

    sound = read_recording(tmp_path / "tone.wav", RATE, 2).sound

    assert abs(sound.shape[1] - RATE) <= 1
    middle = sound[0, RATE // 4 : 3 * RATE // 4]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert np.argmax(spectrum) * RATE / len(middle) == pytest.approx(1000, abs=2)
    assert np.abs(middle).max() == pytest.approx(0.5, abs=0.005)
    # nothing is mirrored or folded into the band: the rest is 60 dB below
    rest = np.delete(spectrum, range(490, 511))
    assert rest.max() < 1e-3 * spectrum.max()


def test_sound_of_the_codecs_own_format_is_not_touched(tmp_path, speech):
    stereo = np.stack([speech, speech[::-1]])
    soundfile.write(tmp_path / "anna.wav", stereo.T, RATE, subtype="FLOAT")

    np.testing.assert_array_equal(read_recording(tmp_path / "anna.wav", RATE, 2).sound, stereo)


@pytest.mark.parametrize("channels", range(1, 9))
@pytest.mark.parametrize("wanted", [1, 2])
def test_other_numbers_of_channels_are_averaged_and_duplicated(tmp_path, speech, channels, wanted):
    tracks = np.stack(
        [np.roll(speech[:4800], 37 * i) * (i + 1) / channels for i in range(channels)]
    )
    soundfile.write(tmp_path / "room.wav", tracks.T, RATE, subtype="FLOAT")

    sound = read_recording(tmp_path / "room.wav", RATE, wanted).sound

    expected = tracks if channels == wanted else np.tile(tracks.mean(axis=0), (wanted, 1))
    np.testing.assert_allclose(sound, expected, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["an na.wav", "Änna – 安娜.wav", "-anna.wav", "a'b\"c;$x.wav", "x"]
)
def test_any_file_name_is_read(tmp_path, speech, name):
    soundfile.write(tmp_path / name, speech, RATE, format="WAV")

    assert read_recording(tmp_path / name, RATE, 2).sound.shape == (2, len(speech))


def refusal(path):
    """Return the one line with which a file is refused; Python's own warnings fail the test."""
    with pytest.raises(VoiceError) as refused:
        read_recording(path, RATE, 2)
    text = str(refused.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def read_or_refused(path):
    """Return the sound of a file, or None where it is refused by name."""
    try:
        return read_recording(path, RATE, 2).sound
    except VoiceError as error:
        if str(path) not in str(error):
            raise
        return None


def test_a_missing_file_is_named(tmp_path):
    assert "cannot read the recording" in refusal(tmp_path / "no such.wav")


def test_a_folder_is_no_recording(tmp_path):
    assert "cannot read the recording" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["x.wav", "x.flac", "x.mp3", "x.txt", "x", "x.raw", "X.RAW"])
@pytest.mark.parametrize(
    "content", [b"", b"RIFF", b"Dear Anna,\nthis is a letter.\n" * 50], ids=["none", "four", "text"]
)
def test_what_is_no_sound_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    assert "cannot read the recording" in refusal(tmp_path / name)


def test_a_file_whose_rest_at_48_khz_is_no_sample_is_refused(tmp_path):
    soundfile.write(tmp_path / "x.wav", np.full((1, 1), 0.5), 192000)

    refusal(tmp_path / "x.wav")


@pytest.mark.parametrize("file_format", ["WAV", "FLAC", "OGG"])
def test_a_file_without_a_sample_is_refused(tmp_path, file_format):
    soundfile.write(tmp_path / "x", np.zeros((0, 1)), RATE, format=file_format)

    refusal(tmp_path / "x")


@pytest.mark.parametrize("file_format", ["WAV", "AIFF", "FLAC", "OGG", "MP3"])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.02, 0.002])
def test_a_file_cut_off_anywhere_is_what_is_left_of_it_or_a_refusal(
    tmp_path, speech, file_format, share
):
    path = tmp_path / "x"
    write_or_skip(path, speech, RATE, file_format, soundfile.default_subtype(file_format))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])

    sound = read_or_refused(path)

    if sound is not None:
        assert 0 < sound.shape[1] < len(speech)
        assert np.isfinite(sound).all()


@pytest.mark.parametrize("rate", [0, 1, 10, 2**31, 2**32 - 1])
def test_a_sample_rate_that_is_nonsense_is_refused_or_gives_finite_sound(tmp_path, speech, rate):
    path = tmp_path / "x.wav"
    soundfile.write(path, speech, RATE)
    header = bytearray(path.read_bytes())
    header[24:28] = struct.pack("<I", rate)
    path.write_bytes(header)

    sound = read_or_refused(path)

    assert sound is None or np.isfinite(sound).all()


def with_bad_sample(speech, values, channels):
    sound = np.tile(speech[:RATE], (channels, 1))
    sound[: len(values), 100] = values
    return sound


@pytest.mark.parametrize("rate", [16000, RATE])
@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("values", [[np.nan], [np.inf], [np.inf, -np.inf, 0.0], [3e38, 3e38, 3e38]])
def test_samples_that_are_no_numbers_come_through_for_the_judgement(
    tmp_path, speech, rate, channels, values
):
    sound = with_bad_sample(speech, values[:channels], channels)
    soundfile.write(tmp_path / "x.wav", sound.T, rate, subtype="FLOAT")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_recording(tmp_path / "x.wav", RATE, 2).sound

    if not np.isfinite(values).all():
        assert not np.isfinite(read).all()


def test_an_hour_of_sound_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "long.wav"
    soundfile.write(path, np.zeros(601 * 8000, dtype=np.int16), 8000, subtype="PCM_U8")
    monkeypatch.setattr(soundfile, "read", lambda *_, **__: pytest.fail("it was read"))

    text = refusal(path)

    assert "601 s" in text
    assert "600 s" in text
    assert "cut out" in text


def test_the_longest_file_is_read_and_one_sample_more_is_not(tmp_path, monkeypatch, speech):
    monkeypatch.setattr(recording, "MAX_FILE_SECONDS", 1)
    soundfile.write(tmp_path / "x.wav", speech[:RATE], RATE)
    assert read_recording(tmp_path / "x.wav", RATE, 2).sound.shape == (2, RATE)

    soundfile.write(tmp_path / "x.wav", speech[: RATE + 1], RATE)
    refusal(tmp_path / "x.wav")


def test_a_minute_is_read_whole(tmp_path):
    sound = np.random.default_rng(0).normal(0, 0.1, 60 * 16000)
    soundfile.write(tmp_path / "x.wav", sound, 16000)

    assert read_recording(tmp_path / "x.wav", RATE, 2).sound.shape == (2, 60 * RATE)


def test_a_kept_recording_is_flac_of_16_bits_that_reads_back(tmp_path, speech):
    stereo = np.stack([speech, -speech])
    stereo[:, :4] = [[1.0, -1.0, 0.999999, -0.999999]] * 2
    write_recording(tmp_path / "anna.flac", stereo, RATE)

    info = soundfile.info(tmp_path / "anna.flac")
    assert (info.format, info.subtype) == ("FLAC", "PCM_16")
    assert (info.samplerate, info.channels, info.frames) == (RATE, 2, len(speech))
    read = read_recording(tmp_path / "anna.flac", RATE, 2).sound
    np.testing.assert_allclose(read, stereo, atol=1.01 / 32768)
