"""A voice exists on any bundle."""

import dataclasses
import json
import threading

import numpy as np
import pytest
import soundfile

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.engine.options import SpeechOptions
from wyoming_moss_nano.engine.pace import Recorder
from wyoming_moss_nano.errors import VoiceError
from wyoming_moss_nano.voices.enrol import Encoder, enrol
from wyoming_moss_nano.voices.recording import write_recording
from wyoming_moss_nano.voices.store import Places, VoiceStore
from wyoming_moss_nano.voices.voice_file import (
    Authorization,
    recording_path,
    voice_path,
    write_voice,
)

SYNTHETIC = ["jay", "lark", "wren"]


@pytest.fixture(params=["tiny", "embedded"])
def engine(request):
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.fixture
def places(tmp_path):
    return Places(REFERENCES_FOLDER, tmp_path / "voices", tmp_path / "voices.yaml")


def opened(bundle, places, default=""):
    return VoiceStore(
        bundle.builtin_voices, bundle.rules.languages, bundle.codec_id, places, default
    )


@pytest.fixture
def store(engine, places):
    return opened(engine.bundle, places)


@pytest.fixture
def encoder(engine):
    return Encoder(engine.bundle, engine.codec)


def enrolled(places, encoder, name, languages=("en",), recording="wren", keep=True, **changes):
    """Put a voice made of a synthetic recording where the user's voices are."""
    source = REFERENCES_FOLDER / f"{recording}.flac"
    permission = Authorization("the authors", "2026-11-30T12:00:00+00:00", "Go ahead.")
    made = enrol(encoder, source, name, languages, f"{name}'s voice", permission)
    path = voice_path(places.voices_dir, name)
    write_voice(path, dataclasses.replace(made.voice, **changes))
    if keep:
        write_recording(recording_path(path), made.recording, encoder.sample_rate)
    return made.voice


def test_the_embedded_bundle_offers_five_voices_and_three_references(embedded_bundle, places):
    store = opened(embedded_bundle, places)

    assert store.names() == ["fay", "ivy", "jay", "lark", "max", "otto", "robin", "wren"]
    assert store.default == "robin"


@pytest.mark.parametrize("name", SYNTHETIC)
def test_each_reference_is_encoded_by_any_bundle_and_speaks(engine, store, encoder, name):
    voice = store.get(name, encoder)

    assert 3 * 12.5 - 2 < len(voice.codes) < 6 * 12.5
    assert voice.codes.shape[1] == engine.bundle.codec.quantizers
    assert (voice.codes < engine.bundle.ids.audio_pad).all()
    pcm = np.concatenate(
        list(engine.speak("Good morning.", voice.codes, SpeechOptions(), Recorder()))
    )
    assert np.abs(pcm).max() > 1000


def test_a_bundle_that_offers_no_voices_still_has_the_references(tiny_bundle, places):
    official_like = dataclasses.replace(tiny_bundle, builtin_voices={})

    store = opened(official_like, places)

    assert store.names() == SYNTHETIC
    assert store.default == "jay"


def test_names_are_looked_up_without_regard_to_case(store, encoder):
    assert store.get("WREN", encoder) is store.get("wren", encoder)


@pytest.mark.parametrize("name", ["nobody", "", "../wren", "wren.flac"])
def test_an_unknown_voice_is_refused_with_the_names_of_those_there_are(store, encoder, name):
    with pytest.raises(VoiceError, match=r"these can speak: .*wren"):
        store.get(name, encoder)


def test_an_enrolled_voice_appears_changes_and_goes_without_a_restart(store, places, encoder):
    made = enrolled(places, encoder, "anna")
    assert "anna" not in store.names()

    store.refresh()
    assert "anna" in store.names()
    np.testing.assert_array_equal(store.get("anna", encoder).codes, made.codes)

    other = enrolled(places, encoder, "anna", recording="lark")
    store.refresh()
    np.testing.assert_array_equal(store.get("anna", encoder).codes, other.codes)

    voice_path(places.voices_dir, "anna").unlink()
    store.refresh()
    assert "anna" not in store.names()


def test_a_voice_of_several_languages_is_published_under_a_name_for_each(store, places, encoder):
    enrolled(places, encoder, "anna", languages=("en", "de"))
    store.refresh()

    published = {v.name: (v.voice, v.language) for v in store.published()}
    assert published["anna"] == ("anna", "en")
    assert published["anna-de"] == ("anna", "de")
    assert store.choose("Anna-DE", None).voice == "anna"
    assert store.choose(None, "de-AT").voice == "anna"
    assert store.choose(None, "fr").voice == store.default


def test_a_name_published_for_a_language_is_taken(store, places, encoder):
    enrolled(places, encoder, "anna", languages=("en", "de"))
    store.refresh()

    for name, languages in (("anna-de", ("en",)), ("anna", ("fr",)), ("wren", ("en",))):
        with pytest.raises(VoiceError, match="taken"):
            store.check_new_name(name, languages)
    store.check_new_name("anna-fr", ("fr",))
    enrolled(places, encoder, "bob-de")
    store.refresh()
    with pytest.raises(VoiceError, match="bob-de is taken"):
        store.check_new_name("bob", ("en", "de"))


@pytest.mark.parametrize("name", ["", "Anna", "an na", "-anna", "a/b", "..", "é", "a" * 65])
def test_what_is_no_name_is_refused(store, name):
    with pytest.raises(VoiceError, match="cannot be a voice's name"):
        store.check_new_name(name, ("en",))


def test_a_voice_of_another_codec_is_encoded_again_from_its_recording(store, places, encoder):
    made = enrolled(places, encoder, "anna", codec_id="0123456789abcdef")
    store.refresh()

    codes = store.get("anna", encoder).codes

    assert codes.shape == made.codes.shape
    assert (codes == made.codes).mean() > 0.5
    assert "encoded again" in store.describe("anna")


def test_a_voice_of_another_codec_without_its_recording_is_reported(store, places, encoder, caplog):
    enrolled(places, encoder, "anna", keep=False, codec_id="0123456789abcdef")
    store.refresh()

    assert "anna" not in store.names()
    assert "remove it with voice remove anna and add it again" in caplog.text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"codes": [[1, 2], [3]]}, "differ in width"),
        ({"codes": "x"}, "codes"),
        ({"codes": []}, "codes"),
        ({"schema": 2}, "schema"),
        ({"languages": []}, "language"),
        ({"name": "bob"}, "another name"),
        ({"name": "../anna"}, "cannot be a voice's name"),
        ({"authorization": {"by": " ", "at": "", "statement": "yes"}}, "authorised"),
        ({"authorization": None}, "authorization"),
    ],
)
def test_a_voice_file_that_was_edited_wrongly_is_left_out_by_name(
    store, places, encoder, caplog, change, expected
):
    enrolled(places, encoder, "anna")
    enrolled(places, encoder, "bert", recording="lark")
    path = voice_path(places.voices_dir, "anna")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    store.refresh()

    assert "anna" not in store.names()
    assert "bert" in store.names()
    assert "anna.voice.json is left out" in caplog.text
    assert expected in caplog.text


def test_codes_outside_the_codebooks_are_refused_when_the_voice_is_to_speak(store, places, encoder):
    made = enrolled(places, encoder, "anna")
    wrong = made.codes.copy()
    wrong[3, 5] = 5000
    write_voice(voice_path(places.voices_dir, "anna"), dataclasses.replace(made, codes=wrong))
    store.refresh()

    with pytest.raises(VoiceError, match="outside its codebook"):
        store.get("anna", encoder)


def test_a_recording_in_the_voices_file_becomes_a_voice(store, places, encoder):
    places.voices_file.write_text(f"""
default_voice: clara
voices:
  - name: clara
    recording: {REFERENCES_FOLDER / "lark.flac"}
    languages: en, de
    authorized_by: the authors
    statement: Go ahead.
aliases: {{kitchen: clara}}
""")
    store.refresh()

    assert store.get("clara", encoder).languages == ("en", "de")
    assert store.choose("Kitchen", None).voice == "clara"
    assert store.recordings() == ["clara"]


def test_a_recording_that_changes_is_another_voice_without_a_restart(store, places, encoder):
    recording = places.voices_file.parent / "clara.flac"
    recording.write_bytes((REFERENCES_FOLDER / "lark.flac").read_bytes())
    places.voices_file.write_text(
        "voices: [{name: clara, recording: clara.flac, authorized_by: us, statement: Go ahead.}]"
    )
    store.refresh()
    before = store.get("clara", encoder).codes

    recording.write_bytes((REFERENCES_FOLDER / "wren.flac").read_bytes())
    store.refresh()

    assert store.get("clara", encoder).codes.shape != before.shape


def test_a_recording_that_is_not_fit_is_left_out_by_name(store, places, encoder, caplog):
    soundfile.write(places.voices_file.parent / "quiet.wav", np.zeros(48000), 16000)
    places.voices_file.write_text(
        "voices: [{name: quiet, recording: quiet.wav, authorized_by: us, statement: Go ahead.}]"
    )
    store.refresh()
    assert "quiet" in store.names()

    store.encode_recordings(encoder, threading.Event())

    assert "quiet" not in store.names()
    assert "Voice quiet is left out" in caplog.text
    assert "silent" in caplog.text


def test_a_bad_voice_in_the_voices_file_is_named_and_the_rest_goes_on(store, places, caplog):
    places.voices_file.write_text(f"""
voices:
  - {{name: one, recording: {REFERENCES_FOLDER / "lark.flac"}}}
  - {{name: two, file: missing.voice.json}}
  - {{name: Three, file: x.voice.json}}
  - {{name: four, recoding: x.wav}}
  - five
  - name: six
    recording: {REFERENCES_FOLDER / "lark.flac"}
    authorized_by: the authors
    statement: Go ahead.
""")
    store.refresh()

    assert set(store.names()) & {"one", "two", "three", "four", "five", "six"} == {"six"}
    for name in ("one", "two", "Three", "four", "5"):
        assert f"oice {name} is left out" in caplog.text
    assert "authorized_by and statement" in caplog.text


def test_a_voices_file_that_breaks_later_leaves_the_other_voices(store, places, caplog):
    places.voices_file.write_text("voices: [")
    store.refresh()

    assert store.names()
    assert "voices file is not used" in caplog.text


def test_a_default_voice_that_goes_leaves_the_bundles_own(tiny_bundle, tiny_engine, places):
    encoder = Encoder(tiny_bundle, tiny_engine.codec)
    enrolled(places, encoder, "anna")
    store = opened(tiny_bundle, places, default="anna")
    assert store.default == "anna"

    voice_path(places.voices_dir, "anna").unlink()
    store.refresh()

    assert store.default == "alder"


def test_a_default_voice_that_never_was_is_refused(tiny_bundle, places):
    with pytest.raises(VoiceError, match="nobody"):
        opened(tiny_bundle, places, default="nobody")


def test_every_reference_is_synthetic_authorised_and_three_to_six_seconds_long():
    listed = json.loads((REFERENCES_FOLDER / "references.json").read_bytes())["references"]

    assert [entry["name"] for entry in listed] == SYNTHETIC
    for entry in listed:
        assert entry["synthetic"] is True
        assert entry["authorized_by"]
        assert entry["statement"]
        assert 3 <= soundfile.info(REFERENCES_FOLDER / entry["file"]).duration <= 6
