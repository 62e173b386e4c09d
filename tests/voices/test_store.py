"""A voice exists on any bundle."""

import json

import numpy as np
import pytest
import soundfile

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.engine.speech import Recorder, SpeechOptions
from wyoming_moss_nano.errors import VoiceError
from wyoming_moss_nano.voices.recording import read_recording
from wyoming_moss_nano.voices.store import VoiceStore

SYNTHETIC = ["jay", "lark", "wren"]


@pytest.fixture(params=["tiny", "embedded"])
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.fixture
def store(engine):
    return VoiceStore(engine.bundle, engine.codec, REFERENCES_FOLDER)


def test_the_embedded_bundle_offers_five_voices_and_three_references(embedded_engine):
    store = VoiceStore(embedded_engine.bundle, embedded_engine.codec, REFERENCES_FOLDER)

    assert store.names() == ["fay", "ivy", "jay", "lark", "max", "otto", "robin", "wren"]
    assert store.default == "robin"


@pytest.mark.parametrize("name", SYNTHETIC)
def test_each_reference_is_encoded_by_any_bundle_and_speaks(engine, store, name):
    voice = store.get(name)
    codec = engine.bundle.codec
    samples = round(soundfile.info(REFERENCES_FOLDER / f"{name}.flac").duration * codec.sample_rate)

    assert voice.codes.shape == (samples // codec.downsample_rate, codec.quantizers)
    assert (voice.codes < engine.bundle.ids.audio_pad).all()
    pcm = np.concatenate(
        list(engine.speak("Good morning.", voice.codes, SpeechOptions(), Recorder()))
    )
    assert np.abs(pcm).max() > 1000


def test_a_bundle_that_offers_no_voices_still_has_the_references(tiny_engine):
    import dataclasses

    official_like = dataclasses.replace(tiny_engine.bundle, builtin_voices={})

    store = VoiceStore(official_like, tiny_engine.codec, REFERENCES_FOLDER)

    assert store.names() == SYNTHETIC
    assert store.default == "jay"


def test_names_are_looked_up_without_regard_to_case(store):
    assert store.get("WREN") is store.get("wren")


@pytest.mark.parametrize("name", ["nobody", "", "../wren", "wren.flac"])
def test_an_unknown_voice_is_refused_with_the_names_of_those_there_are(store, name):
    with pytest.raises(VoiceError, match=r"these can speak: .*wren"):
        store.get(name)


def test_every_reference_is_synthetic_authorised_and_three_to_six_seconds_long():
    listed = json.loads((REFERENCES_FOLDER / "references.json").read_bytes())["references"]

    assert [entry["name"] for entry in listed] == SYNTHETIC
    for entry in listed:
        assert entry["synthetic"] is True
        assert entry["authorized_by"]
        assert entry["statement"]
        assert 3 <= soundfile.info(REFERENCES_FOLDER / entry["file"]).duration <= 6


@pytest.mark.parametrize("rate", [8000, 22050, 48000, 96000])
@pytest.mark.parametrize("width", [1, 2])
def test_recordings_are_brought_to_the_codecs_rate_and_channels(tmp_path, rate, width):
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    soundfile.write(tmp_path / "tone.wav", np.stack([tone] * width, axis=1), rate)

    sound = read_recording(tmp_path / "tone.wav", 48000, 2)

    assert sound.shape == (2, 48000)
    assert sound.dtype == np.float32
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(48000) / 48000)
    np.testing.assert_allclose(sound[:, 4800:-4800], [expected[4800:-4800]] * 2, atol=0.02)


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "note.txt").write_text("not a sound")
    soundfile.write(tmp_path / "surround.wav", np.zeros((100, 6)), 48000)

    with pytest.raises(VoiceError, match=r"missing\.wav"):
        read_recording(tmp_path / "missing.wav", 48000, 2)
    with pytest.raises(VoiceError, match=r"note\.txt"):
        read_recording(tmp_path / "note.txt", 48000, 2)
    with pytest.raises(VoiceError, match="6 channels"):
        read_recording(tmp_path / "surround.wav", 48000, 2)
