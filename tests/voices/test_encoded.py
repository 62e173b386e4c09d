"""A recording is encoded once, not at every start; what is kept is private and goes with it."""

import json
import shutil

import numpy as np
import pytest

from wyoming_moss_nano.embedded import REFERENCES_FOLDER
from wyoming_moss_nano.voices.enrol import Encoder
from wyoming_moss_nano.voices.store import Places, VoiceStore


@pytest.fixture
def places(tmp_path):
    references = tmp_path / "references"
    shutil.copytree(REFERENCES_FOLDER, references)
    return Places(references, tmp_path / "voices", tmp_path / "voices.yaml", tmp_path / "codes")


class CountingEncoder(Encoder):
    """Encodes as the tiny bundle does, and counts."""

    encoded = 0

    def encode(self, sound):
        CountingEncoder.encoded += 1
        return super().encode(sound)


@pytest.fixture
def codes_of_jay(places, tiny_bundle, tiny_engine):
    """Start anew, let jay speak, and return its codes and how often something was encoded."""

    def start(codec_id=tiny_bundle.codec_id):
        CountingEncoder.encoded = 0
        store = VoiceStore({}, ("en",), codec_id, places)
        codes = store.get("jay", CountingEncoder(tiny_bundle, tiny_engine.codec)).codes
        return codes, CountingEncoder.encoded

    return start


def test_the_second_start_encodes_nothing(codes_of_jay, places):
    first, encoded = codes_of_jay()
    again, encoded_again = codes_of_jay()

    assert (encoded, encoded_again) == (1, 0)
    np.testing.assert_array_equal(again, first)
    (kept,) = places.codes_dir.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_another_recording_or_another_codec_is_encoded(codes_of_jay, places):
    codes_of_jay()
    shutil.copy(places.references / "wren.flac", places.references / "jay.flac")
    assert codes_of_jay()[1] == 1
    assert codes_of_jay(codec_id="0123456789abcdef")[1] == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda _: "[]",
        lambda text: json.dumps({**json.loads(text), "codes": [[0, 1]]}),
        lambda text: json.dumps({**json.loads(text), "codes": [[10**6] * 16]}),
    ],
    ids=["cut off", "no object", "too narrow", "outside the codebooks"],
)
def test_damaged_codes_are_not_used(codes_of_jay, places, damage):
    first, _ = codes_of_jay()
    (kept,) = places.codes_dir.iterdir()
    kept.write_text(damage(kept.read_text()))

    again, encoded = codes_of_jay()

    assert encoded == 1
    np.testing.assert_array_equal(again, first)


def test_codes_of_a_voice_that_is_gone_go_too(codes_of_jay, places, tiny_bundle):
    codes_of_jay()
    listing = places.references / "references.json"
    content = json.loads(listing.read_text())
    content["references"] = [r for r in content["references"] if r["name"] != "jay"]
    listing.write_text(json.dumps(content))

    VoiceStore({}, ("en",), tiny_bundle.codec_id, places)

    assert not list(places.codes_dir.iterdir())


def test_a_folder_that_cannot_be_written_costs_time_only(codes_of_jay, places):
    places.codes_dir.write_text("no folder")
    assert codes_of_jay()[1] == 1
    assert codes_of_jay()[1] == 1
